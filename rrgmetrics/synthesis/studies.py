"""What a chest X-ray shows, as data: facts drawn from realistic frequencies, and the errors a report makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from random import Random
from typing import Any

from rrgmetrics.reader.engine import read
from rrgmetrics.reader.lexicon import CONCEPT_FILES, Lexicon, load, load_file
from rrgmetrics.synthesis.grammar import Template, parse

DEVICES = "devices"
_CHANGES = {"stable": 4.0, "new": 2.0, "worse": 2.0, "better": 2.0}
_ERRORS = {"drop": 2.0, "add": 1.9, "place": 4.0, "degree": 5.0, "compare": 1.5, "change": 6.0}
_TERM = 0.22  # how often a study has a fact drawn evenly from all terms of the lexicon


@dataclass(frozen=True, slots=True)
class Fact:
    """One observation of a study; the fields are those of the reader's ``Finding``.

    ``sign`` is the concept it may be described as first ("opacity, likely atelectasis"), ``other`` an alternative to
    it ("atelectasis or pneumonia").
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


@dataclass(frozen=True, slots=True)
class Study:
    """One imaging event: its facts, the patient, whether there is an earlier study."""

    facts: tuple[Fact, ...] = ()
    age: int = 60
    sex: str = "male"
    bedside: bool = False
    prior: bool = False
    date: str = "3/4/2019"


@dataclass(frozen=True, slots=True)
class Profile:
    """How one concept occurs; the fields are explained in ``phrases/findings.yaml``."""

    concept: str
    group: str
    clinic: float = 0.0
    icu: float = 0.0
    names: tuple[str, ...] = ()
    sides: dict[str, float] = field(default_factory=dict)
    sided: float = 0.85
    zones: tuple[str, ...] = ()
    zoned: float = 0.75
    scale: str = "degree"
    steps: tuple[int, ...] = (1, 2, 4)
    graded: float = 0.2
    size_mm: tuple[int, ...] = ()
    sized: float = 0.0
    count: float = 0.0
    words: tuple[str, ...] = ()
    acuity: tuple[str, ...] = ()
    aged: float = 0.15
    shown_as: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()
    tips: tuple[str, ...] = ()
    cm: tuple[float, ...] = ()
    placed: float = 0.0
    routes: tuple[str, ...] = ()
    needs_side: bool = False
    says: tuple[Template, ...] = ()


@dataclass(frozen=True)
class Knowledge:
    """Everything studies are drawn from."""

    lexicon: Lexicon
    profiles: dict[str, Profile]
    terms: dict[str, tuple[str, ...]]
    all_terms: tuple[tuple[str, str], ...]
    clinic: tuple[tuple[str, ...], tuple[float, ...]]
    icu: tuple[tuple[str, ...], tuple[float, ...]]


def load_phrases(name: str) -> Any:
    """Return one file of ``phrases/`` as plain dictionaries and lists."""
    import yaml

    text = resources.files("rrgmetrics.synthesis").joinpath("phrases").joinpath(f"{name}.yaml").read_text("utf-8")
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(text, Loader=loader)


@cache
def knowledge() -> Knowledge:
    """Return what studies are drawn from; made once per process from the lexicon and ``phrases/``."""
    lexicon = load()
    findings, devices = load_phrases("findings"), load_phrases("devices")
    defaults = findings.pop("defaults")
    profiles = {
        key: _profile(
            key,
            concept.group,
            {**defaults.get(concept.group, {"sides": [], "graded": 0.0}), **({"zones": []} if own else {}), **own},
        )
        for key, concept in lexicon.concepts.items()
        for own in [findings.get(key) or devices.get(key) or {}]
    }
    terms = {
        key: tuple(t for t in map(str, entry["terms"]) if "xxxx" not in t)
        for name in CONCEPT_FILES
        for key, entry in load_file(name).items()
    }
    kinds = []
    for kind in ("clinic", "icu"):
        weights = {k: getattr(p, kind) for k, p in profiles.items() if getattr(p, kind)}
        total, sums = 0.0, []
        for weight in weights.values():
            total += weight
            sums.append(total)
        kinds.append((tuple(weights), tuple(sums)))
    return Knowledge(
        lexicon,
        profiles,
        terms,
        tuple((key, term) for key, values in terms.items() for term in values),
        kinds[0],
        kinds[1],
    )


def _profile(concept: str, group: str, entry: dict[str, Any]) -> Profile:
    says = tuple(parse(line.strip()) for line in (entry.get("says") or "").splitlines() if line.strip())
    sides = entry.get("sides") or {}
    lists = ("names", "zones", "steps", "size_mm", "words", "acuity", "shown_as", "tips", "cm", "routes")
    plain = ("clinic", "icu", "sided", "zoned", "scale", "graded", "sized", "count", "aged", "placed")
    given: dict[str, Any] = {key: tuple(entry[key]) for key in lists if key in entry}
    given.update({key: entry[key] for key in plain if key in entry})
    return Profile(
        concept,
        group,
        sides=dict(sides),
        says=says,
        needs_side="{side1}" in (entry.get("says") or "").lower(),
        alternatives=tuple(entry.get("or", ())),
        companions=tuple(entry.get("with", ())),
        **given,
    )


