"""The lexicon: the radiology that the reader knows, in the YAML files of this folder, for a radiologist to correct.

It comes in packs (`packs`): `common/` is the grammar of reports, the other folders hold what is said of one kind of
examination each. `schema` says what a file may hold, `files` reads them, `build` makes of them what the engine looks
things up in, and `checking` says with file and line what is wrong with them. A folder of the same shape adds concepts
and terms or overrides ours, without touching the package: the environment variable `RRGMETRICS_LEXICON` names it for a
process and all that it starts, `--lexicon` for one command, and `use` for a block of Python. It stands in the signature
of every metric that reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rrgmetrics.errors import InputError
from rrgmetrics.reader.lexicon.build import build_lexicon
from rrgmetrics.reader.lexicon.compiled import as_lexicon, as_plain, kept
from rrgmetrics.reader.lexicon.files import bundled, checksum, load_file, own_facts
from rrgmetrics.reader.lexicon.in_use import (
    DEFAULT_PACK,
    folder_in_use,
    folder_used,
    in_its_pack,
    pack_in_use,
    pack_used,
    per_lexicon,
)
from rrgmetrics.reader.lexicon.model import (
    BONES,
    DEVICES,
    TECHNIQUE,
    Concept,
    Lexicon,
    Role,
    Senses,
    SmallWords,
    Trie,
    Zone,
)
from rrgmetrics.reader.lexicon.packs import AUTO, Pack, all_packs, check_pack, concept_files, first_pack, pack_titled
from rrgmetrics.reader.lexicon.schema import TABLE_FILES

__all__ = [
    "AUTO",
    "BONES",
    "DEFAULT_PACK",
    "DEVICES",
    "TABLE_FILES",
    "TECHNIQUE",
    "Concept",
    "Lexicon",
    "Pack",
    "Role",
    "Senses",
    "SmallWords",
    "Trie",
    "Zone",
    "all_packs",
    "check_pack",
    "checksum",
    "concept_files",
    "first_pack",
    "folder_in_use",
    "in_its_pack",
    "load",
    "load_file",
    "own_facts",
    "pack_in_use",
    "pack_titled",
    "pack_used",
    "per_lexicon",
    "use",
]


@per_lexicon
def load() -> Lexicon:
    """The lexicon in use; made from its files once, the bundled one once on a machine.

    Raises:
        InputError: Something is wrong with the user's folder, or with our files; it says where, and what to do.
    """
    if folder_in_use():
        _raise_faults()
    try:
        if folder_in_use():
            return build_lexicon()
        return kept("lexicon", bundled()[0], lambda: as_plain(build_lexicon()), as_lexicon)
    except Exception:  # whatever a fault of a file does to the build, the check says it better
        _raise_faults()
        raise


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


def _raise_faults() -> None:
    from rrgmetrics.reader.lexicon.checking import check  # 6 ms that `import rrgmetrics` need not pay

    faults = check(pack=pack_in_use())
    if faults:
        raise InputError("\n".join(map(str, faults)))
