"""The browser: apps served as a user serves them, pages that may not complain, pictures, axe-core.

What a test asks for (all fixtures):

- `serve(*command)` or `serve(code=...)`: the address of an app that runs in a process of its own until the module ends;
- `page`, or `open_page(width=375, scheme="dark")` for more: at the end of the test nothing may have gone to the
  console, failed, or been asked of another host;
- `photograph(page, "name")`: a picture of the whole page, in the folder `$RRGMETRICS_PICTURES` if that is set;
- `accessible(page)`: axe-core finds nothing serious; `fits(page)`: nothing is wider than the screen;
- `tab_to(page, locator)`: by keyboard only.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest

HERE = Path(__file__).parent
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
NOISE = (  # of Gradio's own scripts, whatever the app: a font hint, the end of an upload, a page that is left
    "was preloaded using link preload but not used",
    "Method not implemented.",
    "AbortError: signal is aborted without reason",
    "AbortError: BodyStreamBuffer was aborted",
)
PATIENCE = 180  # seconds for an app to start or a page to answer on a busy machine
ONE_THREAD = {"OMP_NUM_THREADS": "1", "GRADIO_ANALYTICS_ENABLED": "False"}
OVERFLOW = """width => Array.from(document.body.querySelectorAll('*'))
    .filter(element => element.checkVisibility() && element.getBoundingClientRect().right > width + 1)
    .map(element => element.outerHTML.slice(0, 120))"""

# On a narrow screen these tables are lists of cards, of which nothing may lie outside the box.
CUT = """() => innerWidth > 640 ? [] : Array.from(document.querySelectorAll('table.stack'))
    .map(table => table.parentElement)
    .filter(box => box.checkVisibility() && box.scrollWidth > box.clientWidth)
    .map(box => box.innerText.slice(0, 120))"""


def pytest_collection_modifyitems(items):
    """Everything here needs Chromium."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


