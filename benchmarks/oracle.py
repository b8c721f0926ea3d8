"""How much faster do indexes find the best report of a pool? `python benchmarks/oracle.py --pool 100000 --queries 200`.

Reports are the project's own, generated from a seed. All metrics search the pool together, which read it once. The line
has the processor time, the most memory above that before, the pairs that were scored, and the ratio to scoring all
pairs. The time of that follows from two and ten queries with `--sample` reports: so much to read a report, so much to
score a pair. What both find there is compared, too.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rrgmetrics.metaeval import nearest as module
from rrgmetrics.metaeval.nearest import Question, nearest
from rrgmetrics.reports import Pair
from rrgmetrics.scoring.prepared import prepare
from rrgmetrics.synthesis.generator import generate_pairs
from rrgmetrics.utils.machine import processor

NAMES = ("bleu#2", "radgraph_f1#radcliq", "chexbert_f1")


def reports(n: int, seed: int) -> list[str]:
    """So many different reports of the generator."""
    found: dict[str, None] = {}
    start = 0
    while len(found) < n:
        for pair in generate_pairs(n, seed=seed, start=start):
            found |= dict.fromkeys(filter(str.strip, (pair.reference, pair.candidate)))
        start += n
    return list(found)[:n]


class Searched(NamedTuple):
    """The rows found by metric, processor time, megabytes, and pairs scored (once for all metrics that score them)."""

    found: dict[str, list[int]]
    seconds: float
    megabytes: float
    scored: int


def search(
    names: Sequence[str], pool: Sequence[str], questions: Sequence[Question], *, indexed: bool = True
) -> Searched:
    """Searches the pool, and counts."""
    scored = 0
    goodness = module._goodness

    def counted(ready: Any, pairs: Sequence[Pair], **options: Any) -> Any:
        nonlocal scored
        scored += len(pairs)
        return goodness(ready, pairs, **options)

    module._goodness = counted
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with prepare(list(names)) as ready:
        found = nearest(ready, questions, pool, np.ones(len(pool)), indexed=indexed, progress=False)
    module._goodness = goodness
    spent = time.process_time() - began
    return Searched(found, spent, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, scored)


def asked(queries: Sequence[str], pool: Sequence[str]) -> list[Question]:
    """A question each, which leaves the query's own text out."""
    rows = {text: row for row, text in enumerate(pool)}
    return [
        Question(str(number), Pair(text, ""), frozenset([rows[text]] if text in rows else []))
        for number, text in enumerate(queries)
    ]


def main() -> None:
    """Prints one line for all metrics together, and with `--alone` one for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pool", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--sample", type=int, default=500, help="reports that ten queries are scored with")
    parser.add_argument("--names", nargs="+", default=list(NAMES))
    parser.add_argument("--alone", action="store_true", help="each metric alone, too")
    options = parser.parse_args()
    print(processor(), flush=True)
    pool, queries = reports(options.pool, seed=0), reports(options.queries, seed=1)
    sample = pool[: options.sample]
    for names in [*([name] for name in options.names if options.alone), options.names]:
        indexed = search(names, sample, asked(queries[:10], sample))  # first, so that the others are warm
        two, ten = (search(names, sample, asked(queries[:n], sample), indexed=False) for n in (2, 10))
        same = ten.found == indexed.found
        a_pair = (ten.seconds - two.seconds) / (8 * len(sample))
        a_report = max(0.0, two.seconds / len(sample) - 2 * a_pair)
        whole = (a_report + a_pair * len(queries)) * len(pool)
        n_all = len(names) * len(queries) * len(pool)
        _, spent, megabytes, scored = search(names, pool, asked(queries, pool))
        print(
            f"{', '.join(names)}: {spent:.0f} s of processor time, {megabytes:.0f} MB more, {scored:,} of {n_all:,} "
            f"pairs scored; all pairs {whole:,.0f} s, {whole / spent:,.0f} times as long; same: {same}",
            flush=True,
        )


if __name__ == "__main__":
    main()
