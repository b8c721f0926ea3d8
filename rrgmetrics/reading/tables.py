"""Rows of a table in one sentence: "Effusion: small, pneumothorax: none, heart: enlarged"."""

from __future__ import annotations

from itertools import pairwise

from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.tokens import Item

_NAMED = frozenset({"concept", "structure", "listed"})
_NAMING = _NAMED | {"side", "zone", "holds", "inside", "quality", "morphology", "several", "severity"}


def separate_rows(items: list[Item], lexicon: Lexicon) -> None:
    """Makes the comma before a row of its own a semicolon, in place: what one row says is not said of another.

    A row is a heading that names a finding or a structure, a colon, and what is said of it. Before it stands another,
    or a clause with a verb if the row denies: "the heart is enlarged, effusion: NONE".
    """
    colons = [i for i, item in enumerate(items) if item.word == ":"]
    for before, colon in pairwise([-1, *colons]):
        if before < 0 and not _is_denied_behind(items, colon, lexicon):
            continue
        comma = next((i for i in range(colon - 1, before + 1, -1) if items[i].word == ","), colon)
        heading = items[comma + 1 : colon]
        if any(item.senses.keys() & _NAMED for item in heading) and all(
            item.senses.keys() <= _NAMING or item.word in ("/", "and", "or") for item in heading
        ):
            items[comma] = Item(items[comma].first, items[comma].last, {}, ";")


def _is_denied_behind(items: list[Item], colon: int, lexicon: Lexicon) -> bool:
    """Whether a clause with a verb is before a colon, and a denial behind it."""
    behind = items[colon + 1 : colon + 2]
    denied = any("negation_after" in item.senses or item.word in lexicon.small.nothing_left for item in behind)
    return denied and any(item.word in lexicon.small.finite for item in items[:colon])


def answer_headings(items: list[Item], lexicon: Lexicon) -> None:
    """Takes "normal" behind a heading that names a finding for its denial, in place: "Effusion: NIL OF NOTE"."""
    for i in range(2, len(items)):
        concept, senses = items[i - 2].senses.get("concept"), items[i].senses
        if items[i - 1].word != ":" or concept is None or lexicon.concepts[concept].is_device:
            continue
        last = i + 1 == len(items) or items[i + 1].word in (";", ",")
        if last and "normal" in senses.get("quality", ()):
            items[i] = items[i].saying({"negation_after": "negation_after"})
