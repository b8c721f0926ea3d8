"""Variants of misreadings that users and audits have reported: pairs with the errors of each kind that are right.

Each row of `variants/*.jsonl` names its kind of misreading. A row with `known` is still misread, for the reason given.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rrgmetrics.comparing import compare
from rrgmetrics.reading import read
from table_rows import Row, each_row

FOLDER = Path(__file__).parent / "variants"


def rows() -> list[Row]:
    return [
        Row.of([row], file.name, number, row.get("known", ""))
        for file in sorted(FOLDER.glob("*.jsonl"))
        for number, row in enumerate(map(json.loads, file.read_text(encoding="utf-8").splitlines()), 1)
    ]


@each_row("row", rows())
def test_variant(row: dict[str, Any]) -> None:
    modality = row.get("modality", "auto")
    reference = read(row["reference"], modality)
    comparison = compare(reference, read(row["candidate"], reference.pack))
    counts = {kind.letter: number for kind, number in comparison.counts.items() if number}
    assert counts == row["expected"], [error.sentence for error in comparison.errors]
