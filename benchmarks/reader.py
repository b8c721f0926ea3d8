"""Speed of the reader: cold start, and milliseconds per report on one core.

    python benchmarks/reader.py                            # on reports made up here
    python benchmarks/reader.py reports.csv report

With a CSV file the named columns (findings and impression if none is named) of each row are joined and read; rows
without text are left out.
"""

from __future__ import annotations

import csv
import statistics
import subprocess
import sys
import time
from pathlib import Path

COLD = """
import time
start = time.perf_counter()
from rrgmetrics.reader import read
read("Clear lungs.")
print(time.perf_counter() - start)
"""
PARTS = (
    "The heart is normal in size and the mediastinum is unremarkable.",
    "Small right pleural effusion with adjacent atelectasis, unchanged.",
    "Right internal jugular catheter with tip in the lower SVC.",
    "No pneumothorax, focal consolidation, or pulmonary edema.",
    "Degenerative changes of the thoracic spine. Old left rib fractures.",
    "There is a 6 mm nodule in the left upper lobe, which may represent a granuloma.",
)


def main(arguments: list[str]) -> None:
    """Print both measurements."""
    cold = min(float(_run(COLD)) for _ in range(5))
    print(f"cold start (import, lexicon, first report): {cold:.3f} s")
    from rrgmetrics.reader import read

    columns = arguments[1:] or ["findings", "impression"]
    reports = _load(Path(arguments[0]), columns) if arguments else [" ".join(PARTS[i % 6 :]) for i in range(600)]
    read(reports[0])
    times = []
    for report in reports:
        start = time.perf_counter()
        read(report)
        times.append(1000 * (time.perf_counter() - start))
    times.sort()
    slow = times[int(0.99 * len(times))]
    print(f"{len(reports)} reports: median {statistics.median(times):.3f} ms, 99th percentile {slow:.3f} ms")


def _run(code: str) -> str:
    """Run code in a fresh interpreter and return what it prints."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def _load(path: Path, columns: list[str]) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        texts = ["\n".join(row[c] for c in columns if row[c]) for row in csv.DictReader(file)]
    return [text for text in texts if text.strip()]


if __name__ == "__main__":
    main(sys.argv[1:])
