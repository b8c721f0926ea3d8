"""What a chest X-ray shows, as data: studies and their facts, drawn from realistic frequencies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from random import Random

from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.synthesis.generator.draws import pick, weighted
from rrgmetrics.synthesis.generator.knowledge import (
    DEVICES,
    DIFFUSE,
    RETROCARDIAC,
    Profile,
    Told,
    comes_and_goes,
    family,
    inside,
    knowledge,
)

CHANGES = {"stable": 4.0, "new": 2.0, "worse": 2.0, "better": 2.0}
DEVICE_CHANGES = {"stable": 3.0, "new": 2.0, "resolved": 0.6}
ANY_TERM = 0.22  # how often a study has a fact drawn evenly from all terms of the lexicon


@dataclass(frozen=True, slots=True)
class Fact:
    """One observation of a study; the fields are those of the reader's `Finding`, and three more.

    Attributes:
        sign: The concept it may be described as first ("opacity, likely atelectasis").
        other: An alternative to it ("atelectasis or pneumonia").
        term: The lexicon's term to be used for it.
    """

    concept: str
    assertion: str = "present"
    certainty: str = "definite"
    side: str | None = None
    zone: str | None = None
    severity: int | None = None
    size_mm: tuple[int, ...] = ()
    count: int | None = None
    acuity: str | None = None
    change: str | None = None
    morphology: str | None = None
    tip: str | None = None
    position: str | None = None
    route: str | None = None
    sign: str | None = None
    other: str | None = None
    term: str | None = None

    @property
    def is_stated(self) -> bool:
        """Whether the report says that it is there."""
        return self.assertion != "absent" and self.change != "resolved"

    @property
    def is_device(self) -> bool:
        """Whether it is a device, or what surgery has left."""
        return knowledge().profiles[self.concept].group == DEVICES


@dataclass(frozen=True, slots=True)
class Study:
    """One imaging event: its facts, the patient, whether there is an earlier study."""

    facts: tuple[Fact, ...] = ()
    age: int = 60
    sex: str = "male"
    bedside: bool = False
    prior: bool = False
    date: str = "3/4/2019"


def draw_fact(concept: str, rng: Random, *, prior: bool, term: str | None = None) -> Fact:
    """Returns one fact about a concept; with a term, a fact that this term can tell."""
    known = knowledge()
    profile = known.profiles[concept]
    if term is None:
        names = profile.names or known.terms[concept]
        told = inside(concept, pick(names, rng).lower()) or {}
    else:
        told = inside(concept, term) or {}
    side = weighted(profile.sides, rng) if profile.sides and rng.random() < profile.sided else None
    zone = pick(profile.zones, rng) if profile.zones and rng.random() < profile.zoned else None
    zone = next(iter(sorted(told["zones"])), zone) if "zones" in told else zone
    side = told.get("side") or _side_of(zone, side, known.lexicon)
    severity = pick(profile.steps, rng) if rng.random() < profile.graded else None
    acuity = pick(profile.acuity, rng) if profile.acuity and rng.random() < profile.aged else None
    size_mm = _size(profile, rng)
    fact = Fact(
        concept,
        side=side,
        zone=zone,
        severity=told.get("severity", None if size_mm else severity),
        size_mm=size_mm,
        count=int(rng.random() * 4) + 2 if rng.random() < profile.count else None,
        acuity=told.get("acuity", acuity),
        morphology=pick(profile.words, rng) if profile.words and rng.random() < 0.3 else None,
        change=told.get("change"),
        term=term,
    )
    if profile.group == DEVICES:
        return _place_device(fact, profile, rng, prior=prior, told=told)
    return _hedge(fact, profile, rng, prior=prior)


def _size(profile: Profile, rng: Random) -> tuple[int, ...]:
    if not profile.size_mm or rng.random() >= profile.sized:
        return ()
    least, most = profile.size_mm
    first = least + int((rng.random() ** 1.5) * (most - least + 1))
    if rng.random() < 0.2:
        return (first, max(2, int(first * (0.6 + 0.4 * rng.random()))))
    return (first,)


def _side_of(zone: str | None, side: str | None, lexicon: Lexicon) -> str | None:
    implied = lexicon.zones[zone].side if zone else None
    if zone == RETROCARDIAC:
        return "left"
    if zone == DIFFUSE and side is None:
        return "bilateral"
    return implied or side


def _place_device(fact: Fact, profile: Profile, rng: Random, *, prior: bool, told: Told) -> Fact:
    route = told.get("route") or (pick(profile.routes, rng) if profile.routes and rng.random() < 0.75 else None)
    tip: str | None = None
    size: tuple[int, ...] = ()
    if "tip" not in told and rng.random() < profile.placed:
        if profile.cm and rng.random() < 0.8:
            size = (round(10 * (profile.cm[0] + rng.random() * (profile.cm[1] - profile.cm[0]))),)
        elif profile.tips:
            tip = pick(profile.tips, rng)
    position = None
    if tip is None and not size and rng.random() < 0.15 and profile.placed:
        position = "good" if rng.random() < 0.9 else "bad"
    change = None
    if fact.change is None and prior and rng.random() < 0.3:
        change = weighted(DEVICE_CHANGES, rng)
    return replace(fact, route=route, tip=tip, size_mm=size, position=position, change=change or fact.change)


def _hedge(fact: Fact, profile: Profile, rng: Random, *, prior: bool) -> Fact:
    draw = rng.random()
    if profile.shown_as and draw < 0.3:
        certainty = "probable" if rng.random() < 0.65 else "possible"
        return replace(fact, sign=pick(profile.shown_as, rng), certainty=certainty)
    if profile.alternatives and draw < 0.42:
        return replace(fact, other=pick(profile.alternatives, rng), certainty="probable")
    if draw > 0.96:
        return replace(fact, certainty="probable")
    if draw > 0.93:
        return replace(fact, certainty="possible")
    if prior and fact.change is None and rng.random() < 0.45:
        return replace(fact, change=weighted(CHANGES, rng) if comes_and_goes(fact.concept) else "stable")
    return fact


def draw_study(rng: Random, *, normal: bool | None = None, prior: bool | None = None) -> Study:
    """Returns a study; about a quarter of all show nothing abnormal.

    Args:
        rng: Chooses.
        normal: Whether nothing is abnormal; None leaves it to chance.
        prior: Whether there is an earlier study; None leaves it to chance.
    """
    kind = rng.random()
    study = _study_without_facts(rng, bedside=kind > 0.7, prior=prior)
    if normal if normal is not None else kind < 0.25:
        if normal is None and rng.random() < ANY_TERM:
            return replace(study, facts=(_any_fact(rng, prior=study.prior),))
        return study
    known = knowledge()
    names, sums = known.icu if study.bedside else known.clinic
    n = 1 + int((rng.random() ** 1.35) * (6 if study.bedside else 5))
    facts: list[Fact] = []
    for concept in rng.choices(names, cum_weights=sums, k=n):
        add_fact(facts, draw_fact(concept, rng, prior=study.prior))
        companions = known.profiles[concept].companions
        if companions and rng.random() < 0.3:
            add_fact(facts, draw_fact(pick(companions, rng), rng, prior=study.prior))
    if rng.random() < ANY_TERM:
        add_fact(facts, _any_fact(rng, prior=study.prior))
    return replace(study, facts=tuple(facts))


def _study_without_facts(rng: Random, *, bedside: bool, prior: bool | None) -> Study:
    earlier = rng.random() < (0.55 if bedside else 0.3)
    sex = "male" if rng.random() < 0.52 else "female"
    age = int(18 + 75 * (1 - (1 - rng.random()) ** 1.4)) if rng.random() < 0.96 else 1 + int(rng.random() * 17)
    date = f"{1 + int(rng.random() * 12)}/{1 + int(rng.random() * 28)}/{1990 + int(rng.random() * 35)}"
    return Study((), age, sex, bedside, earlier if prior is None else prior, date)


def _any_fact(rng: Random, *, prior: bool) -> Fact:
    """Returns a fact drawn evenly from all terms of the lexicon: rare concepts and words occur too."""
    concept, term = pick(knowledge().all_terms, rng)
    fact = draw_fact(concept, rng, prior=prior, term=term)
    if rng.random() < 0.15:
        return Fact(concept, assertion="absent", term=term)
    return fact


def add_fact(facts: list[Fact], fact: Fact) -> bool:
    """Adds a fact unless the study already has one that a reader may take for the same; tells whether it was added."""
    mine = _readings(fact.concept, fact.sign, fact.other)
    for other in facts:
        theirs = _readings(other.concept, other.sign, other.other)
        if mine & theirs and not (
            fact.concept == other.concept and {fact.side, other.side} == {"left", "right"} and not fact.sign
        ):
            return False
    facts.append(fact)
    return True


@cache
def _readings(*concepts: str | None) -> frozenset[str]:
    lexicon = knowledge().lexicon
    return frozenset().union(*(family(name, lexicon) - {"support_device"} for name in concepts if name))
