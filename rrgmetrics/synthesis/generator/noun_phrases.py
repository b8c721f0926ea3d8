"""Facts in words: the noun phrases that sentence templates are filled with."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import NamedTuple

from rrgmetrics.synthesis.generator.draws import pick
from rrgmetrics.synthesis.generator.english import article, head_of, is_plural, plural_of, surface, words
from rrgmetrics.synthesis.generator.knowledge import RETROCARDIAC, Told, inside, knowledge
from rrgmetrics.synthesis.generator.studies import Fact

_ATTRIBUTES = frozenset({"side", "severity", "acuity", "change", "route", "position"})


class Phrase(NamedTuple):
    """A noun phrase without article, and how it behaves."""

    words: str
    plural: bool
    counted: bool

    def indefinite(self) -> str:
        """Returns the phrase with "a" or "an" where one is due."""
        return article(self.words) if self.counted and not self.plural else self.words


@cache
def _plain_terms(concept: str) -> tuple[str, ...]:
    """Returns a concept's terms that tell nothing besides the concept; all its terms if there are none."""
    terms = knowledge().terms[concept]
    plain = tuple(t for t in terms if inside(concept, t) == {})
    return plain or tuple(t for t in terms if inside(concept, t) is not None) or terms


def _fits(told: Told | None, fact: Fact) -> bool:
    """Whether a term says nothing of a fact that is not so."""
    if told is None:
        return False
    if ("zones" in told and fact.zone not in told["zones"]) or ("tip" in told and fact.tip not in told["tip"]):
        return False
    return all(getattr(fact, key) == value for key, value in told.items() if key in _ATTRIBUTES)


def name_of(fact: Fact, rng: Random, rare: float) -> tuple[str, Told]:
    """Returns a name that fits a fact, and what it tells besides the concept."""
    profile = knowledge().profiles[fact.concept]
    if fact.term and rng.random() < 0.7:
        return pick(surface(fact.term), rng), inside(fact.concept, fact.term) or {}
    if profile.names and rng.random() >= rare:
        for _ in range(4):
            name = pick(profile.names, rng)
            told = inside(fact.concept, name.lower())
            if _fits(told, fact):
                return name, told or {}
    terms = knowledge().terms[fact.concept]
    for _ in range(4):
        term = pick(terms, rng)
        told = inside(fact.concept, term)
        if _fits(told, fact):
            return pick(surface(term), rng), told or {}
    if fact.term:
        return pick(surface(fact.term), rng), inside(fact.concept, fact.term) or {}
    fitting = [t for t in terms if _fits(inside(fact.concept, t), fact)] or list(_plain_terms(fact.concept))
    term = pick(fitting, rng)
    return pick(surface(term), rng), inside(fact.concept, term) or {}


def noun_phrase(fact: Fact, rng: Random, rare: float, *, graded: bool = True, placed: bool = True) -> Phrase:
    """Returns a fact as a noun phrase: "small left basilar opacity measuring 8 mm".

    Args:
        fact: What is to be said.
        rng: Chooses the words.
        rare: How often a term is taken from the lexicon and not from the usual names, 0 to 1.
        graded: Whether to say the severity and age of the finding.
        placed: Whether to say where it is.
    """
    name, told = name_of(fact, rng, rare)
    before = _qualities(fact, name, told, rng) if graded else []
    name, places, after = _where(fact, name, told, rng, placed=placed)
    before += places
    head = head_of(name)
    plural = is_plural(head)
    counted = plural or head in words().counted
    many = fact.count or (fact.side == "bilateral" and counted and rng.random() < 0.85)
    if many and counted and not plural:
        name, plural = plural_of(name), True
    if fact.count and counted and "count" not in told:
        before.insert(0, words().english["numbers"][fact.count])
    parts = [*filter(None, before), name]
    if fact.size_mm and not fact.is_device:
        return _sized(parts, after, fact.size_mm, rng, plural, counted)
    return Phrase(" ".join(filter(None, (*parts, after))), plural, counted)


def _qualities(fact: Fact, name: str, told: Told, rng: Random) -> list[str]:
    """Returns severity, age and morphology, as far as the name does not tell them."""
    known, qualities = words(), []
    if fact.severity is not None and "severity" not in told:
        scale = knowledge().profiles[fact.concept].scale
        qualities.append(pick(known.severity[scale][fact.severity], rng))
    if fact.acuity and "acuity" not in told:
        qualities.append(pick(known.acuity[fact.acuity], rng))
    if fact.morphology and not (told.keys() & {"morphology", "count"}) and fact.morphology not in name:
        qualities.append(fact.morphology)
    return qualities


