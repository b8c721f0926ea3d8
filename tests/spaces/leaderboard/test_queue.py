"""The queue under workers and submitters that are killed (SIGKILL) wherever it hurts."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

from rrgmetrics import InputError, prepare
from rrgmetrics.scoring.prepared import Metrics
from rrgmetrics.spaces.leaderboard import board as board_module
from rrgmetrics.spaces.leaderboard import jobs, open_board, scoring, standings, worker

FORK = multiprocessing.get_context("fork")


@pytest.fixture
def board(any_board):
    """Every test of the queue runs on every database."""
    return any_board


def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


def killed(function, *arguments) -> None:
    """Runs a function in a process that must not survive it."""
    process = FORK.Process(target=function, args=arguments)
    process.start()
    process.join(600)
    assert process.exitcode == -signal.SIGKILL


def recorded(board) -> list[tuple[int, int, str]]:
    with board.store.reading() as connection:
        rows = connection.exec_driver_sql("SELECT submission, edition, metric FROM results ORDER BY 1, 2, 3")
        return [tuple(row) for row in rows]


def end_leases(board) -> None:
    """As if their time had passed."""
    with board.store.writing() as connection:
        connection.exec_driver_sql("UPDATE jobs SET free_at = 0 WHERE state = 'running'")


def states(board) -> list[str]:
    with board.store.reading() as connection:
        return list(connection.exec_driver_sql("SELECT state FROM jobs ORDER BY submission").scalars())


def work_until_killed(place, module, name):
    """A worker that dies when it calls `module.name`."""
    setattr(module, name, die)
    worker.work(open_board(place), once=True)


POINTS = {
    "right after the claim": (worker, "run"),
    "while it reads": (worker, "_read"),
    "while it scores": (Metrics, "score_pairs"),
    "before it records": (jobs, "record"),
    "inside the transaction that records": (jobs, "bump"),
    "after it recorded": (standings, "settle"),
    "while it tests": (standings, "compute"),
}


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_worker_loses_and_doubles_nothing(board, send, work_off, point):
    for name, report in (("A", "A."), ("B", "Small left pleural effusion.")):  # systems of equal scores are not tested
        send(board, name, [report] * 12)
    killed(work_until_killed, board.place, *POINTS[point])
    before = recorded(board)
    assert before in ([], [(1, 1, "rouge"), (2, 1, "rouge")])
    assert (before == []) == (point not in ("after it recorded", "while it tests"))
    end_leases(board)
    work_off(board)
    assert recorded(board) == [(1, 1, "rouge"), (2, 1, "rouge")]
    assert states(board) == ["done", "done"]
    assert [line.best_rank for line in board.standings().systems] == [1, 1]


def submit_until_killed(place, path, module, name):
    board = open_board(place)
    setattr(module, name, die)
    board.submit(path, name="A", submitter="lab")
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(
    ("module", "name", "stored"),
    [(jobs, "enqueue", 0), (jobs, "bump", 0), (board_module, "Receipt", 0), (board_module, "never", 1)],
    ids=["between submission and job", "before the end", "before the receipt", "after the receipt"],
)
def test_a_killed_submitter_leaves_all_or_nothing(board, write_reports, send, work_off, module, name, stored):
    killed(submit_until_killed, board.place, write_reports(["Clear."] * 12), module, name)
    assert board.info().n_queued == stored
    send(board, "A", ["Clear."] * 12)  # sent again, as one would: there is one of it either way
    work_off(board)
    assert [row[1:] for row in recorded(board)] == [(1, "rouge")]


def test_a_worker_that_lost_its_job_records_nothing(board, send):
    send(board, "A", ["Clear."] * 12)
    slow = jobs.claim(board.store, lease=-1)  # its lease has ended already
    fast = jobs.claim(board.store)
    assert slow.submission == fast.submission
    scored = scoring.score_reports(prepare("rouge"), board.names(), *worker._read(board, fast), trials=100)
    assert jobs.record(board.store, slow, scored) is False
    assert jobs.fail(board.store, slow, "late") == ""
    assert jobs.record(board.store, fast, scored) is True
    assert jobs.record(board.store, fast, scored) is False
    assert recorded(board) == [(1, 1, "rouge")]


def test_the_lease_is_renewed_while_a_job_is_scored(board, send):
    send(board, "A", ["Clear."] * 12)
    held = jobs.claim(board.store)
    with jobs.renewing(board.store, held, lease=0.3):
        end_leases(board)
        while not free_at(board):  # until it is renewed
            time.sleep(0.01)
    end_leases(board)
    time.sleep(0.3)  # nobody renews it any more
    assert jobs.claim(board.store) is not None


def test_a_claim_of_a_clock_that_is_ahead_ends(board, send, monkeypatch):
    send(board, "A", ["Clear."] * 12)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 365 * 86_400)
    ahead = jobs.claim(board.store)
    monkeypatch.setattr(time, "time", real)
    again = jobs.claim(board.store)
    assert (ahead.submission, again.submission) == (1, 1)
    assert jobs.claim(board.store) is None
    assert not jobs.release(board.store, ahead)
    assert states(board) == ["running"]


def free_at(board) -> float:
    with board.store.reading() as connection:
        return connection.exec_driver_sql("SELECT free_at FROM jobs").scalar_one()


def test_a_worker_that_is_told_to_stop_gives_its_job_back(board, send, monkeypatch):
    send(board, "A", ["Clear."] * 12)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Metrics, "score_pairs", interrupted)
    with pytest.raises(KeyboardInterrupt):
        worker.work(board, once=True)
    assert states(board) == ["queued"]
    assert jobs.claim(board.store) is not None  # at once, not when the lease ends


def test_errors_are_tried_again_later_and_then_end(board, send, work_off, monkeypatch):
    id = send(board, "A", ["Clear."] * 12)
    monkeypatch.setattr(jobs, "RETRY_SECONDS", (0.0,))
    real = Metrics.score_pairs

    def broken(*_, **__):
        raise RuntimeError("out of order")

    monkeypatch.setattr(Metrics, "score_pairs", broken)
    log = work_off(board)
    assert [line.rpartition("; ")[2] for line in log] == ["queued", "queued", "failed"]
    assert board.progress(id).message.startswith("Scoring failed (RuntimeError)")
    with pytest.raises(InputError, match="has no scores yet"):
        board.system(id)
    monkeypatch.setattr(Metrics, "score_pairs", real)
    board.retry(id)
    work_off(board)
    assert states(board) == ["done"]
    with pytest.raises(InputError, match="has not failed"):
        board.retry(id)


def test_a_submission_that_kills_every_worker_waits_behind_others_and_ends(board, send, monkeypatch):
    monkeypatch.setattr(jobs, "MAX_INTERRUPTIONS", 2)
    send(board, "Poison", ["Clear."] * 12)
    assert jobs.claim(board.store, lease=-1).submission == 1
    assert jobs.claim(board.store, lease=-1).submission == 1
    send(board, "Other", ["Clear."] * 12)
    assert jobs.claim(board.store).submission == 2
    assert jobs.claim(board.store, lease=-1).submission == 1
    assert jobs.claim(board.store) is None
    assert states(board) == ["failed", "running"]


def work_in_turn(place, counts):
    counts.put(worker.work(open_board(place), once=True))


def test_several_workers_share_the_queue(board, send):
    for i in range(8):
        send(board, f"A{i}", [f"{i}."] * 12)
    counts = FORK.Queue()
    processes = [FORK.Process(target=work_in_turn, args=(board.place, counts)) for _ in range(3)]
    for process in processes:
        process.start()
    assert sum(counts.get(timeout=600) for _ in processes) == 8
    for process in processes:
        process.join(600)
        assert process.exitcode == 0
    assert [row[0] for row in recorded(board)] == [*range(1, 9)]


@pytest.mark.slow
def test_workers_killed_at_any_moment(board, send, work_off):
    """Real workers from the command line, killed after a random while, again and again."""
    rng = random.Random(0)
    for i in range(30):
        send(board, f"A{i}", [f"{i}."] * 12)
    for _ in range(15):
        process = subprocess.Popen(
            [sys.executable, "-m", "rrgmetrics", "leaderboard", "work", board.place],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(rng.uniform(1.5, 8))
        process.kill()
        process.wait()
        end_leases(board)
    work_off(board)
    assert recorded(board) == [(i, 1, "rouge") for i in range(1, 31)]
    assert set(states(board)) == {"done"}


@pytest.mark.parametrize(("count", "said"), [(1, "1 interval or test computed"), (2, "2 intervals and tests computed")])
def test_the_worker_counts_what_it_computes(board, monkeypatch, count, said):
    monkeypatch.setattr(worker.standings, "settle", lambda store, table, *, stopped: count)
    lines: list[str] = []
    worker.settle(board, stop=threading.Event(), log=lines.append)
    assert lines == [said]
