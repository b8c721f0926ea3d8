"""What must hold for a table on a terminal of any width: no number is cut, no name is broken."""

from __future__ import annotations

import io
import re
from typing import Any

from rich.console import Console

from rrgmetrics.reporting.tables import Table, as_cell

NUMBER = re.compile(r"[+−]?\d[\d,]*\.\d+|≤ \d\.\d+ \(floor\)|\[[−+]?\d[^\]]*\]")
WIDTHS = (60, 67, 72, 80, 97, 120, 160, 200)


def printed(part: Any, width: int) -> str:
    """What a terminal of a width shows of a table or a text."""
    screen = io.StringIO()
    Console(file=screen, width=width, highlight=False, markup=False).print(part)
    return screen.getvalue()


def check_table(table: Table, width: int) -> None:
    """Asserts that a table fits, with every number and name in it whole."""
    text = printed(table, width)
    lines = text.splitlines()
    assert "…" not in text
    assert max(map(len, lines)) <= width
    shown = " ".join(text.split())
    words = {*shown.split()}
    for line in (line for group in table.groups for line in group.every_line):
        assert {*as_cell(line[0]).text.split()} <= words
        for cell in map(as_cell, line):
            for number in NUMBER.findall(f"{cell.text} {cell.detail}"):
                assert any(number in drawn for drawn in lines), number
    assert {word for head in table.heads[1:] for word in head.split()} <= words
