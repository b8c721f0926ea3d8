"""Numbers of ribs and vertebrae: "the left fourth to sixth ribs", "ribs 4-6", "T11/12", "T8 and L1".

A level is one bone, such as "rib 4" or "T12", or a region of the spine ("mid thoracic"). `anatomy.yaml` gives their
order. A number is a level only beside the word of the bone that it counts, and "three ribs" are a count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rrgmetrics.reading.lexicon import BONES, Lexicon, per_lexicon
from rrgmetrics.reading.model import Finding
from rrgmetrics.reading.senses import Senses
from rrgmetrics.reading.tokens import Item, Token

_BETWEEN = frozenset({"side", "zone", "morphology", "acuity", "severity"})  # may be between a number and its bone
_NEAR = 4  # items
_JOINTS, _RANGE = frozenset({",", "and", "/", "the"}), frozenset({"to", "through", "thru", "–", "—", "or"})
_SIDED = {"r": ("right", 2), "l": ("left", 6)}  # and the first number that can be nothing else
_RIBS = 12
SIDED_RIBS = frozenset(f"{side}{n}" for side, (_, first) in _SIDED.items() for n in range(first, _RIBS + 1))
_OPENING = frozenset({"(", ",", ":", "the", "number", "involving", "at", "of"})  # before the numbers of "rib fractures"


@dataclass(slots=True)
class _Run:
    """A list of numbers: items `[first, last)`, and the orders of the bones that they may name."""

    first: int
    last: int
    orders: list[int]
    spine: bool
    bare: bool = False  # may also be a count: "4 and 5", "two"
    ranged: bool = False


def number_bones(items: list[Item], tokens: Sequence[Token], lexicon: Lexicon) -> list[Item]:
    """Makes one item of each list of numbered bones; what a sentence says besides stays as it is."""
    if not _names_bones(items, tokens, lexicon):
        return items
    _share_spine(items, lexicon)
    runs: list[_Run] = []
    i = 0
    while i < len(items):
        run = _run(items, i, tokens, lexicon)
        if run is not None:
            runs.append(run)
        i = run.last if run is not None else i + 1
    known: list[bool] = []  # which lists stand behind ribs, or go on from one that does
    for before, run in zip([None, *runs], runs, strict=False):
        goes_on = before is not None and known[-1] and _joins(items[before.last : run.first], lexicon)
        known.append(not run.spine and (goes_on or _beside_rib(items, run, tokens, lexicon)))
    after = len(items)  # where a list that is known to number ribs starts
    for run, ribs in zip(reversed(runs), reversed(known), strict=True):
        goes_on = _joins(items[run.last : after], lexicon)
        beside = not run.spine and (ribs or goes_on)
        if beside or (run.spine and run.last - run.first > 1):
            senses: Senses = {"level": tuple(lexicon.level_names[order] for order in run.orders)}
            if run.spine:
                senses = {**items[run.first].senses, **senses}
            item = Item(items[run.first].first, items[run.last - 1].last, senses, items[run.first].word)
            items[run.first : run.last] = [item]
            after = run.first if beside else after
        elif run.bare and not items[run.first].senses and _before_rib(items, run.last, tokens, lexicon):
            items[run.first].senses = {"count": run.orders[0] - lexicon.level_bases["rib"]}
    return items


def name_ribs(items: list[Item], lexicon: Lexicon) -> None:
    """Reads ribs by their side and number, in place: "R8 and R9", "L9 TO L11"."""
    for i, item in enumerate(items):
        if item.word in SIDED_RIBS and not item.senses:
            items[i] = _rib(item, _SIDED[item.word[0]][0], lexicon)


def _rib(item: Item, side: str, lexicon: Lexicon) -> Item:
    """Returns a letter and a number as the rib that they name."""
    name = lexicon.level_names[lexicon.level_bases["rib"] + int(item.word[1:])]
    return item.saying({"side": side, "structure": ("rib",), "level": (name,)})


def _share_spine(items: list[Item], lexicon: Lexicon) -> None:
    """Makes vertebrae of numbers that share the next one's bone, in place: "the SIXTH and ninth thoracic vertebrae"."""
    for i in range(len(items) - 2, -1, -1):
        number = items[i].senses.get("ordinal")
        at = i + 1
        while number and at < len(items) - 1 and at - i < _NEAR and items[at].word in _JOINTS | _RANGE:
            at += 1
        levels: tuple[str, ...] = items[at].senses.get("level", ()) if at > i + 1 else ()
        if number and len(levels) == 1 and "zone" in items[at].senses:
            name = f"{levels[0][0]}{number}"
            if levels[0][1:].isdecimal() and lexicon.levels.get(name, (99,))[0] < lexicon.levels[levels[0]][0]:
                items[i] = items[i].saying({**items[at].senses, "level": (name,)})


