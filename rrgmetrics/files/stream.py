"""Pairs one after the other, from a source of any size; a row that cannot be used says why and ends nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from rrgmetrics.errors import InputError
from rrgmetrics.files.codes import SAMPLE, check_codes
from rrgmetrics.files.columns import (
    Columns,
    Needed,
    announce_columns,
    check_columns,
    context_in,
    id_column,
    pick_columns,
)
from rrgmetrics.files.formats import Row, rows_of, suffix_of
from rrgmetrics.files.read import RepeatedIdError, study_id_of
from rrgmetrics.files.sources import is_source, parts
from rrgmetrics.files.tables import table_rows
from rrgmetrics.reports import CONTEXT_KEYS, Pair, report_of

WANTED = (("reference",), ("candidate",))


class Read(NamedTuple):
    """A row of a source.

    Attributes:
        study_id: Its id; its number where the source has none.
        pair: Both reports; None if the row cannot be used.
        reason: Why not; "" if it can.
        has_id: Whether the source has an id for it.
    """

    study_id: str
    pair: Pair | None
    reason: str = ""
    has_id: bool = False


def stream_pairs(source: Any, columns: Columns = None, *, ids: str = "", announce: bool = True) -> Iterator[Read]:
    """Yields the pairs of a source of any size, in flat memory.

    Args:
        source: As in `rrgmetrics.score`: files, a table, a data set, an iterable of dicts.
        columns: What its columns are called.
        ids: The column of ids that `check_ids` returned.
        announce: Whether to log which columns were taken by their names, and which hold ids or paths.

    Raises:
        InputError: It is no source, or its first row lacks a column.
    """
    named = check_columns(columns)
    rows = _rows(source, named)
    return read_rows(_announced(rows, named, ids) if announce else rows, named, ids)


def check_ids(source: Any, columns: Columns = None) -> str:
    """Checks the ids of a source that can be read again, as `rrgmetrics.files.read_pairs` does.

    Args:
        source: As in `stream_pairs`.
        columns: What its columns are called.

    Returns:
        The column that holds an id of each row; "" if there is none, or the source can be read only once.

    Raises:
        InputError: Two rows have one id, or a row has none although others have one.
    """
    if is_source(source) or iter(source) is not iter(source):
        named = check_columns(columns)
        rows = (row for _, row in _rows(source, named) if not isinstance(row, InputError))
        first = next(rows, {})
        if column := id_column(first, WANTED, named):
            by_name = column != named.get("study_id", "study_id")
            return column if refuse_ids(lambda: _ids(source, column, named), column, first, by_name=by_name) else ""
    return ""


def refuse_ids(
    ids: Callable[[], Iterable[tuple[str, Any]]], column: str, columns: Iterable[str] = (), *, by_name: bool = False
) -> bool:
    """Raises InputError for the first id that is blank, no id, or in two rows; keeps a number of each, not the ids.

    Args:
        ids: Gives the cells, each after the place of its row; is called again to find the row before.
        column: Of the ids.
        columns: All columns of the source.
        by_name: Whether the column was only taken by its name: with a cell that is no id, it holds none.

    Returns:
        Whether the column holds ids.
    """
    seen: set[int] = set()
    twice: RepeatedIdError | None = None
    for where, cell in ids():
        try:
            study_id = study_id_of(cell, f"{where}, column {column!r}")
        except InputError:
            if by_name:
                return False
            raise
        if hash(study_id) in seen and not twice:
            before = next(first for first, other in ids() if str(other).strip() == study_id or first == where)
            if before != where:
                twice = RepeatedIdError(study_id, f"{where}, column {column!r}", before, columns)
        if twice and not by_name:
            break
        seen.add(hash(study_id))
    if twice:
        raise twice
    return True


def _ids(source: Any, column: str, named: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """The cells with the ids of a source, each after its place; none if the source has no such column."""
    for where, row in _rows(source, named):
        if not isinstance(row, InputError):
            if column not in row:
                return
            yield where, row[column]


def read_rows(rows: Iterator[tuple[str, Row | InputError]], columns: Columns = None, ids: str = "") -> Iterator[Read]:
    """Reads rows, each after its place; a damaged row is an InputError in the place of its cells."""
    named = check_columns(columns)
    fields: dict[str, str] | None = None
    keys: Collection[str] = ()
    for number, (where, row) in enumerate(rows):
        if isinstance(row, InputError):
            yield Read(str(number), None, str(row))
            continue
        try:
            if fields is None or row.keys() != keys:
                fields, keys = _pick(row, named, where, ids), row.keys()
        except InputError as error:
            if fields is None:
                raise
            yield Read(str(number), None, str(error))
            continue
        yield _read(row, fields, where, number)


def _announced(
    rows: Iterator[tuple[str, Row | InputError]], named: Mapping[str, str], ids: str
) -> Iterator[tuple[str, Row | InputError]]:
    """Yields rows; at first logs which columns were taken by their names; InputError for columns of ids or paths."""
    sample = list(islice(rows, SAMPLE))
    cells = [row for _, row in sample if not isinstance(row, InputError)]
    if cells:
        where = next(where for where, row in sample if not isinstance(row, InputError))
        source = where.partition(",")[0]
        has_names_in_rows = suffix_of(Path(source)) == ".jsonl"
        fields = _pick(cells[0], named, where if has_names_in_rows else source, ids)
        announce_columns(fields, named, source)
        check_codes(cells, fields, source)
    yield from chain(sample, rows)


def _pick(row: Row, named: Mapping[str, str], where: str, ids: str) -> dict[str, str]:
    """The column of each field of a row; ids only in the column that is named, or whose ids were checked."""
    fields = pick_columns(row, WANTED, named, where)
    if fields.get("study_id") not in (named.get("study_id", "study_id"), ids):
        fields.pop("study_id", None)  # its ids are not known before all rows are read
    return fields


def _read(row: Row, fields: Mapping[str, str], where: str, number: int) -> Read:
    study_id = str(number)
    try:
        if "study_id" in fields:
            study_id = study_id_of(row[fields["study_id"]], f"{where}, column {fields['study_id']!r}")
        reference, candidate = (
            report_of(row[fields[role]], f"{where}, column {fields[role]!r}") for role in ("reference", "candidate")
        )
        context = context_in(row, {key: fields[key] for key in CONTEXT_KEYS if key in fields}, where)
    except InputError as error:
        return Read(study_id, None, str(error))
    return Read(study_id, Pair(reference, candidate, context), has_id="study_id" in fields)


def _rows(source: Any, named: Mapping[str, str]) -> Iterator[tuple[str, Row | InputError]]:
    wanted = Needed.of(named)
    if not is_source(source) and not isinstance(source, str):
        yield from table_rows(source, wanted, "pairs")
        return
    damaged: list[InputError] = []
    for path in parts(source):
        for unit, number, row in rows_of(path, wanted, damaged=damaged.append):
            yield from ((str(path), error) for error in damaged)
            damaged.clear()
            yield f"{path}, {unit} {number}", row
        yield from ((str(path), error) for error in damaged)
        damaged.clear()
