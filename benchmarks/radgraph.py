"""Reports a second of batched RadGraph beside the package radgraph on the same random weights; all in one run.

    RADGRAPH_PYTHON=.../bin/python python benchmarks/radgraph.py     # some minutes on two cores

RADGRAPH_PYTHON names an interpreter with radgraph 0.1.18, requests and transformers 4 (CONTRIBUTING.md); without it
theirs is our own inference, one report at a time. The weights have the published layout, on a BERT of two narrow layers
(where overhead rules) and on one of BERT-base's size. Reports are joined from the sentences of examples/ to RadPref's
lengths (35 words a reference, 49 a candidate). Ours and theirs take turns and the best round counts.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import os
import random
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from rrgmetrics.backends.radgraph import load_backend
from rrgmetrics.labels.graph import Graph, build_graph
from rrgmetrics.reading import read
from rrgmetrics.scorers.radgraph_f1 import compare_graphs
from rrgmetrics.utils.machine import processor

ROOT = Path(__file__).parents[1]
SIZES: dict[str, dict[str, int]] = {
    "two narrow layers": {},
    "BERT-base": {
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
    },
}
WORDS = (35, 49)
SEED = 0
# Reads a line of standard input for each round, and answers with the seconds that it took.
PACKAGE = """
import json, sys, time
from radgraph import RadGraph
out, sys.stdout = sys.stdout, sys.stderr
model = RadGraph(model_type="radgraph", model_cache_dir=sys.argv[1], cuda=-1)
texts = json.load(open(sys.argv[2]))
model(texts[:2])
print("ready", file=out, flush=True)
for line in sys.stdin:
    clock = getattr(time, sys.argv[3])
    start = clock()
    graphs = model(texts)
    seconds = clock() - start
    print(json.dumps([seconds, [graphs[str(i)] for i in range(len(texts))]]), file=out, flush=True)
"""


def main() -> None:
    """Print every measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--reports", type=int, default=64)
    parser.add_argument("--cpu", action="store_true", help="processor time instead of the clock's, on a busy machine")
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=list(SIZES))
    options = parser.parse_args()
    print(processor(), flush=True)
    texts = make_reports(options.reports)
    clock = "process_time" if options.cpu else "perf_counter"
    bundled(texts, options.rounds, clock)
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            beside(size, write_checkpoint(Path(folder), SIZES[size], texts), texts, options.rounds, clock)


def beside(size: str, folder: Path, texts: list[str], rounds: int, clock: str) -> None:
    """Ours in batches, ours one by one, the package; reports a second, and whether the graphs are equal."""
    backend = load_backend(str(folder))

    def ours() -> list[Graph]:
        return backend.annotate(texts)

    def one_by_one() -> list[Graph]:
        return [backend.annotate([text])[0] for text in texts]

    with package(folder, texts, clock) as theirs:
        runs: dict[str, Callable[[], tuple[float, list[Graph]]]] = {
            "batched": timed(ours, clock),
            "alone": timed(one_by_one, clock),
        }
        if theirs:
            runs["radgraph 0.1.18"] = theirs
        ours()
        times: dict[str, float] = dict.fromkeys(runs, float("inf"))
        graphs: dict[str, list[Graph]] = {}
        for _ in range(rounds):
            for name, run in runs.items():
                seconds, graphs[name] = run()
                times[name] = min(times[name], seconds)
    n_words = sum(len(graph.text.split()) for graph in graphs["batched"])
    n_entities = sum(len(graph.entities) for graph in graphs["batched"])
    n_relations = sum(len(entity.relations) for graph in graphs["batched"] for entity in graph.entities)
    print(f"{size}: {len(texts)} reports, {n_words} words, {n_entities} entities, {n_relations} relations")
    for name, seconds in times.items():
        equal = sum(a.entities == b.entities for a, b in zip(graphs[name], graphs["batched"], strict=True))
        ratio = seconds / times["batched"]
        print(f"  {name}: {len(texts) / seconds:.1f} reports a second; batched is {ratio:.2f} times as fast;", end=" ")
        print(f"{equal} equal graphs", flush=True)


def bundled(texts: list[str], rounds: int, clock: str) -> None:
    """The reader's graphs and the comparison of two."""
    build = timed(lambda: [build_graph(read(text)) for text in texts], clock)
    graphs = build()[1]
    compare = timed(lambda: [compare_graphs(a, b) for a, b in pairwise(graphs)], clock)
    built, compared = (1000 * min(run()[0] for _ in range(rounds)) / len(texts) for run in (build, compare))
    print(f"the reader: {built:.2f} ms a report; two graphs: {compared:.3f} ms", flush=True)


def timed(run: Callable[[], Any], clock: str) -> Callable[[], tuple[float, Any]]:
    """A run that also says its seconds."""

    def measure() -> tuple[float, Any]:
        start = getattr(time, clock)()
        result = run()
        return getattr(time, clock)() - start, result

    return measure


@contextmanager
def package(folder: Path, texts: list[str], clock: str) -> Iterator[Callable[[], tuple[float, list[Graph]]] | None]:
    """The package in a process of its own; None where there is none."""
    python = os.environ.get("RADGRAPH_PYTHON")
    if not python:
        print("RADGRAPH_PYTHON is not set: the package is not measured")
        yield None
        return
    file = folder.parent / "texts.json"
    file.write_text(json.dumps(texts))
    process = subprocess.Popen(
        [python, "-c", PACKAGE, str(folder.parent), str(file), clock],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONPATH": ""},
    )
    assert process.stdin
    assert process.stdout
    questions, answers = process.stdin, process.stdout
    if answers.readline() != "ready\n":
        raise SystemExit(f"radgraph cannot be used with {python}.")

    def run() -> tuple[float, list[Graph]]:
        print("go", file=questions, flush=True)
        seconds, graphs = json.loads(answers.readline())
        return seconds, [Graph.from_json(graph) for graph in graphs]

    yield run
    questions.close()
    process.wait()


def write_checkpoint(folder: Path, size: dict[str, int], texts: list[str]) -> Path:
    """Random weights as published, and an encoder whose pieces are the words of the texts."""
    spec = importlib.util.spec_from_file_location("written", ROOT / "tests" / "radgraph_checkpoints.py")
    assert spec
    assert spec.loader
    written = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(written)
    encoder = written.write_encoder(folder / "encoder", texts, every=1, **size)
    checkpoint: Path = written.write_radgraph(folder / "radgraph", "radgraph", encoder)
    return checkpoint


def make_reports(count: int) -> list[str]:
    """Reports of RadPref's lengths, from the sentences of the examples."""
    sentences = []
    for name in ("references.csv", "system_a.csv", "system_b.csv"):
        with (ROOT / "examples" / name).open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                sentences.extend(re.findall(r"[^.]+\.", row["report"]))
    pick = random.Random(SEED)
    reports = []
    for i in range(count):
        wanted, words = max(8, int(pick.gauss(WORDS[i % 2], 15))), []
        while len(words) < wanted:
            words += pick.choice(sentences).split()
        reports.append(" ".join(words))
    return reports


if __name__ == "__main__":
    main()
