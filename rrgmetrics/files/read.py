"""Reads reports and pairs: which columns a file must have, and what they may contain."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
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
    pick_columns,
    system_columns,
    use_context,
    used_context,
)
from rrgmetrics.files.formats import COLUMNS, PathLike, Row, rows_of, suffix_of
from rrgmetrics.files.labels import some
from rrgmetrics.files.per_study import ALL, REFUSE, check_rule, chosen_rows, dependent_rows, left_out_rows, numbered
from rrgmetrics.files.sources import is_source, parts
from rrgmetrics.files.tables import table_rows
from rrgmetrics.reports import (
    CONTEXT_KEYS,
    Context,
    Pair,
    check_report,
    columns_of,
    report_of,
)
from rrgmetrics.reports.missing import log_lines
from rrgmetrics.utils.text_format import did_you_mean

logger = logging.getLogger("rrgmetrics")
NOBODY = Context()
FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


class PlacedRow(NamedTuple):
    """A row of a source.

    Attributes:
        source: Where its columns are named: a file; in JSONL, whose rows name their columns, file and line.
        place: Where it is.
        cells: Its cells by column.
    """

    source: str
    place: str
    cells: Row


@dataclass(frozen=True)
class Reports:
    """One report a study, as read from one source.

    Attributes:
        name: The file, or what the caller calls a table in memory.
        study_ids: One id a report, all different; None if the source has none.
        reports: The texts.
        contexts: What is known of each patient.
        references: Of a system whose source holds pairs: the references beside its reports.
        left_out: Which rows `per_study` left out, in words.
    """

    name: str
    study_ids: list[str] | None
    reports: list[str]
    contexts: list[Context]
    references: list[str] | None = None
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Studies:
    """Pairs to score.

    Attributes:
        study_ids: One id a pair, all different; None if the files have none.
        pairs: Reference, candidate and context of each study.
        left_out: Which rows `per_study` left out, in words.
    """

    study_ids: list[str] | None
    pairs: list[Pair]
    left_out: tuple[str, ...] = ()

    @property
    def references(self) -> list[str]:
        """The radiologists' reports."""
        return [pair.reference for pair in self.pairs]

    @property
    def candidates(self) -> list[str]:
        """The system's reports."""
        return [pair.candidate for pair in self.pairs]

    @property
    def contexts(self) -> list[dict[str, object]]:
        """The contexts as `rrgmetrics.score` takes them."""
        return [pair.context._asdict() for pair in self.pairs]


def read_pairs(source: Any, columns: Columns = None, *, name: str = "pairs", per_study: str = REFUSE) -> Studies:
    """Reads pairs: `study_id?, reference, candidate, age?, sex?, indication?, prior?`.

    Args:
        source: A CSV, JSONL or Parquet file, `.gz` and `.zst` too; a pattern of them, a folder of Parquet; or a table
            in memory: a pandas or polars frame, a pyarrow table, a data set, a dict of columns, an iterable of dicts.
        columns: What its columns are called: `{"reference": "ground_truth", "candidate": "generated"}`; those that are
            not named are called as they are here.
        name: What the caller calls a table in memory, for messages.
        per_study: Which pair of a study counts if it has several (`rrgmetrics.files.per_study`).

    Returns:
        The pairs, in the order of the source.

    Raises:
        InputError: The source cannot be used; names file, line and column.
    """
    if is_source(source) and suffix_of(Path(source)) == ".txt":
        raise InputError(f"{source} has one report a line; pass references and reports as two text files.")
    study_ids, (references, candidates), contexts, left_out = read_reports(
        source, name, (("reference",), ("candidate",)), columns, per_study=per_study
    )
    return Studies(study_ids, [Pair(*row) for row in zip(references, candidates, contexts, strict=True)], left_out)


