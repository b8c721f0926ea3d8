"""Speed and memory of CREPE, beside the plain loop of the authors' package; everything in one run.

    python benchmarks/crepe.py                    # some minutes on two cores, and as long again for 100,000 pairs
    python benchmarks/crepe.py --pairs 1000       # less for the memory

The loop takes one pair at a time, padded to 512 tokens, through transformers; the weights are those of a BERT-base in
the published layout, drawn at random. Ours and theirs take turns and the best round counts. Pairs are joined from the
sentences of examples/ to the lengths of RadPref's (139 ± 45 tokens).
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rrgmetrics.backends.checkpoints import find_checkpoint
from rrgmetrics.backends.checkpoints.loading import load_model, load_tokenizer
from rrgmetrics.backends.crepe import BUNDLED, load_crepe
from rrgmetrics.backends.encoder import BUNDLED_FOLDER as VOCABULARY
from rrgmetrics.reports import Pair
from rrgmetrics.utils.machine import processor

EXAMPLES = Path(__file__).parents[1] / "examples"
TOKENS_PER_WORD = 1.9  # of BERT's vocabulary on these texts; includes punctuation and the last sentence's surplus
SEED = 0


def main() -> None:
    """Print every measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=100_000, help="for the memory")
    parser.add_argument("--checkpoint", default=BUNDLED, help="instead of the bundled one")
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        return memory(options)
    print(processor(), flush=True)
    arguments = ["--memory", "--pairs", str(options.pairs), "--checkpoint", options.checkpoint]
    # First: a process begins with the peak of the one that started it.
    done = subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True, text=True)
    print(done.stdout.strip(), flush=True)
    bundled(options)
    published(options.rounds)
    return None


def published(rounds: int) -> None:
    """The published layout: a plain loop, ours in fp32 and in bf16."""
    with tempfile.TemporaryDirectory() as folder:
        write_base(Path(folder))
        few, many = make_pairs(4), make_pairs(64)
        loop = plain_loop(folder)
        exact, reduced = load_crepe(folder), load_crepe(folder, precision="bf16")
        print("tokens a pair:", describe_lengths(exact, many))
        counts = {name: run(many)[: len(few)] for name, run in (("fp32", scores(exact)), ("bf16", scores(reduced)))}
        wanted = loop(few)
        for name, predicted in counts.items():
            print(f"{name}: largest difference of a head from the loop {np.abs(predicted - wanted).max():.1e}")
        times = best(rounds, {"loop": (loop, few), "fp32": (scores(exact), many), "bf16": (scores(reduced), many)})
        for name, seconds in times.items():
            print(f"{name}: {1000 * seconds:.0f} ms a pair, {times['loop'] / seconds:.1f} times the loop's speed")


def bundled(options: argparse.Namespace) -> None:
    """A checkpoint of ours: bf16, batches of 32, single pairs, a fresh process."""
    pairs = make_pairs(512)
    batched = load_crepe(options.checkpoint, batch_size=32)
    reduced = load_crepe(options.checkpoint, precision="bf16")
    exact, near = scores(batched)(pairs), scores(reduced)(pairs)
    difference = np.abs(exact - near).sum(axis=1)
    print(f"bf16 beside fp32: {difference.max():.3f} errors a pair at most, {difference.mean():.3f} on average")

    def singly(chosen: list[Pair]) -> None:
        for pair in chosen:
            batched.annotate_pairs([pair])

    jobs = {
        "batches of 32, fp32": (scores(batched), pairs),
        "by tokens, fp32": (scores(load_crepe(options.checkpoint)), pairs),
        "by tokens, bf16": (scores(reduced), pairs),
        "single pairs, fp32": (singly, pairs[:64]),
    }
    for name, seconds in best(options.rounds, jobs).items():
        print(f"{name}: {1000 * seconds:.2f} ms a pair")
    if options.checkpoint == BUNDLED:
        print(f"one pair from process start: {min(cold_start() for _ in range(options.rounds)):.2f} s")


def memory(options: argparse.Namespace) -> None:
    """Peak memory of a whole process that scores many pairs through the public function."""
    import rrgmetrics

    pairs = make_pairs(options.pairs)
    name = "crepe" if options.checkpoint == BUNDLED else f"crepe@{options.checkpoint}"
    references, candidates = [pair.reference for pair in pairs], [pair.candidate for pair in pairs]
    metrics = rrgmetrics.prepare(name)
    start = time.perf_counter()
    metrics.score(predictions=candidates, references=references, progress=False)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{len(pairs):,} pairs: {peak:.2f} GiB at most, {1000 * seconds / len(pairs):.2f} ms a pair")