def _names_bones(items: list[Item], tokens: Sequence[Token], lexicon: Lexicon) -> bool:
    """Whether a sentence has anything that may be numbered, or number it; few have."""
    for item in items:
        if item.senses and ("ordinal" in item.senses or "level" in item.senses or _is_rib(item, tokens, lexicon)):
            return True
    return False


def _is_rib(item: Item, tokens: Sequence[Token], lexicon: Lexicon) -> bool:
    if "structure" not in item.senses and "concept" not in item.senses:
        return False
    return not lexicon.rib_words.isdisjoint([token.word for token in tokens[item.first : item.last]])


def _run(items: list[Item], start: int, tokens: Sequence[Token], lexicon: Lexicon) -> _Run | None:
    """Returns the longest list of numbers that starts at an item."""
    order = _order(items[start], lexicon, None)
    if order is None:
        return None
    run = _Run(start, start + 1, [order], "level" in items[start].senses, bare=_is_bare(items[start]))
    while len(run.orders) < len(lexicon.level_names):
        at, ranged = _joint(items, run.last, tokens)
        order = _order(items[at], lexicon, run) if at < len(items) else None
        if order is None or (ranged and order <= run.orders[-1]):
            break
        if items[at].senses.get("side") != items[start].senses.get("side"):
            break  # "R4 and L8"
        run.bare = run.bare and _is_bare(items[at])
        run.orders.extend(range(run.orders[-1] + 1, order) if ranged else ())
        run.orders.append(order)
        run.ranged, run.last = run.ranged or ranged, at + 1
    return run


def _is_bare(item: Item) -> bool:
    return "level" not in item.senses and "ordinal" not in item.senses


def _order(item: Item, lexicon: Lexicon, run: _Run | None) -> int | None:
    """Returns the order of the bone that an item can name, alone or at the end of a list."""
    if "level" in item.senses:
        low, high = lexicon.levels[item.senses["level"][0]]
        return low if low == high and (run is None or run.spine) else None
    number = item.senses.get("ordinal") or item.senses.get("count")
    if number is None and not item.senses and item.word.isdecimal():
        number = int(item.word[:3])
    base = lexicon.level_bases["rib"]
    if run is not None and run.spine:
        if number is None or "ordinal" in item.senses:
            return None
        last = lexicon.level_names[run.orders[-1]]
        base = lexicon.level_bases[last[0]]
        if base + number <= run.orders[-1]:
            return None  # "T12 and 3 ribs"
    name = lexicon.level_names.get(base + number) if number else None
    return lexicon.levels[name][0] if name and name[0] == lexicon.level_names[base + 1][0] else None


def _joint(items: list[Item], i: int, tokens: Sequence[Token]) -> tuple[int, bool]:
    """Returns where the next number of a list may be, and whether it ends a range."""
    at, ranged = i, False
    while at < min(len(items), i + 3) and items[at].word in _JOINTS | _RANGE:
        ranged = ranged or items[at].word in _RANGE
        at += 1
    if at == i:
        close = i < len(items) and tokens[items[i].first].start - tokens[items[i].first - 1].end == 1
        return (i, True) if close else (len(items), False)  # "4-6"
    return at, ranged


