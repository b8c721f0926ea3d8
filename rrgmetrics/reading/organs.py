"""A lesion is called after the organ that it lies in: "a nodule OF THE LEFT ADRENAL", "a deposit IN THE SIXTH RIB".

Which lesion makes what of which organ is data (`found_in` of the concept files).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon

_ASIDE = frozenset(
    {"side", "measure", "before", "severity", "morphology", "change", "count", "acuity", "level", "ordinal", "several"}
)  # between a lesion and its organ
THERE = frozenset({"there"})
_INSIDE = frozenset({"in", "within", "inside"})
_PLACE_SENSES = frozenset(
    {"side", "zone", "structure", "level", "ordinal", "location_preposition", "tip", "holds", "inside"}
)
_IN = frozenset({"in", "within", "inside", "of", "at", "involving", "throughout", "along"})
_CONTAINING = frozenset({"contain", "containing", "hold", "holding"})
_HOLDING = _CONTAINING | frozenset({"has", "show", "showing", "harbor", "harboring", "bear", "bearing"})
_WITH = frozenset({"with", "by"})
_HOLDING_FLUID = frozenset({"pleura", "heart_and_vessels"})  # files of findings beside which fluid is an effusion
_SOME = frozenset({"some", "more", "much", "retained"})
_PARTING = frozenset({";", ":", "."})
_SAID_OF = frozenset({"in", "within", "inside", "of"})
_AROUND = _SAID_OF | {"around", "surround", "surrounding", "between", "surrounded"}
_LEVELS = frozenset({"level", "height", "region", "projection"})  # "at the LEVEL of the fifth rib" is not in it
_COMPARED = frozenset({"lower", "higher"})  # "LOWER density" is no place
_NOUNS = frozenset({"opacity_head", "effusion_head", "nodule_head", "mass_head", "granuloma_head"})  # no organs
_CALLED = frozenset({"probable_before", "possible_before", "item_break"})  # from a lesion to what it is
_JOINING = frozenset({",", "of", "with"})  # between them, too
_REACH = 8  # items from a lesion to its organ
_FAR = 12  # items from a noun, over verbs and articles, to the organ that it is said of
_LOOKS = frozenset(
    {
        "hypodense",
        "hypoattenuating",
        "hyperdense",
        "enhancing",
        "enhancement",
        "peripheral",
        "central",
        "hypervascular",
        "cystic",
        "solid",
        "focal",
        "necrotic",
        "indeterminate",
        "subcentimeter",
        "rounded",
        "further",
        "solitary",
        "single",
    }
)  # what a lesion of an organ looks like
_PARTS = frozenset({"body", "head", "blade", "lobe", "limb", "part", "aspect", "segment", "pole", "gland"})


def turn_place_first(items: list[Item]) -> None:
    """Takes an organ ahead of "there is" for the subject, in place: "IN THE LIVER THERE IS a cyst"."""
    start = 0
    for i, item in enumerate(items):
        ahead = items[start:i]
        if item.word in THERE and "clause_end" in item.senses and _is_place(ahead):
            for k, place in enumerate(ahead, start):
                if "structure" not in place.senses and "holds" in place.senses:
                    items[k] = place.saying({**place.senses, "structure": place.senses["holds"]})
            items[i] = Item(item.first, item.last, {"item_break": "item_break"}, "show")
        if item.word in _PARTING or item.word == "," or "clause_end" in item.senses:
            start = i + 1


def _is_place(ahead: Sequence[Item]) -> bool:
    """Whether words are a preposition and a place, and nothing else: "in the left lobe of the thyroid"."""
    if not ahead or ahead[0].word not in _INSIDE:
        return False
    senses = {sense for item in ahead for sense in item.senses}
    return senses <= _PLACE_SENSES and not senses.isdisjoint({"structure", "holds"})


def name_in_organs(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> list[Mention]:
    """Returns the mentions, each lesion under the name that it has in its organ."""
    named: list[Mention] = []
    for mention in mentions:
        organs = () if mention.denies or mention.elided else _organs_of(items, mention, named, lexicon)
        found = (lexicon.findings_in.get((mention.concept, organ)) for organ in organs)
        name = next((each for each in found if each), None)
        if not name and not mention.elided and mention.concept in lexicon.roles["unplaced"]:
            if _is_look(items, mention, lexicon) or _is_held(items, mention, lexicon):
                continue
            organ = _organ_said_of(items, mention, lexicon) or _organ_of_lesion(items, mention, named, lexicon)
            is_quality = mention.last < len(items) and items[mention.last].word == "of"  # "the density OF the skin"
            is_quality = is_quality and mention.concept in lexicon.roles["describing"]
            name = (
                None
                if is_quality
                else next((n for each in organ if (n := lexicon.findings_in.get((mention.concept, each)))), None)
            )
            lesion = mention.concept in lexicon.roles["one_by_one"]
            if organ and not name and not lesion and lexicon.elsewhere.issuperset(organ):
                continue
        mention.concept = name or mention.concept
        named.append(mention)
    lesions = [m for m in named if not m.denies and m.last - m.first == 1 and m.concept in lexicon.roles["one_by_one"]]
    return [mention for mention in named if not _moves(items, mention, lesions)]


def _organs_of(items: list[Item], mention: Mention, before: list[Mention], lexicon: Lexicon) -> Iterator[str]:
    """Yields the organs that a lesion may lie in, last that of what it explains: "SPLENIC defect, likely INFARCT"."""
    yield from _organs(items, mention, lexicon)
    yield from _organ_of_lesion(items, mention, before, lexicon)


def _is_look(items: list[Item], mention: Mention, lexicon: Lexicon) -> bool:
    """Whether a bare noun ends a list of how an organ looks: "natural CONTOURS AND DENSITY"."""
    ends = mention.last == len(items) or items[mention.last].word in lexicon.small.separators
    joint = next((k for k in reversed(range(mention.first)) if "quality" not in items[k].senses), 0)
    listed = items[joint].word == "and" and items[joint - 1].word in lexicon.small.looks
    return ends and joint > 0 and listed and mention.tokens[1] - mention.tokens[0] == 1


def _is_held(items: list[Item], mention: Mention, lexicon: Lexicon) -> bool:
    """Whether bare fluid is only what an organ or a finding contains: "hernia CONTAINING FLUID"."""
    if items[mention.at].word != "fluid" or mention.last - mention.first > 1:
        return False
    led = mention.first - 1
    while led > 0 and (_is_aside(items[led], lexicon) or items[led].word in _SOME):
        led -= 1
    holding = items[led].word in _CONTAINING
    if led < 1 or not (holding or items[led].word in _WITH):
        return False
    for item in reversed(items[max(0, led - _REACH) : led]):
        places = {*item.senses.get("structure", ()), *item.senses.get("holds", ())}
        if places & lexicon.elsewhere:
            return True
        if "concept" in item.senses:
            return holding and lexicon.concepts[item.senses["concept"]].group not in _HOLDING_FLUID
        if "pleura" in places or item.word in _PARTING or "clause_end" in item.senses:
            return False
    return False


def _organ_said_of(items: list[Item], mention: Mention, lexicon: Lexicon) -> Sequence[str]:
    """Returns the organ that a noun of any organ is said of; () if none is named.

    "The DENSITY of the liver", "EFFUSION is seen around the spleen", "the pancreas shows lower DENSITY".
    """
    own = items[mention.at].senses
    if not _NOUNS.issuperset((*own.get("about", ()), *own.get("holds", ()))):
        return ()  # "PLEURAL fluid around the liver"
    led = False
    for i in range(mention.last, min(len(items), mention.last + _FAR)):
        if _ends_place(items, i, lexicon):
            break
        led = led or items[i].word in _AROUND
        if not led and "location_preposition" in items[i].senses and items[i].word not in lexicon.small.definite:
            return ()  # "a nodule OVER the end of the rib"
        places = _places(items[i])
        if places and not any(item.word == "of" for item in items[i + 1 : i + 3]):
            return places if led else ()  # not the LOWER pole of the kidney
    for k in range(mention.first - 1, max(0, mention.first - _REACH) - 1, -1):
        places = _places(items[k]) if items[k].word not in _COMPARED else ()
        if not _is_fronted(items[:k], items[k].word, lexicon) and (
            items[k].word in lexicon.small.separators or _ends_place(items, k, lexicon)
        ):
            break
        if places:
            ahead = items[k - 1] if k and items[k - 1].word not in lexicon.small.definite else items[max(0, k - 2)]
            near = k and "location_preposition" in ahead.senses and ahead.word not in _SAID_OF | lexicon.small.definite
            return () if near else places
    return ()


def _is_fronted(before: list[Item], word: str, lexicon: Lexicon) -> bool:
    """Whether a comma ends a place at the beginning of a sentence: "IN BOTH BREASTS, densities are seen"."""
    if word != "," or not before or before[0].word not in _SAID_OF:
        return False
    return not any(
        item.word in lexicon.small.separators or item.senses.keys() & {"concept", "item_break"} for item in before
    )


def _organ_of_lesion(items: list[Item], mention: Mention, before: Sequence[Mention], lexicon: Lexicon) -> Sequence[str]:
    """Returns the organ of the lesion before that is called so: "the LIVER LESION of 2 cm is probably a CYST"."""
    lesion = next((each for each in reversed(before) if each.first < mention.first and not each.denies), None)
    if lesion is None:
        return ()
    for item, then in pairwise(items[max(lesion.last, lesion.at + 1) : mention.first + 1]):
        called = item.senses.keys() & _CALLED or item.word in lexicon.small.verbs | lexicon.small.indefinite
        joins = item.word in _JOINING or (item.word == "and" and then.senses.keys() & _CALLED)
        if not joins and not called and not _is_aside(item, lexicon):
            return ()
    organs = (organ for (_, organ), name in lexicon.findings_in.items() if name == lesion.concept)
    return [organ for organ in organs if organ in lexicon.elsewhere]


def _ends_place(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether another statement begins at `i`; "density AND CONTOUR of the spleen" continues."""
    item = items[i]
    if "concept" in item.senses:
        joined = i > 0 and items[i - 1].word == "and"  # "density and STRANDING in the fat"
        return not joined or lexicon.concepts[item.senses["concept"]].group in lexicon.groups["one_place"]
    if item.word in lexicon.small.causing | _LEVELS or "clause_end" in item.senses:
        return True
    behind = items[i + 1 : i + 3]
    goes_on = item.word == "and" and any(each.word == "of" or "concept" in each.senses for each in behind)
    return item.word in lexicon.small.separators and item.word != "," and not goes_on


