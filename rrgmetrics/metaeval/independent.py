"""How far metrics agree with radiologists on data that their development never saw (`independent.yaml`).

The maintainers keep rated reports back and measure what has landed on them. The numbers are of the bundled
configurations, and say of which version; a metric or a data set without a value was not measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from rrgmetrics.stats import Estimate

FILE = Path(__file__).parent / "independent.yaml"
NAN = float("nan")
FACTS = ("title", "short", "description", "pairs", "studies", "raters", "version", "targets")


@dataclass(frozen=True)
class RatedSet:
    """A set of reports that radiologists judged, and what metrics reach on it.

    Attributes:
        name: Its key in the file.
        title: What it is.
        short: As a table's head has it.
        description: Whose references and candidates they are, and who judged.
        pairs: Number of pairs.
        studies: Number of studies; intervals are over these.
        raters: Radiologists a pair.
        version: Of rrgmetrics, as it was measured.
        targets: What radiologists said of a pair, by key, with its title.
        ceiling: By target, what one radiologist reaches against the others: least and most.
        metrics: By metric and target Kendall's tau-b, -1 to 1, positive is agreement; NaN where an end of an interval
            is not known.
        kinds: By metric and kind of error tau-b of the counts of that kind.
    """

    name: str
    title: str
    short: str
    description: str
    pairs: int
    studies: int
    raters: int
    version: str
    targets: Mapping[str, str]
    ceiling: Mapping[str, tuple[float, float]]
    metrics: Mapping[str, Mapping[str, Estimate]]
    kinds: Mapping[str, Mapping[str, float]]


@cache
def rated_sets(file: Path = FILE) -> Mapping[str, RatedSet]:
    """Reads the data sets by name."""
    stored = yaml.safe_load(file.read_text(encoding="utf-8"))["datasets"]
    return {name: _rated_set(name, row) for name, row in stored.items()}


def of_metric(metric: str, file: Path = FILE) -> Iterator[tuple[RatedSet, str, Estimate]]:
    """Yields the data set, the target and the agreement of each measurement of a metric.

    Example:
        >>> for rated, target, tau in of_metric("bleu"):
        ...     print(rated.name, target, tau.value)
        radpref_kept_back total_errors 0.4
        radpref_kept_back rating 0.46
        radeval_expert significant_errors -0.03
        radeval_expert significant_errors_within_studies 0.03
        radeval_expert total_errors -0.02
        radevalx significant_errors 0.16
        refisco total_errors 0.49
    """
    for rated in rated_sets(file).values():
        for target, tau in rated.metrics.get(metric, {}).items():
            yield rated, target, tau


def _rated_set(name: str, row: Mapping[str, Any]) -> RatedSet:
    def tau(value: float, low: float = NAN, high: float = NAN) -> Estimate:
        return Estimate(value, low, high, row["pairs"])

    return RatedSet(
        name=name,
        **{key: row[key] for key in FACTS},
        ceiling={target: (low, high) for target, (low, high) in row["ceiling"].items()},
        metrics={
            metric: {target: tau(*values) for target, values in targets.items()}
            for metric, targets in row["metrics"].items()
        },
        kinds=row.get("kinds", {}),
    )
