"""Reads reports and pairs: which columns a file must have, and what may stand in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.files.formats import COLUMNS, READERS, PathLike, check_file, rows_of, some
from rrgmetrics.reports import CONTEXT_KEYS, Context, Pair, check_report, parse_context

FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_GENERATED = ("prediction", "predictions", "pred", "hypothesis", "hyp", "generated", "generated_report", "output")
_WRITTEN = ("ground_truth", "gt", "target", "gold", "label", "references", "reference_report", "original")
# What other tools call a column that is missing here, for the message only.
RENAMES = {
    "reference": (*_WRITTEN, "report", "text"),
    "candidate": (*_GENERATED, "report", "text"),
    "report": ("candidate", *_GENERATED, "text", "report_text", "reports", *_WRITTEN),
}


@dataclass(frozen=True)
class Reports:
    """One report a study, as read from one file.

    Attributes:
        path: The file.
        study_ids: One id a report, all different; None if the file has none.
        reports: The texts.
        contexts: What is known of each patient.
    """

    path: Path
    study_ids: list[str] | None
    reports: list[str]
    contexts: list[Context]


@dataclass(frozen=True)
class Studies:
    """Pairs to score.

    Attributes:
        study_ids: One id a pair, all different; None if the files have none.
        pairs: Reference, candidate and context of each study.
    """

    study_ids: list[str] | None
    pairs: list[Pair]

    @property
    def references(self) -> list[str]:
        """The radiologists' reports."""
        return [pair.reference for pair in self.pairs]

    @property
    def candidates(self) -> list[str]:
        """The system's reports."""
        return [pair.candidate for pair in self.pairs]

    @property
    def contexts(self) -> list[dict[str, Any]]:
        """The contexts as `rrgmetrics.score` takes them."""
        return [pair.context._asdict() for pair in self.pairs]


def read_pairs(path: PathLike) -> Studies:
    """Reads `study_id?, reference, candidate, age?, sex?, indication?` from CSV, JSONL or Parquet.

    Args:
        path: The file; its suffix says what it is.

    Returns:
        The pairs, in the order of the file.

    Raises:
        InputError: The file cannot be used; names file, line and column.
    """
    path = Path(path)
    if path.suffix.lower() == ".txt":
        raise InputError(f"{path} holds one report a line; pass references and reports as two text files.")
    study_ids, (references, candidates), contexts = _read(path, ("reference",), ("candidate",))
    return Studies(study_ids, [Pair(*row) for row in zip(references, candidates, contexts, strict=True)])


def read_system(path: PathLike) -> Reports:
    """Reads a system's reports: `study_id?, report` from CSV, JSONL or Parquet, or a text file of one report a line."""
    study_ids, (reports,), contexts = _read(Path(path), ("report",))
    return Reports(Path(path), study_ids, reports, contexts)


def read_references(path: PathLike) -> Reports:
    """Reads radiologists' reports: `study_id?`, `report` or `reference`, `age?, sex?, indication?`; or a text file."""
    study_ids, (reports,), contexts = _read(Path(path), ("reference", "report"))
    return Reports(Path(path), study_ids, reports, contexts)


def read_column(path: PathLike, column: str | None = None) -> list[str]:
    """Reads the reports of one column of any file.

    Args:
        path: CSV, JSONL, Parquet or text.
        column: Its name; None: `report` or `reference`.

    Returns:
        The texts, in the order of the file.

    Raises:
        InputError: The file cannot be used, has no such column, or has a cell in it that is no report.
    """
    if column is None:
        return read_references(path).reports
    texts = []
    for where, value in _cells(Path(path), column):
        check_report(value, where)
        texts.append(value)
    return texts


def read_flags(path: PathLike, column: str) -> list[bool]:
    """Reads a column of yes and no (true and false, 1 and 0) of any file.

    Raises:
        InputError: The file cannot be used, has no such column, or has another word in it.
    """
    flags = []
    for where, value in _cells(Path(path), column):
        word = str(value).strip().lower()
        if word not in FLAGS:
            raise InputError(f"{where} is {str(value)[:20]!r}; write yes or no.")
        flags.append(FLAGS[word])
    return flags


