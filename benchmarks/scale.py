"""Does a million pairs cost a thousand times a thousand? `python benchmarks/scale.py --pairs 1000 10000 100000`.

Invented pairs, of which 30% repeat others, go through `bleu rouge finding_errors radgraph_f1 chexbert_f1` in each way
that scores many: one process with all in memory, two workers (of which one is killed with signal 9 on the way), the
stream, and Ray with two actors where it is installed. A line each: wall time, processor time a pair, the most memory
that the driver and that any worker held, and the largest difference from one process. Each way has a process of its
own, so that none warms another.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

NAMES = ("bleu", "rouge", "finding_errors", "radgraph_f1", "chexbert_f1")
WAYS = ("one", "workers", "stream", "ray")
REPEATED = 0.3
SIDES, SIZES, LOBES = ("left", "right"), ("small", "moderate", "large"), ("upper", "lower")
CLOSE = 1e-12
MEGABYTE = 2**20


def report(draw: random.Random) -> str:
    """Three to six invented sentences."""
    side, size, lobe = draw.choice(SIDES), draw.choice(SIZES), draw.choice(LOBES)
    sentences = [
        f"There is a {size} {side} pleural effusion.",
        f"{size.capitalize()} {side} apical pneumothorax measuring {draw.randint(3, 40)} mm.",
        f"Patchy opacity in the {side} {lobe} lobe, concerning for pneumonia.",
        f"A {draw.randint(4, 30)} mm nodule projects over the {side} {lobe} lobe.",
        "The heart is mildly enlarged.",
        "No pneumothorax.",
        "No pleural effusion.",
        f"The endotracheal tube ends {draw.randint(1, 7)} cm above the carina.",
        f"Healed fracture of the {side} {draw.randint(4, 10)}th rib.",
        "Mild interstitial edema, unchanged.",
    ]
    return " ".join(draw.sample(sentences, draw.randint(3, 6)))


def make(path: Path, n_pairs: int) -> None:
    """Writes pairs."""
    import pyarrow
    from pyarrow import parquet

    draw = random.Random(0)
    rows: list[tuple[str, str]] = []
    for _ in range(n_pairs):
        again = rows and draw.random() < REPEATED
        rows.append(draw.choice(rows) if again else (report(draw), report(draw)))
    columns = dict(zip(("reference", "candidate"), map(list, zip(*rows, strict=True)), strict=True))
    ids = [str(number) for number in range(n_pairs)]
    parquet.write_table(pyarrow.table({"study_id": ids, **columns}), path, row_group_size=10_000)


def run(way: str, path: Path) -> dict[str, dict[str, float]]:
    """Scores the pairs of a file in one of the ways; the corpus scores by metric."""
    import rrgmetrics
    from rrgmetrics.streaming import score_stream

    output = path.parent / f"{way}-{path.name}"
    if way in ("one", "workers"):
        number = 2 if way == "workers" else 1
        if way == "workers":
            threading.Thread(target=kill_one, daemon=True).start()
        results = rrgmetrics.score(list(NAMES), str(path), progress=False, workers=number)
        return {name: result.scores for name, result in results.items()}
    if way == "stream":
        totals = score_stream(NAMES, str(path), output=output, progress=False)
    else:
        from rrgmetrics.integrations.ray import score_files

        totals = score_files(str(path), NAMES, str(output.with_suffix("")), progress=False)
    return {name: each.scores for name, each in totals.items()}


def kill_one() -> None:
    """Kills a worker with signal 9 once some have worked for a while."""
    while len(workers := [pid for pid in below(os.getpid()) if seconds(pid) > 5]) < 2:
        time.sleep(0.5)
    os.kill(workers[-1], signal.SIGKILL)


def below(pid: int) -> Iterator[int]:
    """The processes that a process has started, and theirs."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for child in map(int, children):
        yield child
        yield from below(child)


def seconds(pid: int) -> float:
    """The processor time of a process; 0 once it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """The memory that a process holds for itself, in megabytes; 0 once it is gone."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0.0
    return (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def watched(way: str, path: Path) -> dict[str, object]:
    """Runs one way in a process of its own, and watches what it costs."""
    start = time.monotonic()
    process = subprocess.Popen([sys.executable, __file__, "--run", way, str(path)], stdout=subprocess.PIPE, text=True)
    driver, worker, used = 0.0, 0.0, dict[int, float]()
    while process.poll() is None:
        driver = max(driver, resident(process.pid))
        for pid in (process.pid, *below(process.pid)):
            used[pid] = max(used.get(pid, 0.0), seconds(pid))
            worker = max(worker, resident(pid)) if pid != process.pid else worker
        time.sleep(0.2)
    assert process.stdout is not None
    scores = json.loads(process.stdout.read().strip().splitlines()[-1])
    return {
        "wall": time.monotonic() - start,
        "used": sum(used.values()),
        "driver": driver,
        "worker": worker,
        "scores": scores,
    }


def main() -> None:
    """Measures every way with every number of pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        print(json.dumps(run(options.run[0], Path(options.run[1]))))
        return
    print("pairs      way      wall s   CPU ms/pair  driver MB  worker MB  largest difference from one process")
    with tempfile.TemporaryDirectory() as folder:
        for n_pairs in options.pairs:
            path = Path(folder, f"{n_pairs}.parquet")
            make(path, n_pairs)
            first: dict[str, dict[str, float]] = {}
            for way in options.ways:
                cost = watched(way, path)
                scores = cost["scores"]
                first = first or scores
                gap = max(abs(scores[name][key] - first[name][key]) for name in first for key in first[name])
                print(
                    f"{n_pairs:<10,} {way:8} {cost['wall']:7.1f} {1000 * cost['used'] / n_pairs:12.2f} "
                    f"{cost['driver']:10.0f} {cost['worker']:10.0f}  {gap:.1e} {'' if gap <= CLOSE else 'DIFFERS'}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
