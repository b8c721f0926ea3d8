"""What a quality describes: the subject of a verb, the finding before it, or a place behind it.

"The heart is mildly ENLARGED" has its structure before the quality, "ENLARGED heart" behind it. Each function looks at
one quality (the item at `q`) of a sentence; `composition` decides by them where to look.
"""

from __future__ import annotations

from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.tokens import Item

_PIECES = frozenset({"fragment", "piece"})
_HOLDING = frozenset({"with", "containing", "contain"})
_HELD = 7  # items from "with" to the noun
_LOOK = frozenset({"measure", "quality"})
_ATTRIBUTES = frozenset({"side", "zone", "severity", "change", "acuity", "morphology", "structure"})


def meaning(item: Item, qualities: tuple[str, ...], lexicon: Lexicon) -> tuple[str | None, tuple[str, ...]]:
    """Returns the finding a structure with a quality makes, or what it denies if it is normal."""
    for structure in (*item.senses.get("structure", ()), *item.senses.get("holds", ())):
        for quality in qualities:
            concept = lexicon.findings_of.get((structure, quality))
            if concept:
                return concept, ()
            denies = lexicon.denials.get((structure, quality))
            if denies:
                return None, denies
    return None, ()


def sharing(items: list[Item], q: int, qualities: tuple[str, ...], lexicon: Lexicon) -> str | None:
    """Returns what a noun means that shares the adjective before "and": "AORTIC calcification and mild TORTUOSITY"."""
    joints = lexicon.small.joints - {"nor", ","}
    at = next((k for k in reversed(range(q)) if "severity" not in items[k].senses and items[k].word not in joints), -1)
    if at < 0 or not any(item.word in joints for item in items[at:q]):
        return None
    alike = ((structure, quality) for structure in items[at].senses.get("about", ()) for quality in qualities)
    return next(filter(None, map(lexicon.findings_of.get, alike)), None)


def suits(item: Item, qualities: tuple[str, ...], lexicon: Lexicon) -> bool:
    """Whether the qualities can describe this structure: a heart can be enlarged, a bone cannot."""
    if "structure" not in item.senses and "holds" not in item.senses:
        return False
    concept, denies = meaning(item, qualities, lexicon)
    return bool(concept or denies)


def is_predicate(items: list[Item], q: int, lexicon: Lexicon) -> bool:
    """Whether a verb is before the quality: "the heart is mildly ENLARGED"."""
    for item in reversed(items[max(0, q - 4) : q]):
        if item.word == "with" or item.word in lexicon.small.showing:
            return False  # "the heart is stable WITH ectasia of the aorta", "the bones SHOW a fracture of the rib"
        if "item_break" in item.senses:
            return True
        if item.word in lexicon.small.joints or item.senses.keys() & {"structure", "concept"}:
            return False
        if "quality" in item.senses and "severity" not in item.senses:
            return False
    return False


def is_placed(items: list[Item], q: int, qualities: tuple[str, ...], lexicon: Lexicon) -> bool:
    """Whether a quality is between its structure and a place: "pacing wire FRACTURED near the clavicle"."""
    ahead = items[q + 1 : q + 2]
    placed = bool(ahead) and "location_preposition" in ahead[0].senses and ahead[0].word not in ("of", "the")
    return placed and q > 0 and suits(items[q - 1], qualities, lexicon)


def is_terse(items: list[Item], q: int, lexicon: Lexicon) -> bool:
    """Whether a quality follows its structure without a verb: "spleen ENLARGED, ribs intact"."""
    before = next((k for k in reversed(range(q)) if items[k].senses.keys() != {"severity"}), None)
    parted = q + 1 < len(items) and items[q + 1].word == ","
    return parted and before is not None and suits(items[before], items[q].senses["quality"], lexicon)


def is_attributive(items: list[Item], q: int) -> bool:
    """Whether the quality only describes the finding right after it ("Heart: LARGE pericardial effusion")."""
    if q and "severity" in items[q].senses and items[q - 1].word == "a":
        return True  # "low volumes with A SMALL area of atelectasis"
    for item in items[q + 1 : q + 4]:
        if "concept" in item.senses:
            return "quality" not in item.senses
        if not item.senses or not item.senses.keys() <= _ATTRIBUTES:
            return False
    return False


def is_of_new_noun(items: list[Item], q: int, lexicon: Lexicon) -> bool:
    """Whether an article and a finding enclose a quality, which is then the finding's: "and A SMOOTH 8 mm NODULE"."""
    article = next((k for k in reversed(range(max(0, q - 3), q)) if items[k].word in lexicon.small.indefinite), -1)
    if article < 0 or any("item_break" in item.senses for item in items[article:q]):
        return False
    for item in items[q + 1 :]:
        if "concept" in item.senses:
            return True
        if not item.senses or not item.senses.keys() <= _ATTRIBUTES - {"structure"} | _LOOK:
            return False
    return False


def holder(items: list[Item], q: int, qualities: tuple[str, ...], lexicon: Lexicon) -> int | None:
    """Returns the organ that has the lesion at `q` in it: "ADRENAL WITH a 15 mm nodule, enlarged spleen"."""
    noun = next((item.senses["concept"] for item in items[q : q + 2] if "concept" in item.senses), None)
    if noun not in lexicon.roles["unplaced"] and "lesioned" not in qualities:
        return None
    for k in range(q - 1, max(0, q - _HELD), -1):
        if items[k].word in _HOLDING:
            organ = items[k - 1].senses.get("structure")
            held = organ and lexicon.elsewhere.issuperset(organ) and suits(items[k - 1], qualities, lexicon)
            return k - 1 if held else None
        plain = items[k].word in lexicon.small.indefinite or items[k].word[0].isdigit()
        if not plain and not (items[k].senses and items[k].senses.keys() <= _ATTRIBUTES - {"structure"} | _LOOK):
            return None
    return None


def is_of_finding(items: list[Item], q: int, lexicon: Lexicon) -> bool:
    """Whether a finding is before the quality in its clause, which it may describe.

    "Pleural fluid, slight last time, is now MASSIVE": a verb joins it to what is before the commas.
    """
    ends = lexicon.small.separators - {","} if is_predicate(items, q, lexicon) else lexicon.small.separators
    first = next((i for i in range(q, -1, -1) if items[i].word in ends or "clause_end" in items[i].senses), 0)
    return any("concept" in item.senses for item in items[first:q])


def is_hidden_by_finding(items: list[Item], q: int, lexicon: Lexicon) -> bool:
    """Whether a finding is before the word for hiding: "CONSOLIDATION obscures the heart border"."""
    before = (item for item in reversed(items[:q]) if not item.senses.keys().isdisjoint({"concept", "clause_end"}))
    nearest = next(before, None)
    return nearest is not None and "concept" in nearest.senses and not is_device(nearest, lexicon)


def is_said_of_another(items: list[Item], q: int, lexicon: Lexicon) -> bool:
    """Whether a quality describes the place behind it: "a nodule at the pleura, gas IN THE COLON"."""
    ahead = items[q + 1 : q + 6]
    if not ahead or ahead[0].word not in lexicon.small.places:
        return False
    if any(item.word in _PIECES for item in ahead):
        return True  # "displacement OF THE MEDIAL FRAGMENT"
    place = next((item for item in ahead[1:] if item.senses.keys() - {"side", "location_preposition"}), None)
    return place is not None and "structure" in place.senses and "zone" not in place.senses


def is_device(item: Item, lexicon: Lexicon) -> bool:
    """Whether the item names a device."""
    concept = item.senses.get("concept")
    return concept is not None and lexicon.concepts[concept].is_device