@cache
def inside(concept: str, term: str) -> dict[str, Any] | None:
    """Return what a term tells of its finding besides the concept; None if the reader takes it for another concept.

    >>> inside("pneumothorax", "tiny apical pneumothorax")
    {'zones': frozenset({'apex'}), 'severity': 1}
    """
    found = [f for f in read(f"There is {term}.").findings if f.concept == concept and f.assertion != "absent"]
    if not found:
        return None
    finding = found[0]
    values = {
        "side": finding.side,
        "zones": finding.zones,
        "severity": finding.severity,
        "acuity": finding.acuity,
        "route": finding.route,
        "tip": finding.tip,
        "position": finding.position,
        "change": finding.change,
        "count": finding.count,
        "morphology": finding.morphology,
    }
    return {key: value for key, value in values.items() if value is not None and value != frozenset()}


def pick(options: Sequence[Any], rng: Random) -> Any:
    """Return one of the options."""
    return options[int(rng.random() * len(options))]


def weighted(weights: dict[str, float], rng: Random) -> str:
    """Return a key with a chance proportional to its weight."""
    at = rng.random() * sum(weights.values())
    for key, weight in weights.items():
        at -= weight
        if at < 0:
            return key
    return key


def draw_fact(concept: str, rng: Random, *, prior: bool, term: str | None = None) -> Fact:
    """Return one fact about a concept; with a term, a fact that this term can tell."""
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
    if zone == "retrocardiac":
        return "left"
    if zone == "diffuse" and side is None:
        return "bilateral"
    return implied or side


def _place_device(fact: Fact, profile: Profile, rng: Random, *, prior: bool, told: dict[str, Any]) -> Fact:
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
        change = weighted({"stable": 3.0, "new": 2.0, "resolved": 0.6}, rng)
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
        return replace(fact, change=weighted(_CHANGES, rng) if changes(fact.concept) else "stable")
    return fact


@cache
def changes(concept: str) -> bool:
    """Tell whether a finding comes and goes; what is benign and expected stays as it is."""
    return knowledge().lexicon.concepts[concept].significance not in ("benign_expected",)


def draw_study(rng: Random, *, normal: bool | None = None, prior: bool | None = None) -> Study:
    """Return a study; about a quarter of all show nothing abnormal.

    Args:
        rng: chooses.
        normal: whether nothing is abnormal; None leaves it to chance.
        prior: whether there is an earlier study; None leaves it to chance.
    """
    known = knowledge()
    kind = rng.random()
    bedside = kind > 0.7
    earlier = rng.random() < (0.55 if bedside else 0.3)
    prior = earlier if prior is None else prior
    sex = "male" if rng.random() < 0.52 else "female"
    age = int(18 + 75 * (1 - (1 - rng.random()) ** 1.4)) if rng.random() < 0.96 else 1 + int(rng.random() * 17)
    date = f"{1 + int(rng.random() * 12)}/{1 + int(rng.random() * 28)}/{1990 + int(rng.random() * 35)}"
    study = Study((), age, sex, bedside, prior, date)
    if normal if normal is not None else kind < 0.25:
        if normal is None and rng.random() < _TERM:
            return replace(study, facts=(_any_fact(rng, prior=prior),))
        return study
    names, sums = known.icu if bedside else known.clinic
    n = 1 + int((rng.random() ** 1.35) * (6 if bedside else 5))
    facts: list[Fact] = []
    for concept in rng.choices(names, cum_weights=sums, k=n):
        add_fact(facts, draw_fact(concept, rng, prior=prior))
        companions = known.profiles[concept].companions
        if companions and rng.random() < 0.3:
            add_fact(facts, draw_fact(pick(companions, rng), rng, prior=prior))
    if rng.random() < _TERM:
        add_fact(facts, _any_fact(rng, prior=prior))
    return replace(study, facts=tuple(facts))


def _any_fact(rng: Random, *, prior: bool) -> Fact:
    """Return a fact drawn evenly from all terms of the lexicon: rare concepts and words occur too."""
    concept, term = pick(knowledge().all_terms, rng)
    fact = draw_fact(concept, rng, prior=prior, term=term)
    if rng.random() < 0.15:
        return Fact(concept, assertion="absent", term=term)
    return fact


def family(concept: str, lexicon: Lexicon) -> frozenset[str]:
    """Return a concept with what it is a kind of and what may be meant by it."""
    return frozenset((concept, *lexicon.concepts[concept].ancestors, *lexicon.concepts[concept].same_as))


def add_fact(facts: list[Fact], fact: Fact) -> bool:
    """Add a fact unless the study already has one that a reader may take for the same; tell whether it was added."""
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


