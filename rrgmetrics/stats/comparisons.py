"""Paired comparisons of two systems, and corrections for many tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rrgmetrics import aggregate
from rrgmetrics.errors import InputError
from rrgmetrics.scorers.base import Array, Reduction
from rrgmetrics.stats.resampling import (
    LEVEL,
    TRIALS,
    Estimate,
    Groups,
    block_sizes,
    group_index,
    resampled,
)

EXACT_PAIRS = 14  # up to here all 2^n swaps are enumerated: 16,384 sets

TOLERANCE = 1e-10  # two differences this close are a tie: sums of floats depend on their order


@dataclass(frozen=True)
class Comparison:
    """The comparison of two systems on the same pairs in one score.

    Attributes:
        baseline: The baseline's corpus score on the pairs that both have.
        system: The other system's.
        difference: system - baseline, with its paired bootstrap interval; of a key with a target, that of the distances
            from it.
        effect_size: d_z, the mean of the per-pair differences over their standard deviation (Cohen 1988, 2.3.5); NaN
            where the score does not exist per pair or the differences are all alike.
        p_value: Two-sided, of the hypothesis that the systems are exchangeable.
        exact: Whether all swaps were enumerated.
        n_left_out: Pairs that only one of the two, or neither, has a score for.
        floor: The smallest p-value that the drawn swaps can give, 1 / (trials + 1); 0 where all were enumerated.
    """

    baseline: float
    system: float
    difference: Estimate
    effect_size: float
    p_value: float
    exact: bool
    n_left_out: int
    floor: float = 0.0

    @property
    def at_floor(self) -> bool:
        """Whether more trials could have given a smaller p-value, and these could not."""
        return self.p_value <= self.floor


def compare(
    reduction: Reduction,
    baseline: Array,
    system: Array,
    *,
    groups: Groups | None = None,
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
    targets: Mapping[str, float] | None = None,
) -> dict[str, Comparison]:
    """Compares two systems on the same pairs in every score of a metric.

    Args:
        reduction: The metric's arithmetic.
        baseline: The baseline's statistics `(n_pairs, n_stats)`; NaN row = unscored.
        system: The other system's statistics of the same studies, in the same order.
        groups: What the interval of the difference resamples (see `bootstrap`); the test swaps single pairs.
        trials: Number of random swaps and of resamples.
        level: Coverage of the interval of the difference.
        seed: Of this call's own generators.
        targets: The best value of each key that has one (`MetricSpec.targets`): its distances from it are compared.

    Returns:
        A comparison for each key. p-values of several keys or systems are corrected with `holm` or
        `benjamini_hochberg`.

    Raises:
        InputError: The two have different shapes; `groups`, `trials` or `level` as in `bootstrap`.
    """
    if baseline.shape != system.shape:
        raise InputError(
            f"baseline has statistics of shape {baseline.shape} and system of {system.shape}; score both systems with "
            "the same metric on the same studies."
        )
    keep = aggregate.scored(baseline) & aggregate.scored(system)
    first, second = baseline[keep], system[keep]
    compared = _Distances(reduction, targets) if targets else reduction
    index = group_index(groups, len(baseline))[keep]

    def differences(weights: Array) -> dict[str, Array]:
        ours, theirs = (aggregate.weighted_scores(compared, stats, weights) for stats in (second, first))
        return {key: ours[key] - theirs[key] for key in ours}

    intervals = resampled(differences, index, trials, level, seed)
    p_values = _randomisation(compared, first, second, trials, seed)
    scores = [aggregate.reduce(reduction, stats) for stats in (first, second)]
    per_pair = [compared.per_pair(stats) for stats in (first, second)]
    return {
        key: Comparison(
            baseline=scores[0][key],
            system=scores[1][key],
            difference=interval,
            effect_size=_effect_size(per_pair[1][key] - per_pair[0][key]) if key in per_pair[0] else np.nan,
            p_value=p_values[key],
            exact=len(first) <= EXACT_PAIRS,
            n_left_out=int((~keep).sum()),
            floor=0.0 if len(first) <= EXACT_PAIRS else 1 / (trials + 1),
        )
        for key, interval in intervals.items()
    }


def holm(p_values: ArrayLike) -> Array:
    """Corrects p-values so that the chance of any false rejection stays below the level (Holm 1979).

    Args:
        p_values: `(n_tests,)`; NaN stays NaN and does not count as a test.

    Returns:
        Corrected p-values `(n_tests,)`, at most 1, never below the given ones.

    Example:
        >>> holm([0.01, 0.04, 0.03]).tolist()
        [0.03, 0.06, 0.06]
    """
    return _corrected(p_values, lambda ordered, rank: np.maximum.accumulate(ordered * (len(ordered) - rank + 1)))


def benjamini_hochberg(p_values: ArrayLike) -> Array:
    """Corrects p-values for the share of false rejections (Benjamini and Hochberg 1995).

    Args:
        p_values: `(n_tests,)`; NaN stays NaN and does not count as a test.

    Returns:
        Corrected p-values `(n_tests,)`, at most 1, never below the given ones.

    Example:
        >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
        [0.03, 0.04, 0.04]
    """
    return _corrected(
        p_values, lambda ordered, rank: np.minimum.accumulate((ordered * len(ordered) / rank)[::-1])[::-1]
    )


@dataclass(frozen=True)
class _Distances:
    """A metric's arithmetic with the distance from the target in place of each score that has one."""

    reduction: Reduction
    targets: Mapping[str, float]

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        return self._turned(self.reduction.corpus(sums, n))

    def per_pair(self, stats: Array) -> dict[str, Array]:
        return self._turned(self.reduction.per_pair(stats))

    def _turned(self, scores: Mapping[str, Array]) -> dict[str, Array]:
        return {
            key: np.abs(values - self.targets[key]) if key in self.targets else values for key, values in scores.items()
        }


