"""Metrics scored in another process."""

from __future__ import annotations

import math
import os
import signal
import socket
import subprocess
import sys

import pytest

from rrgmetrics.callbacks import ReportMetricsCallback
from rrgmetrics.callbacks.background import Background
from rrgmetrics.reports import Context, Pair

from ..processes import ended, runs

PAIRS = [Pair("Clear lungs.", "Clear lungs.", Context(age=70.0)), Pair("Clear lungs.", "Effusion.")]


def test_jobs_run_one_after_the_other_and_a_failure_is_nan():
    background = Background()
    background.submit("eval", 1, ["rouge"], PAIRS)
    background.submit("eval", 2, ["green@replies:/nowhere.jsonl"], PAIRS)
    assert background.finished() == []  # does not wait
    first, second = background.finished(wait_seconds=200)
    assert (first.step, first.values["rouge"], first.failure) == (1, 0.5, "")
    assert math.isnan(second.values["green__replies_nowhere.jsonl"])
    assert second.values["green__replies_nowhere.jsonl_n_unscored"] == 2
    assert "nowhere.jsonl" in second.failure


def test_what_takes_too_long_is_ended():
    background = Background()
    background.submit("eval", 1, ["rouge"], PAIRS)
    (job,) = background.finished(wait_seconds=0.001)
    assert math.isnan(job.values["rouge"])
    assert job.failure


def test_the_trainer_logs_them_with_their_step(make_trainer, vision_model, parrot):
    trainer = make_trainer(vision_model)
    ReportMetricsCallback({"bleu": "every:1", "rouge": "background:2"}, generate_fn=parrot()).attach(trainer)
    trainer.train()
    rows = [row for row in trainer.state.log_history if "eval_rouge" in row]
    assert [(row["eval_rouge"], row["eval_background_step"]) for row in rows] == [(1, 2)]
    assert sum("eval_bleu" in row for row in trainer.state.log_history) == 2


TRAINING = """
import sys, threading
from rrgmetrics.callbacks.background import Background
from rrgmetrics.reports import Pair
background = Background()
pairs = [Pair(f"Effusion {i} of the left lung base.", f"Effusion {i} is seen.") for i in range(int(sys.argv[1]))]
for step in (1, 2):
    background.submit("eval", step, [f"green@openai:m?base_url={sys.argv[2]}&timeout=900"], pairs)
print(background._jobs[0].process.pid, flush=True)
threading.Event().wait()
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads /proc")
@pytest.mark.parametrize("n", [50_000, 2], ids=["while it reads its pairs", "while it scores"])
def test_a_training_that_is_ended_leaves_no_scorer_and_no_file(tmp_path, n):
    server = socket.create_server(("127.0.0.1", 0))  # never answers
    server.settimeout(120)
    arguments = [str(n), f"http://127.0.0.1:{server.getsockname()[1]}"]
    trainings = {}
    for way in (signal.SIGTERM, signal.SIGKILL):
        (folder := tmp_path / way.name).mkdir()
        command = [sys.executable, "-c", TRAINING, *arguments]
        environment = os.environ | {"TMPDIR": str(folder)}
        trainings[way] = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    scorers = {way: int(training.stdout.readline()) for way, training in trainings.items()}
    asked = [server.accept() for _ in trainings] if n == 2 else []
    for way, training in trainings.items():
        assert runs(scorers[way]), way
        training.send_signal(way)
        training.wait()
        assert ended(scorers[way]), way
        assert list((tmp_path / way.name).iterdir()) == [], way
    for connection, _ in asked:
        connection.close()
    server.close()
