"""Does a million pairs cost a thousand times a thousand? `python benchmarks/scale.py --pairs 1000 10000 100000`.

Invented pairs, of which 30% repeat others, go through `bleu rouge finding_errors radgraph_f1 chexbert_f1` in each way
that scores many: one process with all in memory, two workers, the stream, the stream with two workers, and Ray with two
actors where it is installed; one of the workers or actors is killed with signal 9 on the way. A line each: wall time,
processor time a pair, the most memory that the driver and that any worker held, and the largest difference from one
process. Each way has a process of its own, so that none warms another.
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
from typing import NamedTuple, TextIO

from rrgmetrics.utils.machine import processor
from rrgmetrics.utils.own_process import collect_seldom, sleeping_threads

NAMES = ("bleu", "rouge", "finding_errors", "radgraph_f1", "chexbert_f1")
WAYS = ("one", "workers", "stream", "stream-workers", "ray")
KILLED = ("workers", "stream-workers", "ray")  # ways in which a worker is killed
SAMPLE = 10.0  # seconds between two lines of the log
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


def make(path: Path, n_pairs: int, generated: bool = False) -> None:
    """Writes pairs: of templates, or of the generator that training pairs come from."""
    import pyarrow
    from pyarrow import parquet

    from rrgmetrics.synthesis.generator import generate_pairs

    draw = random.Random(0)
    fresh = ((each.reference, each.candidate) for each in generate_pairs(n_pairs, seed=0)) if generated else None
    rows: list[tuple[str, str]] = []
    for _ in range(n_pairs):
        again = rows and draw.random() < REPEATED
        new = draw.choice(rows) if again else next(fresh) if fresh else (report(draw), report(draw))
        rows.append(new)
    columns = dict(zip(("reference", "candidate"), map(list, zip(*rows, strict=True)), strict=True))
    ids = [str(number) for number in range(n_pairs)]
    parquet.write_table(pyarrow.table({"study_id": ids, **columns}), path, row_group_size=10_000)


def run(way: str, path: Path, names: list[str], kill_after: float) -> dict[str, dict[str, float]]:
    """Scores the pairs of a file in one of the ways; the corpus scores by metric."""
    os.environ.update(sleeping_threads())  # as the command line does, before numpy is loaded
    collect_seldom()

    import numpy as np

    import rrgmetrics
    from rrgmetrics.scoring.streaming import score_stream

    output = path.parent / f"{way}-{path.name}"
    if way in KILLED:
        threading.Thread(target=kill_one, args=(kill_after,), daemon=True).start()
    if way in ("one", "workers"):
        results = rrgmetrics.score(names, str(path), progress=False, workers=2 if way == "workers" else 1)
        if way == "one":
            for name, result in results.items():
                np.save(alone(path.parent, name), result.pair_stats)
        return {name: result.scores for name, result in results.items()}
    if way == "ray":
        from rrgmetrics.integrations.ray import score_files

        totals = score_files(str(path), names, str(output.with_suffix("")), progress=False)
    else:
        workers = 2 if way == "stream-workers" else 1
        totals = score_stream(names, str(path), output=output, progress=False, workers=workers, force=True)
    return {name: each.scores for name, each in totals.items()}


def alone(folder: Path, name: str) -> Path:
    """The file of the statistics of each pair that one process gave."""
    return folder / f"one-{name}.npy"


def first_pairs(folder: Path, names: list[str], n_pairs: int) -> dict[str, dict[str, float]]:
    """The scores that one process gives the first pairs; few pairs are the beginning of many."""
    import numpy as np

    from rrgmetrics.scorers import aggregate
    from rrgmetrics.scoring.prepared import reduction_of

    known = {name: np.load(alone(folder, name), mmap_mode="r") for name in names if alone(folder, name).exists()}
    return {
        name: aggregate.reduce(reduction_of(name), stats[:n_pairs])
        for name, stats in known.items()
        if len(stats) >= n_pairs
    }


def kill_one(after: float) -> None:
    """Kills the busiest worker with signal 9 once it has worked for a while."""
    workers: dict[int, float] = {}
    while max(workers.values(), default=0.0) < after:
        time.sleep(0.5)
        workers = {pid: seconds(pid) for pid in below(os.getpid()) if scores_pairs(pid)}
    busiest = max(workers, key=workers.__getitem__)
    os.kill(busiest, signal.SIGKILL)
    print(f"killed {busiest}", file=sys.stderr)


def scores_pairs(pid: int) -> bool:
    """Whether a process is a worker of ours, or of Ray's one that holds metrics."""
    try:
        title = Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False
    return "Scorer" in title or "loky" in title


