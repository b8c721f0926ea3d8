"""One phenomenon a row: which errors, by kind, a candidate makes against a reference (pairs/*.tsv)."""

from __future__ import annotations

from pathlib import Path

from rrgmetrics.comparing import compare
from rrgmetrics.reading import read
from table_rows import each_row, read_table

ROWS = read_table(*sorted((Path(__file__).parent / "pairs").glob("*.tsv")))


def test_no_pair_stands_twice() -> None:
    assert len({(row[1], row[2]) for row in ROWS}) == len(ROWS)


@each_row("phenomenon, reference, candidate, expected", ROWS)
def test_pair(phenomenon: str, reference: str, candidate: str, expected: str) -> None:
    first = read(reference, "auto")
    comparison = compare(first, read(candidate, first.pack))  # whether or not the texts are of a kind that is read
    counts = {kind.letter: number for kind, number in comparison.counts.items() if number}
    wanted = {} if expected == "none" else {part[0]: int(part[1:]) for part in expected.split()}
    assert counts == wanted, (phenomenon, [f"{e.category.letter} {e.sentence}" for e in comparison.errors])
