"""Photographs README's pair as the Space of `finding_errors` shows it, in light and dark colours.

    python scripts/make_screenshots.py   # or: make screenshots; needs Chromium

The pictures stand in `docs/images`. The pair is the one that README scores.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
LARGEST = 150_000  # bytes of a picture
WIDTH = 900  # pixels, as wide as README is shown
PATIENCE = 120  # seconds


def main() -> int:
    """Takes the pictures and prints their names; returns the exit status."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("make_screenshots: there is no Chromium; on Debian: apt-get install chromium", file=sys.stderr)
        return 2
    IMAGES.mkdir(exist_ok=True)
    with served("finding_errors") as address:
        for path in photographed(address, browser):
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")
            if path.stat().st_size > LARGEST:
                print(f"make_screenshots: that is more than {LARGEST:,} bytes.", file=sys.stderr)
                return 1
    return 0


def pair() -> dict[str, str]:
    """The two reports that README's example scores, by their names there."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return dict(re.findall(r'^>>> (reference|candidate) = "(.+)"$', readme, re.MULTILINE))


@contextmanager
def served(space: str) -> Iterator[str]:
    """Serves a Space; yields its address once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [str(Path(sys.executable).parent / "rrgmetrics"), "space", space, "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        wait_for(address, process)
        yield address
    finally:
        process.terminate()
        process.wait()


def wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    """Waits until the address that a process serves answers."""
    for _ in range(PATIENCE):
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except (urllib.error.URLError, ConnectionError):
            time.sleep(1)
        else:
            return
    raise TimeoutError(f"{address} is not served.")


def photographed(address: str, browser: str) -> Iterator[Path]:
    """Scores README's pair on the page, once in each scheme of colours, and takes a picture of what it says."""
    from playwright.sync_api import sync_playwright

    texts = pair()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = chromium.new_page(viewport={"width": WIDTH, "height": 2400}, color_scheme=scheme)
            page.set_default_timeout(1000 * PATIENCE)
            page.goto(address)
            page.get_by_label("reference").first.fill(texts["reference"])
            page.get_by_label("candidate").first.fill(texts["candidate"])
            page.get_by_role("button", name="Score", exact=True).first.click()
            page.locator(".remarks li").first.wait_for()
            page.wait_for_timeout(500)  # bars grow
            path = IMAGES / f"pair-{scheme}.png"
            page.screenshot(path=path, clip=answer(page))
            yield path
        chromium.close()


def answer(page: Page) -> dict[str, float]:
    """The part of the page from the score to the last error in words."""
    top = page.locator(".headline").first.bounding_box()["y"]
    last = page.locator(".remarks li").last.bounding_box()
    return {"x": 0, "y": top - 16, "width": WIDTH, "height": last["y"] + last["height"] - top + 16}


if __name__ == "__main__":
    sys.exit(main())