def _cells(path: Path, column: str) -> Iterator[tuple[str, Any]]:
    """Yields the cells of one column, each after where it stands."""
    for unit, number, row in rows_of(path, (*COLUMNS, column)):
        if row.get(column) is None:
            raise InputError(f"{path}, {unit} {number} has no {column!r}; it has: {some(list(row))}.")
        yield f"{path}, {unit} {number}, column {column!r}", row[column]


def _read(path: Path, *wanted: tuple[str, ...]) -> tuple[list[str] | None, list[list[str]], list[Context]]:
    """Reads ids, one list of texts for each of `wanted` (of whose names a file has exactly one), and contexts."""
    suffix = check_file(path)
    unit = "row" if suffix == ".parquet" else "line"
    numbers: dict[str, int] = {}
    texts: list[list[str]] = [[] for _ in wanted]
    contexts: list[Context] = []
    names: list[str] = []
    keys: Collection[str] | None = None
    for number, row in READERS[suffix](path):
        where = f"{path}, {unit} {number}"
        if keys is None or row.keys() != keys:
            names = _pick_columns(row, wanted, where if suffix == ".jsonl" else str(path))
            keys = row.keys()
        if bool(numbers) != ("study_id" in row) and contexts:
            raise InputError(
                f"{where}, column 'study_id': some rows have it and others not; give each row one, or none."
            )
        if "study_id" in row:
            study_id = _study_id(row["study_id"], where)
            if study_id in numbers:
                raise InputError(
                    f"{where}, column 'study_id': {study_id!r} stands on {unit} {numbers[study_id]} already."
                )
            numbers[study_id] = number
        for column, name in zip(texts, names, strict=True):
            check_report(row[name], f"{where}, column {name!r}")
            column.append(row[name])
        contexts.append(parse_context({key: row[key] for key in CONTEXT_KEYS if key in row}, where))
    if not contexts:
        raise InputError(f"{path} holds no reports{' below its column names' if suffix == '.csv' else ''}.")
    return list(numbers) or None, texts, contexts


def _study_id(value: object, where: str) -> str:
    """An id as text. Whole numbers are ids too: Parquet and JSONL keep them as numbers where CSV has their digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise InputError(f"{where}, column 'study_id' is {value!r}; an id is a text or a whole number.")
    if not value.strip():
        raise InputError(f"{where}, column 'study_id' is blank; give each study an id, or leave the column out.")
    check_report(value, f"{where}, column 'study_id'")
    return value


def _pick_columns(columns: Collection[str], wanted: Sequence[tuple[str, ...]], where: str) -> list[str]:
    """For each of `wanted` the one name that the file has; InputError with the columns found and a way out."""
    for name in columns:
        near = re.sub(r"[\s-]+", "_", name.strip().lower())
        if near in COLUMNS and name not in COLUMNS:
            raise InputError(f"{where} has a column {name!r}; rename it to {near!r}.")
    picked = []
    for names in wanted:
        there = [name for name in names if name in columns]
        if len(there) > 1:
            raise InputError(f"{where} has the columns {some(there)}; keep the one that holds the reports.")
        if not there:
            needed = " or ".join(map(repr, names))
            raise InputError(
                f"{where} has no column {needed}; it has: {some(columns)}. {_way_out(columns, names)}".strip()
            )
        picked += there
    return picked


def _way_out(columns: Collection[str], names: Sequence[str]) -> str:
    if len(columns) == 1 and (match := re.search(r"[;\t|]", next(iter(columns)))):
        separator = {"\t": "tabs", ";": "semicolons"}.get(match[0], repr(match[0]))
        return f"Its cells are separated by {separator}; write commas."
    for name in names:
        for other in columns:
            if other.strip().lower() in RENAMES[name]:
                return f"Rename {other!r} to {name!r}."
    return ""
