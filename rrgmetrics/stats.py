"""Intervals, paired tests and rank correlations, from statistics of pairs.

Everything here draws which pairs stand in a set and takes their scores from `aggregate.weighted_scores`: no text is
read again, and corpus metrics (BLEU's summed counts) are treated exactly. Trials run in blocks, so memory does not
grow with their number. Each call makes its own generator from `seed`: no result depends on what was computed before.

Sources: bootstrap percentile intervals, Efron and Tibshirani 1993, chapter 13; approximate randomisation, Noreen 1989
(p = (count + 1) / (trials + 1)); Holm 1979; Benjamini and Hochberg 1995; tau-b, Kendall 1945.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rrgmetrics import aggregate
from rrgmetrics.errors import InputError
from rrgmetrics.scorers.base import Array, Mean, Reduction

TRIALS = 10_000
LEVEL = 0.95
EXACT_PAIRS = 14  # up to here all 2^n swaps are enumerated: 16,384 sets
MATRIX_PAIRS = 3_000  # up to here tau-b of all resamples is one product with an n x n matrix of signs
TOLERANCE = 1e-10  # two differences this close are a tie: sums of floats depend on their order
BLOCK_CELLS = 2_000_000  # 16 MB of weights at a time

Groups = Sequence[Any] | NDArray[Any]


class Estimate(NamedTuple):
    """A value, the ends of its interval, and the number of pairs (or studies) behind it; NaN is undefined."""

    value: float
    low: float
    high: float
    n: int


class Correlation(NamedTuple):
    """Kendall's tau-b, Spearman's rho and Pearson's r of the same pairs, each from -1 to 1, and their number."""

    tau_b: Estimate
    rho: Estimate
    r: Estimate
    n: int


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
    """

    baseline: float
    system: float
    difference: Estimate
    effect_size: float
    p_value: float
    exact: bool
    n_left_out: int


def bootstrap(
    reduction: Reduction,
    stats: Array,
    *,
    groups: Groups | None = None,
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Computes corpus scores with percentile bootstrap intervals.

    Args:
        reduction: The metric's arithmetic.
        stats: `(n_pairs, n_stats)`; unscored rows (NaN) are left out first.
        groups: What is resampled: one id a pair (the case, the study); None resamples pairs.
        trials: Number of resamples.
        level: Coverage, between 0 and 1.
        seed: Of this call's own generator.

    Returns:
        For each key its value on all scored pairs, the interval, and the number of scored pairs.

    Raises:
        InputError: `groups` of another length; `trials` or `level` out of range.

    Example:
        >>> bootstrap(Mean(("score",)), np.array([[0.0], [0.5], [1.0], [np.nan]]))["score"].n
        3
    """
    keep = aggregate.scored(stats)
    kept = stats[keep]
    index = _group_index(groups, len(stats))[keep]

    def scores(weights: Array) -> dict[str, Array]:
        return aggregate.weighted_scores(reduction, kept, weights)

    return _resampled(scores, index, trials, level, seed)


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
    index = _group_index(groups, len(baseline))[keep]

    def differences(weights: Array) -> dict[str, Array]:
        ours, theirs = (aggregate.weighted_scores(compared, stats, weights) for stats in (second, first))
        return {key: ours[key] - theirs[key] for key in ours}

    intervals = _resampled(differences, index, trials, level, seed)
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


def correlate(
    x: ArrayLike,
    y: ArrayLike,
    *,
    groups: Groups | None = None,
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
) -> Correlation:
    """Computes the rank and linear correlation of two columns, with percentile bootstrap intervals.

    Args:
        x: `(n_pairs,)`; a pair with NaN in either column is left out.
        y: `(n_pairs,)`.
        groups: What is resampled: one id a pair (the case, the study); None resamples pairs.
        trials: Number of resamples.
        level: Coverage, between 0 and 1.
        seed: Of this call's own generator.

    Returns:
        tau-b, rho and r; NaN where a column is constant or fewer than two pairs are left. Resamples in which a column
        is constant have no correlation and are left out of the interval.

    Raises:
        InputError: Columns or `groups` of different lengths, or not one-dimensional; `trials` or `level` out of range.

    Example:
        >>> round(correlate([1, 2, 3, 4], [1, 3, 2, 4]).tau_b.value, 3)
        0.667
    """
    x, y, keep = _columns(x, y)
    index = _group_index(groups, len(keep))[keep]
    columns = _Columns.of(x, y)
    estimates = _resampled(columns.correlations, index, trials, level, seed)
    return Correlation(**estimates, n=len(x))


