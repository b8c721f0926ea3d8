"""Forms, tables and broken lines: what each field holds belongs to its own finding (forms.tsv)."""

from __future__ import annotations

from pathlib import Path

from reading_table import check

from rrgmetrics.reading import read
from table_rows import each_row, read_table, unescaped

ROWS = read_table(Path(__file__).parent / "forms.tsv")


@each_row("kind, text, expected", ROWS)
def test_form(kind: str, text: str, expected: str) -> None:
    reading = read(unescaped(text))
    for part in expected.split(";"):
        check(part.strip(), reading, {})
