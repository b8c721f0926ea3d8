"""Rated pairs in a table of any columns: CSV, JSONL or Parquet, one row a pair or one row a (pair, rater)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.files.columns import check_header
from rrgmetrics.files.labels import some
from rrgmetrics.metaeval.loaders.fields import (
    TABLES,
    blank_notes,
    column_names,
    name_of,
    number_of,
    report_of,
    rows_of_raters,
)
from rrgmetrics.metaeval.rated import KINDS, Rated
from rrgmetrics.reports import CONTEXT_KEYS, Pair, parse_context
from rrgmetrics.reports.text import squeeze
from rrgmetrics.utils.text_format import by_number, counted

FIELDS = ("reference", "candidate", "study_id", "rater", "section", "source", *CONTEXT_KEYS)
ALIASES = {"study": "study_id"}
LABELS = ("section", "source")
_OF_A_RATER = re.compile(r"\d+$|(?<=rater).*|(?<=reader).*|(?<=radiologist).*|(?<=annotator).*", re.I)
ATTRIBUTE = ("incorrect_location", "incorrect_severity")  # the kinds that a column `attribute` counts together


def load_table(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    counts: Sequence[str] = (),
    ratings: Sequence[str] = (),
    name: str = "",
) -> Rated:
    """Reads rated pairs from a table.

    Args:
        path: CSV, JSONL or Parquet.
        columns: The file's column for each of `reference`, `candidate`, `study_id` (or `study`), `rater`, `section`,
            `source`, `age`, `sex`, `indication`; one that is not named here has the field's own name. Without a study,
            pairs of one reference are of one study.
        counts: Columns that count errors: fewer is better. `NAME=COLUMN` gives a column the name of what it counts,
            such as `total_errors`, `significant_errors`, `false_finding`: a metric's own counts are held against it.
        ratings: Columns of ratings: more is better; `rating=COLUMN` too.
        name: Of the data; "" takes the file's.

    Returns:
        The rated pairs. With a column `rater`, rows of one study, source, reference and candidate are one pair,
        whatever their white space. A blank count or rating was not judged, and a row that names no rater is left out;
        `notes` has how many there are.

    Raises:
        InputError: A file, column or cell that cannot be used; names file, line and column.
    """
    file = Path(path)
    if file.suffix.lower() not in TABLES:
        raise InputError(f"{file} is not a table of rated pairs; pass {', '.join(TABLES)}.")
    there = column_names(file)
    placed = _placed(columns or {}, there, file)
    targets = _targets(counts, ratings, there, file)
    in_columns = _raters_in_columns(targets, placed, file)
    used = [*placed.values(), *(column for own in targets.values() for column in own)]
    raters: dict[str, int] = {}
    pairs: dict[tuple[Any, ...], tuple[Pair, dict[str, str]]] = {}
    cells: dict[tuple[tuple[Any, ...], str], dict[str, float]] = {}
    rated = {_split(text)[0] for text in ratings}
    seen: Counter[tuple[Any, ...]] = Counter()
    n_respaced = 0
    own_rows, nameless = rows_of_raters(file, used, placed.get("rater"))
    for where, row in own_rows:
        texts = {field: row[column] for field, column in placed.items()}
        reference, candidate = (report_of(row, placed[field], where) for field in ("reference", "candidate"))
        context = parse_context({key: texts[key] for key in CONTEXT_KEYS if key in texts}, where)
        study = _study_of(texts["study_id"]) if "study_id" in texts else squeeze(reference)
        labels = {label: str(texts[label] if texts[label] is not None else "") for label in LABELS if label in texts}
        of_row = [name_of(row, placed["rater"])] if "rater" in placed else in_columns
        judged = (study, labels.get("source"), squeeze(reference), squeeze(candidate))
        key = judged if "rater" in texts else (len(pairs),)
        seen[judged] += 1
        first, _ = pairs.setdefault(key, (Pair(reference, candidate, context), {"study": study, **labels}))
        n_respaced += (first.reference, first.candidate) != (reference, candidate)
        for place, rater in enumerate(of_row):
            raters.setdefault(rater, len(raters))
            if (key, rater) in cells:
                raise InputError(f"{where}: rater {rater!r} judges this pair of study {study!r} a second time.")
            cells[key, rater] = {
                target: number_of(row, own[place], where, least=-math.inf if target in rated else 0.0)
                for target, own in targets.items()
            }
    numbers = {key: number for number, key in enumerate(pairs)}
    values = {target: np.full((len(raters), len(pairs)), np.nan) for target in targets}
    for (key, rater), own in cells.items():
        for target, value in own.items():
            values[target][raters[rater], numbers[key]] = value
    marked = set(targets) | set(ATTRIBUTE if "attribute" in targets else ())
    kinds = tuple(kind for kind in KINDS if kind in marked)
    notes = [] if "study_id" in placed else ["no column of studies: pairs of one reference are one study"]
    notes += _notes_of_columns([text for text in (*counts, *ratings) if "+" not in text])
    if "rater" not in placed and (again := seen.total() - len(seen)):
        notes.append(
            f"no column of raters: {again} of {seen.total()} rows repeat an earlier pair, and each counts as a pair of "
            "its own; if several radiologists rated, name their column: --columns rater=COLUMN"
        )
    if n_respaced:
        differ = by_number(n_respaced, "differs", "differ")
        notes.append(f"{counted(n_respaced, 'row')} {differ} in white space alone from an earlier row of the same pair")
    notes += _notes_of_references(pairs.values()) if "study_id" in placed else []
    notes += _notes_of_raters(cells) if "rater" in placed else []
    by_columns = {"+".join(own): [each[target] for each in cells.values()] for target, own in targets.items()}
    notes += blank_notes(nameless, by_columns)
    return Rated(
        name=name or file.stem,
        pairs=[pair for pair, _ in pairs.values()],
        studies=[about["study"] for _, about in pairs.values()],
        raters=list(raters),
        values=values,
        ratings=frozenset(rated),
        kinds=kinds or KINDS,
        labels={label: [about[label] for _, about in pairs.values()] for label in LABELS if label in placed},
        notes=tuple(notes),
    )


def _study_of(cell: Any) -> str:
    """A study's id: a spreadsheet that takes ids for numbers writes 1 as 1.0."""
    return re.sub(r"^(\d+)\.0+$", r"\1", str(cell).strip())


