"""Speed of the reader, in processor time: its first report, the first answer of the command line, and each report more.

    python benchmarks/reader.py                            # on reports made up here
    python benchmarks/reader.py reports.csv report

With a CSV file the named columns (findings and impression if none is named) of each row are joined and read; rows
without text are left out. What a fresh process takes counts from its start, the interpreter's own 20 ms included, with
Python's byte code and the lexicon's cache as they are behind the first run; without either it is said apart.
"""

from __future__ import annotations

import csv
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rrgmetrics.utils.machine import processor

READ = ("-c", "from rrgmetrics.reading import read; read('Clear lungs.')")
SCORE = ("-m", "rrgmetrics", "score", "--metrics", "finding_errors", "--references", "r.txt", "--predictions", "c.txt")
CREPE = tuple("crepe" if word == "finding_errors" else word for word in SCORE)
ROUNDS = 5
PARTS = (
    "The heart is normal in size and the mediastinum is unremarkable.",
    "Small right pleural effusion with adjacent atelectasis, unchanged.",
    "Right internal jugular catheter with tip in the lower SVC.",
    "No pneumothorax, focal consolidation, or pulmonary edema.",
    "Degenerative changes of the thoracic spine. Old left rib fractures.",
    "There is a 6 mm nodule in the left upper lobe, which may represent a granuloma.",
)


def main(arguments: list[str]) -> None:
    """Print all measurements."""
    print(processor(), flush=True)
    for what, command in (("the reader's first report", READ), ("the command line's first answer", SCORE)):
        first, *later = fresh(command)
        print(f"{what}: {min(later):.3f} s, median {statistics.median(later):.3f} s; with nothing kept {first:.3f} s")
    from rrgmetrics.reading import read

    columns = arguments[1:] or ["findings", "impression"]
    reports = _load(Path(arguments[0]), columns) if arguments else invented()
    read(reports[0])
    times = []
    for report in reports:
        start = time.process_time()
        read(report)
        times.append(1000 * (time.process_time() - start))
    times.sort()
    slow = times[int(0.99 * len(times))]
    mean, median = statistics.mean(times), statistics.median(times)
    print(f"{len(reports)} reports: mean {mean:.3f} ms, median {median:.3f} ms, 99th percentile {slow:.3f} ms")


def fresh(command: tuple[str, ...]) -> list[float]:
    """Processor seconds of fresh processes: the first with nothing that is kept between processes, then the others."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "r.txt").write_text("Small left effusion. Mild cardiomegaly.\n")
        Path(folder, "c.txt").write_text("Large left effusion. Heart size is normal.\n")
        kept = {"XDG_CACHE_HOME": folder, "PYTHONPYCACHEPREFIX": folder}
        environment = {**os.environ, **kept, "RRGMETRICS_NOTICE": "no"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        return [_processor_seconds(command, folder, environment) for _ in range(1 + ROUNDS)]


def _processor_seconds(command: tuple[str, ...], folder: str, environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def invented() -> list[str]:
    """600 reports of one to six sentences."""
    return [" ".join(PARTS[i % 6 :]) for i in range(600)]


def _load(path: Path, columns: list[str]) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        texts = ["\n".join(row[c] for c in columns if row[c]) for row in csv.DictReader(file)]
    return [text for text in texts if text.strip()]


if __name__ == "__main__":
    main(sys.argv[1:])
