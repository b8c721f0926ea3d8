"""The scorers of judges: from verdicts to rows of numbers to means over known values; verdicts are the details."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np

from rrgmetrics.backends.compared_pairs import ComparedPairs
from rrgmetrics.errors import InputError
from rrgmetrics.judges.base import JudgeProtocol, Runs, SupportsCut, Unscored
from rrgmetrics.judges.judge import Judge, judge_for, verdicts
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Reduction, Runtime

Annotations: TypeAlias = Mapping[Any, Any]

BUNDLED_ENGINES = ("default", "reader")


@dataclass(frozen=True)
class KnownMean:
    """The reduction of scores of which a pair may lack some: each key's mean over the pairs where it is known.

    A statistic is a score, 0 where it is unknown; behind all of them stands for each a 1 where it is known. What stands
    behind these is no score.
    """

    keys: tuple[str, ...]

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """The means; NaN where no pair has a value."""
        k = len(self.keys)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums[..., :k] / sums[..., k : 2 * k]
        return {key: means[..., i] for i, key in enumerate(self.keys)}

    def per_pair(self, stats: Array) -> dict[str, Array]:
        """The values of each pair; NaN where unknown."""
        k = len(self.keys)
        values = np.where(stats[:, k : 2 * k] == 0, np.nan, stats[:, :k])
        return {key: values[:, i] for i, key in enumerate(self.keys)}


def known_stats(rows: Sequence[Sequence[float]], n_keys: int) -> Array:
    """The statistics `(n_pairs, 2 n_keys)` for KnownMean, from values (NaN: unknown); unscored without the first."""
    values = np.array(rows, dtype=np.float64).reshape(-1, n_keys)
    known = ~np.isnan(values)
    stats = np.hstack([np.where(known, values, 0.0), known])
    stats[~known[:, 0]] = np.nan
    return stats


def row_of(outcome: Any, row: Callable[[Any], Sequence[float]], n_values: int) -> Sequence[float]:
    """The values of an outcome: of a verdict its own, of runs their means over the runs that know them, else NaN."""
    if isinstance(outcome, Unscored):
        return [np.nan] * n_values
    if not isinstance(outcome, Runs):
        return row(outcome)
    values = np.array([row(verdict) for verdict in outcome.verdicts], dtype=np.float64)
    known = ~np.isnan(values)
    n_known = known.sum(axis=0)
    means = np.where(known, values, 0.0).sum(axis=0) / np.maximum(n_known, 1)
    return np.where(n_known > 0, means, np.nan).tolist()  # type: ignore[no-any-return]  # a list of floats


@dataclass(frozen=True)
class JudgeScorer(ABC):
    """Scores pairs by the verdicts of the engine that `config` names; a pair without a verdict is unscored.

    Attributes:
        keys: Names of the values that `row` gives; the headline first.
        config: Who answers: the reader, a model, a server, recorded replies.
        engine: Options of that engine.
        explain: Whether verdicts are wanted in words.
    """

    keys: ClassVar[tuple[str, ...]]

    config: str = "default"
    engine: Mapping[str, Any] = field(default_factory=dict)
    explain: bool = False

    def __post_init__(self) -> None:
        if self.explain and int(self.engine.get("runs", 1)) > 1:
            raise InputError("Explained verdicts come from a single run; leave out explain, or runs.")

    @property
    @abstractmethod
    def protocol(self) -> JudgeProtocol:
        """The protocol: the prompts, and the parser of the replies."""

    @staticmethod
    @abstractmethod
    def row(verdict: Any) -> Sequence[float]:
        """Returns a verdict's values in the order of `keys`; NaN where unknown."""

    @property
    def engine_config(self) -> str:
        """The configuration as engines know it."""
        return self.config

    @property
    def reduction(self) -> Reduction:
        """The means over the pairs where a value is known."""
        return KnownMean(self.keys)

    def backend(self, runtime: Runtime) -> Judge | ComparedPairs:
        """The judge, or its bundled stand-in, the reader."""
        return judge_for(
            self.protocol,
            self.engine_config,
            self.engine,
            batch_size=runtime.batch_size,
            device=runtime.device,
            progress=runtime.progress,
        )

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Annotations,
        statistics: None = None,
    ) -> Array:
        """The statistics for `reduction`, then whether the question was cut; NaN for an unscored pair."""
        outcomes = verdicts(self.protocol, pairs, annotations)
        stats = known_stats([row_of(outcome, self.row, len(self.keys)) for outcome in outcomes], len(self.keys))
        if not self._cuts:
            return stats
        cut = np.array([self.protocol.is_cut(pair) for pair in pairs], dtype=np.float64)  # type: ignore[attr-defined]
        return np.column_stack([stats, np.where(np.isnan(stats[:, 0]), np.nan, cut)])

    def notes(self, stats: Array) -> Mapping[str, str]:
        """The number of pairs that the judge was asked about in part, as their reports are too long."""
        is_counted = stats.shape[1] > 2 * len(self.keys)  # results of earlier versions have no such column
        return {"too_long": str(int(np.nansum(stats[:, -1])))} if self._cuts and is_counted else {}

    def _of_runs(self, outcome: Any) -> dict[str, list[float | None]] | None:
        """The values of each run, by key; None for a pair that no run has scored."""
        if not isinstance(outcome, Runs):
            return None
        runs = [{} if isinstance(each, Unscored) else self.values_of(each) for each in outcome.outcomes]
        return {key: [None if np.isnan(run.get(key, np.nan)) else float(run[key]) for run in runs] for key in self.keys}

    def values_of(self, verdict: Any) -> Mapping[str, float]:
        """The values of one verdict by key; NaN where unknown."""
        return dict(zip(self.keys, self.row(verdict), strict=True))

    @property
    def _cuts(self) -> bool:
        """Whether an engine is asked about the first words only of long reports."""
        return self.config not in BUNDLED_ENGINES and isinstance(self.protocol, SupportsCut)

    def details(
        self,
        pairs: Sequence[Pair],
        annotations: Annotations,
    ) -> Mapping[str, Sequence[Any]]:
        """Returns verdicts (`<name>_explained`, with `explain`), why pairs are unscored (`<name>_unscored`), and runs.

        `<name>_runs` has for each pair the values of each run by key, None where a run has none; with several runs.
        """
        details: dict[str, list[Any]] = {}
        asked, name = self.config not in BUNDLED_ENGINES, self.protocol.name
        if not asked and not self.explain:
            return details
        outcomes = verdicts(self.protocol, pairs, annotations)
        if self.explain:
            details[f"{name}_explained"] = [outcome.to_dict() for outcome in outcomes]
        if asked:
            details[f"{name}_unscored"] = [one.to_dict() if isinstance(one, Unscored) else None for one in outcomes]
        if asked and int(self.engine.get("runs", 1)) > 1:
            details[f"{name}_runs"] = [self._of_runs(outcome) for outcome in outcomes]
        return details
