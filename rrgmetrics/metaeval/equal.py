"""Pairs whose texts say the same: a metric should score them as it scores a report against itself.

Each reference is scored against its rewording, against itself, and against the rewording of another study, which gives
the unit: what another patient's report costs. As in the stress test, a fall of less than a thousandth of it is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Mean
from rrgmetrics.scoring.results import Result
from rrgmetrics.stats import LEVEL, TRIALS, Estimate, bootstrap

TOLERANCE = 1e-3  # of what another study's report costs


@dataclass(frozen=True)
class Equal:
    """Pairs that say the same.

    Attributes:
        name: Of the data set.
        reworded: References and their rewordings.
        studies: The study of each; intervals are over studies.
        notes: What a reader of the numbers must know.
    """

    name: str
    reworded: tuple[Pair, ...]
    studies: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.reworded or len(self.reworded) != len(self.studies):
            raise InputError(f"{self.name} has {len(self.reworded)} pairs of {len(self.studies)} studies.")

    @property
    def pairs(self) -> list[Pair]:
        """What is scored: each reference against its rewording, itself, and a rewording of another study `(3 n,)`."""
        others = self._others()
        return [
            *self.reworded,
            *(pair._replace(candidate=pair.reference) for pair in self.reworded),
            *(
                pair._replace(candidate=self.reworded[other].candidate)
                for pair, other in zip(self.reworded, others, strict=True)
            ),
        ]

    @property
    def has_others(self) -> bool:
        """Whether there is more than one study."""
        return len(set(self.studies)) > 1

    def _others(self) -> list[int]:
        """Of each pair the next one of another study; the pair itself where there is none."""
        following: list[int] = []
        n = len(self.studies)
        for row, study in enumerate(self.studies):
            later = ((row + step) % n for step in range(1, n))
            following.append(next((each for each in later if self.studies[each] != study), row))
        return following


class Kept(NamedTuple):
    """What a metric makes of pairs that say the same.

    Attributes:
        subject: The metric as it was named.
        share: Of the pairs those that score no worse than the report against itself, from 0 to 1; 1 is best.
        loss: Mean fall against the report itself, in units of what another study's report costs; 0 is best.
        reworded: Mean score of the rewordings, in the metric's own unit.
        itself: Mean score of the reports against themselves.
        another: Mean score of other studies' rewordings.
        n: Pairs that were scored.
        n_unscored: Pairs without a score of the rewording or of the report itself.
    """

    subject: str
    share: Estimate
    loss: float
    reworded: float
    itself: float
    another: float
    n: int
    n_unscored: int


@dataclass(frozen=True)
class EqualReport:
    """The report on pairs that say the same.

    Attributes:
        data: The pairs.
        results: What was scored, by the metric's name as it was passed; pairs in the order of `Equal.pairs`.
        kept: By metric.
        level: Coverage of the intervals.
    """

    data: Equal
    results: Mapping[str, Result]
    kept: tuple[Kept, ...]
    level: float = LEVEL

    @property
    def name(self) -> str:
        """The data set."""
        return self.data.name

    def to_dict(self) -> dict[str, object]:
        """Returns the numbers of each metric in Python's own types (NaN where undefined)."""
        return {
            "dataset": self.name,
            "n_pairs": len(self.data.reworded),
            "n_cases": len(set(self.data.studies)),
            "notes": list(self.data.notes),
            "level": self.level,
            "signatures": {name: result.signature for name, result in self.results.items()},
            "kept": [each._asdict() | {"share": each.share._asdict()} for each in self.kept],
        }

    def rows(self) -> Iterator[dict[str, object]]:
        """Yields a flat row for each metric, for a table of numbers."""
        for each in self.kept:
            row = each._asdict() | {"share": each.share.value, "low": each.share.low, "high": each.share.high}
            yield {
                "dataset": self.name,
                "key": self.results[each.subject].spec.headline.name,
                "target": "equal pairs",
                **row,
            }


def equal_report(
    data: Equal, results: Mapping[str, Result], *, trials: int = TRIALS, level: float = LEVEL, seed: int = 0
) -> EqualReport:
    """Measures scores of pairs that say the same.

    Args:
        data: The pairs.
        results: Scores of `data.pairs` by the metric's name.
        trials: Resamples of studies behind each interval.
        level: Coverage of the intervals.
        seed: Of every interval.
    """
    draws = {"trials": trials, "level": level, "seed": seed}
    return EqualReport(data, results, tuple(_kept(data, *each, draws) for each in results.items()), level)


def _kept(data: Equal, subject: str, result: Result, draws: Mapping[str, Any]) -> Kept:
    values = np.asarray(result.headline, dtype=np.float64).reshape(3, -1)
    goodness = result.spec.headline.goodness(values)
    fall = goodness[1] - goodness[0]
    unit = _mean(goodness[1] - goodness[2]) if data.has_others else np.nan
    least = TOLERANCE * unit if unit > 0 else 0.0
    is_kept = np.where(np.isnan(fall), np.nan, fall <= least)
    share = bootstrap(Mean(("share",)), is_kept[:, None], groups=data.studies, **draws)["share"]
    reworded, itself, another = map(_mean, values)
    return Kept(
        subject=subject,
        share=share,
        loss=_mean(fall) / unit if unit > 0 else np.nan,
        reworded=reworded,
        itself=itself,
        another=another if data.has_others else np.nan,
        n=int((~np.isnan(fall)).sum()),
        n_unscored=int(np.isnan(fall).sum()),
    )


def _mean(values: Sequence[float] | Array) -> float:
    known = np.asarray(values)[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan
