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

from rrgmetrics.reports.cleaning import words
from rrgmetrics.reports.cleaning.edits import Edit, Step
from rrgmetrics.reports.cleaning.fields import describe
from rrgmetrics.reports.cleaning.parsing import Value
from rrgmetrics.reports.cleaning.records import value_of

_BAR_ROW = re.compile(r"^[ \t]*\|(?P<cells>.*?)(?:\|[ \t]*)?$", re.MULTILINE)
_BAR, _TAB = re.compile(r"\|"), re.compile(r"\t")
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
_ANY_ANSWER = "|".join(map(re.escape, filter(None, (*words.ANSWERS, *_SIGNS))))
_IS_ROW = re.compile(
    rf"(?:(?<![ \t])(?:[ \t]{{2,}}|\t)|[;,][ \t]*)\"?(?:{_ANY_ANSWER})[ \t.\"]*(?:[;,\t\n]|  |\Z)", re.IGNORECASE
)


class _Cell(NamedTuple):
    """A cell, without the white space and quotation marks around it, and its place."""

    text: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """The text in small letters, without a full stop."""
        return self.text.rstrip(".").lower()


Part = tuple[str, _Cell]  # a cell that stays, and the text before it


def _cells(separator: re.Pattern[str], text: str, start: int, end: int) -> list[_Cell]:
    ends = [*(joint.span() for joint in separator.finditer(text, start, end)), (end, end)]
    cells = []
    for last, after in ends:
        cell = text[start:last].rstrip(' \t"')
        inner = cell.lstrip(' \t"')
        cells.append(_Cell(inner, start + len(cell) - len(inner), start + len(cell)))
        start = after
    return cells


def _written(text: str, row: tuple[int, int], parts: Iterable[Part]) -> Iterator[Edit]:
    """The edits that leave the parts of a row."""
    at, n = row[0], 1
    for lead, cell in parts:
        yield Edit(at, cell.start, lead, n)
        n = int(bool(n) and text[at : cell.start] == lead)
        at = cell.end
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
        columns = _cells(_BAR, text, *row.span("cells"))
        cells = [cell for cell in columns if cell.text]
        parts: Iterable[Part] = ()
        if is_above_rule and "|" in row["cells"]:
            names = [cell.text for cell in columns]
        elif not _is_rule(row[0]):
            if len(names) >= len(cells) > 1 and all(map(_SIDE.fullmatch, names[1:])):
                parts = _sided(columns, names)
            elif len(cells) == len(names) > 1 and _COUNTED.fullmatch(cells[0].text):
                parts = _counted(cells, names)
            else:
                parts = _plain(cells)
        yield from _written(text, row.span(), parts)


def _is_rule(row: str) -> bool:
    return "-" in row and not row.strip(" \t:|-")


def _plain(cells: list[_Cell]) -> Iterator[Part]:
    """A name and its description: "| Effusion | None |", "| Effusion | Yes | Moderate | Right |"."""
    others = [cell for cell in cells[2:] if cell.text not in words.DASHES]
    says_yes = bool(others) and words.answer_of(cells[1].text) == "yes"
    for number, cell in enumerate([*cells[: 1 if says_yes else 2], *others]):
        yield ("- ", " " if cells[0].text.endswith(":") else ": ", ", ")[min(number, 2)], cell


def _sided(cells: list[_Cell], names: list[str]) -> Iterator[Part]:
    """The description of each side: "| Effusion | Large | None |" below "| Finding | Right | Left |"."""
    mark = "- "
    for cell, name in zip(cells[1:], names[1:], strict=False):
        if cell.text:
            yield f"{mark}{name.split()[0].capitalize()} {words.uncapitalised(cells[0].text)}: ", cell
            mark = "\n- "


def _counted(cells: list[_Cell], names: list[str]) -> Iterator[Part]:
    """A row that begins with a number, which its column names: "| Nodule | Size |" above "| 1 | 7 mm |"."""
    is_named = names[0][:1].isalpha() and names[0].lower() not in _NUMBERS
    leads = iter((f"- {names[0]} ", ": ") if is_named else ("- ",))
    for cell, name in list(zip(cells, names, strict=True))[not is_named :]:
        yield next(leads, ", "), cell
        unit = _UNIT.search(name)
        if unit and cell.text.replace(".", "", 1).isdigit():
            yield f" {unit[1]}", cell._replace(start=cell.end)


def _named_columns(text: str) -> Iterator[Edit]:
    """Finds the rows below a line whose cells, parted by tabs, name what a row says of its finding."""
    names: list[str] = []
    end = 0
    for line in _LINE.finditer(text):
        cells = [cell.text for cell in _cells(_TAB, text, *line.span())]
        keys = [words.spaced(cell).lower().replace("(", "").replace(")", "") for cell in cells]
        is_next, end = line.start() == end + 1, line.end()
        others = {key for key in keys if key not in words.NAMES}
        if 0 < len(others) == len(keys) - 1 and (others <= words.KEYS or others <= words.SIDES):
            names = keys
            yield Edit(*line.span(), "")
        elif not is_next or not 1 < len(cells) <= len(names):
            names = []
        elif any(cell for name, cell in zip(names, cells, strict=False) if name in words.NAMES):
            yield Edit(*line.span(), _described({key: value_of(cell) for key, cell in zip(names, cells, strict=False)}))


