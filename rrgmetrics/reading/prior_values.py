"""What was and what is, where one statement states both: "the 22 mm nodule is now 14 mm", "severe instead of mild"."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise, takewhile

from rrgmetrics.reading.dates import is_then
from rrgmetrics.reading.lexicon import Lexicon, SmallWords
from rrgmetrics.reading.senses import as_earlier
from rrgmetrics.reading.tokens import Item

LARGE = 6  # severity from which "now" tells that a finding has grown
NOW = frozenset({"now", "today", "currently", "presently"})
INSTEAD = frozenset({"as", "instead", "rather", "vs", "versus"})  # first words of "as opposed to", "rather than"
_MARKS = frozenset({",", "(", ".", "the", "a", "an"})
_MEASURING = frozenset({"measure", "measuring", "at", "a", "an", "only", "just"})  # between "now" and what is now
_ANOTHER = frozenset({"also", "another", "other", "second", "additional"})
_COMPARED = frozenset({"as", "since", "compared", "when"})
_NEAR = 3  # items from "now" to what is now
_FAR = 16  # items from what was to what is


def tell_what_was(items: list[Item], lexicon: Lexicon) -> None:
    """Takes the earlier of two sizes or degrees of one finding for what was, in place."""
    for kind in ("measure", "severity"):
        told = [i for i, item in enumerate(items) if kind in item.senses and _is_own(item)]
        for one, other in pairwise(told):
            if other - one > _FAR:
                continue
            if _is_instead(items, one, other):
                was(items, other, kind)
            elif _is_now(items, one, other, lexicon):
                was(items, one, kind)
    for i in (i for i, item in enumerate(items) if item.word == "("):
        _tell_aside(items, i, lexicon.small)


def _tell_aside(items: list[Item], i: int, small: SmallWords) -> None:
    """Takes the sizes in brackets for what was, if its first is: "55 x 13 mm (THEN 80 MM AND 22 MM)"."""
    inner = list(takewhile(lambda k: items[k].word != ")", range(i + 1, len(items))))
    sized = [k for k in inner if items[k].senses.keys() & {"measure", "before"}]
    sized_ahead = any("measure" in item.senses for item in items[:i])
    if sized_ahead and len(sized) > 1 and (items[inner[0]].word in small.earlier or is_then(items[inner[0]], small)):
        for k in sized:
            if "measure" in items[k].senses:
                was(items, k, "measure")


def _is_own(item: Item) -> bool:
    """Whether a degree is that of a finding, and not of a change or of another quality."""
    return item.senses.keys().isdisjoint({"change", "before", "concept"}) and not item.word.endswith("ly")


def was(items: list[Item], i: int, kind: str) -> None:
    """Takes the size or degree of an item for that of an earlier date, in place."""
    items[i].senses = as_earlier(items[i].senses, kind)


def _is_instead(items: Sequence[Item], one: int, other: int) -> bool:
    """Whether the second of two values is the earlier one: "14 mm INSTEAD OF 22 mm", "14 mm VS 22 mm"."""
    between = [item for item in items[one + 1 : other] if item.word not in _MARKS | NOW]
    dated = any("earlier_study" in item.senses for item in between)
    between = [item for item in between if "earlier_study" not in item.senses]
    leads = len(between) == 1 and between[0].word in INSTEAD and (dated or between[0].word != "rather")
    if leads and "negation_before" in between[0].senses:
        between[0].senses = {}
    return leads


def _is_now(items: Sequence[Item], one: int, other: int, lexicon: Lexicon) -> bool:
    """Whether the first of two values is the earlier one: "the 22 mm nodule NOW measures 14 mm"."""
    between = items[one + 1 : other]
    at = next((k for k in range(len(between) - 1, -1, -1) if between[k].word in NOW), None)
    if at is None or len(between) - at > _NEAR or any("change" in item.senses for item in between[:at]):
        return False
    if any(item.word not in _MEASURING | lexicon.small.verbs for item in between[at + 1 :]):
        return False
    was = any(item.word in NOW for item in items[max(0, one - _NEAR) : one]) or between[-1].word in lexicon.small.past
    return not was and _of_one(items, one, other, lexicon)


def _of_one(items: Sequence[Item], one: int, other: int, lexicon: Lexicon) -> bool:
    """Whether two sizes or degrees are stated of one finding."""
    between = items[one + 1 : other]
    if any(item.word == ";" or item.word in _ANOTHER or "clause_end" in item.senses for item in between):
        return False
    named = sum("concept" in item.senses for item in between)
    ahead = any("concept" in item.senses for item in items[max(0, one - _NEAR) : one])
    joined = any(item.word in lexicon.small.list_joints and item.word != "," for item in between)
    return named + ahead <= 1 and not (joined and not any(item.word in lexicon.small.verbs for item in between))


def is_fresh(items: Sequence[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether something fresh is new, and no recent injury: "FRESH infiltrate", but "fresh rib fracture"."""
    ahead = items[i + 1 : i + 2]
    if any("earlier_study" in item.senses or item.word in _COMPARED for item in ahead):
        return True  # "an opacity, FRESH AS COMPARED to the old film"
    named = next((item.senses["concept"] for item in items[i + 1 : i + 1 + _NEAR] if "concept" in item.senses), None)
    return named is not None and lexicon.concepts[named].group in lexicon.groups["one_place"]


def is_growth(items: Sequence[Item], i: int, findings: Collection[int]) -> bool:
    """Whether the noun at `i` describes a finding: "ENLARGEMENT of the effusion"."""
    of = [item.word for item in items[i + 1 : i + 2]] == ["of"]
    named = next((k for k in range(i + 2, min(len(items), i + 2 + _NEAR)) if "concept" in items[k].senses), -1)
    return of and named + 1 in findings and not any("quality" in item.senses for item in items[i + 2 : named])


def is_large(items: Sequence[Item]) -> bool:
    """Whether a present size means growth: "the pneumothorax is NOW LARGE"."""
    return any(item.senses.get("severity", 0) >= LARGE and not item.word.endswith("ly") for item in items)
