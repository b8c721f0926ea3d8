"""Intervals, paired tests and rank correlations, from statistics of pairs.

The functions resample pairs and compute scores from sums of pair statistics (`together`). No text is scored again, and
corpus metrics (BLEU's summed counts) are exact. Trials run in blocks, so memory does not grow with their number. Each
call creates its own generator from `seed`, so results do not depend on earlier calls.

Sources: bootstrap percentile intervals, Efron and Tibshirani 1993, chapter 13; approximate randomisation, Noreen 1989
(p = (count + 1) / (trials + 1)); Holm 1979; Benjamini and Hochberg 1995; tau-b, Kendall 1945.
"""

from rrgmetrics.stats.correlations import (
    Correlation,
    TauDifference,
    TauDraws,
    blocked_tau_b,
    correlate,
    tau_b_difference,
    tau_b_draws,
    tau_p_value,
)
from rrgmetrics.stats.paired_tests import PairedStats, PairedTest, benjamini_hochberg, compare, compare_all, holm
from rrgmetrics.stats.resampling import FEWEST_GROUPS, LEVEL, TRIALS, Estimate, Groups, bootstrap, without_interval

__all__ = [
    "FEWEST_GROUPS",
    "LEVEL",
    "TRIALS",
    "Correlation",
    "Estimate",
    "Groups",
    "PairedStats",
    "PairedTest",
    "TauDifference",
    "TauDraws",
    "benjamini_hochberg",
    "blocked_tau_b",
    "bootstrap",
    "compare",
    "compare_all",
    "correlate",
    "holm",
    "tau_b_difference",
    "tau_b_draws",
    "tau_p_value",
    "without_interval",
]
