"""Finding score: how right a report is, weighed by what it means for the patient; rrgmetrics' own metric.

Both reports are read and compared as `finding_errors` does, and every finding and every difference is graded in the
patient's context as CRIMSON's classes have it (`rrgmetrics.comparing.rubric`). With g the sum of the weights of the
reference's findings that the candidate has, and e the sum of the weights of its errors,

    finding_score = 1 − e / (e + g + ¼)

in [0, 1], higher is better; 1 without an error, also where neither report has a finding. Radiologists rate a report by
what is wrong relative to what is right; the quarter keeps one error beside nothing right from being as bad as many.

What the candidate leaves out of a finding weighs a part of a wrong description (`rrgmetrics.comparing.omissions`).

The weights are few and round. What was tried on RadPref's development half, and what it gave, stands on the card.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rrgmetrics.backends.compared_pairs import Compared, ComparedPairs
from rrgmetrics.comparing.model import SIGNIFICANT, Attribute, ErrorCategory, ReportComparison
from rrgmetrics.comparing.rubric import Appraisal
from rrgmetrics.comparing.wording import difference as in_words
from rrgmetrics.reading.lexicon import lexicon_of
from rrgmetrics.reading.model import Finding, Significance
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Mean, Runtime
from rrgmetrics.specs import keys_of
from rrgmetrics.utils.text_format import counted

KEYS = keys_of("finding_score")

# What a finding weighs, by its class: if it is false or missing, and if both reports have it.
WRONG: Mapping[Significance, float] = {
    "urgent": 2.0,
    "actionable_not_urgent": 1.0,
    "not_actionable_not_urgent": 0.25,
    "benign_expected": 0.125,
}
RIGHT: Mapping[Significance, float] = {
    "urgent": 2.0,
    "actionable_not_urgent": 1.0,
    "not_actionable_not_urgent": 0.5,
    "benign_expected": 0.25,
}
# What a difference of a matched finding weighs: in its description, in its course; significant or not.
DESCRIPTION = {True: 1.0, False: 0.5}
COURSE = {True: 0.5, False: 0.25}
URGENT = 2.0  # times the weight of a difference that would change the treatment, where the finding is urgent
DENIED = 1.25  # times the weight of what matters and is not only missing but denied: a false all-clear ends the search
NOTHING_RIGHT = 0.25


class ScoredError(NamedTuple):
    """One error with its weight, in words; `significant` if it is urgent, actionable, or could change treatment."""

    category: ErrorCategory
    sentence: str
    weight: float
    significant: bool


class Tally(NamedTuple):
    """A pair in numbers.

    Attributes:
        errors: What is wrong, the heaviest first.
        right: Weights of the reference's findings that the candidate has.
        n_findings: The reference's findings.
    """

    errors: tuple[ScoredError, ...]
    right: tuple[float, ...]
    n_findings: int

    @property
    def wrong(self) -> float:
        """e, the sum of the weights of the errors."""
        return sum(error.weight for error in self.errors)

    @property
    def score(self) -> float:
        """The finding score, 0 to 1."""
        return 1 - self.wrong / (self.wrong + sum(self.right) + NOTHING_RIGHT)

    @property
    def words(self) -> str:
        """The tally in a sentence.

        Example:
            >>> missed = ScoredError(ErrorCategory.MISSING_FINDING, "Missing: nodule.", 1.0, True)
            >>> Tally((missed,), (1.0, 0.5), 3).words
            '2 of 3 findings correct; 1 missing (1 matters).'
        """
        parts = [f"{len(self.right)} of {counted(self.n_findings, 'finding')} correct"] if self.n_findings else []
        for categories, name in _NAMED.items():
            errors = [error for error in self.errors if error.category in categories]
            matter = sum(error.significant for error in errors)
            if errors:
                parts.append(f"{len(errors)} {name}" + (f" ({counted(matter, 'matters', 'matter')})" if matter else ""))
        return f"{'; '.join(parts) or 'No finding, and none claimed'}."


_NAMED: Mapping[tuple[ErrorCategory, ...], str] = {
    (ErrorCategory.MISSING_FINDING,): "missing",
    (ErrorCategory.FALSE_FINDING,): "false",
    (ErrorCategory.INCORRECT_LOCATION,): "misplaced",
    (ErrorCategory.INCORRECT_SEVERITY,): "misdescribed",
    (ErrorCategory.FALSE_COMPARISON, ErrorCategory.MISSING_COMPARISON): "with another change",
}
_PLACES: frozenset[Attribute] = frozenset({"location", "device_position"})


def tally(compared: Compared) -> Tally:
    """Grades a compared pair.

    Args:
        compared: The reader's annotation of the pair.

    Returns:
        Tally: errors and right findings with their weights.
    """
    appraisal = compared.appraisal
    errors = (
        *_left_over(appraisal, _denied(compared)),
        *_differences(compared.comparison, appraisal),
        *_penalties(compared),
    )
    matched = dict.fromkeys(reference for reference, _ in appraisal.links)
    right = tuple(RIGHT[appraisal.references[reference].significance] for reference in matched)
    return Tally(tuple(sorted(errors, key=lambda error: -error.weight)), right, len(appraisal.references))


def _denied(compared: Compared) -> list[Finding | None]:
    """Returns the reference's findings that the candidate denies in so many words."""
    missing = ErrorCategory.MISSING_FINDING
    return [error.reference for error in compared.comparison.errors if error.category is missing and error.contradicts]