def _where(fact: Fact, name: str, told: Told, rng: Random, *, placed: bool) -> tuple[str, list[str], str]:
    """Returns the name, perhaps with its side in it, the words of the place before it, and those after it."""
    known = words()
    side = fact.side if placed and "side" not in told else None
    zone = fact.zone if placed and "zones" not in told else None
    route = fact.route if fact.is_device and "route" not in told else None
    sided = name.replace(" of the ", f" of the {side} ", 1) if side and not zone else name
    if sided != name and (inside(fact.concept, sided.lower()) or {}).get("side") == side:
        return sided, [], ""
    if route and not zone:
        before = [pick(known.side_adjective[side], rng)] if side else []
        return name, [*before, pick(known.routes[route], rng)], ""
    if not (side or zone):
        return name, [], ""
    group = knowledge().profiles[fact.concept].group
    if zone and (rng.random() < 0.5 or name.startswith(known.english["place_follows"])):
        return name, [], _place(side, zone, rng)
    if side and not zone and not fact.is_device and (" of the " in name or rng.random() < 0.3):
        return name, [], pick(known.side_place.get(group, known.side_place["other"])[side], rng)
    return name, [_adjective(side, zone, rng)], ""


def _sized(parts: list[str], after: str, size_mm: tuple[int, ...], rng: Random, plural: bool, counted: bool) -> Phrase:
    size = length(size_mm, rng)
    draw = rng.random()
    if draw < 0.4 and len(size_mm) == 1 and not plural:
        return Phrase(" ".join([size, *parts, after]).strip(), plural, counted)
    if draw < 0.5:
        return Phrase(" ".join([*parts, after]).strip() + f" ({size})", plural, counted)
    measuring = pick(words().english["measuring"], rng)
    return Phrase(" ".join([*parts, after]).strip() + f" {measuring} {size}", plural, counted)


def length(size_mm: tuple[int, ...], rng: Random) -> str:
    """Returns a size with its unit: "8 mm", "1.2 x 0.8 cm"."""
    if max(size_mm) >= 10 and rng.random() < 0.75:
        return " x ".join(f"{mm / 10:.1f}" for mm in size_mm) + " cm"
    return " x ".join(map(str, size_mm)) + (" mm" if rng.random() < 0.7 else "mm")


def _place(side: str | None, zone: str, rng: Random) -> str:
    entry = words().zones[zone]
    if side == "bilateral":
        return str(pick(entry["both"], rng))
    text = pick(entry["place"], rng).replace("{side}", side or "")
    return str(text).replace("  ", " ")


def _adjective(side: str | None, zone: str | None, rng: Random) -> str:
    known = words()
    if zone is None:
        return str(pick(known.side_adjective[side or "left"], rng))
    entry = known.zones[zone]
    if side == "bilateral":
        return str(pick(entry["adjective_both"], rng))
    if side is None or entry.get("sided") is False or (zone == RETROCARDIAC and rng.random() < 0.5):
        return str(pick(entry["adjective"], rng))
    return f"{side} {pick(entry['adjective'], rng)}"


def slots_of(fact: Fact, rng: Random) -> dict[str, str]:
    """Returns the words for a concept's own statements (`says`)."""
    known, english, step = words(), words().english, fact.severity
    scale = knowledge().profiles[fact.concept].scale
    place = _place(fact.side, fact.zone, rng) if fact.zone else ""
    fluid, heart = pick(english["is_fluid"], rng), pick(english["heart"], rng)
    both = fact.side == "bilateral"
    return {
        "sev": pick(known.severity[scale][step], rng) if step is not None else "",
        "sevly": pick(known.severity["adverb"][step], rng) if step is not None else "",
        "side": fact.side or "",
        "side1": fact.side or "",
        "part": f"the {place.partition('the ')[2] or place.partition(' ')[2]}",
        "is": "is",
        "is_fluid": fluid,
        "is_there": pick(("", "", f" {fluid}"), rng),
        "s": "s" if both else "",
        "angle": pick(english["angles" if both else "angle"], rng),
        "are": "are" if both else "is",
        "seem": "appear" if both else "appears",
        "ordinal": pick(english["ordinal"], rng),
        "heart": heart,
        "heart_noun": pick(english["heart_noun"], rng),
    }
