"""What commands print, without characters that a terminal obeys: reports, ids and file names may hold any."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.segment import Segment

from rrgmetrics.reporting.drawn import READABLE
from rrgmetrics.utils.printable import visible


class Terminal(Console):
    """A console that prints texts as `visible` writes them; its own colours are no text."""

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Renders as a console does, and writes out what a terminal would obey."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))

    def on_broken_pipe(self) -> None:
        """Drops what nobody reads any more, as behind `| head`: the command must still write its files."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.file.fileno())
        os.close(nowhere)


def paragraph(text: str, width: int, indent: str = "") -> str:
    """A text in lines of at most `width` and of a readable length; a word that is longer, such as a path, stays whole.

    Args:
        text: May have several lines, which stay apart.
        width: Of the terminal.
        indent: The beginning of all lines but the first.

    Example:
        >>> print(paragraph("  - Files of a metric.", 16, "    "))
          - Files of a
            metric.
    """
    return "\n".join(
        textwrap.fill(
            line, min(width, READABLE), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        for line in text.split("\n")
    )
