"""The harness itself: it must notice what it is there to notice."""

import pytest

APP = """
from http.server import BaseHTTPRequestHandler, HTTPServer
PAGE = b'''<!doctype html><html lang="en"><head><title>Harness</title><link rel="icon" href="data:,"></head>
<body><main><h1>Harness</h1><label>Report <input id="report"></label>
<button onclick="shown.textContent = report.value.toUpperCase()">Show</button><p id="shown"></p></main></body></html>'''
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/" else 404)
        self.end_headers()
        self.wfile.write(PAGE)
HTTPServer(("127.0.0.1", {port}), Handler).serve_forever()
"""


def test_an_app_is_served_used_and_photographed(
    serve, open_page, photograph, accessible, fits, tab_to, tmp_path, monkeypatch
):
    monkeypatch.setenv("RRGMETRICS_PICTURES", str(tmp_path))
    page = open_page(width=375, scheme="dark")
    page.goto(serve(code=APP))
    page.get_by_label("Report").fill("clear lungs")
    tab_to(page, page.get_by_role("button", name="Show"))
    page.keyboard.press("Enter")
    assert page.inner_text("#shown") == "CLEAR LUNGS"
    photograph(page, "harness")
    assert (tmp_path / "harness.png").stat().st_size > 1_000
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
