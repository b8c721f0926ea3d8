"""Metric oracles: for each study the report of a pool that a metric ranks best. What do other metrics say of it?

A metric that serves as a retrieval model shows what it overlooks: the report it likes best is judged by others, or by
raters (Yu et al. 2023, Patterns, where radiologists judged what four metrics retrieved: ReXVal). The pool holds other
studies' reports; a report whose text equals the reference is left out, for finding it says nothing. Of reports that a
metric ranks alike the first of the pool is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.prepared import prepare
from rrgmetrics.reports import Pair
from rrgmetrics.results import Result
from rrgmetrics.stats import LEVEL, Estimate, bootstrap

RANDOM = "a random report"


@dataclass(frozen=True)
class Oracles:
    """What metrics retrieve, and what metrics say of it.

    Attributes:
        study_ids: The studies, the queries.
        retrieved: By oracle (a metric's name, or `RANDOM`), the pair of each study.
        judged: By oracle and metric, the Result of the retrieved pairs.
        n_pool: Reports of the pool.
        trials: Resamples of studies behind each interval.
        seed: Of the draws and intervals.
    """

    study_ids: Sequence[str]
    retrieved: Mapping[str, Sequence[Pair]]
    judged: Mapping[str, Mapping[str, Result]]
    n_pool: int
    trials: int
    seed: int

    def score(self, oracle: str, metric: str) -> Estimate:
        """The headline of a metric on what an oracle retrieved, with its interval over studies."""
        result = self.judged[oracle][metric]
        scores = bootstrap(result.reduction, result.pair_stats, trials=self.trials, level=LEVEL, seed=self.seed)
        return scores[result.spec.name]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yields the retrieved pairs: a table for raters to fill in, and for `rrgmetrics agree` to read."""
        for oracle, pairs in self.retrieved.items():
            for number, (study, pair) in enumerate(zip(self.study_ids, pairs, strict=True)):
                scores = {
                    metric: float(result.per_pair[result.spec.name][number])
                    for metric, result in self.judged[oracle].items()
                }
                about = {"study_id": study, "reference": pair.reference, "candidate": pair.candidate, "source": oracle}
                yield {**about, **scores}


def oracles(
    pairs: Mapping[str, Pair],
    pool: Sequence[str],
    metrics: Sequence[str],
    *,
    judges: Sequence[str] = (),
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
        pool: Reports to retrieve from, the references themselves for example.
        metrics: The oracles, as `rrgmetrics.score` takes them. Each scores `n_queries` × `n_pool` pairs.
        judges: Metrics that judge what is retrieved; empty takes the oracles.
        n_queries: Studies drawn; 0 takes all.
        n_pool: Reports of the pool drawn; 0 takes all.
        trials: Resamples of studies behind each interval.
        seed: Of the draws and intervals.
        batch_size: As in `rrgmetrics.score`.
        device: As in `rrgmetrics.score`.
        progress: As in `rrgmetrics.score`.

    Raises:
        InputError: No studies, or a pool without another report for a study.
    """
    rng = np.random.default_rng(seed)
    studies = _drawn(list(pairs), n_queries, rng)
    distinct = _drawn(list(dict.fromkeys(filter(str.strip, pool))), n_pool, rng)
    choices = {
        study: [text for text in distinct if _words(text) != _words(pairs[study].reference)] for study in studies
    }
    bare = next((study for study, texts in choices.items() if not texts), None)
    if not studies or bare is not None:
        raise InputError(f"The pool has no other report for study {bare!r}." if studies else "There are no studies.")
    tried = [pairs[study]._replace(candidate=text) for study in studies for text in choices[study]]
    starts = np.cumsum([0, *(len(choices[study]) for study in studies)])
    retrieved: dict[str, list[Pair]] = {}
    with prepare(list(dict.fromkeys((*metrics, *judges))), batch_size=batch_size, device=device) as ready:
        for name, result in ready.only(metrics).score_pairs(tried, progress=progress).items():
            best = result.spec.headline.goodness(result.per_pair[result.spec.name])
            retrieved[name] = [tried[start + _best(best[start:end], name)] for start, end in pairwise(starts)]
        picks = [rng.integers(len(choices[study])) for study in studies]
        retrieved[RANDOM] = [tried[start + pick] for start, pick in zip(starts, picks, strict=False)]
        judging = ready.only(judges or metrics)
        every = judging.score_sets(list(retrieved.values()), progress=progress)
    judged = dict(zip(retrieved, every, strict=True))
    return Oracles(studies, retrieved, judged, len(distinct), trials, seed)


def _best(values: Any, name: str) -> int:
    if np.isnan(values).all():
        raise InputError(f"{name} scores no report of the pool for a study; give references that it reads.")
    return int(np.nanargmax(values))


def _drawn(values: list[str], n: int, rng: np.random.Generator) -> list[str]:
    """`n` of the values in their order; all if there are fewer, or `n` is 0."""
    if n <= 0 or n >= len(values):
        return values
    return [values[row] for row in sorted(rng.choice(len(values), n, replace=False))]


def _others(texts: Sequence[str], reference: str) -> list[str]:
    """The texts that are not the reference itself."""
    return [text for text in texts if _words(text) != _words(reference)]


def _words(text: str) -> list[str]:
    return text.lower().split()
