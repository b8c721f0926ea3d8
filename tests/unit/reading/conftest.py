"""A small lexicon, for tests of how a lexicon is checked, built and kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from edited_lexicon import bundled_in, write_small_lexicon


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_lexicon(tmp_path_factory.mktemp("small"))


@pytest.fixture
def small_lexicon(small_folder: Path) -> Iterator[None]:
    """Reads with few terms of chest X-rays in place of the bundled lexicon: its check and build take a third."""
    with bundled_in(small_folder):
        yield