def _left_over(appraisal: Appraisal, denied: Sequence[Finding | None]) -> Iterator[ScoredError]:
    sides = (
        (ErrorCategory.MISSING_FINDING, "Missing", appraisal.references, appraisal.missing),
        (ErrorCategory.FALSE_FINDING, "False", appraisal.candidates, appraisal.false),
    )
    for category, name, findings, left_over in sides:
        for index in left_over:
            graded = findings[index]
            why = f"{graded.significance.replace('_', ' ')}{': ' if graded.why else ''}{graded.why}"
            weight = WRONG[graded.significance]
            if category is ErrorCategory.MISSING_FINDING and graded.matters and graded.unit.head in denied:
                weight, why = DENIED * weight, f"{why}; denied"
            yield ScoredError(category, f"{name}: {graded.words} ({why}).", weight, graded.matters)


def _differences(comparison: ReportComparison, appraisal: Appraisal) -> tuple[ScoredError, ...]:
    lexicon, errors = lexicon_of(comparison), []
    for difference in appraisal.differences:
        reference, candidate = appraisal.references[difference.reference], appraisal.candidates[difference.candidate]
        at_stake = URGENT if difference.significant and reference.significance == "urgent" else 1.0
        words = in_words(reference.unit, candidate.unit, difference.attribute, lexicon)
        sentence = f"{words} ({difference.why})."
        if difference.attribute == "temporal":
            said = any(finding.change for finding in reference.unit.readings)
            category = ErrorCategory.MISSING_COMPARISON if said else ErrorCategory.FALSE_COMPARISON
            weight = max(COURSE[difference.significant] * difference.part, COURSE[False]) * at_stake
        else:
            place = difference.attribute in _PLACES
            category = ErrorCategory.INCORRECT_LOCATION if place else ErrorCategory.INCORRECT_SEVERITY
            weight = DESCRIPTION[difference.significant] * at_stake * difference.part
        errors.append(ScoredError(category, sentence, weight, difference.significant))
    return tuple(errors)


def _penalties(compared: Compared) -> Iterator[ScoredError]:
    for error in compared.comparison.penalties:
        level = error.significance or "not_actionable_not_urgent"
        yield ScoredError(error.category, error.sentence, WRONG[level], level in SIGNIFICANT)


@dataclass(frozen=True)
class FindingScore:
    """The finding score; with `explain` each pair's errors and right findings are told too."""

    explain: bool = False

    @property
    def reduction(self) -> Mean:
        """Means over pairs."""
        return Mean(KEYS)

    def backend(self, runtime: Runtime) -> ComparedPairs:
        """The backend that reads both reports and compares them."""
        return ComparedPairs()

    def pair_stats(self, pairs: Sequence[Pair], annotations: Mapping[Pair, Compared], statistics: None = None) -> Array:
        """The score, the weight of what is right and of what is wrong, for each pair `(n_pairs, 3)`."""
        tallies = [tally(annotations[pair]) for pair in pairs]
        rows = [(each.score, sum(each.right), each.wrong) for each in tallies]
        return np.array(rows, dtype=np.float64).reshape(-1, len(KEYS))

    def details(self, pairs: Sequence[Pair], annotations: Mapping[Pair, Compared]) -> Mapping[str, Sequence[Any]]:
        """Returns, with `explain`, each pair in words, and its errors with their weights."""
        if not self.explain:
            return {}
        tallies = [tally(annotations[pair]) for pair in pairs]
        return {"finding_score_explained": [_to_dict(each) for each in tallies]}


def _to_dict(each: Tally) -> dict[str, object]:
    errors = [error._asdict() | {"category": error.category.value} for error in each.errors]
    return {"words": each.words, "errors": errors}
