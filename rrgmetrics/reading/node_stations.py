"""Stations of lymph nodes by their number alone, in a list of stations: "4R, 7 and 10L", "4R 12 mm, 7 18 mm"."""

from __future__ import annotations

from collections.abc import Sequence

from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.tokens import Item

_NODE = "lymph_node"
_STATION = "station"
_BEFORE = frozenset({",", ";", "and", "&", ":", "/", "or", "station"})
_BEHIND = frozenset({",", ";", "and", "&", ":", "/", "or", "(", "."})
NUMBERS = frozenset({"3", "5", "6", "7", "8", "9"})  # stations that are on no side


def name_stations(items: list[Item], lexicon: Lexicon) -> None:
    """Gives a bare number the senses of its station, in place, where another station is named."""
    if not any(_is_station(item) for item in items):
        return
    for i, item in enumerate(items):
        if item.word in NUMBERS and not item.senses and _is_listed(items, i):
            item.senses = lexicon.trie.get(_STATION, {}).get(item.word, {}).get("", {})


def _is_station(item: Item) -> bool:
    return _NODE in item.senses.get("structure", ()) and (item.word[0].isdigit() or item.word == _STATION)


def _is_listed(items: Sequence[Item], i: int) -> bool:
    """Whether the number at `i` is a part of a list, and no size, count or image."""
    ahead = not i or items[i - 1].word in _BEFORE
    behind = items[i + 1] if i + 1 < len(items) else None
    return ahead and (behind is None or behind.word in _BEHIND or "measure" in behind.senses)
