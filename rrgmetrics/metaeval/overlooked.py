"""What a metric overlooks: the errors in the candidate of each study that it ranks best.

Of each study's candidates the one that a metric scores best is taken (of several equal ones, their mean); what raters
counted in it is what the metric let pass. Shares show which kinds these errors are of. Kinds are compared within one
metric by paired t-tests over studies, corrected by Benjamini and Hochberg over all tests of a table. Where the data
name the source of a candidate (in ReXVal the metric that retrieved it), each source has the same numbers.

This is our own view. Yu et al. (2023, Patterns) test metrics against each other within one kind of error:
`rrgmetrics.metaeval.failures`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from rrgmetrics.metaeval.agreement import AgreementReport, goodness
from rrgmetrics.metaeval.rated import TOTAL, Rated
from rrgmetrics.scorers.base import Array
from rrgmetrics.stats import benjamini_hochberg

ANY, BEST = "any candidate", "the fewest errors"
FEWEST = 3  # studies behind a t-test


@dataclass(frozen=True)
class KindTest:
    """Two kinds of error in the same reports: mean difference a report, and a paired t-test over studies."""

    first: str
    second: str
    difference: float
    p_value: float
    p_corrected: float = math.nan


@dataclass(frozen=True)
class Overlooked:
    """The errors in the reports that a metric ranks best.

    Attributes:
        subject: The metric, a source, `ANY` (the mean of all candidates) or `BEST` (what raters would take).
        means: Errors a report of each kind.
        n: Studies.
        tests: Every two kinds.
    """

    subject: str
    means: dict[str, float]
    n: int
    tests: tuple[KindTest, ...]

    @property
    def shares(self) -> dict[str, float]:
        """The part of each kind in all errors, 0 to 1; NaN without an error."""
        whole = math.fsum(self.means.values())
        return {kind: mean / whole if whole else math.nan for kind, mean in self.means.items()}

    @property
    def total(self) -> float:
        """Errors a report, of all kinds."""
        return math.fsum(self.means.values())


def overlooked(report: AgreementReport) -> tuple[Overlooked, ...]:
    """Returns what each metric overlooks; nothing where raters marked fewer than two kinds of error."""
    data = report.data
    kinds = data.counted_kinds
    if len(kinds) < 2:
        return ()
    errors = np.stack([data.mean(kind) for kind in kinds], axis=1)
    judged = ~np.isnan(errors).any(axis=1)
    chosen = dict(_chosen(report, judged))
    found = {name: _of_chosen(data, errors, weights) for name, weights in chosen.items()}
    lines = [(name, rows, _tests(rows, kinds)) for name, rows in found.items() if len(rows)]
    corrected = iter(benjamini_hochberg([test.p_value for *_, tests in lines for test in tests]).tolist())
    return tuple(
        Overlooked(
            subject=name,
            means=dict(zip(kinds, rows.mean(axis=0).tolist(), strict=True)),
            n=len(rows),
            tests=tuple(
                KindTest(test.first, test.second, test.difference, test.p_value, next(corrected)) for test in tests
            ),
        )
        for name, rows, tests in lines
    )


def _chosen(report: AgreementReport, judged: Any) -> Iterator[tuple[str, Array]]:
    """Yields for each subject the weight of each pair `(n_pairs,)`: 1 in a study, shared by equal candidates."""
    data = report.data
    for name, result in report.results.items():
        yield name, _best_of_studies(data, np.where(judged, goodness(result), np.nan))
    if TOTAL in data.values:
        yield BEST, _best_of_studies(data, np.where(judged, -data.mean(TOTAL), np.nan))
    yield ANY, _best_of_studies(data, np.where(judged, 0.0, np.nan))
    for source in dict.fromkeys(data.labels.get("source", ())):
        own = np.array([each == source for each in data.labels["source"]])
        yield f"source {source}", _best_of_studies(data, np.where(judged & own, 0.0, np.nan), least=1)


def _best_of_studies(data: Rated, values: Array, *, least: int = 2) -> Array:
    """The weight of each pair: of studies with `least` candidates that have a value, the best share 1."""
    weights = np.zeros(len(values))
    rows_of: dict[str, list[int]] = {}
    for row, study in enumerate(data.studies):
        if not np.isnan(values[row]):
            rows_of.setdefault(study, []).append(row)
    for rows in rows_of.values():
        if len(rows) >= least:
            own = values[rows]
            best = np.isclose(own, own.max(), rtol=1e-9, atol=0)
            weights[rows] = best / best.sum()
    return weights


def _of_chosen(data: Rated, errors: Array, weights: Array) -> Array:
    """Errors of each kind in what was chosen of each study `(n_studies, n_kinds)`."""
    used = np.flatnonzero(weights)
    studies = list(dict.fromkeys(data.studies[row] for row in used.tolist()))
    table = np.zeros((len(studies), errors.shape[1]))
    numbers = {study: number for number, study in enumerate(studies)}
    for row in used.tolist():
        table[numbers[data.studies[row]]] += weights[row] * errors[row]
    return table


def _tests(rows: Array, kinds: tuple[str, ...]) -> list[KindTest]:
    """Paired t-tests between every two kinds; NaN where the differences are all alike or studies too few."""
    from scipy.stats import ttest_rel

    tests = []
    for one, other in combinations(range(len(kinds)), 2):
        differences = rows[:, one] - rows[:, other]
        testable = len(rows) >= FEWEST and float(np.ptp(differences)) > 1e-12
        p = float(ttest_rel(rows[:, one], rows[:, other]).pvalue) if testable else math.nan
        tests.append(KindTest(kinds[one], kinds[other], float(differences.mean()), p))
    return tests
