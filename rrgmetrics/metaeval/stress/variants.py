"""Reports that others have changed: discrimination and robustness, two numbers with intervals.

A table has a row for each variant of a report: `reference`, `candidate`, and a column of levels. The higher the level,
the more or the graver errors the variant has; level 0 is another wording of equal content. A table without levels holds
equal content alone.

    discrimination   of two variants of one report with different levels, the share in which the one of the higher level
                     scores worse; equal scores count half, so chance is 0.5
    robustness       1 − what a variant of equal content costs, in units of what another patient's report costs: 1 is
                     no loss at all, 0 as much as another patient's report, below 0 more

The report itself stands in for level 0 of a report that has no variant of it. Intervals are the bootstrap's over
reports.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from rrgmetrics import files
from rrgmetrics.errors import InputError
from rrgmetrics.files import PathLike
from rrgmetrics.metaeval.stress.kinds import OTHER
from rrgmetrics.metaeval.stress.scoring import INTACT, Named, Scored, read_metrics, score_suite
from rrgmetrics.metaeval.stress.suite import Case, Suite
from rrgmetrics.reports import check_report
from rrgmetrics.scorers.base import Array
from rrgmetrics.scoring.prepared import prepare
from rrgmetrics.stats import LEVEL, TRIALS, Estimate, bootstrap

KEYS = ("discrimination", "robustness")
TOLERANCE = 1e-9  # scores that are nearer are equal
LEVELS = "level"  # the column of levels


@dataclass(frozen=True)
class Variants:
    """Variants of reports.

    Attributes:
        reports: The reports, each once.
        variants: For each report the texts of its variants with their levels.
        source: Where they come from, for people.
    """

    reports: tuple[str, ...]
    variants: tuple[tuple[tuple[str, float], ...], ...]
    source: str = ""

    @property
    def suite(self) -> Suite:
        """Every variant as a case of its own, and for each report that of the next one, another patient's."""
        cases = [Case(i, str(k), text) for i, own in enumerate(self.variants) for k, (text, _) in enumerate(own)]
        n = len(self.reports)
        cases += [Case(i, OTHER, self.reports[(i + 1) % n]) for i in range(n) if n > 1]
        return Suite(self.reports, tuple(cases), {}, self.source, 0, by_reader=False)


class OfVariants(NamedTuple):
    """What a metric makes of variants.

    Attributes:
        title: As tables have it.
        arrow: Which of its values are better.
        signature: What ran.
        discrimination: With its interval; NaN without two levels of one report.
        robustness: With its interval; NaN without variants of equal content, or where the metric does not tell another
            patient's report from the own one.
        n_twos: Twos of variants of different levels.
        n_equal: Variants of equal content.
        n_unscored: Variants to which the metric gave no number.
        reasons: Why, with the number of variants.
    """

    title: str
    arrow: str
    signature: str
    discrimination: Estimate
    robustness: Estimate
    n_twos: int
    n_equal: int
    n_unscored: int
    reasons: Mapping[str, int]

    def to_dict(self) -> dict[str, object]:
        """The numbers as one row of a frame; NaN where there is none."""
        row: dict[str, Any] = {"title": self.title, "signature": self.signature}
        for key in KEYS:
            value: Estimate = getattr(self, key)
            row |= {key: value.value, f"{key}_low": value.low, f"{key}_high": value.high}
        row |= {"n_twos": self.n_twos, "n_equal": self.n_equal, "n_unscored": self.n_unscored}
        return {**row, "unscored": "; ".join(f"{reason} ({n:,})" for reason, n in self.reasons.items())}


