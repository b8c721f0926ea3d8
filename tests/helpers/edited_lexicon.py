"""A copy of the bundled lexicon in which one file says something else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rrgmetrics.reading.lexicon import checking, packs

BUNDLED = packs.BUNDLED


def bundled_text(file: str) -> str:
    """The text of a bundled file, such as `chest_xray/lung.yaml`."""
    return (BUNDLED / file).read_text("utf-8")


def edit_bundled(patch: pytest.MonkeyPatch, folder: Path, file: str, old: str, new: str) -> Path:
    """Reads the lexicon from a copy in `folder`, of which one file is edited; returns its path."""
    text = bundled_text(file)
    assert old in text
    shutil.copytree(BUNDLED, folder / "lexicon", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    path = folder / "lexicon" / file
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    for module in (checking, packs):
        patch.setattr(module, "BUNDLED", folder / "lexicon")
    return path
