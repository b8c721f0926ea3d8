"""Failure modes of metrics, as Yu et al. (2023, Patterns) tested them: the errors in each metric's oracle reports.

In ReXVal each candidate was retrieved by a metric, its `source`: of all training reports the one that the metric scores
best. Within one kind of error, for all errors and for the significant ones, every source is tested against every other:

- a data point is what one rater counted in one candidate: 6 raters and 50 studies are 300 points a source;
- the test is a one-sided two-sample t test with equal variance (598 degrees of freedom), whose alternative is that the
  first source has more errors; "A has fewer than B" is the test "B has more than A";
- the 12 ordered pairs of 4 sources are one family, corrected by Benjamini and Hochberg at a false discovery rate of 1%:
  the p-value of rank k is held against k / 12 × 1%, and all up to the last one that passes are significant.

The points of one study are not independent, as the test assumes; `rrgmetrics.metaeval.overlooked` tests kinds of error
within one metric, paired by study. The means are the paper's Supplementary Table 2, the tests Supplementary Table 3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from rrgmetrics.metaeval.rated import SIGNIFICANT, TOTAL, Rated
from rrgmetrics.scorers.base import Array
from rrgmetrics.stats import benjamini_hochberg

RATE = 0.01  # of false discoveries


class MeanCount(NamedTuple):
    """The mean of what raters counted in the candidates of a source, over `n` data points."""

    source: str
    target: str
    mean: float
    n: int


@dataclass(frozen=True)
class MoreErrors:
    """A test whether the candidates of one source have more errors of a kind than those of another.

    Attributes:
        first: The source that has more, by the alternative.
        second: The other source.
        target: The kind of error, with `_significant` where only significant errors count.
        difference: Mean count of the first less that of the second.
        t: The statistic; NaN where neither source varies.
        degrees: Of freedom.
        p_value: One-sided, not corrected.
        critical: What `p_value` is held against: its rank in the family × rate / number of tests.
        p_corrected: By Benjamini and Hochberg within the family.
        rate: Of false discoveries.
    """

    first: str
    second: str
    target: str
    difference: float
    t: float
    degrees: int
    p_value: float
    critical: float = math.nan
    p_corrected: float = math.nan
    rate: float = RATE

    @property
    def is_significant(self) -> bool:
        """Whether the first source has more errors, at the family's rate of false discoveries."""
        return self.p_corrected <= self.rate


@dataclass(frozen=True)
class FailureModes:
    """The mean counts of each source, and the tests of each family `(target)`."""

    means: tuple[MeanCount, ...]
    families: Mapping[str, tuple[MoreErrors, ...]]


def failure_modes(data: Rated, *, rate: float = RATE) -> FailureModes | None:
    """Tests the sources of candidates against each other.

    Args:
        data: Rated pairs with a label `source`.
        rate: Of false discoveries within a family.

    Returns:
        The means and tests; None where the data have fewer than two sources, or no counts of a kind of error.
    """
    if not has_sources(data):
        return None
    points = _points(data)
    significant = [f"{kind}_significant" for kind in data.counted_kinds]
    targets = [name for name in (*data.counted_kinds, TOTAL, *significant, SIGNIFICANT) if name in data.values]
    means = tuple(
        MeanCount(source, target, float(np.mean(own[target])) if len(own[target]) else math.nan, len(own[target]))
        for source, own in points.items()
        for target in targets
    )
    families = {
        target: corrected([_test(points, *two, target) for two in permutations(points, 2)], rate)
        for target in targets
        if target not in (TOTAL, SIGNIFICANT)
    }
    return FailureModes(means, families)


def has_sources(data: Rated) -> bool:
    """Whether the data have two sources or more, and counts of a kind of error."""
    return len(set(data.labels.get("source", ()))) > 1 and bool(data.counted_kinds)


def corrected(tests: Sequence[MoreErrors], rate: float) -> tuple[MoreErrors, ...]:
    """A family of tests with critical values and corrected p-values; a test without a p-value counts for nothing."""
    p_values = np.array([test.p_value for test in tests])
    order = np.argsort(p_values, kind="stable")  # NaN last
    n = int((~np.isnan(p_values)).sum())
    ranks = np.empty(len(tests))
    ranks[order] = np.arange(1, len(tests) + 1)
    critical = np.where(np.isnan(p_values), np.nan, ranks / max(n, 1) * rate)
    values = zip(tests, critical.tolist(), benjamini_hochberg(p_values).tolist(), strict=True)
    return tuple(replace(test, critical=each, p_corrected=p, rate=rate) for test, each, p in values)


def _points(data: Rated) -> dict[str, dict[str, Array]]:
    """By source and target, one count a rater and candidate."""
    sources = data.labels.get("source", ())
    points: dict[str, dict[str, Array]] = {}
    for source in dict.fromkeys(sources):
        own = np.array([each == source for each in sources])
        counts = {target: values[:, own].ravel() for target, values in data.values.items()}
        points[source] = {target: values[~np.isnan(values)] for target, values in counts.items()}
    return points


def _test(points: Mapping[str, Mapping[str, Array]], first: str, second: str, target: str) -> MoreErrors:
    from scipy.stats import ttest_ind

    one, other = points[first][target], points[second][target]
    degrees = len(one) + len(other) - 2
    found: Any = (math.nan, math.nan)
    if min(len(one), len(other)) > 1 and max(np.ptp(one), np.ptp(other)) > 0:
        found = ttest_ind(one, other, equal_var=True, alternative="greater")
    difference = float(np.mean(one) - np.mean(other)) if len(one) and len(other) else math.nan
    return MoreErrors(first, second, target, difference, float(found[0]), degrees, float(found[1]))
