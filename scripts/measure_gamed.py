"""Measures what games each metric: writes `rrgmetrics/metaeval/gaming/results.yaml`.

    python scripts/measure_gamed.py [METRIC ...] [--steps N]   # or: make gamed; about an hour on two cores

Without metrics the recommended rewards are searched with 100 times the usual steps, and all other bundled metrics with
the usual ones; with metrics only these rows are written anew. The studies are the generator's. `make cards` puts the
numbers on the cards, `make docs` on the page "Can this reward be gamed?".
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from rrgmetrics import SPECS
from rrgmetrics.cli.game import REWARDS
from rrgmetrics.metaeval.gaming import STEPS, GamingReport, game
from rrgmetrics.metaeval.gaming.report import SEARCHED
from rrgmetrics.metaeval.gaming.stored import record
from rrgmetrics.metaeval.measured import reads_reports_of
from rrgmetrics.reading.lexicon import DEFAULT_PACK

TIMES = 100  # the usual steps, for recommended rewards
SLOWEST = ("crepe", "finding_score")  # begin first


def main(arguments: list[str]) -> None:
    """Measures and writes each metric when it is done."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("metrics", nargs="*", help="default: every bundled metric that can be a reward")
    parser.add_argument("--steps", type=int, help=f"default {TIMES * STEPS} of recommended rewards, {STEPS} of others")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = "1"  # of each process
    names = options.metrics or [name for name, spec in SPECS.items() if not spec.corpus_statistics]
    names = [name for name in names if reads_reports_of(SPECS[name], DEFAULT_PACK)]
    for report in measured(sorted(names, key=_turn), options.steps, options.processes):
        record(report, date=datetime.datetime.now(datetime.UTC).date().isoformat())
        for name, metric in report.metrics.items():
            declared = [hack for hack in SPECS[name].hacks if hack in SEARCHED]
            said = "as declared" if declared == list(metric.hacks) else f"declared: {declared}; declare these"
            print(f"{name}: hacks {list(metric.hacks)}, {said}", flush=True)


def measured(names: list[str], steps: int | None, processes: int) -> Iterator[GamingReport]:
    """Yields the report of each metric when it is done."""
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        done = [pool.submit(measure, name, steps or STEPS * (TIMES if name in REWARDS else 1)) for name in names]
        yield from (each.result() for each in as_completed(done))


def measure(name: str, steps: int) -> GamingReport:
    """Measures one metric."""
    return game(name, steps=steps, progress=False)


def _turn(name: str) -> int:
    return SLOWEST.index(name) if name in SLOWEST else len(SLOWEST) + (name not in REWARDS)


if __name__ == "__main__":
    main(sys.argv[1:])
