"""Where a page is served: checked before anything is imported or loaded."""

from __future__ import annotations

import errno
import socket

from rrgmetrics.errors import InputError


def check_address(host: str, port: int | None) -> None:
    """Raises InputError for a port that is none, or an address that cannot be served."""
    if port is not None and not 0 < port < 65536:
        raise InputError(f"--port {port} is not a port; use a number from 1 to 65535.")
    try:
        socket.create_server((host, port or 0)).close()
    except OSError as error:
        if port and error.errno == errno.EADDRINUSE:
            raise InputError(f"Port {port} of {host} is in use by another program; choose another --port.") from None
        raise InputError(
            f"{host}{f':{port}' if port else ''} cannot be served: {error.strerror}; choose another --port or --host."
        ) from None
