"""The result of one metric, as `rrgmetrics.score` returns it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rrgmetrics import aggregate, stats
from rrgmetrics.english import counted, did_you_mean
from rrgmetrics.errors import InputError
from rrgmetrics.notebook import drawn
from rrgmetrics.scorers.base import Array, Reduction
from rrgmetrics.specs import MetricSpec

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False)
class Result:
    """The scores of one configured metric on one set of pairs.

    Example:
        >>> import rrgmetrics
        >>> rrgmetrics.score("rouge", predictions=["Clear lungs."], references=["Lungs are clear."])["rouge"]
        Result(rouge 0.400, 1 pair)

    Attributes:
        spec: Which metric: keys, ranges, directions.
        scores: Corpus values by key.
        per_pair: For each key that exists per pair (the headline always does) an array `(n_pairs,)`; NaN = unscored.
        pair_stats: `(n_pairs, n_stats)`, from which the scores of any subset follow exactly; NaN row = unscored.
        reduction: The arithmetic from `pair_stats` to scores.
        signature: What ran; `rrgmetrics.signature.read` turns it back into arguments.
        details: What a metric was asked to add for each pair, by key: a list with one entry a pair.
        bundled: Whether a stand-in scored, whose numbers do not compare with published ones.
        error: What made the metric fail, where that was asked for instead of the exception; every pair is unscored.
    """

    spec: MetricSpec
    scores: dict[str, float]
    per_pair: dict[str, Array]
    pair_stats: Array
    reduction: Reduction
    signature: str
    details: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    bundled: bool = False
    error: Exception | None = None

    @property
    def titled(self) -> MetricSpec:
        """The metric with titles as people read them: `GREEN (bundled)` where a stand-in scored."""
        return self.spec.titled(bundled=self.bundled)

    @property
    def title(self) -> str:
        """The metric's title as people read it."""
        return self.titled.title

    @property
    def n_pairs(self) -> int:
        """The number of pairs, scored or not."""
        return len(self.pair_stats)

    @property
    def n_unscored(self) -> int:
        """The number of pairs without a score; they count in no mean."""
        return int((~aggregate.scored(self.pair_stats)).sum())

    @property
    def unscored_reasons(self) -> dict[int, str]:
        """The reason why each unscored pair has no score, by its index."""
        reasons = self.details.get(f"{self.spec.name}_unscored") or [None] * self.n_pairs
        unscored = np.flatnonzero(~aggregate.scored(self.pair_stats)).tolist()
        return {index: (reasons[index] or {}).get("unscored", "the metric gave no number") for index in unscored}

    @property
    def unscored_counts(self) -> dict[str, int]:
        """The number of unscored pairs for each reason, the commonest first."""
        return dict(Counter(self.unscored_reasons.values()).most_common())

    def interval(
        self, key: str | None = None, *, trials: int = stats.TRIALS, level: float = stats.LEVEL, seed: int = 0
    ) -> stats.Estimate:
        """Returns a corpus score with its interval, by a bootstrap of the pairs.

        Args:
            key: Which of `scores`; None: the headline.
            trials: Number of resamples.
            level: Coverage, between 0 and 1.
            seed: Of the resamples.

        Returns:
            `value`, `low`, `high`, and the number `n` of scored pairs.

        Raises:
            InputError: No such key; `trials` or `level` out of range.
        """
        key = self.spec.name if key is None else key
        if key not in self.scores:
            near = did_you_mean(key, self.scores)
            raise InputError(f"{self.spec.name} has no key {key!r}; it has: {', '.join(self.scores)}.{near}")
        return stats.bootstrap(self.reduction, self.pair_stats, trials=trials, level=level, seed=seed)[key]

    def to_frame(self) -> pandas.DataFrame:
        """Returns the scores of each pair as a pandas frame.

        Returns:
            A line a pair, a column a key that exists per pair, NaN = unscored; and where a pair is unscored a column
            `unscored` with the reasons. Joined with a table of the pairs by the order: `frame.join(...)`.
        """
        import pandas

        frame = pandas.DataFrame(dict(self.per_pair))
        if reasons := self.unscored_reasons:
            frame["unscored"] = [reasons.get(index, "") for index in range(self.n_pairs)]
        return frame

    def __repr__(self) -> str:
        value = self.scores[self.spec.name]
        unscored = f", {self.n_unscored:,} unscored" if self.n_unscored else ""
        return f"Result({self.spec.name} {value:.3f}, {counted(self.n_pairs, 'pair')}{unscored})"

    def _repr_html_(self) -> str:
        """Every score with its range and direction, for a notebook."""
        return drawn(self)

    def reduce(self, rows: Sequence[int] | NDArray[np.integer] | NDArray[np.bool_] | slice) -> dict[str, float]:
        """Corpus scores of a subset of pairs, from their statistics: no text is read again.

        Args:
            rows: Indices, a mask or a slice of the pairs.

        Returns:
            Corpus values by key. For a metric with corpus statistics (CIDEr) the weights stay those of the whole set.
        """
        if not isinstance(rows, slice):
            rows = np.asarray(rows) if len(rows) else np.zeros(0, dtype=int)
        return aggregate.reduce(self.reduction, self.pair_stats[rows])


def unscored_lines(results: Mapping[str, Mapping[str, Result]]) -> list[str]:
    """Describes how many pairs each metric left unscored, and why, in a line for each system and metric.

    Args:
        results: For each system its Results by metric.
    """
    lines = []
    for system, by_metric in results.items():
        for metric, result in by_metric.items():
            if result.n_unscored:
                reasons = "; ".join(f"{reason}: {count:,}" for reason, count in result.unscored_counts.items())
                name = f"{system}, {metric}" if len(results) > 1 else metric
                lines.append(f"{name}: {result.n_unscored:,} of {result.n_pairs:,} pairs unscored ({reasons})")
    return lines
