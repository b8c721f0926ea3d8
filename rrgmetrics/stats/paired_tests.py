"""Paired tests between two systems, and corrections for many tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rrgmetrics.errors import InputError
from rrgmetrics.scorers import aggregate
from rrgmetrics.scorers.base import Array, Reduction
from rrgmetrics.stats.resampling import (
    LEVEL,
    TRIALS,
    Estimate,
    Groups,
    Resampled,
    block_sizes,
    bootstrap_all,
    check_drawing,
    group_index,
    wanted_scores,
)
from rrgmetrics.stats.together import Kept, Wanted, drawn_scores

EXACT_PAIRS = 14  # up to here all 2^n swaps are enumerated: 16,384 sets

TOLERANCE = 1e-10  # two differences this close are a tie: sums of floats depend on their order


@dataclass(frozen=True)
class PairedTest:
    """The test of a difference between two systems on the same pairs, in one score.

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
) -> dict[str, PairedTest]:
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
        A test for each key. p-values of several keys or systems are corrected with `holm` or
        `benjamini_hochberg`.

    Raises:
        InputError: The two have different shapes; `groups`, `trials` or `level` as in `bootstrap`.
    """
    test = PairedStats(reduction, baseline, system, targets or {})
    return compare_all([test], groups=groups, trials=trials, level=level, seed=seed)[0][0]


class PairedStats(NamedTuple):
    """Two systems' statistics of the same studies, to be tested in a metric; as the arguments of `compare`."""

    reduction: Reduction
    baseline: Array
    system: Array
    targets: Mapping[str, float]


def compare_all(
    tests: Sequence[PairedStats],
    scores: Sequence[tuple[Reduction, Array]] = (),
    *,
    groups: Groups | None = None,
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
) -> tuple[list[dict[str, PairedTest]], list[dict[str, Estimate]]]:
    """Compares systems in many metrics on the same draws; alone or together, each number is the same.

    Args:
        tests: What to compare.
        scores: Metrics' arithmetic and statistics of which intervals are wanted too, as `bootstrap` gives them.
        groups: As in `compare`, of the pairs of all.
        trials: As in `compare`.
        level: As in `compare`.
        seed: As in `compare`.

    Returns:
        The tests of each of `tests`, by key, and the estimates of each of `scores`.

    Raises:
        InputError: As in `compare`.
    """
    check_drawing(trials, level)
    kept = Kept()
    ready = [_Ready.of(test, kept, groups) for test in tests]
    wanted = [wanted_scores(reduction, stats, group_index(groups, len(stats)), kept) for reduction, stats in scores]
    resampled = [*(each.interval for each in ready), *wanted]
    intervals = bootstrap_all(resampled, trials=trials, level=level, seed=seed)
    p_values = _randomisations(ready, trials, seed)
    compared = [
        each.compared(interval, p_value, trials)
        for each, interval, p_value in zip(ready, intervals, p_values, strict=False)
    ]
    return compared, intervals[len(ready) :]


@dataclass(frozen=True)
class _Ready:
    """A test on the pairs that both systems have a score for."""

    test: PairedStats
    reduction: Reduction
    first: Array
    second: Array
    interval: Resampled

    @classmethod
    def of(cls, test: PairedStats, kept: Kept, groups: Groups | None) -> _Ready:
        baseline, system = test.baseline, test.system
        if baseline.shape != system.shape:
            raise InputError(
                f"baseline has statistics of shape {baseline.shape} and system of {system.shape}; score both systems "
                "with the same metric on the same studies."
            )
        keep = aggregate.scored(baseline) & aggregate.scored(system)
        first, second = kept.of(baseline, keep), kept.of(system, keep)
        reduction = _Distances(test.reduction, test.targets) if test.targets else test.reduction

        def differences(sums: Sequence[Array], n: Array) -> dict[str, Array]:
            return _less(reduction.corpus(sums[1], n), reduction.corpus(sums[0], n))

        interval = Resampled(Wanted((first, second), differences), group_index(groups, len(baseline))[keep])
        return cls(test, reduction, first, second, interval)

    def compared(
        self, intervals: Mapping[str, Estimate], p_values: Mapping[str, float], trials: int
    ) -> dict[str, PairedTest]:
        """The test in each key."""
        scores = [aggregate.reduce(self.test.reduction, stats) for stats in (self.first, self.second)]
        per_pair = [self.reduction.per_pair(stats) for stats in (self.first, self.second)]
        exact = len(self.first) <= EXACT_PAIRS
        return {
            key: PairedTest(
                baseline=scores[0][key],
                system=scores[1][key],
                difference=interval,
                effect_size=_effect_size(per_pair[1][key] - per_pair[0][key]) if key in per_pair[0] else np.nan,
                p_value=p_values[key],
                exact=exact,
                n_left_out=len(self.test.baseline) - len(self.first),
                floor=0.0 if exact else 1 / (trials + 1),
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


def _randomisations(tests: Sequence[_Ready], trials: int, seed: int) -> list[dict[str, float]]:
    """The two-sided p of each key of each test; those on the same number of pairs swap the same ones."""
    sizes: dict[int, list[int]] = {}
    for place, test in enumerate(tests):
        sizes.setdefault(len(test.first), []).append(place)
    found: list[dict[str, float]] = [{} for _ in tests]
    for n_pairs, places in sizes.items():
        drawn = drawn_scores([_reached(tests[place]) for place in places], partial(_swaps, n_pairs, trials, seed))
        extra = 0 if n_pairs <= EXACT_PAIRS else 1
        for place, reached in zip(places, drawn, strict=True):
            found[place] = {
                key: np.nan if np.isnan(hits).any() else (int(hits.sum()) + extra) / (len(hits) + extra)
                for key, hits in reached.items()
            }
    return found


def _reached(test: _Ready) -> Wanted:
    """Whether systems with swapped pairs differ as much as the real ones: 1 or 0, NaN where these have no difference.

    To swap pairs is to move the difference of their statistics from one system's sums to the other's.
    """
    n = np.array([float(len(test.first))])
    totals = [stats.sum(axis=0)[None] for stats in (test.first, test.second)]
    scores = test.reduction.corpus
    observed = {key: abs(value[0]) for key, value in _less(scores(totals[1], n), scores(totals[0], n)).items()}

    def reached(sums: Sequence[Array], _: Array) -> dict[str, Array]:
        own, moved = np.full(len(sums[0]), n[0]), sums[0] - sums[1]
        drawn = _less(scores(totals[1] + moved, own), scores(totals[0] - moved, own))
        return {
            key: np.where(np.isnan(size), np.nan, np.abs(drawn[key]) >= size - TOLERANCE * max(1.0, size))
            for key, size in observed.items()
        }

    return Wanted((test.first, test.second), reached)


def _less(scores: Mapping[str, Array], others: Mapping[str, Array]) -> dict[str, Array]:
    return {key: scores[key] - others[key] for key in scores}


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
