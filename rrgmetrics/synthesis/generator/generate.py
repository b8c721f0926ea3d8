"""Reports and pairs by seed and number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from rrgmetrics.errors import InputError
from rrgmetrics.synthesis.generator.draws import weighted
from rrgmetrics.synthesis.generator.mistakes import blur, corrupt
from rrgmetrics.synthesis.generator.phrasebook import phrasebook
from rrgmetrics.synthesis.generator.studies import Fact, Study, add_fact, draw_study
from rrgmetrics.synthesis.generator.writer import render

WAYS = {"paraphrase": 0.1, "corrupted": 0.45, "related": 0.25, "normal": 0.1, "random": 0.1}


@dataclass(frozen=True, slots=True)
class GeneratedReport:
    """A report with the name of its style and the study it tells of."""

    text: str
    style: str
    study: Study


@dataclass(frozen=True, slots=True)
class GeneratedPair:
    """A reference and a candidate.

    Attributes:
        reference: The report of a study.
        candidate: The report of the same study, of the study with mistakes, or of another one.
        styles: The styles of reference and candidate.
        way: How the candidate came about, one of `WAYS`.
        injected: The errors made on purpose, by category A to F. For the ways "related", "normal" and "random" it is
            what the facts tell by themselves: facts only the candidate has (A), facts it lacks (B).
    """

    reference: str
    candidate: str
    styles: tuple[str, str]
    way: str
    injected: tuple[int, ...]


def generate_reports(n: int, *, seed: int, start: int = 0) -> Iterator[GeneratedReport]:
    """Yields reports number `start` to `start + n` of a seed.

    Args:
        n: How many.
        seed: Which series; a report depends on the seed and its number alone.
        start: The number of the first.

    Raises:
        InputError: `n` or `start` is negative.

    Example:
        >>> first, second = generate_reports(2, seed=0)
        >>> second == next(generate_reports(1, seed=0, start=1))
        True
    """
    _check(n, start)
    for i in range(start, start + n):
        rng = Random(f"report {seed} {i}")
        study = draw_study(rng)
        style = weighted(phrasebook().weights[i % 2], rng)
        yield GeneratedReport(render(study, style, rng), style, study)


def generate_pairs(n: int, *, seed: int, start: int = 0) -> Iterator[GeneratedPair]:
    """Yields pairs number `start` to `start + n` of a seed, mixed as `WAYS` says.

    Args:
        n: How many.
        seed: Which series; a pair depends on the seed and its number alone.
        start: The number of the first.

    Raises:
        InputError: `n` or `start` is negative.

    Example:
        >>> pair = next(generate_pairs(1, seed=0))
        >>> len(pair.injected), pair.way in WAYS
        (6, True)
    """
    _check(n, start)
    for i in range(start, start + n):
        yield _pair(Random(f"pair {seed} {i}"))


def _check(n: int, start: int) -> None:
    if n < 0 or start < 0:
        raise InputError(f"n is {n} and start is {start}; pass numbers that are not negative.")


def _pair(rng: Random) -> GeneratedPair:
    way = weighted(WAYS, rng)
    abnormal = (way == "normal" and rng.random() < 0.7) or (way == "corrupted" and rng.random() < 0.85)
    prior = True if way == "corrupted" and rng.random() < 0.6 else None
    study = draw_study(rng, normal=False if abnormal else None, prior=prior)
    other, injected = _other_study(study, way, rng)
    weights = phrasebook().weights
    styles = weighted(weights[0], rng), weighted(weights[1], rng)
    return GeneratedPair(render(study, styles[0], rng), render(other, styles[1], rng), styles, way, injected)


def _other_study(study: Study, way: str, rng: Random) -> tuple[Study, tuple[int, ...]]:
    """Returns the candidate's study, and the errors it makes by category."""
    if way == "paraphrase":
        return study, (0,) * 6
    if way == "corrupted":
        return corrupt(study, 1 + int(rng.random() ** 2 * 8), rng)
    if way == "normal":
        other = replace(study, facts=())
    elif way == "random":
        other = draw_study(rng)
    else:
        other = draw_study(rng, normal=rng.random() < 0.1)
        shared = [blur(fact, rng) if rng.random() < 0.3 else fact for fact in study.facts if rng.random() < 0.45]
        other = replace(study, facts=tuple(_joined(shared, other.facts)))
    mine, theirs = ({fact.concept for fact in each.facts if fact.is_stated} for each in (study, other))
    return other, (len(theirs - mine), len(mine - theirs), 0, 0, 0, 0)


def _joined(shared: list[Fact], more: tuple[Fact, ...]) -> list[Fact]:
    facts: list[Fact] = []
    for fact in (*shared, *more):
        add_fact(facts, fact)
    return facts
