"""What is read with: the pack, and the folder of the user's own. What is made of the lexicon is kept for each apart.

The folder is what the environment variable `RRGMETRICS_LEXICON` says, so that child processes read with the lexicon of
the process that starts them. The pack is a variable of the context, set while reports of one kind are read: readings
with two packs or two folders in one process never mix.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, TypeVarTuple

VARIABLE = "RRGMETRICS_LEXICON"
DEFAULT_PACK = "chest_xray"
KEPT = 4096  # results of one function, all packs and folders together
Ts = TypeVarTuple("Ts")
R = TypeVar("R")
P = ParamSpec("P")
_pack: ContextVar[str] = ContextVar("rrgmetrics_pack", default=DEFAULT_PACK)
_forget: list[Callable[[], None]] = []


def per_lexicon(function: Callable[[*Ts], R]) -> Callable[[*Ts], R]:
    """Keeps what a function of hashable arguments returns, for each pack and each folder apart."""

    @lru_cache(maxsize=KEPT)
    def call(folder: str, pack: str, *args: Any) -> R:
        return function(*args)

    @wraps(function)
    def kept(*args: *Ts) -> R:
        return call(folder_in_use(), _pack.get(), *args)

    _forget.append(call.cache_clear)
    return kept


def pack_in_use() -> str:
    """The name of the pack that reports are read with."""
    return _pack.get()


@contextmanager
def pack_used(name: str) -> Iterator[None]:
    """Reads with a pack until the block ends; `packs.check_pack` says whether there is one of this name."""
    token = _pack.set(name)
    try:
        yield
    finally:
        _pack.reset(token)


class Read(Protocol):
    """What was read with a pack: a reading, or a comparison of two."""

    @property
    def pack(self) -> str:
        """The pack's name."""


T = TypeVar("T", bound=Read)


def in_its_pack(function: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[T, P], R]:
    """Lets a function of a reading, or of a comparison, know what the pack knows that it was read with."""

    @wraps(function)
    def call(read: T, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if read.pack == _pack.get():
            return function(read, *args, **kwargs)
        with pack_used(read.pack):
            return function(read, *args, **kwargs)

    return call


def folder_in_use() -> str:
    """The user's folder as `RRGMETRICS_LEXICON` names it; "" for the bundled lexicon alone."""
    return os.environ.get(VARIABLE, "")


@contextmanager
def folder_used(folder: str | Path | None) -> Iterator[None]:
    """Sets the folder, for this process and those it starts, until the block ends; what was kept of it is read anew."""
    before = os.environ.get(VARIABLE)
    for forget in _forget:
        forget()
    try:
        if folder is not None:
            os.environ[VARIABLE] = str(Path(folder).resolve())
        yield
    finally:
        os.environ.pop(VARIABLE, None)
        if before is not None:
            os.environ[VARIABLE] = before
