"""How far raters agree in what they count: intraclass correlations and Krippendorff's alpha.

ICC(2,1) and ICC(2,k) are those of Shrout and Fleiss (1979), Psychological Bulletin 86(2): raters are drawn at random,
and differences between their levels count against them; (2,1) is of one rater, (2,k) of the mean of all k. They need
every rater on every pair: pairs that a rater did not judge are left out. Krippendorff's alpha (2011, "Computing
Krippendorff's alpha-reliability") takes all that two raters or more have judged; differences of counts are squared
(the interval metric).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rrgmetrics.metaeval.rated import Rated
from rrgmetrics.scorers.base import Array


@dataclass(frozen=True)
class Distribution:
    """What raters said of one target, and how far they agree in it.

    Attributes:
        target: What is counted or rated.
        n: Pairs that somebody judged.
        mean: Of the raters' mean of each pair.
        sd: Its standard deviation over the pairs.
        quartiles: Least, first quartile, median, third quartile, most.
        none: Share of the pairs whose mean is 0.
        icc_single: ICC(2,1), one rater; NaN for fewer than two raters or pairs.
        icc_mean: ICC(2,k), the mean of all raters.
        alpha: Krippendorff's alpha, interval metric.
        n_complete: Pairs that every rater judged, behind the intraclass correlations.
    """

    target: str
    n: int
    mean: float
    sd: float
    quartiles: tuple[float, float, float, float, float]
    none: float
    icc_single: float
    icc_mean: float
    alpha: float
    n_complete: int


def distributions(data: Rated) -> Iterator[Distribution]:
    """Yields what raters said of every target."""
    for target, values in data.values.items():
        mean = data.mean(target)
        mean = mean[~np.isnan(mean)]
        if not len(mean):
            continue
        complete = values[:, ~np.isnan(values).any(axis=0)]
        single, of_mean = intraclass(complete)
        least, first, median, third, most = np.quantile(mean, (0, 0.25, 0.5, 0.75, 1)).tolist()
        yield Distribution(
            target=target,
            n=len(mean),
            mean=float(mean.mean()),
            sd=float(mean.std(ddof=1)) if len(mean) > 1 else math.nan,
            quartiles=(least, first, median, third, most),
            none=float((mean == 0).mean()),
            icc_single=single,
            icc_mean=of_mean,
            alpha=krippendorff(values),
            n_complete=complete.shape[1],
        )


def intraclass(values: Array) -> tuple[float, float]:
    """Computes ICC(2,1) and ICC(2,k) of Shrout and Fleiss (1979).

    Args:
        values: `(n_raters, n_pairs)`, without NaN.

    Returns:
        At most 1; NaN for fewer than two raters or pairs, or where all values are alike.

    Example:
        >>> judges = np.array([[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]])
        >>> [round(value, 2) for value in intraclass(judges)]
        [0.29, 0.62]
    """
    k, n = values.shape
    if k < 2 or n < 2:
        return math.nan, math.nan
    values = values - values.mean()
    pairs, raters = values.mean(axis=0), values.mean(axis=1)
    between = k * (pairs**2).sum() / (n - 1)
    of_raters = n * (raters**2).sum() / (k - 1)
    rest = ((values - pairs - raters[:, None]) ** 2).sum() / ((n - 1) * (k - 1))
    single = between + (k - 1) * rest + k * (of_raters - rest) / n
    of_mean = between + (of_raters - rest) / n
    return _ratio(between - rest, single), _ratio(between - rest, of_mean)


def krippendorff(values: Array) -> float:
    """Computes Krippendorff's alpha with the interval metric.

    Args:
        values: `(n_raters, n_pairs)`; NaN = not judged. Pairs that fewer than two judged are left out.

    Returns:
        1 for full agreement, 0 for what chance gives; NaN where nothing was judged twice or all values are alike.
    """
    judged = ~np.isnan(values)
    kept = judged.sum(axis=0) > 1
    columns, judged = np.where(judged, values, 0.0)[:, kept], judged[:, kept]
    m = judged.sum(axis=0)
    n = int(m.sum())
    if n < 2:
        return math.nan
    # Of m values the squared differences of all ordered twos sum to 2 (m Σx² - (Σx)²).
    observed = 2 * float(((m * (columns**2).sum(axis=0) - columns.sum(axis=0) ** 2) / (m - 1)).sum()) / n
    every = columns[judged]
    expected = 2 * float(n * (every**2).sum() - every.sum() ** 2) / (n * (n - 1))
    return 1 - observed / expected if expected > 1e-12 else math.nan


def _ratio(above: float, below: float) -> float:
    return float(above / below) if abs(below) > 1e-12 else math.nan
