"""Serving a Space on this machine."""

from __future__ import annotations

from typing import Any

from rrgmetrics.errors import InputError


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
    if port is not None and not 0 < port < 65536:
        raise InputError(f"--port {port} is no port; give a number from 1 to 65535.")
    try:
        _launch(name, server_name=host, server_port=port)
    except OSError as error:
        raise InputError(f"{host}:{port or 7860} cannot be served: {error} Choose another --port or --host.") from None


def _launch(name: str, **keywords: Any) -> None:
    if name == "compare":
        from rrgmetrics.spaces import compare

        compare.launch(**keywords)
    else:
        from rrgmetrics.spaces.ui import launch

        launch(name, **keywords)
