"""Reads and writes `results.yaml`, `results_<pack>.yaml`: what each bundled metric sees of changed reports.

Of chest X-rays on 300 of our generator's, of chest CT and mammograms on those of `written`.

`scripts/measure_stress.py` writes it; the cards are made from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.measured import read_results
from rrgmetrics.metaeval.stress.kinds import KINDS
from rrgmetrics.metaeval.stress.measure import NAN, OfKind, OfLadder, Stressed, StressReport
from rrgmetrics.reading.lexicon import DEFAULT_PACK
from rrgmetrics.version import VERSION


def results_file(pack: str = DEFAULT_PACK) -> Path:
    """The file of what was measured on reports that a pack reads."""
    return Path(__file__).parent / ("results.yaml" if pack == DEFAULT_PACK else f"results_{pack}.yaml")


FILE = results_file()
HEADER = """\
# Made by scripts/measure_stress.py; not to be edited. Of each kind: share, loss in units of what another patient's
# report costs, share of errors that cost more (harmless kinds), pairs scored, unscored. Of each order: share, steps.
"""
DIGITS = 3
NOT_MEASURED = (None, None, None, 0, 0)  # a kind that is newer than the measurement


@dataclass(frozen=True)
class StoredStress:
    """The stored measurement.

    Attributes:
        date: As in 2026-11-22.
        version: Of rrgmetrics.
        source: The reports.
        n_reports: Their number.
        seed: Of the changes.
        without: By kind, the reports that it was tried on and that offer nothing for it.
        metrics: By name.
    """

    date: str
    version: str
    source: str
    n_reports: int
    seed: int
    without: Mapping[str, int]
    metrics: Mapping[str, Stressed]


@cache
def stored_stress(file: Path = FILE) -> StoredStress:
    """Reads the stored measurement."""
    stored = read_results(file)
    rows = stored.pop("metrics")
    return StoredStress(metrics={name: _stressed(row) for name, row in rows.items()}, **stored)


def record(report: StressReport, *, date: str, file: Path = FILE) -> None:
    """Writes a report over the rows of the same metrics; other rows stay, in the order that the file has.

    Args:
        report: Of the metrics.
        date: Of the measurement.
        file: To write.

    Raises:
        InputError: The rows that stay were measured on other reports, or with another version.
    """
    suite = report.suite
    about = {
        "date": date,
        "version": VERSION,
        "source": suite.source,
        "n_reports": len(suite.reports),
        "seed": suite.seed,
        "without": {kind: suite.without(kind) for kind in KINDS},
    }
    stored = read_results(file) if file.is_file() else {}
    rows = stored.get("metrics", {})
    others = rows.keys() - report.metrics.keys()
    if others and any(stored[key] != value for key, value in about.items() if key != "date"):
        raise InputError(f"{file} was measured on other reports or with another version; measure all metrics again.")
    new = {name: _row(metric) for name, metric in report.metrics.items()}
    rows = rows | new if others else new  # rows that stay keep their places, and so do those written anew
    text = yaml.safe_dump({**about, "metrics": rows}, sort_keys=False, width=500, default_flow_style=None)
    file.write_text(HEADER + text, encoding="utf-8")


def _row(metric: Stressed) -> dict[str, Any]:
    return {
        "title": metric.title,
        "arrow": metric.arrow,
        "signature": metric.signature,
        "rests_on_the_reader": metric.rests_on_the_reader,
        "unit": _rounded(metric.unit),
        "means": {kind: _rounded(value) for kind, value in metric.means.items()},
        "kinds": {kind: [_rounded(value) for value in own] for kind, own in metric.kinds.items()},
        "ladders": {name: [_rounded(value) for value in own] for name, own in metric.ladders.items()},
    }


def _stressed(row: dict[str, Any]) -> Stressed:
    stored = row.pop("kinds")
    kinds = {kind: OfKind(*map(_or_nan, stored.get(kind, NOT_MEASURED))) for kind in KINDS}
    ladders = {name: OfLadder(*map(_or_nan, values)) for name, values in row.pop("ladders").items()}
    return Stressed(kinds=kinds, ladders=ladders, **row)


def _rounded(value: float) -> float | int | None:
    if value != value:
        return None
    return value if isinstance(value, int) else round(float(value), DIGITS)


def _or_nan(value: Any) -> Any:
    return NAN if value is None else value
