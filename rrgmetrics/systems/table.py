"""Compares systems on the same studies: scores with intervals, differences from a baseline, corrected p-values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from rrgmetrics import stats
from rrgmetrics.errors import InputError
from rrgmetrics.scorers.base import Array, Chosen, Reduction
from rrgmetrics.scoring.results import Result, on_shared_studies
from rrgmetrics.specs import SPECS, Key
from rrgmetrics.specs.names import parse_name
from rrgmetrics.utils.text_format import did_you_mean

Correction = Literal["holm", "bh", "none"]
CORRECTIONS: Mapping[Correction, Callable[[Sequence[float]], Array]] = {
    "holm": stats.holm,
    "bh": stats.benjamini_hochberg,
    "none": lambda p_values: np.array(p_values, dtype=np.float64),
}


SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Row:
    """One score of one system.

    Attributes:
        metric: The name the metric was asked for by.
        key: Which of its scores, titled as people read it.
        system: The system's name.
        score: Value with its bootstrap interval.
        n_unscored: Pairs of this system without a score.
        n_left_out: Studies that the score does not count: those that a compared system has no score for.
        test: Comparison with the baseline; None for the baseline itself.
        p_corrected: The test's p-value corrected over all tests of the table; NaN for the baseline.
        level: Coverage of the intervals.
    """

    metric: str
    key: Key
    system: str
    score: stats.Estimate
    n_unscored: int
    n_left_out: int
    test: stats.PairedTest | None
    p_corrected: float
    level: float = stats.LEVEL

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
            "n_left_out": self.n_left_out,
            **dict(zip(("difference", "difference_low", "difference_high"), difference, strict=True)),
            "p": np.nan if self.test is None else self.test.p_value,
            "p_corrected": self.p_corrected,
            "p_floor": np.nan if self.test is None else self.test.floor,
            "effect_size": np.nan if self.test is None else self.test.effect_size,
        }

    @property
    def is_better(self) -> bool | None:
        """Whether the system scores better than the baseline; None for the baseline or without a difference."""
        return None if self.test is None else self.key.is_better(self.test.difference.value)

    @property
    def at_floor(self) -> bool:
        """Whether the swaps that were drawn could not have given a smaller p-value."""
        return self.test is not None and self.test.at_floor

    @property
    def is_significant(self) -> bool:
        """Whether the corrected p-value of the difference from the baseline is below `SIGNIFICANT`."""
        return self.p_corrected < SIGNIFICANT  # NaN is not


def compare_systems(
    results: Mapping[str, Mapping[str, Result]],
    *,
    all_keys: bool = False,
    keys: Sequence[str] | None = None,
    correction: Correction = "holm",
    trials: int = stats.TRIALS,
    level: float = stats.LEVEL,
    seed: int = 0,
) -> list[Row]:
    """Compares systems scored on the same studies; the first is the baseline.

    Scores and tests of a metric count the studies that every system has a score for (`on_shared_studies`).

    Args:
        results: For each system its Results by metric, as `score_systems` returns them.
        all_keys: Every key of each metric instead of the headline.
        keys: These alone, in this order (`choose_keys`); None: as `all_keys` says.
        correction: For the family of all tests in the table: "holm", "bh" (Benjamini-Hochberg) or "none".
        trials: Resamples of intervals and random swaps of tests.
        level: Coverage of intervals.
        seed: Every interval and test starts its own generator from it.

    Returns:
        Rows by metric, key and system.

    Raises:
        InputError: Unknown correction or key.
    """
    check_correction(correction)
    baseline, *others = results
    metrics, beside = results[baseline], on_shared_studies(results)
    chosen = _all_of(metrics, headlines=not all_keys) if keys is None else choose_keys(list(metrics), keys)
    tests: dict[tuple[str, str], stats.PairedStats] = {}
    tables: dict[tuple[str, str], tuple[Reduction, Array]] = {}
    for metric in dict.fromkeys(metric for metric, _ in chosen):
        first = beside[baseline][metric]
        reduction = Chosen(first.reduction, frozenset(key for each, key in chosen if each == metric))
        for name, by_metric in beside.items():
            own = by_metric[metric].pair_stats
            tables[metric, name] = reduction, own
            if name in others:
                tests[metric, name] = stats.PairedStats(reduction, first.pair_stats, own, first.spec.targets)
    drawing: dict[str, Any] = {"trials": trials, "level": level, "seed": seed}
    compared, estimates = stats.compare_all(list(tests.values()), list(tables.values()), **drawing)
    of_tests, of_scores = dict(zip(tests, compared, strict=True)), dict(zip(tables, estimates, strict=True))
    rows = [
        Row(
            metric=metric,
            key=next(each for each in metrics[metric].titled.keys if each.name == key),
            system=name,
            score=of_scores[metric, name][key],
            n_unscored=results[name][metric].n_unscored,
            n_left_out=beside[name][metric].n_unscored,
            test=of_tests[metric, name][key] if name in others else None,
            p_corrected=np.nan,
            level=level,
        )
        for metric, key in chosen
        for name in results
    ]
    return _with_corrected(rows, correction)


def choose_keys(metrics: Sequence[str], keys: Sequence[str]) -> list[tuple[str, str]]:
    """Finds the metric of each key that was chosen.

    Args:
        metrics: Names as they were asked for.
        keys: Result keys, such as `"rouge_1"`; of one configuration among several as in files: `"crepe__paper"`.

    Returns:
        Metric and key, in the order of `keys`; of a key that several configurations have each.

    Raises:
        InputError: A key that none of the metrics has.

    Example:
        >>> choose_keys(["bleu", "rouge", "bleu?tokenizer=13a"], ["rouge_1", "bleu__tokenizer_13a"])
        [('rouge', 'rouge_1'), ('bleu?tokenizer=13a', 'bleu')]
    """
    known: dict[str, list[tuple[str, str]]] = {}
    for metric in metrics:
        name = parse_name(metric)
        for key in name.spec.keys:
            for text in dict.fromkeys((key.name, key.name + name.suffix)):
                known.setdefault(text, []).append((metric, key.name))
    for text in keys:
        if text not in known:
            owner = next((spec.name for spec in SPECS.values() if text in (key.name for key in spec.keys)), "")
            why = f"it is one of {owner}, which is not asked for" if owner else "see `rrgmetrics list NAME`"
            raise InputError(f"None of the metrics has the key {text!r}; {why}.{did_you_mean(text, known)}")
    return list(dict.fromkeys(each for text in keys for each in known[text]))


def _all_of(metrics: Mapping[str, Result], *, headlines: bool) -> list[tuple[str, str]]:
    """Metric and key of every score, or of each metric's headline; of two keys with one value and title the first."""
    return [
        (name, key.name)
        for name, each in metrics.items()
        for key in distinct_keys(each.spec.keys[: 1 if headlines else None])
    ]


