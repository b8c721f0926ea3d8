"""What tested differences say, in words: of one score, and of two systems over all metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from rrgmetrics.english import listed
from rrgmetrics.specs import Key
from rrgmetrics.stats import Comparison, Estimate

LEVEL = 0.05  # of corrected p-values


class Tested(Protocol):
    """A difference in one score; `test` is None where there was none."""

    @property
    def key(self) -> Key:
        """The score."""

    @property
    def test(self) -> Comparison | None:
        """The difference between the system asked about and the other one, with its interval."""

    @property
    def p_corrected(self) -> float:
        """The p-value, corrected for all tests shown with it; NaN where there was none."""

    @property
    def is_better(self) -> bool | None:
        """Whether the system asked about is better; None without a difference."""


def verdict(row: Tested, better: str = "better", worse: str = "worse", neither: str = "no difference shown") -> str:
    """What a tested difference says, in words; nothing where there was no test."""
    if math.isnan(row.p_corrected):
        return ""
    if row.is_better is None or row.p_corrected >= LEVEL:
        return neither
    return better if row.is_better else worse


def favour(row: Tested) -> Estimate:
    """A difference turned so that more means the system asked about is better."""
    if row.test is None:
        return Estimate(math.nan, math.nan, math.nan, 0)
    value, low, high, n = row.test.difference
    return row.test.difference if row.key.is_better(1.0) else Estimate(-value, -high, -low, n)


def summary(first: str, second: str, better: Sequence[str], worse: Sequence[str], n_tests: int) -> str:
    """Who is better in which metrics.

    Args:
        first: The system asked about.
        second: The other one.
        better: Metrics in which the first is better.
        worse: Metrics in which the second is.
        n_tests: How many metrics were tested.
    """
    if not better and not worse:
        return f"No difference is shown between {first} and {second} (corrected p < {LEVEL})."
    clauses = [f"{name} is better in {listed(won)}" for name, won in ((first, better), (second, worse)) if won]
    if len(better) + len(worse) < n_tests:
        clauses.append("no difference is shown elsewhere")
    return f"{'; '.join(clauses)} (corrected p < {LEVEL})."