def _beside_rib(items: list[Item], run: _Run, tokens: Sequence[Token], lexicon: Lexicon) -> bool:
    """Whether a list of numbers is before or behind the ribs that it names."""
    several = len(run.orders) > 1
    listed = not run.bare or len(run.orders) > 2 or (several and not run.ranged)
    if listed and _before_rib(items, run.last, tokens, lexicon):
        return True
    if not several and _names_one_rib(items, run, tokens, lexicon):
        return True
    if any(item.word in lexicon.small.periods for item in items[run.last : run.last + 1]):
        return False  # "rib fractures, 4 to 6 WEEKS old"
    at = run.first - 1
    while at >= 0 and run.first - at < _NEAR and (items[at].word in _OPENING or "side" in items[at].senses):
        at -= 1
    if at < 0 or not _is_rib(items[at], tokens, lexicon):
        return False
    return not run.bare or several or (at == run.first - 1 and tokens[items[at].last - 1].word in lexicon.rib_words)


def _names_one_rib(items: list[Item], run: _Run, tokens: Sequence[Token], lexicon: Lexicon) -> bool:
    """Whether a number is between a side and a rib: "L 6 RIB fracture", but "6 rib fractures on the left"."""
    if not run.first or run.last >= len(items) or not items[run.first].word.isdecimal():
        return False
    rib = items[run.last]
    sided = items[run.first - 1].senses.keys() == {"side"}
    return (
        sided and _is_rib(rib, tokens, lexicon) and not any(token.is_plural for token in tokens[rib.first : rib.last])
    )


def _before_rib(items: list[Item], i: int, tokens: Sequence[Token], lexicon: Lexicon) -> bool:
    """Whether nothing but descriptions is between item `i` and a rib."""
    for item in items[i : i + _NEAR]:
        if _is_rib(item, tokens, lexicon):
            return True
        if item.senses.keys() - _BETWEEN or not (item.senses or item.word.isalpha()):
            return False
    return False


def _joins(between: Iterable[Item], lexicon: Lexicon) -> bool:
    """Whether a list continues: "the left fourth AND RIGHT sixth ribs"."""
    words = list(between)
    return 0 < len(words) <= _NEAR and all("side" in item.senses or item.word in _JOINTS | {"of"} for item in words)


@per_lexicon
def _ribs(lexicon: Lexicon) -> frozenset[str]:
    return frozenset(lexicon.level_names[lexicon.level_bases["rib"] + number] for number in range(1, 13))


def touch(a: frozenset[str], b: frozenset[str], lexicon: Lexicon, reach: int | None = None) -> bool:
    """Whether levels overlap, or are within `reach` of one another; those that are not stated agree with all.

    Ribs are distinguished one by one (`reach` 0), vertebrae are often counted one too high or too low (1).
    """
    if not a or not b:
        return True
    between = reach if reach is not None else int(not (a | b) & _ribs(lexicon))
    spans = lexicon.levels
    return any(spans[x][0] <= spans[y][1] + between and spans[y][0] <= spans[x][1] + between for x in a for y in b)


def of_two_ages(a: Finding, b: Finding, lexicon: Lexicon) -> bool:
    """Whether one bone was broken long ago and another lately: "an old fracture of T11, a fracture of T6"."""
    if lexicon.concepts[a.concept].group != BONES:
        return False
    apart = bool(a.acuity and b.acuity) or not touch(a.levels, b.levels, lexicon)
    return apart and (a.acuity in lexicon.old) != (b.acuity in lexicon.old)


def number_of(levels: frozenset[str], count: int | None, lexicon: Lexicon) -> int | None:
    """Returns how many bones a finding is said of, None if that is left open."""
    regions = any(low != high for low, high in (lexicon.levels[level] for level in levels))
    return count if regions or not levels else max(count or 0, len(levels))
