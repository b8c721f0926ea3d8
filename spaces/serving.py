"""Serving a Space on this machine, or on the Hub's."""

from __future__ import annotations

import os
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import Any

from rrgmetrics.cli.formats import print_line
from rrgmetrics.spaces.address import check_address

BOARD = "RRGMETRICS_BOARD"  # environment variable: the leaderboard's file or the URL of its database
RATING = "RRGMETRICS_RATING"  # the same of a rating project


def serve(name: str, *, host: str = "127.0.0.1", port: int | None = None) -> None:
    """Serves a Space until it is interrupted.

    Args:
        name: A metric, or another of `builder.space_names()`.
        host: Address to listen at; the default is this machine only.
        port: None takes a free one from 7860.

    Raises:
        InputError: Unknown name, or an address that cannot be listened at.
        MissingExtraError: Gradio is not installed.
    """
    check_address(host, port)
    if name == "leaderboard":
        serve_board(host, port)
    elif name == "rating":
        serve_rating(host, port)
    else:
        _launch(name, server_name=host, server_port=port)


def serve_board(host: str = "", port: int | None = None) -> None:
    """Serves the leaderboard that RRGMETRICS_BOARD names, or else one of invented studies, with a worker beside it.

    Args:
        host: Empty takes `GRADIO_SERVER_NAME`, as a Space has it, or this machine only.
        port: None takes `GRADIO_SERVER_PORT`, or a free one from 7860.
    """
    from rrgmetrics.spaces.leaderboard import commands

    host = host or os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1")
    proxies = int("SPACE_ID" in os.environ)  # on the Hub one proxy stands before the page
    with tempfile.TemporaryDirectory() as folder:
        board = f"env:{BOARD}" if os.environ.get(BOARD) else _demo(Path(folder))
        commands.serve(Namespace(board=board, host=host, port=port, proxies=proxies, worker=True))


def serve_rating(host: str = "", port: int | None = None) -> None:
    """Serves the rating project that RRGMETRICS_RATING names, or else one of invented reports; arguments as above."""
    from rrgmetrics.spaces.rating import commands, demo

    host = host or os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1")
    port = port or int(os.environ.get("GRADIO_SERVER_PORT", commands.PORT))
    with tempfile.TemporaryDirectory() as folder:
        project = f"env:{RATING}"
        if not os.environ.get(RATING):
            project = str(Path(folder) / "project.sqlite")
            print_line(f"Invented reports; host token: {demo.demo_project(project).host_token}")
        commands.serve(Namespace(project=project, host=host, port=port, proxies=int("SPACE_ID" in os.environ)))


def _demo(folder: Path) -> str:
    from rrgmetrics.spaces.leaderboard.demo import demo_board

    path = folder / "board.sqlite"
    demo_board(path)
    return str(path)


def _launch(name: str, **keywords: Any) -> None:
    if name == "compare":
        from rrgmetrics.spaces import compare

        compare.launch(**keywords)
    else:
        from rrgmetrics.spaces.ui import launch

        launch(name, **keywords)
