r"""Rows of a table without Markdown: "Edema   no   -\nEffusion   yes   left", lines of CSV, "EDEMA=NO|EFFUSION=YES".

A table has two rows or more, one below the other, whose first cell is a name and whose second cell is an answer. Each
becomes a line "Effusion: yes, left".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from rrgmetrics.reports.cleaning.edits import Edit, Step
from rrgmetrics.reports.cleaning.fields import ANSWERS, DESCRIBED_BELOW, DESCRIBING, NAMES, RECORDS, SIDE_BELOW
from rrgmetrics.reports.cleaning.markup import DASHES

_LINE = re.compile(r"[^\n]+")
_SEPARATORS = tuple(map(re.compile, (r"\t+", r"\|", ";", ",", r"[ \t]{2,}")))
_NAME = re.compile(
    r"(?:[-*•][ \t])?(?![^\n]*\b(?:is|are|was|were|has|have|with|there|no|not)\b)[A-Za-z][A-Za-z /()-]{2,50}\Z",
    re.IGNORECASE,
)
_PAIR = re.compile(r"(?P<name>[ \t]*[A-Za-z][A-Za-z _/-]{1,40})(?P<mark>[ \t]*[=:][ \t]*)[^\s=:|]")
_SIGNS = {
    "-": "none",
    "–": "none",
    "0": "none",
    "n": "none",
    "f": "none",
    "+": "present",
    "1": "present",
    "y": "present",
}
_ANY_ANSWER = "|".join(map(re.escape, filter(None, (*ANSWERS, *_SIGNS))))
ROW = re.compile(
    rf"(?:(?<![ \t])(?:[ \t]{{2,}}|\t)|[;,][ \t]*)\"?(?:{_ANY_ANSWER})[ \t.\"]*(?:[;,\t\n]|  |\Z)"
    rf"|{DESCRIBED_BELOW}|{SIDE_BELOW}",
    re.IGNORECASE,
)


class _Row(NamedTuple):
    """A line as the places of its cells; which mark parts them, as its number; and where the line begins and ends."""

    cells: list[tuple[int, int]]
    mark: int
    start: int
    end: int


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A cell without the white space and quotation marks around it."""
    cell = text[start:end]
    end = start + len(cell.rstrip(' \t"'))
    return min(start + len(cell) - len(cell.lstrip(' \t"')), end), end


def _row(text: str, line: re.Match[str]) -> _Row | None:
    """The row that a line is; None if it is none."""
    for number, separator in enumerate(_SEPARATORS):
        begins = at = line.end() - len(line[0].lstrip())
        cells = []
        for joint in separator.finditer(text, at, line.end()):
            cells.append(_trimmed(text, at, joint.start()))
            at = joint.end()
        cells.append(_trimmed(text, at, line.end()))
        first, second = (text[start:end].rstrip(".") for start, end in (cells * 2)[:2])
        answers = second and (second.lower() in ANSWERS or second.lower() in _SIGNS)
        if len(cells) > 1 and _NAME.match(first) and (answers or first.lower() in NAMES):
            return _Row(cells, number, begins, line.end())
    return None


def _tables(text: str) -> Iterator[Edit]:
    """Finds the rows of tables; a line that names the columns goes."""
    lines = [(number, _row(text, line)) for number, line in enumerate(_LINE.finditer(text))]
    rows = [(number, row) for number, row in lines if row]
    for _, group in groupby(enumerate(rows), lambda each: (each[1][0] - each[0], each[1][1].mark)):
        table = [row for _, (_, row) in group]
        if len(table) > 1 and not all(_names_columns(text, row) for row in table):
            for row in table:
                yield from _statement(text, row)


def _names_columns(text: str, row: _Row) -> bool:
    start, end = row.cells[0]
    return text[start:end].lower() in NAMES


def _statement(text: str, row: _Row) -> Iterator[Edit]:
    (start, at), (begins, ends), *others = row.cells
    answer = text[begins:ends].rstrip(".")
    if _names_columns(text, row) or ANSWERS.get(answer.lower()) == "unknown":
        yield Edit(row.start, row.end, "")
        return
    yield Edit(row.start, start, "", 0)
    yield Edit(at, begins, ": ")
    if answer.lower() in _SIGNS:
        yield Edit(begins, ends, _SIGNS[answer.lower()], 0)
    at = ends
    for begins, ends in others:
        if text[begins:ends].strip() and text[begins:ends] not in DASHES:
            yield Edit(at, begins, ", ", 0)
            at = ends
    yield Edit(at, row.end, "", 0)


def _pairs(text: str) -> Iterator[Edit]:
    """Finds the bars between the pairs of a line in which each part is a name and what is said of it."""
    for line in _LINE.finditer(text):
        at, pairs = line.start(), []
        for part in line[0].split("|"):
            pairs.append(_PAIR.match(text, at, at + len(part)))
            at += len(part) + 1
        if len(pairs) > 1 and all(pairs):
            for pair in filter(None, pairs):
                if pair["name"].strip().lower() in DESCRIBING and pair.start() > line.start():
                    yield Edit(pair.start() - 1, pair.end("mark"), ", ")
                    continue
                if pair.start() > line.start():
                    yield Edit(pair.start() - 1, pair.start(), "\n")
                yield Edit(*pair.span("mark"), ": ", 0)


ROWS = (
    *RECORDS,
    Step("table row", _pairs, ("|",)),
    Step("table row", _tables, ROW),
)
