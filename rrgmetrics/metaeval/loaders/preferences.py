"""Choices between two candidates of a study in a table: CSV, JSONL or Parquet, a row a choice of a rater.

The columns are those that the rating Space exports: `study_id, rater, reference, candidate_a, candidate_b, choice,
confidence`, and `age, sex, indication`. `choice` is A or B (or 1 or 2); `equal`, `tie`, `neither` and 0 prefer neither;
an empty cell was not judged. `confidence` goes from 1 to 10. `source_a` and `source_b` tell candidates of several
systems apart whose texts are equal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders.fields import (
    TABLES,
    blank_notes,
    column_names,
    name_of,
    number_of,
    report_of,
    rows_of_raters,
)
from rrgmetrics.metaeval.preferences import Preferred
from rrgmetrics.reports import CONTEXT_KEYS, Pair, parse_context

NEEDED = ("reference", "candidate_a", "candidate_b", "choice")
SOURCES = ("source_a", "source_b")
FIELDS = (*NEEDED, "study_id", "rater", "confidence", *SOURCES, *CONTEXT_KEYS)
ALIASES: Mapping[str, tuple[str, ...]] = {  # further names of a column
    "study_id": ("study",),
    "candidate_a": ("a", "A"),
    "candidate_b": ("b", "B"),
    "rater": ("expert",),
}
CHOICES: Mapping[str, float] = {
    **dict.fromkeys(("a", "1"), 1.0),
    **dict.fromkeys(("b", "2"), -1.0),
    **dict.fromkeys(("equal", "tie", "neither", "0"), 0.0),
    "": math.nan,
}
MOST = 10


def load_preferences(path: str | Path, *, columns: Mapping[str, str] | None = None) -> Preferred:
    """Reads choices.

    Args:
        path: CSV, JSONL or Parquet.
        columns: The file's column for each of `FIELDS`; one that is not named has the field's own name, or one of
            `ALIASES`.

    Returns:
        The choices; rows of one study with the same reference, candidates and sources are one pair, whichever of both
        is A. A blank choice was not made, and a row that names no rater is left out; `notes` has how many there are.

    Raises:
        InputError: A file, column or cell that cannot be used; names file, line and column.
    """
    file = Path(path).expanduser()
    if file.suffix.lower() not in TABLES:
        raise InputError(f"{file} is not a table of preferences; pass {', '.join(TABLES)}.")
    placed = _placed(columns or {}, column_names(file), file)
    pairs: dict[tuple[Any, ...], tuple[Pair, Pair, str]] = {}
    raters: dict[str, int] = {}
    cells: dict[tuple[tuple[Any, ...], str], tuple[float, float]] = {}
    own_rows, nameless = rows_of_raters(file, list(placed.values()), placed.get("rater"))
    for where, row in own_rows:
        first, second, study = _pair(row, placed, where)
        source_a, source_b = (str(row[placed[field]]) if field in placed else "" for field in SOURCES)
        key, turned = (study, first, second, source_a, source_b), (study, second, first, source_b, source_a)
        sign = -1.0 if turned in pairs and key not in pairs else 1.0
        key = turned if sign < 0 else key
        rater = name_of(row, placed["rater"]) if "rater" in placed else "rater"
        if (key, rater) in cells:
            raise InputError(
                f"{where}: {rater!r} chooses between these candidates of study {study!r} a second time; if they are of "
                f"other systems, name the columns that say so: {' and '.join(SOURCES)}."
            )
        pairs.setdefault(key, (key[1], key[2], study))
        raters.setdefault(rater, len(raters))
        cells[key, rater] = sign * _choice(row[placed["choice"]], where), _confidence(row, placed, where)
    numbers = {key: number for number, key in enumerate(pairs)}
    values = np.full((2, len(raters), len(pairs)), np.nan)
    for (key, rater), own in cells.items():
        values[:, raters[rater], numbers[key]] = own
    firsts, seconds, studies = zip(*pairs.values(), strict=True)
    notes = [] if "study_id" in placed else ["no column of studies: pairs of one reference are one study"]
    notes += blank_notes(nameless, {placed["choice"]: [choice for choice, _ in cells.values()]})
    return Preferred(file.stem, firsts, seconds, studies, tuple(raters), values[0], values[1], tuple(notes))


def _placed(columns: Mapping[str, str], there: list[str], file: Path) -> dict[str, str]:
    """The column of each field that the file has."""
    known = {alias: field for field, aliases in ALIASES.items() for alias in aliases}
    named = {known.get(field, field): column for field, column in columns.items()}
    for field, column in named.items():
        if field not in FIELDS:
            raise InputError(f"--columns has {field!r}; of preferences it names {', '.join(FIELDS)}.")
        if column not in there:
            raise InputError(f"{file} has no column {column!r}, but {', '.join(map(repr, there))}.")
    own = {
        field: next(name for name in (field, *ALIASES.get(field, ())) if name in there)
        for field in FIELDS
        if any(name in there for name in (field, *ALIASES.get(field, ())))
    }
    placed = own | named
    for field in NEEDED:
        if field not in placed:
            raise InputError(
                f"{file} has no column {field!r}, but {', '.join(map(repr, there))}; name it: --columns {field}=COLUMN."
            )
    return placed


def _pair(row: Mapping[str, Any], placed: Mapping[str, str], where: str) -> tuple[Pair, Pair, str]:
    reference, one, other = (report_of(row, placed[field], where) for field in NEEDED[:3])
    context = parse_context({key: row[placed[key]] for key in CONTEXT_KEYS if key in placed}, where)
    study = str(row[placed["study_id"]]) if "study_id" in placed else reference
    return Pair(reference, one, context), Pair(reference, other, context), study


def _choice(cell: Any, where: str) -> float:
    text = "" if cell is None or (isinstance(cell, float) and math.isnan(cell)) else str(cell)
    word = text.strip().lower().removesuffix(".0")
    if word not in CHOICES:
        raise InputError(f"{where}: the choice is {cell!r}; write A, B or equal, or leave it empty if nobody judged.")
    return CHOICES[word]


def _confidence(row: Mapping[str, Any], placed: Mapping[str, str], where: str) -> float:
    if "confidence" not in placed:
        return math.nan
    value = number_of(row, placed["confidence"], where, least=1)
    if value > MOST:
        raise InputError(f"{where}: the confidence is {value:g}; it must be from 1 to {MOST}.")
    return value