# A text that fades in has less contrast until it is there. What turns for ever is no fade.
FADED = """document.getAnimations().every(
    (each) => each.playState !== "running" || each.effect.getComputedTiming().endTime === Infinity)"""


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium. For a module and not for the session: Playwright's event loop would stop later tests' own."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    if executable is None:
        pytest.skip("there is no Chromium; on Debian: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser):
    """Opens pages; at the end of the test none of them may have complained.

    `forgive` names what the test provokes: parts of messages or addresses, such as "status of 404".
    """
    contexts, troubles, forgiven = [], [], []

    def opened(width=1280, scheme="light", *, height=900, forgive=(), local=True, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **options)
        context.set_default_timeout(1000 * PATIENCE)
        contexts.append(context)
        forgiven.extend(forgive)
        page = context.new_page()
        _listen(page, troubles, local)
        return page

    opened.troubles = troubles
    yield opened
    for context in contexts:
        context.close()
    assert [trouble for trouble in troubles if not any(part in trouble for part in forgiven)] == []


@pytest.fixture
def page(open_page):
    """A page of 1280 by 900 in light colours."""
    return open_page()


def _listen(page, troubles, local):
    """Keeps what a page complains of: messages, errors, failed requests and, if `local`, requests of other hosts."""

    def message(spoken):
        if spoken.type in ("error", "warning") and not any(noise in spoken.text for noise in NOISE):
            troubles.append(f"console: {spoken.text} ({spoken.location.get('url')})")

    def asked(request):
        address = urlsplit(request.url)
        if (
            local
            and address.scheme in ("http", "https", "ws", "wss")
            and address.hostname not in ("127.0.0.1", "localhost")
        ):
            troubles.append(f"asked of another host: {request.url}")

    def failed(request):
        if request.failure != "net::ERR_ABORTED":  # a stream or a picture that leaving the page cuts off
            troubles.append(f"failed: {request.url} {request.failure}")

    def answered(response):
        if response.status >= 400:
            troubles.append(f"status of {response.status}: {response.url}")

    page.on("console", message)
    page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
    page.on("request", asked)
    page.on("requestfailed", failed)
    page.on("response", answered)


@pytest.fixture(scope="module")
def serve(tmp_path_factory):
    """Starts apps, each in a process of its own; the same call again gets the same app.

    A `{port}` in the command or the code is replaced; Gradio takes its port from the environment anyway. `log(address)`
    reads what the app has written so far.
    """
    running = {}

    def served(*command, code=None, path="/", **environment):
        key = (command, code, tuple(sorted(environment.items())))
        if key not in running:
            running[key] = _App(command, code, tmp_path_factory.mktemp("app"), environment)
        running[key].wait(path)
        return running[key].address

    served.log = lambda address: next(app.log() for app in running.values() if app.address == address)
    yield served
    for app in running.values():
        app.stop()


class _App:
    """A server in a process group of its own, in an empty folder."""

    def __init__(self, command, code, folder, environment):
        port = _free_port()
        self.address = f"http://127.0.0.1:{port}"
        self._log = folder / "log.txt"
        words = [sys.executable, "-c", code] if code is not None else list(command)
        gradio = {"GRADIO_SERVER_PORT": str(port), "GRADIO_SERVER_NAME": "127.0.0.1"}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [word.replace("{port}", str(port)) for word in words],
                cwd=folder,
                env=os.environ | ONE_THREAD | gradio | {"GRADIO_TEMP_DIR": str(folder / "gradio")} | environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self, path):
        end = time.monotonic() + PATIENCE
        while True:
            try:
                urllib.request.urlopen(self.address + path, timeout=PATIENCE).close()
                return
            except urllib.error.HTTPError as error:  # it answers: a page that wants a login is up too
                if error.code < 500:
                    return
            except OSError:
                pass
            if self._process.poll() is not None or time.monotonic() > end:
                self.stop()
                pytest.fail(f"the app did not start:\n{self.log()}")
            time.sleep(0.1)

    def log(self):
        return self._log.read_text(encoding="utf-8", errors="replace")

    def stop(self):
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait(10)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def photograph():
    """Takes a picture, of the whole page or (`whole=False`) of what the screen shows, if somebody wants pictures."""

    def photographed(page, name, *, whole=True):
        folder = os.environ.get("RRGMETRICS_PICTURES")
        if not folder:
            return
        path = Path(folder) / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=path, full_page=whole, animations="disabled")

    return photographed


@pytest.fixture
def accessible():
    """Asserts that axe-core finds no serious or critical fault, on the page or within a selector."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")

    def checked(page, within=None, *, but=()):
        """`but`: rules not to apply, with the reason beside the call."""
        page.wait_for_function("!document.querySelector('.pending, .generating, .translucent')")  # grey while it waits
        page.wait_for_function(FADED)
        options = {"resultTypes": ["violations"], "rules": {rule: {"enabled": False} for rule in but}}
        found = axe.Axe().run(page, within, options).response["violations"]
        assert [_fault(fault) for fault in found if fault["impact"] in ("serious", "critical")] == []

    return checked


def _fault(fault):
    nodes = [(node["html"][:160], node.get("failureSummary", "")[:300]) for node in fault["nodes"]]
    return fault["id"], fault["help"], nodes


@pytest.fixture
def fits():
    """Asserts that a page is no wider than its screen: what is wider scrolls in a box of its own, and no card does."""

    def checked(page):
        width = page.viewport_size["width"]
        found = page.evaluate("document.documentElement.scrollWidth")
        assert found <= width, page.evaluate(OVERFLOW, width)[:5]
        assert page.evaluate(CUT) == []

    return checked


@pytest.fixture
def tab_to():
    """Presses Tab (or Shift+Tab) until an element has the focus."""

    def pressed(page, locator, *, key="Tab", most=80):
        for _ in range(most):
            page.keyboard.press(key)
            if locator.evaluate("element => element === document.activeElement"):
                return
        pytest.fail(f"{most} times {key} did not reach {locator}")

    return pressed
