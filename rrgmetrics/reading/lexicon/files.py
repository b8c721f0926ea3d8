"""The files of the lexicon: ours, and a folder of the user's own that adds to them or overrides them.

What the lexicon says under one name is laid together from the folders of the pack (`packs.layers`): the common
ones first, then those of the packs that it extends, its own, and the user's. `scope.yaml` is of all packs at once.
"""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.reading.lexicon.compiled import kept, key_of
from rrgmetrics.reading.lexicon.in_use import LexiconKey, folder_in_use, kept_until_use, key_in_use
from rrgmetrics.reading.lexicon.packs import PACK_FILE, Layer, all_layers, all_packs, concept_files, layers
from rrgmetrics.reading.lexicon.parsing import parse, parse_own
from rrgmetrics.reading.lexicon.schema import LABEL_FILES, TABLE_FILES, empty, merge, shape_of
from rrgmetrics.utils.bounded_files import read_text

SUFFIXES = (".yaml", ".yml")


def layers_of(name: str, key: LexiconKey) -> tuple[Layer, ...]:
    """The folders that a file of this name may be in."""
    return all_layers(key.folder) if name == "scope" else layers(key)


def bundled_files(name: str, key: LexiconKey) -> list[Path]:
    """The paths of the bundled files of a name, in the order in which they are laid over each other."""
    paths = [layer.folder / f"{name}.yaml" for layer in layers_of(name, key) if not layer.is_own]
    return [path for path in paths if path.is_file()]


def own_files(folder: str) -> list[Path]:
    """The YAML files of a folder of the user's own, and of the packs in it.

    Raises:
        InputError: There is no such folder, or no such file in it, or a folder in it that is no pack.
    """
    if not folder:
        return []
    if not Path(folder).is_dir():
        raise InputError(f"The lexicon {folder} is not a folder; name one with files such as lung.yaml.")
    own = [path for path in sorted(Path(folder).iterdir()) if path.suffix in SUFFIXES]
    for below in sorted(path.parent for path in Path(folder).glob("*/*.y*ml")):
        if below.name not in all_packs(folder) and not (below / PACK_FILE).is_file():
            raise InputError(
                f"{below} is not a pack: name it as one of {', '.join(all_packs(folder))}, or describe your own "
                f"pack in {below / PACK_FILE}."
            )
    own += [path for path in sorted(Path(folder).glob("*/*")) if path.suffix in SUFFIXES]
    if not own:
        raise InputError(
            f"The lexicon {folder} contains no .yaml file; it should have the format of rrgmetrics' lexicon."
        )
    return own


def file_names(key: LexiconKey) -> tuple[str, ...]:
    """The names of the files of a lexicon."""
    return (*concept_files(key), *TABLE_FILES, *LABEL_FILES)


@kept_until_use
def bundled(key: LexiconKey) -> tuple[str, dict[str, Any]]:
    """The sum of the bundled files of a lexicon, and what they say under each name."""
    texts = {name: [path.read_bytes() for path in bundled_files(name, key)] for name in file_names(key)}

    def laid_together() -> dict[str, Any]:
        contents = {name: [parse(text.decode("utf-8")) for text in each] for name, each in texts.items()}
        return {name: _together(name, each) for name, each in contents.items()}

    digest = key_of(line for name, each in texts.items() for line in (name.encode(), *each))
    return digest, kept("files", digest, laid_together, lambda contents: {name: contents[name] for name in texts})


def digest_of(key: LexiconKey) -> str:
    """The sum of all files that a lexicon is made from, the user's too.

    Raises:
        InputError: A file of the user's folder cannot be read.
    """
    digest = bundled(key)[0]
    if not key.folder:
        return digest
    own = [(str(path.relative_to(key.folder)), read_text(path)) for path in own_files(key.folder)]
    return key_of(line.encode() for line in (digest, key.pack, *chain.from_iterable(own)))


def _together(name: str, contents: list[Any]) -> Any:
    content = empty(shape_of(name))
    for over in contents:
        content = merge(name, content, over)
    return content


def load_file(name: str, key: LexiconKey | None = None) -> Any:
    """What a lexicon says under one name, as plain dictionaries and lists; not to be changed.

    Args:
        name: Of a file, without its end.
        key: Of the lexicon; None: the default pack, with the folder in use.
    """
    return _load_file(name, key or key_in_use())


@kept_until_use
def _load_file(name: str, key: LexiconKey) -> Any:
    content = bundled(key)[1][name]
    for path in (layer.folder / f"{name}.yaml" for layer in layers_of(name, key) if layer.is_own):
        if path.is_file():
            content = merge(name, content, parse_own(path))
    return content


def checksum(*names: str, key: LexiconKey | None = None) -> str:
    """The SHA-256 of what the files of a lexicon say, comments apart; of all that is read with, or of some."""
    return _checksum(key or key_in_use(), *names)


@kept_until_use
def _checksum(key: LexiconKey, *names: str) -> str:
    contents = [load_file(name, key) for name in names or (*concept_files(key), *TABLE_FILES)]
    return sha256(json.dumps(contents, ensure_ascii=False).encode()).hexdigest()


def own_facts() -> dict[str, str]:
    """What the signature of every metric that reads says of the user's folder: its name and eight letters of the sum.

    Example:
        >>> own_facts()
        {}
    """
    folder = folder_in_use()
    return {"lexicon": f"{Path(folder).name}@{checksum()[:8]}"} if folder else {}
