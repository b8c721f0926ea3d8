"""Cases whose candidates radiologists would order: RadJudge, and any such test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rrgmetrics.reports import Pair
from rrgmetrics.scoring.results import Result

JUDGED_DECIMALS = 4  # RadJudge compares scores as printed
TIE = 0.01  # RadJudge: "C1 = C2" is an absolute difference below this, whatever the metric's range


class RankedCase(NamedTuple):
    """A RadJudge case: its candidates by name, and the relations ("C1 > C2", "C1 = C2") that must all hold."""

    case: str
    category: str
    pairs: dict[str, Pair]
    expected: tuple[str, ...]


@dataclass(frozen=True)
class Ranked:
    """Cases with expected orders."""

    name: str
    cases: tuple[RankedCase, ...]

    @property
    def pairs(self) -> list[Pair]:
        """The pairs of all cases, in order."""
        return [pair for case in self.cases for pair in case.pairs.values()]


class Judged(NamedTuple):
    """A case under one metric: the candidates' scores, rounded, and whether every expected relation holds."""

    subject: str
    case: str
    category: str
    expected: tuple[str, ...]
    scores: dict[str, float]
    passed: bool


@dataclass(frozen=True)
class RankedReport:
    """The report on which of RadJudge's cases each metric orders as radiologists do.

    Attributes:
        name: Of the data set.
        results: What was scored, by the metric's name as it was passed; pairs in the order of the cases.
        judged: By metric and case.
    """

    name: str
    results: Mapping[str, Result]
    judged: tuple[Judged, ...]

    def passed(self, subject: str, category: str | None = None) -> tuple[int, int]:
        """The numbers of cases passed and of all cases, in one category or in all."""
        rows = [row for row in self.judged if row.subject == subject and category in (None, row.category)]
        return sum(row.passed for row in rows), len(rows)

    @property
    def categories(self) -> list[str]:
        """The categories in the order of the data."""
        return list(dict.fromkeys(row.category for row in self.judged))

    def to_dict(self) -> dict[str, object]:
        """Returns the cases passed by metric and category, and every case, in Python's own types (NaN: unscored)."""
        return {
            "dataset": self.name,
            "metrics": {
                name: {
                    "signature": result.signature,
                    "n_pairs": result.n_pairs,
                    "n_unscored": result.n_unscored,
                    "passed": self.passed(name)[0],
                    "n_cases": self.passed(name)[1],
                    "passed_by_category": {category: self.passed(name, category)[0] for category in self.categories},
                }
                for name, result in self.results.items()
            },
            "n_cases_by_category": dict(Counter(row.category for row in self.judged if row.subject == self._first)),
            "cases": [row._asdict() | {"expected": list(row.expected)} for row in self.judged],
        }

    def rows(self) -> Iterator[dict[str, object]]:
        """Yields a flat row for each metric and category, for a table of numbers."""
        for name in self.results:
            for category in self.categories:
                passed, n = self.passed(name, category)
                about = {"dataset": self.name, "subject": name, "key": category, "target": "cases passed"}
                yield {**about, "passed": passed, "n": n}

    @property
    def _first(self) -> str:
        return next(iter(self.results))


def ranked_report(data: Ranked, results: Mapping[str, Result]) -> RankedReport:
    """Judges scores by the expected orders.

    Args:
        data: The cases.
        results: Scores of the cases' pairs, in order, by the metric's name.
    """
    judged = []
    for subject, result in results.items():
        values = iter(result.headline)
        for case in data.cases:
            scores = {name: round(float(next(values)), JUDGED_DECIMALS) for name in case.pairs}
            better = {name: result.spec.headline.goodness(score) for name, score in scores.items()}
            passed = all(holds(relation, better) for relation in case.expected)
            judged.append(Judged(subject, case.case, case.category, case.expected, scores, passed))
    return RankedReport(data.name, results, tuple(judged))


def holds(relation: str, scores: Mapping[str, float], *, higher_is_better: bool = True) -> bool:
    """Returns whether scores stand in the expected relation.

    Args:
        relation: `"C1 > C2"` (C1 is strictly better) or `"C1 = C2"` (they differ by less than 0.01).
        scores: By candidate; NaN (unscored) stands in no relation.
        higher_is_better: Direction of the scores.

    Returns:
        False too for a relation that cannot be read, as in the authors' checker.

    Example:
        >>> holds("C1 = C2", {"C1": 0.5, "C2": 0.509})
        True
    """
    for sign in (" > ", " = "):
        first, separator, second = relation.partition(sign)
        if separator and first in scores and second in scores:
            difference = scores[first] - scores[second]
            if sign == " = ":
                return abs(difference) < TIE
            return difference > 0 if higher_is_better else difference < 0
    return False
