"""Findings that a pronoun names, at a place of their own: "A SECOND ONE in the lingula", "THAT in the apex".

Such a word stands for the name of the finding before it, in its sentence or in the one before. What only says more of
that finding ("it has grown", "the larger one") is read in `references`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.model import Finding
from rrgmetrics.reading.places import near

PRONOUNS = frozenset({"one", "that", "those", "another"})
OF_TWO = {"former": -2, "latter": -1}
_FURTHER = frozenset({"second", "another", "further", "similar", "additional", "new"})
_LEADING = frozenset({"in", "at", "on", "of", "within", "over", "overlying", "involving", "projecting"})
_PLACE = frozenset({"side", "zone"})
_BEFORE_PLACE = frozenset({"side", "location_preposition"})
_JOINTS = frozenset({"and", "plus", "&", ","})
_PLEURA, _FLUID = "pleura", "pleural_effusion"
NONE, _ONE = "none", frozenset({"one", "another"})
_REACH = 8  # items from a pronoun to its place


def separate_none(items: list[Item]) -> None:
    """Lets "none" before a place deny what is there, and not what is named before, in place."""
    for i in range(1, len(items) - 1):
        joined = items[i - 1].word in _JOINTS or "clause_end" in items[i - 1].senses
        if items[i].word == NONE and joined and items[i + 1].word in _LEADING and _is_inside(items, i + 1):
            items[i] = items[i].saying({"negation_before": "negation_before", "clause_end": "clause_end"})


def _is_inside(items: Sequence[Item], i: int) -> bool:
    """Whether a structure or a zone is behind the preposition at `i`."""
    place = next((item for item in items[i:] if not item.senses.keys() <= _BEFORE_PLACE), None)
    return place is not None and not place.senses.keys().isdisjoint(("structure", "zone"))


def resolve_pronouns(items: Sequence[Item], mentions: list[Mention], lexicon: Lexicon) -> list[Mention]:
    """Returns the mentions of a sentence with those that a pronoun stands for, in the order of the text."""
    more = [each for m in mentions for each in _drained_besides(items, m, lexicon)]
    for i, item in enumerate(items):
        if item.word in OF_TWO:
            more += _one_of_two(items, i, mentions)
        if item.word == NONE and "clause_end" in item.senses:
            more += _none_there(items, i, mentions, lexicon)
        if item.word not in PRONOUNS:
            continue
        named = next((m for m in reversed(mentions) if m.last <= i and not m.denies), None)
        if item.word in _ONE and named is not None and lexicon.concepts[named.concept].is_device:
            more += _further_device(items, i, named, lexicon)  # else its parts: "leads, ONE in the right atrium"
        elif _is_apart(items, i) and _has_place(items, i):
            listed = named is not None and any(
                "count" in each.senses for each in items[max(0, named.first - 3) : named.first]
            )
            if named is not None and not listed and not any(m.first <= i < m.last for m in mentions):
                more.append(_mention(items, i, _named(items, i, named, lexicon), named))
    return sorted([*mentions, *more], key=lambda m: (m.at, m.first)) if more else mentions


def _none_there(items: Sequence[Item], i: int, mentions: Sequence[Mention], lexicon: Lexicon) -> list[Mention]:
    """Returns what is not at another place than the finding before: "pericardial fluid, NONE IN THE PLEURA"."""
    named = next((m for m in reversed(mentions) if m.last <= i and not m.denies), None)
    if named is None:
        return []
    holds = (part for item in items[named.first : named.last] for part in item.senses.get("holds", ()))
    general = _FLUID if "effusion_head" in holds else named.concept
    organs = next(item.senses["structure"] for item in items[i:] if "structure" in item.senses)
    own = general if _PLEURA in organs else named.concept
    name = next((n for organ in organs if (n := lexicon.findings_in.get((general, organ)))), own)
    return [_mention(items, i + 1, name, named)]


def _further_device(items: Sequence[Item], i: int, named: Mention, lexicon: Lexicon) -> list[Mention]:
    """Returns the drain of another place that "one" is: "mediastinal drains and ONE IN THE LEFT PLEURA"."""
    counted = any(item.senses.get("count", 1) != 1 for item in items[max(0, named.first - 3) : named.first])
    general = _general(named.concept, lexicon)
    drains = not lexicon.concepts[named.concept].expected_tip and (general != named.concept or not counted)
    return [_in_the_pleura(items, i, general, named, lexicon)] if drains and _in_pleura(items, i + 1) else []


def _drained_besides(items: Sequence[Item], named: Mention, lexicon: Lexicon) -> list[Mention]:
    """Returns the drain that shares its noun with one of another place: "drains in the mediastinum AND LEFT PLEURA"."""
    joint = items[named.last : named.last + 1]
    if named.denies or not joint or joint[0].word not in _JOINTS or "holds" not in items[named.last - 1].senses:
        return []
    general = _general(named.concept, lexicon)
    if general == named.concept or not _in_pleura(items, named.last + 1):
        return []
    return [_in_the_pleura(items, named.last, general, named, lexicon)]


def _in_the_pleura(items: Sequence[Item], i: int, general: str, named: Mention, lexicon: Lexicon) -> Mention:
    """Returns the mention of a drain, by the name that it has in the pleura."""
    return _mention(items, i, lexicon.findings_in.get((general, _PLEURA), general), named)


def _general(concept: str, lexicon: Lexicon) -> str:
    """Returns the kind of device that a name with a place in it is one of: a mediastinal drain is a drain."""
    parent = lexicon.concepts[concept].parent
    if parent is None or not lexicon.concepts[parent].is_device or lexicon.concepts[parent].parent is None:
        return concept
    return parent


def _in_pleura(items: Sequence[Item], i: int) -> bool:
    """Whether nothing but a place in the pleura is at `i`: "in the left pleural space", "left pleural"."""
    for k in range(i, min(len(items), i + _REACH)):
        if _PLEURA in items[k].senses.get("structure", ()):
            behind = items[k + 1] if k + 1 < len(items) else None
            return behind is None or not behind.senses.keys() & {"concept"}
        if not items[k].senses.keys() & {"side", "location_preposition"} or "concept" in items[k].senses:
            return False
    return False


def _one_of_two(items: Sequence[Item], i: int, mentions: Sequence[Mention]) -> list[Mention]:
    """Returns the mention that takes up one of the two before it: "effusion and edema, THE FORMER larger"."""
    before = {m.at: m for m in mentions if m.last <= i and not m.denies}
    if len(before) < 2 or items[i].senses:
        return []
    named = sorted(before.values(), key=lambda m: m.at)[OF_TWO[items[i].word]]
    return [replace(_mention(items, i, named.concept, named), again=True)]


def pronoun_for(items: Sequence[Item], findings: Sequence[Finding], number: int, lexicon: Lexicon) -> Mention | None:
    """Returns the mention in a sentence without a name that a pronoun makes of the finding before, at another place."""
    before = findings[-1] if findings else None
    if before is None or before.normal or number - before.sentence != 1:
        return None
    named = (i for i, item in enumerate(items[:_REACH]) if item.word in PRONOUNS)
    at = next((i for i in named if _has_place(items, i)), None)
    if at is None or before.count:
        return None
    if not _is_apart(items, at) and _FURTHER.isdisjoint(item.word for item in items[:at]):
        return None
    sides = {item.senses["side"] for item in items if "side" in item.senses}
    zones = frozenset(item.senses["zone"] for item in items if "zone" in item.senses)
    elsewhere = (before.side and sides and sides != {before.side}) or (zones and not near(before.zones, zones, lexicon))
    return _mention(items, at, before.concept, None) if elsewhere else None


def _is_apart(items: Sequence[Item], i: int) -> bool:
    """Whether a pronoun is one of something else: "that IN the apex", "AN OLD one", "the EXISTING one"."""
    behind = items[i + 1].word if i + 1 < len(items) else ""
    if items[i].word == "another":
        return behind in _LEADING or "item_break" in items[min(i + 1, len(items) - 1)].senses
    if items[i].word != "one":
        return behind in _LEADING
    ahead = items[i - 1] if i else None
    described = ahead is not None and bool(
        ahead.senses.keys() & {"severity", "acuity", "change", "ordinal", "morphology"}
    )
    return (
        behind in _LEADING - {"of"}
        or described
        or (ahead is not None and ahead.word in _FURTHER | {"existing", "other"})
    )


def _has_place(items: Sequence[Item], i: int) -> bool:
    for item in items[i + 1 : i + 1 + _REACH]:
        if item.senses.keys() & _PLACE:
            return True
        if "concept" in item.senses or item.word == ";":
            return False
    return False


def _named(items: Sequence[Item], i: int, named: Mention, lexicon: Lexicon) -> str:
    """Returns the concept that a pronoun stands for, at the structure behind it: "an old ONE of the right clavicle"."""
    qualities = [quality for item in items[named.first : named.last] for quality in item.senses.get("quality", ())]
    for item in items[i + 1 : i + 1 + _REACH]:
        for structure in item.senses.get("structure", ()):
            for quality in qualities:
                if (structure, quality) in lexicon.findings_of:
                    return lexicon.findings_of[structure, quality]
        if "concept" in item.senses:
            break
    return named.concept


def _mention(items: Sequence[Item], i: int, concept: str, named: Mention | None) -> Mention:
    items[i].senses = {}
    return Mention(concept, i, i + 1, i, (items[i].first, items[i].last), elided=named)
