"""Measures what each bundled metric sees of changed reports: writes `rrgmetrics/metaeval/stress/results*.yaml`.

    python scripts/measure_stress.py [METRIC ...]   # or: make stress; two or three minutes on two cores
    python scripts/measure_stress.py chest_ct mammography   # the suites of these kinds of report alone

Without metrics all of them are measured; with metrics only these rows are written anew.

The reports are 300 of our generator's, and the written ones of other kinds, so nobody's data are needed. `make cards`
puts the numbers on the cards.
"""

from __future__ import annotations

import datetime
import sys

from rrgmetrics import SPECS
from rrgmetrics.metaeval.measured import reads_reports_of
from rrgmetrics.metaeval.stress import stress, written_packs, written_suite
from rrgmetrics.metaeval.stress.stored import record, results_file
from rrgmetrics.reading.lexicon import DEFAULT_PACK


def main(*arguments: str) -> None:
    """Measures and writes."""
    packs = (DEFAULT_PACK, *written_packs())
    names = [name for name in arguments if name not in packs] or list(SPECS)
    for pack in [pack for pack in packs if pack in arguments] or packs:
        metrics = [name for name in names if reads_reports_of(SPECS[name], pack)]
        if metrics:
            report = stress(metrics, None if pack == DEFAULT_PACK else written_suite(pack))
            record(report, date=datetime.datetime.now(datetime.UTC).date().isoformat(), file=results_file(pack))
            print(f"{results_file(pack)}: {len(report.metrics)} metrics, {len(report.suite.cases):,} changed reports")


if __name__ == "__main__":
    main(*sys.argv[1:])
