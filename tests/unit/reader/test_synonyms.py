"""One finding, as many radiologists say it, and its neighbours that are another (synonyms/*.tsv)."""

from __future__ import annotations

from pathlib import Path

import pytest
from synonyms import check_synonyms

ROWS = [
    pytest.param(*line.split("\t"), id=f"{file.stem}: {line.split(chr(9))[0]}")
    for file in sorted((Path(__file__).parent / "synonyms").glob("*.tsv"))
    for line in file.read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize(("name", "wordings", "neighbours"), ROWS)
def test_synonyms(name: str, wordings: str, neighbours: str) -> None:
    check_synonyms(name, wordings, neighbours)
