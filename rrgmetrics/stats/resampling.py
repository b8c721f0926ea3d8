"""Percentile intervals of bootstrap samples, of pairs or of the studies they belong to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.errors import InputError
from rrgmetrics.scorers import aggregate
from rrgmetrics.scorers.base import Array, Reduction
from rrgmetrics.stats.together import Kept, Wanted, drawn_scores

TRIALS = 10_000

LEVEL = 0.95

# An exact two-sided test over n independent groups has a p of at least 2 ** (1 - n): 0.0625 for five, 0.031 for six.
# Resamples of fewer can all be alike in sign, which is not significant, though their interval then leaves 0 out.
FEWEST_GROUPS = 6

BLOCK_CELLS = 2_000_000  # 16 MB of weights at a time
KEPT_CELLS = 7_000_000  # 56 MB, for 10,000 resamples of 700 pairs

Groups = Sequence[Any] | NDArray[Any]


class Estimate(NamedTuple):
    """A value, the ends of its interval, and the number of pairs (or studies) behind it; NaN is undefined."""

    value: float
    low: float
    high: float
    n: int


def without_interval(estimate: Estimate) -> Estimate:
    """The value alone, as of fewer than `FEWEST_GROUPS` groups."""
    return estimate._replace(low=np.nan, high=np.nan)


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
        For each key its value on all scored pairs, the interval (NaN of a single pair or group, which says nothing of
        others), and the number of scored pairs.

    Raises:
        InputError: `groups` of another length; `trials` or `level` out of range.

    Example:
        >>> from rrgmetrics.scorers.base import Mean
        >>> bootstrap(Mean(("score",)), np.array([[0.0], [0.5], [1.0], [np.nan]]))["score"].n
        3
    """
    index = group_index(groups, len(stats))
    return bootstrap_all([wanted_scores(reduction, stats, index, Kept())], trials=trials, level=level, seed=seed)[0]


class Resampled(NamedTuple):
    """Scores whose intervals are wanted, and the group of each pair of their tables."""

    wanted: Wanted
    groups: NDArray[np.intp]


def wanted_scores(reduction: Reduction, stats: Array, index: NDArray[np.intp], kept: Kept) -> Resampled:
    """The corpus scores of a table whose unscored rows are left out.

    Args:
        reduction: The metric's arithmetic.
        stats: `(n_pairs, n_stats)`.
        index: The group of each pair.
        kept: Of this and other tables.
    """
    keep = aggregate.scored(stats)
    return Resampled(Wanted((kept.of(stats, keep),), lambda sums, n: reduction.corpus(sums[0], n)), index[keep])


def bootstrap_all(wanted: Sequence[Resampled], *, trials: int, level: float, seed: int) -> list[dict[str, Estimate]]:
    """Computes many scores with intervals over the same resamples, as `bootstrap` does for one metric.

    Args:
        wanted: The scores.
        trials: Number of resamples.
        level: Coverage, between 0 and 1.
        seed: Of each number of pairs' own generator: alone or together, a score has the same interval.

    Raises:
        InputError: `trials` or `level` out of range.
    """
    check_drawing(trials, level)
    alike: dict[bytes, list[int]] = {}
    for place, one in enumerate(wanted):
        alike.setdefault(one.groups.tobytes(), []).append(place)
    found: list[dict[str, Estimate]] = [{} for _ in wanted]
    for places in alike.values():
        index = wanted[places[0]].groups
        own = [wanted[place].wanted for place in places]
        all_pairs = [np.ones((1, len(index)))]
        wholes = drawn_scores(own, lambda once=all_pairs: once)  # type: ignore[misc]
        drawn = drawn_scores(own, partial(resamples, index, trials, seed)) if len(index) else wholes
        for place, whole, sample in zip(places, wholes, drawn, strict=True):
            found[place] = {
                key: Estimate(float(value[0]), *_ends(sample[key], float(value[0]), level, index), len(index))
                for key, value in whole.items()
            }
    return found


def check_drawing(trials: int, level: float) -> None:
    """Raises InputError for a number of trials or a coverage that means nothing."""
    if trials < 1:
        raise InputError(f"trials is {trials}; draw at least one resample.")
    if not 0 < level < 1:
        raise InputError(f"level is {level}; pass a coverage between 0 and 1, such as 0.95.")


def resampled(
    scores: Callable[[Array], Mapping[str, Array]], index: NDArray[np.intp], trials: int, level: float, seed: int
) -> dict[str, Estimate]:
    """Values of `scores(weights)` on all pairs, with intervals over resampled groups."""
    check_drawing(trials, level)
    whole = scores(np.ones((1, len(index))))
    blocks = [scores(weights) for weights in resamples(index, trials, seed)]
    drawn = {key: np.concatenate([block[key] for block in blocks]) for key in whole} if blocks else {}
    return {
        key: Estimate(float(value[0]), *_ends(drawn.get(key, value), value[0], level, index), len(index))
        for key, value in whole.items()
    }


def resamples(index: NDArray[np.intp], trials: int, seed: int) -> Iterator[Array]:
    """Blocks `(n_sets, n_pairs)`: how often each pair is in each resample of the groups in `index`."""
    if not len(index):
        return
    _, index = np.unique(index, return_inverse=True)
    if trials * len(index) <= KEPT_CELLS:
        yield from _kept(index.tobytes(), trials, seed)
    else:
        yield from _drawn(index, trials, seed)


@lru_cache(maxsize=3)
def _kept(index: bytes, trials: int, seed: int) -> tuple[Array, ...]:
    """The blocks of the last few indices: many columns of one data set are resampled alike."""
    blocks = tuple(_drawn(np.frombuffer(index, dtype=np.intp), trials, seed))
    for block in blocks:
        block.flags.writeable = False
    return blocks


def _drawn(index: NDArray[np.intp], trials: int, seed: int) -> Iterator[Array]:
    n_groups = int(index.max()) + 1
    rng = np.random.default_rng(seed)
    for size in block_sizes(trials, len(index)):
        drawn = rng.integers(n_groups, size=(size, n_groups)) + n_groups * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n_groups).reshape(size, n_groups)
        yield counts[:, index].astype(np.float64)


def block_sizes(trials: int, n_cells: int) -> Iterator[int]:
    """Yields how many trials of `n_cells` numbers each are computed at a time."""
    size = max(1, BLOCK_CELLS // n_cells)
    for start in range(0, trials, size):
        yield min(size, trials - start)


def interval(samples: Array, value: float, level: float) -> tuple[float, float]:
    """Returns the percentile interval of the samples that are defined; NaN without any, or without a value."""
    samples = samples[~np.isnan(samples)]
    if not len(samples) or np.isnan(value):
        return np.nan, np.nan
    low, high = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _ends(samples: Array, value: float, level: float, index: NDArray[np.intp]) -> tuple[float, float]:
    """The interval; NaN of a single group, whose resamples are all itself and say nothing of any other."""
    return interval(samples, value, level) if len(index) and np.ptp(index) else (np.nan, np.nan)


def group_index(groups: Groups | None, n_pairs: int) -> NDArray[np.intp]:
    """Groups as numbers from 0 in the order of their first pair: their names cannot move a result."""
    if groups is None:
        return np.arange(n_pairs)
    if len(groups) != n_pairs:
        raise InputError(f"groups has {len(groups)} entries for {n_pairs} pairs; pass one id for each pair.")
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.intp)


def rows_of_groups(index: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Returns the rows of each group, by the group's number."""
    order = np.argsort(index, kind="stable")
    return np.split(order, np.cumsum(np.bincount(index))[:-1]) if len(index) else []
