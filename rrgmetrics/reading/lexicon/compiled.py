"""What is made of the lexicon's files, kept in the user's cache: a fresh process need not parse and index them again.

The YAML files are the truth. The name of what is kept is the SHA-256 of all that it was made from: the files, the code
that reads them, Python's version. So it is never used for other files than these, and a copy that is damaged or cannot
be read or written costs time and nothing else. It is plain data in the format of Python's own compiled modules, which
keeps tuples and sets apart from lists and runs nothing when it is read.

Whoever writes a file can write its checksum too: the sum shows damage, not the author. What shows the author is the
system: the folder and the file must belong to this user, and nobody else may write to them. A folder that fails this
is neither read, written nor tidied.
"""

from __future__ import annotations

import logging
import marshal
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from rrgmetrics.reading import line_breaks, model, senses, tokens
from rrgmetrics.reading.lexicon.model import Concept, Known, Lexicon, SmallWords, TipSite, Zone
from rrgmetrics.utils import patterns

_BESIDE = (patterns.__file__, line_breaks.__file__, model.__file__, senses.__file__, tokens.__file__)
CODE = (*sorted(Path(__file__).parent.glob("*.py")), *map(Path, _BESIDE))
KEPT = 32  # files in the cache, the newest; each has some 400 kB
LARGEST = 64_000_000  # bytes of a file; ours have less than two million
UNFINISHED = 3600  # seconds after which a file that is still unfinished is the rest of a process that was killed
_SUM = 32  # bytes of a SHA-256
_PART = re.compile(r"\.part-[0-9a-f]{16}")  # the name of an unfinished file
_NAME = re.compile(r"(?:packs|files|lexicon)-[0-9a-f]{64}")
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_PLAIN_ERRORS = (ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, TypeError, ValueError)
logger = logging.getLogger("rrgmetrics")
T = TypeVar("T")
_ROWS: dict[str, Callable[..., Any]] = {"concepts": Concept, "zones": Zone, "tips": TipSite}


def key_of(texts: Iterable[bytes]) -> str:
    """The sum of everything that decides what is made of these texts."""
    texts = [sys.version.encode(), *(path.read_bytes() for path in CODE), *texts]
    return sha256(b"".join(sha256(text).digest() for text in texts)).hexdigest()


def kept(name: str, key: str, make: Callable[[], Any], use: Callable[[Any], T]) -> T:
    """What `use` makes of the plain data that `make` returns, or that was made before of what has this key.

    Args:
        name: What is kept: packs, files or lexicon.
        key: Of all that it is made from (`key_of`).
        make: Makes the plain data.
        use: Turns the plain data into what is returned; whatever it raises of data from the cache, they are made anew.
    """
    try:
        path = _folder() / f"{name}-{key}"
    except RuntimeError:  # nobody knows where the user's home is
        return use(make())
    is_own = _is_own_folder(path.parent)
    if is_own:
        with suppress(OSError, *_PLAIN_ERRORS):
            return use(marshal.loads(_checked(path)))
    made = make()
    if is_own is not False:
        with suppress(OSError):
            _keep(path, marshal.dumps(made))
    return use(made)


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "rrgmetrics", "lexicon").expanduser()


def _is_own_folder(path: Path) -> bool | None:
    """Whether this is a folder of this user's, to which nobody else may write; None if there is nothing."""
    try:
        facts = path.lstat()
    except OSError:
        return None
    is_own = stat.S_ISDIR(facts.st_mode) and _is_private(facts)
    if not is_own:
        logger.info("%s is not used: it must be a folder of this user to which nobody else can write.", path)
    return is_own


def _is_private(facts: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user, and nobody else may write to it; Windows has no such facts."""
    if not hasattr(os, "getuid"):
        return True
    return facts.st_uid == os.getuid() and not facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _checked(path: Path) -> bytes:
    """The content of a file; raises OSError or ValueError for one that cannot be read, or that we did not write."""
    descriptor = os.open(path, os.O_RDONLY | _FLAGS)  # never waits, as it would for the writer of a pipe
    with open(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or not _is_private(facts) or facts.st_size > LARGEST:
            raise ValueError("rrgmetrics did not write it")
        stored = file.read()
    if _sum(path, stored[_SUM:]) != stored[:_SUM]:
        raise ValueError("it is damaged")
    return stored[_SUM:]


def _sum(path: Path, content: bytes) -> bytes:
    """The sum of a content under its name: another file's content under this name is damage too."""
    return sha256(path.name.encode() + b"\0" + content).digest()


def _keep(path: Path, content: bytes) -> None:
    """Writes a file that is whole whenever it is there, and leaves the newest few."""
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    if not _is_own_folder(path.parent):  # another process was faster
        return
    part = path.with_name(f".part-{secrets.token_hex(8)}")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600), "wb") as file:
            file.write(_sum(path, content) + content)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    _tidy(path.parent)


def _tidy(folder: Path) -> None:
    """Removes older files of ours, and what killed processes have left; whatever else lies there stays."""
    ours: list[tuple[float, Path]] = []
    for path in folder.iterdir():
        with suppress(OSError):
            facts = path.lstat()
            if not stat.S_ISREG(facts.st_mode):
                continue
            if _NAME.fullmatch(path.name):
                ours.append((facts.st_mtime, path))
            elif _PART.fullmatch(path.name) and time.time() - facts.st_mtime > UNFINISHED:
                path.unlink()
    for _, path in sorted(ours)[:-KEPT]:
        with suppress(OSError):
            path.unlink()


def as_plain(lexicon: Lexicon) -> dict[str, Any]:
    """A lexicon without classes, which `as_lexicon` makes one again."""
    plain = {each.name: getattr(lexicon, each.name) for each in fields(lexicon) if each.name not in ("key", "made")}
    plain |= {name: {key: _row(value) for key, value in plain[name].items()} for name in _ROWS}
    plain["trie"] = {word: marshal.dumps(branch) for word, branch in lexicon.trie.items()}
    return plain | {"small": _row(lexicon.small), "known": _row(lexicon.known)}


def _row(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple) else tuple(getattr(value, each.name) for each in fields(value))


def as_lexicon(plain: dict[str, Any]) -> Lexicon:
    """The inverse of `as_plain`."""
    made: dict[str, Any] = {name: {key: kind(*row) for key, row in plain[name].items()} for name, kind in _ROWS.items()}
    made |= {"small": SmallWords(*plain["small"]), "known": Known(*plain["known"]), "trie": _PackedTrie(plain["trie"])}
    return Lexicon(**{**plain, **made})


class _PackedTrie(dict[str, Any]):
    """A trie whose branches are unpacked when they are first asked for: one report has few of the words."""

    def __getitem__(self, word: str) -> Any:
        branch = super().__getitem__(word)
        if type(branch) is bytes:
            branch = self[word] = marshal.loads(branch)
        return branch

    def get(self, word: str, default: Any = None) -> Any:
        return default if super().get(word) is None else self[word]

    def items(self) -> Any:
        return {word: self[word] for word in self}.items()
