"""Reads what a server sends up to a limit, of replies and of errors alike, and counts what is unpacked.

The `openai` client reads the whole body of an error before anybody can look at it, and its HTTP client unpacks whatever
one chunk holds: four megabytes of gzip are four gigabytes. So the body of every response is replaced, before either of
them reads it, by one that ends at the limit.
"""

from __future__ import annotations

import contextlib
import importlib
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

ACCEPTED = "gzip"  # what a request says that it takes; a server that sends something else is not understood
WBITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}  # zlib's name for each packing


def limit_bodies(most: int) -> Callable[[Any], Awaitable[None]]:
    """Returns a hook for the responses of an HTTP client: each body ends after `most` + 1 bytes, unpacked."""

    async def limit(response: Any) -> None:
        packing = response.headers.get("content-encoding", "").strip().lower()
        if packing:
            del response.headers["content-encoding"]  # it is unpacked here; what is not known stays as it is
        # httpx or httpx2, whichever the client's version uses: only its own kind of stream is read.
        base: Any = importlib.import_module(type(response).__module__.partition(".")[0]).AsyncByteStream
        sent = response.stream

        class Limited(base):  # type: ignore[misc]
            def __aiter__(self) -> AsyncIterator[bytes]:
                return _read(sent, WBITS.get(packing), most + 1, is_error=not response.is_success)

            async def aclose(self) -> None:
                await sent.aclose()

        response.stream = Limited()

    return limit


async def _read(sent: Any, wbits: int | None, most: int, *, is_error: bool) -> AsyncIterator[bytes]:
    """Yields at most so many bytes. An error's body that breaks off ends there: its status is what counts."""
    unpacker = None if wbits is None else zlib.decompressobj(wbits)
    left = most
    with contextlib.suppress(*([Exception] if is_error else [zlib.error])):
        async for chunk in sent:
            part = chunk[:left] if unpacker is None else unpacker.decompress(chunk, left)
            left -= len(part)
            yield part
            if not left:
                return
