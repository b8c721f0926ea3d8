"""Facts in words: the noun phrases that sentence templates are filled with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any, NamedTuple

from rrgmetrics.synthesis.studies import DEVICES, Fact, inside, knowledge, load_phrases, pick

_UNCOUNTED_ENDS = ("ing", "asis", "osis", "edema", "ion", "ia", "ema", "disease", "fluid", "air", "gas")
_VOWELS = frozenset("aeiou")
_AN = (
    "ett",
    "ekg",
    "ecg",
    "icd",
    "ng ",
    "og ",
    "et ",
    "ij ",
    "ivc",
    "svc",
    "ecmo",
    "lv",
    "ild",
    "mr ",
    "hd ",
    "ngt",
    "ogt",
    "rv",
)
_A = ("uni", "uvc", "uac", "eu", "one")
_ORDINALS = (
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "second",
    "10th",
    "6th",
    "7th",
    "8th",
    "5th",
)
_ATTRIBUTES = frozenset({"side", "severity", "acuity", "change", "route", "position"})
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}
_HEART = (
    "heart",
    "heart",
    "heart",
    "cardiac silhouette",
    "cardiac silhouette",
    "heart size",
    "cardiac shadow",
    "cardiopericardial silhouette",
    "heart silhouette",
)


class Phrase(NamedTuple):
    """A noun phrase without article, and how it behaves."""

    words: str
    plural: bool
    counted: bool

    def indefinite(self) -> str:
        """Return the phrase with "a" or "an" where one is due."""
        return article(self.words) if self.counted and not self.plural else self.words


@dataclass(frozen=True)
class Words:
    """How places, degrees and names are written (``phrases/places.yaml``)."""

    zones: dict[str, dict[str, Any]]
    side_adjective: dict[str, list[str]]
    side_place: dict[str, dict[str, list[str]]]
    severity: dict[str, dict[int, list[str]]]
    acuity: dict[str, list[str]]
    tips: dict[str, list[str]]
    routes: dict[str, list[str]]
    upper: frozenset[str]
    hyphens: dict[str, str]
    counted: frozenset[str]
    plurals: frozenset[str]
    adjectives: dict[str, str]


@cache
def words() -> Words:
    """Return the table of words; read once per process."""
    table = load_phrases("places")
    return Words(
        table["zones"],
        table["sides"]["adjective"],
        table["sides"]["place"],
        {scale: {int(step): v for step, v in steps.items()} for scale, steps in table["severity"].items()},
        table["acuity"],
        table["tips"],
        table["routes"],
        frozenset(table["upper"]),
        table["hyphens"],
        frozenset(table["counted"]),
        frozenset(table["plurals"]),
        {adjective: noun for noun, adjectives in table["adjectives"].items() for adjective in adjectives},
    )


def article(text: str) -> str:
    """Return a noun phrase with its indefinite article.

    >>> article("opacity"), article("small effusion"), article("ET tube")
    ('an opacity', 'a small effusion', 'an ET tube')
    """
    low = text[:6].lower()
    vowel = low[:1] in _VOWELS and not low.startswith(_A)
    return f"{'an' if vowel or low.startswith(_AN) or low.startswith(('8', '11-', '18-')) else 'a'} {text}"


def plural_of(text: str) -> str:
    """Return the plural of the last word of a phrase.

    >>> plural_of("pleural effusion"), plural_of("opacity"), plural_of("mass"), plural_of("chest tube in situ")
    ('pleural effusions', 'opacities', 'masses', 'chest tubes in situ')
    """
    for joint in (" of ", " in "):
        head, found, rest = text.partition(joint)
        if found:
            return plural_of(head) + found + rest
    if text.endswith("y") and text[-2:-1] not in _VOWELS:
        return text[:-1] + "ies"
    if text.endswith("thorax"):
        return text[:-2] + "aces"
    if text.endswith(("x", "ss", "sh", "ch")):
        return text + "es"
    if text.endswith("sis"):
        return text[:-2] + "es"
    return text if text.endswith("s") else text + "s"


def head_of(text: str) -> str:
    """Return the word that a noun phrase is about, in lower case.

    >>> head_of("loss of volume"), head_of("small pleural effusions")
    ('loss', 'effusions')
    """
    for joint in (" of ", " in ", " with "):
        text = text.partition(joint)[0]
    return text.rpartition(" ")[2].lower()


def _is_plural(head: str) -> bool:
    return (head.endswith("s") and not head.endswith(("ss", "us", "is", "as"))) or head in (
        "bullae",
        "metastases",
        "foci",
    )


@cache
def surface(term: str) -> tuple[str, ...]:
    """Return how a term of the lexicon is written: abbreviations in capitals, hyphens, singular and plural."""
    known = words()
    text = f" {term} "
    for plain, hyphenated in known.hyphens.items():
        text = text.replace(f" {plain} ", f" {hyphenated} ")
    written = " ".join(w.upper() if w in known.upper else w for w in text.split())
    if term in known.adjectives:
        return (f"{written} {known.adjectives[term]}",)
    head = head_of(term)
    if head in known.plurals and not _is_plural(head):
        return (written, plural_of(written), plural_of(written))
    return (written,)


@cache
def _plain_terms(concept: str) -> tuple[str, ...]:
    """Return a concept's terms that tell nothing besides the concept; all its terms if there are none."""
    terms = knowledge().terms[concept]
    plain = tuple(t for t in terms if inside(concept, t) == {})
    return plain or tuple(t for t in terms if inside(concept, t) is not None) or terms


