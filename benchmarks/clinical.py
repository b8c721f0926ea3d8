"""Time a pair of every metric of the preset `paper-table`, of all together, and of the public packages that run.

    python benchmarks/clinical.py                                          # two minutes on two cores
    RADEVAL=.../site-packages python benchmarks/clinical.py                # beside radeval 2.2.1 too

RADEVAL is a folder with radeval (`pip install --no-deps --target FOLDER radeval==2.2.1`); of its metrics only BLEU and
ROUGE run without downloads. RaTEScore, f1chexbert and radgraph do not run as pip installs them (radgraph does in an
environment of its own: benchmarks/radgraph.py). Pairs are distinct, joined from the sentences of examples/ to RadPref's
lengths: 35 words a reference, 49 a candidate. Ours and theirs take turns in fresh processes, after loading and a
warm-up; the best round counts. CPU time is that of all threads: it says more than the clock where other work keeps the
machine busy.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rrgmetrics.specs import PRESETS
from rrgmetrics.utils.machine import processor

EXAMPLES = Path(__file__).parents[1] / "examples"
WORDS = (35, 49)
PRESET = "paper-table"
SEED = 0
Score = Callable[[list[str], list[str]], object]


def reports(words: int, n: int, seed: int) -> list[str]:
    """Distinct texts of about `words` words from the sentences of the examples."""
    sentences: dict[str, None] = {}
    for path in sorted(EXAMPLES.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                sentences.update(dict.fromkeys(re.split(r"(?<=[.!?]) ", row.get("report") or "")))
    known = sorted(filter(None, sentences))
    generator = random.Random(seed)
    distinct: dict[str, None] = {}
    while len(distinct) < n:
        text: list[str] = []
        wanted = generator.gauss(words, words / 4)
        while sum(len(sentence.split()) for sentence in text) < wanted - 4:  # half a sentence comes on top
            text.append(generator.choice(known))
        distinct[" ".join(text)] = None
    return list(distinct)


def ours() -> Iterator[tuple[str, Score]]:
    """The preset, and each of its metrics alone."""
    import rrgmetrics

    for name in (PRESET, *PRESETS[PRESET]):
        metrics = rrgmetrics.prepare(name)
        yield (
            name,
            lambda references, candidates, metrics=metrics: metrics.score(
                predictions=candidates, references=references, progress=False
            ),
        )


def theirs() -> Iterator[tuple[str, Score]]:
    """The packages that are installed and run without a download."""
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics import BLEU

    bleu = BLEU(effective_order=True)
    yield "sacrebleu: BLEU", lambda rs, cs: [bleu.sentence_score(c, [r]) for r, c in zip(rs, cs, strict=True)]
    rouge = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    yield "rouge-score: ROUGE", lambda rs, cs: [rouge.score(r, c) for r, c in zip(rs, cs, strict=True)]
    if "RADEVAL" in os.environ:
        sys.path.insert(0, os.environ["RADEVAL"])
        from radeval import RadEval

        for metric in ("bleu", "rouge"):
            radeval = RadEval(metrics=[metric], show_progress=False)
            yield f"radeval: {metric}", lambda rs, cs, radeval=radeval: radeval(refs=rs, hyps=cs)


def measure(side: str, n_pairs: int) -> dict[str, list[float]]:
    """Milliseconds a pair by the clock and of the processor, by name; in this process."""
    references, candidates = (reports(words, n_pairs, seed) for seed, words in enumerate(WORDS, SEED))
    print(sum(len(text.split()) for text in references + candidates) / n_pairs, "words a pair", file=sys.stderr)
    times = {}
    for name, score in {"ours": ours, "theirs": theirs}[side]():
        score(references, candidates)
        clock, processor = time.perf_counter(), time.process_time()
        score(references, candidates)
        seconds = time.perf_counter() - clock, time.process_time() - processor
        times[name] = [1000 * value / n_pairs for value in seconds]
    return times


def main() -> None:
    """Runs the table, or one side of one round."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="fresh processes of each side, of which the best counts")
    parser.add_argument("--pairs", type=int, default=128)
    parser.add_argument("--measure", choices=["ours", "theirs"], help="one round of one side, as JSON")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.pairs)))
        return
    print(processor(), flush=True)
    rows: dict[str, list[list[float]]] = {}
    for _ in range(options.rounds):
        for side in ("ours", "theirs"):
            command = [sys.executable, __file__, "--measure", side, "--pairs", str(options.pairs)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            for name, times in json.loads(done.stdout.splitlines()[-1]).items():
                rows.setdefault(name, []).append(times)
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.0f}"
    print(f"{machine}, {options.pairs} distinct pairs, best of {options.rounds}\n")
    print("| | ms a pair | CPU ms a pair |\n|---|---|---|")
    for name, runs in rows.items():
        clock, used = (min(column) for column in zip(*runs, strict=True))
        print(f"| {name} | {clock:.2f} | {used:.2f} |")


if __name__ == "__main__":
    main()
