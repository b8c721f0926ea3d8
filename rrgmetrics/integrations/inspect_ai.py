"""Scorers for inspect_ai, one a metric (extra `inspect`): `inspect score log.eval --scorer rrgmetrics/green`.

A sample's target is the radiologist's report, the model's completion the candidate; `age`, `sex` and `indication` are
read from the sample's metadata. A sample's value is the headline for that pair; what cannot be scored is unscored, with
the reason as its explanation. `corpus` makes every corpus value from the statistics that each score carries: they equal
`rrgmetrics.score` on all pairs.

Inspect reduces epochs to a mean before any metric sees them, and keeps the statistics of the first epoch alone. Where
the two disagree, corpus values that are no mean over pairs are NaN.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from rrgmetrics.errors import InputError, MissingExtraError
from rrgmetrics.integrations.documents import context_of
from rrgmetrics.reports import check_pairs
from rrgmetrics.scorers import aggregate
from rrgmetrics.scorers.base import Array
from rrgmetrics.scoring.prepared import Metrics, prepare, reduction_of
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs import MetricSpec, all_specs
from rrgmetrics.specs.names import MetricName, parse_config, parse_name
from rrgmetrics.stats import bootstrap
from rrgmetrics.utils.extras import install_command

try:
    from anyio import to_thread
    from inspect_ai.scorer import Score, metric, scorer
except ImportError as error:
    raise MissingExtraError(f"Scorers for inspect_ai need it: {install_command('inspect')}") from error

logger = logging.getLogger("rrgmetrics")

METRIC, STATISTICS, SIGNATURE = (
    "rrgmetrics_metric",
    "rrgmetrics_statistics",
    "rrgmetrics_signature",
)  # in a score's metadata


def corpus() -> Callable[[Sequence[Any]], dict[str, float]]:
    """Every corpus value of a metric, and the 95% interval of its headline by the bootstrap over pairs."""

    def values(scores: Sequence[Any]) -> dict[str, float]:
        kept = [sample.score for sample in scores if STATISTICS in (sample.score.metadata or {})]
        if not kept:
            return {}
        stats = np.array([score.metadata[STATISTICS] for score in kept], dtype=np.float64)
        return corpus_values(kept[0].metadata[METRIC], stats, np.array([score.as_float() for score in kept]))

    return values


def corpus_values(name: str, stats: Array, values: Array) -> dict[str, float]:
    """Returns corpus values by key, and `low` and `high` of the headline.

    Args:
        name: The metric, as `str(MetricName)` has it.
        stats: The statistics of the pairs `(n_pairs, n_statistics)`.
        values: The headline of each pair `(n_pairs,)`; a mean over epochs differs from that of the statistics.
    """
    spec, reduction = parse_name(name).spec, reduction_of(name)
    if not np.allclose(reduction.per_pair(stats)[spec.headline.name], values, rtol=0, atol=1e-9):
        logger.warning(
            f"{spec.name}: samples contain means over epochs, from which only a mean over pairs can be computed; "
            "run one epoch for the other values."
        )
        mean = float(values.mean()) if spec.level == "pair" else math.nan
        return {key.name: mean if key is spec.headline else math.nan for key in spec.keys}
    estimate = bootstrap(reduction, stats)[spec.headline.name]
    return {**aggregate.reduce(reduction, stats), "low": estimate.low, "high": estimate.high}


class PairScorer:
    """Scores one sample at a time with one metric, which is prepared when the first sample comes."""

    def __init__(self, name: MetricName) -> None:
        self.name = str(name)
        self._lock = threading.Lock()
        self._prepared: Metrics | None = None

    def score(self, candidate: str, reference: str, context: Mapping[str, Any]) -> Result:
        """Scores one pair."""
        pairs = check_pairs([candidate], [reference], [context])
        with self._lock:
            self._prepared = self._prepared or prepare(self.name)
        return self._prepared.score_pairs(pairs, progress=False, announce=False)[self.name]

    async def __call__(self, state: Any, target: Any) -> Score:
        """Scores a sample, beside the other samples: a judge is asked about several at a time."""
        candidate = state.output.completion
        result = await to_thread.run_sync(self.score, candidate, target.text, context_of(state.metadata))
        if result.n_unscored:
            return Score.unscored(reason="scoring_failed", answer=candidate, explanation=result.unscored_reasons[0])
        metadata = {METRIC: self.name, STATISTICS: result.pair_stats[0].tolist(), SIGNATURE: result.signature}
        value = float(result.headline[0])
        return Score(value=value, answer=candidate, metadata=metadata)


def scorer_of(spec: MetricSpec) -> Callable[..., Any]:
    """Registers the scorer of a metric, `rrgmetrics/<metric>`, with the argument `config`.

    `config` is what follows the metric's name: `paper`, `openai:<model>?base_url=...`, `?tokenizer=13a`.
    """

    def build(config: str = "") -> Any:
        name = parse_config(spec.name, config)
        if name.counts_references:
            raise InputError(
                f"{name}: the score of a pair depends on the other pairs, and inspect_ai scores each sample alone; "
                "score the texts of the log with `rrgmetrics score`."
            )
        return PairScorer(name)

    build.__name__ = spec.name
    build.__doc__ = f"{spec.title}: {spec.summary}."
    return cast("Callable[..., Any]", scorer(metrics=[corpus_metric()], name=spec.name)(build))


corpus_metric = metric(name="corpus")(corpus)
SCORERS = {name: scorer_of(spec) for name, spec in all_specs().items()}
globals().update(SCORERS)  # `from rrgmetrics.integrations.inspect_ai import green`
