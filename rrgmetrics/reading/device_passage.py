"""Where a device does not end: where it passes ("THROUGH the oesophagus into the stomach") or was ("PREVIOUSLY in")."""

from __future__ import annotations

from rrgmetrics.reading.ellipsis import is_joint
from rrgmetrics.reading.items import Item
from rrgmetrics.reading.lexicon import SmallWords

_COURSE = frozenset({"course", "path"})
_ALONG = 4  # items from "along" to "course"
_ONTO = frozenset(
    {"to", "into", "in", "within", "toward", "at"}
)  # a device may end behind them: "down INTO the atrium"
WAS = frozenset({"was", "were"})
_NOW = frozenset({"now", "currently", "today"})
_IS = frozenset({"is", "are", "end", "ends", "lie", "lies", "project", "projects", "terminate", "terminates"})


def skip_passed_places(items: list[Item], small: SmallWords) -> None:
    """Takes the site from words for places that a device only passes, in place."""
    passed = False
    for i, item in enumerate(items):
        if passed and "tip" in item.senses:
            items[i] = item.without("tip")
        along = item.word in _COURSE and any(other.word == "along" for other in items[max(0, i - _ALONG) : i])
        passed = along or item.word in small.passing or (passed and _leads_on(item))


def _leads_on(item: Item) -> bool:
    """Whether an item is between "through" and what a device passes: "through THE LEFT main bronchus"."""
    place = bool(item.senses) and item.senses.keys() <= {"side", "location_preposition"}
    return place and item.word not in _ONTO


def skip_former_places(items: list[Item], small: SmallWords) -> None:
    """Takes the site from words for where a device was, in place, if another tells where it is.

    "in the lower SVC, PREVIOUSLY IN THE ATRIUM", "which WAS IN THE ATRIUM, is now in the SVC"
    """
    words = [item.word for item in items]
    changed = not _NOW.isdisjoint(words) or any("earlier_study" in item.senses for item in items)
    openers = small.bygone | WAS if changed else small.bygone
    if openers.isdisjoint(words):
        return
    former: list[int] = []
    told = was = False
    for i, item in enumerate(items):
        senses = item.senses
        if item.word in openers:
            was = True
        elif "concept" in senses:
            if told and former:
                _drop_sites(items, former)
            former, told, was = [], False, False
        elif item.word in _NOW or item.word in _IS or is_joint(item, small):
            was = False
        elif was and senses.keys() & {"tip", "position"}:
            former.append(i)
        told = told or (not was and bool(senses.keys() & {"tip", "measure"}))
    if told and former:
        _drop_sites(items, former)


def _drop_sites(items: list[Item], former: list[int]) -> None:
    for i in former:
        items[i] = items[i].saying({})
