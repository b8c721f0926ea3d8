"""Words that name a place only together: "both lungs", "more on the right", "upper and mid zones".

"Both", "either" and "each" name two sides only before a place or a finding that there is on each side: "both upper and
mid zones" of one lung are one side, and "either in the atrium or above it" is none. "More abundant within the right
lung" says that the left lung is not free.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile

from rrgmetrics.reading.comparatives import goes_through_sides
from rrgmetrics.reading.lexicon import Lexicon, SmallWords
from rrgmetrics.reading.senses import Senses, without
from rrgmetrics.reading.tokens import Item, Token

INNER = frozenset({"central", "peripheral"})
PARTS = frozenset(
    {"necrosis", "cavitation", "calcification", "lucency", "enhancement", "low", "hypodensity", "fat", "gas"}
)
_DEGREES = frozenset({"severity", "quality"})
_OTHERS = frozenset({"concept", "structure", "item_break", "clause_end", "side"})  # end what "more" speaks of
_CLAUSE = 12  # items to either side in which a word for one side says which side "both" is on
_LIST = 20  # items from "upper" to the noun that it shares
_REACH = 8  # items from "more" to the side
_THAN = frozenset({"than", "that", "on", "the", "in"})
_BRACKETED = frozenset({"measure", "severity"})  # "upper (6 MM) and lower lobes"
_TOWARD = frozenset({"to", "toward", "towards"})
_ORGAN = frozenset({"structure"})
_OTHER_SIDE = {"left": "right", "right": "left"}
_JOINTS = frozenset({"and", "to", "or", "/", ",", "the", "–", "(", ")", "in"})  # between "upper" and "mid zones"


def forget_inner_places(items: list[Item]) -> None:
    """Takes "central" and "peripheral" for parts of a lesion, and no places in a lung, in place: "CENTRAL necrosis"."""
    for i, (item, then) in enumerate(pairwise(items)):
        if item.word in INNER and "zone" in item.senses and then.word in PARTS:
            items[i] = item.without("zone")


def is_other_side(items: Sequence[Item], i: int, small: SmallWords) -> bool | None:
    """Whether a word names the other side than that of the finding before; None if it names no side.

    "The CONTRALATERAL lung", "on the OPERATED side", "the UNDERLYING lung".
    """
    word = items[i].word
    if items[i].senses:
        return None
    noun = next((item for item in items[i + 1 :] if item.word not in small.definite), None)
    if word in small.contralateral or word in small.ipsilateral:
        return word in small.contralateral
    if noun is not None and noun.word == "side" and (word in small.other_side or word in small.same_side):
        return word in small.other_side
    return False if word in small.overlain and noun is not None and noun.word == "lung" else None


def _is_direction(items: Sequence[Item], i: int) -> bool:
    """Whether a word for a side says where something is shifted: "displaced TO THE RIGHT", "LEFTWARD"."""
    return items[i].word.endswith("ward") or any(item.word in _TOWARD for item in items[max(0, i - 2) : i])


def resolve_relative_sides(items: list[Item], lexicon: Lexicon) -> None:
    """Gives words such as "contralateral" the side that follows from the one named before, in place."""
    side = None
    for i, item in enumerate(items):
        if not _is_direction(items, i):
            side = _side(item) or _side_of_zone(item, lexicon) or side
        other = is_other_side(items, i, lexicon.small)
        if side is not None and other is not None:
            items[i] = item.saying({"side": _OTHER_SIDE[side] if other else side})


def resolve_places(items: list[Item], tokens: Sequence[Token], lexicon: Lexicon) -> list[Item]:
    """Gives the words of places that are named together their senses."""
    small = lexicon.small
    i = 0
    while i < len(items):
        item = items[i]
        if item.word in small.pairing and not item.senses and _is_pair(items, i, tokens, lexicon):
            items[i] = Item(item.first, item.last, {"side": "bilateral"}, item.word)
        elif item.word in small.heights and not item.senses:
            at = _shared_noun_at(items, i, lexicon)
            senses = _with_noun(item, items[at], tokens, lexicon) if at else {}
            if senses:
                items[i] = Item(item.first, item.last, senses, item.word)
                if "zone" not in items[at].senses and "structure" in senses:
                    items[at] = items[at].saying({"structure": senses["structure"]})
        elif item.word in small.more and "structure" not in item.senses:  # not the GREATER tuberosity
            end = _asymmetry(items, i, lexicon)
            if end:
                than = _than_a_side(items, i)
                paired = 0 if than else _than_the_other(items, end - 1)
                i = i - 1 if i and _side(items[i - 1]) and (than or "asymmetry" in items[end - 1].senses) else i
                side = _side(items[end - 1])
                worse = _OTHER_SIDE[side] if than and side else side
                senses = {
                    "asymmetry": items[end - 1].senses.get("asymmetry") or worse or "",
                    **({"than": True} if than or paired else {}),
                }
                end = paired or end
                zones = [each for each in items[i:end] if "zone" in each.senses and "side" not in each.senses]
                items[i:end] = [Item(items[i].first, items[end - 1].last, senses, item.word), *zones]
            elif _is_most_there(items, i, lexicon):
                items[i + 1] = items[i + 1].saying(without(items[i + 1].senses, "severity", "quality"))
        i += 1
    return items


def _is_most_there(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether "most" at `i` names the place that has most of it, and no degree: "MOST MARKED at the bases"."""
    if items[i].word != "most" or i + 2 >= len(items) or items[i + 1].senses.keys().isdisjoint(_DEGREES):
        return False
    after = items[i + 2]
    return after.word in lexicon.small.places or "zone" in after.senses or "location_preposition" in after.senses


