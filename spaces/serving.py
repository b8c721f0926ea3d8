"""Serving a Space on this machine."""

from __future__ import annotations

import socket
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
    _check_address(host, port)
    _launch(name, server_name=host, server_port=port)


def _check_address(host: str, port: int | None) -> None:
    """Before anything is imported or loaded."""
    if port is not None and not 0 < port < 65536:
        raise InputError(f"--port {port} is no port; give a number from 1 to 65535.")
    try:
        socket.create_server((host, port or 0)).close()
    except OSError as error:
        raise InputError(
            f"{host}{f':{port}' if port else ''} cannot be served: {error.strerror}; choose another --port or --host."
        ) from None


def _launch(name: str, **keywords: Any) -> None:
    if name == "compare":
        from rrgmetrics.spaces import compare

        compare.launch(**keywords)
    else:
        from rrgmetrics.spaces.ui import launch

        launch(name, **keywords)
