"""Measures what a metric's default configuration costs, for the pages: writes `rrgmetrics/metaeval/measured.yaml`.

Usage: python scripts/measure_cost.py [METRIC ...]

Processor time of 1,000 invented pairs on one core, each metric alone and its model loaded before; two minutes for all.
The processor is written beside the seconds, so metrics of several processors do not stand in one table: measure all.
"""

from __future__ import annotations

import datetime
import math
import os
import sys
import time

import rrgmetrics
from rrgmetrics.metaeval.measured import FILE, reads_chest_xrays
from rrgmetrics.metaeval.recording import record_rows
from rrgmetrics.stats import Estimate
from rrgmetrics.synthesis.generator import generate_pairs
from rrgmetrics.utils.machine import processor

N = 1000
SEED = 16


def main(*names: str) -> None:
    """Measures and writes."""
    pairs = list(generate_pairs(N, seed=SEED))
    texts = {"references": [pair.reference for pair in pairs], "predictions": [pair.candidate for pair in pairs]}
    words = {key: round(sum(len(text.split()) for text in reports) / N) for key, reports in texts.items()}
    rows, signatures = {}, {}
    for name in names or [name for name, spec in rrgmetrics.SPECS.items() if reads_chest_xrays(spec)]:
        with rrgmetrics.prepare([name]) as metrics:
            metrics.score(predictions=["Clear lungs."], references=["Clear lungs."], progress=False)
            start = time.process_time()
            result = metrics.score(**texts, progress=False)[name]
            seconds = time.process_time() - start
        rows[name] = {"seconds": Estimate(round(seconds, 1), math.nan, math.nan, N)}
        signatures[name] = result.signature
        print(f"{name} {seconds:.1f} s")
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    about = {"rows": N, "studies": N, "raters": 0, "level": 0.95, "words": words, "processor": processor()}
    record_rows("cost", rows, date=today, signatures=signatures, about=about)
    print(f"{FILE}: {len(rows)} metrics")


if __name__ == "__main__":
    if os.environ.get("OMP_NUM_THREADS") != "1":  # threads that wait for others count as work
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"OMP_NUM_THREADS": "1"})
    main(*sys.argv[1:])