def _shared_noun_at(items: list[Item], i: int, lexicon: Lexicon) -> int:
    """Returns where the noun of the height at `i` is: "UPPER and mid ZONES", "UPPER (6 mm) LOBE"; 0 if nowhere."""
    at = i + 1
    while at < len(items) and at - i < _LIST and "zone" not in items[at].senses and _leads_on(items[at], lexicon):
        at += 1
    if at == i + 1 or at == len(items):
        return 0
    return at if "zone" in items[at].senses or items[at - 1].word == ")" else 0


def _with_noun(height: Item, place: Item, tokens: Sequence[Token], lexicon: Lexicon) -> Senses:
    """Returns what a height says with the noun of a place, before which another height may be."""
    for first in range(place.first + ("zone" in place.senses), place.last):
        node = lexicon.trie.get(height.word, {})
        for token in tokens[first : place.last]:
            node = node.get(token.word, {})
        senses: Senses = node.get("", {})
        if "zone" in senses:
            return senses
    return {}


def _leads_on(item: Item, lexicon: Lexicon) -> bool:
    known = item.word in _JOINTS or item.word in lexicon.small.heights or _side(item) is not None
    return known or (bool(item.senses) and item.senses.keys() <= _BRACKETED)


def _side(item: Item) -> str | None:
    side = item.senses.get("side")
    return side if side in ("left", "right") else None


def _side_of_zone(item: Item, lexicon: Lexicon) -> str | None:
    """Returns the side that a zone is on: the lingula."""
    return lexicon.zones[item.senses["zone"]].side if "zone" in item.senses else None


def _is_pair(items: list[Item], i: int, tokens: Sequence[Token], lexicon: Lexicon) -> bool:
    """Whether "both", "either" or "each" at `i` speaks of two sides."""
    after = i + 1
    while after < len(items) and items[after].word in ("of", "the"):
        after += 1
    if after >= len(items):
        return False
    noun = items[after]
    place = bool(noun.senses.keys() & {"structure", "zone"}) and not noun.senses.keys() & {"side", "concept"}
    if items[i].word != "both":
        return place
    twice = after + 1 < len(items) and items[after + 1].first == noun.first
    if place and tokens[noun.last - 1].is_plural and not twice:
        return True
    concept = noun.senses.get("concept")
    paired = concept is not None and lexicon.concepts[concept].group in lexicon.groups["one_each"]
    coordinated = any(item.word == "and" for item in items[after + 1 : after + 3])
    if not (place or paired or coordinated):
        return False
    return not any(_side(item) for item in items[max(0, i - _CLAUSE) : i + _CLAUSE])


