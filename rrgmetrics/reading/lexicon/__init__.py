"""The lexicon of the reader: the YAML files of this folder, which radiologists can correct.

It consists of packs (`packs`): `common/` has the grammar of reports, and each other folder has the terms of one kind of
examination. `schema` defines the format of the files, `files` reads them, `build` compiles them for the engine, and
`checking` reports errors with file and line. A user folder of the same format adds or overrides concepts and terms: the
environment variable `RRGMETRICS_LEXICON` names it for a process and its children, `--lexicon` for one command, and
`use` for a block of Python. The signature of every metric that uses the reader names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from rrgmetrics.errors import InputError
from rrgmetrics.reading.lexicon.build import build_lexicon
from rrgmetrics.reading.lexicon.compiled import as_lexicon, as_plain, kept
from rrgmetrics.reading.lexicon.files import checksum, digest_of, load_file, own_facts
from rrgmetrics.reading.lexicon.in_use import (
    DEFAULT_PACK,
    LexiconKey,
    environment_of_children,
    folder_in_use,
    folder_used,
    kept_until_use,
    key_in_use,
    start_with,
)
from rrgmetrics.reading.lexicon.model import (
    BONES,
    DEVICES,
    TECHNIQUE,
    Concept,
    Lexicon,
    Role,
    SmallWords,
    Trie,
    Zone,
    per_lexicon,
)
from rrgmetrics.reading.lexicon.packs import AUTO, Pack, all_packs, check_pack, concept_files, first_pack, pack_titled
from rrgmetrics.reading.lexicon.schema import TABLE_FILES

__all__ = [
    "AUTO",
    "BONES",
    "DEFAULT_PACK",
    "DEVICES",
    "TABLE_FILES",
    "TECHNIQUE",
    "Concept",
    "Lexicon",
    "LexiconKey",
    "Pack",
    "Role",
    "SmallWords",
    "Trie",
    "Zone",
    "all_packs",
    "check_pack",
    "checksum",
    "concept_files",
    "environment_of_children",
    "first_pack",
    "folder_in_use",
    "kept_until_use",
    "key_in_use",
    "lexicon_of",
    "load",
    "load_file",
    "own_facts",
    "pack_titled",
    "per_lexicon",
    "start_with",
    "use",
]


class Read(Protocol):
    """What was read with a lexicon: a reading, or a comparison of two."""

    @property
    def pack(self) -> str:
        """The pack's name."""

    @property
    def folder(self) -> str:
        """The user's folder; "" for the bundled files alone."""


def load(pack: str = DEFAULT_PACK, folder: str | None = None) -> Lexicon:
    """The lexicon of a pack; made from its files once on a machine, and again when one of them has changed.

    Args:
        pack: Its name.
        folder: The user's folder; "" for the bundled files alone, None: the one in use.

    Raises:
        InputError: Something is wrong with the user's folder, or with our files; it says where, and what to do.
    """
    return _load(LexiconKey(pack, folder_in_use() if folder is None else folder))


def lexicon_of(read: Read) -> Lexicon:
    """The lexicon that something was read with."""
    return _load(LexiconKey(read.pack, read.folder))


@kept_until_use
def _load(key: LexiconKey) -> Lexicon:
    def checked() -> dict[str, Any]:
        if key.folder:
            _raise_faults(key)
        return as_plain(build_lexicon(key))

    try:
        digest = digest_of(key)
        lexicon = kept("lexicon", digest, checked, as_lexicon)
    except Exception:  # whatever a fault of a file does, the check says it better
        _raise_faults(key)
        raise
    lexicon.key = key
    return lexicon


@contextmanager
def use(folder: str | Path | None) -> Iterator[None]:
    """Reads with a folder of the user's own beside the bundled lexicon, until the block ends.

    Args:
        folder: YAML files of the names and the shape of the bundled ones; None: as `RRGMETRICS_LEXICON` says. They are
            read anew, so that what was changed in them counts.

    Raises:
        InputError: Something is wrong with the folder.

    Example:
        >>> with use(None):
        ...     load().concepts["pneumothorax"].significance
        'urgent'
    """
    with folder_used(folder):
        if folder_in_use():
            load()
        yield


def _raise_faults(key: LexiconKey) -> None:
    from rrgmetrics.reading.lexicon.checking import check  # 6 ms that `import rrgmetrics` need not pay

    faults = check(pack=key.pack, folder=key.folder)
    if faults:
        raise InputError("\n".join(map(str, faults)))