def _notes_of_references(pairs: Iterable[tuple[Pair, Mapping[str, str]]]) -> list[str]:
    """A note of the studies that have several references (in one section)."""
    references: dict[tuple[str, str], set[str]] = {}
    for pair, about in pairs:
        references.setdefault((about["study"], about.get("section", "")), set()).add(squeeze(pair.reference))
    studies = list(dict.fromkeys(study for (study, _), own in references.items() if len(own) > 1))
    if not studies:
        return []
    which = f"{by_number(len(studies), 'study', 'studies')} {some(studies)}"
    return [f"{which} {by_number(len(studies), 'has', 'have')} different references in the rows: is the study right?"]


def _notes_of_raters(judgements: Iterable[tuple[tuple[Any, ...], str]]) -> list[str]:
    """Notes of raters whose names differ in case alone, and of those who share studies but no pair.

    Args:
        judgements: What was judged, of which the first is the study, and by whom.
    """
    pairs: dict[str, set[tuple[Any, ...]]] = {}
    for judged, rater in judgements:
        pairs.setdefault(rater, set()).add(judged)
    studies = {rater: {judged[0] for judged in own} for rater, own in pairs.items()}
    notes = []
    for one, other in combinations(pairs, 2):
        if one.casefold() == other.casefold():
            notes.append(f"{one!r} and {other!r} count as two raters: write the name alike if it is one")
        elif studies[one] & studies[other] and not pairs[one] & pairs[other]:
            notes.append(
                f"raters {one!r} and {other!r} share studies but no pair: a pair is one only where study, source, "
                "reference and candidate are the same"
            )
    return notes


def _placed(columns: Mapping[str, str], there: Sequence[str], file: Path) -> dict[str, str]:
    """The column of each field that the file has."""
    named = {ALIASES.get(field, field): column for field, column in columns.items()}
    for field, column in named.items():
        if field not in FIELDS:
            raise InputError(f"--columns has {field!r}; it names columns for {', '.join(FIELDS)}.")
        _check_column(column, there, file)
    known = {field: alias for alias, field in ALIASES.items() if alias in there}
    placed = known | {field: field for field in FIELDS if field in there} | named
    if missing := [field for field in ("reference", "candidate") if field not in placed]:
        check_header(there, missing, str(file))
        options = ",".join(f"{field}=COLUMN" for field in missing)
        raise InputError(
            f"{file} has no column {' or '.join(map(repr, missing))}, but {_shown(there)}; name "
            f"{'it' if len(missing) == 1 else 'them'}: --columns {options}."
        )
    return placed


def _targets(counts: Sequence[str], ratings: Sequence[str], there: Sequence[str], file: Path) -> dict[str, list[str]]:
    """The columns of each target: one, or one for each rater."""
    targets: dict[str, list[str]] = {}
    for text in (*counts, *ratings):
        name, column = _split(text)
        columns = [column] if column in there else [each.strip() for each in column.split("+")]
        for each in columns:
            _check_column(each, there, file)
        if name in targets:
            raise InputError(f"{name!r} is named in both --counts and --ratings.")
        targets[name] = columns
    if not targets:
        raise InputError(
            f"{file}: name the columns of the raters: --counts COLUMN,... (fewer is better), --ratings COLUMN,... "
            f"(more is better), or NAME=COLUMN+COLUMN if each rater has one; it has the columns {_shown(there)}."
        )
    return targets


def _raters_in_columns(targets: Mapping[str, Sequence[str]], placed: Mapping[str, str], file: Path) -> Sequence[str]:
    """The raters of a table with a column for each, called as the columns of the first target; else one rater."""
    first = next(iter(targets.values()))
    if any(len(own) != len(first) for own in targets.values()):
        each = "; ".join(f"{target}: {' and '.join(own)}" for target, own in targets.items())
        raise InputError(f"{file}: each target needs a column of each rater, in one order ({each}).")
    if len(first) == 1:
        return ["rater"]
    if "rater" in placed:
        raise InputError(f"{file} has a column of raters ({placed['rater']!r}); name one column for each target.")
    return first


def _notes_of_columns(columns: Sequence[str]) -> list[str]:
    """A note of columns that look as if each were a rater's; each counts as a target of its own."""
    alike: dict[str, list[str]] = {}
    for column in columns:
        alike.setdefault(_OF_A_RATER.sub("", column), []).append(column)
    return [
        f"{' and '.join(map(repr, own))} are different targets; if each is the column of a radiologist for the same, "
        f"join them: NAME={'+'.join(own)}"
        for own in alike.values()
        if len(own) > 1
    ]


def _split(text: str) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    return (name.strip(), column.strip()) if equals else (text.strip(), text.strip())


def _check_column(column: str, there: Sequence[str], file: Path) -> None:
    if column not in there:
        raise InputError(f"{file} has no column {column!r}, but {_shown(there)}.")


def _shown(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
