"""One finding, as many radiologists say it (synonyms/*.tsv, names.tsv), and its neighbours that are another."""

from __future__ import annotations

from pathlib import Path

from synonyms import check_synonyms

from rrgmetrics.reading import read
from table_rows import each_row, read_table

HERE = Path(__file__).parent


@each_row("name, wordings, neighbours", read_table(*sorted((HERE / "synonyms").glob("*.tsv"))))
def test_synonyms(name: str, wordings: str, neighbours: str) -> None:
    check_synonyms(name, wordings, neighbours)


@each_row("meant, names", read_table(HERE / "names.tsv"))
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
