"""The Space for all metrics in a browser: examples, own texts, errors, by keyboard, on a phone, in the dark."""

import re

import pytest

from rrgmetrics import SPECS
from rrgmetrics.reading.scope import CHEST_XRAY
from rrgmetrics.specs.names import parse_name

pytest.importorskip("gradio")

CODE = "from rrgmetrics.spaces.compare import launch; launch()"
REFERENCE, FIRST, SECOND = "Radiologist’s report (reference)", "Candidate 1", "Candidate 2 (optional)"
ATTACK = "<script>window.attacked = true</script><img src=x onerror='window.attacked = true'>"
SLOW = 300_000  # ms; the first answer waits for all models, on a machine that may be busy


@pytest.fixture
def compare(serve, open_page):
    """Opens the page, with its example scored, at a width and in a colour scheme."""
    address = serve(code=CODE)

    def opened(**look):
        page = open_page(**look)
        page.goto(address)
        scored(page)
        return page

    return opened


def scored(page):
    """Waits for the metrics' scores."""
    page.locator(".side-by-side").first.wait_for(timeout=SLOW)


def ask(page, reference, first, second=""):
    for label, text in ((REFERENCE, reference), (FIRST, first), (SECOND, second)):
        page.get_by_label(label, exact=True).fill(text)
    page.get_by_role("button", name="Compare").click()


def answered(page, headline):
    page.locator(".verdict h2", has_text=re.compile(f"^{headline}")).wait_for(timeout=SLOW)
    page.get_by_text("The metrics are scoring.").wait_for(state="detached", timeout=SLOW)


def test_an_example_that_is_scored_already(compare, photograph, accessible, fits):
    page = compare()
    answered(page, "Candidate 1 has fewer errors: no error against 1 significant error")
    assert page.get_by_text("similar wording does not mean similar findings").count() == 0  # nor do others prefer it
    rows = page.locator(".side-by-side").first.locator("tbody th[scope=row] b").all_inner_texts()
    assert set(rows) == {
        parse_name(name).title for name, spec in SPECS.items() if spec.modality in ("any text", CHEST_XRAY)
    }
    assert page.locator("td.prefers.second").count() >= 3  # wording is nearer on the wrong side
    assert "small right pleural effusion" in page.locator("section").nth(1).inner_text()
    page.get_by_role("button", name="Missed or invented").click()
    answered(page, "Candidate 1 has fewer errors: 1 significant error against 2 significant errors")
    assert "clinical significance, candidate 2 is better" in page.inner_text(".verdict")
    page.get_by_role("button", name="Agreement of each metric").click()
    page.get_by_text("A radiologist", exact=True).wait_for()
    accessible(page)
    photograph(page, "compare-1280-light")
    page.set_viewport_size({"width": 375, "height": 900})
    fits(page)
    for table in page.locator(".side-by-side").all():  # every column can be seen without scrolling sideways
        assert table.evaluate("box => box.scrollWidth <= box.clientWidth")
    accessible(page)
    photograph(page, "compare-375-light")


def test_in_the_dark_by_keyboard_only(compare, tab_to, accessible, photograph):
    page = compare(scheme="dark")
    accessible(page)
    photograph(page, "compare-1280-dark")
    for label, text in ((REFERENCE, "Small left effusion."), (FIRST, "Large left effusion."), (SECOND, "No effusion.")):
        tab_to(page, page.get_by_label(label, exact=True))
        page.keyboard.press("Control+A")
        page.keyboard.type(text)
    tab_to(page, page.get_by_role("button", name="Compare"))
    page.keyboard.press("Enter")
    answered(page, "Both candidates have 1 significant error")
    assert page.get_by_text("Weighted by clinical significance, candidate 1 is better").is_visible()
    tab_to(page, page.locator(".side-by-side").first)  # what scrolls can be scrolled
    tab_to(page, page.get_by_text("Signatures"))
    page.keyboard.press("Enter")
    assert page.get_by_text("crepe|", exact=False).first.is_visible()


def test_one_report_what_breaks_out_and_what_cannot_be_compared(compare):
    page = compare()
    ask(page, "Small left effusion.", "No effusion.")
    answered(page, "1 significant error.")
    assert page.locator("td.prefers").count() == 0
    assert page.locator("section").count() == 1
    ask(page, ATTACK + " Small left effusion.", ATTACK, "\u202eevil\u202c No effusion.")
    page.locator("section").nth(1).wait_for(timeout=SLOW)
    assert page.evaluate("window.attacked") is None
    assert ATTACK in page.locator(".report").first.inner_text()
    ask(page, "Rodilla derecha sin fractura. No hay derrame.", "No effusion.")
    page.get_by_role("alert").filter(has_text="The reference looks Spanish").wait_for(timeout=SLOW)
    ask(page, "", "No effusion.")
    page.get_by_role("alert").filter(has_text="There is no reference").wait_for(timeout=SLOW)
    ask(page, "word " * 10_000, "No effusion.")
    page.get_by_text("The reference has 10,000 words").wait_for(timeout=SLOW)
