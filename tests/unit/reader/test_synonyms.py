"""One finding, as many radiologists say it, and its neighbours that are another (synonyms/*.tsv)."""

from __future__ import annotations

from pathlib import Path

import pytest

from rrgmetrics.reader import explain, read

ROWS = [
    pytest.param(*line.split("\t"), id=f"{file.stem}: {line.split(chr(9))[0]}")
    for file in sorted((Path(__file__).parent / "synonyms").glob("*.tsv"))
    for line in file.read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize(("name", "wordings", "neighbours"), ROWS)
def test_synonyms(name: str, wordings: str, neighbours: str) -> None:
    """The first wording affirms something abnormal; the others, in either order, say the same; a neighbour does not."""
    first, *others = wordings.split(" | ")
    assert read(first).abnormal, f"nothing abnormal is read in {first!r}"
    apart = [other for other in others if errors(first, other) or errors(other, first)]
    alike = [other for other in filter(None, neighbours.split(" | ")) if not errors(first, other)]
    assert (apart, alike) == ([], []), name


def errors(reference: str, candidate: str) -> int:
    """The number of errors of all kinds."""
    return sum(explain(reference=reference, candidate=candidate).counts.values())
