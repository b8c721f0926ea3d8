"""Packs: what the reader knows of one kind of report each, in a folder of the lexicon with its `pack.yaml`.

`common/` is laid under every pack. A pack that extends another one is laid over it, as a folder of the user's own is
laid over ours. A folder of the user's own may hold folders named as packs, which count for these packs alone, and
packs of its own; what is at its top counts for chest X-ray reports, and for packs that extend theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from rrgmetrics.errors import InputError
from rrgmetrics.reading.lexicon.compiled import kept, key_of
from rrgmetrics.reading.lexicon.in_use import DEFAULT_PACK, LexiconKey, folder_in_use, kept_until_use
from rrgmetrics.reading.lexicon.parsing import parse, parse_own

BUNDLED = Path(__file__).parent
COMMON, PACK_FILE = "common", "pack.yaml"
AUTO = "auto"  # the pack follows from the report


@dataclass(frozen=True)
class Pack:
    """One pack, as its `pack.yaml` describes it.

    Attributes:
        name: Its folder's name.
        title: What it reads, for people: "chest CT reports in English".
        kind: Which kind of report of `scope.yaml` its reports are.
        language: The language of its reports.
        extends: The pack that it is laid over; "" for the common part alone.
        experimental: Whether it was measured on invented reports only.
        concepts: Its files of concepts, in the order in which they are read; every other file has a name of ours.
    """

    name: str
    title: str
    kind: str
    language: str = "English"
    extends: str = ""
    experimental: bool = False
    concepts: tuple[str, ...] = ()


class Layer(NamedTuple):
    """A folder of files, and whether it is the user's own."""

    folder: Path
    is_own: bool


def all_packs(folder: str | None = None) -> Mapping[str, Pack]:
    """All packs by name, the user's own behind ours; the default one is the first.

    Args:
        folder: The user's folder; None: the one in use.

    Raises:
        InputError: A `pack.yaml` of the user's folder cannot be used.
    """
    return _all_packs(folder_in_use() if folder is None else folder)


@kept_until_use
def _all_packs(folder: str) -> Mapping[str, Pack]:
    return find_packs(folder)


def find_packs(folder: str) -> dict[str, Pack]:
    """All packs beside a folder of the user's own, which may be "" for none; arguments and errors as for `packs`."""
    found = dict(_bundled_packs())
    for path in sorted(Path(folder).glob(f"*/{PACK_FILE}")) if folder else ():
        name = path.parent.name
        found[name] = _pack(path, parse_own(path), found.get(name))
    return found


@cache
def _bundled_packs() -> dict[str, Pack]:
    paths = sorted(BUNDLED.glob(f"*/{PACK_FILE}"), key=lambda path: (path.parent.name != DEFAULT_PACK, path))
    texts = [path.read_bytes() for path in paths]

    def described(contents: Any) -> dict[str, Pack]:
        return {path.parent.name: _pack(path, content) for path, content in zip(paths, contents, strict=True)}

    return kept("packs", key_of(texts), lambda: [parse(text.decode("utf-8")) for text in texts], described)


def _pack(path: Path, content: Any, before: Pack | None = None) -> Pack:
    known: dict[str, Any] = {} if before is None else vars(before)
    try:
        stated = {**known, **content, "name": path.parent.name}
        concepts = dict.fromkeys((*known.get("concepts", ()), *stated.get("concepts", ())))
        return Pack(**{**stated, "concepts": tuple(concepts)})
    except TypeError:
        raise InputError(
            f"{path} does not describe a pack: it needs title and kind, and can have language, extends, "
            "experimental and concepts."
        ) from None


def first_pack(name: str) -> str:
    """The pack that reading begins with, before any report is seen: the one named; for AUTO the default one."""
    return DEFAULT_PACK if name == AUTO else name


def pack_titled(title: str) -> Pack | None:
    """The pack that reads what a title says ("chest CT reports in English"); None if there is none."""
    return next((pack for pack in all_packs().values() if pack.title == title), None)


def check_pack(name: str, where: str = "modality", folder: str | None = None) -> str:
    """Returns the name of a pack, or AUTO; raises InputError naming `where` if there is none of this name."""
    if name != AUTO and name not in all_packs(folder):
        raise InputError(f"{where}={name!r} is unknown; choose one of {', '.join((AUTO, *all_packs(folder)))}.")
    return name


def chain(name: str, known: Mapping[str, Pack] | None = None) -> list[Pack]:
    """A pack, behind all that it extends.

    Raises:
        InputError: One of them does not exist, or extends itself.
    """
    known = all_packs() if known is None else known
    found: list[Pack] = []
    while name:
        pack = known.get(name)
        if pack is None or pack in found:
            problem = "extends itself" if pack else "does not exist"
            raise InputError(f"The pack {name!r} {problem}; packs are {', '.join(known)}.")
        found.insert(0, pack)
        name = pack.extends
    return found


def concepts_of(chained: list[Pack]) -> tuple[str, ...]:
    """The files of concepts of a pack and of all that it extends, in the order in which they are read."""
    return tuple(dict.fromkeys(name for pack in chained for name in pack.concepts))


@kept_until_use
def concept_files(key: LexiconKey) -> tuple[str, ...]:
    """The files of concepts of a lexicon, in the order in which they are read."""
    return concepts_of(chain(key.pack, all_packs(key.folder)))


@kept_until_use
def layers(key: LexiconKey) -> tuple[Layer, ...]:
    """The folders that a lexicon is read from, each laid over those before it."""
    return lay([pack.name for pack in chain(key.pack, all_packs(key.folder))], key.folder)


@kept_until_use
def all_layers(folder: str) -> tuple[Layer, ...]:
    """The folders of all packs: how reports are distinguished is the knowledge of all of them."""
    return lay([DEFAULT_PACK, *(name for name in all_packs(folder) if name != DEFAULT_PACK)], folder)


def lay(names: list[str], folder: str) -> tuple[Layer, ...]:
    """The folders of packs, ours first; what is at the top of the user's folder is of the default pack."""
    bundled = [Layer(BUNDLED / name, False) for name in (COMMON, *names)]
    own = [Layer(Path(folder), True)] if folder and DEFAULT_PACK in names else []
    own += [Layer(Path(folder, name), True) for name in names if folder]
    return tuple(layer for layer in (*bundled, *own) if layer.folder.is_dir())
