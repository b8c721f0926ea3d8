"""The rating Space in a browser: two raters, a closed browser, a killed server; nothing is lost or doubled."""

import csv
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from contextlib import contextmanager

import pytest

pytest.importorskip("gradio")
pytest.importorskip("sqlalchemy")

from rrgmetrics import cli
from rrgmetrics.metaeval import load
from rrgmetrics.spaces.rating import open_project
from rrgmetrics.spaces.rating.app import HERE
from rrgmetrics.spaces.rating.demo import demo_project

SERVER = """
import argparse, sys
from rrgmetrics.spaces.rating import commands
commands.serve(argparse.Namespace(project=sys.argv[1], host="127.0.0.1", port=int(sys.argv[2]), proxies=0))
"""
MIDDLE_OF_LONGEST_WORD = """() => {
    const node = document.querySelector('.reference .report').firstChild;
    const word = node.data.match(/[A-Za-z]+/g).reduce((one, other) => other.length > one.length ? other : one);
    const range = document.createRange();
    range.setStart(node, node.data.indexOf(word));
    range.setEnd(node, node.data.indexOf(word) + word.length);
    const { x, y, width, height } = range.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
}"""
N = 4


class Server:
    """The page of a project, in a process that can be killed and started again at the same address."""

    def __init__(self, project, port):
        self.project = project
        self.command = [sys.executable, "-c", SERVER, str(project), str(port)]
        self.address = f"http://127.0.0.1:{port}"
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        end = time.monotonic() + 120
        while time.monotonic() < end:
            try:
                urllib.request.urlopen(self.address, timeout=10).close()
                return
            except OSError:
                assert self.process.poll() is None
                time.sleep(0.1)
        pytest.fail("the page did not start")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextmanager
def serving(folder):
    """The page of a project of its own."""
    made = demo_project(folder / "project.sqlite", n_studies=N)
    made.project.close()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    running = Server(folder / "project.sqlite", port)
    running.token = made.host_token
    yield running
    running.kill()


