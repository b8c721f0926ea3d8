"""Two processes give the numbers of one, for all that collects reports."""

from __future__ import annotations

import json

# Imports once, then goes on in a process of its own for each rank: alone, and two together.
SCRIPT = """
import json, multiprocessing, os, socket, sys
from pathlib import Path
import rrgmetrics
import torch
from torch import nn
from transformers import Trainer, TrainingArguments
from rrgmetrics.callbacks import ReportMetrics, ReportMetricsCallback
from rrgmetrics.callbacks import processes, scoring

WORDS = ["effusion", "pneumothorax", "opacity", "fracture", "nodule", "cardiomegaly", "edema"]
ROWS = [{"x": torch.tensor([float(i)]), "report": f"Small left {word}."} for i, word in enumerate(WORDS)]
METRICS = ["finding_errors", "bleu", "rouge", "cider"]
SCORED = []
original = scoring.Scoring.score
def score(self, pairs, *rest, **named):
    SCORED.append(len(pairs))
    return original(self, pairs, *rest, **named)
scoring.Scoring.score = score

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(1, 1)
        nn.init.constant_(self.line.weight, 0.5)
    def forward(self, x):
        return {"loss": self.line(x).pow(2).mean(), "out": x}

def say(model, examples):
    return [each["report"] if each["x"] < 3 else "No finding." for each in examples]

def collate(rows):
    return {"x": torch.stack([row["x"] for row in rows])}

def work(rank, world, port):
    if world > 1:
        os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(world),
                       "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    arguments = TrainingArguments(output_dir=str(world), max_steps=4, eval_strategy="steps", eval_steps=2,
        save_strategy="no", per_device_train_batch_size=2, per_device_eval_batch_size=2, use_cpu=True, report_to=[],
        disable_tqdm=True, remove_unused_columns=False, metric_for_best_model="eval_finding_errors",
        greater_is_better=False)
    trainer = Trainer(model=Model(), args=arguments, train_dataset=ROWS, eval_dataset=ROWS, data_collator=collate)
    ReportMetricsCallback(METRICS, generate_fn=say).attach(trainer)
    trainer.train()
    logged = [{key: value for key, value in row.items() if key.startswith("eval_") and "second" not in key
        and key not in ("eval_loss", "eval_runtime")} for row in trainer.state.log_history if "eval_bleu" in row]

    several = Trainer(model=Model(), args=arguments, train_dataset=ROWS, eval_dataset={"a": ROWS[:3], "b": ROWS[2:]},
        data_collator=collate)
    ReportMetricsCallback("finding_errors", generate_fn=say).attach(several)
    by_set = {key: value for key, value in several.evaluate().items() if key.endswith(("_reports", "_errors"))}

    metrics = ReportMetrics(["bleu", "rouge"])
    mine = [i % 7 for i in range(rank, 8 if world > 1 else 7, world)]  # the eighth is a sampler's filler
    metrics.update(say(None, [ROWS[i] for i in mine]), [ROWS[i]["report"] for i in mine], ids=mine)
    values = metrics.compute()
    failed = ""
    try:
        processes.on_main(lambda: 1 / 0)
    except Exception as error:
        failed = f"{type(error).__name__}: {error}"
    Path(f"{rank}of{world}.json").write_text(json.dumps({"logged": logged, "values": values, "scored": SCORED,
        "best": trainer.state.best_metric, "failed": failed, "by_set": by_set}))

rrgmetrics.score(METRICS, predictions=["No finding."], references=["No finding."], progress=False)  # imports for all
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
ranks = [(0, 1), (0, 2), (1, 2)]
running = [multiprocessing.get_context("fork").Process(target=work, args=(*rank, port)) for rank in ranks]
for process in running:
    process.start()
for process in running:
    process.join()
sys.exit([process.exitcode for process in running] != [0, 0, 0])
"""


def test_two_processes_give_the_numbers_of_one(tmp_path, run_python):
    run_python(SCRIPT, CUDA_VISIBLE_DEVICES="")
    alone, first, second = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("0of1", "0of2", "1of2"))
    assert first["logged"] == second["logged"] == alone["logged"]
    assert len(alone["logged"]) == 2
    assert alone["logged"][0]["eval_reports"] == 7
    assert first["by_set"] == second["by_set"] == alone["by_set"]
    assert alone["by_set"] == {
        "eval_a_finding_errors": 0,
        "eval_a_reports": 3,
        "eval_b_finding_errors": 0.8,
        "eval_b_reports": 5,
    }
    assert first["values"] == second["values"] == alone["values"]
    assert first["best"] == second["best"] == alone["best"]
    assert alone["scored"] == first["scored"] == [7, 7, 3, 5, 7]  # once each, without the fillers
    assert second["scored"] == []  # one process scores
    assert alone["failed"] == first["failed"] == "ZeroDivisionError: division by zero"
    assert "The main process failed: ZeroDivisionError" in second["failed"]
    tables = [path.read_text() for path in sorted(tmp_path.glob("*/reports/eval_000002.jsonl"))]
    assert len(tables) == 2
    assert tables[0] == tables[1]
