"""Findings named by a word that is one only as a noun: "the PRIMARY has shrunk", "a 2 cm SECONDARY in the liver"."""

from __future__ import annotations

from collections.abc import Sequence

from rrgmetrics.reading.lexicon import Lexicon, SmallWords
from rrgmetrics.reading.senses import without
from rrgmetrics.reading.tokens import Item, Token

_DESCRIBED = 3  # items from a comparative to the name behind it
_DESCRIBING = frozenset(
    {
        "side",
        "zone",
        "level",
        "measure",
        "before",
        "severity",
        "change",
        "count",
        "quality",
        "morphology",
        "acuity",
        "negation_before",
        "resolved_before",
        "probable_before",
        "possible_before",
        "item_break",
        "ordinal",
        "several",
        "location_preposition",
    }
)  # senses of the word before a noun
_GOING_ON = frozenset(
    {
        "location_preposition",
        "item_break",
        "change",
        "measure",
        "before",
        "earlier_study",
        "probable_before",
        "possible_before",
        "probable_after",
        "possible_after",
        "negation_after",
        "negation_verb",
        "nothing",
        "clause_end",
        "level",
        "morphology",
    }
)  # senses of the word behind it
_BEFORE = frozenset(
    {"known", "biggest", "largest", "dominant", "index", "further", "other", "another", "more", "of", "s"}
)
_BEHIND = frozenset(
    {
        "measuring",
        "measure",
        "measured",
        "of",
        "in",
        "at",
        "from",
        "which",
        "that",
        "now",
        "was",
        "were",
        "is",
        "are",
        "has",
        "have",
        "then",
    }
)
_NEVER_BEHIND = frozenset({"to"})  # "SECONDARY TO a fall"


ASPECTS = frozenset(
    "size shape form position contour outline caliber volume density attenuation lucency radiolucency".split()
)
UNITS_OF_DENSITY = frozenset({"hu", "hounsfield"})
_DENSITIES = frozenset({"density", "attenuation"})
_TO_UNIT = 8  # items from a density to its unit
_OWNER = 6  # items from a shadow to what it is the shadow of
CHOSEN = frozenset({"index", "dominant", "largest", "biggest", "target", "reference", "bulkiest", "smallest", "main"})


def name_nouns(items: Sequence[Item], lexicon: Lexicon) -> None:
    """Gives words that are findings only as nouns their sense where they are, and none where they are not, in place."""
    for i, item in enumerate(items):
        concept = item.senses.get("noun")
        if concept is None:
            continue
        senses = without(item.senses, "noun")
        if _is_noun(items, i, concept not in lexicon.roles["history"], lexicon.small):
            senses = {**senses, "concept": concept}
        item.senses = senses


def drop_outlines(items: Sequence[Item]) -> None:
    """Takes the shadow of what is named beside it for no structure of its own, in place: "the SHADOW of the hila"."""
    for i, item in enumerate(items):
        if "shadow" in item.senses.get("structure", ()) and _is_outline(items, i):
            item.senses = {}


def _is_outline(items: Sequence[Item], i: int) -> bool:
    """Whether the shadow at `i` is that of what is named beside it: "CAVITY shadow", "the shadow OF THE HILA"."""
    if i and "concept" in items[i - 1].senses and "quality" not in items[i - 1].senses:
        return True
    behind = items[i + 1 : i + _OWNER]
    if not behind or behind[0].word != "of":
        return False
    owner = next((each.senses["structure"] for each in behind if "structure" in each.senses), ("lung",))
    return "lung" not in owner


def drop_normal_aspects(items: Sequence[Item], small: SmallWords) -> None:
    """Takes what is normal of an organ for no finding, in place: "hila normal in size and DENSITY"."""
    for i, item in enumerate(items):
        if "normal" in item.senses.get("quality", ()):
            behind = i + 1
            while _is_aspect(items, behind, small):
                items[behind + 1].senses = {}
                behind += 2


def _is_aspect(items: Sequence[Item], i: int, small: SmallWords) -> bool:
    """Whether an aspect of an organ follows at `i`: "IN SIZE", "AND density"."""
    leads = i + 1 < len(items) and (items[i].word in ("in", "of") or items[i].word in small.joints)
    return leads and items[i + 1].word in ASPECTS


def drop_measured_densities(items: Sequence[Item]) -> None:
    """Takes a density that is measured for no finding of its own, in place: "effusion, DENSITY of 15 HU"."""
    for i, item in enumerate(items):
        if item.word in UNITS_OF_DENSITY:
            start = max(0, i - _TO_UNIT)
            at = next((k for k in range(i - 1, start - 1, -1) if items[k].word in _DENSITIES), i)
            if not any("concept" in each.senses for each in items[at + 1 : i]):
                items[at].senses = {}


def drop_larger_of_several(items: Sequence[Item], tokens: Sequence[Token], lexicon: Lexicon) -> None:
    """Takes what sets lesions against others for no change, in place: "hilar nodes, THE LARGER", "SMALLER nodules"."""
    small = lexicon.small
    dating = small.dates | {"than"}
    changes = [item for item in items if item.word in dating or item.senses.keys() & {"change", "earlier_study"}]
    for i, item in enumerate(items):
        if item.word in small.comparatives and "change" in item.senses:
            definite = i > 0 and items[i - 1].word in small.definite
            if definite or (changes == [item] and _names_lesions(items[i + 1 : i + 1 + _DESCRIBED], tokens, lexicon)):
                item.senses = without(item.senses, "change", "quality")


def _names_lesions(items: Sequence[Item], tokens: Sequence[Token], lexicon: Lexicon) -> bool:
    """Whether items begin with the name of several lesions: "satellite NODULES"."""
    name = next((item for item in items if not item.senses or "concept" in item.senses), None)
    lesions = lexicon.roles["one_by_one"]
    return name is not None and name.senses.get("concept") in lesions and tokens[name.last - 1].is_plural


def drop_chosen_lesions(items: Sequence[Item], lexicon: Lexicon) -> None:
    """Takes one of several for no lesion of its own, in place: "metastases, THE INDEX LESION in the right base"."""
    several, lesions = False, lexicon.roles["one_by_one"]
    for i, item in enumerate(items):
        if item.senses.get("concept") not in lesions:
            continue
        ahead = [each.word for each in items[max(0, i - 2) : i]]
        if several and not CHOSEN.isdisjoint(ahead) and lexicon.small.indefinite.isdisjoint(ahead):
            item.senses = {}
        several = True


def _is_noun(items: Sequence[Item], i: int, in_organ: bool, small: SmallWords) -> bool:
    """Whether the word at `i` ends a noun phrase: what is beside it describes it or continues without it.

    A "breast primary" is where it comes from, an "adrenal deposit" where it lies.
    """
    before, behind = items[i - 1] if i else None, items[i + 1] if i + 1 < len(items) else None
    if before is not None and not (
        before.word[0].isdigit()
        or not before.word.isalnum()
        or before.word in small.separators | small.definite | small.indefinite | small.verbs | small.degrees | _BEFORE
        or not _DESCRIBING.isdisjoint(before.senses)
        or (in_organ and "structure" in before.senses)
    ):
        return False
    if behind is None or not behind.word[0].isalpha():
        return True
    if behind.word in _NEVER_BEHIND or "concept" in behind.senses:
        return False
    closing = behind.word in small.separators | small.verbs | small.earlier | small.relative | _BEHIND
    placed = "side" in behind.senses or "zone" in behind.senses
    return closing or placed or not _GOING_ON.isdisjoint(behind.senses)
