"""A pair's score as a harness keeps it: a number that carries what corpus scores follow from.

Harnesses score sample by sample and then hand all values of a key to a function. The mean of samples' values is neither
corpus BLEU nor CheXbert's micro F1; the sums of their statistics give both exactly, over however many processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.reports import Pair
from rrgmetrics.scorers import aggregate
from rrgmetrics.scorers.base import Reduction
from rrgmetrics.scoring.prepared import Metrics, prepare, reduction_of
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs.names import MetricName

UNSCORED = "_n_unscored"


class PairValue(float):
    """The value of a key for one pair, NaN if there is none; logs as a plain number.

    Attributes:
        metric: The metric's name, as it was asked for.
        key: The key of the metric, or `<metric>_n_unscored`, whose value is 0 or 1.
        statistics: The pair's row of statistics; NaN if it is unscored.
        pair: The pair itself, for a metric in which a pair's score depends on the other pairs; else None.
    """

    metric: str
    key: str
    statistics: tuple[float, ...]
    pair: Pair | None

    def __new__(
        cls, value: float, metric: str, key: str, statistics: Sequence[float], pair: Pair | None = None
    ) -> PairValue:
        """Makes the number and what it carries."""
        self = super().__new__(cls, value)
        self.metric, self.key, self.statistics, self.pair = metric, key, tuple(statistics), pair
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels between processes whole."""
        return PairValue, (float(self), self.metric, self.key, self.statistics, self.pair)


def columns(name: MetricName, *, all_keys: bool = True) -> dict[str, str]:
    """Returns the column of each key, in which `crepe@paper` differs from `crepe`: `{"crepe": "crepe__paper"}`.

    Args:
        name: The metric.
        all_keys: Whether to return every key, or the headline alone; the number of unscored pairs always.
    """
    keys = [key.name for key in (name.spec.keys if all_keys else name.spec.keys[:1])]
    unscored = {name.spec.name + UNSCORED: name.slug + UNSCORED}
    return {key: key + name.suffix for key in keys} | unscored


def pair_values(results: Mapping[str, Result], names: Mapping[str, MetricName], pair: Pair) -> dict[str, PairValue]:
    """Returns the values of one pair by column, from its Results by metric."""
    values = {}
    for text, result in results.items():
        name = names[text]
        kept = pair if name.counts_references else None
        row = result.pair_stats[0].tolist()
        single = {key: float(values[0]) for key, values in result.per_pair.items()}
        single[name.spec.name + UNSCORED] = float(result.n_unscored)
        for key, column in columns(name).items():
            values[column] = PairValue(single.get(key, np.nan), text, key, row, kept)
    return values


def score_pair(metrics: Metrics, pair: Pair) -> dict[str, PairValue]:
    """Scores one pair with all metrics; the values by column."""
    return pair_values(metrics.score_pairs([pair], progress=False, announce=False), metrics.names, pair)


def corpus_value(values: Sequence[float]) -> float:
    """Returns the corpus value of a key from the values of its pairs: exact, NaN if no pair is scored.

    Args:
        values: `PairValue`s of one key of one metric.

    Raises:
        InputError: Values that carry no statistics, or those of several keys.
    """
    kept = [value for value in values if isinstance(value, PairValue)]
    kinds = {(value.metric, value.key) for value in kept}
    if len(kept) < len(values) or len(kinds) > 1:
        raise InputError(
            "corpus_value takes the PairValues of one key, as returned by score_pair; pass them unchanged."
        )
    if not kept:
        return float("nan")
    ((metric, key),) = kinds
    pairs = tuple(value.pair for value in kept if value.pair is not None)
    if pairs:
        return _of_pairs(metric, pairs)[key]
    if key.endswith(UNSCORED):
        return float(sum(kept))
    return aggregate.reduce(_reduction(metric), np.array([value.statistics for value in kept]))[key]


@lru_cache(maxsize=1)
def _of_pairs(metric: str, pairs: tuple[Pair, ...]) -> dict[str, float]:
    result = prepare(metric).score_pairs(pairs, progress=False)[metric]
    return {**result.scores, result.spec.name + UNSCORED: result.n_unscored}


@lru_cache
def _reduction(metric: str) -> Reduction:
    return reduction_of(metric)
