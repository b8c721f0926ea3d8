"""Metric oracles: for each study the report of a pool that a metric ranks best. What do other metrics say of it?

A metric that serves as a retrieval model shows what it overlooks: the report it likes best is judged by others, or by
raters (Yu et al. 2023, Patterns, where radiologists judged what four metrics retrieved: ReXVal). The pool holds other
studies' reports, in the paper those of the training set.

- A report whose text equals the reference is left out, for finding it says nothing; `identical="allowed"` takes it, as
  the paper does (26 of ReXVal's 200 pairs are such).
- Of reports that a metric ranks alike the first of the pool is taken.
- Where a metric scores no report above zero, the most frequent report of the pool is taken, as in the paper.
- A study for which a metric scores no report of the pool, as it does not read the reference, is left out of the whole
  table, so that all oracles are of the same studies; `left_out` names it.
- A random report is one of a random study: a text that many studies have is drawn as often.

How the best report of a large pool is found: `rrgmetrics.metaeval.nearest`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.nearest import Question, nearest
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array
from rrgmetrics.scoring.prepared import prepare
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs.names import check_per_pair
from rrgmetrics.stats import LEVEL, Estimate, bootstrap
from rrgmetrics.utils.text_format import by_number, listed

RANDOM = "a random report"
Identical = Literal["left-out", "allowed"]


class Protocol(NamedTuple):
    """Settings under one name: whether the reference's own text may be found, and how many reports are drawn."""

    identical: Identical
    n_pool: int


PROTOCOLS = {"default": Protocol("left-out", 200), "yu2023": Protocol("allowed", 0)}
KEPT = 1_000  # references whose readings are kept while the pool is scored
IDENTICAL: tuple[Identical, ...] = ("left-out", "allowed")


@dataclass(frozen=True)
class Oracles:
    """What metrics retrieve, and what metrics say of it.

    Attributes:
        study_ids: The studies, the queries.
        retrieved: By oracle (a metric's name, `RANDOM`, or a system), the pair of each study.
        judged: By oracle and metric, the Result of the retrieved pairs.
        n_pool: Different reports of the pool.
        trials: Resamples of studies behind each interval.
        seed: Of the draws and intervals.
        systems: Which of `retrieved` are systems' reports.
        left_out: Studies that were drawn and are not here, each with the metrics that score no report for it.
    """

    study_ids: Sequence[str]
    retrieved: Mapping[str, Sequence[Pair]]
    judged: Mapping[str, Mapping[str, Result]]
    n_pool: int
    trials: int
    seed: int
    systems: tuple[str, ...] = ()
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def metrics(self) -> list[str]:
        """The oracles that are metrics."""
        return [name for name in self.retrieved if name != RANDOM and name not in self.systems]

    def score(self, oracle: str, metric: str) -> Estimate:
        """The headline of a metric on what an oracle retrieved, with its interval over studies."""
        result = self.judged[oracle][metric]
        scores = bootstrap(result.reduction, result.pair_stats, trials=self.trials, level=LEVEL, seed=self.seed)
        return scores[result.spec.headline.name]

    def change(self, oracle: str, metric: str) -> float:
        """By how many per cent a metric's headline differs from that of a random report; NaN where that one is 0."""
        key = self.judged[oracle][metric].spec.headline.name
        value, random = (self.judged[name][metric].scores[key] for name in (oracle, RANDOM))
        return 100 * (value - random) / abs(random) if random else math.nan

    def rows(self) -> Iterator[dict[str, object]]:
        """Yields the retrieved pairs with their scores."""
        for oracle, pairs in self.retrieved.items():
            scores = {metric: result.headline for metric, result in self.judged[oracle].items()}
            for number, (study, pair) in enumerate(zip(self.study_ids, pairs, strict=True)):
                about = {"study_id": study, "reference": pair.reference, "candidate": pair.candidate, "source": oracle}
                yield {**about, **{metric: float(values[number]) for metric, values in scores.items()}}

    def numbers(self) -> Iterator[dict[str, object]]:
        """Yields the score of each metric on what each oracle retrieved, and its change against a random report."""
        for oracle, judged in self.judged.items():
            for metric in judged:
                score = self.score(oracle, metric)._asdict()
                yield {"oracle": oracle, "metric": metric, **score, "change_percent": self.change(oracle, metric)}


class Pool:
    """Different reports to retrieve from, in their order, with how often each stands in the pool.

    Args:
        reports: All of them; blank ones are left out.
        n: How many different ones are drawn; 0 takes all.
        rng: Of the draw.
    """

    def __init__(self, reports: Sequence[str], n: int, rng: np.random.Generator) -> None:
        counts = Counter(filter(str.strip, reports))
        self.texts = _drawn(list(counts), n, rng)
        self.counts = np.array([counts[text] for text in self.texts])
        self._same: dict[str, list[int]] = {}
        for row, text in enumerate(self.texts):
            self._same.setdefault(_words(text), []).append(row)

    def question(self, study: str, pair: Pair, identical: Identical) -> Question:
        """What is asked of the pool for a study; InputError where it has no other report."""
        left_out = self._same.get(_words(pair.reference), []) if identical == "left-out" else []
        if len(left_out) == len(self.texts):
            raise InputError(f"The pool has no other report for study {study!r}.")
        return Question(study, pair, frozenset(left_out))

    def weights(self, question: Question) -> Array:
        """How often each report stands in the pool; 0 of those that are left out."""
        weights = self.counts.astype(np.float64)
        weights[list(question.left_out)] = 0
        return weights


