"""A board's references, read once when it is made. Messages about them name places and columns, never their words."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rrgmetrics import files
from rrgmetrics.backends.reader import Readings
from rrgmetrics.baselines.subsets import slices_of
from rrgmetrics.errors import InputError
from rrgmetrics.files.columns import Needed
from rrgmetrics.reports import Context
from rrgmetrics.reports.missing import SHOWN
from rrgmetrics.spaces.leaderboard.submissions import text_fault
from rrgmetrics.utils.text_format import by_number, counted

FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False, "": False}
SAFE_QUOTES = {*files.COLUMNS, *files.TABLE_SUFFIXES, "public", ""}
_NAMED = re.compile(r"(?<=--columns ).*(?=\.)")  # a file without column names has a report in their place
_COLUMN = re.compile(r"[^\s,=()']+")
_QUOTED = re.compile(r"'((?:\\.|[^'\\])*)'|\"((?:\\.|[^\"\\])*)\"")


def withheld(study_ids: Sequence[str], public: Sequence[bool], secret: bytes, share: float) -> frozenset[int]:
    """Numbers of the hidden studies that count in nothing yet: those that the board's secret puts first."""
    hidden = [number for number, is_public in enumerate(public) if not is_public]
    hidden.sort(key=lambda number: hmac.digest(secret, b"withheld " + study_ids[number].encode(), "sha256"))
    return frozenset(hidden[: round(share * len(hidden))])


class Study(NamedTuple):
    """One study of a board.

    Attributes:
        study_id: As submissions name it.
        reference: The radiologist's report.
        context: What is known of the patient.
        public: Whether the reference may be shown.
        slices: Parts of the studies that it belongs to.
    """

    study_id: str
    reference: str
    context: Context
    public: bool
    slices: tuple[str, ...]


def read_studies(path: files.PathLike, columns: files.Columns = None) -> list[Study]:
    """Reads `study_id, report, age?, sex?, indication?, public?` from CSV, JSONL or Parquet.

    Args:
        path: The file.
        columns: What its columns are called.

    Raises:
        InputError: The file cannot be used; what it quotes of the file is replaced by `…`.
    """
    path = Path(path)
    try:
        references = files.read_references(path, columns)
        public = list(_public(path))
    except InputError as error:
        raise InputError(without_quotes(str(error))) from None
    if references.study_ids is None:
        raise InputError(f"{path} has no column 'study_id'; submissions are joined to the references by it.")
    _check_none_missing(path, references)
    for study_id, report in zip(references.study_ids, references.reports, strict=True):
        if fault := text_fault(report) or text_fault(study_id):
            raise InputError(f"{path}, study {study_id[:60]!r} contains {fault}; remove it.")
    rows = zip(
        references.study_ids,
        references.reports,
        references.contexts,
        public,
        map(slices_of, map(Readings().read, references.reports)),
        strict=True,
    )
    return [Study(*row) for row in rows]


def _check_none_missing(path: Path, references: files.Reports) -> None:
    rows = zip(references.study_ids or (), references.reports, strict=True)
    missing = [study_id for study_id, report in rows if not report.strip()]
    if missing:
        others = f" and {len(missing) - SHOWN:,} others" if len(missing) > SHOWN else ""
        raise InputError(
            f"{path}: {counted(len(missing), 'reference')} {by_number(len(missing), 'is', 'are')} missing (study "
            f"ids {', '.join(missing[:SHOWN])}{others}); add them, or leave these studies out of the board."
        )


def without_quotes(message: str) -> str:
    """A message without what it quotes of the texts; names of columns and the like stay.

    Example:
        >>> without_quotes("r.csv, line 3, column 'report' goes on with 'no effusion' after a closing quote")
        "r.csv, line 3, column 'report' goes on with … after a closing quote"
    """
    message = _NAMED.sub(lambda named: _COLUMN.sub(_shown, named[0]), message)
    return _QUOTED.sub(lambda quoted: quoted[0] if _is_name(quoted[1] or quoted[2] or "") else "…", message)


def _shown(word: re.Match[str]) -> str:
    return word[0] if word[0] in ("or", "--columns") or _is_name(word[0]) else "…"


def _is_name(text: str) -> bool:
    """Whether a text is the name of a column, and cannot be a report in its place: `gt_report`, `pred`."""
    return text in SAFE_QUOTES or (re.fullmatch(r"\w+", text) is not None and ("_" in text or text in Needed()))


def _public(path: Path) -> Iterator[bool]:
    for unit, number, row in files.rows_of(path, (*files.COLUMNS, "public")):
        mark = row.get("public")
        word = "" if mark is None else str(mark).strip().lower()
        if word not in FLAGS:
            raise InputError(f"{path}, {unit} {number}, column 'public' is neither yes nor no.")
        yield FLAGS[word]