def _than_a_side(items: list[Item], i: int) -> int:
    """Returns the end of "larger than the left" at `i`, 0 if nothing is compared with a side."""
    at = i + 1
    if at >= len(items) or items[at].word != "than":
        return 0
    while at + 1 < len(items) and at - i < _REACH and items[at].word in _THAN:
        at += 1
    ends = at + 1 == len(items) or "zone" not in items[at + 1].senses
    return at + 1 if _side(items[at]) and ends else 0


def _than_the_other(items: list[Item], i: int) -> int:
    """Returns the end of "the left lung THAN THE RIGHT" behind the side at `i`, 0 if the other is not compared."""
    side, at = _side(items[i]), i + 1
    at += at < len(items) and bool(items[at].senses) and items[at].senses.keys() <= _ORGAN
    if side not in _OTHER_SIDE or at >= len(items) or items[at].word != "than":
        return 0
    if "asymmetry" in items[at].senses:
        return at + 1 if items[at].senses["asymmetry"] == side else 0
    end = _than_a_side(items, at - 1)
    return end if end and _side(items[end - 1]) == _OTHER_SIDE[side] else 0


def _bare_side(items: list[Item], i: int, lexicon: Lexicon) -> int:
    """Returns the end of "worse right", "greater to the left" behind a finding at `i`; 0 if a noun follows the side."""
    at = i + 1
    at += [item.word for item in items[at : at + 1]] == ["so"]
    at += [item.word for item in items[at : at + 2]] in (["to", "the"], ["at", "the"]) and 2
    if at >= len(items) or not _side(items[at]) or items[at].senses.keys() - {"side", "location_preposition"}:
        return 0
    ends = at + 1 == len(items) or items[at + 1].word in lexicon.small.closing | {"and", ";", ")"}
    named = any("concept" in item.senses for item in items[:i])
    each_told = any(  # "smaller left, LARGER RIGHT"
        "change" in one.senses and _side(other)
        for k in (*range(1, i), *range(at + 2, len(items)))
        for one, other in ((items[k - 1], items[k]), (items[k], items[k - 1]))
    )
    return at + 1 if ends and named and not each_told else 0


def _is_state(items: list[Item], i: int, dates: frozenset[str]) -> bool:
    """Whether "more" at `i` and an adjective describe one side alone: "is MORE SEVERE on the left"."""
    side = next((k for k in range(i + 1, min(len(items), i + _REACH)) if _side(items[k])), 0)
    on = [item.word for item in items[max(i, side - 2) : side]] == ["on", "the"]
    dated = any(item.word in dates or "earlier_study" in item.senses for item in items)
    return on and items[i].word == "more" and not dated and (side + 1 == len(items) or not items[side + 1].senses)


def _asymmetry(items: list[Item], i: int, lexicon: Lexicon) -> int:
    """Returns the end of "more abundant within the right" at `i`, 0 if it does not compare two sides."""
    small = lexicon.small
    start = i  # of "a little larger"
    while start and (items[start - 1].word in small.degrees | small.indefinite or items[start - 1].word.endswith("ly")):
        start -= 1
    before = [item for item in items[max(0, start - 2) : start] if not item.senses or "item_break" in item.senses]
    turned = "change" in items[i].senses and any("item_break" in item.senses or item.word == "now" for item in before)
    if (
        turned
        and not _is_state(items, i, small.dates)
        and not any(_than_the_other(items, k) for k in range(i, min(len(items), i + _REACH)))
    ):
        return 0  # "is more confluent in the right lung" than before
    if [item.word for item in items[i : i + 2]] == ["most", "of"]:
        return 0  # "most of the left lower lobe"
    placed = False
    other = _than_a_side(items, i) or _bare_side(items, i, lexicon)
    if other:
        return other
    for k in range(i, min(len(items), i + _REACH)):
        item = items[k]
        if "asymmetry" in item.senses:
            return k + 1  # "right more than left"
        if placed and _side(item):
            later = list(takewhile(lambda other: "change" not in other.senses, items[k + 1 : k + _REACH]))
            dated = any(other.word in small.earlier or "earlier_study" in other.senses for other in later)
            return 0 if dated or goes_through_sides(items, i) else k + 1
        if item.word in small.places or item.word == "on":
            placed = True
        elif (placed and item.word != "the") or (k > i and item.senses.keys() & _OTHERS):
            return 0
    return 0
