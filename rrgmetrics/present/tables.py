"""The model of a table, which a terminal, a page and a notebook draw alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import rich.table


@dataclass(frozen=True)
class Cell:
    """A cell that is more than its text.

    Attributes:
        text: What stands in it; pages escape it unless it is `Markup`.
        style: Words that say what it is: `strong`, `quiet`, `better`, `worse`, `number`, `code`, or a class of a page's
            own style sheet.
        columns: How many columns it takes.
    """

    text: str
    style: str = ""
    columns: int = 1


Cells = tuple[str | Cell, ...]


@dataclass(frozen=True)
class Group:
    """Lines that belong together, and the line over them, if there is one."""

    lines: tuple[Cells, ...]
    head: Cells = ()


@dataclass(frozen=True)
class Table:
    """A table; `print` of a Rich console and the cell of a notebook draw it.

    Attributes:
        heads: One a column. The first cell of each line is the line's own head.
        groups: The lines; groups are drawn apart.
        title: What it shows, with its numbers.
        note: A sentence below it.
        whole: Columns whose cells are never broken nor cut on a terminal, to be copied.
        broken: Columns whose cells may take several lines on a terminal.
    """

    heads: tuple[str, ...]
    groups: tuple[Group, ...]
    title: str = ""
    note: str = ""
    whole: frozenset[int] = frozenset()
    broken: frozenset[int] = frozenset({0})

    def __rich__(self) -> rich.table.Table:
        """The table for a terminal."""
        from rrgmetrics.present.terminal import draw

        return draw(self)

    def __html__(self) -> str:
        """The table for a page; what templates and `Markup.format` take."""
        from rrgmetrics.present.html import table

        return table(self)

    def _repr_html_(self) -> str:
        """The table for a notebook."""
        return self.__html__()
