"""The leaderboard in a browser: read, sorted, compared, submitted to and kept, as people do."""

import re

import pytest

pytest.importorskip("gradio")
pytest.importorskip("sqlalchemy")

N = 12
ATTACK = "<img src=x onerror='window.attacked = 1'> \"quoted\" {{7*7}} ${7*7}"
APP = f"""
import threading
from rrgmetrics.spaces.leaderboard import app, demo, worker
from rrgmetrics.spaces.leaderboard.model import Limits
limits = Limits(token_guesses=3, file_bytes=200_000)
made = demo.demo_board("board.sqlite", n_studies={N}, systems=demo.SYSTEMS[::2], trials=200, limits=limits)
print("TOKEN", made.admin_token, flush=True)
threading.Thread(target=worker.work, args=(made.board,), kwargs={{"poll": 0.2}}, daemon=True).start()
app.serve(made.board)
"""
ORDER = (
    "() => Array.from(document.querySelectorAll('.standings tbody tr:not([hidden]) th.who > a'), a => a.textContent)"
)
RANKED = ["Careful resident", "Tired resident", "Vivid imagination"]


@pytest.fixture(scope="module")
def address(serve):
    return serve(code=APP)


@pytest.fixture(scope="module")
def token(serve, address):
    return re.search(r"TOKEN (\S+)", serve.log(address))[1]


def visit(page, url):
    """Opens a page and waits until the board has answered."""
    page.goto(url)
    page.wait_for_function(
        "() => document.querySelector('.board h1') && !/…/.test(document.querySelector('.board')?.innerText ?? '…')"
    )


def standings(page, address, query=""):
    visit(page, f"{address}/{query}")
    page.wait_for_selector(".standings tbody tr")


def test_sorting_and_filtering_keep_their_address(page, address, accessible, fits):
    standings(page, address)
    accessible(page)
    fits(page)
    assert page.evaluate(ORDER) == RANKED
    assert page.title() == "Invented chest radiographs"
    page.get_by_role("button", name="System").click()
    page.get_by_role("button", name="System").click()
    assert page.evaluate(ORDER) == RANKED[::-1]
    assert page.get_attribute("th.who[aria-sort]", "aria-sort") == "descending"
    page.get_by_role("button", name="70B").click()
    assert page.evaluate(ORDER) == ["Vivid imagination"]
    assert page.inner_text(".count").startswith("1 of 3 systems")
    standings(page, address, page.url.removeprefix(f"{address}/"))
    assert page.evaluate(ORDER) == ["Vivid imagination"]
    page.get_by_role("button", name="70B").click()
    assert page.evaluate(ORDER) == RANKED[::-1]


def test_one_system_is_no_plural(page, serve):
    code = APP.replace("demo.SYSTEMS[::2]", "demo.SYSTEMS[:1]").replace("board.sqlite", "one.sqlite")
    standings(page, serve(code=code))
    assert page.inner_text(".count") == "1 system"


def test_by_keyboard_only(page, address, tab_to):
    standings(page, address)
    find = page.get_by_label("Find")
    tab_to(page, find)
    page.keyboard.type("tired")
    assert page.evaluate(ORDER) == ["Tired resident"]
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    tab_to(page, page.get_by_role("button", name="Finding errors"))
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    assert page.evaluate(ORDER) == RANKED[::-1]
    tab_to(page, page.get_by_role("link", name="Tired resident", exact=True))
    page.keyboard.press("Enter")
    page.wait_for_selector("#scores")
    tab_to(page, page.get_by_role("button", name="Compare"))
    page.keyboard.press("Enter")
    page.wait_for_selector(".versus")
    assert "Careful resident" in page.inner_text(".summary")


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (375, "dark"),
        pytest.param(375, "light", marks=pytest.mark.slow),
        pytest.param(1280, "light", marks=pytest.mark.slow),
        pytest.param(1280, "dark", marks=pytest.mark.slow),
    ],
)
def test_every_page_is_fit_to_be_seen(open_page, address, photograph, accessible, fits, width, scheme):
    page = open_page(width, scheme)
    standings(page, address)
    first, second, third = page.evaluate(
        "Array.from(document.querySelectorAll('th.who > a'), a => new URL(a.href).searchParams.get('id'))"
    )
    pages = {
        "standings": "",
        "system": f"system?id={third}",
        "versus": f"versus?first={first}&second={second}",
        "submit": "submit",
        "progress": f"progress?id={first}",
        "administrator": "administrator",
    }
    for name, path in pages.items():
        visit(page, f"{address}/{path}")
        if name == "standings":
            page.wait_for_selector(".standings tbody tr")
        page.wait_for_timeout(200)
        photograph(page, f"leaderboard-{name}-{width}-{scheme}")
        fits(page)
        accessible(page)
    red = int(page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]"))
    assert (red < 64) == (scheme == "dark")


