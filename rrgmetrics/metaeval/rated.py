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

from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.errors import InputError
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array

KINDS = tuple(category.value for category in ErrorCategory)
TOTAL, SIGNIFICANT, RATING = "total_errors", "significant_errors", "rating"
INSIGNIFICANT = "insignificant_errors"
MAIN = (TOTAL, SIGNIFICANT, RATING)  # what every table shows, where the data have it
TITLES: Mapping[str, str] = {
    TOTAL: "total errors",
    SIGNIFICANT: "significant errors",
    INSIGNIFICANT: "insignificant errors",
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
    "inarticulate": "inarticulate",
    "all_seven": "errors of seven kinds",
    "all_eight": "errors of eight kinds",
}
# The ends of a metric's keys that count what a target counts, in several ways of which the first that a metric has
# holds. The keys of one way are added up, those with a minus subtracted.
COUNTED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    **{kind: ((kind,),) for kind in KINDS},
    **{f"{kind}_significant": ((f"{kind}_significant",),) for kind in KINDS},
    "attribute": (
        ("incorrect_location", "incorrect_severity", "temporal"),
        ("incorrect_location", "incorrect_severity"),
    ),
    SIGNIFICANT: (("significant",), ("errors_significant",)),
    INSIGNIFICANT: (("insignificant",), ("errors", "-errors_significant")),
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
        findings: The words of the finding of each error, by what names the error in `marks`.
        published: Scores of metrics that the data come with, by the name that they have there.
        chosen: The targets that tables show in the place of the totals and the rating; the first one is the main one.
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
    findings: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    published: Mapping[str, Published] = field(default_factory=dict)
    chosen: tuple[str, ...] = ()

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
        """The targets that every table shows: those chosen, else totals and rating, or all where there is none."""
        return self.chosen or tuple(target for target in MAIN if target in self.values) or self.targets

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
        for end in ("_significant", "_insignificant"):
            if target not in TITLES and target.endswith(end):
                return f"{self.title(target.removesuffix(end))}, {end[1:]}"
        return TITLES.get(target, target.replace("_", " "))

    def with_targets(self, targets: Sequence[str]) -> Rated:
        """The same data, whose tables show these targets; those that the data do not have are left out.

        Raises:
            InputError: The data have none of them.
        """
        chosen = tuple(target for target in dict.fromkeys(targets) if target in self.values)
        if targets and not chosen:
            raise InputError(f"{self.name} has none of {', '.join(targets)}; it has: {', '.join(self.targets)}.")
        return replace(self, chosen=chosen)

    def counted_by(self, target: str) -> tuple[tuple[str, ...], ...]:
        """The ends of a metric's keys that count what the target counts, as `COUNTED` says."""
        return (self.kinds, ("errors",)) if target == TOTAL else COUNTED.get(target, ())

    def counts_of(self, metric: str, per_pair: Mapping[str, Array], target: str) -> tuple[str, Array] | None:
        """What a metric counts of a target, with the names of its keys; None where it does not count that.

        Args:
            metric: Its name, with which its keys begin.
            per_pair: Its numbers of each pair, by key.
            target: What raters counted.
        """
        for parts in self.counted_by(target):
            keys = [f"{metric}_{part.removeprefix('-')}" for part in parts]
            if all(key in per_pair for key in keys):
                signs = [-1 if part.startswith("-") else 1 for part in parts]
                shown = keys[0] + "".join(
                    f" {'-' if sign < 0 else '+'} {key}" for sign, key in zip(signs[1:], keys[1:], strict=True)
                )
                return shown, np.sum([sign * per_pair[key] for sign, key in zip(signs, keys, strict=True)], axis=0)
        return None

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
    """Means over raters, or runs, `(n_pairs,)` of `(n_raters, n_pairs)`; NaN only where nobody judged."""
    judged = ~np.isnan(values)
    n = judged.sum(axis=0)
    return np.where(n > 0, np.where(judged, values, 0.0).sum(axis=0) / np.maximum(n, 1), np.nan)
