"""How well a metric counts errors of each kind, as GREEN's paper says it (Ostmeier et al. 2024, arXiv 2405.03595).

For each kind: the mean absolute error against the mean of the raters, and leaving one rater out: against the mean of
the others, averaged over whom is left out, which is what a rater's own counts can be held to. Accuracy is the share of
pairs whose count equals the raters' mean exactly; that mean is a fraction where raters differ, so it is low by
construction. `any_rater` is the share of pairs whose count equals some rater's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rrgmetrics.metaeval.agreement import AgreementReport
from rrgmetrics.metaeval.rated import mean_of_raters
from rrgmetrics.scorers.base import Array

EQUAL = 1e-9


@dataclass(frozen=True)
class Counting:
    """One metric's, or the raters', counts of one kind of error.

    Attributes:
        subject: The metric, or `a radiologist`: each against the others, averaged.
        target: What is counted.
        mae: Mean absolute error against the mean of all raters; of a radiologist NaN, for that mean holds his own.
        left_out: The same against the mean of all raters but one, averaged over the one.
        exact: Share of pairs whose count equals the mean of the raters.
        any_rater: Share of pairs whose count equals some rater's.
        n: Pairs.
    """

    subject: str
    target: str
    mae: float
    left_out: float
    exact: float
    any_rater: float
    n: int


RADIOLOGIST = "a radiologist"


def counting(report: AgreementReport) -> Iterator[Counting]:
    """Yields for every target that some metric counts the metrics' lines and the raters'."""
    data = report.data
    for target in data.targets:
        values = data.values[target]
        lines = []
        for name, result in report.results.items():
            if own := data.counts_of(result.spec.name, result.per_pair, target):
                lines.append(count_line(name, target, own[1], values))
        yield from lines
        if lines and len(values) > 1:
            others = [np.abs(values[i] - mean_of_raters(np.delete(values, i, axis=0))) for i in range(len(values))]
            left_out = float(np.nanmean(np.concatenate(others))) if not np.isnan(others).all() else math.nan
            n = int((~np.isnan(values)).sum(axis=0).clip(max=1).sum())
            yield Counting(RADIOLOGIST, target, math.nan, left_out, math.nan, math.nan, n)


def count_line(subject: str, target: str, counted: Array, values: Array) -> Counting:
    """One line.

    Args:
        subject: Who counted.
        target: What.
        counted: `(n_pairs,)`; NaN = unscored.
        values: The raters' counts `(n_raters, n_pairs)`; NaN = not judged.
    """
    mean = mean_of_raters(values)
    keep = ~np.isnan(counted) & ~np.isnan(mean)
    counted, mean, values = counted[keep], mean[keep], values[:, keep]
    if not len(counted):
        return Counting(subject, target, math.nan, math.nan, math.nan, math.nan, 0)
    left_out = math.nan
    if len(values) > 1:
        errors = np.abs([counted - mean_of_raters(np.delete(values, i, axis=0)) for i in range(len(values))])
        left_out = float(np.nanmean(errors)) if not np.isnan(errors).all() else math.nan
    return Counting(
        subject=subject,
        target=target,
        mae=float(np.abs(counted - mean).mean()),
        left_out=left_out,
        exact=float((np.abs(counted - mean) < EQUAL).mean()),
        any_rater=float((np.abs(counted - values) < EQUAL).any(axis=0).mean()),
        n=len(counted),
    )
