"""Collections of reports that pairs are made from: a column of a file, a `datasets` set, or our own generator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from rrgmetrics import files
from rrgmetrics.errors import InputError
from rrgmetrics.reports import check_report
from rrgmetrics.reports.missing import says_nothing
from rrgmetrics.synthesis.generator import generate_reports
from rrgmetrics.synthesis.pairs import Report, identity

ID_COLUMN = "study_id"
Take = Literal["all", "first"]
HUB, GENERATOR = "hub:", "generator:"


@dataclass(frozen=True)
class Collection:
    """Reports to make pairs from.

    Attributes:
        name: Where they come from, as the rows say it.
        reports: One a study, none blank.
        n_blank: Blank ones that were left out.
        is_generated: Whether they are our generator's, which also makes pairs of its own.
    """

    name: str
    reports: list[Report]
    n_blank: int = 0
    is_generated: bool = False

    @property
    def sha256(self) -> str:
        """The checksum of ids and texts."""
        return identity(part for report in self.reports for part in report[:2])


def load_collection(
    source: str,
    *,
    columns: Sequence[str] = ("report",),
    id_column: str | None = None,
    split: str = "train",
    seed: int = 0,
    take: Take = "all",
) -> Collection:
    """Loads reports.

    Args:
        source: A CSV, JSONL, Parquet or text file; a folder that `datasets` saved; `hub:<id>`; `generator:<n>`.
        columns: Columns that hold a report.
        take: Of several columns "all", joined by a line end, or the "first" with a text: of `findings impression` the
            impression where there are no findings, as CREPE's references. What only says that there is none is blank.
        id_column: Column that names the study; None takes `study_id` where there is one, else the row's number.
        split: Of a `datasets` set.
        seed: Of the generator.

    Raises:
        InputError: No such file, column, split or `take`, an id that stands twice, or no report.

    Example:
        >>> load_collection("generator:3", seed=1).name
        'generator:3'
    """
    if take not in get_args(Take):
        raise InputError(f"take is {take!r}; pass 'all' or 'first'.")
    if source.startswith(GENERATOR):
        return _generated(source, seed)
    if source.startswith(HUB) or Path(source).is_dir():
        rows: Iterable[tuple[str, dict[str, Any]]] = _dataset_rows(source, split)
    else:
        wanted = [*columns, id_column or ID_COLUMN]
        rows = ((f"{source}, {unit} {number}", row) for unit, number, row in files.rows_of(source, wanted))
    name = Path(source).name if not source.startswith(HUB) else source
    return _collected(name, source, rows, columns, id_column, take)


def _collected(
    name: str,
    source: str,
    rows: Iterable[tuple[str, dict[str, Any]]],
    columns: Sequence[str],
    id_column: str | None,
    take: Take,
) -> Collection:
    reports: dict[str, Report] = {}
    n_blank = n_rows = 0
    for where, row in rows:
        n_rows += 1
        text = _text(row, columns, where, take)
        study_id = _study_id(row, id_column, n_rows, where)
        if study_id in reports:
            raise InputError(f"{where}: the study {study_id!r} occurs twice; give each report its own id.")
        if text:
            reports[study_id] = Report(study_id, text)
        else:
            n_blank += 1
    if not reports:
        raise InputError(f"{source} contains no reports" + (f"; all {n_rows:,} rows are blank." if n_rows else "."))
    return Collection(name, list(reports.values()), n_blank)


def _text(row: dict[str, Any], columns: Sequence[str], where: str, take: Take) -> str:
    """Returns the columns of one row that hold text, joined, or the first of them."""
    parts = []
    for column in columns:
        if column not in row:
            known = ", ".join(repr(name) for name in list(row)[:8])
            raise InputError(f"{where} has no column {column!r}; it has: {known}. Name the report's with --column.")
        value = "" if row[column] is None else row[column]
        check_report(value, f"{where}, column {column!r}")
        parts.append("" if says_nothing(value) else value.strip())
    there = list(filter(None, parts))
    return "\n".join(there[:1] if take == "first" else there)


def _study_id(row: dict[str, Any], column: str | None, number: int, where: str) -> str:
    name = column or ID_COLUMN
    if name not in row:
        if column:
            raise InputError(f"{where} has no column {column!r}; leave --id-column out to number the rows.")
        return str(number)
    value = row[name]
    if not isinstance(value, str | int) or not str(value).strip():
        raise InputError(f"{where}, column {name!r} is {value!r}; an id is a text or a whole number.")
    return str(value)


def _dataset_rows(source: str, split: str) -> Iterable[tuple[str, dict[str, Any]]]:
    import datasets

    try:
        if source.startswith(HUB):
            loaded = datasets.load_dataset(source.removeprefix(HUB), split=split)
        else:
            loaded = datasets.load_from_disk(source)
            loaded = loaded[split] if isinstance(loaded, datasets.DatasetDict) else loaded
    except KeyError:
        raise InputError(f"{source} has no split {split!r}; it has: {', '.join(loaded)}.") from None
    except Exception as error:  # datasets raises whatever it likes
        raise InputError(f"{source} cannot be loaded by `datasets`: {error}") from None
    return ((f"{source}, row {number}", row) for number, row in enumerate(loaded, 1))


def _generated(source: str, seed: int) -> Collection:
    number = source.removeprefix(GENERATOR)
    if not number.isdigit() or int(number) == 0:
        raise InputError(f"{source!r} lacks a number of reports; write for example {GENERATOR}20000.")
    made = enumerate(generate_reports(int(number), seed=seed))
    reports = [Report(f"generated-{seed}-{index}", report.text, report.style) for index, report in made]
    return Collection(source, [report for report in reports if report.text.strip()], is_generated=True)


def read_outputs(paths: Sequence[str]) -> dict[str, list[str]]:
    """Reads a report generator's outputs (`study_id`, `report`), by study; several files give several a study.

    Raises:
        InputError: A file that cannot be used, or without `study_id`.
    """
    outputs: dict[str, list[str]] = {}
    for path in paths:
        system = files.read_system(path)
        if system.study_ids is None:
            raise InputError(f"{path} has no column 'study_id'; a generator's outputs are joined by it.")
        for study_id, report in zip(system.study_ids, system.reports, strict=True):
            outputs.setdefault(study_id, []).append(report)
    return outputs
