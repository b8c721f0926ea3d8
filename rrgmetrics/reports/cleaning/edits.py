"""Edits of a text that remember where each character came from, and the steps that find them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple


class Edit(NamedTuple):
    """Characters `[start, end)` become `new`; `n` is how many things of the step's kind that removes."""

    start: int
    end: int
    new: str
    n: int = 1


class Step(NamedTuple):
    """One step of cleaning.

    Attributes:
        kind: What it removes, in the singular; "": nothing that a user wants to know of.
        needs: Characters, or texts, one of which a text has that the step may edit; empty: any text.
        edits: Finds its edits in a text, in order and apart from each other, in linear time.
        where: What such a text also matches; for steps that cost much or whose marks are frequent.
    """

    kind: str
    needs: str | tuple[str, ...]
    edits: Callable[[str], Iterable[Edit]]
    where: re.Pattern[str] | None = None

    def is_needed(self, text: str) -> bool:
        """Whether the step may have edits."""
        for mark in self.needs:
            if mark in text:
                return self.where is None or self.where.search(text) is not None
        return not self.needs and (self.where is None or self.where.search(text) is not None)


New = str | Callable[[re.Match[str]], str | None]
Places = list[tuple[int, int]]  # for each character where the characters it came from begin and end


def replacing(
    kind: str, needs: str | tuple[str, ...], pattern: str, new: New = "", where: re.Pattern[str] | None = None
) -> Step:
    """Returns a step that replaces what a pattern matches, or only its group `cut`, if it has one.

    A function may return None to leave a match as it is.
    """
    compiled = re.compile(pattern)
    group = compiled.groupindex.get("cut", 0)

    def edits(text: str) -> Iterator[Edit]:
        for match in compiled.finditer(text):
            made = new if isinstance(new, str) else new(match)
            if made is not None:
                yield Edit(*match.span(group), made)

    return Step(kind, needs, edits, where)


def apply(edits: Iterable[Edit], text: str, places: Places | None) -> tuple[str, Places | None, int]:
    """Returns the text with the edits made, where its characters came from, and how many things were removed."""
    parts: list[str] = []
    made: Places = []
    at = count = 0
    for start, end, new, n in edits:
        if text[start:end] == new:
            continue
        if places is None:
            places = [(i, i + 1) for i in range(len(text))]
        parts += (text[at:start], new)
        made += places[at:start]
        made += [_source(places, start, end)] * len(new)
        at, count = end, count + n
    if not parts or places is None:
        return text, places, 0
    return "".join((*parts, text[at:])), made + places[at:], count


def gap_before(text: str, at: int) -> int:
    """Where the spaces and tabs before a place begin."""
    while at and text[at - 1] in " \t":
        at -= 1
    return at


def _source(places: Places, start: int, end: int) -> tuple[int, int]:
    """Where the characters `[start, end)` came from; of none: the place between their neighbours."""
    if start < end:
        return places[start][0], places[end - 1][1]
    at = places[start][0] if start < len(places) else places[-1][1] if places else 0
    return at, at