@pytest.fixture
def own_server(tmp_path):
    with serving(tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One page for the tests in each of which another rater begins."""
    with serving(tmp_path_factory.mktemp("rating")) as running:
        yield running


def enter(page, address, name):
    page.goto(address)
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Begin").click()
    page.wait_for_selector(".places")


def visit(page, address, n):
    page.goto(f"{address}/study?n={n}")
    page.wait_for_selector(".report:not(:empty)")


def add(page, report, kind, degree="significant"):
    page.get_by_role("button", name=f"One {degree} {kind} more in report {report}").click()


def rate(page, number):
    """Rates the study that is open: a false finding in the first report, ratings, the second report preferred."""
    add(page, 1, "false finding")
    for report, rating in (("1", number % 5 + 1), ("2", 5)):
        page.locator(f".rating[data-item='{report}'] input[value='{rating}']").check()
    page.get_by_role("radio", name="Report 2", exact=True).check()
    page.locator("[data-field=confidence] input[value='7']").check()


def finish(page):
    before = page.url
    page.get_by_role("button", name=re.compile("go to the next study")).click()
    page.wait_for_function(
        "before => location.href !== before || document.querySelector('#missing .alert')", arg=before
    )
    assert page.url != before, page.inner_text("#missing")


def saved(page):
    page.wait_for_function("() => document.getElementById('saved').textContent.startsWith('Saved at')")


def test_two_raters_a_closed_browser_and_a_killed_server(open_page, own_server, tmp_path, capsys):
    server = own_server
    killed = (
        "CONNECTION_REFUSED",
        "CONNECTION_RESET",
        "CONNECTION_CLOSED",
        "EMPTY_RESPONSE",
        "CONTENT_LENGTH_MISMATCH",
        "SOCKET_NOT_CONNECTED",
    )
    ada, bob = open_page(), open_page(forgive=[f"ERR_{how}" for how in killed])
    enter(ada, server.address, "Ada")
    enter(bob, server.address, "Bob")
    for n in range(1, N + 1):
        for page in (ada, bob):
            visit(page, server.address, n)
            rate(page, n)
            if n == 2 and page is ada:  # closed in the middle of a study
                cookies = page.context.cookies()
                saved(page)
                page.context.close()
                ada = page = open_page()
                page.context.add_cookies(cookies)
                visit(page, server.address, n)
                assert page.locator(".rating[data-item='1'] input:checked").get_attribute("value") == str(n % 5 + 1)
                assert page.locator("[data-field=confidence] input:checked").get_attribute("value") == "7"
            if n == 3 and page is bob:  # the server dies, and the rater goes on
                saved(page)
                server.kill()
                add(page, 2, "wrong location", "not significant")
                page.wait_for_selector("#saved.bad")
                server.start()
                saved(page)
            if n == 4 and page is bob:  # the server dies, then the browser's page is left; the answer waits there
                saved(page)
                server.kill()
                add(page, 2, "missing or wrong comparison")
                page.wait_for_selector("#saved.bad")
                page.on("dialog", lambda dialog: dialog.accept())
                page.goto("about:blank")
                server.start()
                visit(page, server.address, n)
                saved(page)
            finish(page)
    project = open_project(server.project)
    assert [(row.rater, row.finished, row.begun) for row in project.progress()] == [("Ada", N, N), ("Bob", N, N)]
    project.close()

    host = open_page(accept_downloads=True)
    host.goto(f"{server.address}/host")
    host.get_by_label("Host token").fill(server.token)
    host.get_by_role("button", name="Open").click()
    for name in ("Ratings (CSV)", "Preferences (CSV)"):
        with host.expect_download() as download:
            host.get_by_role("link", name=name).click()
        download.value.save_as(tmp_path / download.value.suggested_filename)
    with (tmp_path / "ratings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert Counter(row["rater"] for row in rows) == {"Ada": 2 * N, "Bob": 2 * N}
    assert len({(row["study_id"], row["source"], row["rater"]) for row in rows}) == 4 * N
    counted = {
        rater: sum(int(row["total_errors"]) for row in rows if row["rater"] == rater) for rater in ("Ada", "Bob")
    }
    assert counted == {"Ada": N, "Bob": N + 2}
    with (tmp_path / "preferences.csv").open(encoding="utf-8", newline="") as file:
        chosen = list(csv.DictReader(file))
    assert {(row["choice"] == row["shown_first"], row["confidence"]) for row in chosen} == {(False, "7")}
    assert len(chosen) == 2 * N
    data = load(f"rating:{tmp_path / 'ratings.csv'}")
    assert (len(data.pairs), data.raters) == (2 * N, ["Ada", "Bob"])
    arguments = ["--metrics", "bleu", "finding_errors", "--trials", "100", "--no-progress"]
    assert cli.main(["agree", "--dataset", f"rating:{tmp_path / 'ratings.csv'}", *arguments]) == 0
    printed = capsys.readouterr().out
    assert f"{2 * N} pairs of {N} studies" in printed


def test_an_answer_that_breaks_off_is_asked_for_again(open_page, server):
    page = open_page(forgive=["ERR_CONNECTION_RESET", "status of 502"])
    script = (HERE / "rating.js").read_text(encoding="utf-8")
    hasty = script.replace("RETRY_MS = 2000", "RETRY_MS = 200").replace("PATIENCE_MS = 20_000", "PATIENCE_MS = 2000")
    page.route("**/rating.js", lambda route: route.fulfill(body=hasty, content_type="text/javascript"))
    enter(page, server.address, "Cleo")
    visit(page, server.address, 1)
    ways = {path: ["cut", "reset", "gateway", "hangs"] for path in ("save", "finish")}

    def breaks(route):
        path = route.request.url.rsplit("/", 1)[1]
        way = ways[path].pop() if ways[path] else ""
        if not way:
            return route.continue_()
        answer = route.fetch()  # the server has it; the browser never hears of it
        if way == "reset":
            return route.abort("connectionreset")
        if way == "hangs":
            return None
        cut = answer.body()[:5]
        return route.fulfill(status=200, body=cut) if way == "cut" else route.fulfill(status=502, body="Bad Gateway")

    page.route(re.compile("/(save|finish)$"), breaks)
    rate(page, 1)
    finish(page)
    assert ways == {"save": [], "finish": []}
    visit(page, server.address, 1)
    assert page.locator(".remarks li").count() == 1
    project = open_project(server.project)
    assert [row.finished for row in project.progress() if row.rater == "Cleo"] == [1]
    project.close()


def test_saved_is_shown_once_every_answer_is(open_page, server):
    page = open_page()
    enter(page, server.address, "Fay")
    visit(page, server.address, 1)
    held = []

    def hold(route):
        if route.request.post_data_json["item"] == "1":
            held.append(route)
        else:
            route.continue_()

    page.route(re.compile("/save$"), hold)
    page.locator(".rating[data-item='1'] input[value='3']").check()
    with page.expect_response(re.compile("/save$")):
        page.locator(".rating[data-item='2'] input[value='5']").check()
    page.wait_for_function("() => !items['2'].sending")
    assert page.inner_text("#saved") == "Saving…"
    held.pop().continue_()
    saved(page)


def test_words_are_marked_by_mouse_and_by_keyboard(page, server, tab_to, tmp_path):
    enter(page, server.address, "Dan")
    visit(page, server.address, 1)
    text = page.evaluate("state.reports['1']")
    report = page.locator(".candidate[data-report='1'] .report")
    tab_to(page, report)
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight", "ArrowLeft", "ArrowRight"):
        page.keyboard.press(key)
    second = text.split()[1]
    page.locator(".candidate[data-report='1'] .picked", has_text=f"“{second}”").wait_for()
    more = page.get_by_role("button", name="One significant wrong severity more in report 1")
    tab_to(page, more)
    page.keyboard.press("Enter")
    assert report.locator("mark").inner_text() == second
    page.mouse.dblclick(*page.evaluate(MIDDLE_OF_LONGEST_WORD))
    page.wait_for_selector(".picked.some")
    page.locator(".remarks li").get_by_role("button", name="Mark the selected words").click()
    assert page.locator(".reference mark").count() == 1
    turn = page.get_by_role("button", name="Make it not significant")
    tab_to(page, turn)
    page.keyboard.press("Enter")
    assert page.get_by_role("button", name="Make it significant").count() == 1
    saved(page)
    page.reload()
    page.wait_for_selector(".report:not(:empty)")
    assert report.locator("mark").inner_text() == second
    assert page.locator(".count[data-kind=D][data-significant=no] output").first.inner_text() == "1"
    remove = page.get_by_role("button", name="Remove")
    tab_to(page, remove)
    page.keyboard.press("Enter")
    assert page.locator("mark").count() == 0
    page.get_by_role("button", name=re.compile("go to the next study")).click()
    page.wait_for_selector("#missing .alert")
    assert "a rating for report 1" in page.inner_text("#missing")
    assert page.evaluate("document.activeElement.id") == "missing"


def test_a_second_window_does_not_overwrite(open_page, server):
    first = open_page(forgive=["status of 409"])
    enter(first, server.address, "Eve")
    visit(first, server.address, 1)
    second = first.context.new_page()
    visit(second, server.address, 1)
    add(second, 1, "false finding")
    saved(second)
    add(first, 1, "missing finding")
    first.wait_for_selector("#saved.bad")
    assert "another window" in first.inner_text("#saved")
    visit(first, server.address, 1)
    assert first.locator(".remarks li").count() == 1


@pytest.mark.parametrize("width", [375, 1280])
def test_a_study_is_not_finished_while_an_answer_is_refused(open_page, server, photograph, width):
    first = open_page(width, forgive=["status of 409"])
    enter(first, server.address, f"Gil of {width}")
    visit(first, server.address, 1)
    second = first.context.new_page()
    visit(second, server.address, 1)
    rate(second, 1)
    saved(second)
    first.locator(".rating[data-item='1'] input[value='4']").check()
    first.wait_for_selector("#saved.bad")
    first.get_by_role("button", name=re.compile("go to the next study")).click()
    first.wait_for_selector("#missing .alert")
    assert "reload the page" in first.inner_text("#missing")
    assert first.url.endswith("n=1")
    photograph(first, f"rating-refused-{width}", whole=False)
    refusal = first.locator("#saved").bounding_box()
    assert refusal["y"] >= 0
    assert refusal["y"] + refusal["height"] <= first.evaluate("innerHeight")
    button = first.locator("#finish").bounding_box()
    assert button["y"] + button["height"] <= refusal["y"]
    visit(first, server.address, 1)
    finish(first)


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (375, "dark"),
        pytest.param(375, "light", marks=pytest.mark.slow),
        (1280, "light"),
        pytest.param(1280, "dark", marks=pytest.mark.slow),
    ],
)
def test_every_page_is_fit_to_be_seen(open_page, server, photograph, accessible, fits, width, scheme):
    page = open_page(width, scheme)
    page.goto(server.address)
    look(page, photograph, accessible, fits, f"rating-enter-{width}-{scheme}")
    enter(page, server.address, f"Dr. Ada Lovelace of {width} {scheme}")
    visit(page, server.address, 1)
    report = page.locator(".candidate[data-report='1'] .report")
    report.focus()
    for key in ("ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight"):
        page.keyboard.press(key)
    page.wait_for_selector(".picked.some")
    add(page, 1, "wrong severity", "not significant")
    page.locator(".reference .report").focus()
    page.keyboard.press("ArrowRight")
    rate(page, 1)
    page.get_by_text("How to rate").click()
    saved(page)
    look(page, photograph, accessible, fits, f"rating-study-{width}-{scheme}")
    page.locator(".candidate[data-report='2']").scroll_into_view_if_needed()
    photograph(page, f"rating-study-screen-{width}-{scheme}", whole=False)
    finish(page)
    page.goto(server.address)
    look(page, photograph, accessible, fits, f"rating-overview-{width}-{scheme}")
    page.goto(f"{server.address}/host")
    look(page, photograph, accessible, fits, f"rating-token-{width}-{scheme}")
    page.get_by_label("Host token").fill(server.token)
    page.get_by_role("button", name="Open").click()
    page.wait_for_selector("table")
    look(page, photograph, accessible, fits, f"rating-host-{width}-{scheme}")


def look(page, photograph, accessible, fits, name):
    page.wait_for_timeout(100)
    photograph(page, name)
    fits(page)
    accessible(page)