def blur(fact: Fact, rng: Random) -> Fact:
    """Return a fact with a wrong place or degree where it has one."""
    wrong, _ = (_wrong_place if rng.random() < 0.5 else _wrong_degree)(fact, rng)
    return wrong or fact


def corrupt(study: Study, n: int, rng: Random) -> tuple[Study, tuple[int, ...]]:
    """Return a study with about ``n`` errors, and how many of each category A to F were made."""
    facts = list(study.facts)
    spoiled: set[int] = set()
    counts = [0] * 6
    for _ in range(2 * n + 1):
        if sum(counts) >= n:
            break
        kind = weighted(_ERRORS, rng)
        if kind == "add" or not facts:
            fact = draw_study(rng, normal=False).facts[0]
            if fact.assertion != "absent" and fact.change != "resolved" and add_fact(facts, fact):
                spoiled.add(id(facts[-1]))
                counts[0] += 1
            continue
        for at in rng.sample(range(len(facts)), len(facts)):
            fact = facts[at]
            if id(fact) in spoiled or fact.assertion == "absent" or fact.change == "resolved":
                continue
            if kind == "drop":
                counts[1] += 1
                del facts[at]
                break
            wrong, category = _WRONG[kind](fact, rng)
            if wrong is not None:
                facts[at] = wrong
                spoiled.add(id(wrong))
                counts[category] += 1
                break
    return replace(study, facts=tuple(facts)), tuple(counts)


def _wrong_place(fact: Fact, rng: Random) -> tuple[Fact | None, int]:
    profile = knowledge().profiles[fact.concept]
    lexicon = knowledge().lexicon
    if fact.tip and rng.random() < 0.6:
        path, order, _ = lexicon.tips[fact.tip]
        far = [t for t in _TIPS if lexicon.tips[t][0] == path and abs(lexicon.tips[t][1] - order) >= 3]
        return (replace(fact, tip=pick(far, rng)), 2) if far else (None, 2)
    if fact.zone and profile.zones and rng.random() < 0.4:
        zone = lexicon.zones[fact.zone]
        far = [
            z
            for z in profile.zones
            if z not in zone.near
            and z not in (fact.zone, zone.inside, "diffuse")
            and lexicon.zones[z].inside != fact.zone
        ]
        if far and fact.zone != "diffuse" and not lexicon.zones[fact.zone].side:
            new = pick(far, rng)
            if not lexicon.zones[new].side or lexicon.zones[new].side == fact.side:
                return replace(fact, zone=new), 2
    if fact.side and fact.zone not in ("middle_lobe", "lingula", "retrocardiac", "diffuse"):
        sides = [s for s in profile.sides if s != fact.side] or ["left", "right"]
        return replace(fact, side=pick([s for s in sides if s != fact.side], rng)), 2
    return None, 2


def _wrong_degree(fact: Fact, rng: Random) -> tuple[Fact | None, int]:
    profile = knowledge().profiles[fact.concept]
    if fact.severity is not None:
        far = [s for s in profile.steps if abs(s - fact.severity) >= 2]
        return (replace(fact, severity=pick(far, rng)), 3) if far else (None, 3)
    if fact.size_mm and profile.group != DEVICES:
        factor = pick((0.4, 0.5, 1.7, 2.0), rng)
        size = tuple(max(1, round(mm * factor)) for mm in fact.size_mm)
        return replace(fact, size_mm=size), 3
    if fact.acuity:
        return replace(fact, acuity="acute" if fact.acuity in ("chronic", "healing") else "chronic"), 3
    return None, 3


def _wrong_comparison(fact: Fact, rng: Random) -> tuple[Fact | None, int]:
    if fact.change in (None, "stable") and not (fact.sign or fact.other or fact.certainty != "definite"):
        device = knowledge().profiles[fact.concept].group == DEVICES
        if device or changes(fact.concept):
            return replace(fact, change="new" if device else pick(("new", "new", "worse", "better"), rng)), 4
    return None, 4


def _lost_change(fact: Fact, rng: Random) -> tuple[Fact | None, int]:
    if fact.change in ("new", "worse", "better"):
        if rng.random() < 0.75 or knowledge().profiles[fact.concept].group == DEVICES:
            return replace(fact, change=None), 5
        return replace(fact, change="better" if fact.change == "worse" else "worse"), 4
    return None, 5


_WRONG = {"place": _wrong_place, "degree": _wrong_degree, "compare": _wrong_comparison, "change": _lost_change}
_TIPS = (
    "svc", "mid_svc", "lower_svc", "cavoatrial_junction", "right_atrium", "right_ventricle", "brachiocephalic_vein",
    "subclavian_vein", "axillary_vein", "main_pulmonary_artery", "right_pulmonary_artery", "mid_trachea",
    "distal_trachea", "mainstem", "stomach", "duodenum", "esophagus", "gastroesophageal_junction",
)  # fmt: skip
