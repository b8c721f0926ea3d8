"""Tables on a terminal of any width: no number is cut and no name is broken.

A table that is too wide uses the first of these layouts that fits:

1. heads, and columns that may take several lines, are broken between words, long names in heads between their parts;
2. the first cell of each line, the name of a system or a metric, gets a line of its own;
3. other cells are broken too, before an interval in brackets but not within it;
4. each line becomes a list: its name, and below it the head and the cell of each column.

A word is only broken if it is longer than a whole line. Rich's table is not used, because it breaks names, cuts numbers
and has no cells that span several columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

GAP = 2  # blanks between columns
INDENT = 4  # of a line whose first cell stands above it
READABLE = 80  # characters of a line of words, also within a cell
# What stays on one line: an interval, a sign with its number, a word with what qualifies it in brackets or an arrow.
PIECE = re.compile(r"(?:[≤≥<>=±] )?(?:\[[^\]]*\]|\S+)(?: \(\w+\))?(?: [↑↓])?")
# A word of a head that is longer than this may be broken before the parts of a name: `green@openai:model?base_url=...`.
LONG_NAME = 24
PART = re.compile(r"[@:?&]*[^@:?&]+")
WIDE_HEAD = 40  # characters of a head that is broken though it would fit
LIST_INDENT = 2  # of the cells of a line that is drawn as a list
WIDEST_HEAD = 0.5  # of the width, in such a list


class Line(NamedTuple):
    """The cells of a line, one a column; `spans` if the first is the only one, and reaches over all columns."""

    cells: list[Text]
    spans: bool


class Sheet(NamedTuple):
    """What a table consists of, as Rich's texts; attributes as those of `rrgmetrics.reporting.tables.Table`."""

    heads: Sequence[str]
    groups: Sequence[Sequence[Sequence[Text]]]
    title: str
    note: str
    whole: frozenset[int]
    broken: frozenset[int]


class Layout(NamedTuple):
    """Where the cells of a table go.

    Attributes:
        widths: Characters of each column.
        stacked: Whether the first cell of a line gets a line of its own.
        listed: Whether each line is drawn as a list.
    """

    widths: Sequence[int]
    stacked: bool = False
    listed: bool = False


def drawn(table: Sheet, console: Console, width: int) -> Iterator[Text]:
    """Yields the lines of a table.

    Args:
        table: The table; nothing in it is read as Rich's markup.
        console: What wraps words.
        width: Characters of a line.
    """
    heads = [Text(head, style="bold") for head in table.heads]
    groups = [[_line(cells, len(heads)) for cells in group] for group in table.groups]
    layout = _layout(heads, [line.cells for group in groups for line in group if not line.spans], table, width)
    spanning = (line.cells[0].cell_len for group in groups for line in group if line.spans)
    whole = width if layout.listed else max([_total(layout.widths), *spanning])
    words = min(width, max(whole, READABLE))
    yield from _wrapped(Text(table.title, style="bold"), console, words) if table.title else ()
    if any(table.heads):
        yield from _rows(Line(heads, False), layout, console, width, is_head=True) if not layout.listed else ()
        yield Text("─" * min(width, whole))
    for index, group in enumerate(groups):
        yield from [Text()] if index else []
        for line in group:
            if layout.listed and not line.spans:
                yield from _listed(heads, line.cells, console, width)
            else:
                yield from _rows(line, layout, console, width)
    yield from _wrapped(Text(table.note, style="dim italic"), console, words) if table.note else ()


def _line(cells: Sequence[Text], n_columns: int) -> Line:
    filled = [*cells, *(Text() for _ in range(n_columns - len(cells)))]
    return Line(filled, n_columns > 1 and not any(filled[1:]))


def _layout(heads: Sequence[Text], lines: Sequence[Sequence[Text]], table: Sheet, width: int) -> Layout:
    """The first way to draw the table in which it is no wider than the terminal."""
    columns = list(zip(heads, *lines, strict=True))
    least_heads = [_least(head, is_head=True) for head in heads]
    wide = [min(head.cell_len, max(WIDE_HEAD, least)) for head, least in zip(heads, least_heads, strict=True)]
    longest = [max([head, *(text.cell_len for text in column[1:])]) for head, column in zip(wide, columns, strict=True)]
    pieces = [max([least, *map(_least, column[1:])]) for least, column in zip(least_heads, columns, strict=True)]
    readable = [max(piece, min(size, READABLE)) for piece, size in zip(pieces, longest, strict=True)]
    natural = [readable[index] if index in table.broken else size for index, size in enumerate(longest)]
    heads_broken = [
        max([least, *(text.cell_len for text in column[1:])])
        for least, column in zip(least_heads, columns, strict=True)
    ]
    least = [pieces[index] if index in table.broken else size for index, size in enumerate(heads_broken)]
    broken = [size if index in table.whole else pieces[index] for index, size in enumerate(natural)]
    above = [INDENT - GAP]
    ways = [
        Layout(_fitted(natural, least, width)),
        Layout(_fitted([*above, *natural[1:]], [*above, *least[1:]], width), stacked=True),
        Layout(_fitted([*above, *natural[1:]], [*above, *broken[1:]], width), stacked=True),
    ]
    return next((way for way in ways if _total(way.widths) <= width), Layout(natural, listed=True))


