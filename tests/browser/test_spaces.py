"""The metrics' pages as people use them: in light and dark, on a phone, by keyboard, with files, with what is none."""

import csv
import re
import sys

import pytest

from rrgmetrics import SPECS, module_path
from rrgmetrics.spaces.examples import examples, opening
from rrgmetrics.specs.names import parse_name

SHOWN = ("crepe", "finding_errors", "bleu")  # one that predicts, one that reads, one that compares words
ATTACK = "<script>window.attacked = true</script><img src=x onerror='window.attacked = true'>"
TOGETHER = f"""
import socket
from rrgmetrics.spaces import launch

def free():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]

for name in {SHOWN[1:]}:
    address = launch(name, server_port=free(), prevent_thread_lock=True, quiet=True)[1]
    print("serves", name, address, flush=True)
launch({SHOWN[0]!r}, quiet=True)
"""


def every_metric():
    return [name if name in SHOWN else pytest.param(name, marks=pytest.mark.slow) for name in SPECS]


@pytest.fixture
def space(serve, open_page):
    """Opens a metric's page: of one process for those of `SHOWN`, else served as its users serve it."""

    def address(name):
        if name not in SHOWN:
            return serve(sys.executable, str(module_path(name) / "app.py"))
        first = serve(code=TOGETHER)  # answers once all do
        return first if name == SHOWN[0] else re.search(rf"^serves {name} (\S+)$", serve.log(first), re.MULTILINE)[1]

    def opened(name, width=1280, scheme="light", **options):
        page = open_page(width, scheme, **options)
        page.goto(address(name))
        page.locator(".rrg .reports").first.wait_for()
        return page

    return opened


def score(page, *texts):
    """Types a pair and scores it."""
    for side, text in zip(("(reference)", "(candidate)"), texts, strict=False):
        page.get_by_label(side).fill(text)
    page.get_by_role("button", name="Score", exact=True).click()


def answered(page, words):
    """Waits for an answer that shows these words."""
    page.locator(".rrg .reports", has_text=words).first.wait_for()


def take_example(page, title, words):
    page.get_by_role("button", name=title).click()
    answered(page, words)


def open_tab(page, name):
    page.get_by_role("tab", name=name).click()


def upload(page, path):
    open_tab(page, "A file of pairs")
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_text(re.compile(r"[\d.]+\s[KM]?B")).first.wait_for()
    page.get_by_role("button", name="Score the file").click()


@pytest.mark.parametrize("name", every_metric())
def test_a_pair_a_file_and_the_card(name, space, photograph, accessible, fits):
    page, offered = space(name), examples(SPECS[name])
    several = [example for example in offered if example.title][-1]
    assert page.input_value("textarea >> nth=1") == opening(SPECS[name]).candidate  # an example that is scored already
    assert parse_name(name).titled.headline.title in page.inner_text(".headline")
    photograph(page, f"{name}-opened")
    take_example(page, several.title, " ".join(several.reference.split()[:2]))
    assert page.input_value("textarea >> nth=1") == several.candidate
    assert page.locator(".reports mark").count() >= 2
    photograph(page, f"{name}-pair")
    accessible(page)
    page.set_viewport_size({"width": 375, "height": 900})
    fits(page)
    photograph(page, f"{name}-pair-375")
    page.set_viewport_size({"width": 1280, "height": 900})
    open_tab(page, "A file of pairs")
    page.get_by_role("button", name="Try the sample file").click()
    page.get_by_text(re.compile(r"[\d.]+\sK?B\b")).first.wait_for()
    page.get_by_role("button", name="Score the file").click()
    page.locator(".spread svg").wait_for()
    rows = page.locator(".rows > details")
    assert rows.count() == len(offered)
    rows.first.locator("summary").first.press("Enter")
    rows.first.locator(".reports").wait_for()
    photograph(page, f"{name}-file")
    accessible(page)
    open_tab(page, "About")
    page.get_by_role("heading", name="Limitations and Bias").wait_for()
    photograph(page, f"{name}-about")
    page.set_viewport_size({"width": 375, "height": 900})
    fits(page)
    accessible(page)