def read_wide(
    source: Any, systems: Sequence[str], columns: Columns = None, *, name: str = "references", per_study: str = REFUSE
) -> dict[str, Studies]:
    """Reads a table with a column of reports for each system beside the references.

    Args:
        source: As in `read_pairs`.
        systems: The columns of the systems, which are also their names.
        columns: As in `read_pairs`.
        name: As in `read_pairs`.
        per_study: As in `read_pairs`.

    Returns:
        The pairs of each system, in the order of `systems`.

    Raises:
        InputError: As `read_pairs`; also a column that is named twice, or that the table has not.
    """
    if twice := next((column for column in systems if systems.count(column) > 1), ""):
        raise InputError(f"The column {twice!r} is named for two systems; name each column once.")
    fields = {column: field for field, column in check_columns(columns).items() if field not in ("candidate", "report")}
    if taken := next((column for column in systems if column in fields), ""):
        raise InputError(f"The column {taken!r} is named as {fields[taken]} and as a system; name each column once.")
    study_ids, (references, *reports), contexts, left_out = read_reports(
        source, name, (("reference",),), columns, beside=systems, per_study=per_study
    )
    return {
        system: Studies(study_ids, [Pair(*row) for row in zip(references, texts, contexts, strict=True)], left_out)
        for system, texts in zip(systems, reports, strict=True)
    }


def read_system(
    source: Any,
    columns: Columns = None,
    *,
    name: str = "predictions",
    with_references: bool = False,
    per_study: str = REFUSE,
) -> Reports:
    """Reads a system's reports: `study_id?`, `report` or `candidate`; those of pairs with their references.

    Args:
        source: As in `read_pairs`; also a text file of one report a line, or a list or column of texts.
        columns: As in `read_pairs`; those of references and contexts may be missing.
        name: As in `read_pairs`.
        with_references: Whether references, and the contexts that `columns` names, must be there.
        per_study: As in `read_pairs`.
    """
    with use_context(used_context() if with_references else ()):
        study_ids, (reports, references), contexts, left_out = read_reports(
            source,
            name,
            (("report", "candidate"), ("reference",)),
            columns,
            optional=() if with_references else ("reference", *CONTEXT_KEYS),
            per_study=per_study,
        )
    return Reports(_named(source, name), study_ids, reports, contexts, references or None, left_out)


def read_references(
    source: Any, columns: Columns = None, *, name: str = "references", per_study: str = REFUSE
) -> Reports:
    """Reads radiologists' reports: `study_id?`, `report` or `reference`, `age?, sex?, indication?, prior?`.

    Args:
        source: As in `read_system`.
        columns: As in `read_pairs`.
        name: As in `read_pairs`.
        per_study: As in `read_pairs`.
    """
    study_ids, (reports,), contexts, left_out = read_reports(
        source, name, (("reference", "report"),), columns, per_study=per_study
    )
    return Reports(_named(source, name), study_ids, reports, contexts, left_out=left_out)


def left_out(systems: Mapping[str, Studies]) -> list[str]:
    """Returns which rows `per_study` left out, or that it took several of a study, a sentence for each source."""
    return list(dict.fromkeys(line for studies in systems.values() for line in studies.left_out))


def first_references(
    source: Any, columns: Columns = None, *, of_pairs: bool, beside: Collection[str] = ()
) -> Iterator[str]:
    """Yields the radiologists' reports of a source one by one, without reading the rest of it.

    Args:
        source: As in `read_references`, or with `of_pairs` as in `read_pairs`.
        columns: As there.
        of_pairs: Whether the source holds pairs.
        beside: Columns that hold something else, such as the reports of systems.
    """
    named = check_columns(columns)
    wanted = (("reference",),) if of_pairs else (("reference", "report"),)
    keys: Collection[str] | None = None
    column = ""
    for whole, where, row in placed_rows(source, "references", Needed.of(named), texts="report"):
        if keys is None or row.keys() != keys:
            others = [column for column in row if column not in beside]
            picked = pick_columns(others, wanted, named, whole, optional=("study_id", *CONTEXT_KEYS))
            column, keys = picked.get("reference") or picked["report"], row.keys()
        yield report_of(row[column], f"{where}, column {column!r}")


def _named(source: Any, name: str) -> str:
    return os.fspath(source) if is_source(source) else name