def below(pid: int) -> Iterator[int]:
    """The processes that the threads of a process have started, and theirs."""
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        try:
            children = (thread / "children").read_text().split()
        except OSError:
            continue
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


class Cost(NamedTuple):
    """What a way of scoring cost.

    Attributes:
        wall: Seconds by the clock.
        used: Seconds of processor time, all processes together.
        driver: The most memory that the process held which was started, in megabytes.
        worker: The most memory that any process held which it started.
        scores: By metric.
    """

    wall: float
    used: float
    driver: float
    worker: float
    scores: dict[str, dict[str, float]]


def watched(arguments: list[str], log: TextIO) -> Cost:
    """Runs one way in a process of its own, and watches what it costs; a line of the log each ten seconds."""
    start = time.monotonic()
    process = subprocess.Popen([sys.executable, __file__, "--run", *arguments], stdout=subprocess.PIPE, text=True)
    driver, worker, written = 0.0, 0.0, 0.0
    used: dict[int, float] = {}
    while process.poll() is None:
        now = time.monotonic() - start
        held = {pid: resident(pid) for pid in below(process.pid)}
        driver, worker = max(driver, own := resident(process.pid)), max(worker, *held.values(), 0.0)
        for pid in (process.pid, *held):
            used[pid] = max(used.get(pid, 0.0), seconds(pid))
        if now - written >= SAMPLE:
            written = now
            workers = {pid: round(each) for pid, each in held.items() if scores_pairs(pid)}
            line = {"way": arguments[0], "s": round(now), "used": round(sum(used.values())), "driver": round(own)}
            print(json.dumps({**line, "workers": workers}), file=log, flush=True)
        time.sleep(0.5)
    assert process.stdout is not None
    said = process.stdout.read().splitlines()
    scores = json.loads(next(line for line in reversed(said) if line.startswith("{")))  # Ray may say more after it
    return Cost(time.monotonic() - start, sum(used.values()), driver, worker, scores)


def main() -> None:
    """Measures every way with every number of pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--metrics", nargs="+", default=list(NAMES))
    parser.add_argument(
        "--generator", action="store_true", help="varied reports of rrgmetrics.synthesis, not templates"
    )
    parser.add_argument("--kill-after", type=float, default=5, help="processor seconds that a worker has to live")
    parser.add_argument("--folder", type=Path, help="keeps the pairs, and what one process said of them")
    parser.add_argument("--log", default=os.devnull, help="memory of every process each ten seconds, JSON lines")
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        print(json.dumps(run(options.run[0], Path(options.run[1]), options.metrics, options.kill_after)))
        return
    print(processor(), flush=True)
    more = ["--kill-after", str(options.kill_after), "--metrics", *options.metrics]
    print("pairs      way             wall s  CPU ms/pair  driver MB  worker MB  largest difference from one process")
    with tempfile.TemporaryDirectory() as temporary, open(options.log, "a") as log:
        folder = options.folder or Path(temporary)
        for n_pairs in options.pairs:
            path = folder / f"pairs-{n_pairs}.parquet"
            if not path.exists():
                make(path, n_pairs, options.generator)
            for way in options.ways:
                cost = watched([way, str(path), *more], log)
                one = first_pairs(folder, options.metrics, n_pairs)
                gaps = [abs(cost.scores[name][key] - value) for name in one for key, value in one[name].items()]
                gap = max(gaps, default=float("nan"))
                print(
                    f"{n_pairs:<10,} {way:14} {cost.wall:7.1f} {1000 * cost.used / n_pairs:12.2f} "
                    f"{cost.driver:10.0f} {cost.worker:10.0f}  {gap:.1e} {'' if gap <= CLOSE else 'DIFFERS'}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
