"""Each metric against each rater alone, and the raters' own classes of significance against each other.

CRIMSON's paper (arXiv 2603.06183) tells agreement by radiologist, and compares significance classes on errors that two
of them both marked. The classes of single findings are there where RadPref is read as published.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from rrgmetrics.metaeval.agreement import FEWEST, AgreementReport, goodness
from rrgmetrics.metaeval.rated import SIGNIFICANT
from rrgmetrics.stats import Estimate, correlate


@dataclass(frozen=True)
class ByRater:
    """tau-b of one metric, or of another rater, with one rater alone.

    Attributes:
        subject: The metric, or another rater.
        rater: Who.
        target: What that one said.
        tau_b: With its interval over studies.
    """

    subject: str
    rater: str
    target: str
    tau_b: Estimate


def by_rater(report: AgreementReport) -> Iterator[ByRater]:
    """Yields each metric's headline against each rater who judged enough pairs, on every main target."""
    data, draws = report.data, vars(report.resampling)
    for subject, result in report.results.items():
        scores = goodness(result).astype(np.float32)
        for target in data.main:
            for rater, values in zip(data.raters, data.values[target] * data.goodness(target), strict=True):
                if int((~np.isnan(values)).sum()) >= FEWEST:
                    tau_b = correlate(scores, values, groups=data.studies, **draws).tau_b
                    yield ByRater(subject, rater, target, tau_b)


def between_raters(report: AgreementReport) -> Iterator[ByRater]:
    """Yields each rater against every other one who judged enough of the same pairs, on every main target."""
    data, draws = report.data, vars(report.resampling)
    for target in data.main:
        for (i, one), (j, other) in permutations(enumerate(data.raters), 2):
            values, theirs = data.values[target][i], data.values[target][j]
            if int((~np.isnan(values) & ~np.isnan(theirs)).sum()) >= FEWEST:
                tau_b = correlate(values, theirs, groups=data.studies, **draws).tau_b
                yield ByRater(one, other, target, tau_b)


@dataclass(frozen=True)
class SameClass:
    """How often two raters gave an error that both marked the same class.

    Attributes:
        raters: The two.
        classes: Share with the same class.
        significant: Share with the same side of significant or not.
        n: Errors that both marked.
    """

    raters: tuple[str, str]
    classes: float
    significant: float
    n: int


def same_classes(
    marks: Mapping[str, Mapping[tuple[str, ...], str]], significant: Sequence[str]
) -> tuple[SameClass, ...]:
    """Compares the classes of every two raters.

    Args:
        marks: By rater, the class of each marked error, by what names it (case, candidate, kind, finding).
        significant: The classes that are significant.

    Example:
        >>> same_classes({"a": {("1",): "urgent"}, "b": {("1",): "urgent", ("2",): "benign"}}, ["urgent"])
        (SameClass(raters=('a', 'b'), classes=1.0, significant=1.0, n=1),)
    """
    found = []
    for one, other in combinations(marks, 2):
        both = [(marks[one][error], marks[other][error]) for error in marks[one] if error in marks[other]]
        same = sum(a == b for a, b in both)
        side = sum((a in significant) == (b in significant) for a, b in both)
        n = len(both)
        found.append(SameClass((one, other), same / n if n else math.nan, side / n if n else math.nan, n))
    return tuple(found)


@dataclass(frozen=True)
class SameSide:
    """How often a metric and a rater alone agree on whether a candidate has a significant error.

    Attributes:
        subject: The metric, or another rater.
        rater: Who.
        share: Of the pairs that both judged.
        n: Pairs.
    """

    subject: str
    rater: str
    share: float
    n: int


def same_side(report: AgreementReport) -> Iterator[SameSide]:
    """Yields each metric that counts significant errors, then each rater, against every (other) rater."""
    data = report.data
    if SIGNIFICANT not in data.values:
        return
    own = dict(zip(data.raters, data.values[SIGNIFICANT], strict=True))
    counted = {
        name: found[1]
        for name, result in report.results.items()
        if (found := data.counts_of(result.spec.name, result.per_pair, SIGNIFICANT))
    }
    for subject, values in (counted | own).items():
        for rater, judged in own.items():
            both = ~np.isnan(values) & ~np.isnan(judged)
            n = int(both.sum())
            if subject != rater and n:
                yield SameSide(subject, rater, float(((values > 0) == (judged > 0))[both].mean()), n)