def _fitted(sizes: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Widths of columns, the widest ones made narrower, none below its least, until the table fits or cannot."""
    widths = list(sizes)
    while _total(widths) > width:
        able = [index for index, size in enumerate(widths) if size > least[index]]
        if not able:
            break
        widths[max(able, key=lambda index: widths[index])] -= 1
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _rows(line: Line, layout: Layout, console: Console, width: int, is_head: bool = False) -> Iterator[Text]:
    """The lines on the terminal that a line of the table takes."""
    first, *others = line.cells
    if line.spans or (layout.stacked and first):
        yield from _wrapped(first, console, width, is_head=is_head)
        if line.spans:
            return
        first = Text()
    parts = [
        _wrapped(cell, console, size, is_head=is_head)
        for cell, size in zip([first, *others], layout.widths, strict=True)
    ]
    for row in zip_longest(*parts):
        cells = [(part or Text()).copy() for part in row]
        for cell, size in zip(cells[:-1], layout.widths, strict=False):
            cell.pad_right(size + GAP - cell.cell_len)
        joined = Text.assemble(*cells)
        joined.rstrip()
        yield joined


def _listed(heads: Sequence[Text], cells: Sequence[Text], console: Console, width: int) -> Iterator[Text]:
    """A line as a list: its first cell, and below it the head and the text of each other cell that has one."""
    yield from _wrapped(cells[0], console, width) if cells[0] else ()
    shown = [(head, cell) for head, cell in zip(heads[1:], cells[1:], strict=True) if cell.plain.strip()]
    indent = _indent(cells[0]) + LIST_INDENT
    most = int(WIDEST_HEAD * (width - indent))
    beside = min(most, max((head.cell_len for head in heads[1:]), default=0))
    for head, cell in shown:
        names = _wrapped(head, console, beside, is_head=True) or [Text()]
        values = _wrapped(cell, console, min(max(width - indent - beside - GAP, 1), READABLE))
        for name, value in zip_longest(names, values):
            left = (name or Text()).copy()
            left.pad_right(beside + GAP - left.cell_len)
            left.pad_left(indent)
            joined = Text.assemble(left, value or Text())
            joined.rstrip()
            yield joined


def _least(text: Text, is_head: bool = False) -> int:
    """The least width in which a text can be drawn without breaking one of its pieces."""
    return _indent(text) + max((end - start for start, end in _pieces(text, is_head)), default=0)


def _pieces(text: Text, is_head: bool) -> Iterator[tuple[int, int]]:
    """Start and end of what stays on one line; a long name in a head is more than one piece."""
    for piece in PIECE.finditer(text.plain):
        parts = list(PART.finditer(piece[0])) if is_head and len(piece[0]) > LONG_NAME else []
        ends = [piece.start() + part.end() for part in parts[:-1]] + [piece.end()]
        yield from zip([piece.start(), *ends], ends, strict=False)


def _indent(text: Text) -> int:
    return len(text.plain) - len(text.plain.lstrip())


def _wrapped(text: Text, console: Console, width: int, is_head: bool = False) -> list[Text]:
    """A text broken between pieces, or within those that are longer than a line; indented lines stay so."""
    if text.cell_len <= width:
        return [text]
    indent = _indent(text)
    free = max(width - indent, 1)
    lines: list[Text] = []
    start = end = indent
    for begin, stop in _pieces(text, is_head):
        if stop - start > free and end > start:
            lines.append(text[start:end])
            start = begin
        end = stop
    lines.append(text[start:end])
    parts = [
        part for line in lines for part in (line.divide(range(free, len(line), free)) if len(line) > free else [line])
    ]
    for part in parts:
        part.rstrip()
        part.pad_left(indent)
    return parts
