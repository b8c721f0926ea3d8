"""The model of a table, which draws itself on a terminal, on a page and in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    import rich.console
    import rich.text

TERMINAL_STYLES = {"strong": "bold", "quiet": "dim", "better": "green", "worse": "red"}


@dataclass(frozen=True)
class Cell:
    """A cell that is more than its text.

    Attributes:
        text: What stands in it; pages escape it unless it is `Markup`.
        style: Words that say what it is: `strong`, `quiet`, `better`, `worse`, `number`, `code`, or a class of a page's
            own style sheet.
        columns: How many columns it takes.
        detail: What stands behind it and is never strong, such as an interval.
    """

    text: str
    style: str = ""
    columns: int = 1
    detail: str = ""

    @property
    def is_strong(self) -> bool:
        """Whether the text is bold, as the best of several numbers is."""
        return "strong" in self.style.split()

    def __rich__(self) -> rich.text.Text:
        """The cell for a terminal; nothing in it is read as Rich's markup."""
        from rich.text import Text

        styles = [TERMINAL_STYLES[word] for word in self.style.split() if word in TERMINAL_STYLES]
        beside = " ".join(style for style in styles if style != TERMINAL_STYLES["strong"])
        return Text.assemble((self.text, " ".join(styles)), (f" {self.detail}" if self.detail else "", beside))

    def __html__(self) -> str:
        """The cell's content for a page."""
        text = (Markup("<code>{}</code>") if self.style == "code" else Markup("{}")).format(self.text)
        if not self.detail:
            return text
        return (Markup("<strong>{}</strong> {}") if self.is_strong else Markup("{} {}")).format(text, self.detail)


Cells = tuple[str | Cell, ...]


@dataclass(frozen=True)
class Group:
    """Lines that belong together, and the line over them, if there is one."""

    lines: tuple[Cells, ...]
    head: Cells = ()

    @property
    def every_line(self) -> tuple[Cells, ...]:
        """The lines, below the head if there is one."""
        return (self.head, *self.lines) if self.head else self.lines


@dataclass(frozen=True)
class Table:
    """A table; a Rich console prints it, a template or `Markup.format` takes it, and a notebook shows it.

    Attributes:
        heads: One a column. The first cell of each line is the line's own head.
        groups: The lines; groups are drawn apart.
        title: What it shows, with its numbers.
        note: A sentence below it.
        style: A class of a page's own style sheet.
        whole: Columns whose cells are never cut on a terminal, to be copied.
        broken: Columns whose cells may be broken between words on a terminal.
    """

    heads: tuple[str, ...]
    groups: tuple[Group, ...]
    title: str = ""
    note: str = ""
    style: str = ""
    whole: frozenset[int] = frozenset()
    broken: frozenset[int] = frozenset({0})

    # --- on a terminal

    def __rich_console__(self, console: rich.console.Console, options: rich.console.ConsoleOptions) -> Iterator[Any]:
        """The table for a terminal; nothing in it is read as Rich's markup."""
        from rrgmetrics.reporting.drawn import Sheet, drawn

        groups = [[[as_cell(cell).__rich__() for cell in line] for line in each.every_line] for each in self.groups]
        sheet = Sheet(self.heads, groups, self.title, self.note, self.whole, self.broken)
        yield from drawn(sheet, console, options.max_width)

    # --- on a page

    def __html__(self) -> str:
        """The table for a page, in a box that scrolls sideways where it is too wide."""
        heads = Markup().join(Markup('<th scope="col">{}</th>').format(head) for head in self.heads)
        groups = Markup().join(_html_group(group, self.heads) for group in self.groups)
        note = Markup('<p class="note">{}</p>').format(self.note) if self.note else ""
        box = Markup(
            '<div class="{}" tabindex="0" role="region" aria-label="{}"><table><thead><tr>{}</tr></thead>{}</table>'
            "</div>{}"
        )
        return box.format(f"wide {self.style}".rstrip(), self.title, heads, groups, note)

    def _repr_html_(self) -> str:
        """The table for a notebook."""
        return self.__html__()


def as_cell(cell: str | Cell) -> Cell:
    """A cell, of a text one that is no more than its text."""
    return cell if isinstance(cell, Cell) else Cell(cell)


def _html_group(group: Group, heads: Sequence[str]) -> Markup:
    head = Markup()
    if group.head:
        words = Markup().join(map(as_cell, group.head))
        head = Markup('<tr class="group"><th scope="rowgroup" colspan="{}">{}</th></tr>').format(len(heads), words)
    return Markup("<tbody>{}{}</tbody>").format(head, Markup().join(_html_line(line, heads) for line in group.lines))


def _html_line(line: Cells, heads: Sequence[str]) -> Markup:
    """A line; the style of its first cell is the whole line's.

    Each cell names its column, for narrow screens, unless the heads are HTML: that has a form of its own for these.
    """
    first, *others = map(as_cell, line)
    is_plain = all(cell.columns == 1 for cell in others) and not any(isinstance(head, Markup) for head in heads)
    labels = heads[1:] if is_plain else []
    cells = Markup().join(_html_cell(cell, labels[i] if i < len(labels) else "") for i, cell in enumerate(others))
    row = Markup('<tr class="{}">').format(first.style) if first.style else Markup("<tr>")
    return Markup('{}<th scope="row">{}</th>{}</tr>').format(row, first.text, cells)


def _html_cell(cell: Cell, label: str) -> Markup:
    named = Markup(' data-label="{}"').format(label) if label and cell.text else ""
    style = Markup(' class="{}"').format(cell.style) if cell.style else ""
    columns = Markup(' colspan="{}"').format(cell.columns) if cell.columns > 1 else ""
    return Markup("<td{}{}{}>{}</td>").format(style, columns, named, cell)
