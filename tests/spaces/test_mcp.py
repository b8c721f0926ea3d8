"""Spaces as MCP servers, asked by the official SDK's own client."""

import logging
from ast import literal_eval
from contextlib import contextmanager
from functools import partial

import anyio
import pytest

from rrgmetrics.spaces import framework, ui
from rrgmetrics.spaces.compare import page as compare_page
from rrgmetrics.spaces.compare.scoring import compare_reports
from rrgmetrics.spaces.framework import launched
from rrgmetrics.utils.extras import install_command

pytest.importorskip("mcp")
REFERENCE = "Small right pleural effusion."
CANDIDATE = "Small left pleural effusion."
QUIET = {"prevent_thread_lock": True, "quiet": True}


@contextmanager
def served(page, **options):
    _, url, _ = launched(page, **options | QUIET)
    try:
        yield url
    finally:
        page.close(verbose=False)


def ask(url, tool, arguments):
    """The tools of the Space at an address, and what one of them answers."""

    async def run():
        from mcp import ClientSession
        from mcp.client.streamable_http import streamable_http_client

        async with (
            streamable_http_client(f"{url}gradio_api/mcp/") as (reads, writes, _),
            ClientSession(reads, writes) as client,
        ):
            await client.initialize()
            tools = (await client.list_tools()).tools
            return tools, await client.call_tool(tool, arguments)

    tools, reply = anyio.run(run)
    return {each.name: each for each in tools}, reply


def test_the_page_of_a_metric_is_a_tool():
    with served(ui.build_space("finding_errors"), **ui.launch_options()) as url:
        tools, reply = ask(url, "score_pair", {"reference": REFERENCE, "candidate": CANDIDATE})
    assert set(tools) == {"score_pair", "score_file"}
    assert tools["score_pair"].description.startswith("Scores one pair of reports")
    assert tools["score_pair"].inputSchema["properties"]["candidate"]["description"] == "The machine's report."
    assert "One pair a row" in tools["score_file"].description
    answer = literal_eval(reply.content[0].text)
    assert answer["scores"]["finding_errors"] == 1.0
    assert answer["finding_errors_explained"][0]["category"] == "incorrect_location"


def test_the_comparison_is_a_tool(monkeypatch):
    monkeypatch.setattr(compare_page, "compare_reports", partial(compare_reports, names=("bleu", "finding_score")))
    with served(compare_page.compare_space(())) as url:
        texts = {"reference": REFERENCE, "candidate_1": CANDIDATE, "candidate_2": REFERENCE}
        tools, reply = ask(url, "compare", texts)
    assert set(tools) == {"compare"}
    answer = literal_eval(reply.content[0].text)
    assert "Candidate 2 has fewer errors" in answer["headline"]
    assert [len(errors) for errors in answer["errors"]] == [1, 0]
    assert answer["scores"]["bleu"]["prefers"] == "second"


def test_the_table_of_a_leaderboard_is_a_tool(tmp_path):
    from rrgmetrics.spaces.leaderboard import app, demo
    from rrgmetrics.spaces.leaderboard.board import open_board

    demo.demo_board(tmp_path / "board.sqlite", n_studies=20, systems=demo.SYSTEMS[::2], trials=200)
    board = open_board(str(tmp_path / "board.sqlite"))
    with served(app.leaderboard_app(board), **app.launch_options(board)) as url:
        tools, reply = ask(url, "table", {})
    assert set(tools) == {"table"}
    rows = literal_eval(reply.content[0].text)
    assert [row["system"] for row in rows] == [row.system.name for row in board.standings().systems]
    assert all(row["scores"] for row in rows if row["rank"])


def test_without_the_sdk_a_space_is_served_and_says_so(monkeypatch, caplog):
    asked = {}

    class Page:
        def launch(self, **keywords):
            asked.update(keywords)

    monkeypatch.setattr(framework, "is_installed", lambda package: package != "mcp")
    with caplog.at_level(logging.INFO, "rrgmetrics"):
        launched(Page(), server_port=7)
    assert asked == {"server_port": 7, "mcp_server": False}
    assert install_command("mcp") in caplog.text
