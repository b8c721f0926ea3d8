"""The report page of many studies: time to write it, size, time to open it, and the longest task after the first paint.

    python benchmarks/report.py --studies 3000 --systems 3

Reports are the project's own, generated from a seed; the browser is a headless Chromium, driven by Playwright.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from rrgmetrics.reporting.report import report_page
from rrgmetrics.reports import Pair
from rrgmetrics.scoring.prepared import prepare
from rrgmetrics.synthesis.generator import generate_pairs
from rrgmetrics.systems.table import compare_systems
from rrgmetrics.utils.machine import processor

OPENED = """() => new Promise((answer) => {
    let longest = 0;
    const painted = performance.getEntriesByName("first-paint")[0].startTime;
    const after = (task) => (task.startTime + task.duration > painted ? task.duration : 0);
    const note = (list) => { longest = Math.max(longest, ...list.getEntries().map(after)); };
    new PerformanceObserver(note).observe({ type: "longtask", buffered: true });
    const loaded = performance.getEntriesByType("navigation")[0].loadEventEnd;
    setTimeout(() => answer([loaded, painted, longest, document.querySelectorAll("*").length]), 1000);
})"""


def made(n_studies: int, n_systems: int) -> dict[str, list[Pair]]:
    """Systems on the same studies: each has the candidates of the generator, turned by some studies."""
    pairs = list(generate_pairs(n_studies, seed=1))
    systems = {}
    for number in range(n_systems):
        candidates = [pair.candidate for pair in pairs[number:] + pairs[:number]]
        systems[f"system {number + 1}"] = [
            Pair(pair.reference, candidate) for pair, candidate in zip(pairs, candidates, strict=True)
        ]
    return systems


def main() -> None:
    """Prints one line a number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=3000)
    parser.add_argument("--systems", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3, help="times that the page is opened; the best counts")
    options = parser.parse_args()
    print(processor(), flush=True)
    systems = made(options.studies, options.systems)
    with prepare(["finding_errors", "rouge", "bleu"]) as metrics:
        results = dict(zip(systems, metrics.score_sets(list(systems.values()), progress=False), strict=True))
    rows = compare_systems(results, trials=200)
    start = time.process_time()
    page = report_page(results, systems, rows=rows)
    print(f"written in {time.process_time() - start:.1f} s of the processor, {len(page.encode()) / 1e6:.1f} MB")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "report.html"
        path.write_text(page, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        rounds = []
        for _ in range(options.rounds):
            opened = browser.new_page(viewport={"width": 1280, "height": 900})
            opened.goto(path.as_uri())
            rounds.append(opened.evaluate(OPENED))
        browser.close()
    loaded, painted, longest, n_elements = min(rounds)
    print(f"open in {loaded:.0f} ms, first paint {painted:.0f} ms, longest task after it {longest:.0f} ms")
    print(f"{n_elements:,} elements in the document")


if __name__ == "__main__":
    main()
