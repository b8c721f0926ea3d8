"""Measures what a metric's default configuration costs, for the pages: writes `rrgmetrics/metaeval/measured.yaml`.

Usage: python scripts/measure_cost.py [METRIC ...]

Processor time of 1,000 invented pairs on one core, each metric alone and its model loaded before; two minutes for all.
The processor is written beside the seconds, so metrics of several processors do not stand in one table: measure all.
"""

from __future__ import annotations

import datetime
import math
import os
import platform
import re
import sys
import time
from pathlib import Path

import torch

import rrgmetrics
from rrgmetrics.english import listed
from rrgmetrics.metaeval.measured import FILE, reads_chest_xrays
from rrgmetrics.metaeval.recording import record_rows
from rrgmetrics.stats import Estimate
from rrgmetrics.synthesis.generator import generate_pairs

N = 1000
SEED = 16
MATTER = ("avx512_vnni", "avx512_bf16", "amx_int8", "amx_bf16")  # models at 8 and 16 bits are faster with them


def main(*names: str) -> None:
    """Measures and writes."""
    torch.set_num_threads(1)  # threads that wait for one another count as work
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


def processor() -> str:
    """Describes this machine's processor: `AMD EPYC, AVX512 with VNNI and BF16`; busy, if others use it too."""
    file = Path("/proc/cpuinfo")
    told = file.read_text() if file.is_file() else ""
    name = re.search(r"^model name\s*: (.*)$", told, re.MULTILINE)
    flags = re.search(r"^flags\s*: (.*)$", told, re.MULTILINE)
    has = set(flags[1].split()) if flags else set()
    more = [flag.removeprefix("avx512_").upper().replace("_", " ") for flag in MATTER if flag in has]
    vectors = torch.backends.cpu.get_cpu_capability()
    busy = ", busy" if os.getloadavg()[0] > (os.cpu_count() or 1) + 1 else ""  # which makes the time longer
    return f"{name[1] if name else platform.processor()}, {vectors}{f' with {listed(more)}' if more else ''}{busy}"


if __name__ == "__main__":
    main(*sys.argv[1:])