def fill(page, name, tags="", file=None):
    page.get_by_label("Name of the system").fill(name)
    page.get_by_label("Submitter").fill("someone")
    page.get_by_label("Tags").fill(tags)
    if file:
        page.set_input_files("input[type=file]", file)
        page.wait_for_selector(".file-preview")


def answer(page):
    page.wait_for_selector("#answer .board")
    return page.inner_text("#answer")


def test_a_submission_from_mistake_to_rank(page, address, tmp_path, photograph, accessible):
    bad = tmp_path / "mine.csv"
    bad.write_text("study_id,report\nstudy-001,Clear.\nstudy-999,Clear.\n", encoding="utf-8")
    visit(page, f"{address}/submit")
    fill(page, "New <b>system</b>", "7B, <script>", bad)
    page.get_by_role("button", name="Check").click()
    said = answer(page)
    for words in ("study-999", "study-002", "<script>", "nothing was stored"):
        assert words in said
    photograph(page, "leaderboard-refused")
    accessible(page)

    good = tmp_path / f"hostile {'x' * 20} ;$(x).csv"
    rows = [f'study-{i + 1:03d},"{ATTACK.replace(chr(34), chr(34) * 2)}"' for i in range(N)]
    good.write_text("\n".join(["study_id,report", *rows]), encoding="utf-8")
    visit(page, f"{address}/submit")
    fill(page, f"New {ATTACK}", "7B", good)
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/progress?id=*")
    page.wait_for_selector("[data-state=done]", timeout=600_000)
    assert page.inner_text("h1") == f"New {ATTACK}"
    page.get_by_role("link", name="See its scores").click()
    page.wait_for_selector(".example")
    assert page.inner_text("h1") == f"New {ATTACK}"
    shown = page.inner_text(".example >> nth=0")  # with marks where nobody can read it
    assert "img src=x onerror='window" in shown
    assert "{{7*7}}" in shown
    assert page.title() == f"New {ATTACK}"
    standings(page, address)
    assert f"New {ATTACK}" in page.evaluate(ORDER)
    assert page.evaluate("window.attacked") is None
    photograph(page, "leaderboard-hostile")


def test_a_file_that_is_too_large_is_refused_before_it_is_read(open_page, address, tmp_path):
    large = tmp_path / "large.csv"
    large.write_bytes(b"study_id,report\n" + b"x" * 300_000)
    page = open_page(forgive=["upload_progress", "status of 404", "console: Response"])  # Gradio's, of what it refused
    visit(page, f"{address}/submit")
    page.set_input_files("input[type=file]", large)
    page.get_by_text("exceed the maximum").wait_for()
    part = {"name": "large.csv", "mimeType": "text/csv", "buffer": large.read_bytes()}
    assert page.request.post(f"{address}/gradio_api/upload", multipart={"files": part}).status == 413


def test_the_administrator(page, address, token, photograph, accessible):
    visit(page, f"{address}/administrator")
    page.get_by_label("Token").fill("guess")
    page.keyboard.press("Enter")
    assert "not the administrator's token" in answer(page)
    assert not page.get_by_role("button", name="Hide").is_visible()
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("button", name="Hide").wait_for()
    page.get_by_label("System").click()
    page.get_by_role("option", name="Vivid imagination").click()
    page.get_by_role("button", name="Hide").click()
    page.wait_for_function("document.querySelector('#answer').innerText.includes('Hidden')")
    photograph(page, "leaderboard-administrator-open")
    accessible(page)
    standings(page, address)
    assert "Vivid imagination" not in page.evaluate(ORDER)
    page.goto(f"{address}/keeper")  # its address in version 0.1
    page.wait_for_url("**/administrator")
    for i in range(4):
        page.get_by_label("Token").fill(f"guess {i}")
        page.keyboard.press("Enter")
        page.wait_for_timeout(200)
    page.wait_for_function("document.querySelector('#answer').innerText.includes('Try again in')")
