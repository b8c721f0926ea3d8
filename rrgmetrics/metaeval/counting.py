"""How well a metric counts errors of each kind, as GREEN's paper says it (Ostmeier et al. 2024, arXiv 2405.03595).

For each kind: the mean absolute error against the mean of the raters, and leaving one rater out: against the mean of
the others, averaged over whom is left out, which is what a rater's own counts can be held to. Accuracy is the share of
pairs whose count equals the raters' mean exactly; that mean is a fraction where raters differ, so it is low by
construction. `any_rater` is the share of pairs whose count equals some rater's. All kinds together, each kind of each
pair is one count (CREPE, arXiv 2511.21325, section 4.6). `from_raters` holds each metric and each rater against every
rater alone (GREEN's table 2; CRIMSON, arXiv 2603.06183, figure 4).
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
        sd: Standard deviation of these absolute errors.
        left_out: The same against the mean of all raters but one, averaged over the one.
        exact: Share of pairs whose count equals the mean of the raters.
        any_rater: Share of pairs whose count equals some rater's.
        n: Pairs.
    """

    subject: str
    target: str
    mae: float
    sd: float
    left_out: float
    exact: float
    any_rater: float
    n: int


@dataclass(frozen=True)
class FromRater:
    """How far one's counts lie from those of one rater.

    Attributes:
        subject: The metric, or another rater.
        rater: Who.
        target: What is counted.
        mae: Mean absolute error.
        sd: Standard deviation of the absolute errors.
        n: Pairs that both counted.
    """

    subject: str
    rater: str
    target: str
    mae: float
    sd: float
    n: int


RADIOLOGIST = "a radiologist"
EVERY_KIND = "each kind"  # the target of all kinds together


def counting(report: AgreementReport) -> Iterator[Counting]:
    """Yields for every target that some metric counts, then for all kinds, the metrics' lines and the raters'."""
    for target, values, counted in _counted(report):
        lines = [count_line(name, target, own, values) for name, own in counted.items()]
        yield from lines
        if lines and len(values) > 1:
            others = [np.abs(values[i] - mean_of_raters(np.delete(values, i, axis=0))) for i in range(len(values))]
            left_out = float(np.nanmean(np.concatenate(others))) if not np.isnan(others).all() else math.nan
            n = int((~np.isnan(values)).sum(axis=0).clip(max=1).sum())
            yield Counting(RADIOLOGIST, target, math.nan, math.nan, left_out, math.nan, math.nan, n)


def from_raters(report: AgreementReport) -> Iterator[FromRater]:
    """Yields for every target that some metric counts each metric, then each rater, against every (other) rater."""
    raters = report.data.raters
    for target, values, counted in _counted(report):
        for subject, own in {**counted, **dict(zip(raters, values, strict=True))}.items():
            for rater, theirs in zip(raters, values, strict=True):
                errors = np.abs(own - theirs)
                errors = errors[~np.isnan(errors)]
                if subject != rater and len(errors):
                    yield FromRater(subject, rater, target, float(errors.mean()), float(errors.std()), len(errors))


def _counted(report: AgreementReport) -> Iterator[tuple[str, Array, dict[str, Array]]]:
    """Each target that some metric counts, with the raters' counts and the metrics'; at last all kinds in one row."""
    data = report.data
    kinds: dict[str, dict[str, Array]] = {}
    for target in data.targets:
        counted = {
            name: own[1]
            for name, result in report.results.items()
            if (own := data.counts_of(result.spec.name, result.per_pair, target))
        }
        if counted:
            yield target, data.values[target], counted
        if target in data.counted_kinds:
            kinds[target] = counted
    of_all = [name for name in report.results if len(kinds) > 1 and all(name in own for own in kinds.values())]
    if of_all:
        joined = {name: np.concatenate([own[name] for own in kinds.values()]) for name in of_all}
        yield EVERY_KIND, np.concatenate([data.values[kind] for kind in kinds], axis=1), joined


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
        return Counting(subject, target, math.nan, math.nan, math.nan, math.nan, math.nan, 0)
    left_out = math.nan
    if len(values) > 1:
        errors = np.abs([counted - mean_of_raters(np.delete(values, i, axis=0)) for i in range(len(values))])
        left_out = float(np.nanmean(errors)) if not np.isnan(errors).all() else math.nan
    return Counting(
        subject=subject,
        target=target,
        mae=float(np.abs(counted - mean).mean()),
        sd=float(np.abs(counted - mean).std()),
        left_out=left_out,
        exact=float((np.abs(counted - mean) < EQUAL).mean()),
        any_rater=float((np.abs(counted - values) < EQUAL).any(axis=0).mean()),
        n=len(counted),
    )
