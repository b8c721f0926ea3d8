"""Which lexicon is read with: a pack, and a folder of the user's own beside the bundled files.

The environment variable `RRGMETRICS_LEXICON` names the folder that counts where none is named; it is asked once. `use`
sets another one until a block ends. A lexicon, a reading and a comparison know what they were made with, so that
several packs and folders in one process, in threads too, never mix.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar, TypeVarTuple, cast

VARIABLE = "RRGMETRICS_LEXICON"
DEFAULT_PACK = "chest_xray"
KEPT = 1024  # results of one function of the files, all packs and folders together
Ts = TypeVarTuple("Ts")
R = TypeVar("R")
_folder: str | None = None  # None: the environment was not asked yet
_forget: list[Callable[[], None]] = []


class LexiconKey(NamedTuple):
    """What a lexicon is made from: a pack, and the user's folder; "" for the bundled files alone."""

    pack: str
    folder: str


def key_in_use(pack: str = DEFAULT_PACK) -> LexiconKey:
    """The key of a pack with the folder in use."""
    return LexiconKey(pack, folder_in_use())


def kept_until_use(function: Callable[[*Ts], R]) -> Callable[[*Ts], R]:
    """Keeps what a function of hashable arguments makes of files, until `use` asks for the files to be read anew."""
    kept = lru_cache(maxsize=KEPT)(function)
    _forget.append(kept.cache_clear)
    return cast("Callable[[*Ts], R]", kept)


def folder_in_use() -> str:
    """The user's folder that counts where none is named; "" for the bundled files alone."""
    global _folder
    if _folder is None:
        _folder = os.environ.get(VARIABLE, "")
    return _folder


def start_with(folder: str) -> None:
    """Sets the folder in use of a process that has just been started."""
    global _folder
    _folder = folder


def environment_of_children() -> dict[str, str]:
    """What a process that is started must find in its environment to read with the folder in use."""
    return {VARIABLE: folder_in_use()} if folder_in_use() else {}


@contextmanager
def folder_used(folder: str | Path | None) -> Iterator[None]:
    """Sets the folder in use until the block ends; what was made of its files is made anew."""
    global _folder
    before = folder_in_use()
    for forget in _forget:
        forget()
    try:
        if folder is not None:
            _folder = str(Path(folder).resolve())
        yield
    finally:
        _folder = before