@dataclass(frozen=True)
class _Ratios:
    """Discrimination and robustness from sums over reports of what is right, twos, losses and their numbers."""

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        right, twos, loss, n_equal, unit, n_units = np.moveaxis(sums, -1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            per_unit = np.where(unit > 0, unit / n_units, np.nan)
            return {
                "discrimination": np.where(twos > 0, right / twos, np.nan),
                "robustness": np.where(n_equal > 0, 1 - loss / n_equal / per_unit, np.nan),
            }

    def per_pair(self, stats: Array) -> dict[str, Array]:
        return self.corpus(stats, np.ones(len(stats)))


def read_variants(path: PathLike, *, level: str = "") -> Variants:
    """Reads a table of variants.

    Args:
        path: CSV, JSONL or Parquet with the columns `reference` and `candidate`.
        level: The column of levels, numbers of at least 0. "": `level`; without it all variants are of equal content.

    Raises:
        InputError: The table cannot be used; names line and column.
    """
    by_report: dict[str, list[tuple[str, float]]] = {}
    has_levels = True if level else None
    level = level or LEVELS
    for unit, number, row in files.rows_of(path, ("reference", "candidate", level)):
        where = f"{path}, {unit} {number}"
        if has_levels and level not in row:
            raise InputError(f"{where}: there is no column {level}, but {', '.join(map(repr, row))}.")
        has_levels = row.get(level) is not None if has_levels is None else has_levels
        for name in ("reference", "candidate"):
            if name not in row:
                raise InputError(f"{where}: there is no column {name}; variants need reference and candidate.")
            check_report(row[name], f"{where}, {name}")
        grade = _level(row.get(level), where, level) if has_levels or row.get(level) is not None else 0.0
        by_report.setdefault(row["reference"], []).append((row["candidate"], grade))
    if not by_report:
        raise InputError(f"{path} contains no variants.")
    return Variants(tuple(by_report), tuple(map(tuple, by_report.values())), str(path))


def _level(cell: Any, where: str, name: str) -> float:
    try:
        level = float(cell)
    except (TypeError, ValueError):
        level = math.nan
    if not level >= 0 or math.isinf(level):
        raise InputError(f"{where}: {name} is {cell!r}; write a number of at least 0, 0 for equal content.")
    return level


def measure_variants(
    metrics: Named | Sequence[Named] | Mapping[str, Named],
    variants: Variants,
    *,
    batch_size: int | None = None,
    device: str | None = None,
    progress: bool = True,
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
) -> dict[str, OfVariants]:
    """Measures how far metrics tell levels of errors apart, and how little they mind another wording.

    Args:
        metrics: As for `rrgmetrics.metaeval.stress.stress`.
        variants: From `read_variants`.
        batch_size: As in `rrgmetrics.score`.
        device: As in `rrgmetrics.score`.
        progress: Whether to show bars.
        trials: Resamples of the intervals.
        level: Coverage of the intervals.
        seed: Of the draws.

    Returns:
        By metric its two numbers.

    Raises:
        InputError: A metric that cannot be used.
        BackendError: Weights or data of a metric are not there.

    Example:
        >>> texts = ("Small left effusion.", 0.0), ("Small right effusion.", 1.0), ("Clear lungs.", 2.0)
        >>> variants = Variants(("Small left pleural effusion.", "Mild cardiomegaly."), (texts, ()))
        >>> found = measure_variants("finding_score", variants, progress=False)["finding_score"]
        >>> found.discrimination.value, found.robustness.value
        (1.0, 1.0)
    """
    found = read_metrics(metrics)
    ours = [name for name, function in found.items() if function is None]
    outside = {name: function for name, function in found.items() if function is not None}
    with prepare(ours, batch_size=batch_size, device=device) if ours else nullcontext() as ready:
        scored = score_suite(variants.suite, ready, outside, progress=progress)
    drawing: dict[str, Any] = {"trials": trials, "level": level, "seed": seed}
    return {name: _measured(variants, scored[name], drawing) for name in found}


def _measured(variants: Variants, scored: Scored, drawing: Mapping[str, Any]) -> OfVariants:
    stats = np.array([_stats(own, index, scored) for index, own in enumerate(variants.variants)], dtype=np.float64)
    estimates = bootstrap(_Ratios(), stats, **drawing)
    places = [(str(k), i) for i, own in enumerate(variants.variants) for k in range(len(own))]
    unscored = [(kind, i) for kind, i in places if math.isnan(scored.goodness[kind][i])]
    twos, equal = stats[:, 1].sum(), stats[:, 3].sum()
    return OfVariants(
        scored.title,
        scored.arrow,
        scored.signature,
        estimates["discrimination"],
        estimates["robustness"],
        n_twos=int(twos),
        n_equal=int(equal),
        n_unscored=len(unscored),
        reasons=Counter(scored.reasons.get(place, "the function returned NaN") for place in unscored),
    )


def _stats(own: Sequence[tuple[str, float]], index: int, scored: Scored) -> tuple[float, ...]:
    """What a report adds to the sums of `_Ratios`; what has no score adds nothing."""
    intact = scored.goodness[INTACT].get(index, math.nan)
    values = [(level, scored.goodness[str(k)][index]) for k, (_, level) in enumerate(own)]
    known = [(level, value) for level, value in values if not math.isnan(value)]
    equal = [intact - value for level, value in known if level == 0 and not math.isnan(intact)]
    if not any(level == 0 for level, _ in values) and not math.isnan(intact):
        known.append((0.0, intact))
    rights = [_in_order(one, other) for one, other in combinations(known, 2) if one[0] != other[0]]
    other = scored.goodness.get(OTHER, {}).get(index, math.nan)
    unit = 0.0 if math.isnan(other) or math.isnan(intact) else intact - other
    return sum(rights), len(rights), sum(equal), len(equal), unit, float(not math.isnan(other))


def _in_order(one: tuple[float, float], other: tuple[float, float]) -> float:
    """1 if the variant of the higher level scores worse, ½ if both score the same, else 0."""
    (_, light), (_, grave) = sorted((one, other))
    return 0.5 if abs(light - grave) <= TOLERANCE else float(grave < light)
