"""One finding, as many radiologists say it (synonyms/*.tsv, names.tsv), and its neighbours that are another."""

from __future__ import annotations

from pathlib import Path

import pytest
from synonyms import check_synonyms

from rrgmetrics.reading import read

HERE = Path(__file__).parent


def _rows(file: Path) -> list[list[str]]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


ROWS = [
    pytest.param(*row, id=f"{file.stem}: {row[0]}")
    for file in sorted((HERE / "synonyms").glob("*.tsv"))
    for row in _rows(file)
]


@pytest.mark.parametrize(("name", "wordings", "neighbours"), ROWS)
def test_synonyms(name: str, wordings: str, neighbours: str) -> None:
    check_synonyms(name, wordings, neighbours)


@pytest.mark.parametrize(("meant", "names"), _rows(HERE / "names.tsv"))
def test_names(meant: str, names: str) -> None:
    concepts, _, change = meant.partition(" ")
    kinds = set() if concepts == "-" else set(concepts.split("/"))
    for name in names.split(" | "):
        findings = read(f"{name}.").findings
        affirmed = [finding for finding in findings if finding.assertion != "absent"]
        if change == "resolved":
            assert findings, name
            assert not affirmed, name
        else:
            assert {finding.concept for finding in affirmed} <= kinds, name
            assert bool(affirmed) == bool(kinds), name
            assert not change or {finding.change for finding in affirmed} == {change}, name
