"""Measures what each bundled metric sees of changed reports: writes `rrgmetrics/metaeval/stress/results.yaml`.

    python scripts/measure_stress.py [METRIC ...]   # or: make stress; two or three minutes on two cores

Without metrics all of them are measured; with metrics only these rows are written anew.

The reports are 300 of our generator's, so nobody's data are needed. `make cards` puts the numbers on the cards.
"""

from __future__ import annotations

import datetime
import sys

from rrgmetrics import SPECS
from rrgmetrics.metaeval.measured import reads_chest_xrays
from rrgmetrics.metaeval.stress import stress
from rrgmetrics.metaeval.stress.stored import FILE, record


def main(*names: str) -> None:
    """Measures and writes."""
    report = stress(names or tuple(name for name, spec in SPECS.items() if reads_chest_xrays(spec)))
    record(report, date=datetime.datetime.now(datetime.UTC).date().isoformat())
    print(f"{FILE}: {len(report.metrics)} metrics, {len(report.suite.cases):,} changed reports")


if __name__ == "__main__":
    main(*sys.argv[1:])
