"""The report page in a browser: the examples, by keyboard, on a phone, in the dark; and a large one."""

from pathlib import Path

import pytest

import rrgmetrics
from rrgmetrics import files
from rrgmetrics.baselines.worth import score_with_worth
from rrgmetrics.reporting.report import report_page
from rrgmetrics.reports import Pair
from rrgmetrics.systems.table import compare_systems

EXAMPLES = Path(__file__).parents[2] / "examples"
ATTACK = "</script><script>window.attacked = true</script><img src=x onerror='window.attacked = true'>"
IDS = "Array.from(document.querySelectorAll('.study h3 bdi'), element => element.textContent)"
LONGEST = """() => new Promise((answer) => {
    let longest = 0;
    const note = (list) => { longest = Math.max(longest, ...list.getEntries().map((task) => task.duration)); };
    new PerformanceObserver(note).observe({ type: "longtask", buffered: true });
    setTimeout(() => answer(longest), 500);
})"""


def scored(pairs):
    return {
        system: rrgmetrics.score(
            ["rouge", "bleu"],
            predictions=[pair.candidate for pair in own],
            references=[pair.reference for pair in own],
            progress=False,
        )
        for system, own in pairs.items()
    }


@pytest.fixture(scope="module")
def examples():
    references = files.read_references(EXAMPLES / "references.csv")
    systems = ("system_a", "system_b")
    return {name: files.join(references, files.read_system(EXAMPLES / f"{name}.csv")) for name in systems}


@pytest.fixture(scope="module")
def page_file(tmp_path_factory, examples):
    """The examples, and one more study whose texts and id try to break out."""
    pairs = {name: [*studies.pairs, Pair(ATTACK, ATTACK + " added")] for name, studies in examples.items()}
    results = scored(pairs)
    ids = [*examples["system_a"].study_ids, ATTACK]
    path = tmp_path_factory.mktemp("page") / "report.html"
    files.write_text(path, report_page(results, pairs, ids, rows=compare_systems(results, trials=200)))
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


@pytest.mark.parametrize("names", [("base", "ours"), ("baseline_report_generator", "ours_with_pretraining_v2")])
@pytest.mark.parametrize("width", [1100, 1200])
def test_every_column_of_the_differences_is_on_the_screen(names, width, examples, tmp_path, open_page):
    pairs = {name: studies.pairs for name, studies in zip(names, examples.values(), strict=True)}
    results = scored(pairs)
    path = tmp_path / "report.html"
    files.write_text(path, report_page(results, pairs, rows=compare_systems(results, trials=2000)))
    page = open_page(width)
    page.goto(path.as_uri())
    table = page.locator("#differences .wide")
    assert table.evaluate("element => element.scrollWidth - element.clientWidth") == 0


def test_nothing_breaks_out(show):
    page = show()
    page.fill("#find", "window.attacked = true")
    page.locator(".study").nth(1).wait_for(state="detached")
    assert page.evaluate(IDS) == [ATTACK]
    assert page.evaluate("window.attacked") is None


def test_sorting_and_turning_pages(show):
    page = show()
    worst = page.evaluate(IDS)
    assert len(worst) == 10
    pager = page.locator(".pager").last
    assert pager.inner_text().split("\n")[1] == "1 to 10 of 23"
    pager.get_by_text("Next").click()
    pager.get_by_text("Next").click()
    assert len(page.evaluate(IDS)) == 3
    assert pager.get_by_text("Next").is_disabled()
    last = page.evaluate(IDS)[-1]
    page.select_option("#direction", "-1")
    assert page.evaluate(IDS)[0] == last
    page.select_option("#metric", label="order of the file")
    assert page.evaluate(IDS)[:2] == ["study-01", "study-02"]
    assert page.is_disabled("#direction")
    page.select_option("#metric", label="ROUGE-L")
    page.select_option("#whose", label="system_b")
    page.select_option("#direction", "1")
    assert page.evaluate(IDS)[0] == "study-20"  # its candidate is empty
    column = page.locator(".study [data-system='1']").first
    assert column.locator("summary").last.inner_text() == "ROUGE-L 0.000"
    column.locator("summary").last.click()
    assert "BLEU-4\n0.000" in column.locator("dl").inner_text()


