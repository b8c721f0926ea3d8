"""What lies in a lesion makes it another one: "a cavity WITHIN the nodule", "a mass CONTAINING calcification".

Which part makes what of which lesion is data (`found_in` of the concept files). What is denied of a lesion makes
nothing of it: "no cavity in the mass".
"""

from __future__ import annotations

from itertools import pairwise

from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon

_INSIDE = frozenset({"in", "within", "inside", "of", "from"})
_HOLDING = frozenset(
    {"with", "contain", "containing", "has", "show", "showing", "demonstrate", "demonstrating", "undergone"}
)
_CALCIUM, _CALCIUM_WORDS = "calcification", frozenset({"calcification", "calcium"})
_DESCRIBED = frozenset({"punctate", "coarse", "millimetric"})  # first words of "coarse calcification"
_CALCIFIED, _MASS, _NODE = ("calcified",), "mass_head", "lymph_node"
_ENDS, _LIST_ENDS = frozenset({";", "and", "."}), frozenset({";", "."})  # another statement begins
_PARTED = frozenset({"negation_before", "negation_verb", "clause_end", "negation_after", "possible_before"})


def merge_parts(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> list[Mention]:
    """Returns the mentions, with a lesion and what lies in it as one where the lexicon has a name for both."""
    merged = list(mentions)
    for a, b in pairwise(mentions):
        if a in merged and _is_part_of(items, a, b, lexicon):
            merged.remove(a)
            continue
        name = _name(items, a, b, lexicon)
        if name and a in merged and b in merged:
            tokens = (items[a.first].first, items[b.last - 1].last)
            merged[merged.index(a)] = Mention(name, a.first, b.last, a.first, tokens)
            merged.remove(b)
    return merged


def keep_calcium_in_lesions(items: list[Item], lexicon: Lexicon) -> None:
    """Takes calcification that a lesion holds from the organ around it, in place: "a hilar mass WITH CALCIFICATION".

    Where the lexicon has a name for both, as for calcified nodules and nodes, one finding is made of them elsewhere.
    "Coarse calcification" only describes the lesion.
    """
    for i, item in enumerate(items):
        calcified = item.word in _CALCIUM_WORDS | _DESCRIBED and item.senses.get("quality") == _CALCIFIED
        lesion = _lesion_holding(items, i) if calcified else None
        concept = lesion.senses.get("concept") if lesion is not None else None
        if lesion is None or concept is None or (_CALCIUM, concept) in lexicon.findings_in:
            continue
        nouns = (*lesion.senses.get("holds", ()), *lesion.senses.get("about", ()))
        one = {concept, *lexicon.concepts[concept].ancestors} & lexicon.roles["one_by_one"] or _MASS in nouns
        if one and _NODE not in nouns:
            items[i] = item.saying({"morphology": "calcified"} if item.word in _DESCRIBED else {"concept": _CALCIUM})


def _lesion_holding(items: list[Item], i: int) -> Item | None:
    """Returns the finding before the part at `i`, if "with" or "containing" leads to that or its list; None otherwise.

    "A mass WITH areas of necrosis and CALCIFICATION"
    """
    if any(item.word in _INSIDE for item in items[i + 1 : i + 2]):
        return None
    led = False
    for item in reversed(items[:i]):
        if "concept" in item.senses:
            return item if led else None
        if not item.senses.keys().isdisjoint(_PARTED) or item.word in (_ENDS if led else _LIST_ENDS):
            return None
        if "structure" in item.senses and "zone" not in item.senses and not led:
            return None
        led = led or item.word in _HOLDING
    return None


def _is_part_of(items: list[Item], a: Mention, b: Mention, lexicon: Lexicon) -> bool:
    """Whether a device is only a part of the next: "the GENERATOR OF a dual lead pacemaker"."""
    if a.denies or b.denies or b.concept not in {*lexicon.concepts[a.concept].same_as, a.concept}:
        return False
    between = items[a.last : b.first]
    return lexicon.concepts[a.concept].is_device and bool(between) and between[0].word == "of"


def _name(items: list[Item], a: Mention, b: Mention, lexicon: Lexicon) -> str | None:
    """Returns what the part and the lesion are called together; None if neither mention lies in the other."""
    within = lexicon.findings_in.get((a.concept, b.concept))
    holding = lexicon.findings_in.get((b.concept, a.concept))
    if not (within or holding) or any("negation_before" in item.senses for item in items[: b.first]):
        return None
    between = items[a.last : b.first]
    led = bool(between) and between[-1].word in ("with", "containing")  # "a mass, 5 cm, WITH cavitation"
    parting = lexicon.small.separators - ({"with", ","} if led else {"with"})
    if any(item.word in parting or item.senses.keys() & _PARTED for item in between):
        return None
    if within and between and "morphology" in items[a.first].senses and all(_is_plain_place(i) for i in between):
        return within  # "CAVITATING right upper lobe DEPOSIT"
    links = [k for k, item in enumerate(between) if item.word in _INSIDE | _HOLDING] or [0]
    link = next((k for k in reversed(links) if between[k : k + 1] and between[k].word != "of"), links[-1])
    words = {item.word for item in between[link : link + 1]}
    if within and not words.isdisjoint(_INSIDE):
        return within
    if not holding or words.isdisjoint(_HOLDING):
        return None
    for k in range(a.last + link, b.first):
        items[k] = items[k].without("zone")  # "with CENTRAL cavitation" is no place in the lung
    return holding


def _is_plain_place(item: Item) -> bool:
    return bool(item.senses) and item.senses.keys() <= {"side", "zone", "structure", "measure"}