def read_column(path: PathLike, column: str | None = None) -> list[str]:
    """Reads the reports of one column of any file.

    Args:
        path: CSV, JSONL, Parquet or text.
        column: Its name; None: `report` or `reference`.

    Returns:
        The texts, in the order of the file; "" for a missing one.

    Raises:
        InputError: The file cannot be used, has no such column, or has a cell in it that is no report.
    """
    if column is None:
        return read_references(path).reports
    texts = []
    for where, value in _cells(path, column):
        texts.append(report_of(value, where))
    return texts


def read_flags(path: PathLike, column: str) -> list[bool]:
    """Reads a column of yes and no (true and false, 1 and 0) of any file.

    Raises:
        InputError: The file cannot be used, has no such column, or has another word in it.
    """
    flags = []
    for where, value in _cells(path, column):
        word = str(value).strip().lower()
        if word not in FLAGS:
            raise InputError(f"{where} is {str(value)[:20]!r}; write yes or no.")
        flags.append(FLAGS[word])
    return flags


def _cells(path: PathLike, column: str) -> Iterator[tuple[str, Any]]:
    """Yields the cells of one column, each after its place."""
    for _, where, row in placed_rows(path, str(path), (*COLUMNS, column)):
        if column not in row:
            near = did_you_mean(column, row)
            raise InputError(f"{where} has no {column!r}; it has: {some(list(row))}.{near}")
        yield f"{where}, column {column!r}", row[column]


def placed_rows(source: Any, name: str, columns: Collection[str], *, texts: str = "") -> Iterator[PlacedRow]:
    """Yields the rows of files or of a table in memory.

    Args:
        source: As in `read_pairs`.
        name: What the caller calls a table in memory, for messages.
        columns: Those that are needed.
        texts: The column that bare texts are taken for, in a list, an array or a series; "" takes none.
    """
    if not is_source(source) and not isinstance(source, str):
        whole = name if isinstance(source, Mapping) or columns_of(source) is not None else ""
        for where, row in table_rows(source, columns, name, texts=texts):
            yield PlacedRow(whole or where, where, row)
        return
    for path in parts(source):
        is_named_by_row = suffix_of(path) == ".jsonl"
        for unit, number, row in rows_of(path, columns):
            where = f"{path}, {unit} {number}"
            yield PlacedRow(where if is_named_by_row else str(path), where, row)


