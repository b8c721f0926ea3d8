"""Compares systems on the same studies: scores with intervals, differences from a baseline, corrected p-values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from rrgmetrics import stats
from rrgmetrics.errors import InputError
from rrgmetrics.names import parse_name
from rrgmetrics.results import Result
from rrgmetrics.scorers.base import Array
from rrgmetrics.specs import Key

Correction = Literal["holm", "bh", "none"]
CORRECTIONS: Mapping[Correction, Callable[[Sequence[float]], Array]] = {
    "holm": stats.holm,
    "bh": stats.benjamini_hochberg,
    "none": lambda p_values: np.array(p_values, dtype=np.float64),
}


@dataclass(frozen=True)
class Row:
    """One score of one system.

    Attributes:
        metric: The name the metric was asked for by.
        key: Which of its scores, titled as people read it.
        system: The system's name.
        score: Value with its bootstrap interval.
        n_unscored: Pairs of this system without a score.
        test: Comparison with the baseline; None for the baseline itself.
        p_corrected: The test's p-value corrected over all tests of the table; NaN for the baseline.
    """

    metric: str
    key: Key
    system: str
    score: stats.Estimate
    n_unscored: int
    test: stats.Comparison | None
    p_corrected: float

    @property
    def title(self) -> str:
        """The key's title with the metric's name."""
        return parse_name(self.metric).titled.named(self.key)

    def to_dict(self) -> dict[str, str | float | int]:
        """The row as one of a frame; NaN where the baseline has no test."""
        difference = (np.nan,) * 3 if self.test is None else self.test.difference[:3]
        return {
            "metric": self.metric,
            "key": self.key.name,
            "title": self.title,
            "system": self.system,
            **dict(zip(("value", "low", "high"), self.score[:3], strict=True)),
            "n_unscored": self.n_unscored,
            **dict(zip(("difference", "difference_low", "difference_high"), difference, strict=True)),
            "p": np.nan if self.test is None else self.test.p_value,
            "p_corrected": self.p_corrected,
            "effect_size": np.nan if self.test is None else self.test.effect_size,
        }

    @property
    def is_better(self) -> bool | None:
        """Whether the system scores better than the baseline; None for the baseline or without a difference."""
        return None if self.test is None else self.key.is_better(self.test.difference.value)


def compare_systems(
    results: Mapping[str, Mapping[str, Result]],
    *,
    all_keys: bool = False,
    correction: Correction = "holm",
    trials: int = stats.TRIALS,
    level: float = stats.LEVEL,
    seed: int = 0,
) -> list[Row]:
    """Compares systems scored on the same studies; the first is the baseline.

    Args:
        results: For each system its Results by metric, as `score_systems` returns them.
        all_keys: Every key of each metric instead of the headline.
        correction: For the family of all tests in the table: "holm", "bh" (Benjamini-Hochberg) or "none".
        trials: Resamples of intervals and random swaps of tests.
        level: Coverage of intervals.
        seed: Every interval and test starts its own generator from it.

    Returns:
        Rows by metric, key and system.

    Raises:
        InputError: Unknown correction.
    """
    check_correction(correction)
    test = partial(stats.compare, trials=trials, level=level, seed=seed)
    interval = partial(stats.bootstrap, trials=trials, level=level, seed=seed)
    baseline, *others = results
    rows: list[Row] = []
    for metric, first in results[baseline].items():
        keys = first.titled.keys if all_keys else (first.titled.headline,)
        tests = {
            name: test(first.reduction, first.pair_stats, results[name][metric].pair_stats, targets=first.spec.targets)
            for name in others
        }
        scores = {
            name: interval(result[metric].reduction, result[metric].pair_stats) for name, result in results.items()
        }
        rows += [
            Row(
                metric=metric,
                key=key,
                system=name,
                score=scores[name][key.name],
                n_unscored=results[name][metric].n_unscored,
                test=tests[name][key.name] if name in tests else None,
                p_corrected=np.nan,
            )
            for key in keys
            for name in results
        ]
    return _with_corrected(rows, correction)


def check_correction(correction: str) -> None:
    """Raises InputError for an unknown correction."""
    if correction not in CORRECTIONS:
        raise InputError(f"There is no correction {correction!r}; there are: {', '.join(CORRECTIONS)}.")


def _with_corrected(rows: list[Row], correction: Correction) -> list[Row]:
    p_values = [np.nan if row.test is None else row.test.p_value for row in rows]
    corrected = CORRECTIONS[correction](p_values)
    return [replace(row, p_corrected=float(p)) for row, p in zip(rows, corrected, strict=True)]
