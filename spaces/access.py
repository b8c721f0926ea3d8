"""Who may do what on a Space, and how often: tokens, visitors' addresses, tries that are counted."""

from __future__ import annotations

import hmac
import ipaddress
import os
import secrets
import time
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from sqlalchemy import Column, Double, Index, Integer, MetaData, String, Table, delete, insert, select

from rrgmetrics.errors import InputError
from rrgmetrics.spaces.database import Store

DAY, HOUR, GUESS_WINDOW = 86_400.0, 3_600.0, 900.0
OAUTH = ("OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET", "OAUTH_SCOPES", "OPENID_PROVIDER_URL")  # as a Space has them


class LimitError(InputError):
    """Too many tries in too short a time.

    Attributes:
        retry_after: Seconds until the next try can succeed.
    """

    def __init__(self, message: str, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(message)


def has_accounts() -> bool:
    """Whether visitors can log in with their account of the Hub: on a Space with `hf_oauth: true`."""
    return os.environ.get("SYSTEM") == "spaces" and all(map(os.environ.get, OAUTH))


def new_token() -> str:
    """A token of 256 random bits."""
    return secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """What is kept of a token; one of 256 random bits needs no slow hash."""
    return sha256(token.encode(errors="replace")).hexdigest()


def visitor(request: Any, proxies: int) -> str:
    """The address a request comes from: the entry that the outermost of our own proxies wrote.

    Args:
        request: Starlette's or Gradio's.
        proxies: How many of ours stand before the page.
    """
    if proxies:
        hops: list[str] = [hop.strip() for hop in request.headers.get("x-forwarded-for", "").split(",") if hop.strip()]
        if len(hops) >= proxies:
            return hops[-proxies]
    return str(request.client.host) if request.client else ""


def address_key(address: str, secret: bytes) -> str:
    """What is kept of an address: a keyed hash of its network (one host of IPv4, a /64 of IPv6)."""
    try:
        host = ipaddress.ip_address(address.strip().partition("%")[0])
    except ValueError:
        network = address
    else:
        host = getattr(host, "ipv4_mapped", None) or host
        network = str(ipaddress.ip_network(f"{host}/{64 if host.version == 6 else 32}", strict=False))
    return hmac.new(secret, network.encode(errors="replace"), sha256).hexdigest()


def tries_table(metadata: MetaData, name: str) -> Table:
    """The table of what was tried in the last day, which limits are counted by."""
    return Table(
        name,
        metadata,
        Column("number", Integer, primary_key=True),
        Column("kind", String(8), nullable=False),
        Column("who", String(64), nullable=False),
        Column("at", Double, nullable=False),
        Column("amount", Double, nullable=False, server_default="0"),  # bytes of an upload
        Index(f"{name}_by_who", "kind", "who", "at"),
    )


def count_try(store: Store, table: Table, kind: str, who: str, window: float, allowed: int, message: str) -> None:
    """Remembers a try; raises LimitError, and does not, if there were that many within the window (seconds)."""
    now = time.time()
    with store.writing() as connection:
        connection.execute(delete(table).where(table.c.at < now - DAY))
        query = select(table.c.at).where(
            table.c.kind == kind, table.c.who == who, table.c.at.between(now - window, now)
        )
        check_rate(connection.execute(query.order_by(table.c.at)).scalars().all(), allowed, window, now, message)
        connection.execute(insert(table).values(kind=kind, who=who, at=now))


def check_rate(times: Sequence[float], allowed: int, window: float, now: float, message: str) -> None:
    """Raises LimitError, which says when the next try can succeed, if there were as many as are allowed."""
    if len(times) >= allowed:
        raise LimitError(message, times[len(times) - allowed] + window - now)