def _places(item: Item) -> tuple[str, ...]:
    """Returns the structures of an item, its place if it names none."""
    senses = item.senses
    zones = (senses["zone"],) if "zone" in senses else ()
    return senses.get("structure", ()) or zones


def _moves(items: list[Item], mention: Mention, lesions: list[Mention]) -> bool:
    """Whether a change of a structure is that of the lesion in it: "the lower lobe METASTASIS HAS SHRUNK"."""
    if mention.denies or "change" not in items[mention.at].senses:
        return False
    return any(mention.first < lesion.first < mention.at for lesion in lesions)


def _organs(items: list[Item], mention: Mention, lexicon: Lexicon) -> Iterator[str]:
    """Yields the structures of the place right before and right behind a mention."""
    placed = mention.first > 0 and "zone" in items[mention.first - 1].senses
    for k in range(mention.first - 1, max(-1, mention.first - 1 - _REACH), -1):
        item = items[k]
        if "structure" in item.senses and "concept" not in item.senses:
            yield from item.senses["structure"]
            break
        if "negation_before" in item.senses and item.word == "without":
            continue  # "skeleton WITHOUT deposits"
        if not _is_aside(item, lexicon) and item.word not in _HOLDING and item.word != ":":
            break
    led = False
    for k in range(mention.last, min(len(items), mention.last + _REACH)):
        item = items[k]
        comma = item.word == "," and not led and k + 1 < len(items) and "side" in items[k + 1].senses
        if "structure" in item.senses and "concept" not in item.senses:
            if led:
                yield from item.senses["structure"]
            break
        if item.word in _IN and "tip" in item.senses:
            yield from item.senses.get("holds", ())  # "IN THE LIVER", where a line ends
            break
        if item.word == "at" and placed:
            break  # "paraspinal deposit AT T8"
        if item.word in _IN or comma:
            led = True
        elif not _is_aside(item, lexicon):
            break


def _is_aside(item: Item, lexicon: Lexicon) -> bool:
    """Whether an item may be between a lesion and its organ."""
    small = lexicon.small
    if item.word in small.definite | small.indefinite | _PARTS | _LOOKS or item.word[0].isdigit():
        return True
    return bool(item.senses) and item.senses.keys() <= _ASIDE
