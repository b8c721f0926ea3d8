"""Where a device passes, and so does not end: "THROUGH the oesophagus into the stomach", "along its COURSE"."""

from __future__ import annotations

from rrgmetrics.reading.items import Item
from rrgmetrics.reading.lexicon import SmallWords

_COURSE = frozenset({"course", "path"})
_ALONG = 4  # items from "along" to "course"
_ONTO = frozenset(
    {"to", "into", "in", "within", "toward", "at"}
)  # a device may end behind them: "down INTO the atrium"


def skip_passed_places(items: list[Item], small: SmallWords) -> None:
    """Takes the site from words for places that a device only passes, in place."""
    passed = False
    for i, item in enumerate(items):
        if passed and "tip" in item.senses:
            items[i] = item.without("tip")
        along = item.word in _COURSE and any(other.word == "along" for other in items[max(0, i - _ALONG) : i])
        passed = along or item.word in small.passing or (passed and _leads_on(item))


def _leads_on(item: Item) -> bool:
    """Tells whether an item stands between "through" and what a device passes: "through THE LEFT main bronchus"."""
    place = bool(item.senses) and item.senses.keys() <= {"side", "location_preposition"}
    return place and item.word not in _ONTO
