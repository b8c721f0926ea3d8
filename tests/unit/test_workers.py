"""Processes that score together: the same results in order, whoever is killed; a fork after torch does not hang."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import BackendError, InputError
from rrgmetrics.reports import check_pairs
from rrgmetrics.scoring import workers

from ..processes import children, ended

NAMES = ("bleu", "cider")
TEXTS = [f"Small left pleural effusion of {number % 70} mm. No pneumothorax." for number in range(240)]
FORKING = """
import multiprocessing
import rrgmetrics

TEXTS = ["Small left effusion. No pneumothorax.", "Large right effusion.", "Mild cardiomegaly."] * 2

def score(_):
    results = rrgmetrics.score("crepe", predictions=TEXTS, references=TEXTS[::-1], device="cpu", progress=False)
    return results["crepe"].scores["crepe"]

if __name__ == "__main__":
    here = score(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map_async(score, range(2)).get(timeout=120) == [here, here])
"""

KILLED = """
import os
import rrgmetrics
from rrgmetrics.reports import check_pairs

if __name__ == "__main__":
    texts = [f"Small left pleural effusion of {number} mm. No pneumothorax." for number in range(2000)]
    with rrgmetrics.prepare("cider", workers=2) as metrics:
        next(metrics.steps(check_pairs(texts[::-1], texts)))
        print(os.getpid(), flush=True)
        input()
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads /proc")
def test_nothing_of_the_references_is_left_where_a_process_is_killed(tmp_path):
    script, folder = tmp_path / "killed.py", tmp_path / "temporary"
    script.write_text(KILLED)
    folder.mkdir()
    environment = {**os.environ, "TMPDIR": str(folder)}
    process = subprocess.Popen([sys.executable, script], stdin=-1, stdout=-1, text=True, env=environment)
    assert process.stdout.readline().strip() == str(process.pid)
    while_running = [path for path in folder.rglob("*") if path.is_file()]
    process.kill()
    process.wait()
    assert [path for path in while_running if b"effusion" in path.read_bytes()] == []
    assert [path for path in folder.rglob("*") if path.is_file()] == []


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads /proc")
def test_a_worker_that_is_killed_changes_nothing(monkeypatch, caplog, tmp_path):
    monkeypatch.setattr(workers, "CHUNK", 24)
    pairs = check_pairs(TEXTS[::-1], TEXTS)
    killed = killed_once(workers._score, tmp_path / "killed", pairs[0])
    monkeypatch.setattr(workers, "_score", killed)
    before = {*children(os.getpid())}
    with rrgmetrics.prepare(NAMES, workers=2) as metrics:
        *_, together = metrics.steps(pairs)
        assert "stopped; its pairs are scored again" in caplog.text
        running = [pid for pid in children(os.getpid()) if pid not in before and works(pid)]
    assert running
    assert all(ended(pid) for pid in running)
    alone = rrgmetrics.prepare(NAMES).score_pairs(pairs, progress=False)
    for name in NAMES:
        assert together[name].signature == alone[name].signature
        np.testing.assert_array_equal(together[name].pair_stats, alone[name].pair_stats)


def killed_once(score, mark, first):
    """Scores a chunk, but kills the first process that gets one behind that of the `first` pair."""

    def score_or_end(metrics, task):
        if task.pairs[0] != first and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return score(metrics, task)

    return score_or_end


def works(pid) -> bool:
    with open(f"/proc/{pid}/cmdline") as file:
        return "loky.backend.popen_loky" in file.read()


def test_what_ends_every_worker_ends_the_job():
    pool = workers.Pool(None, 2)
    with pytest.raises(BackendError, match="3 worker processes stopped one after the other"):
        list(pool.map(lambda metrics, task: __import__("os")._exit(9), range(4)))
    pool.close()


def test_an_error_in_a_worker_is_ours():
    with rrgmetrics.prepare("bleu", workers=2) as metrics:
        (name,) = metrics.names
        broken = workers.Task((name,), [None], "")
        with pytest.raises(TypeError):
            list(metrics._pool.map(workers._score, [broken]))


@pytest.mark.parametrize(
    ("name", "number", "message"),
    [
        ("bleu", 0, "workers is 0; pass a whole number of at least 1"),
        ("bleu", "2", "workers is '2'"),
        ("green@openai:model", 2, "green@openai:model uses an engine, which handles many requests at a time"),
    ],
)
def test_workers_that_cannot_be(name, number, message):
    with pytest.raises(InputError, match=message):
        rrgmetrics.prepare(name, workers=number)


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_a_process_that_is_forked_after_torch_has_run_scores(tmp_path):
    """OpenMP's threads are those of the parent; the child, without them, would wait for ever."""
    script = tmp_path / "forking.py"
    script.write_text(FORKING)
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, check=False)
    assert run.stdout.strip() == "True", run.stderr