def distinct_keys(keys: Sequence[Key]) -> list[Key]:
    """Returns the keys without those that have the title of an earlier one, as `rouge_l` that of `rouge`.

    Example:
        >>> [key.name for key in distinct_keys(SPECS["rouge"].keys)]
        ['rouge', 'rouge_1', 'rouge_2']
    """
    first: dict[str, Key] = {}
    for key in keys:
        first.setdefault(key.title, key)
    return list(first.values())


def level_of(rows: Sequence[Row]) -> float:
    """Returns the coverage of the intervals of rows, which is the same for all."""
    return rows[0].level if rows else stats.LEVEL


def coverage(rows: Sequence[Row]) -> str:
    """Returns the coverage of the intervals of rows in percent: `95%`."""
    return f"{100 * level_of(rows):.12g}%"


def check_correction(correction: str) -> None:
    """Raises InputError for an unknown correction."""
    if correction not in CORRECTIONS:
        raise InputError(f"There is no correction {correction!r}; there are: {', '.join(CORRECTIONS)}.")


def _with_corrected(rows: list[Row], correction: Correction) -> list[Row]:
    p_values = [np.nan if row.test is None else row.test.p_value for row in rows]
    corrected = CORRECTIONS[correction](p_values)
    return [replace(row, p_corrected=float(p)) for row, p in zip(rows, corrected, strict=True)]
