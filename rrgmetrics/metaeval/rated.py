"""Reports that radiologists judged: the one model that every data set is read into.

A data set is pairs, the study of each pair, and for each target (a count of errors, or a rating) a matrix of raters by
pairs. Who did not judge a pair has NaN there. Everything that is measured reads this model and knows no data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.errors import InputError
from rrgmetrics.reader import ErrorCategory
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array

KINDS = tuple(category.value for category in ErrorCategory)
TOTAL, SIGNIFICANT, RATING = "total_errors", "significant_errors", "rating"
MAIN = (TOTAL, SIGNIFICANT, RATING)  # what every table shows, where the data have it
TITLES: Mapping[str, str] = {
    TOTAL: "total errors",
    SIGNIFICANT: "significant errors",
    "insignificant_errors": "insignificant errors",
    RATING: "rating",
    "false_finding": "A false",
    "missing_finding": "B missing",
    "incorrect_location": "C location",
    "incorrect_severity": "D severity",
    "false_comparison": "E false comparison",
    "missing_comparison": "F missing comparison",
    "attribute": "C + D attribute",
    "weighted_errors": "weighted errors",
    "severity_max": "largest severity (MES)",
    "severity_mean": "mean severity (AES)",
}
# The ends of a metric's keys that count what a target counts; the keys of one way are added up.
COUNTED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    **{kind: ((kind,),) for kind in KINDS},
    "attribute": (("incorrect_location", "incorrect_severity"),),
    SIGNIFICANT: (("significant",), ("errors_significant",)),
    "weighted_errors": (("weighted_errors",),),
}


class Published(NamedTuple):
    """Scores of a metric that data come with.

    Attributes:
        scores: Of each pair `(n_pairs,)`; NaN = none.
        counterparts: Our result keys that hold the same.
        higher_is_better: The direction.
    """

    scores: Array
    counterparts: tuple[str, ...] = ()
    higher_is_better: bool = True


@dataclass(frozen=True, eq=False)
class Rated:
    """Rated pairs.

    Attributes:
        name: Of the data set.
        pairs: References, candidates and contexts.
        studies: The study of each pair; intervals are over studies.
        raters: Names, one a row of `values`.
        values: For each target `(n_raters, n_pairs)`: counts from 0, fewer is better, or ratings; NaN = not judged.
        ratings: The targets of which more is better.
        kinds: The kinds of error that raters could mark, of which `total_errors` is the sum.
        labels: What divides the pairs, such as `section` or `source`: one text a pair.
        notes: What a reader of the numbers must know, such as rows that could not be read.
        marks: By rater, the class of each single error that he marked, by what names the error; where data hold these.
        significant_classes: The classes that are significant.
        published: Scores of metrics that the data come with, by the name that they have there.
    """

    name: str
    pairs: Sequence[Pair]
    studies: Sequence[str]
    raters: Sequence[str]
    values: Mapping[str, Array]
    ratings: frozenset[str] = frozenset({RATING})
    kinds: tuple[str, ...] = KINDS
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    marks: Mapping[str, Mapping[tuple[str, ...], str]] = field(default_factory=dict)
    significant_classes: tuple[str, ...] = ()
    published: Mapping[str, Published] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = (len(self.raters), len(self.pairs))
        if not self.pairs or not self.values:
            raise InputError(f"{self.name} has no pairs that were judged.")
        for target, values in self.values.items():
            if values.shape != shape:
                raise InputError(f"{self.name}: {target} has shape {values.shape} for {shape} raters and pairs.")

    @property
    def targets(self) -> tuple[str, ...]:
        """What raters said: the names of the counts and ratings."""
        return tuple(self.values)

    @property
    def main(self) -> tuple[str, ...]:
        """The targets that every table shows: totals and rating, or all where the data have none of these."""
        return tuple(target for target in MAIN if target in self.values) or self.targets

    @property
    def counted_kinds(self) -> tuple[str, ...]:
        """The targets that count one kind of error."""
        return tuple(target for target in (*KINDS, "attribute") if target in self.values)

    @property
    def preferred_by(self) -> str:
        """The target by which one candidate is preferred to another: the rating, else the errors."""
        return next((target for target in (RATING, SIGNIFICANT, TOTAL) if target in self.values), self.targets[0])

    @property
    def n_studies(self) -> int:
        """The number of studies."""
        return len(set(self.studies))

    def mean(self, target: str) -> Array:
        """The mean of a target over the raters of each pair `(n_pairs,)`; NaN where nobody judged it."""
        return mean_of_raters(self.values[target])

    def goodness(self, target: str) -> int:
        """1 where more is better, -1 for counts of errors."""
        return 1 if target in self.ratings else -1

    def title(self, target: str) -> str:
        """The target as people read it."""
        return TITLES.get(target, target.replace("_", " "))

    def counted_by(self, target: str) -> tuple[tuple[str, ...], ...]:
        """The ends of a metric's keys that count what the target counts; those of one way are added up."""
        return (self.kinds,) if target == TOTAL else COUNTED.get(target, ())

    def only(self, keep: NDArray[np.bool_], **changes: Any) -> Rated:
        """The pairs of a mask `(n_pairs,)`, and anything else that changes."""
        rows = np.flatnonzero(keep).tolist()
        return replace(
            self,
            pairs=[self.pairs[row] for row in rows],
            studies=[self.studies[row] for row in rows],
            values={target: values[:, rows] for target, values in self.values.items()},
            labels={label: [texts[row] for row in rows] for label, texts in self.labels.items()},
            published={name: each._replace(scores=each.scores[rows]) for name, each in self.published.items()},
            **changes,
        )

    def candidates_compared(self) -> NDArray[np.intp]:
        """Every two candidates of one study, as rows of the first and of the second `(2, n)`."""
        of_study: dict[str, list[int]] = {}
        for row, study in enumerate(self.studies):
            of_study.setdefault(study, []).append(row)
        twos = [two for rows in of_study.values() for two in combinations(rows, 2)]
        return np.array(twos, dtype=np.intp).reshape(-1, 2).T

    def subsets(self, most: int = 12) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
        """Each label with each of its texts and the mask of its pairs, where they divide the pairs in 2 to `most`."""
        for label, texts in self.labels.items():
            different = list(dict.fromkeys(texts))
            if 1 < len(different) <= most:
                for text in different:
                    yield label, text, np.array([each == text for each in texts])


def mean_of_raters(values: Array) -> Array:
    """Means over raters `(n_pairs,)` of `(n_raters, n_pairs)`; NaN only where nobody judged."""
    judged = ~np.isnan(values)
    n = judged.sum(axis=0)
    return np.where(n > 0, np.where(judged, values, 0.0).sum(axis=0) / np.maximum(n, 1), np.nan)
