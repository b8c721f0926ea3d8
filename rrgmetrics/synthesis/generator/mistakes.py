"""Studies with mistakes: the errors that a report may make of a study, in the six categories A to F."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from rrgmetrics.synthesis.generator.draws import pick, weighted
from rrgmetrics.synthesis.generator.english import words
from rrgmetrics.synthesis.generator.knowledge import DIFFUSE, RETROCARDIAC, comes_and_goes, knowledge
from rrgmetrics.synthesis.generator.studies import Fact, Study, add_fact, draw_study

A, B, C, D, E, F = range(6)
MISTAKES = {"drop": 2.0, "add": 1.9, "place": 4.0, "degree": 5.0, "compare": 1.5, "change": 6.0}
DEGREES_APART = 2  # what the reader counts
TIPS_APART = 3


def blur(fact: Fact, rng: Random) -> Fact:
    """Returns a fact with a wrong place or degree where it has one."""
    wrong, _ = (_wrong_place if rng.random() < 0.5 else _wrong_degree)(fact, rng)
    return wrong or fact


def corrupt(study: Study, n: int, rng: Random) -> tuple[Study, tuple[int, ...]]:
    """Returns a study with about `n` errors, and how many of each category A to F were made."""
    facts = list(study.facts)
    spoiled: set[int] = set()
    counts = [0] * 6
    for _ in range(2 * n + 1):
        if sum(counts) >= n:
            break
        kind = weighted(MISTAKES, rng)
        if kind == "add" or not facts:
            fact = draw_study(rng, normal=False).facts[0]
            if fact.is_stated and add_fact(facts, fact):
                spoiled.add(id(facts[-1]))
                counts[A] += 1
            continue
        for at in rng.sample(range(len(facts)), len(facts)):
            fact = facts[at]
            if id(fact) in spoiled or not fact.is_stated:
                continue
            if kind == "drop":
                counts[B] += 1
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
    if fact.tip and rng.random() < 0.6:
        tips = knowledge().lexicon.tips
        path, order, _ = tips[fact.tip]
        far = [tip for tip in words().wrong_tips if tips[tip][0] == path and abs(tips[tip][1] - order) >= TIPS_APART]
        return (replace(fact, tip=pick(far, rng)), C) if far else (None, C)
    profile = knowledge().profiles[fact.concept]
    if fact.zone and profile.zones and rng.random() < 0.4:
        zone = _wrong_zone(fact, rng)
        if zone is not None:
            return replace(fact, zone=zone), C
    if fact.side and not _tells_its_side(fact.zone):
        sides = [side for side in profile.sides if side != fact.side] or ["left", "right"]
        return replace(fact, side=pick([side for side in sides if side != fact.side], rng)), C
    return None, C


def _wrong_zone(fact: Fact, rng: Random) -> str | None:
    """Returns a zone that is not near the fact's; None where there is none, or it lies on another side."""
    zones = knowledge().lexicon.zones
    if fact.zone is None or fact.zone == DIFFUSE or zones[fact.zone].side:
        return None
    here = zones[fact.zone]
    close = {*here.near, fact.zone, here.inside, DIFFUSE}
    possible = knowledge().profiles[fact.concept].zones
    far = [zone for zone in possible if zone not in close and zones[zone].inside != fact.zone]
    zone = pick(far, rng) if far else None
    return zone if zone and zones[zone].side in (None, "", fact.side) else None


def _tells_its_side(zone: str | None) -> bool:
    """Whether the side of a zone cannot be another, or is not said."""
    return zone is not None and (zone in (RETROCARDIAC, DIFFUSE) or bool(knowledge().lexicon.zones[zone].side))


def _wrong_degree(fact: Fact, rng: Random) -> tuple[Fact | None, int]:
    if fact.severity is not None:
        steps = knowledge().profiles[fact.concept].steps
        far = [step for step in steps if abs(step - fact.severity) >= DEGREES_APART]
        return (replace(fact, severity=pick(far, rng)), D) if far else (None, D)
    if fact.size_mm and not fact.is_device:
        factor = pick((0.4, 0.5, 1.7, 2.0), rng)
        return replace(fact, size_mm=tuple(max(1, round(mm * factor)) for mm in fact.size_mm)), D
    if fact.acuity:
        return replace(fact, acuity="acute" if fact.acuity in ("chronic", "healing") else "chronic"), D
    return None, D


def _wrong_comparison(fact: Fact, rng: Random) -> tuple[Fact | None, int]:
    hedged = fact.sign or fact.other or fact.certainty != "definite"
    if fact.change in (None, "stable") and not hedged and (fact.is_device or comes_and_goes(fact.concept)):
        return replace(fact, change="new" if fact.is_device else pick(("new", "new", "worse", "better"), rng)), E
    return None, E


def _lost_change(fact: Fact, rng: Random) -> tuple[Fact | None, int]:
    if fact.change in ("new", "worse", "better"):
        if rng.random() < 0.75 or fact.is_device:
            return replace(fact, change=None), F
        return replace(fact, change="better" if fact.change == "worse" else "worse"), F
    return None, F


_WRONG = {"place": _wrong_place, "degree": _wrong_degree, "compare": _wrong_comparison, "change": _lost_change}
