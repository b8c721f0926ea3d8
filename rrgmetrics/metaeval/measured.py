"""Reads and writes `agreement.yaml`: how far each metric agrees with radiologists.

The numbers are those of `rrgmetrics agree --dataset radpref:PATH`. Each metric's row says when, with which version and
with what signature it was measured; a metric without a row has not been measured yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from rrgmetrics.errors import InputError
from rrgmetrics.stats import Estimate
from rrgmetrics.version import VERSION

if TYPE_CHECKING:
    from rrgmetrics.metaeval import AgreementReport

TARGETS = ("total_errors", "significant_errors", "rating")
FILE = Path(__file__).parent / "agreement.yaml"
HEADER = "# Made by scripts/measure_agreement.py from RadPref's development half; not to be edited.\n"
DIGITS = 4


@dataclass(frozen=True)
class Measured:
    """One metric's agreement with radiologists.

    Attributes:
        date: Of the measurement, as in 2026-11-21.
        version: Of rrgmetrics.
        signature: What ran.
        tau_b: With radiologists' `total_errors`, `significant_errors` and `rating`; -1 to 1, positive is agreement.
        preferences: Share of radiologists' clear preferences between two candidates that the metric shares; 0 to 1,
            0.5 is chance.
    """

    date: str
    version: str
    signature: str
    tau_b: Mapping[str, Estimate]
    preferences: Estimate


@dataclass(frozen=True)
class Agreements:
    """The measured agreements of all metrics, and of radiologists with each other.

    Attributes:
        n_pairs: Pairs of reports.
        n_cases: Studies they belong to; intervals are over these.
        n_raters: Radiologists.
        level: Coverage of the intervals.
        ceiling: What one radiologist reaches against the mean of the others, least and most; names as in `Measured`.
        metrics: By name.
    """

    n_pairs: int
    n_cases: int
    n_raters: int
    level: float
    ceiling: Mapping[str, tuple[float, float]]
    metrics: Mapping[str, Measured]


@cache
def agreements(file: Path = FILE) -> Agreements:
    """Reads the measured agreements."""
    stored = yaml.safe_load(file.read_text(encoding="utf-8"))
    rows = {name: _measured(row) for name, row in stored.pop("metrics").items()}
    ceiling = {target: (low, high) for target, (low, high) in stored.pop("ceiling").items()}
    return Agreements(ceiling=ceiling, metrics=rows, **stored)


def record(report: AgreementReport, *, date: str, file: Path = FILE) -> None:
    """Writes a report's measurements over the rows of the same metrics; other rows stay.

    Args:
        report: Of `rrgmetrics.metaeval.agree`.
        date: Of the measurement.
        file: To write.

    Raises:
        InputError: The rows that stay were measured on other pairs.
    """
    about = {
        "n_pairs": len(report.data.pairs),
        "n_cases": report.data.n_studies,
        "n_raters": len(report.data.raters),
        "level": report.resampling.level,
    }
    stored = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}
    rows = stored.get("metrics", {})
    if rows and any(stored[key] != value for key, value in about.items()):
        raise InputError(f"{file} was measured on other pairs; measure all metrics again without it.")
    rows |= {name: _row(report, name, date) for name in report.results}
    text = yaml.safe_dump(
        {**about, "ceiling": _ceiling(report), "metrics": dict(sorted(rows.items()))},
        sort_keys=False,
        width=500,
        default_flow_style=None,
    )
    file.write_text(HEADER + text, encoding="utf-8")


def _row(report: AgreementReport, name: str, date: str) -> dict[str, Any]:
    lines = {target: report.headline(name, target) for target in TARGETS}
    taus = {target: _to_list(line.tau_b) for target, line in lines.items() if line is not None}
    share = next(line.share for line in report.preferences if line.subject == name)
    return {
        "date": date,
        "version": VERSION,
        "signature": report.results[name].signature,
        "tau_b": taus,
        "preferences": _to_list(share),
    }


def _ceiling(report: AgreementReport) -> dict[str, list[float]]:
    """Returns the least and the most agreement of one rater with the mean of the others."""
    values: dict[str, list[float]] = {target: [] for target in TARGETS}
    for line in report.ceiling:
        if (line.key, line.view) == ("others", "pairs") and line.target in TARGETS:
            values[line.target].append(line.tau_b.value)
    values["preferences"] = [line.share.value for line in report.ceiling_preferences]
    return {target: [round(min(own), DIGITS), round(max(own), DIGITS)] for target, own in values.items()}


def _to_list(estimate: Estimate) -> list[float]:
    return [round(float(value), DIGITS) for value in estimate[:3]] + [estimate.n]


def _measured(row: Mapping[str, Any]) -> Measured:
    return Measured(
        date=str(row["date"]),
        version=str(row["version"]),
        signature=str(row["signature"]),
        tau_b={target: Estimate(*values) for target, values in row["tau_b"].items()},
        preferences=Estimate(*row["preferences"]),
    )
