"""The sum of all devices: "all lines", "other catheters", "support equipment"."""

from __future__ import annotations

from collections.abc import Sequence

from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.tokens import Item, Token

_REACH = 5  # items from "all" to the noun
_BETWEEN = frozenset({"the", "of", "and", "life", "medical", "visible", "invasive", "other", ",", "/"})
BARE = frozenset({"catheter", "drain"})  # besides, these name a device by themselves
_UNCOUNTED = frozenset({"equipment", "apparatus"})


def sum_devices(items: list[Item], tokens: Sequence[Token], lexicon: Lexicon) -> None:
    """Takes a bare noun behind "all", "other" or "support" for the sum of all devices, in place: "OTHER CATHETERS"."""
    sums = sorted(lexicon.roles["device_sum"])
    nouns = lexicon.small.device_nouns
    for i, item in enumerate(items) if sums else ():
        bare = (item.word in nouns or item.word in BARE) and item.last - item.first == 1
        if bare and (tokens[item.first].is_plural or item.word in _UNCOUNTED) and _is_summed(items, i, lexicon):
            items[i] = item.saying({"concept": sums[0]})


def _is_summed(items: Sequence[Item], i: int, lexicon: Lexicon) -> bool:
    for item in reversed(items[max(0, i - _REACH) : i]):
        if item.word in lexicon.small.summing_devices and not item.senses:
            return True
        if item.word not in _BETWEEN | BARE | lexicon.small.device_nouns:
            break
    return False