def oracles(
    pairs: Mapping[str, Pair],
    pool: Sequence[str],
    metrics: Sequence[str],
    *,
    judges: Sequence[str] = (),
    systems: Mapping[str, Mapping[str, str]] | None = None,
    identical: Identical = "left-out",
    n_queries: int = 50,
    n_pool: int = 200,
    trials: int = 1_000,
    seed: int = 0,
    batch_size: int | None = None,
    device: str | None = None,
    progress: bool = True,
) -> Oracles:
    """Retrieves with metrics, and judges what they retrieve.

    Args:
        pairs: The studies by id: reference and context; candidates are not used.
        pool: Reports to retrieve from, the references themselves for example; a report that stands there several times
            is as many times as frequent.
        metrics: The oracles, as `rrgmetrics.score` takes them. Those without an index score `n_queries` × `n_pool`
            pairs; before long work a line says how long.
        judges: Metrics that judge what is retrieved; empty takes the oracles.
        systems: By a system's name its report of each study, which are judged beside the oracles'.
        identical: Whether a report whose text equals the reference is left out or allowed.
        n_queries: Studies drawn; 0 takes all.
        n_pool: Different reports of the pool drawn; 0 takes all.
        trials: Resamples of studies behind each interval.
        seed: Of the draws and intervals.
        batch_size: As in `rrgmetrics.score`.
        device: As in `rrgmetrics.score`.
        progress: As in `rrgmetrics.score`.

    Raises:
        InputError: No studies, none for which each metric scores a report, a pool without another report for a study,
            or a system without a report of one.
    """
    if identical not in IDENTICAL:
        raise InputError(f"identical is {identical!r}; pass {' or '.join(map(repr, IDENTICAL))}.")
    names = list(dict.fromkeys((*metrics, *judges)))
    check_per_pair(names, "an oracle")
    rng = np.random.default_rng(seed)
    studies = _drawn(list(pairs), n_queries, rng)
    if not studies:
        raise InputError("There are no studies.")
    reports = Pool(pool, n_pool, rng)
    questions = [reports.question(study, pairs[study], identical) for study in studies]
    for name, own in (systems or {}).items():
        _check_system(name, own, studies)
    retrieved: dict[str, list[Pair]] = {}
    kept = min(len(studies), KEPT)
    with prepare(names, batch_size=batch_size, device=device, kept_references=kept) as ready:
        found = nearest(ready.only(metrics), questions, reports.texts, reports.counts, progress=progress)
        left_out = _left_out(found, studies)
        kept_rows = [number for number, study in enumerate(studies) if study not in left_out]
        questions = [questions[number] for number in kept_rows]
        found = {name: [rows[number] for number in kept_rows] for name, rows in found.items()}
        made = {name: _of_system(own, questions) for name, own in (systems or {}).items()}
        found[RANDOM] = [_random(reports.weights(question), rng) for question in questions]
        for name, rows in found.items():
            texts = [reports.texts[row] for row in rows]
            retrieved[name] = [each.pair._replace(candidate=text) for each, text in zip(questions, texts, strict=True)]
        retrieved |= _named_apart(made, retrieved)
        judging = ready.only(judges or metrics)
        every = judging.score_sets(list(retrieved.values()), progress=progress)
    judged = dict(zip(retrieved, every, strict=True))
    ids = [question.study for question in questions]
    return Oracles(ids, retrieved, judged, len(reports.texts), trials, seed, tuple(made), left_out)


def _left_out(found: Mapping[str, Sequence[int]], studies: Sequence[str]) -> dict[str, list[str]]:
    """By study the metrics that score no report for it; InputError if no study is left."""
    lacking = {
        study: [name for name, rows in found.items() if rows[number] < 0] for number, study in enumerate(studies)
    }
    left_out = {study: names for study, names in lacking.items() if names}
    if len(left_out) == len(studies):
        first, names = next(iter(left_out.items()))
        raise InputError(
            f"There is no study for which each metric scores a report of the pool: {listed(names)} "
            f"{by_number(len(names), 'scores', 'score')} none for study {first!r}; pass references that they "
            "support."
        )
    return left_out


def _check_system(name: str, reports: Mapping[str, str], studies: Sequence[str]) -> None:
    missing = next((study for study in studies if study not in reports), None)
    if missing is not None:
        raise InputError(f"The system {name!r} has no report for study {missing!r}.")


def _of_system(reports: Mapping[str, str], questions: Sequence[Question]) -> list[Pair]:
    return [each.pair._replace(candidate=reports[each.study]) for each in questions]


def _named_apart(made: dict[str, list[Pair]], retrieved: Mapping[str, Any]) -> dict[str, list[Pair]]:
    both = next((name for name in made if name in retrieved), None)
    if both is not None:
        raise InputError(f"A system and an oracle are called {both!r}; give the system another name.")
    return made


def _random(weights: Array, rng: np.random.Generator) -> int:
    """Draws a report by its weight."""
    sums = np.cumsum(weights)
    return int(np.searchsorted(sums, rng.integers(int(sums[-1])), side="right"))


def _drawn(values: list[str], n: int, rng: np.random.Generator) -> list[str]:
    """`n` of the values in their order; all if there are fewer, or `n` is 0."""
    if n <= 0 or n >= len(values):
        return values
    return [values[row] for row in sorted(rng.choice(len(values), n, replace=False))]


def _words(text: str) -> str:
    return " ".join(text.lower().split())
