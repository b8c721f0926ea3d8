"""Lists behind a denial, boxes and short answers: what is there and what is not (denied_lists.tsv)."""

from __future__ import annotations

from pathlib import Path

from rrgmetrics.reading import read
from table_rows import each_row, read_table, unescaped

ROWS = read_table(Path(__file__).parent / "denied_lists.tsv")


def named(phrases: str) -> set[tuple[str, str | None]]:
    """The concepts and sides of findings in words."""
    parts = [part for part in phrases.split("; ") if part]
    return {(f.concept, f.side) for part in parts for f in read(f"There is {part}.").abnormal}


@each_row("kind, text, present, absent", ROWS)
def test_what_is_there_and_what_is_not(kind: str, text: str, present: str, absent: str) -> None:
    reading = read(unescaped(text))
    assert {(f.concept, f.side) for f in reading.abnormal} == named(present), kind
    denied = {f.concept for f in reading.findings if f.assertion == "absent"}
    assert {concept for concept, _ in named(absent)} <= denied, kind


def test_what_a_heading_doubts_is_doubted() -> None:
    reading = read("Not excluded: pneumonia, pleural effusion.")
    assert [(f.concept, f.certainty) for f in reading.findings] == [
        ("pneumonia", "not_excluded"),
        ("pleural_effusion", "not_excluded"),
    ]