def blocked_tau_b(
    x: ArrayLike, y: ArrayLike, *, groups: Groups, trials: int = TRIALS, level: float = LEVEL, seed: int = 0
) -> Estimate:
    """Computes the agreement within studies: tau-b over each study's candidates, averaged over studies.

    Unlike a correlation over all pairs it is not moved by studies that are harder than others.

    Args:
        x: `(n_pairs,)`; a pair with NaN in either column is left out.
        y: `(n_pairs,)`.
        groups: The study of each pair.
        trials: Number of resamples, of studies.
        level: Coverage, between 0 and 1.
        seed: Of this call's own generator.

    Returns:
        The mean, from -1 to 1, its interval, and the number of studies used: those where neither column is constant.

    Raises:
        InputError: As `correlate`.
    """
    x, y, keep = _columns(x, y)
    index = _group_index(groups, len(keep))[keep]
    taus = np.full((index.max(initial=-1) + 1, 1), np.nan)
    for study, rows in enumerate(_rows_of_groups(index)):
        columns = _Columns.of(x[rows], y[rows])
        taus[study] = columns.correlations(np.ones((1, len(rows))))["tau_b"]
    return bootstrap(Mean(("tau_b",)), taus, trials=trials, level=level, seed=seed)["tau_b"]


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


# --- resampling


def _resampled(
    scores: Callable[[Array], Mapping[str, Array]], index: NDArray[np.intp], trials: int, level: float, seed: int
) -> dict[str, Estimate]:
    """Values of `scores(weights)` on all pairs, with intervals over resampled groups."""
    if trials < 1:
        raise InputError(f"trials is {trials}; draw at least one resample.")
    if not 0 < level < 1:
        raise InputError(f"level is {level}; pass a coverage between 0 and 1, such as 0.95.")
    whole = scores(np.ones((1, len(index))))
    blocks = [scores(weights) for weights in _resamples(index, trials, seed)]
    drawn = {key: np.concatenate([block[key] for block in blocks]) for key in whole} if blocks else {}
    return {
        key: Estimate(float(value[0]), *_interval(drawn.get(key, value), value[0], level), len(index))
        for key, value in whole.items()
    }


def _resamples(index: NDArray[np.intp], trials: int, seed: int) -> Iterator[Array]:
    """Blocks `(n_sets, n_pairs)`: how often each pair stands in each resample of the groups in `index`."""
    if not len(index):
        return
    _, index = np.unique(index, return_inverse=True)
    n_groups = int(index.max()) + 1
    rng = np.random.default_rng(seed)
    for size in _block_sizes(trials, len(index)):
        drawn = rng.integers(n_groups, size=(size, n_groups)) + n_groups * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n_groups).reshape(size, n_groups)
        yield counts[:, index].astype(np.float64)


def _block_sizes(trials: int, n_cells: int) -> Iterator[int]:
    size = max(1, BLOCK_CELLS // n_cells)
    for start in range(0, trials, size):
        yield min(size, trials - start)


def _interval(samples: Array, value: float, level: float) -> tuple[float, float]:
    samples = samples[~np.isnan(samples)]
    if not len(samples) or np.isnan(value):
        return np.nan, np.nan
    low, high = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _group_index(groups: Groups | None, n_pairs: int) -> NDArray[np.intp]:
    """Groups as numbers from 0 in the order of their first pair: their names cannot move a result."""
    if groups is None:
        return np.arange(n_pairs)
    if len(groups) != n_pairs:
        raise InputError(f"groups has {len(groups)} entries for {n_pairs} pairs; pass one id a pair.")
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.intp)


