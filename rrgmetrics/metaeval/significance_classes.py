"""The class of significance that a judge gives an error, against the class that each radiologist gives it.

As CRIMSON's paper (arXiv 2603.06183, section 4.4, Figure 4): on errors that both marked, the share with the same class,
the confusion matrix, and the errors that lie one level apart. Two errors are one if they are of one kind and candidate
and the words of the findings are alike: the words that both have, twice, in relation to all words of both (F1), are at
least `LEAST`; each error is matched once, the most alike first. Radiologists mark findings of one list, which needs no
words. The judge must be asked for its verdicts: `crimson?explain=yes`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.agreement import AgreementReport
from rrgmetrics.metaeval.rated import Rated
from rrgmetrics.scoring.results import Result

CLASSES = ("urgent", "actionable_not_urgent", "not_actionable_not_urgent", "benign_expected")  # gravest first
LEAST = 0.5
EMPTY_WORDS = frozenset("a an and are as at in is it no of on or the there to with".split())
Place = tuple[str, str, str]  # case, candidate, kind


class Marked(NamedTuple):
    """An error that somebody marked: its finding in words, and its class."""

    words: str
    label: str


@dataclass(frozen=True)
class ClassesCompared:
    """The classes of one subject and of one rater, on errors that both marked.

    Attributes:
        subject: The metric as it was named, or a rater.
        rater: The rater.
        matrix: How often the subject gave the class of the row and the rater that of the column, by `CLASSES`.
        significant: The classes that are significant.
        n_subject: Errors that the subject alone marked.
        n_rater: Errors that the rater alone marked.
    """

    subject: str
    rater: str
    matrix: tuple[tuple[int, ...], ...]
    significant: tuple[str, ...]
    n_subject: int
    n_rater: int

    @property
    def n(self) -> int:
        """Errors that both marked."""
        return sum(map(sum, self.matrix))

    @property
    def same(self) -> float:
        """Share with the same class."""
        return self._share(lambda row, column: row == column)

    @property
    def side(self) -> float:
        """Share that both call significant, or neither does."""
        kept = [label in self.significant for label in CLASSES]
        return self._share(lambda row, column: kept[row] == kept[column])

    @property
    def adjacent(self) -> float:
        """Share that lies one level apart."""
        return self._share(lambda row, column: abs(row - column) == 1)

    @property
    def graver(self) -> float:
        """Share to which the subject gives a graver class than the rater."""
        return self._share(lambda row, column: row < column)

    def _share(self, holds: Any) -> float:
        cells = ((row, column, n) for row, line in enumerate(self.matrix) for column, n in enumerate(line))
        return sum(n for row, column, n in cells if holds(row, column)) / self.n if self.n else math.nan

    def to_dict(self) -> dict[str, object]:
        """Returns the numbers as JSON has them."""
        shares = {name: getattr(self, name) for name in ("n", "same", "side", "adjacent", "graver")}
        return {**vars(self), **shares, "classes": list(CLASSES), "matrix": [list(row) for row in self.matrix]}


def compare_classes(report: AgreementReport) -> Iterator[ClassesCompared]:
    """Yields each metric with verdicts in words against every rater, then every two raters.

    Raises:
        InputError: The data hold no classes of single errors.
    """
    data = report.data
    if not data.marks:
        raise InputError(
            f"{data.name} has no significance class for each error; RadPref has them in its published form (a clone "
            "of the CRIMSON repository)."
        )
    for subject, result in report.results.items():
        if marked := marks_of(result, data):
            for rater, own in data.marks.items():
                yield _compared(subject, rater, _matched(marked, _worded(data, own)), data)
    for one, other in combinations(data.marks, 2):
        first, second = data.marks[one], data.marks[other]
        both = [(first[error], second[error]) for error in first if error in second]
        left = (len(first) - len(both), len(second) - len(both))
        yield _compared(one, other, (both, *left), data)


def marks_of(result: Result, data: Rated) -> dict[Place, list[Marked]]:
    """The false and missing findings of CRIMSON's verdicts, by case, candidate and kind; empty without verdicts."""
    marked: dict[Place, list[Marked]] = {}
    verdicts = result.details.get("crimson_explained") or ()
    for (case, name), verdict in zip(_places(data), verdicts, strict=False):
        evaluation = (verdict or {}).get("evaluation")
        if not evaluation:
            continue
        for kind, errors, findings in (
            ("false", "false_findings", "predicted_findings"),
            ("missing", "missing_findings", "reference_findings"),
        ):
            known = {finding["id"]: finding for finding in evaluation.get(findings, ())}
            for error in evaluation.get("errors", {}).get(errors, ()):
                finding = known.get(error, {})
                own = Marked(str(finding.get("finding", "")), str(finding.get("clinical_significance", "")))
                marked.setdefault((case, name, kind), []).append(own)
    return marked


def _places(data: Rated) -> list[tuple[str, str]]:
    """Case and name of each candidate: C1, C2 in the order of a case."""
    seen: Counter[str] = Counter()
    places = []
    for case in data.studies:
        seen[case] += 1
        places.append((str(case), f"C{seen[case]}"))
    return places


def _worded(data: Rated, marks: Mapping[tuple[str, ...], str]) -> dict[Place, list[Marked]]:
    """A rater's marks with the words of their findings, by case, candidate and kind."""
    marked: dict[Place, list[Marked]] = {}
    for error, label in marks.items():
        case, name, kind = error[:3]
        marked.setdefault((case, name, kind), []).append(Marked(data.findings.get(error, ""), label))
    return marked


def _matched(
    ours: Mapping[Place, Sequence[Marked]], theirs: Mapping[Place, Sequence[Marked]]
) -> tuple[list[tuple[str, str]], int, int]:
    """The classes of errors that both marked, and how many each marked alone."""
    pairs = []
    for place in ours.keys() & theirs.keys():
        pairs += _match(ours[place], theirs[place])
    alone = (sum(map(len, marked.values())) - len(pairs) for marked in (ours, theirs))
    return (pairs, *alone)  # type: ignore[return-value]  # two numbers


def _match(ours: Sequence[Marked], theirs: Sequence[Marked]) -> list[tuple[str, str]]:
    """Matches errors by their words, the most alike first, each once."""
    alike = sorted(
        ((_likeness(one.words, other.words), i, j) for i, one in enumerate(ours) for j, other in enumerate(theirs)),
        key=lambda each: (-each[0], each[1], each[2]),
    )
    first, second, pairs = set[int](), set[int](), []
    for likeness, i, j in alike:
        if likeness >= LEAST and i not in first and j not in second:
            first.add(i)
            second.add(j)
            pairs.append((ours[i].label, theirs[j].label))
    return pairs


def _likeness(one: str, other: str) -> float:
    """F1 of the words of two findings, 0 to 1.

    Example:
        >>> _likeness("Small left effusion", "left effusion, small"), _likeness("rib fracture", "old fracture")
        (1.0, 0.5)
    """
    first, second = (set(re.findall(r"[a-z0-9]+", text.lower())) - EMPTY_WORDS for text in (one, other))
    total = len(first) + len(second)
    return 2 * len(first & second) / total if total else 0.0


def _compared(
    subject: str, rater: str, found: tuple[Sequence[tuple[str, str]], int, int], data: Rated
) -> ClassesCompared:
    """The matrix; errors whose class is none of `CLASSES` are left out."""
    pairs, n_subject, n_rater = found
    counted = Counter(pairs)
    matrix = tuple(tuple(counted[row, column] for column in CLASSES) for row in CLASSES)
    return ClassesCompared(subject, rater, matrix, tuple(data.significant_classes), n_subject, n_rater)
