"""Serving a Space on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rrgmetrics.errors import InputError

if TYPE_CHECKING:
    import gradio


def page_of(name: str) -> gradio.Blocks:
    """The page of a Space, ready to launch.

    Raises:
        InputError: Unknown name.
        MissingExtraError: Gradio is not installed.
    """
    from rrgmetrics.spaces.ui import metric_space

    page: gradio.Blocks = metric_space(name)
    return page


def serve(name: str, *, host: str = "127.0.0.1", port: int | None = None) -> None:
    """Serves a Space until it is interrupted.

    Args:
        name: A metric, `compare` or `leaderboard`.
        host: Address to listen at; the default is this machine only.
        port: None takes a free one from 7860.

    Raises:
        InputError: Unknown name, or an address that cannot be listened at.
        MissingExtraError: Gradio is not installed.
    """
    if port is not None and not 0 < port < 65536:
        raise InputError(f"--port {port} is no port; give a number from 1 to 65535.")
    page = page_of(name)
    try:
        page.launch(server_name=host, server_port=port, quiet=False)
    except OSError as error:
        raise InputError(f"{host}:{port or 7860} cannot be served: {error}. Choose another --port or --host.") from None