@pytest.mark.parametrize("name", ["finding_errors", "crepe"])
def test_small_and_dark(name, space, photograph, accessible, fits):
    page = space(name, 375, "dark")
    assert int(page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")) < 64
    take_example(page, "Several errors", "Severe interstitial")
    fits(page)
    accessible(page)
    photograph(page, f"{name}-pair-375-dark")
    open_tab(page, "A file of pairs")
    page.get_by_role("button", name="Try the sample file").click()
    page.get_by_text(re.compile(r"[\d.]+\sKB")).first.wait_for()
    page.get_by_role("button", name="Score the file").click()
    page.locator(".rows summary").nth(1).click()
    fits(page)
    photograph(page, f"{name}-file-375-dark")


def test_a_phone_shows_the_chosen_column_and_no_stray_sign(space, tmp_path):
    page = space("rouge", 375)
    assert not page.locator("footer .divider").first.is_visible()  # the link before it is hidden
    file = tmp_path / "german.csv"
    file.write_text("Befund (Radiologie),KI-Befund\nSmall effusion.,Large effusion.\n", encoding="utf-8")
    page.get_by_role("tab", name="A file of pairs").click()
    page.locator("input[type=file]").first.set_input_files(str(file))
    menu = page.get_by_label("Column of the radiologist").first
    menu.fill("Befund (Radiologie)")
    assert menu.evaluate("box => box.scrollWidth <= box.clientWidth")
    end_of_text = "box => box.getBoundingClientRect().right - parseFloat(getComputedStyle(box).paddingRight)"
    assert menu.evaluate(end_of_text) <= page.locator(".icon-wrap").first.bounding_box()["x"]


@pytest.mark.parametrize("width", [1280, 375])
def test_how_each_report_was_read(width, space, photograph, accessible, fits):
    page = space("finding_errors", width)
    score(page, "Nodule of 8 mm, previously 12 mm.", "The weather is nice.")
    answered(page, "previously 12 mm")
    fold = page.locator("details.trace")
    assert not fold.locator("li").first.is_visible()
    fold.locator("summary").first.click()
    folded = fold.locator("details > summary")
    folded.first.wait_for()
    assert not fold.locator("li").first.is_visible()
    assert fold.bounding_box()["height"] < 1_000
    for each in folded.all():
        each.click()
    shown = fold.inner_text()
    assert "change: – → better, for 8 mm, previously 12 mm attributes.since" in shown
    assert "no finding: “The weather is nice”" in shown
    fits(page)
    accessible(page)
    photograph(page, f"finding_errors-trace-{width}")


def test_by_keyboard_only(space, tab_to):
    page = space("crepe")
    reference, candidate = (page.get_by_label(label) for label in ("(reference)", "(candidate)"))
    for box, text in ((reference, "Small right effusion."), (candidate, "Small left effusion.")):
        tab_to(page, box)
        page.keyboard.press("Control+A")
        page.keyboard.type(text)
    tab_to(page, page.get_by_role("button", name="Options").first)
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_label("long").first)
    page.keyboard.press("Control+A")
    page.keyboard.type("windows")
    page.get_by_role("option", name="truncate").wait_for(state="hidden")
    page.keyboard.press("Enter")
    page.wait_for_timeout(1000)  # Gradio hands a choice on when it has drawn it
    tab_to(page, page.get_by_role("button", name="Score", exact=True))
    page.keyboard.press("Enter")
    answered(page, "Small left effusion")
    tab_to(page, page.locator("summary"))
    page.keyboard.press("Enter")
    assert "|long:windows|" in page.get_by_text("crepe|").inner_text()
    tab_to(page, page.get_by_role("tab", name="A file of pairs"), key="Shift+Tab")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Score the file").wait_for()


def test_the_same_elsewhere_with_the_inputs_filled_in(space, photograph, accessible):
    page = space("bleu")
    page.get_by_label("(reference)").fill("Small right effusion. ``` $$x$$ <b>")
    page.get_by_label("(candidate)").fill("Small left effusion.")
    page.keyboard.press("Shift+Enter")
    answered(page, "$$x$$")
    page.get_by_role("button", name="The same in Python").first.click()
    python, shell = (page.locator("pre").nth(place) for place in (0, 1))
    python.wait_for()
    assert "references=['Small right effusion. ``` $$x$$ <b>']" in python.inner_text()
    assert "rrgmetrics score pair.jsonl --metrics bleu" in shell.inner_text()
    photograph(page, "bleu-calls")
    accessible(page)


