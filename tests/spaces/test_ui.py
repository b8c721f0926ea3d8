"""A metric's Gradio page: the handler, and a round trip through a served page."""

import pytest
from rrgmetrics.spaces import ui

from rrgmetrics import SPECS, spaces

pytest.importorskip("gradio")


@pytest.mark.parametrize("name", SPECS)
def test_every_metric_has_a_page(name):
    page = spaces.metric_space(name)
    assert SPECS[name].title in page.title


def test_table_has_every_key_with_range_and_direction():
    rows, signature = ui.score_table(SPECS["rouge"], "Small left effusion.", "Small left effusion.")
    assert [row[0] for row in rows] == [key.title for key in SPECS["rouge"].keys]
    assert rows[0][1:] == ["1.0000", "0 to 1", "higher"]
    assert signature.startswith("rouge|")


def test_round_trip_and_errors():
    from gradio_client import Client
    from gradio_client.exceptions import AppError

    page = spaces.metric_space("rouge")
    _, url, _ = page.launch(prevent_thread_lock=True, quiet=True, ssr_mode=False)
    try:
        client = Client(url, verbose=False)
        table, signature = client.predict("Clear lungs.", "Clear lungs.", api_name="/score")
        assert table["data"][0][1] == "1.0000"
        assert "|n:1|" in signature
        with pytest.raises(AppError, match="characters"):
            client.predict("x" * 200_000, "Clear lungs.", api_name="/score")
    finally:
        page.close()
