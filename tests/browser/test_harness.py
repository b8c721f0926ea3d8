"""The harness itself: it must notice what it is there to notice."""

import pytest

APP = """
import gradio
with gradio.Blocks(title="Harness", analytics_enabled=False) as demo:
    text = gradio.Textbox(label="Report")
    shown = gradio.Textbox(label="Shown", interactive=False)
    gradio.Button("Show").click(str.upper, text, shown)
demo.launch(quiet=True, ssr_mode=False)
"""


def test_a_gradio_app_is_served_used_and_photographed(serve, open_page, photograph, accessible, fits, tab_to):
    page = open_page(width=375, scheme="dark")
    page.goto(serve(code=APP))
    page.get_by_label("Report").fill("clear lungs")
    tab_to(page, page.get_by_role("button", name="Show"))
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelectorAll('textarea')[1].value === 'CLEAR LUNGS'")
    assert photograph(page, "harness").stat().st_size > 5_000
    fits(page)
    accessible(page)


def test_faults_are_found(page, accessible, fits):
    page.set_content(
        "<p style='color: #ddd; background: #fff; width: 3000px'>faint</p><img src='data:image/gif;base64,'>"
    )
    with pytest.raises(AssertionError, match="color-contrast"):
        accessible(page)
    with pytest.raises(AssertionError, match="3000"):
        fits(page)


def test_complaints_are_kept(serve, open_page):
    address = serve(code=APP)
    page = open_page(forgive=["status of 404", "other.invalid", "oh no"])
    page.goto(f"{address}/no-such-page")
    page.evaluate("console.error('oh no')")
    page.evaluate("fetch('http://other.invalid/').catch(() => null)")
    kinds = {trouble.split(":")[0] for trouble in open_page.troubles}
    assert kinds >= {"status of 404", "console", "asked of another host"}


def test_an_app_that_dies_says_why(serve):
    with pytest.raises(pytest.fail.Exception, match="no such board"):
        serve(code="raise SystemExit('no such board')")
