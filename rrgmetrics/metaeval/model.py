"""The lines of a report on agreement with radiologists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from rrgmetrics.stats import FEWEST_GROUPS, Estimate

View = Literal["pairs", "within", "differences"]
VIEWS: tuple[View, ...] = get_args(View)
Label = Literal["aligned", "misaligned", "not significant", ""]
FEW = (
    f"fewer than {FEWEST_GROUPS} studies, too few for an interval, a label or a p-value: no exact test over "
    f"{FEWEST_GROUPS - 1} studies has a p below {2.0 ** (2 - FEWEST_GROUPS)}"
)
UNDEFINED = Estimate(np.nan, np.nan, np.nan, 0)


@dataclass(frozen=True)
class Agreement:
    """The agreement of one column of scores with one column of raters' annotations.

    Attributes:
        subject: The metric as it was named, or the radiologist.
        key: Result key, or keys joined by +.
        target: What raters said.
        view: `pairs` over all candidates (pooled); `within` studies (blocked: tau-b of each study's candidates,
            averaged over the studies where neither side is constant); `differences` of each study's two candidates.
        tau_b: Kendall's tau-b, positive where both agree, with its interval over studies.
        rho: Spearman's rho; NaN within studies.
        r: Pearson's r; NaN within studies.
        mae: Mean absolute error a pair, where the column counts what the target counts; else NaN.
        bias: Mean of counted less annotated, where there is a mean absolute error; above 0 is too many.
        n: Pairs (or studies) used: those with a score and a judgement.
        subset: Which pairs, such as `section findings`; "" is all.
        p_value: Of tau-b 0, two-sided, as papers print it: Kendall's test, for which all pairs are independent (the
            intervals resample studies); NaN within studies, and where there is no interval.
        mae_sd: Standard deviation of the absolute errors, where there is a mean of them.
    """

    subject: str
    key: str
    target: str
    view: View
    tau_b: Estimate
    rho: Estimate
    r: Estimate
    mae: float
    bias: float
    n: int
    subset: str = ""
    p_value: float = np.nan
    mae_sd: float = np.nan

    @property
    def label(self) -> Label:
        """Whether the interval of tau-b lies above 0 (aligned), below (misaligned), or holds it; "" without one."""
        return label_of(self.tau_b)


@dataclass(frozen=True)
class Preference:
    """The share of radiologists' preferences between two candidates of a study that scores reproduce.

    Attributes:
        subject: The metric as it was named, or the radiologist.
        share: From 0 to 1 over the scored twos with a clear preference; equal scores count half, so chance is 0.5.
        n_clear: Twos with a clear preference: the raters' means differ.
        n_ties: Those of them in which the scores are equal.
    """

    subject: str
    share: Estimate
    n_clear: int
    n_ties: int


@dataclass(frozen=True)
class Between:
    """Two metrics' agreement with the same raters on the same pairs.

    Attributes:
        target: What raters said.
        first: A metric.
        second: Another one.
        taus: tau-b of the two on the pairs that both scored.
        difference: first - second, with its paired bootstrap interval over studies.
        p_value: Two-sided, from the same resamples; NaN of fewer studies than `FEWEST_GROUPS`.
        p_corrected: Over all twos of metrics of this data set.
        floor: The smallest p-value that the resamples can give.
    """

    target: str
    first: str
    second: str
    taus: tuple[float, float]
    difference: Estimate
    p_value: float
    p_corrected: float
    floor: float = 0.0

    @property
    def at_floor(self) -> bool:
        """Whether more resamples could have given a smaller p-value, and these could not."""
        return self.p_value <= self.floor


def label_of(tau_b: Estimate) -> Label:
    """As the table of RadEval's paper says it (Xu et al. 2025, table 2).

    Example:
        >>> label_of(Estimate(0.2, 0.1, 0.3, 9)), label_of(Estimate(-0.1, -0.3, 0.1, 9))
        ('aligned', 'not significant')
    """
    if np.isnan([tau_b.low, tau_b.high]).any():
        return ""
    return "aligned" if tau_b.low > 0 else "misaligned" if tau_b.high < 0 else "not significant"
