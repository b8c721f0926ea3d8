"""The report page in a browser: the examples, by keyboard, on a phone, in the dark."""

from pathlib import Path

import pytest

import rrgmetrics
from rrgmetrics import files
from rrgmetrics.present.report import report_page
from rrgmetrics.reports import Pair

EXAMPLES = Path(__file__).parents[2] / "examples"
ATTACK = "<script>window.attacked = true</script><img src=x onerror='window.attacked = true'>"
IDS = "Array.from(document.querySelectorAll('.study:not([hidden]) h3'), element => element.textContent)"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """The examples, and one more study whose texts and id try to break out."""
    references = files.read_references(EXAMPLES / "references.csv")
    results, pairs = {}, {}
    for system in ("system_a", "system_b"):
        studies = files.join(references, files.read_system(EXAMPLES / f"{system}.csv"))
        pairs[system] = [*studies.pairs, Pair(ATTACK, ATTACK + " added")]
        results[system] = rrgmetrics.score(
            ["rouge", "bleu"],
            predictions=[pair.candidate for pair in pairs[system]],
            references=[pair.reference for pair in pairs[system]],
            progress=False,
        )
    path = tmp_path_factory.mktemp("page") / "report.html"
    files.write_text(path, report_page(results, pairs, [*studies.study_ids, ATTACK]))
    return path


@pytest.fixture
def show(open_page, page_file):
    """Opens the page at a width and in a colour scheme; it may ask for nothing."""
    asked = []

    def opened(width=1280, scheme="light", script=True):
        page = open_page(width, scheme, java_script_enabled=script)
        page.on("request", lambda request: asked.append(request.url))
        page.goto(page_file.as_uri())
        return page

    yield opened
    assert {url for url in asked if url != "data:,"} <= {page_file.as_uri()}


def test_nothing_breaks_out(show):
    page = show()
    assert page.evaluate("window.attacked") is None
    assert ATTACK in page.evaluate(IDS)


def test_sorting(show):
    page = show()
    worst = page.evaluate(IDS)
    assert len(worst) == 23
    page.select_option("#direction", "best")
    assert page.evaluate(IDS)[0] == worst[-1]
    page.select_option("#sort", label="study order")
    assert page.evaluate(IDS)[:2] == ["study-01", "study-02"]
    assert page.is_disabled("#direction")
    page.select_option("#sort", label="ROUGE-L: system_b")
    page.select_option("#direction", "worst")
    assert page.evaluate(IDS)[0] == "study-20"  # its candidate is empty


def test_filtering_by_keyboard(show):
    page = show()
    page.keyboard.press("Tab")
    assert page.inner_text(":focus") == "Skip to the studies"
    page.keyboard.press("Enter")
    for _ in range(4):
        page.keyboard.press("Tab")
    assert page.get_attribute(":focus", "id") == "filter"
    page.keyboard.type("SUBCLAVIAN pneumothorax")
    assert page.evaluate(IDS) == ["study-03"]
    assert page.inner_text("#status") == "1 of 23 match"
    page.fill("#filter", "no such words")
    assert page.inner_text("#status") == "0 of 23 match"


def test_marked_words(show):
    page = show()
    word = page.locator("#study-2 .reference .m0:not(.m1)").first  # system_a lacks it, system_b has it
    background = "element => getComputedStyle(element).backgroundColor"
    plain = word.evaluate(background)
    page.select_option("#marks", "0")
    assert word.evaluate(background) != plain
    page.select_option("#marks", "none")
    assert word.evaluate(background) == plain


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
def test_fits_the_screen(show, width, scheme):
    page = show(width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    red = int(page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]"))
    assert (red < 64) == (scheme == "dark")


def test_without_script_the_worst_come_first_and_no_dead_control_shows(show):
    page = show(script=False)
    assert not page.is_visible("#toolbar")
    assert page.locator(".study h3").count() == 23
