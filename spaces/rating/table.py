"""What is rated: a table of references and candidates, checked as a whole before a project is made of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rrgmetrics import files
from rrgmetrics.errors import InputError
from rrgmetrics.files.read import study_id_of
from rrgmetrics.reports import CONTEXT_KEYS, Context, parse_context
from rrgmetrics.spaces.limits import check_size

FIELDS = ("study_id", "reference", "candidate", "source")
MAX_CANDIDATES = 6  # of a study; every two of them are compared, and digits name them
SHOWN_PROBLEMS = 20


@dataclass
class Study:
    """A study with its candidates by source, in the order of the table."""

    study_id: str
    reference: str
    context: Context
    candidates: dict[str, str] = field(default_factory=dict)


def read_table(path: files.PathLike, columns: Mapping[str, str] | None = None, *, several: bool = False) -> list[Study]:
    """Reads `study_id, reference, candidate, source?, age?, sex?, indication?`, a row a candidate.

    Args:
        path: CSV, JSONL or Parquet.
        columns: The table's column for each field that is called otherwise.
        several: Whether some study must have two candidates, for preferences.

    Raises:
        InputError: The table cannot be used; one line for each thing to correct, with its place.
    """
    named = {**{name: name for name in (*FIELDS, *CONTEXT_KEYS)}, **(columns or {})}
    if unknown := set(columns or {}) - set(FIELDS) - set(CONTEXT_KEYS):
        raise InputError(f"--columns has {min(unknown)!r}; it names columns for {', '.join((*FIELDS, *CONTEXT_KEYS))}.")
    studies: dict[str, Study] = {}
    problems: list[str] = []
    for unit, number, row in files.rows_of(path, tuple(named.values())):
        where = f"{path}, {unit} {number}"
        _check_columns(row, named, columns or {}, path)
        try:
            _add(studies, row, named, where)
        except InputError as error:
            problems.append(str(error))
    problems += _whole_problems(studies, Path(path), several) if not problems else []
    if problems:
        more = [f"... and {len(problems) - SHOWN_PROBLEMS:,} more."] if len(problems) > SHOWN_PROBLEMS else []
        raise InputError("\n".join([*problems[:SHOWN_PROBLEMS], *more]))
    return list(studies.values())


def _check_columns(row: Mapping[str, Any], named: Mapping[str, str], asked: Mapping[str, str], path: Any) -> None:
    for name in (*FIELDS[:3], *asked):
        if named[name] not in row:
            there = ", ".join(map(repr, row)) or "none"
            raise InputError(f"{path} has no column {named[name]!r}, but {there}; name it: --columns {name}=COLUMN.")


def _add(studies: dict[str, Study], row: Mapping[str, Any], named: Mapping[str, str], where: str) -> None:
    study_id = study_id_of(row[named["study_id"]], f"{where}, column {named['study_id']!r}")
    texts = {}
    for name in ("reference", "candidate"):
        place = f"{where}, column {named[name]!r}"
        text = row[named[name]]
        check_size("" if text is None else text, place)
        texts[name] = str("" if text is None else text)
    source = str(row.get(named["source"]) or "").strip()
    context = parse_context({key: row.get(named[key]) for key in CONTEXT_KEYS if row.get(named[key])}, where)
    study = studies.setdefault(study_id, Study(study_id, texts["reference"], context))
    if not texts["reference"].strip():
        raise InputError(f"{where}, column {named['reference']!r} is blank; leave the study out, or write its report.")
    if texts["reference"] != study.reference:
        raise InputError(f"{where}: study {study_id!r} has a different reference in an earlier row.")
    if source in study.candidates:
        named_source = f"of source {source!r} " if source else ""
        raise InputError(
            f"{where}: study {study_id!r} has a candidate {named_source}in an earlier row; distinguish them with "
            "the column 'source'."
        )
    study.candidates[source] = texts["candidate"]


def _whole_problems(studies: Mapping[str, Study], path: Path, several: bool) -> Iterator[str]:
    if not studies:
        yield f"{path} has no rows."
    for study in studies.values():
        if len(study.candidates) > MAX_CANDIDATES:
            yield f"{path}: study {study.study_id!r} has {len(study.candidates)} candidates; at most {MAX_CANDIDATES}."
        if len(study.candidates) > 1 and "" in study.candidates:
            yield f"{path}: a candidate of study {study.study_id!r} has no source, and others have one."
    if several and studies and all(len(study.candidates) < 2 for study in studies.values()):
        yield f"{path} has one candidate for each study, and preferences need two. Leave `preference` out of --ask."