def _randomisation(reduction: Reduction, first: Array, second: Array, trials: int, seed: int) -> dict[str, float]:
    """Returns the two-sided p of each key: how often systems with swapped pairs differ as much as the real ones."""
    both = np.concatenate([first, second])

    def differences(swapped: Array) -> dict[str, Array]:
        kept = 1 - swapped
        ours = aggregate.weighted_scores(reduction, both, np.hstack([swapped, kept]))
        theirs = aggregate.weighted_scores(reduction, both, np.hstack([kept, swapped]))
        return {key: ours[key] - theirs[key] for key in ours}

    observed = differences(np.zeros((1, len(first))))
    counts = dict.fromkeys(observed, 0)
    n_sets = 0
    for swapped in _swaps(len(first), trials, seed):
        n_sets += len(swapped)
        for key, drawn in differences(swapped).items():
            size = abs(observed[key][0])
            counts[key] += int((np.abs(drawn) >= size - TOLERANCE * max(1.0, size)).sum())
    extra = 0 if len(first) <= EXACT_PAIRS else 1
    return {
        key: np.nan if np.isnan(observed[key][0]) else (count + extra) / (n_sets + extra)
        for key, count in counts.items()
    }


def _swaps(n_pairs: int, trials: int, seed: int) -> Iterator[Array]:
    """Blocks `(n_sets, n_pairs)` of 1 where a pair is swapped: all 2^n for few pairs, else random ones."""
    if n_pairs <= EXACT_PAIRS:
        yield (np.arange(2**n_pairs)[:, None] >> np.arange(n_pairs) & 1).astype(np.float64)
        return
    rng = np.random.default_rng(seed)
    for size in block_sizes(trials, 2 * n_pairs):
        yield rng.integers(2, size=(size, n_pairs), dtype=np.uint8).astype(np.float64)


def _effect_size(differences: Array) -> float:
    if len(differences) < 2 or np.ptp(differences) <= TOLERANCE * max(1.0, float(np.abs(differences).max())):
        return np.nan
    return float(differences.mean() / differences.std(ddof=1))


def _corrected(p_values: ArrayLike, step: Callable[[Array, NDArray[np.intp]], Array]) -> Array:
    corrected = np.array(p_values, dtype=np.float64)
    tests = np.flatnonzero(~np.isnan(corrected))
    order = tests[np.argsort(corrected[tests], kind="stable")]
    corrected[order] = np.minimum(step(corrected[order], np.arange(1, len(order) + 1)), 1.0)
    return corrected
