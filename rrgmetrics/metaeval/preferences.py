"""Which of two candidates radiologists prefer, and how often a metric scores that one higher.

Ostmeier et al. 2024 (GREEN, section 3.4.2, Table 6, Figure 6) ask two experts about 100 pairs, leave out those on which
they differ, and count a pair as right where the preferred candidate has the higher score: an equal score is wrong. This
accuracy is `strict`. In `half` an equal score counts half, as guessing would.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Mean
from rrgmetrics.scoring.results import Result
from rrgmetrics.stats import LEVEL, TRIALS, Estimate, bootstrap

ALL = "all"
CLOSE = 1e-9  # scores that differ by less, in relation to their size, are equal


@dataclass(frozen=True, eq=False)
class Preferred:
    """Pairs of candidates that raters chose between.

    Attributes:
        name: Of the data set.
        first: The reference and candidate A of each choice.
        second: The reference and candidate B.
        studies: The study of each; intervals are over studies.
        raters: Names, one a row of `choices`.
        choices: `(n_raters, n)`: 1 for A, −1 for B, 0 for neither; NaN = not judged.
        confidence: `(n_raters, n)`: 1 to 10; NaN = not given.
        notes: What a reader of the numbers must know.
    """

    name: str
    first: tuple[Pair, ...]
    second: tuple[Pair, ...]
    studies: tuple[str, ...]
    raters: tuple[str, ...]
    choices: Array
    confidence: Array
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shape = (len(self.raters), len(self.first))
        if not self.first or len(self.second) != len(self.first) or len(self.studies) != len(self.first):
            raise InputError(f"{self.name} has no pairs of candidates with a choice.")
        if self.choices.shape != shape or self.confidence.shape != shape:
            raise InputError(f"{self.name}: choices and confidence need the shape {shape} of raters and pairs.")

    @property
    def pairs(self) -> list[Pair]:
        """What is scored: every candidate A, then every candidate B."""
        return [*self.first, *self.second]

    @property
    def agreed(self) -> Array:
        """What all who judged a pair chose `(n,)`: 1, −1; NaN where they differ, or prefer neither."""
        known = ~np.isnan(self.choices)
        least = np.where(known, self.choices, np.inf).min(axis=0)
        most = np.where(known, self.choices, -np.inf).max(axis=0)
        return np.where(known.any(axis=0) & (least == most) & (most != 0), most, np.nan)

    @property
    def levels(self) -> Array:
        """The mean confidence of each pair's raters, rounded `(n,)`; NaN where nobody gave any."""
        known = ~np.isnan(self.confidence)
        n = known.sum(axis=0)
        sums = np.where(known, self.confidence, 0).sum(axis=0)
        return np.where(n > 0, np.floor(sums / np.maximum(n, 1) + 0.5), np.nan)

    def left_out(self) -> tuple[int, int]:
        """The number of pairs on which raters differ, and of those on which all prefer neither."""
        known = ~np.isnan(self.choices)
        neither = known.any(axis=0) & (np.where(known, self.choices, 0) == 0).all(axis=0)
        return int((known.any(axis=0) & np.isnan(self.agreed) & ~neither).sum()), int(neither.sum())


class Accuracy(NamedTuple):
    """How often a subject is of the raters' opinion.

    Attributes:
        subject: The metric as it was named; a rater against another.
        stratum: `"all"`, `"confidence 7"`, `"rater Ann"`.
        strict: Share of the pairs whose preferred candidate has the higher score.
        half: The same, where an equal score counts half.
        n: Pairs with a preference and a score of both candidates.
        n_ties: Those with equal scores.
        n_unscored: Pairs with a preference, and a candidate without a score.
    """

    subject: str
    stratum: str
    strict: Estimate
    half: Estimate
    n: int
    n_ties: int
    n_unscored: int

    def to_dict(self) -> dict[str, object]:
        """Returns the numbers as JSON has them."""
        return self._asdict() | {"strict": self.strict._asdict(), "half": self.half._asdict()}


