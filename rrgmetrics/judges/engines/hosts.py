"""Tells the user once to which remote host reports are sent."""

from __future__ import annotations

import ipaddress
import logging
from urllib.parse import urlsplit

logger = logging.getLogger("rrgmetrics")
_told: set[str] = set()  # remote hosts that were named in a warning


def is_loopback(address: str) -> bool:
    """Returns whether an address is this machine's own."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def tell_host(address: str, identity: str) -> None:
    """Logs once for each remote host that reports are sent there."""
    host = urlsplit(address).hostname or address
    if not is_loopback(address) and host not in _told:
        _told.add(host)
        logger.warning("%s: the reports are sent to %s.", identity, host)
