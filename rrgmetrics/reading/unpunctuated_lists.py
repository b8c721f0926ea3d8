"""Rows of devices without a stop, each with what is said of it behind it: "UAC T7 UVC T9 ETT T2"."""

from __future__ import annotations

from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon


def is_telegram(items: list[Item], groups: list[list[Mention]], lexicon: Lexicon) -> bool:
    """Tells whether a row of devices without a stop begins with one and ends with what is said of one."""
    devices = all(not m.denies and lexicon.concepts[m.concept].is_device for group in groups for m in group)
    return devices and groups[0][0].first == 0 and only_tells(items[groups[-1][0].last :])


def only_tells(items: list[Item]) -> bool:
    """Tells whether words say nothing but where a device ends and how it lies: "UAC T7 UVC T9"."""
    return bool(items) and all(item.senses.keys() & {"level", "tip", "position", "measure"} for item in items)