def _described(cells: dict[str, Value]) -> str:
    """The statement of a row of a table, or one for each side; "" if it says nothing."""
    if words.SIDES.isdisjoint(cells):
        return describe(cells)
    finding = next(words.uncapitalised(value.text) for key, value in cells.items() if key in words.NAMES)
    sided = [(f"{key.capitalize()} {finding}", value) for key, value in cells.items() if key in words.SIDES]
    said = (words.stated(name, value.answer) if value.answer else f"{name}: {value.text}." for name, value in sided)
    return "\n".join(filter(None, said))


def _rows(text: str) -> Iterator[Edit]:
    """Finds the rows of tables without Markdown; a line that names the columns goes."""
    rows = (_row(text, line.end() - len(line[0].lstrip()), line.end()) for line in _LINE.finditer(text))
    for separator, group in groupby(rows, lambda row: row[0]):
        table = [(cells, span) for _, cells, span in group]
        if separator and len(table) > 1 and not all(cells[0].key in words.NAMES for cells, _ in table):
            for cells, span in table:
                parts = () if cells[0].key in words.NAMES else _answered(cells)
                yield from _written(text, span, parts)


def _row(text: str, start: int, end: int) -> tuple[re.Pattern[str] | None, list[_Cell], tuple[int, int]]:
    """What parts the cells of a row, its cells, and its place; None: the line is no row."""
    for separator in _SEPARATORS:
        cells = _cells(separator, text, start, end)
        answers = len(cells) > 1 and bool(cells[1].text) and (cells[1].key in words.ANSWERS or cells[1].key in _SIGNS)
        if len(cells) > 1 and _NAME.match(cells[0].text) and (answers or cells[0].key in words.NAMES):
            return separator, cells, (start, end)
    return None, [], (start, end)


def _answered(cells: list[_Cell]) -> Iterator[Part]:
    """A name, its answer and the rest of its description; nothing for an answer that says nothing."""
    name, answer, *others = cells
    if words.answer_of(answer.key) != "unknown":
        yield "", name
        yield (f": {_SIGNS[answer.key]}", answer._replace(start=answer.end)) if answer.key in _SIGNS else (": ", answer)
        yield from ((", ", cell) for cell in others if cell.text and cell.text not in words.DASHES)


def _pairs(text: str) -> Iterator[Edit]:
    """Finds the bars between the pairs of a line in which each part is a name and its description."""
    for line in _LINE.finditer(text):
        at, pairs = line.start(), []
        for part in line[0].split("|"):
            pairs.append(_PAIR.match(text, at, at + len(part)))
            at += len(part) + 1
        if len(pairs) > 1 and all(pairs):
            for pair in filter(None, pairs):
                if pair["name"].strip().lower() in words.DESCRIBING and pair.start() > line.start():
                    yield Edit(pair.start() - 1, pair.end("mark"), ", ")
                    continue
                if pair.start() > line.start():
                    yield Edit(pair.start() - 1, pair.start(), "\n")
                yield Edit(*pair.span("mark"), ": ", 0)


_REPORT = frozenset(("findings", "impression", "report", "text", "report_text"))  # columns that make a file of reports
_DOUBLED = re.compile('""')
_COLUMNS = re.compile(r"\A\s*(?P<names>\"?\w[\w ]*\"?(?P<mark>[,;\t])[^\n.]*)\r?\n")


def _report_row(text: str) -> Iterator[Edit]:
    """Finds the cells of a row of a file below the names of its columns, one of which is a section or the report."""
    head = _COLUMNS.match(text)
    names = [name.strip(' "\r').lower() for name in head["names"].split(head["mark"])] if head else []
    if head is None or _REPORT.isdisjoint(names):
        return
    cell = re.compile(rf'(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^"{head["mark"]}\r\n]*))(?:{head["mark"]}|\s*\Z)')
    at = head.end()
    cells = []
    for name in names:
        found = cell.match(text, at)
        if found is None:
            return
        cells.append((name, found))
        at = found.end()
    if text[at:].strip():
        return
    last = 0
    for name, found in cells:
        start, end = found.span("quoted" if found["quoted"] is not None else "plain")
        if name in _REPORT | words.SECTIONS and start < end:
            yield Edit(last, start, f"\n\n{name.capitalize()}: " if name in words.SECTIONS - {"report"} else "")
            yield from (Edit(quote.start(), quote.end(), '"', 0) for quote in _DOUBLED.finditer(text, start, end))
            last = end
    yield Edit(last, len(text), "")


REPORT_ROWS = (Step("table row", "\n", _report_row, _COLUMNS),)
TABLES = (
    Step("table row", "|", _bar_rows),
    Step("table row", "\t", _named_columns),
    Step("table row", "|", _pairs),
    Step("table row", "\n", _rows, _IS_ROW),
)
