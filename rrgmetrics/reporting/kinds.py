"""The kinds of phrase that are marked in reports, and how: a letter, a colour and a line for each.

Each kind has its own letter and underline as well as its colour. The contrast of all text is at least 4.5 to 1, in
light and in dark mode (a test computes it).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from rrgmetrics.comparing import ErrorCategory

MATCHED, ONLY_HERE = "matched", "only_here"
UNLETTERED = frozenset({MATCHED, ONLY_HERE})  # too many of them in a report for a letter behind each


class Kind(NamedTuple):
    """How a kind of phrase is marked.

    Attributes:
        letter: Stands behind the phrase.
        title: In words, for the legend and for screen readers.
        light: Ground and line (also the colour of the letter) on a light page.
        dark: The same on a dark page.
        underline: Style of the line, as CSS calls it.
        terminal: Style on a terminal, as Rich calls it.
    """

    letter: str
    title: str
    light: tuple[str, str]
    dark: tuple[str, str]
    underline: str
    terminal: str


_LOOKS = {  # light, dark, underline, terminal
    ErrorCategory.FALSE_FINDING: (("#fbdedb", "#a01c18"), ("#4f2320", "#f5aaa3"), "solid", "red"),
    ErrorCategory.MISSING_FINDING: (("#fbe6cf", "#8a4600"), ("#4a3319", "#eab57d"), "double", "yellow"),
    ErrorCategory.INCORRECT_LOCATION: (("#eddff4", "#6d2a86"), ("#3f2849", "#dcaef2"), "dashed", "magenta"),
    ErrorCategory.INCORRECT_SEVERITY: (("#d2ecea", "#0b5b57"), ("#153e3b", "#82d6cd"), "wavy", "cyan"),
    ErrorCategory.FALSE_COMPARISON: (("#dcebf7", "#1f5a8c"), ("#1c3850", "#94c5ee"), "dotted", "blue"),
    ErrorCategory.MISSING_COMPARISON: (("#e8edcb", "#4b560c"), ("#363c12", "#cfd77a"), "dashed", "green"),
}
KINDS: Mapping[str, Kind] = {
    **{category.value: Kind(category.letter, category.words, *look) for category, look in _LOOKS.items()},
    MATCHED: Kind("✓", "in both reports", ("#eceae3", "#5d5952"), ("#2a2d31", "#a8a49b"), "solid", "dim"),
    ONLY_HERE: Kind("≠", "only in this report", ("#fbe6cf", "#8a4600"), ("#4a3319", "#eab57d"), "dashed", "yellow"),
}


def legend(kinds: Collection[str], form: str) -> list[str]:
    """What the letters of some kinds mean, in their order: `form` has `{letter}` and `{title}`.

    Example:
        >>> legend(["missing_finding"], "{letter}: {title}")
        ['B: missing finding']
    """
    return [form.format(letter=kind.letter, title=kind.title) for name, kind in KINDS.items() if name in kinds]
