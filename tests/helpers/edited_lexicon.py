"""Copies of the bundled lexicon: one in which a file says something else, and a small one."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from rrgmetrics.reading.lexicon import checking, packs, use
from rrgmetrics.reading.lexicon.schema import SHAPES
from rrgmetrics.utils.patterns import terms_of

BUNDLED = packs.BUNDLED
_SMALL = ("common", "chest_xray")
_WORDS = 2  # of a term of the small lexicon


def bundled_text(file: str) -> str:
    """The text of a bundled file, such as `chest_xray/lung.yaml`."""
    return (packs.BUNDLED / file).read_text("utf-8")


@contextmanager
def edited_bundled(folder: Path, file: str, old: str, new: str) -> Iterator[Path]:
    """Reads with a copy of the lexicon in `folder`, of which one file is edited; yields the path of that file."""
    text = bundled_text(file)
    assert old in text
    copy = _copy_bundled(folder)
    path = copy / file
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with bundled_in(copy):
        yield path


def write_small_lexicon(folder: Path, *packs: str) -> Path:
    """Writes a lexicon of chest X-rays and `packs`, whose concepts and attributes have few terms; returns its folder.

    It is checked and built in a third of the time. For tests of what does not depend on the number of terms.
    """
    copy = _copy_bundled(folder, (*_SMALL, *packs))
    needed = _terms_that_others_name(copy)
    for path in copy.glob("*/*.yaml"):
        if path.stem not in SHAPES or path.stem in ("attributes", "scope", "vocabulary"):
            path.write_text(_without_long_terms(path.read_text("utf-8"), needed), encoding="utf-8")
    return copy


@contextmanager
def bundled_in(folder: Path) -> Iterator[None]:
    """Reads with the lexicon in a folder in place of the bundled one; nothing made of it is left afterwards."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            for module in (checking, packs):
                patch.setattr(module, "BUNDLED", folder)
            _forget()
            yield
    finally:
        _forget()


def _forget() -> None:
    packs._bundled_packs.cache_clear()
    with use(None):
        pass


def _copy_bundled(folder: Path, names: Collection[str] = ()) -> Path:
    """A copy of the lexicon; `names`: the packs to copy, all where there are none."""
    copy = folder / "lexicon"
    for pack in packs.BUNDLED.iterdir():
        if (pack.name in names or not names) and any(pack.glob("*.yaml")):
            shutil.copytree(pack, copy / pack.name, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    return copy


def _terms_that_others_name(lexicon: Path) -> set[str]:
    """Terms that an abbreviation is written for, or that a concept takes away from another."""
    contents = {path: yaml.load(path.read_text("utf-8"), yaml.CSafeLoader) for path in lexicon.glob("*/*.yaml")}
    compounds = [content.get("compounds", {}) for path, content in contents.items() if path.stem == "spellings"]
    named = {part for table in compounds for parts in table.values() for part in parts}
    concepts = [content for path, content in contents.items() if path.stem not in SHAPES]
    without = [text for content in concepts for entry in content.values() for text in entry.get("without", ())]
    return named.union(*map(terms_of, without))


def _without_long_terms(text: str, needed: set[str]) -> str:
    """A file without the terms of many words, but for the first of each list; all other lines stay as they are."""
    kept, before = [], ""
    for line in text.splitlines(keepends=True):
        match = re.fullmatch(r" *- ([a-z(].*)\n", line)
        is_first = not before.lstrip().startswith("-")
        if not match or is_first or len(match[1].split()) <= _WORDS or not needed.isdisjoint(terms_of(match[1])):
            kept.append(line)
        before = line
    return "".join(kept)
