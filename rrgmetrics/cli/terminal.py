"""What commands print, without characters that a terminal obeys: reports, ids and file names may hold any."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.segment import Segment

# C0 but for tab and the ends of lines, DEL, C1, marks that turn the direction of a line, and halves of characters.
_OBEYED = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Returns the text with every character that a terminal would obey written out.

    Example:
        >>> visible("Small\x1b[2J effusion.\n")
        'Small\\x1b[2J effusion.\n'
    """
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)


class Terminal(Console):
    """A console that prints texts as `visible` writes them; its own colours are no text."""

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Renders as a console does, and writes out what a terminal would obey."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))
