"""What is made of the lexicon's files, kept in the user's cache: a fresh process need not parse and index them again.

The YAML files are the truth. The name of what is kept is the SHA-256 of all that it was made from: the files, the code
that reads them, Python's version. So it is never used for other files than these, and a copy that is damaged or cannot
be read or written costs time and nothing else. It is plain data in the format of Python's own compiled modules, which
keeps tuples and sets apart from lists and runs nothing when it is read.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from rrgmetrics import headings
from rrgmetrics.reader import lines, model, tokens
from rrgmetrics.reader.lexicon.model import Concept, Known, Lexicon, SmallWords, TipSite, Zone

_BESIDE = (headings.__file__, lines.__file__, model.__file__, tokens.__file__)
CODE = (*sorted(Path(__file__).parent.glob("*.py")), *map(Path, _BESIDE))
KEPT = 32  # files in the cache, the newest; each has some 400 kB
_SUM = 32  # bytes of a SHA-256
_ROWS: dict[str, Callable[..., Any]] = {"concepts": Concept, "zones": Zone, "tips": TipSite}


def key_of(texts: Iterable[bytes]) -> str:
    """The sum of everything that decides what is made of these texts."""
    texts = [sys.version.encode(), *(path.read_bytes() for path in CODE), *texts]
    return sha256(b"".join(sha256(text).digest() for text in texts)).hexdigest()


def kept(name: str, key: str, make: Callable[[], Any]) -> Any:
    """What `make` returns, plain data, from the cache if it was made before of what has this key."""
    try:
        path = _folder() / f"{name}-{key}"
    except RuntimeError:  # nobody knows where the user's home is
        return make()
    try:
        stored = path.read_bytes()
        if sha256(stored[_SUM:]).digest() == stored[:_SUM]:
            return marshal.loads(stored[_SUM:])
    except OSError:
        pass
    made = make()
    _keep(path, marshal.dumps(made))
    return made


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "rrgmetrics", "lexicon").expanduser()


def _keep(path: Path, content: bytes) -> None:
    """Writes a file that is whole whenever it is there, and leaves the newest few."""
    from tempfile import NamedTemporaryFile

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(sha256(content).digest() + content)
        os.replace(file.name, path)
        for old in sorted(path.parent.iterdir(), key=os.path.getmtime)[:-KEPT]:
            old.unlink(missing_ok=True)
    except OSError:
        pass


def as_plain(lexicon: Lexicon) -> dict[str, Any]:
    """A lexicon without classes, which `as_lexicon` makes one again."""
    plain = {each.name: getattr(lexicon, each.name) for each in fields(lexicon)}
    plain |= {name: {key: _row(value) for key, value in plain[name].items()} for name in _ROWS}
    return plain | {"small": _row(lexicon.small), "known": _row(lexicon.known)}


def _row(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple) else tuple(getattr(value, each.name) for each in fields(value))


def as_lexicon(plain: dict[str, Any]) -> Lexicon:
    """The inverse of `as_plain`."""
    rows = {name: {key: kind(*row) for key, row in plain[name].items()} for name, kind in _ROWS.items()}
    return Lexicon(**{**plain, **rows, "small": SmallWords(*plain["small"]), "known": Known(*plain["known"])})