def read_reports(
    source: Any,
    name: str,
    wanted: Sequence[tuple[str, ...]],
    columns: Columns,
    *,
    beside: Sequence[str] = (),
    optional: Collection[str] = (),
    per_study: str = REFUSE,
    rows: Iterable[PlacedRow] | None = None,
    announce: bool = True,
    label: str = "",
) -> tuple[list[str] | None, list[list[str]], list[Context], tuple[str, ...]]:
    """Reads ids, one list of texts for each of `wanted` (of whose fields a source has exactly one), and contexts.

    After them comes a list of texts for each of the columns `beside`. Of those in `optional` the list is empty where
    the source has no such column. `per_study` chooses by the first list. `rows` are those of the source that count
    (None: all), and `announce` says whether columns that were picked by their names are logged.
    The last item says which rows `per_study` left out, of the source or of its part `label`; it is logged too.
    """
    named = check_columns(columns)
    rule = check_rule(per_study)
    ids: dict[str, str] = {}
    repeated: list[str] = []
    texts: list[list[str]] = [[] for _ in (*wanted, *beside)]
    contexts: list[Context] = []
    names: dict[str, str] = {}
    chosen: list[tuple[list[str], str]] = []
    known: dict[str, str] = {}
    keys: Collection[str] | None = None
    bare = "report" if "report" in wanted[0] else ""
    no_ids = ""
    twice: RepeatedIdError | None = None
    first = ""
    if rows is None:
        rows = placed_rows(source, name, Needed.of(named, beside), texts=bare)
    sample: list[Row] = []
    for whole, where, row in rows:
        if len(sample) < SAMPLE:
            sample.append(row)
        if keys is None or row.keys() != keys:
            check_beside(beside, row, whole)
            texts_alone = [*row] == [bare] and not is_source(source)  # in a list, which has no columns to name
            others = [column for column in row if column not in beside]
            names = pick_columns(others, wanted, {} if texts_alone else named, whole, optional=optional)
            chosen = [
                (column, names[field])
                for column, fields in zip(texts[: len(wanted)], wanted, strict=True)
                for field in fields
                if field in names
            ]
            chosen += zip(texts[len(wanted) :], beside, strict=True)
            known = {key: names[key] for key in CONTEXT_KEYS if key in names}
            keys, first = row.keys(), first or whole
        if bool(ids) != ("study_id" in names) and contexts and not no_ids:
            raise InputError(
                f"{where}, column {named.get('study_id', 'study_id')!r}: some rows have an id and others do not; "
                "give an id to all rows or to none."
            )
        if "study_id" in names and not no_ids:
            by_name = names["study_id"] != named.get("study_id", "study_id")
            at = f"{where}, column {names['study_id']!r}"
            try:
                study_id = study_id_of(row[names["study_id"]], at)
            except InputError as error:
                if not by_name:
                    raise
                no_ids = str(error)  # a column that was taken by its name holds no ids
            else:
                if study_id in ids and rule == REFUSE:
                    twice = twice or RepeatedIdError(study_id, at, ids[study_id], row)
                    if not by_name:
                        raise twice
                ids.setdefault(study_id, where)
                repeated.append(study_id)
        for column, field in chosen:
            column.append(report_of(row[field], f"{where}, column {field!r}"))
        contexts.append(context_in(row, known, where) if known else NOBODY)
    if not contexts:
        below = " below its column names" if is_source(source) and ".csv" in str(source) else ""
        raise InputError(f"{_named(source, name)} contains no reports{below}.")
    if any(len(column) not in (0, len(contexts)) for column in texts):
        raise InputError(f"{_named(source, name)}: some rows have a reference and others do not.")
    if rule != REFUSE and not ids:
        raise InputError(f"{_named(source, name)} has no study_id, which per_study={per_study!r} needs.")
    if no_ids:
        ids, repeated = {}, []
    elif twice:
        raise twice
    if announce:
        announce_columns({field: column for field, column in names.items() if field != "study_id" or ids}, named, first)
        if no_ids:
            logger.warning("%s So the column is not used as study_id.", no_ids)
    check_codes(sample, names, first, beside)
    if len(repeated) == len(ids):
        return list(ids) or None, texts, contexts, ()
    said = dependent_rows(repeated) if rule == ALL else left_out_rows(rule, repeated)
    left_out = (f"{label or Path(_named(source, name)).name}: {said}",)
    log_lines(left_out)
    if rule == ALL:
        return numbered(repeated), texts, contexts, left_out
    kept = chosen_rows(rule, repeated, texts[0])
    texts = [[column[index] for index in kept] if column else [] for column in texts]
    return list(ids), texts, [contexts[index] for index in kept], left_out


def check_beside(beside: Sequence[str], row: Row, where: str) -> None:
    """Raises InputError for a column that a row does not have."""
    for column in beside:
        if column not in row:
            raise InputError(f"{where} has no column {column!r}; it has: {some(list(row))}.{did_you_mean(column, row)}")


class RepeatedIdError(InputError):
    """Two rows of a source have the same id.

    Attributes:
        fact: Which rows, without the options for them, which not every caller has.
        choices: The same with the options.
    """

    def __init__(self, study_id: str, where: str, before: str, columns: Iterable[str] = ()) -> None:
        self.fact = f"{where}: {study_id!r} is already in {before}"
        self.choices = (
            f"{self.fact}; per_study='first' takes one report of each study, as last, longest and random do, and "
            "per_study='all' scores each."
        )
        by = next(iter(system_columns(columns)), "")
        which = f"the column {by!r}" if by else "a column"
        super().__init__(
            f"{self.choices} If {which} names the system of each row, use compare with by={by or 'COLUMN'!r}."
        )


def study_id_of(value: object, where: str) -> str:
    """An id as text, without blanks around it.

    Whole numbers are ids too: Parquet and JSONL keep them as numbers where CSV has their digits.
    """
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise InputError(f"{where} is {value!r}; an id must be a text or a whole number.")
    if not value.strip():
        raise InputError(f"{where} is blank; give each study an id, or leave the column out.")
    check_report(value, where)
    return value.strip()
