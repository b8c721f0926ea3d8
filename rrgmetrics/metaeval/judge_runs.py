"""The runs of a judge that was asked several times (`?runs=N`): each run's scores, and how far they lie apart."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rrgmetrics.metaeval.rated import mean_of_raters
from rrgmetrics.scorers.base import Array
from rrgmetrics.scoring.results import Result


class Spread(NamedTuple):
    """How far the runs of a judge lie apart.

    Attributes:
        n_runs: Times that each question was asked.
        mean: Mean score over pairs and runs.
        sd_of_mean: Standard deviation of the mean over pairs, from run to run.
        sd_of_pair: Standard deviation over the runs of a pair, in the mean over pairs (root of the mean variance).
        identical: Share of the pairs whose runs all have one score.
        n_pairs: Pairs with two runs or more.
    """

    n_runs: int
    mean: float
    sd_of_mean: float
    sd_of_pair: float
    identical: float
    n_pairs: int


def runs_of(result: Result) -> Array | None:
    """The headline of each run `(n_runs, n_pairs)`, NaN where a run has none; None without several runs.

    Of a result with one key (`green#errors`) that key's.
    """
    kept = result.details.get(f"{result.spec.name}_runs")
    if not kept:
        return None
    key = result.spec.headline.name
    n_runs = next((len(each[key]) for each in kept if each and key in each), 0)
    if n_runs < 2:
        return None
    rows = [each[key] if each and key in each else [None] * n_runs for each in kept]  # else it was not judged
    return np.array([[math.nan if value is None else value for value in row] for row in rows], dtype=np.float64).T


def spread_of(runs: Array) -> Spread:
    """Measures how far runs lie apart."""
    known = ~np.isnan(runs)
    several = known.sum(axis=0) > 1
    means = [float(row[mask].mean()) for row, mask in zip(runs, known, strict=True) if mask.any()]
    sds = np.array([sd_of(column[~np.isnan(column)]) for column in runs[:, several].T])
    return Spread(
        n_runs=len(runs),
        mean=mean_of(mean_of_raters(runs)),
        sd_of_mean=sd_of(np.array(means)),
        sd_of_pair=float(np.sqrt((sds**2).mean())) if len(sds) else math.nan,
        identical=float((sds == 0).mean()) if len(sds) else math.nan,
        n_pairs=int(several.sum()),
    )


def mean_of(values: Array) -> float:
    """The mean of the values that are known; NaN without any."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def sd_of(values: Array) -> float:
    """The standard deviation of a sample; NaN of fewer than two values."""
    return float(values.std(ddof=1)) if len(values) > 1 else math.nan