@dataclass(frozen=True)
class PreferenceReport:
    """The report on preferences.

    Attributes:
        data: The choices.
        results: What was scored, by the metric's name as it was passed; pairs in the order of `Preferred.pairs`.
        accuracies: By metric and stratum.
        raters: Share of equal choices of every two raters, where both prefer one candidate.
        level: Coverage of the intervals.
    """

    data: Preferred
    results: Mapping[str, Result]
    accuracies: tuple[Accuracy, ...]
    raters: tuple[Accuracy, ...]
    level: float = LEVEL

    @property
    def name(self) -> str:
        """The data set."""
        return self.data.name

    def of(self, subject: str) -> dict[str, Accuracy]:
        """The accuracies of one metric, by stratum."""
        return {each.stratum: each for each in self.accuracies if each.subject == subject}

    def to_dict(self) -> dict[str, object]:
        """Returns the numbers in Python's own types (NaN where undefined)."""
        differ, neither = self.data.left_out()
        return {
            "dataset": self.name,
            "n_pairs": len(self.data.first),
            "n_differing": differ,
            "n_neither": neither,
            "notes": list(self.data.notes),
            "level": self.level,
            "signatures": {name: result.signature for name, result in self.results.items()},
            "preferences": [each.to_dict() for each in (*self.accuracies, *self.raters)],
        }

    def rows(self) -> Iterator[dict[str, object]]:
        """Yields a flat row for each metric and stratum, for a table of numbers."""
        for each in (*self.accuracies, *self.raters):
            result = self.results.get(each.subject)
            yield {
                "dataset": self.name,
                "subject": each.subject,
                "key": result.spec.headline.name if result else "",
                "target": "preference",
                "subset": each.stratum,
                "strict": each.strict.value,
                "strict_low": each.strict.low,
                "strict_high": each.strict.high,
                "half": each.half.value,
                "half_low": each.half.low,
                "half_high": each.half.high,
                "n": each.n,
                "n_ties": each.n_ties,
                "n_unscored": each.n_unscored,
            }


def preference_report(
    data: Preferred,
    results: Mapping[str, Result],
    *,
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
) -> PreferenceReport:
    """Holds scores against choices.

    Args:
        data: The choices.
        results: Scores of `data.pairs`, in order, by the metric's name.
        trials: Resamples of studies behind each interval.
        level: Coverage of the intervals.
        seed: Of every interval.
    """
    draws: dict[str, Any] = {"trials": trials, "level": level, "seed": seed}
    n = len(data.first)
    accuracies: list[Accuracy] = []
    for subject, result in results.items():
        goodness = np.asarray(result.spec.headline.goodness(result.headline), dtype=np.float64)
        accuracies += hold_choices(data, subject, _ordered(goodness[:n], goodness[n:]), **draws)
    raters = [
        _accuracy(one, f"rater {other}", _clear(data.choices[i]), _clear(data.choices[j]), data.studies, draws)
        for (i, one), (j, other) in combinations(enumerate(data.raters), 2)
    ]
    return PreferenceReport(data, results, tuple(accuracies), tuple(raters), level)


def hold_choices(data: Preferred, subject: str, choices: Array, **draws: Any) -> tuple[Accuracy, ...]:
    """Holds anybody's choices against those of the raters: all, by confidence, and of each rater.

    Args:
        data: The raters' choices.
        subject: Whose choices these are.
        choices: `(n,)`: 1 for A, −1 for B, 0 for neither; NaN = none.
        draws: `trials`, `level` and `seed` of the intervals.
    """
    return tuple(
        _accuracy(subject, stratum, choices, preferred, data.studies, draws) for stratum, preferred in _strata(data)
    )


def _ordered(first: Array, second: Array) -> Array:
    """1 where A scores better, −1 where B does, 0 where they are equal but for float error; NaN without a score."""
    same = np.isclose(first, second, rtol=CLOSE, atol=1e-12)
    return np.where(np.isnan(first) | np.isnan(second), np.nan, np.where(same, 0.0, np.sign(first - second)))


def _strata(data: Preferred) -> Iterator[tuple[str, Array]]:
    """All pairs, those of each level of confidence, and each rater's own choices where there are several raters."""
    yield ALL, data.agreed
    for level in sorted({float(level) for level in data.levels[~np.isnan(data.levels)]}):
        yield f"confidence {level:g}", np.where(data.levels == level, data.agreed, np.nan)
    if len(data.raters) > 1:
        for rater, choices in zip(data.raters, data.choices, strict=True):
            yield f"rater {rater}", _clear(choices)


def _clear(choices: Array) -> Array:
    return np.where(choices == 0, np.nan, choices)


def _accuracy(
    subject: str, stratum: str, ordered: Array, preferred: Array, studies: Sequence[str], draws: Mapping[str, Any]
) -> Accuracy:
    asked = ~np.isnan(preferred)
    hits = np.column_stack([ordered == preferred, (1 + ordered * preferred) / 2]).astype(np.float64)
    hits[~asked | np.isnan(ordered)] = np.nan
    n = int((~np.isnan(hits[:, 1])).sum())
    nothing = Estimate(math.nan, math.nan, math.nan, 0)
    found = bootstrap(Mean(("strict", "half")), hits, groups=studies, **draws) if n else {}
    n_ties = int((ordered[asked] == 0).sum())
    n_unscored = int(np.isnan(ordered[asked]).sum())
    return Accuracy(subject, stratum, found.get("strict", nothing), found.get("half", nothing), n, n_ties, n_unscored)
