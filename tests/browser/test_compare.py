"""The Space for all metrics in a browser: examples, own texts, errors, by keyboard, on a phone, in the dark."""

import pytest

from rrgmetrics import SPECS
from rrgmetrics.names import parse_name

pytest.importorskip("gradio")

CODE = "from rrgmetrics.spaces.compare import launch; launch()"
REFERENCE, FIRST, SECOND = "Radiologist’s report (reference)", "Candidate 1", "Candidate 2 (may stay empty)"
ATTACK = "<script>window.attacked = true</script><img src=x onerror='window.attacked = true'>"
SLOW = 600_000  # ms; the first answer waits for all models, on a machine that may be busy


@pytest.fixture
def compare(serve, open_page):
    """Opens the page at a width and in a colour scheme."""
    address = serve(code=CODE)

    def opened(**look):
        page = open_page(**look)
        page.goto(address)
        page.get_by_role("button", name="Compare").wait_for()
        return page

    return opened


def ask(page, reference, first, second=""):
    for label, text in ((REFERENCE, reference), (FIRST, first), (SECOND, second)):
        page.get_by_label(label, exact=True).fill(text)
    page.get_by_role("button", name="Compare").click()


def verdict(page):
    page.locator(".verdict").wait_for(timeout=SLOW)
    return page.inner_text(".verdict h2")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (375, "light")])
def test_an_example(compare, photograph, accessible, fits, width, scheme):
    page = compare(width=width, scheme=scheme)
    accessible(page)
    page.get_by_role("button", name="Near words, wrong side").click()
    assert "metrics" in verdict(page)
    assert page.get_by_text("the nearer words are not the nearer findings").count() == 1
    rows = page.locator(".side-by-side").first.locator("tbody th[scope=row] b").all_inner_texts()
    assert set(rows) == {parse_name(name).title for name in SPECS}
    assert page.locator("td.prefers.second").count() >= 3  # wording is nearer on the wrong side
    assert "small right pleural effusion" in page.locator("section").nth(1).inner_text()
    page.get_by_role("button", name="How far each metric agrees").click()
    page.get_by_text("A radiologist", exact=True).wait_for()
    accessible(page)
    fits(page)
    photograph(page, f"compare-{width}-{scheme}")


def test_one_report(compare):
    page = compare()
    ask(page, "Small left effusion.", "No effusion.")
    assert "metrics on one report" in verdict(page)
    assert page.locator("td.prefers").count() == 0
    assert page.locator("section").count() == 1


def test_by_keyboard_only(compare, tab_to):
    page = compare()
    for label, text in ((REFERENCE, "Small left effusion."), (FIRST, "Large left effusion."), (SECOND, "No effusion.")):
        tab_to(page, page.get_by_label(label, exact=True))
        page.keyboard.type(text)
    tab_to(page, page.get_by_role("button", name="Compare"))
    page.keyboard.press("Enter")
    assert "metrics" in verdict(page)
    tab_to(page, page.locator(".side-by-side").first)  # what scrolls can be scrolled
    tab_to(page, page.get_by_text("What ran"))
    page.keyboard.press("Enter")
    assert page.get_by_text("crepe|", exact=False).first.is_visible()


def test_nothing_breaks_out(compare):
    page = compare()
    ask(page, ATTACK + " Small left effusion.", ATTACK, "\u202eevil\u202c No effusion.")
    verdict(page)
    assert page.evaluate("window.attacked") is None
    assert ATTACK in page.locator(".report").first.inner_text()


def test_what_cannot_be_compared_is_said(compare):
    page = compare()
    ask(page, "", "No effusion.")
    alert = page.get_by_role("alert")
    alert.wait_for(timeout=SLOW)
    assert "There is no reference" in alert.inner_text()
    ask(page, "word " * 10_000, "No effusion.")
    page.get_by_text("The reference has 10,000 words").wait_for(timeout=SLOW)