def test_the_patient_matters_and_the_scope_is_said(space, photograph, accessible):
    page = space("finding_errors")
    page.get_by_role("button", name="Patient (optional)").click()
    page.get_by_label("Age").fill("old")
    score(page, "Tortuous aorta. Mild cardiomegaly.", "Clear lungs.")
    page.get_by_role("alert").filter(has_text="age 'old' is not an age").wait_for()
    page.get_by_label("Age").fill("88")
    score(page)
    answered(page, "Tortuous aorta")
    score(page, "Rodilla derecha sin fractura. No hay derrame.")
    page.get_by_role("alert").filter(has_text="Not scored: the reference looks Spanish").wait_for()
    photograph(page, "finding_errors-out-of-scope")
    accessible(page)


def test_what_is_no_pair_and_no_file(space, photograph, accessible, tmp_path):
    page = space("bleu")
    score(page, "", "")
    page.get_by_role("alert").filter(has_text="Both reports are empty").wait_for()
    score(page, "word " * 10_000)
    page.get_by_role("alert").filter(
        has_text="The reference has 10,000 words; the limit of this page is 2,000"
    ).wait_for()
    photograph(page, "bleu-error")
    accessible(page)
    open_tab(page, "A file of pairs")
    page.get_by_role("button", name="Score the file").click()
    page.get_by_role("alert").filter(has_text="There is no file yet").wait_for()
    path = tmp_path / "pairs.csv"
    path.write_bytes(b"reference,candidate\na\0b,c\n")
    upload(page, path)
    page.get_by_role("alert").filter(has_text="pairs.csv, line 2 contains a NUL byte").wait_for()
    assert str(tmp_path) not in page.inner_text("body")


def test_nothing_breaks_out(space, tmp_path):
    page = space("finding_errors")
    text = (
        ATTACK + " ${window.attacked = true} {{this}} Small effusion. No pneumothorax. Mild cardiomegaly. No fracture."
    )
    score(page, text, "<b>" + text)
    answered(page, "{{this}}")
    assert "${window.attacked = true} {{this}}" in page.inner_text(".reports")
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(
            [["study_id", "reference", "candidate"], [ATTACK, text, text], ["=1", "Clear lungs.", text]]
        )
    upload(page, path)
    page.locator(".spread svg").wait_for()
    assert ATTACK[:40] in page.inner_text(".rows")
    assert page.evaluate("window.attacked") is None
    with page.expect_download() as download:
        page.get_by_role("button", name="Scores of every pair").click()
    with open(download.value.path(), newline="") as file:
        assert [row["study_id"] for row in csv.DictReader(file)] == [ATTACK, "'=1"]


@pytest.mark.slow
def test_a_file_that_is_too_large_is_refused_before_it_is_sent(space, tmp_path):
    page = space("bleu", forgive=["upload_progress", "console: "])  # Gradio asks for the progress of what it refused
    path = tmp_path / "large.csv"
    path.write_bytes(b"reference,candidate\n" + b"a,b\n" * 7_500_000)
    open_tab(page, "A file of pairs")
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_text("exceed the maximum allowed size of 25").wait_for()


def test_progress_can_be_seen_and_stopped(space, tmp_path):
    page = space("finding_errors")
    path = tmp_path / "many.jsonl"
    row = '{"reference": "Small right effusion %d mm. Mild cardiomegaly.", "candidate": "Small left effusion."}\n'
    path.write_text("".join(row % number for number in range(15_000)))
    upload(page, path)
    bar = page.get_by_role("progressbar")
    bar.wait_for()
    page.wait_for_function("Number(document.querySelector('[role=progressbar]').ariaValueNow) > 100")
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("alert").filter(has_text="Stopped").wait_for()
    open_tab(page, "One pair")
    take_example(page, "Wrong side", "adjacent atelectasis")
