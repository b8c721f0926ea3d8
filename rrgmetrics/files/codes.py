"""Columns of ids, numbers or paths where reports are expected: an error, with the columns that hold reports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.files.columns import has_word, written
from rrgmetrics.files.formats import Row
from rrgmetrics.reports.missing import is_missing, says_nothing
from rrgmetrics.utils.text_format import listed

SAMPLE = 20  # rows that are looked at
WORDS = 3  # of a report at least, where a column is suggested
TEXTS = ("reference", "candidate", "report")  # fields of reports
_CODE = re.compile(r"\S*[\d/\\_]\S*")  # one word with a digit, or of a path or an identifier
NEARLY_ALL = 0.9


def check_codes(rows: Sequence[Row], fields: Mapping[str, str], where: str, beside: Sequence[str] = ()) -> None:
    """Checks that columns of reports hold no ids, numbers or paths instead.

    Args:
        rows: The first rows of a source.
        fields: The column of each field.
        where: The source.
        beside: Further columns of reports, one a system.

    Raises:
        InputError: Nearly all texts of one are single words with digits or of a path; with the columns of reports.
    """
    read = [(field, column) for field, column in fields.items() if field in TEXTS]
    for field, column in [*read, *(("", column) for column in beside)]:
        cells = _texts(rows, column)
        if cells and sum(_CODE.fullmatch(cell) is not None for cell in cells) >= NEARLY_ALL * len(cells):
            others = [name for name in rows[0] if name not in (*fields.values(), *beside)]
            reports = [name for name in others if _is_prose(_texts(rows, name))]
            raise InputError(
                f"{where}: column {column!r} holds ids, numbers or paths, such as {cells[0][:40]!r}, and no reports; "
                f"{_advice(field, reports)}"
            )


def _advice(field: str, reports: Sequence[str]) -> str:
    """What to write instead of a column: that of the columns with reports which its name fits."""
    if not field or not reports:
        named = f": {written({field: 'COLUMN'})}" if field else ""
        return f"name the column with the reports{named}."
    likely = [name for name in reports if has_word(name, field)] or reports
    return f"reports are in {listed([repr(name) for name in likely])}: {written({field: likely[0]})}."


def _texts(rows: Sequence[Row], column: str) -> list[str]:
    """The cells of a column as texts, without those that are missing."""
    cells: list[Any] = [row.get(column) for row in rows]
    texts = [str(cell).strip() for cell in cells if not is_missing(cell)]
    return [text for text in texts if not says_nothing(text)]


def _is_prose(texts: Sequence[str]) -> bool:
    """Whether most texts have as many words as a report."""
    return 2 * sum(len(text.split()) >= WORDS for text in texts) > max(1, len(texts))
