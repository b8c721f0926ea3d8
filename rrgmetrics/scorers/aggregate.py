"""Computes the scores of any set of pairs from their statistics."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rrgmetrics.scorers.base import Array, Reduction


def scored(stats: Array) -> NDArray[np.bool_]:
    """Returns which pairs have a score: the rows of `stats` `(n_pairs, n_stats)` without NaN."""
    return np.asarray(~np.isnan(stats).any(axis=1))


def reduce(reduction: Reduction, stats: Array) -> dict[str, float]:
    """Computes the corpus scores of the pairs in `stats` `(n_pairs, n_stats)`; NaN if none is scored."""
    return of_sums(reduction, *column_sums(stats))


def column_sums(stats: Array) -> tuple[Array, int]:
    """Returns the column sums `(n_stats,)` of the pairs that are scored, and their number: all that scores rest on.

    Each column is summed by itself, in pairs of pairs: a sum over both axes adds row to row, and a million roundings.
    """
    kept = stats[scored(stats)]
    return np.array([column.sum() for column in kept.T]), len(kept)


def of_sums(reduction: Reduction, sums: ArrayLike, n_scored: float) -> dict[str, float]:
    """Computes the corpus scores from column sums `(n_stats,)` of so many scored pairs; NaN if none is."""
    scores = reduction.corpus(np.asarray(sums, dtype=np.float64)[None], np.array([float(n_scored)]))
    return {key: float(value[0]) for key, value in scores.items()}
