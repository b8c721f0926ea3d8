"""Edits of a text that remember where each character came from."""

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
    """One named step.

    Attributes:
        kind: What it removes, in the singular; "": nothing that a user wants to know of.
        edits: Finds its edits in a text, in order and apart from each other, in linear time.
        needs: A text without any of these, or without a match, has none; looked for first, as it costs less.
    """

    kind: str
    edits: Callable[[str], Iterable[Edit]]
    needs: tuple[str, ...] | re.Pattern[str]

    def is_needed(self, text: str) -> bool:
        """Whether the step may have edits."""
        if isinstance(self.needs, re.Pattern):
            return self.needs.search(text) is not None
        for mark in self.needs:  # noqa: SIM110 — a generator takes three times as long here
            if mark in text:
                return True
        return False


NOT_ASCII = re.compile(r"[^\x00-\x7f]")


Places = list[tuple[int, int]]  # for each character where the characters it came from begin and end


def replacing(
    pattern: str, new: str | Callable[[re.Match[str]], str | None], flags: int = 0
) -> Callable[[str], Iterator[Edit]]:
    """Returns a finder of edits that replace what a pattern matches, or only its group `cut`, if it has one.

    A function may return None to leave a match as it is.
    """
    compiled = re.compile(pattern, flags)
    group = compiled.groupindex.get("cut", 0)

    def edits(text: str) -> Iterator[Edit]:
        for match in compiled.finditer(text):
            made = new if isinstance(new, str) else new(match)
            if made is not None:
                yield Edit(*match.span(group), made)

    return edits


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


def _source(places: Places, start: int, end: int) -> tuple[int, int]:
    """Where the characters `[start, end)` came from; of none: the place between their neighbours."""
    if start < end:
        return places[start][0], places[end - 1][1]
    at = places[start][0] if start < len(places) else places[-1][1] if places else 0
    return at, at