def write_base(folder: Path) -> None:
    """A BERT-base with CREPE's heads, random weights, and the vocabulary of bert-base-uncased."""
    import torch
    from transformers import BertConfig

    from rrgmetrics.backends.crepe.model import CrepeSettings, crepe_class

    torch.manual_seed(SEED)
    model = crepe_class()(BertConfig(**CrepeSettings().written())).eval()
    for head in (*model.error_regressors, *model.error_presence):
        torch.nn.init.normal_(head.weight, std=0.1)  # counts of the size of a trained model's
    model.save_pretrained(folder)
    (folder / "tokenizer.json").write_bytes((VOCABULARY / "tokenizer.json").read_bytes())
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def plain_loop(folder: str) -> Callable[[list[Pair]], np.ndarray]:
    """One pair at a time, padded to 512 tokens, as the authors' package does it."""
    import torch

    from rrgmetrics.backends.crepe.model import crepe_class

    checkpoint = find_checkpoint(str(folder))
    (model, _), tokenizer = load_model(crepe_class(), checkpoint), load_tokenizer(checkpoint)

    def run(pairs: list[Pair]) -> np.ndarray:
        rows = []
        for pair in pairs:
            texts = pair.reference, pair.candidate
            encoded = tokenizer(*texts, return_tensors="pt", padding="max_length", truncation=True, max_length=512)
            with torch.no_grad():
                rows.append(model(**encoded).counts[0].double().numpy())
        return np.stack(rows).clip(0)

    return run


def scores(backend) -> Callable[[list[Pair]], np.ndarray]:
    """Pairs → counts."""
    return lambda pairs: np.stack([reading.counts for reading in backend.annotate_pairs(pairs)])


def best(rounds: int, jobs: dict[str, tuple[Callable, list[Pair]]]) -> dict[str, float]:
    """Seconds a pair of the best round of each job; the jobs take turns, and each has run once before."""
    seconds = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds + 1):
        for name, (job, pairs) in jobs.items():
            start = time.perf_counter()
            job(pairs)
            seconds[name] = min(seconds[name], (time.perf_counter() - start) / len(pairs))
    return seconds


def make_pairs(n: int) -> list[Pair]:
    """Distinct pairs of RadPref's lengths from sentences of the example reports; always the same first ones."""
    columns = []
    for file in ("references.csv", "system_a.csv"):
        with (EXAMPLES / file).open(newline="", encoding="utf-8") as stream:
            reports = [row["report"] for row in csv.DictReader(stream)]
        columns.append([sentence for report in reports for sentence in re.split(r"(?<=\.)\s+", report) if sentence])
    generator = random.Random(SEED)
    pairs: dict[Pair, None] = {}
    while len(pairs) < n:
        words = max(20.0, generator.gauss(139, 45) - 3) / TOKENS_PER_WORD / 2
        pairs[Pair(*(take(sentences, words, generator) for sentences in columns))] = None
    return list(pairs)


def take(sentences: list[str], words: float, generator: random.Random) -> str:
    """Sentences until there are so many words."""
    chosen: list[str] = []
    while sum(map(len, map(str.split, chosen))) < words:
        chosen.append(generator.choice(sentences))
    return " ".join(chosen)


def describe_lengths(backend, pairs: list[Pair]) -> str:
    """Mean and standard deviation."""
    tokenizer = backend.network.tokenizer
    lengths = [sum(len(e.ids) for e in tokenizer.encode([pair.reference, pair.candidate])) + 3 for pair in pairs]
    return f"{np.mean(lengths):.0f} ± {np.std(lengths):.0f}"


def cold_start() -> float:
    """Seconds of `rrgmetrics score` on one pair, from process start."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pairs.csv"
        pair = make_pairs(1)[0]
        with file.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([("study_id", "reference", "candidate"), ("1", *pair[:2])])
        command = [sys.executable, "-m", "rrgmetrics", "score", str(file), "--metrics", "crepe", "--no-progress"]
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        return time.perf_counter() - start


if __name__ == "__main__":
    main()
