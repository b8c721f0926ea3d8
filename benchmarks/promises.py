"""What is promised in seconds: `python benchmarks/promises.py`, half a minute.

A line for each promise: seconds, the limit, kept or broken; the exit status is 1 if one is broken. Tests hold no clock,
for on a busy machine it says nothing of this code; so what takes seconds is measured here, in processor time, the best
of three rounds. The first paint of a page alone is by the clock, and for a machine with nothing else to do.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from reader import CREPE, READ, SCORE, fresh, invented  # the benchmark beside this one

import rrgmetrics
from rrgmetrics import files, stats
from rrgmetrics.reading import read
from rrgmetrics.reports import MAX_CHARACTERS
from rrgmetrics.reports.text import split_sections
from rrgmetrics.scorers.base import Mean
from rrgmetrics.utils.machine import processor

IMPORT = "import time; start = time.process_time(); import rrgmetrics; print(time.process_time() - start)"
PAGE = "from rrgmetrics.spaces.compare import launch; launch()"
SECTIONS = ("FINDINGS:", "findings ", "\n* ", " \t", "impression. ", "a. ", "\n")
HOSTILE = (  # what made some reader's time grow faster than its text
    *(", ", "no ", "effusion ", "heart lung ", "enlarged normal ", "left and right ", "catheter tip in the svc ", "9"),
    *(
        "\n \n",
        "\n",
        " ",
        "findings: ",
        "no right effusion, or the heart is enlarged and ",
        "upper and lower upper and ",
    ),
    *("3 x 3 x ", "é😀\u202e", "(["),
)


def main() -> int:
    """Prints a line for each promise; 1 if one is broken."""
    broken = 0
    print(processor(), flush=True)
    for what, seconds, limit in measured():
        broken += not seconds <= limit
        print(f"{what:64} {seconds:7.2f} of {limit:5.1f} s  {'kept' if seconds <= limit else 'BROKEN'}", flush=True)
    return int(broken > 0)


def measured() -> Iterator[tuple[str, float, float]]:
    """What was measured, its seconds, the most that it may take."""
    yield "import rrgmetrics", min(float(_printed(IMPORT)) for _ in range(3)), 0.05
    yield "the reader's first report, in a fresh process", min(fresh(READ)[1:]), 0.25
    yield "the first answer of `rrgmetrics score`, one pair", min(fresh(SCORE)[1:]), 1.0
    yield "the same of CREPE, a network", min(fresh(CREPE)[1:]), 1.0
    yield "1,000 reports read", best(lambda: [read(text) for text in invented()]) / 0.6, 0.5
    yield "10,000 trials and permutations on 2,000 pairs", best(trials), 20.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.csv"
        report = "Heart size is normal, lungs are clear. " * 12
        rows = (f'{i},"{report}","{report}"\n' for i in range(100_000))
        path.write_text("study_id,reference,candidate\n" + "".join(rows))
        yield "100,000 pairs read from a CSV file", best(lambda: files.read_pairs(path)), 20.0
    yield "ROUGE-L of two reports of 10,000 words", best(rouge_l), 5.0
    yield "sections of the longest text, the slowest of its kinds", max(map(sections, SECTIONS)), 2.0
    short, long = zip(*((reading(piece, 25_000), reading(piece, 100_000)) for piece in HOSTILE), strict=True)
    growth = max(after / (before + 0.02) for before, after in zip(short, long, strict=True))
    yield "100,000 characters read, the slowest of their kinds", max(long), 8.0
    yield "four times the text, as many times as long (no seconds)", growth, 12.0
    browser = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)
    if browser:
        yield "from nothing to the first paint of the comparison page", first_paint(browser), 5.0


def best(call: Callable[[], Any]) -> float:
    """Processor seconds of a call, the best of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def trials() -> None:
    """A paired test and correlations with their intervals."""
    first, second = np.random.default_rng(0).random((2, 2_000, 10)) + 1
    stats.compare(Mean(tuple("abcdefghij")), first, second)
    stats.correlate(first[:, 0], second[:, 0])


def rouge_l() -> None:
    """A table of the longest common subsequence would have 1e8 entries."""
    text = "effusion " * 10_000
    rrgmetrics.score("rouge", predictions=[text], references=[text + "no"], progress=False)


def sections(piece: str) -> float:
    """Seconds for the longest text that is accepted, of one piece again and again."""
    return best(lambda: split_sections(piece * (MAX_CHARACTERS // len(piece))))


def reading(piece: str, n: int) -> float:
    """Seconds to read a text of n characters, of one piece again and again."""
    return best(lambda: read(piece * (n // len(piece))))


def first_paint(executable: str) -> float:
    """Seconds by the clock from the start of the process to a page that can be typed into."""
    from playwright.sync_api import sync_playwright

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
    environment = os.environ | {"GRADIO_SERVER_PORT": address.rpartition(":")[2], "GRADIO_ANALYTICS_ENABLED": "False"}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page()
        start = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-c", PAGE], cwd=folder, env=environment, stdout=subprocess.DEVNULL)
        try:
            while process.poll() is None and not _answers(address):
                time.sleep(0.05)
            page.goto(address)
            page.get_by_label("Radiologist’s report (reference)", exact=True).wait_for()
            return time.perf_counter() - start
        finally:
            process.kill()
            process.wait()
            browser.close()


def _answers(address: str) -> bool:
    try:
        urllib.request.urlopen(address).close()
    except OSError:
        return False
    return True


def _printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
