"""A small lexicon, for tests of how a lexicon is checked, built and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from edited_lexicon import bundled_in, write_small_lexicon

from rrgmetrics.reading.lexicon import checking
from rrgmetrics.reading.lexicon.faults import Fault
from rrgmetrics.reading.lexicon.terms import Source


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_lexicon(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def read_small(small_folder: Path) -> Callable[[Path, int, bool], Source | Fault]:
    """Reads a file for a check: those of the small lexicon, which no test changes, once."""
    read, once = checking._read, cache(checking._read)

    def read_file(path: Path, layer: int, is_own: bool) -> Source | Fault:
        return (once if path.is_relative_to(small_folder) else read)(path, layer, is_own)

    return read_file


@pytest.fixture
def small_lexicon(
    small_folder: Path, read_small: Callable[[Path, int, bool], Source | Fault], monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Reads with few terms of chest X-rays in place of the bundled lexicon: its check and build take a third."""
    monkeypatch.setattr(checking, "_read", read_small)
    with bundled_in(small_folder):
        yield
