"""The lines of a report on agreement with radiologists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from rrgmetrics.metaeval.datasets import Target
from rrgmetrics.stats import Estimate

View = Literal["pairs", "differences"]
VIEWS: tuple[View, ...] = get_args(View)
HEADLINE_TARGETS: tuple[Target, ...] = ("total_errors", "significant_errors", "rating")


@dataclass(frozen=True)
class Agreement:
    """The agreement of one column of scores with one column of radiologists' annotations.

    Attributes:
        subject: The metric as it was named, or the radiologist.
        key: Result key, or keys joined by +.
        target: What radiologists said.
        view: Over pairs, or over differences C1 - C2.
        tau_b: Kendall's tau-b, positive where both agree, with its interval over cases.
        rho: Spearman's rho.
        r: Pearson's r.
        mae: Mean absolute error a pair, where the column counts what the target counts; else NaN.
        n: Pairs (or cases) used: those with a score.
    """

    subject: str
    key: str
    target: Target
    view: View
    tau_b: Estimate
    rho: Estimate
    r: Estimate
    mae: float
    n: int


@dataclass(frozen=True)
class Preference:
    """The share of radiologists' preferences between C1 and C2 that scores reproduce.

    Attributes:
        subject: The metric as it was named, or the radiologist.
        share: From 0 to 1 over the scored cases with a clear preference; equal scores count half, so chance is 0.5.
        n_clear: Cases with a clear preference: the mean ratings of C1 and C2 differ.
        n_ties: Those of them in which the scores are equal.
    """

    subject: str
    share: Estimate
    n_clear: int
    n_ties: int


class Judged(NamedTuple):
    """A case under one metric: the candidates' scores, rounded, and whether every expected relation holds."""

    subject: str
    case: str
    category: str
    expected: tuple[str, ...]
    scores: dict[str, float]
    passed: bool
