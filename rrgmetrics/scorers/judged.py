"""What the scorers of judges share: verdicts → rows of numbers, means over what is known, verdicts as details."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rrgmetrics.judges.base import JudgeProtocol, Unscored
from rrgmetrics.judges.judge import ComparedPairs, Judge, judge_for, verdicts
from rrgmetrics.reports import Context, Pair
from rrgmetrics.scorers.base import Array, Runtime

EMBEDDED = ("default", "reader")


class Judging(Protocol):
    """What `details` needs of a judge's scorer."""

    @property
    def protocol(self) -> JudgeProtocol:
        """What is asked, and how replies are read."""

    @property
    def config(self) -> str:
        """Who answers."""

    @property
    def explain(self) -> bool:
        """Whether verdicts were asked for in words."""


@dataclass(frozen=True)
class KnownMean:
    """Reduction of scores of which a pair may lack some: the mean of each key over the pairs where it is known.

    A statistic is a score, 0 where it is unknown; behind all of them stands for each a 1 where it is known.
    """

    keys: tuple[str, ...]

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """Means; NaN where no pair has a value."""
        k = len(self.keys)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums[..., :k] / sums[..., k:]
        return {key: means[..., i] for i, key in enumerate(self.keys)}

    def per_pair(self, stats: Array) -> dict[str, Array]:
        """The values; NaN where unknown."""
        k = len(self.keys)
        values = np.where(stats[:, k:] == 0, np.nan, stats[:, :k])
        return {key: values[:, i] for i, key in enumerate(self.keys)}


def known_stats(rows: Sequence[Sequence[float]], n_keys: int) -> Array:
    """Statistics `(n_pairs, 2 n_keys)` for KnownMean from values, NaN where unknown; unscored without the first."""
    values = np.array(rows, dtype=np.float64).reshape(-1, n_keys)
    known = ~np.isnan(values)
    stats = np.hstack([np.where(known, values, 0.0), known])
    stats[~known[:, 0]] = np.nan
    return stats


def backend(
    protocol: JudgeProtocol, config: str, options: Mapping[str, Any], runtime: Runtime
) -> Judge | ComparedPairs:
    """The judge, or the reader in its place."""
    return judge_for(
        protocol,
        config,
        options,
        batch_size=runtime.batch_size,
        device=runtime.device,
        progress=runtime.progress,
    )


def judge(
    protocol: JudgeProtocol,
    references: Sequence[str],
    candidates: Sequence[str],
    contexts: Sequence[Context],
    annotations: Mapping[Any, Any],
) -> list[Any]:
    """A verdict or Unscored a pair."""
    return verdicts(protocol, list(map(Pair, references, candidates, contexts)), annotations)


def stats(found: Sequence[Any], row: Callable[[Any], Sequence[float]], n_keys: int) -> Array:
    """Statistics for KnownMean: `row` of each verdict; an unscored pair has none."""
    nothing = [np.nan] * n_keys
    return known_stats([nothing if isinstance(one, Unscored) else row(one) for one in found], n_keys)


def details(
    scorer: Judging,
    references: Sequence[str],
    candidates: Sequence[str],
    contexts: Sequence[Context],
    annotations: Mapping[Any, Any],
) -> dict[str, list[Any]]:
    """`<name>_explained`: each verdict in words, if asked for; `<name>_unscored`: why, with raw replies, of a judge."""
    said: dict[str, list[Any]] = {}
    asked = scorer.config not in EMBEDDED
    if asked or scorer.explain:
        found = judge(scorer.protocol, references, candidates, contexts, annotations)
        if scorer.explain:
            said[f"{scorer.protocol.name}_explained"] = [one.plain() for one in found]
        if asked:
            unscored = [one.plain() if isinstance(one, Unscored) else None for one in found]
            said[f"{scorer.protocol.name}_unscored"] = unscored
    return said
