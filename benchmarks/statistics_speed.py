"""Intervals, tests and skill of every metric at once, against one metric and system after the other.

    python benchmarks/statistics_speed.py                 # 3,000 studies, 3 systems, 22 metrics: 44 tests

Statistics of pairs are drawn (no text is scored): 22 metrics of 20 columns. `together` is what `rrgmetrics compare`
does: one matrix product for each block of draws. `apart` is what version 0.2.0 did, for each metric and system: draw,
gather the columns of scored pairs, multiply. Both give the same p-values, which is checked; processor seconds, so that
other work on the machine counts little, and their ratio in one run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rrgmetrics import stats
from rrgmetrics.scorers.base import Array, Mean
from rrgmetrics.stats.resampling import block_sizes, resamples
from rrgmetrics.utils.machine import processor

N_METRICS, N_STATS = 22, 20


def main() -> None:
    """Draws statistics, computes all of it twice and prints the seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=3_000)
    parser.add_argument("--systems", type=int, default=3)
    parser.add_argument("--trials", type=int, default=2_000, help="of 10,000 that compare takes (default %(default)s)")
    options = parser.parse_args()
    print(processor(), flush=True)
    rng = np.random.default_rng(0)
    shape = (options.systems, options.studies, N_STATS)
    tables = [list(rng.poisson(2, size=shape).astype(np.float64)) for _ in range(N_METRICS)]
    apart, p_apart = timed(lambda: [test for of_metric in tables for test in one_by_one(of_metric, options.trials)])
    together, p_together = timed(lambda: at_once(tables, options.trials))
    assert p_apart == p_together, "the p-values differ"
    n_tests = len(p_apart)
    print(f"{options.studies:,} studies, {n_tests} tests, {options.trials:,} trials: processor seconds")
    print(f"apart {apart:.1f}, together {together:.1f}: {apart / together:.1f} times as fast, the same p-values")


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of a call, and what it gives."""
    start = time.process_time()
    value = run()
    return time.process_time() - start, value


REDUCTION = Mean(tuple(f"key_{number}" for number in range(N_STATS)))


def at_once(tables: list[list[Array]], trials: int) -> list[dict[str, float]]:
    """The p-values of all tests, as `compare` has them, beside all intervals."""
    tests = [stats.PairedStats(REDUCTION, of[0], other, {}) for of in tables for other in of[1:]]
    scores = [(REDUCTION, table) for of in tables for table in of]
    compared, _ = stats.compare_all(tests, scores, trials=trials)
    return [{key: each.p_value for key, each in test.items()} for test in compared]


def one_by_one(systems: list[Array], trials: int) -> list[dict[str, float]]:
    """The p-values of one metric's tests, with every product of its own, beside its intervals."""
    n = len(systems[0])
    for table in systems:
        ends([weighted(table, weights) for weights in resamples(np.arange(n), trials, 0)])
    found = []
    for other in systems[1:]:
        ends([weighted(other, w) - weighted(systems[0], w) for w in resamples(np.arange(n), trials, 0)])
        found.append(p_values(systems[0], other, trials))
    return found


def weighted(table: Array, weights: Array) -> Array:
    """Means of weighted sets; the pairs that are scored are gathered anew, though all are."""
    keep = ~np.isnan(table).any(axis=1)
    used = weights[:, keep]
    return np.asarray(used @ table[keep] / used.sum(axis=1)[:, None])


def ends(blocks: list[Array]) -> Array:
    """Ends of the intervals."""
    return np.asarray(np.quantile(np.concatenate(blocks), [0.025, 0.975], axis=0))


def p_values(first: Array, second: Array, trials: int) -> dict[str, float]:
    """The randomisation test with both systems' sums computed from both tables."""
    both = np.concatenate([first, second])
    size = np.abs(second.mean(axis=0) - first.mean(axis=0))
    hits, rng = np.zeros(N_STATS), np.random.default_rng(0)
    for n_sets in block_sizes(trials, 2 * len(first)):
        swapped = rng.integers(2, size=(n_sets, len(first)), dtype=np.uint8).astype(np.float64)
        kept = 1 - swapped
        drawn = weighted(both, np.hstack([swapped, kept])) - weighted(both, np.hstack([kept, swapped]))
        hits += (np.abs(drawn) >= size - 1e-10).sum(axis=0)
    return dict(zip(REDUCTION.keys, ((hits + 1) / (trials + 1)).tolist(), strict=True))


if __name__ == "__main__":
    main()
