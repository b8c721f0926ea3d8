"""The files of the lexicon: ours, and a folder of the user's own that adds to them or overrides them.

Which folder is in use says the environment variable `RRGMETRICS_LEXICON` alone, so that child processes read with the
same lexicon as the process that starts them. Whatever is made from the lexicon is kept by `per_lexicon`, for each
folder apart: readings with two lexicons in one process never mix.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

from rrgmetrics.errors import InputError
from rrgmetrics.reader.lexicon.compiled import kept, key_of
from rrgmetrics.reader.lexicon.schema import CONCEPT_FILES, SHAPES, TABLE_FILES, merge

VARIABLE = "RRGMETRICS_LEXICON"
_TEXT, _MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"
KEPT = 4096  # results of one function, all lexicons together
Ts = TypeVarTuple("Ts")
R = TypeVar("R")
_forget: list[Callable[[], None]] = []


def per_lexicon(function: Callable[[*Ts], R]) -> Callable[[*Ts], R]:
    """Keeps what a function of hashable arguments returns, for each lexicon apart."""

    @lru_cache(maxsize=KEPT)
    def call(folder: str, *args: Any) -> R:
        return function(*args)

    @wraps(function)
    def kept(*args: *Ts) -> R:
        return call(folder_in_use(), *args)

    _forget.append(call.cache_clear)
    return kept


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


def bundled_file(name: str) -> Path:
    """The path of a bundled file."""
    return Path(__file__).with_name(f"{name}.yaml")


def own_files(folder: str) -> list[Path]:
    """The YAML files of the user's folder; raises InputError if there is no such folder, or no such file in it."""
    if not folder:
        return []
    if not Path(folder).is_dir():
        raise InputError(f"The lexicon {folder} is not a folder; name one with files such as lung.yaml.")
    files = sorted(path for path in Path(folder).iterdir() if path.suffix in (".yaml", ".yml"))
    if not files:
        raise InputError(f"The lexicon {folder} holds no .yaml file; it should have the shape of rrgmetrics' lexicon.")
    return files


def parse(text: str) -> Any:
    """The content of a YAML text as plain dictionaries and lists."""
    import yaml  # 20 ms that `import rrgmetrics` need not pay

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)  # both read plain data only
    try:
        return _plain(loader.get_single_node(), loader, {})
    finally:
        loader.dispose()


def _plain(node: Any, loader: Any, made: dict[int, Any]) -> Any:
    """The content of a node, in a third of the time that the loader takes for it; an alias is the same object."""
    if node is None or id(node) in made:
        return made.get(id(node))
    if node.id == "scalar":
        return node.value if node.tag == _TEXT else loader.construct_object(node)
    if node.id == "sequence":
        items = made[id(node)] = []
        items.extend([_plain(each, loader, made) for each in node.value])
        return items
    if any(key.tag == _MERGE for key, _ in node.value):
        loader.flatten_mapping(node)
    entries = made[id(node)] = {}
    for key, value in node.value:
        entries[_plain(key, loader, made)] = _plain(value, loader, made)
    return entries


@per_lexicon
def bundled() -> tuple[str, dict[str, Any]]:
    """The key of the bundled files, and the content of each."""
    texts = {name: bundled_file(name).read_bytes() for name in SHAPES}
    key = key_of(texts.values())
    return key, kept("files", key, lambda: {name: parse(text.decode("utf-8")) for name, text in texts.items()})


@per_lexicon
def load_file(name: str) -> Any:
    """The content of one file of the lexicon in use, as plain dictionaries and lists; not to be changed."""
    content = bundled()[1][name]
    for path in own_files(folder_in_use()):
        if path.stem == name:
            content = merge(name, content, parse(path.read_text(encoding="utf-8")))
    return content


@per_lexicon
def checksum(*names: str) -> str:
    """The SHA-256 of what the files of the lexicon in use say, comments apart; of all that is read with, or of some."""
    contents = [load_file(name) for name in names or (*CONCEPT_FILES, *TABLE_FILES)]
    return sha256(json.dumps(contents, ensure_ascii=False).encode()).hexdigest()


def own_facts() -> dict[str, str]:
    """What the signature of every metric that reads says of the user's folder: its name and eight letters of the sum.

    Example:
        >>> own_facts()
        {}
    """
    folder = folder_in_use()
    return {"lexicon": f"{Path(folder).name}@{checksum()[:8]}"} if folder else {}