def _fits(told: dict[str, Any] | None, fact: Fact) -> bool:
    """Tell whether a term says nothing of a fact that is not so."""
    if told is None:
        return False
    for key, value in told.items():
        if key == "zones":
            if fact.zone not in value:
                return False
        elif key == "tip":
            if fact.tip not in value:
                return False
        elif key in _ATTRIBUTES and getattr(fact, key) != value:
            return False
    return True


def name_of(fact: Fact, rng: Random, rare: float) -> tuple[str, dict[str, Any]]:
    """Return a name that fits a fact, and what it tells besides the concept."""
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
    """Return a fact as a noun phrase: "small left basilar opacity measuring 8 mm".

    Args:
        fact: what is to be said.
        rng: chooses the words.
        rare: how often a term is taken from the lexicon and not from the usual names, 0 to 1.
        graded: whether to say the severity and age of the finding.
        placed: whether to say where it is.
    """
    known = words()
    profile = knowledge().profiles[fact.concept]
    name, told = name_of(fact, rng, rare)
    device = profile.group == DEVICES
    before: list[str] = []
    if graded and fact.severity is not None and "severity" not in told:
        before.append(pick(known.severity[profile.scale][fact.severity], rng))
    if graded and fact.acuity and "acuity" not in told:
        before.append(pick(known.acuity[fact.acuity], rng))
    if graded and fact.morphology and not (told.keys() & {"morphology", "count"}) and fact.morphology not in name:
        before.append(fact.morphology)
    side = fact.side if placed and "side" not in told else None
    zone = fact.zone if placed and "zones" not in told and fact.zone and not device else None
    if device and fact.zone and placed and "zones" not in told:
        zone = fact.zone
    after = ""
    inserted = name.replace(" of the ", f" of the {side} ", 1) if side and not zone else name
    if inserted != name and (inside(fact.concept, inserted.lower()) or {}).get("side") == side:
        name = inserted
    elif side or zone:
        if device and not zone and fact.route and "route" not in told:
            before.extend((pick(known.side_adjective[side], rng) if side else "", pick(known.routes[fact.route], rng)))
        elif zone and (rng.random() < 0.5 or name.startswith(("lung", "lobe", "base", "hilar", "spin"))):
            after = _place(side, zone, profile.group, rng)
        elif not zone and not device and (" of the " in name or rng.random() < 0.3):
            table = known.side_place.get(profile.group, known.side_place["other"])
            after = pick(table[side or "left"], rng)
        else:
            before.append(_adjective(side, zone, rng))
    elif device and fact.route and "route" not in told:
        before.append(pick(known.routes[fact.route], rng))
    head = head_of(name)
    plural = _is_plural(head)
    counted = plural or head in known.counted
    many = fact.count or (fact.side == "bilateral" and counted and rng.random() < 0.85)
    if many and counted and not plural:
        name, plural = plural_of(name), True
    if fact.count and counted and "count" not in told:
        before.insert(0, _NUMBERS[fact.count])
    parts = [w for w in before if w] + [name]
    if fact.size_mm and not device:
        return _sized(parts, after, fact.size_mm, rng, plural, counted)
    if after:
        parts.append(after)
    return Phrase(" ".join(parts), plural, counted)


