"""What scoring adds to the time a model spends generating validation reports.

    python benchmarks/callbacks.py                # trains the example's generator for 300 steps, then evaluates it

The generator of `examples/train_report_generator` writes reports for 200 drawn radiographs inside
`Trainer.evaluate`, and `ReportMetricsCallback` scores them: the seconds of both, as the callback logs them, and their
ratio. Then the same reports are scored with the example's metrics and with every metric's bundled backend, in
milliseconds a report; what an empty and a normal report score, which is computed once a set, is stated as a share of
one such scoring. Medians; models are loaded before.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # examples is not installed

from examples.train_report_generator.config import read_config
from examples.train_report_generator.training import prepare
from rrgmetrics.callbacks.baselines import Watch
from rrgmetrics.callbacks.scoring import Scoring
from rrgmetrics.reports import check_pairs
from rrgmetrics.specs import SPECS
from rrgmetrics.utils.machine import processor

DRAWN = Path(__file__).parents[1] / "examples/train_report_generator/drawn.yaml"


def main() -> None:
    """Train briefly, evaluate, score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300, help="of training: without any, reports have no words")
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    print(processor(), flush=True)
    config = replace(read_config(DRAWN, {}), steps=options.steps, evaluations=1)
    with tempfile.TemporaryDirectory() as folder:
        trainer, _, validation = prepare(config, Path(folder))
        trainer.train()
        logs = [trainer.evaluate() for _ in range(options.times)]
        generated = write_reports(trainer)
    generation = statistics.median(log["eval_generation_seconds"] for log in logs)
    scoring = statistics.median(log["eval_scoring_seconds"] for log in logs)
    n = int(logs[0]["eval_reports"])
    print(f"{n} reports generated in {generation:.2f} s, {', '.join(config.metrics)} in {scoring:.3f} s")
    print(f"scoring / generation = {scoring / generation:.3f}")
    pairs = check_pairs(generated, [item.report for item in validation])
    for names in (list(config.metrics), list(SPECS)):
        scoring = Scoring(names)
        scoring.score(pairs[:2])
        seconds, once = [], []
        for _ in range(options.times):
            start = time.perf_counter()
            values = scoring.score(pairs).values
            seconds.append(time.perf_counter() - start)
            Watch(scoring, "bundled").see(pairs, values)
            once.append(time.perf_counter() - start - seconds[-1])
        milliseconds, share = (
            1000 * statistics.median(seconds) / n,
            statistics.median(once) / statistics.median(seconds),
        )
        print(f"{', '.join(names)}: {milliseconds:.2f} ms a report; baselines, once a set: {share:.2f} of one scoring")


def write_reports(trainer: Any) -> list[str]:
    """A report for each validation image."""
    import torch

    pixels = torch.stack([torch.as_tensor(example["pixel_values"]) for example in trainer.eval_dataset])
    tokens = trainer.model.eval().generate(pixel_values=pixels.to(trainer.model.device))
    return [text.strip() for text in trainer.processing_class.batch_decode(tokens, skip_special_tokens=True)]


if __name__ == "__main__":
    main()
