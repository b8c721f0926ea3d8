"""Rank and linear correlations of two columns, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rrgmetrics.errors import InputError
from rrgmetrics.scorers.base import Array, Mean
from rrgmetrics.stats.resampling import (
    FEWEST_GROUPS,
    LEVEL,
    TRIALS,
    Estimate,
    Groups,
    bootstrap,
    group_index,
    interval,
    resampled,
    resamples,
    rows_of_groups,
    without_interval,
)

_MOMENTS = ((0, 1), (0, 0), (1, 1))
MATRIX_PAIRS = 3_000  # up to here tau-b of all resamples is one product with an n x n matrix of signs


class Correlation(NamedTuple):
    """Kendall's tau-b, Spearman's rho and Pearson's r of the same pairs, each from -1 to 1, and their number."""

    tau_b: Estimate
    rho: Estimate
    r: Estimate
    n: int


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
        is constant have no correlation and are left out of the interval. Of fewer than `FEWEST_GROUPS` groups there
        is no interval (NaN): no test of so few reaches 0.05.

    Raises:
        InputError: Columns or `groups` of different lengths, or not one-dimensional; `trials` or `level` out of range.

    Example:
        >>> round(correlate([1, 2, 3, 4], [1, 3, 2, 4]).tau_b.value, 3)
        0.667
    """
    x, y, keep = _columns(x, y)
    index = group_index(groups, len(keep))[keep]
    columns = _Columns.of(x, y)
    estimates = resampled(columns.correlations, index, trials, level, seed)
    if _are_few(index):
        estimates = {name: without_interval(each) for name, each in estimates.items()}
    return Correlation(**estimates, n=len(x))


def tau_p_value(x: ArrayLike, y: ArrayLike) -> float:
    """Computes the two-sided p-value of Kendall's test that tau-b is 0, as `scipy.stats.kendalltau` has it.

    The test takes all pairs as independent: where studies have several candidates it is too small, and the interval of
    `correlate` over studies is what holds.

    Args:
        x: `(n_pairs,)`; a pair with NaN in either column is left out.
        y: `(n_pairs,)`.

    Returns:
        NaN where a column is constant or fewer than two pairs are left.

    Example:
        >>> round(tau_p_value([1, 2, 3, 4, 5], [1, 2, 3, 5, 4]), 3)
        0.083
    """
    from scipy.stats import kendalltau

    x, y, _ = _columns(x, y)
    if len(x) < 2 or (x == x[0]).all() or (y == y[0]).all():
        return np.nan
    return float(kendalltau(x, y).pvalue)


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
        The mean, from -1 to 1, its interval (NaN of fewer than `FEWEST_GROUPS` studies), and the number of studies
        used: those where neither column is constant.

    Raises:
        InputError: As `correlate`.
    """
    x, y, keep = _columns(x, y)
    index = group_index(groups, len(keep))[keep]
    taus = np.full((index.max(initial=-1) + 1, 1), np.nan)
    for study, rows in enumerate(rows_of_groups(index)):
        columns = _Columns.of(x[rows], y[rows])
        taus[study] = columns.correlations(np.ones((1, len(rows))))["tau_b"]
    mean = bootstrap(Mean(("tau_b",)), taus, trials=trials, level=level, seed=seed)["tau_b"]
    return without_interval(mean) if mean.n < FEWEST_GROUPS else mean


class TauDraws(NamedTuple):
    """tau-b of all pairs, and of each resample of studies `(trials,)`; NaN where a column is constant.

    There are no draws of fewer than `FEWEST_GROUPS` studies: nothing about others follows from them.
    """

    value: float
    drawn: Array
    n: int


def tau_b_draws(
    x: ArrayLike, y: ArrayLike, *, groups: Groups | None = None, trials: int = TRIALS, seed: int = 0
) -> TauDraws:
    """Computes tau-b of resamples, so that two metrics can be compared on the same ones.

    Args:
        x: `(n_pairs,)`; a pair with NaN in either column is left out.
        y: `(n_pairs,)`.
        groups: As in `correlate`.
        trials: Number of resamples.
        seed: The same seed, groups and left-out pairs give the same resamples.

    Raises:
        InputError: As `correlate`.
    """
    x, y, keep = _columns(x, y)
    index = group_index(groups, len(keep))[keep]
    if len(x) < 2:
        return TauDraws(np.nan, np.zeros(0), len(x))
    columns = _Columns.of(x, y)
    blocks = [] if _are_few(index) else [columns.tau_b(weights) for weights in resamples(index, trials, seed)]
    drawn = np.concatenate([np.zeros(0), *blocks])
    return TauDraws(float(columns.tau_b(np.ones((1, len(x))))[0]), drawn, len(x))


class TauDifference(NamedTuple):
    """A difference of tau-b with its interval, its two-sided p-value, and the smallest one that the draws can give."""

    difference: Estimate
    p_value: float
    floor: float


def tau_b_difference(first: TauDraws, second: TauDraws, *, level: float = LEVEL) -> TauDifference:
    """Compares two metrics' tau-b with the same raters on the same resamples of the same pairs.

    Args:
        first: Of `tau_b_draws`.
        second: Of the same pairs, groups, trials and seed.
        level: Coverage of the interval.

    Returns:
        first - second with its percentile interval, and the two-sided p-value of no difference: twice the share of
        resamples on the other side of 0, both counts raised by one (Davison and Hinkley 1997, equation 4.11); at least
        2 / (trials + 1). Without draws, there is neither.

    Raises:
        InputError: Draws of different pairs or trials.
    """
    if (first.n, len(first.drawn)) != (second.n, len(second.drawn)):
        raise InputError("The two tau-b come from different pairs or different numbers of trials.")
    value = first.value - second.value
    drawn = first.drawn - second.drawn
    drawn = drawn[~np.isnan(drawn)]
    estimate = Estimate(value, *interval(drawn, value, level), first.n)
    if np.isnan(value) or not len(drawn):
        return TauDifference(estimate, np.nan, np.nan)
    other_side = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    floor = 2 / (len(drawn) + 1)
    return TauDifference(estimate, min(1.0, 2 * (other_side + 1) / (len(drawn) + 1)), floor)


def _columns(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array, NDArray[np.bool_]]:
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InputError(f"x has shape {x.shape} and y {y.shape}; pass two columns with one value for each pair.")
    keep = ~(np.isnan(x) | np.isnan(y))
    return x[keep], y[keep], keep


def _are_few(index: NDArray[np.intp]) -> bool:
    """Whether there are too few groups for an interval or a p-value."""
    return len(np.unique(index)) < FEWEST_GROUPS


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

    def tau_b(self, weights: Array) -> Array:
        """Computes tau-b alone, as `correlations` does."""
        n = weights.sum(axis=1)
        untied = [n**2 - np.einsum("ij,ij->i", tied, tied) for tied in (tie.weights(weights) for tie in self.ties)]
        defined = (untied[0] > 0) & (untied[1] > 0)
        return np.where(defined, _ratio(self._concordance(weights), untied[0], untied[1]), np.nan)

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
