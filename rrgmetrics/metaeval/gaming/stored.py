"""Reads and writes `results.yaml`: what games each metric, as `scripts/measure_gamed.py` measured it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rrgmetrics.metaeval.gaming.report import Gamed, GamingReport, gamed_of, gamed_row
from rrgmetrics.metaeval.measured import read_results
from rrgmetrics.version import VERSION

FILE = Path(__file__).with_name("results.yaml")
HEADER = """\
# Made by scripts/measure_gamed.py; not to be edited. Of each text and trick: the mean score, the candidates it was
# played on, and by system what it gains over them: the mean, the ends of the 95% interval, pairs.
"""


@dataclass(frozen=True)
class StoredGaming:
    """The stored measurement.

    Attributes:
        source: The studies.
        n_studies: Those that gains were measured on.
        seed: Of the studies and of the search.
        metrics: By name.
        measured: By name, the day and the version of rrgmetrics.
    """

    source: str
    n_studies: int
    seed: int
    metrics: Mapping[str, Gamed]
    measured: Mapping[str, str]


@cache
def stored_gaming(file: Path = FILE) -> StoredGaming:
    """Reads the stored measurement."""
    stored = read_results(file)
    rows = stored.pop("metrics")
    measured = {name: row.pop("measured") for name, row in rows.items()}
    return StoredGaming(metrics={name: gamed_of(name, row) for name, row in rows.items()}, measured=measured, **stored)


def record(report: GamingReport, *, date: str, file: Path = FILE) -> None:
    """Writes a report over the rows of the same metrics; rows of others stay where they were measured alike.

    Args:
        report: Of the metrics.
        date: Of the measurement.
        file: To write.
    """
    import yaml

    about = {"source": report.source, "n_studies": report.n_studies, "seed": report.seed}
    stored = read_results(file) if file.is_file() else {}
    rows = stored.get("metrics", {}) if all(stored.get(key) == value for key, value in about.items()) else {}
    measured = f"{date}, rrgmetrics {VERSION}"
    rows |= {name: {"measured": measured, **gamed_row(metric)} for name, metric in report.metrics.items()}
    text = yaml.safe_dump({**about, "metrics": rows}, sort_keys=False, width=500, default_flow_style=None)
    file.write_text(HEADER + text, encoding="utf-8")
