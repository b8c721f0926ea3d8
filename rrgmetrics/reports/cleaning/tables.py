r"""Tables: each row becomes a line "Effusion: yes, left".

Of Markdown, "| Effusion | None |"; of cells parted by tabs, commas, semicolons, bars or spaces, "Edema,0\nEffusion,1",
if two rows or more lie below each other whose first cell is a name and whose second is an answer; and pairs
"EDEMA=NO|EFFUSION=YES". Columns may be sides ("| Finding | Right | Left |"), or name what their cells describe.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby, zip_longest
from typing import NamedTuple

from rrgmetrics.reports.cleaning.edits import Edit, Step
from rrgmetrics.reports.cleaning.fields import describe
from rrgmetrics.reports.cleaning.records import value_of
from rrgmetrics.reports.cleaning.words import (
    ANSWERS,
    DASHES,
    DESCRIBING,
    KEYS,
    NAMES,
    SIDES,
    answer_of,
    spaced,
    stated,
    uncapitalised,
)

_BAR_ROW = re.compile(r"^[ \t]*\|(.*)$", re.MULTILINE)
_BETWEEN_BARS = re.compile(r"[^|]+")
_COUNTED = re.compile(r"#?\d{1,2}[.)]?")  # the first cell of a row that is numbered
_NUMBERS = frozenset({"no", "no.", "nr", "nr.", "number", "id", "item", "index", "row", "n"})
_UNIT = re.compile(r"\b([cm]m)\b")
_SIDE = re.compile(r"(left|right|bilateral)(?: (?:lung|side|hemithorax))?", re.IGNORECASE)
_LINE = re.compile(r"[^\n]+")
_SEPARATORS = tuple(map(re.compile, (r"\t+", r"\|", ";", ",", r"[ \t]{2,}")))
_NAME = re.compile(
    r"(?:[-*•][ \t])?(?![^\n]*\b(?:is|are|was|were|has|have|with|there|no|not)\b)[A-Za-z][A-Za-z /()-]{2,50}\Z",
    re.IGNORECASE,
)
_PAIR = re.compile(r"(?P<name>[ \t]*[A-Za-z][A-Za-z _/-]{1,40})(?P<mark>[ \t]*[=:][ \t]*)[^\s=:|]")
_SIGNS = {**dict.fromkeys("-–0nf", "none"), **dict.fromkeys("+1y", "present")}
_ANY_ANSWER = "|".join(map(re.escape, filter(None, (*ANSWERS, *_SIGNS))))
_IS_ROW = re.compile(
    rf"(?:(?<![ \t])(?:[ \t]{{2,}}|\t)|[;,][ \t]*)\"?(?:{_ANY_ANSWER})[ \t.\"]*(?:[;,\t\n]|  |\Z)", re.IGNORECASE
)

Span = tuple[int, int]
Part = tuple[str, Span]  # a cell that stays, and the text before it


def _trimmed(text: str, start: int, end: int) -> Span:
    """A cell without the white space and quotation marks around it."""
    cell = text[start:end]
    end = start + len(cell.rstrip(' \t"'))
    return min(start + len(cell) - len(cell.lstrip(' \t"')), end), end


def _written(text: str, row: Span, parts: Iterable[Part]) -> Iterator[Edit]:
    """The edits that leave the parts of a row."""
    at, n = row[0], 1
    for lead, (start, end) in parts:
        yield Edit(at, start, lead, n)
        n = int(bool(n) and text[at:start] == lead)
        at = end
    yield Edit(at, row[1], "", n)


def _bar_rows(text: str) -> Iterator[Edit]:
    """Finds the rows of tables of Markdown; a line above a rule names the columns."""
    rows = list(_BAR_ROW.finditer(text))
    names: list[str] = []
    end = -1
    for row, below in zip_longest(rows, rows[1:]):
        is_above_rule = below is not None and below.start() == row.end() + 1 and _is_rule(below[0])
        names = names if row.start() == end + 1 else []
        end = row.end()
        cells = [_trimmed(text, *cell.span()) for cell in _BETWEEN_BARS.finditer(text, *row.span()) if cell[0].strip()]
        if _is_rule(row[0]):
            yield Edit(*row.span(), "")
        elif is_above_rule and "|" in row[1].strip("| \t"):
            names = [cell.strip() for cell in _inside(row[1]).split("|")]
            yield Edit(*row.span(), "")
        elif len(names) >= len(cells) > 1 and all(map(_SIDE.fullmatch, names[1:])):
            yield from _written(text, row.span(), _sided_parts(row, names))
        elif len(cells) == len(names) > 1 and _COUNTED.fullmatch(text[slice(*cells[0])]):
            yield from _written(text, row.span(), _counted_parts(text, cells, names))
        else:
            yield from _written(text, row.span(), _parts(text, cells))


def _is_rule(row: str) -> bool:
    return "-" in row and not row.strip(" \t:|-")


def _inside(row: str) -> str:
    """A row without its last bar; what is before the first bar is no part of it."""
    return row.rstrip(" \t").removesuffix("|")


def _parts(text: str, cells: list[Span]) -> Iterator[Part]:
    """A name and what is said of it: "| Effusion | None |", "| Effusion | Yes | Moderate | Right |"."""
    others = [cell for cell in cells[2:] if text[slice(*cell)] not in DASHES]
    says_yes = bool(others) and answer_of(text[slice(*cells[1])]) == "yes"
    for number, cell in enumerate([*cells[: 1 if says_yes else 2], *others]):
        colon = " " if text[cells[0][1] - 1] == ":" else ": "
        yield ("- ", colon, ", ")[min(number, 2)], cell


def _sided_parts(row: re.Match[str], names: list[str]) -> Iterator[Part]:
    """What is said of each side: "| Effusion | Large | None |" below "| Finding | Right | Left |"."""
    first, *others = _inside(row[1]).split("|")
    start, new = row.start(1) + len(first) + 1, ""
    for cell, name in zip(others, names[1:], strict=False):
        if cell.strip():
            side = name.split()[0].capitalize()
            yield f"{new}- {side} {uncapitalised(first.strip())}: ", _trimmed(row.string, start, start + len(cell))
            new = "\n"
        start += len(cell) + 1


def _counted_parts(text: str, cells: list[Span], names: list[str]) -> Iterator[Part]:
    """A row that begins with a number, which its column names: "| Nodule | Size |" above "| 1 | 7 mm |"."""
    is_named = names[0][:1].isalpha() and names[0].lower() not in _NUMBERS
    leads = iter((f"- {names[0]} ", ": ") if is_named else ("- ",))
    for cell, name in list(zip(cells, names, strict=True))[not is_named :]:
        yield next(leads, ", "), cell
        unit = _UNIT.search(name)
        if unit and text[slice(*cell)].replace(".", "", 1).isdigit():
            yield f" {unit[1]}", (cell[1], cell[1])


def _named_columns(text: str) -> Iterator[Edit]:
    """Finds the rows below a line whose cells, parted by tabs, name what a row says of its finding."""
    keys: list[str] = []
    end = 0
    for line in _LINE.finditer(text):
        cells = [cell.strip(' "') for cell in line[0].split("\t")]
        names = [spaced(cell).lower().replace("(", "").replace(")", "") for cell in cells]
        is_next, end = line.start() == end + 1, line.end()
        others = {name for name in names if name not in NAMES}
        if 0 < len(others) == len(names) - 1 and (others <= KEYS or others <= SIDES):
            keys = names
            yield Edit(*line.span(), "")
        elif not is_next or not 1 < len(cells) <= len(keys):
            keys = []
        elif any(cell for key, cell in zip(keys, cells, strict=False) if key in NAMES):
            yield Edit(*line.span(), _described(dict(zip(keys, cells, strict=False))))


def _described(cells: dict[str, str]) -> str:
    """The statement of a row of a table, or one for each side; "" if it says nothing."""
    if SIDES.isdisjoint(cells):
        return describe({key: value_of(cell) for key, cell in cells.items()})
    finding = next(value_of(cell).text for key, cell in cells.items() if key in NAMES)
    said = [
        (f"{key.capitalize()} {uncapitalised(finding)}", value_of(cell)) for key, cell in cells.items() if key in SIDES
    ]
    return "\n".join(
        filter(None, (stated(name, cell.answer) if cell.answer else f"{name}: {cell.text}." for name, cell in said))
    )


class _Row(NamedTuple):
    """A line as the places of its cells; which separator parts them; and where the line begins and ends."""

    cells: list[Span]
    separator: int
    span: Span


def _row(text: str, line: re.Match[str]) -> _Row | None:
    """The row that a line is; None if it is none."""
    for number, separator in enumerate(_SEPARATORS):
        begins = at = line.end() - len(line[0].lstrip())
        cells = []
        for joint in separator.finditer(text, at, line.end()):
            cells.append(_trimmed(text, at, joint.start()))
            at = joint.end()
        cells.append(_trimmed(text, at, line.end()))
        first, second = (text[slice(*cell)].rstrip(".").lower() for cell in (cells * 2)[:2])
        answers = second and (second in ANSWERS or second in _SIGNS)
        if len(cells) > 1 and _NAME.match(first) and (answers or first in NAMES):
            return _Row(cells, number, (begins, line.end()))
    return None


def _rows(text: str) -> Iterator[Edit]:
    """Finds the rows of tables without Markdown; a line that names the columns goes."""
    lines = [(number, _row(text, line)) for number, line in enumerate(_LINE.finditer(text))]
    rows = [(number, row) for number, row in lines if row]
    for _, group in groupby(enumerate(rows), lambda each: (each[1][0] - each[0], each[1][1].separator)):
        table = [row for _, (_, row) in group]
        keys = [text[slice(*row.cells[0])].lower() in NAMES for row in table]
        if len(table) > 1 and not all(keys):
            for row, names_columns in zip(table, keys, strict=True):
                yield from _written(text, row.span, () if names_columns else _answered(text, row.cells))


def _answered(text: str, cells: list[Span]) -> Iterator[Part]:
    """A name, its answer and what else is said of it; nothing for an answer that says nothing."""
    name, (start, end), *others = cells
    answer = text[start:end].rstrip(".").lower()
    if answer_of(answer) != "unknown":
        yield "", name
        yield (f": {_SIGNS[answer]}", (end, end)) if answer in _SIGNS else (": ", (start, end))
        yield from ((", ", cell) for cell in others if text[slice(*cell)].strip() and text[slice(*cell)] not in DASHES)


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


BAR_ROWS = (Step("table row", "|", _bar_rows),)
TABLES = (
    Step("table row", "\t", _named_columns),
    Step("table row", "|", _pairs),
    Step("table row", "\n", _rows, _IS_ROW),
)
