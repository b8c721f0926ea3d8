"""A board's references, read once when it is made. Messages about them name places and columns, never their words."""

from __future__ import annotations

import hmac
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rrgmetrics import files
from rrgmetrics.backends.reader import Readings
from rrgmetrics.baselines.subsets import slices_of
from rrgmetrics.errors import InputError
from rrgmetrics.files.columns import Needed
from rrgmetrics.files.labels import some
from rrgmetrics.files.read import RepeatedIdError
from rrgmetrics.reports import AGES, Context
from rrgmetrics.reports.missing import SHOWN
from rrgmetrics.spaces.leaderboard.submissions import text_fault
from rrgmetrics.utils.printable import as_options
from rrgmetrics.utils.text_format import by_number, counted, did_you_mean

FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False, "": False}
FIELDS = (*files.COLUMNS, "public")
# Our own words in messages: fields, suffixes, examples of ages, options, and the Python that writes commas.
OWN_WORDS = {*FIELDS, *files.TABLE_SUFFIXES, *AGES, "", "|", "or", "--columns", "python", "commas.csv"}
_NAMED = re.compile(r"(?<=--columns )(?=\S*=).*(?=\.)")
_COLUMN = re.compile(r"[^\s,=()']+")
_QUOTED = re.compile(r"(?<!\w)'((?:\\.|[^'\\])*)(?:'|\Z)|\"((?:\\.|[^\"\\])*)\"")


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
        InputError: The file cannot be used; what it quotes of the cells is replaced by `…`.
    """
    path = Path(path)
    given = [name for name in files.check_columns(columns).values() if name]
    names = _column_names(path, given)
    known = {*names, *given, str(path), "".join(path.suffixes[-2:])}
    try:
        if names and (missing := next((name for name in given if name not in names), "")):
            near = did_you_mean(missing, names)
            raise InputError(f"{path} has no column {missing!r}; it has: {some(names)}.{near}")
        references = files.read_references(path, columns)
        public = list(_public(path))
    except RepeatedIdError as error:
        raise InputError(f"{without_quotes(error.fact, known)}; keep one reference of each study.") from None
    except InputError as error:
        raise InputError(without_quotes(as_options(str(error)), known, has_names=bool(names))) from None
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


def _column_names(path: Path, given: Collection[str]) -> list[str]:
    """The names of a file's columns; none where a report may be in their place, as no name is a field's."""
    try:
        _, _, row = next(files.rows_of(path, FIELDS), ("", 0, {}))
    except InputError:
        return []
    is_named = any(name in given or name.strip().lower() in ("study_id", "report", "reference") for name in row)
    return list(row) if is_named else []


def without_quotes(message: str, known: Collection[str] = (), *, has_names: bool = False) -> str:
    """A message without what it quotes of the texts; names of columns and the like stay.

    Args:
        message: The message.
        known: What is no text of a report: what the host typed, and the names of the columns.
        has_names: Whether all names of columns are known; else an option with names may hold a report.

    Example:
        >>> without_quotes("r.csv, line 3, column 'report' goes on with 'no effusion' after a closing quote")
        "r.csv, line 3, column 'report' goes on with … after a closing quote"
    """

    def kept(whole: str, text: str) -> str:
        parts = [part.partition("=") for part in text.split(",")]  # as an option has them: report=text,age=
        is_option = all(field in files.COLUMNS and _is_name(name, known) for field, _, name in parts)
        return whole if is_option or _is_name(text, known) else "…"

    if not has_names:
        message = _NAMED.sub(lambda named: _COLUMN.sub(lambda word: kept(word[0], word[0]), named[0]), message)
    return _QUOTED.sub(lambda quoted: kept(quoted[0], quoted[1] or quoted[2] or ""), message)


def _is_name(text: str, known: Collection[str]) -> bool:
    """Whether a text is known, or the name of a column that cannot be a report in its place: `gt_report`, `pred`."""
    is_word = re.fullmatch(r"\w+", text) is not None
    return text in known or text in OWN_WORDS or (is_word and ("_" in text or text in Needed()))


def _public(path: Path) -> Iterator[bool]:
    for unit, number, row in files.rows_of(path, FIELDS):
        mark = row.get("public")
        word = "" if mark is None else str(mark).strip().lower()
        if word not in FLAGS:
            raise InputError(f"{path}, {unit} {number}, column 'public' is neither yes nor no.")
        yield FLAGS[word]