def _sized(parts: list[str], after: str, size_mm: tuple[int, ...], rng: Random, plural: bool, counted: bool) -> Phrase:
    size = length(size_mm, rng)
    draw = rng.random()
    if draw < 0.4 and len(size_mm) == 1 and not plural:
        return Phrase(" ".join([size, *parts, after]).strip(), plural, counted)
    if draw < 0.5:
        return Phrase(" ".join([*parts, after]).strip() + f" ({size})", plural, counted)
    measuring = pick(
        ("measuring", "measuring", "measuring up to", "measuring approximately", "of", "that measures"), rng
    )
    return Phrase(" ".join([*parts, after]).strip() + f" {measuring} {size}", plural, counted)


def length(size_mm: tuple[int, ...], rng: Random) -> str:
    """Return a size with its unit: "8 mm", "1.2 x 0.8 cm"."""
    if max(size_mm) >= 10 and rng.random() < 0.75:
        return " x ".join(f"{mm / 10:.1f}" for mm in size_mm) + " cm"
    return " x ".join(map(str, size_mm)) + (" mm" if rng.random() < 0.7 else "mm")


def _place(side: str | None, zone: str, group: str, rng: Random) -> str:
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
    if side is None or entry.get("sided") is False or (zone == "retrocardiac" and rng.random() < 0.5):
        return str(pick(entry["adjective"], rng))
    return f"{side} {pick(entry['adjective'], rng)}"


def slots_of(fact: Fact, rng: Random, rare: float) -> dict[str, str]:
    """Return the words for a concept's own statements (``says``)."""
    known = words()
    profile = knowledge().profiles[fact.concept]
    step = fact.severity
    side = fact.side
    one = {"bilateral": "bilateral"}.get(side or "", side or "")
    part = _place(side, fact.zone, profile.group, rng) if fact.zone else ""
    part = part.partition("the ")[2] or part.partition(" ")[2]
    fluid = pick(("is seen", "is noted", "is present"), rng)
    heart = pick(_HEART, rng)
    return {
        "sev": pick(known.severity[profile.scale][step], rng) if step is not None else "",
        "sevly": pick(known.severity["adverb"][step], rng) if step is not None else "",
        "side": one,
        "side1": one,
        "part": f"the {part}",
        "is": "is",
        "is_fluid": fluid,
        "is_there": pick(("", "", f" {fluid}"), rng),
        "s": "s" if side == "bilateral" else "",
        "angle": pick(("angles", "sulci"), rng) if side == "bilateral" else pick(("angle", "angle", "sulcus"), rng),
        "are": "are" if side == "bilateral" else "is",
        "seem": "appear" if side == "bilateral" else "appears",
        "ordinal": pick(_ORDINALS, rng),
        "heart": heart,
        "heart_noun": pick(("heart", "cardiac silhouette"), rng),
    }


def without(fact: Fact, **changes: Any) -> Fact:
    """Return a fact with some of its attributes changed or taken away."""
    return replace(fact, **changes)
