"""Words of normality that no list has: "of habitual aspect", "without pathological alterations", "nothing relevant".

Two rules make them. A word for the usual with a word for how something looks is "normal" ("of ORDINARY SIZE"); so is a
denied word for an alteration that names no finding ("without relevant ALTERATIONS").
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from rrgmetrics.reading.dates import is_date
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.senses import Senses
from rrgmetrics.reading.tokens import Item, Token

_ADJECTIVES = 4  # items between a denial and the alteration that it denies
_NORMAL: Senses = {"quality": ("normal",)}
_LUCENT = ("lucent",)
_ENDS = frozenset({"clause_end", "negation_before"})
_NAMING = frozenset({"concept", "quality", "morphology", "lone", "listed"})
_DEGREES = frozenset({"severity", "acuity", "quality"})  # senses of "significant", "acute", "focal"
_OTHER = frozenset(
    {"other", "further", "additional", "new", "interval", "more"}
)  # they compare, or go on from a finding
_OF_NOTE = frozenset({"note", "significance", "relevance", "importance", "value", "interest"})
_CHANGE = "change"
_PLACED = frozenset({"location_preposition", "structure", "side", "item_break"})


def read_normal_structures(items: list[Item], tokens: Sequence[Token], lexicon: Lexicon) -> None:
    """Takes words that say that a structure is as it should be for the quality "normal", in place."""
    small, looks = lexicon.small, lexicon.roles["look"]
    for i, item in enumerate(items):
        if not item.senses:
            if item.word in small.ordinary and i + 1 < len(items) and items[i + 1].word in small.looks:
                items[i] = item.saying(_NORMAL)
        elif item.senses.get("concept") in looks or item.senses.get("quality") == _LUCENT:
            _tell_lucent(items, i, lexicon)
        elif item.senses.get("change") == "stable" and _is_no_change(items, i, tokens, lexicon):
            items[i] = item.saying(_NORMAL)
        elif "negation_before" in item.senses:
            at = _altered(items, i, lexicon)
            if at and not _goes_on(items, at):
                items[i], items[at] = item.saying({}), items[at].saying(_NORMAL)


def _tell_lucent(items: list[Item], i: int, lexicon: Lexicon) -> None:
    """Takes the lucency at `i` for a look of the lung, no finding, if it is normal: "lungs of normal LUCENCY"."""
    if i and items[i - 1].word in lexicon.small.ordinary and not items[i - 1].senses:
        items[i - 1] = items[i - 1].saying(_NORMAL)
    first = i - 2 if i > 1 and "location_preposition" in items[i - 1].senses else i - 1
    own = list(takewhile(lambda each: each.word not in lexicon.small.separators, items[i + 1 :]))
    at = next((k for k, each in enumerate(own) if each.senses.keys() - _PLACED), 0)
    is_of_one = sum("structure" in each.senses for each in own[:at]) < 2  # but "lucency of the lung HEART normal"
    judged = [*items[max(0, first) : i], *(own[at : at + 1] if is_of_one else [])]
    if any(each.senses.get("quality") == _NORMAL["quality"] for each in judged):
        items[i] = items[i].saying({})


def _altered(items: Sequence[Item], i: int, lexicon: Lexicon) -> int:
    """Returns the alteration that the denial at `i` denies, 0 if it denies something that has a name."""
    for k in range(i + 1, min(len(items), i + 2 + _ADJECTIVES)):
        word, senses = items[k].word, items[k].senses
        if word in lexicon.small.alterations and "concept" not in senses:
            return k
        if word in _OTHER or (word in lexicon.small.separators and word != "or") or senses.keys() - _DEGREES:
            break
    return 0


def _goes_on(items: Sequence[Item], at: int) -> bool:
    """Whether the denial of an alteration continues to a finding: "no changes OF EDEMA", "no lesions, NODULES"."""
    for item in items[at + 1 :]:
        if not item.senses.keys().isdisjoint(_ENDS) or item.word == ";":
            return False
        if not item.senses.keys().isdisjoint(_NAMING) and item.senses.get("quality") != ("normal",):
            return True
        if "earlier_study" in item.senses or item.word in ("since", "compared"):
            return True
    return False


def _is_no_change(items: Sequence[Item], i: int, tokens: Sequence[Token], lexicon: Lexicon) -> bool:
    """Whether changes are denied that are alterations, and no course: "a chest WITHOUT CHANGES", "... of note".

    "No significant change" compares with an earlier film, as "no INTERVAL changes" do.
    """
    small = lexicon.small
    words = [token.word for token in tokens[items[i].first : items[i].last]]
    if words[-1] != _CHANGE or not tokens[items[i].last - 1].is_plural or not _OTHER.isdisjoint(words):
        return False
    if any("earlier_study" in each.senses or each.word in small.dates or is_date(each, small) for each in items):
        return False
    of_note = any(each.word in _OF_NOTE for each in items[i + 1 : i + 4])
    before = [
        each for each in items[:i] if each.senses.keys() - {"location_preposition"} or each.word not in small.definite
    ]
    behind_organ = bool(before) and any("structure" in each.senses for each in before[-2:])
    return of_note or (behind_organ and words[0] == "without")


def calls_normal(items: Sequence[Item], chest: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether a sentence calls the chest, an organ or the film normal: "The thorax is as usual."."""
    small = lexicon.small
    named = any("structure" in item.senses or item.word in chest or item.word in small.films for item in items)
    denied = any("negation_before" in item.senses or item.word in ("nothing", "nil") for item in items)
    return named and any(
        item.word in small.ordinary or (denied and item.word in small.alterations | small.remarkable) for item in items
    )