def _rows_of_groups(index: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    order = np.argsort(index, kind="stable")
    return np.split(order, np.cumsum(np.bincount(index))[:-1]) if len(index) else []


# --- paired randomisation


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
    for size in _block_sizes(trials, 2 * n_pairs):
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


# --- correlation


def _columns(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array, NDArray[np.bool_]]:
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InputError(f"x has shape {x.shape} and y {y.shape}; pass two columns with one value a pair.")
    keep = ~(np.isnan(x) | np.isnan(y))
    return x[keep], y[keep], keep


class _Ties(NamedTuple):
    """A column's distinct values in order: pairs sorted by value, where each value starts, which value a pair has."""

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    inverse: NDArray[np.intp]

    @classmethod
    def of(cls, values: Array) -> _Ties:
        _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
        return cls(np.argsort(inverse, kind="stable"), np.cumsum(counts) - counts, inverse)

    def weights(self, weights: Array) -> Array:
        """The weight of each distinct value in each set, `(n_sets, n_values)`."""
        tied: Array = np.add.reduceat(weights[:, self.order], self.starts, axis=1)
        return tied

    def centred_ranks(self, weights: Array, tied: Array) -> Array:
        """The mid-rank of each pair in each set, less the mean rank, `(n_sets, n_pairs)`."""
        ranks: Array = np.cumsum(tied, axis=1) - tied / 2 - weights.sum(axis=1, keepdims=True) / 2
        return ranks[:, self.inverse]


@dataclass(frozen=True)
class _Columns:
    """Two columns, prepared so that the correlations of many weighted sets are a few array operations."""

    x: Array
    y: Array
    ties: tuple[_Ties, _Ties]
    signs: NDArray[np.float32] | None

    @classmethod
    def of(cls, x: Array, y: Array) -> _Columns:
        if len(x):
            x, y = x - x.mean(), y - y.mean()
        ties = _Ties.of(x), _Ties.of(y)
        if len(x) > MATRIX_PAIRS:
            return cls(x, y, ties, None)
        # The product of weights and signs holds whole numbers up to n_pairs, which float32 holds exactly.
        first, second = (np.sign(tie.inverse[:, None] - tie.inverse, dtype=np.float32) for tie in ties)
        return cls(x, y, ties, first * second)

    def correlations(self, weights: Array) -> dict[str, Array]:
        """Computes tau-b, rho and r of sets with pair i `weights[set, i]` times; NaN where a column is constant."""
        n_sets = len(weights)
        if len(self.x) < 2:
            return {name: np.full(n_sets, np.nan) for name in ("tau_b", "rho", "r")}
        n = weights.sum(axis=1)
        tied = [tie.weights(weights) for tie in self.ties]
        untied = [n**2 - np.einsum("ij,ij->i", weight, weight) for weight in tied]
        defined = (untied[0] > 0) & (untied[1] > 0)
        ranks = [tie.centred_ranks(weights, weight) for tie, weight in zip(self.ties, tied, strict=True)]
        values = {
            "tau_b": _ratio(self._concordance(weights), untied[0], untied[1]),
            "rho": _ratio(*(np.einsum("ij,ij,ij->i", weights, ranks[a], ranks[b]) for a, b in _MOMENTS)),
            "r": self._pearson(weights, n),
        }
        return {name: np.where(defined, value, np.nan) for name, value in values.items()}

    def _concordance(self, weights: Array) -> Array:
        """Counts concordant less discordant pairs of pairs, each counted twice."""
        if self.signs is None:
            return np.array([_concordance(*(np.repeat(t.inverse, w.astype(int)) for t in self.ties)) for w in weights])
        products: Array = np.einsum("ij,ij->i", weights.astype(np.float32) @ self.signs, weights)
        return products

    def _pearson(self, weights: Array, n: Array) -> Array:
        columns = (self.x, self.y)
        sums = weights @ np.stack([*columns, *(columns[a] * columns[b] for a, b in _MOMENTS)], axis=1)
        return _ratio(*(sums[:, 2 + i] - sums[:, a] * sums[:, b] / n for i, (a, b) in enumerate(_MOMENTS)))


_MOMENTS = ((0, 1), (0, 0), (1, 1))


def _ratio(product: Array, first: Array, second: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio: Array = np.clip(product / np.sqrt(first * second), -1.0, 1.0)
    return ratio


def _concordance(x: NDArray[np.intp], y: NDArray[np.intp]) -> float:
    """Counts concordant less discordant pairs of pairs, each counted twice, in n log n."""
    from scipy.stats import kendalltau

    n = float(len(x)) ** 2
    untied = [n - float((np.bincount(values).astype(np.float64) ** 2).sum()) for values in (x, y)]
    return float(kendalltau(x, y).statistic * np.sqrt(untied[0]) * np.sqrt(untied[1]))
