"""What commands print, without characters that a terminal obeys: reports, ids and file names may hold any."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.segment import Segment

from rrgmetrics.utils.printable import visible


class Terminal(Console):
    """A console that prints texts as `visible` writes them; its own colours are no text."""

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Renders as a console does, and writes out what a terminal would obey."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))
