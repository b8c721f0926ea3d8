"""Words for places that tell where a finding is not: what it spares or only reaches, where a device comes from."""

from __future__ import annotations

from itertools import takewhile

from rrgmetrics.reading.ellipsis import is_joint
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import SmallWords

_PLACES = frozenset({"side", "zone", "structure"})
_NEAR = 6  # items from one place to the other
_LEADING = frozenset({"the", "in", "of", "on"})
LEAVING = frozenset({"leave", "leaving"})
_FREE = frozenset({"free", "clear", "uninvolved", "untouched", "unaffected", "intact"})
OPEN = frozenset({"patent"})
OTHER = frozenset({"not", "rather", "instead"})  # first words before the place where a finding is not


def exclude_places(items: list[Item], small: SmallWords) -> None:
    """Takes the place from words for places without the finding, in place: "SPARING the left lung".

    How high it reaches is none of its places: "an effusion REACHING the level of the hilum"; nor does a device end
    where it comes from: "VIA the subclavian vein". It lies in what it extends into: "mass EXTENDING INTO the lingula".
    """
    spared = reached = way = False
    for i, item in enumerate(items):
        if way and {"route", "tip"} <= item.senses.keys():
            items[i] = item.without("tip")
        inserted = item.word in small.relative and "nothing" in item.senses  # "which was inserted via"
        way = inserted or item.word in small.ways or (way and item.senses.keys() <= {"side", "location_preposition"})
        unnamed = item.word in OPEN and _is_of_unnamed(items, i, small)
        if unnamed or (item.word in small.sparing and _is_said_of_before(items, i, small)):
            _spare_before(items, i, small)
        elif item.word in small.sparing or _leaves_free(items, i) or (item.word in OTHER and _is_elsewhere(items, i)):
            spared = True
        elif item.word in small.reaching:
            reached = [each.word for each in items[i + 1 : i + 2]] != ["into"]
        elif is_joint(item, small) or "concept" in item.senses:
            spared = reached = False
        elif spared and item.senses.keys() & {"side", "zone", "tip"}:
            items[i] = item.saying({})
        elif reached and "zone" in item.senses and "tip" not in item.senses:
            items[i] = item.without("zone")


def _is_elsewhere(items: list[Item], i: int) -> bool:
    """Whether another place than that of the finding is behind the item at `i`: "in the middle lobe, NOT THE LOWER"."""
    ahead = [item for item in items[i + 1 : i + _NEAR] if item.word not in _LEADING and item.senses.keys() != {"side"}]
    placed = bool(ahead) and "zone" in ahead[0].senses and "concept" not in ahead[0].senses
    ends = not ahead[1:] or not ahead[1].senses or "item_break" in ahead[1].senses
    named = any("zone" in item.senses for item in items[max(0, i - _NEAR) : i])
    return placed and ends and named


def _leaves_free(items: list[Item], i: int) -> bool:
    """Whether what is behind the item at `i` is spared: "LEAVES the subpleural zone FREE"."""
    if items[i].word not in LEAVING:
        return False
    for k in range(i + 1, min(len(items), i + _NEAR)):
        if items[k].word in _FREE:
            items[k] = items[k].saying({})
            return True
    return False


def denies_others(mention: Mention, items: list[Item], small: SmallWords) -> bool:
    """Whether only further findings are denied, none named before: "NO OTHER nodule", "OTHERWISE no nodule"."""
    if mention.excepts:
        return True
    denial = next((k for k in range(mention.first - 1, -1, -1) if "negation_before" in items[k].senses), None)
    if denial is None:
        return False
    led = [item for item in items[max(0, denial - 2) : denial] if item.word != ","][-1:]  # "OTHERWISE, no nodule"
    elsewhere = any(item.word in small.beyond for item in (*led, *items[mention.last : mention.last + 3]))
    return elsewhere or any(item.word in small.further for item in items[denial + 1 : denial + 3])


def _is_said_of_before(items: list[Item], i: int, small: SmallWords) -> bool:
    """Whether what is before "spared" is: "the left lung IS spared", "with THE LEFT relatively spared"."""
    k = i - 1
    while k > 0 and (items[k].word.endswith("ly") or items[k].word in small.degrees or "nothing" in items[k].senses):
        k -= 1
    if k < 0:
        return False
    bare = i + 1 == len(items) or items[i + 1].word in small.closing  # "with subpleural SPARING"
    spared = items[i].word == "spared" or (items[i].word == "sparing" and bare)
    left = spared and bool(items[k].senses.keys() & _PLACES)
    return left or items[k].word == "being" or ("item_break" in items[k].senses and items[k].word != "with")


def _is_of_unnamed(items: list[Item], i: int, small: SmallWords) -> bool:
    """Whether a clause has no name for what is open: "a narrow right bronchus; THE LEFT ONE IS PATENT"."""
    clause = [*takewhile(lambda item: not is_joint(item, small), reversed(items[:i]))]
    named = any(not item.senses.keys().isdisjoint(("concept", "structure", "zone")) for item in clause)
    return not named and any(item.word in small.definite for item in clause)


def _spare_before(items: list[Item], i: int, small: SmallWords) -> None:
    """Takes the place from the words before "is spared", in place: "consolidation; THE LEFT LUNG IS SPARED"."""
    for k in range(i - 1, -1, -1):
        if is_joint(items[k], small) or items[k].word == "with" or "concept" in items[k].senses:
            return
        if items[k].senses.keys() & _PLACES:
            items[k] = items[k].saying({})
