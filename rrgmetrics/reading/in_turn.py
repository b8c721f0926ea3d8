"""Values that the places of a list share in turn: "nodules in the RUL and LLL of 6 and 9 mm, RESPECTIVELY".

Each value is read as if it followed its place: "in the RUL 6 mm and LLL 9 mm".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rrgmetrics.reading.senses import Senses
from rrgmetrics.reading.tokens import Item

IN_TURN = frozenset({"respectively"})
_PLACE = frozenset({"side", "zone"})
_LEADING = frozenset({"location_preposition"})
_OTHER = {"right": "left", "left": "right"}
_BOTH = ("right", "and", "left")
_JOINTS = frozenset({",", "and", "&"})
_WORD = "so"  # the word of a value that is moved
_Unit = tuple[int, int]  # the items of one place
_Value = tuple[int, Senses]  # the item of a value, and the value alone


def give_in_turn(items: list[Item]) -> list[Item]:
    """Returns the items with each of several values behind the place that it belongs to."""
    parts = [part for item in items for part in _each_side(item)]
    end = next((i for i, item in enumerate(parts) if item.word in IN_TURN), 0)
    runs = [run for run in _runs(parts[:end]) if len(run) > 1]
    for values in (_sizes(parts[:end]), _degrees(parts[:end])):
        run = next((run for run in reversed(runs) if len(run) == len(values)), None)
        if run:
            return _with_values(parts, run, values)
    return items


def _each_side(item: Item) -> list[Item]:
    """Returns the parts of "right and left"."""
    if item.senses.get("side") != "bilateral" or item.word not in _OTHER or item.last - item.first < len(_BOTH):
        return [item]
    first = Item(item.first, item.first + 1, {"side": item.word}, item.word)
    other = Item(item.last - 1, item.last, {"side": _OTHER[item.word]}, _OTHER[item.word])
    return [first, Item(item.first + 1, item.first + 2, {}, "and"), other]


def _runs(items: Sequence[Item]) -> Iterator[list[_Unit]]:
    """Yields the lists of places: "IN THE RUL AND LLL"."""
    units = list(_units(items))
    breaks = [k for k, (one, other) in enumerate(pairwise(units), 1) if not _is_joined(items[one[1] : other[0]])]
    for first, last in pairwise([0, *breaks, len(units)]):
        yield units[first:last]


def _units(items: Sequence[Item]) -> Iterator[_Unit]:
    first = None
    for i, item in enumerate(items):
        is_place = not _PLACE.isdisjoint(item.senses)
        if first is not None and not is_place:
            yield first, i
        first = (i if first is None else first) if is_place else None
    if first is not None:
        yield first, len(items)


def _is_joined(between: Sequence[Item]) -> bool:
    joined = any(item.word in _JOINTS for item in between)
    return joined and all(item.word in _JOINTS or item.senses.keys() <= _LEADING for item in between)


def _sizes(items: Sequence[Item]) -> list[_Value]:
    """Returns the sizes, of which "6 and 9 mm" are two."""
    sized = [(i, item.senses["measure"]) for i, item in enumerate(items) if "measure" in item.senses]
    return [(i, {"measure": (mm,)}) for i, sizes in sized for mm in sizes]


def _degrees(items: Sequence[Item]) -> list[_Value]:
    return [(i, {"severity": item.senses["severity"]}) for i, item in enumerate(items) if "severity" in item.senses]


def _with_values(items: list[Item], run: list[_Unit], values: list[_Value]) -> list[Item]:
    at = {i for i, _ in values}
    behind = {last - 1: value for (_, last), (_, value) in zip(run, values, strict=True)}
    zone = items[run[-1][1] - 1].senses.get("zone")  # "in the RIGHT and left upper LOBE"
    given: list[Item] = []
    for i, item in enumerate(items):
        if i not in at and item.word not in IN_TURN:
            given.append(item)
        if i in behind:
            if zone and item.senses.keys() == {"side"}:
                given.append(items[run[-1][1] - 1])
            given.append(Item(item.first, item.last, behind[i], _WORD))
    return given
