"""The sum of all devices: "all lines", "other catheters", "support equipment", and what it stands for.

A sum stands for the devices that the other report names. A device that is new, or named beside a sum for the rest,
needs a match of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rrgmetrics.reader.device_moves import is_support_device
from rrgmetrics.reader.lexicon import Lexicon
from rrgmetrics.reader.model import Finding, Reading, Unit
from rrgmetrics.reader.tokens import Item, Token

_REACH = 5  # items from "all" to the noun
_BETWEEN = frozenset({"the", "of", "and", "life", "medical", "visible", "invasive", "other", ",", "/"})
_BARE = frozenset({"catheter", "drain"})  # besides, these name a device by themselves
_UNCOUNTED = frozenset({"equipment", "apparatus"})


def sum_devices(items: list[Item], tokens: Sequence[Token], lexicon: Lexicon) -> None:
    """Takes a bare noun behind "all", "other" or "support" for the sum of all devices, in place: "OTHER CATHETERS"."""
    sums = sorted(lexicon.roles["device_sum"])
    nouns = lexicon.small.device_nouns
    for i, item in enumerate(items) if sums else ():
        bare = (item.word in nouns or item.word in _BARE) and item.last - item.first == 1
        if bare and (tokens[item.first].is_plural or item.word in _UNCOUNTED) and _is_summed(items, i, lexicon):
            items[i] = item.saying({"concept": sums[0]})


def _is_summed(items: Sequence[Item], i: int, lexicon: Lexicon) -> bool:
    for item in reversed(items[max(0, i - _REACH) : i]):
        if item.word in lexicon.small.summing_devices and not item.senses:
            return True
        if item.word not in _BETWEEN | _BARE | lexicon.small.device_nouns:
            break
    return False


def is_sum(finding: Finding, lexicon: Lexicon) -> bool:
    """Tells whether a finding is the sum of all devices."""
    return finding.concept in lexicon.roles["device_sum"]


def mark_own(units: list[Unit], lexicon: Lexicon) -> list[Unit]:
    """Marks the devices of a report that no sum of another report stands for: new ones, those beside a sum."""
    summed = any(is_sum(unit.head, lexicon) for unit in units)
    return [
        replace(unit, own=True)
        if is_support_device(unit.head.concept, lexicon)
        and not is_sum(unit.head, lexicon)
        and (summed or unit.head.change == "new")
        else unit
        for unit in units
    ]


def is_summed_up(unit: Unit, other: Reading, lexicon: Lexicon) -> bool:
    """Tells whether a report's sum says no more than that there are devices, which the other report names."""
    return is_sum(unit.head, lexicon) and any(is_support_device(x.concept, lexicon) for x in other.abnormal)