def test_choosing_by_part_and_kind(show):
    page = show()
    page.select_option("#part", "normal")
    assert set(page.evaluate(IDS)) >= {"study-01"}
    page.select_option("#part", label="with F missing or wrong comparison")
    assert 0 < len(page.evaluate(IDS)) < 10
    assert all("kind-missing_comparison" in study.inner_html() for study in page.locator(".study").all())


def test_finding_by_keyboard(show, tab_to):
    page = show()
    page.keyboard.press("Tab")
    assert page.inner_text(":focus") == "Skip to the studies"
    page.keyboard.press("Enter")
    tab_to(page, page.locator("#find"))
    page.keyboard.type("SUBCLAVIAN pneumothorax")
    page.locator(".study").nth(1).wait_for(state="detached")
    assert page.evaluate(IDS) == ["study-03"]
    assert page.inner_text(".where[role=status]") == "1 to 1 of 1 found in 23"
    page.fill("#find", "no such words")
    page.locator(".study").first.wait_for(state="detached")
    assert page.inner_text(".where[role=status]") == "0 found in 23"


def test_words_that_differ_are_off_at_first(show):
    page = show()
    word = page.locator("mark.kind-only_here").first
    line = "element => getComputedStyle(element).textDecorationLine"
    assert word.evaluate(line) == "none"
    width = page.locator("#list").bounding_box()["width"]
    page.check("#words")
    assert word.evaluate(line) == "underline"
    assert page.locator("#list").bounding_box()["width"] == width


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
def test_fits_the_screen_and_is_accessible(show, fits, accessible, photograph, width, scheme):
    page = show(width, scheme)
    fits(page)
    red = int(page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]"))
    assert (red < 64) == (scheme == "dark")
    page.check("#words")
    page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    accessible(page)
    fits(page)
    photograph(page, f"report-{width}-{scheme}")


def test_a_phone_shows_all_of_each_card(open_page, tmp_path, examples, fits):
    pairs = {name: studies.pairs for name, studies in examples.items()}
    results, worth = score_with_worth(rrgmetrics.prepare(["green"]), pairs, trials=50, progress=False)
    path = tmp_path / "report.html"
    files.write_text(path, report_page(results, pairs, worth=worth))
    page = open_page(width=375)
    page.goto(path.as_uri())
    assert "a one-sentence normal report" in page.inner_text("main")
    fits(page)


def test_without_script_the_worst_come_first_and_no_dead_control_shows(show):
    page = show(script=False)
    assert not page.is_visible("#toolbar")
    assert page.locator(".study h3").count() == 10
    assert "better than" in page.inner_text("h1")
    assert page.locator("#differences tbody tr").count() == 2


def test_on_paper_no_control_is_left(show):
    page = show()
    page.emulate_media(media="print")
    assert not page.is_visible("#toolbar")
    assert not page.is_visible(".contents")
    assert page.is_visible("#differences .whisker")


def test_three_thousand_studies_of_three_systems(open_page, tmp_path, examples):
    """The browser draws ten studies, whatever the file holds."""
    a, b = (studies.pairs for studies in examples.values())
    pairs = {name: own * 137 for name, own in {"a": a, "b": b, "c": a}.items()}  # 22 × 137 = 3,014
    path = tmp_path / "large.html"
    files.write_text(path, report_page(scored(pairs), pairs))
    page = open_page()
    page.goto(path.as_uri())
    assert (
        page.evaluate("performance.getEntriesByType('navigation')[0].domComplete") < 10_000
    )  # 400 ms where it is quiet
    assert page.evaluate(LONGEST) < 2_000
    assert page.evaluate("document.documentElement.scrollHeight") < 20_000
    assert page.evaluate("document.querySelectorAll('*').length") < 4_000
    page.get_by_text("Next").first.click()
    assert page.inner_text(".where[role=status]") == "11 to 20 of 3,014"
