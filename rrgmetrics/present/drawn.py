"""Tables on a terminal of any width: nothing is cut while there is another way.

Where a table is too wide, columns that may take several lines are broken between words. Where that does not suffice,
the first cell of each line, which is the name of a system or a metric, gets a line of its own: names are never broken.
Only then are words broken and cells cut. Rich's own table does neither: its cells cannot reach over several columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

GAP = 2  # blanks between columns
INDENT = 4  # of a line whose first cell stands above it
NARROWEST = 4  # characters of a column
READABLE = 80  # characters of a line of words


class Line(NamedTuple):
    """The cells of a line, one a column; `spans` if the first is the only one, and reaches over all columns."""

    cells: list[Text]
    spans: bool


class Sheet(NamedTuple):
    """What a table consists of, as Rich's texts; attributes as those of `rrgmetrics.present.tables.Table`."""

    heads: Sequence[str]
    groups: Sequence[Sequence[Sequence[Text]]]
    title: str
    note: str
    whole: frozenset[int]
    broken: frozenset[int]


def drawn(table: Sheet, console: Console, width: int) -> Iterator[Text]:
    """Yields the lines of a table.

    Args:
        table: The table; nothing in it is read as Rich's markup.
        console: What wraps words.
        width: Characters of a line.
    """
    heads = [Text(head, style="bold") for head in table.heads]
    groups = [[_line(cells, len(heads)) for cells in group] for group in table.groups]
    alone = [line.cells for group in groups for line in group if not line.spans]
    natural = [max(text.cell_len for text in column) for column in zip(heads, *alone, strict=True)]
    least = [
        max((len(word) for text in column for word in text.plain.split()), default=0) if index in table.broken else size
        for index, (column, size) in enumerate(zip(zip(heads, *alone, strict=True), natural, strict=True))
    ]
    widths = _fitted(natural, least, width)
    stacked = False
    if _total(widths) > width:
        beside = _fitted([INDENT - GAP, *natural[1:]], [INDENT - GAP, *least[1:]], width)
        stacked = _total(beside) <= width
        hard = [size if index in table.whole else min(size, NARROWEST) for index, size in enumerate(least)]
        widths = beside if stacked else _fitted(widths, hard, width)
    spanning = (line.cells[0].cell_len for group in groups for line in group if line.spans)
    whole = max([_total(widths), *spanning])
    words = min(width, max(whole, READABLE))
    yield from _wrapped(Text(table.title, style="bold"), console, words) if table.title else ()
    yield from _rows(Line(heads, False), widths, stacked, table.broken, console, width)
    yield Text("─" * min(width, whole))
    for index, group in enumerate(groups):
        yield from [Text()] if index else []
        for line in group:
            yield from _rows(line, widths, stacked, table.broken, console, width)
    yield from _wrapped(Text(table.note, style="dim italic"), console, words) if table.note else ()


def _line(cells: Sequence[Text], n_columns: int) -> Line:
    filled = [*cells, *(Text() for _ in range(n_columns - len(cells)))]
    return Line(filled, n_columns > 1 and not any(filled[1:]))


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


def _rows(
    line: Line, widths: Sequence[int], stacked: bool, broken: frozenset[int], console: Console, width: int
) -> Iterator[Text]:
    """The lines on the terminal that a line of the table takes."""
    first, *others = line.cells
    if line.spans or (stacked and first):
        yield from _wrapped(first, console, width)
        if line.spans:
            return
        first = Text()
    parts = [
        _broken(cell, size, index in broken, console)
        for index, (cell, size) in enumerate(zip([first, *others], widths, strict=True))
    ]
    for row in zip_longest(*parts):
        cells = [(part or Text()).copy() for part in row]
        for cell, size in zip(cells[:-1], widths, strict=False):
            cell.pad_right(size + GAP - cell.cell_len)
        joined = Text.assemble(*cells)
        joined.rstrip()
        yield joined


def _wrapped(text: Text, console: Console, width: int) -> list[Text]:
    """A text broken between words, or within those that are longer than a line; indented lines stay so."""
    indent = len(text.plain) - len(text.plain.lstrip())
    lines = list(text[indent:].wrap(console, max(width - indent, 1))) if text.plain.strip() else [text]
    for line in lines:
        line.rstrip()
        line.pad_left(indent)
    return lines


def _broken(cell: Text, width: int, breaks: bool, console: Console) -> list[Text]:
    """A cell as the lines it takes; in one that may not be broken, what is too much is cut."""
    if cell.cell_len <= width:
        return [cell]
    if breaks:
        return _wrapped(cell, console, width)
    cut = cell.copy()
    cut.truncate(width, overflow="ellipsis")
    return [cut]
