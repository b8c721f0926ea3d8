"""Workers, submitters, administrators and the server killed (SIGKILL) at any moment: nothing is lost or doubled.

The long version prints its numbers: `pytest -m slow -s tests/spaces/leaderboard/test_kills.py`.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from rrgmetrics import prepare
from rrgmetrics.spaces.leaderboard import commands, jobs, open_board, worker

from ...processes import ended
from .test_queue import FORK
from .test_serve import workers_of

pytest.importorskip("gradio")
httpx = pytest.importorskip("httpx")
KINDS = ("worker", "submitter", "rescoring", "hiding")
LEASE = 0.5  # seconds; short, so that a killed worker's job is soon free
pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads /proc")


@dataclass
class Tally:
    """What was killed, and what came of it."""

    kills: Counter = field(default_factory=Counter)
    acknowledged: set = field(default_factory=set)  # names whose submitter was told so before the end
    missing: list = field(default_factory=list)  # of those, the ones that were not there right after a kill
    hidden: set = field(default_factory=set)  # names that an administrator has seen hidden before the end
    halves: list = field(default_factory=list)  # rounds that lack a job of a submission right after a kill
    orphans: list = field(default_factory=list)  # workers that outlived their server

    def kill(self, kind, process):
        process.kill()
        process.join()
        self.kills[kind] += 1

    def told(self, board, name):
        """Notes an acknowledgement, and whether the board has kept its word."""
        self.acknowledged.add(name)
        if name not in names(board):
            self.missing.append(name)


def names(board):
    with board.store.reading() as connection:
        return list(connection.exec_driver_sql("SELECT name FROM submissions ORDER BY number").scalars())


def work(place):
    worker.work(open_board(place), lease=LEASE, poll=0.05)


def submit(place, file, name, answers):
    board = open_board(place)
    answers.put("begins")
    answers.put(board.submit(file, name=name, submitter="lab").name)


def rescore(place, answers):
    board = open_board(place)
    answers.put("begins")
    board.rescore()


def hide(place, name, id, answers):
    board = open_board(place)
    answers.put("begins")
    board.hide(id)
    answers.put(name)


def serve(place, port):
    from rrgmetrics.spaces.leaderboard.app import serve

    board = open_board(place)
    with commands._worker_beside(board):
        serve(board, port=port)


def post(address, file, name):
    """Submits through the page; the page's answer."""
    api = f"{address}/gradio_api"
    with httpx.Client(timeout=60) as client:
        with file.open("rb") as content:
            (path,) = client.post(f"{api}/upload", files={"files": content}).json()
        said = {"data": [{"path": path, "meta": {"_type": "gradio.FileData"}}, name, "lab", "", ""]}
        event = client.post(f"{api}/call/submit", json=said).json()["event_id"]
        return client.get(f"{api}/call/submit/{event}").text


def kill_a_worker(board, tally, rng):
    process = FORK.Process(target=work, args=(board.place,))
    process.start()
    time.sleep(rng.uniform(0, 0.8))
    tally.kill("worker", process)


def kill_within(tally, rng, seconds, kind, target, *args):
    """Kills a process at a random moment after it has begun; what it has answered by then, or None."""
    answers = FORK.SimpleQueue()
    process = FORK.Process(target=target, args=(*args, answers))
    process.start()
    answers.get()
    time.sleep(rng.uniform(0, seconds))
    tally.kill(kind, process)
    return None if answers.empty() else answers.get()


def kill_a_submitter(board, tally, rng, file, name):
    if kill_within(tally, rng, 0.1, "submitter", submit, board.place, file, name):
        tally.told(board, name)


def kill_a_rescoring(board, tally, rng):
    kill_within(tally, rng, 0.3, "rescoring", rescore, board.place)
    with board.store.reading() as connection:
        last = connection.exec_driver_sql("SELECT max(number) FROM editions").scalar_one()
        n_jobs = connection.exec_driver_sql(f"SELECT count(*) FROM jobs WHERE edition = {last}").scalar_one()
    if n_jobs != len(names(board)):
        tally.halves.append((last, n_jobs))


def kill_a_hiding(board, tally, rng, name, id):
    if kill_within(tally, rng, 0.3, "hiding", hide, board.place, name, id):
        tally.hidden.add(name)


def kill_a_server(board, tally, rng, file, name, port):
    process = FORK.Process(target=serve, args=(board.place, port))
    process.start()
    address, answers = f"http://127.0.0.1:{port}", []

    def ask():
        with suppress(httpx.HTTPError, ValueError, KeyError):  # it is gone
            answers.append(post(address, file, name))

    while process.is_alive():
        try:
            httpx.get(address, timeout=60, verify=False)
            break
        except httpx.TransportError:
            time.sleep(0.05)
    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(rng.uniform(0, 1.5))
    workers = workers_of(board.place)
    tally.kill("server", process)
    asking.join()
    if any("data-progress" in answer for answer in answers):
        tally.told(board, name)
    tally.orphans += [pid for pid in workers if not ended(pid)]


def kill_them_all(board, write_reports, free_port, n, seed=0):
    """`n` kills, a fifth of them of the server; everybody who got no receipt sends again, as one would."""
    rng, tally = random.Random(seed), Tally()
    kinds = ["server"] * (n // 5)
    kinds += [KINDS[place % len(KINDS)] for place in range(n - len(kinds))]
    rng.shuffle(kinds)
    for i, kind in enumerate(kinds):
        name, file = f"System {i}", write_reports([f"Effusion {i}."] * 12, f"reports{i}.csv")
        if kind == "submitter":
            kill_a_submitter(board, tally, rng, file, name)
        elif kind == "server":
            kill_a_server(board, tally, rng, file, name, free_port)
        receipt = board.submit(file, name=name, submitter="lab")
        if kind == "worker":
            kill_a_worker(board, tally, rng)
        elif kind == "rescoring":
            kill_a_rescoring(board, tally, rng)
        elif kind == "hiding":
            kill_a_hiding(board, tally, rng, name, receipt.id)
    with board.store.writing() as connection:  # as if the leases of those that were killed had ended
        connection.exec_driver_sql("UPDATE jobs SET free_at = 0 WHERE state IN ('running', 'queued')")
    metrics = prepare("rouge")
    while held := jobs.claim(board.store):
        worker.run(board, held, metrics, log=lambda line: None)
    return tally, [f"System {i}" for i in range(len(kinds))]


def check(board, tally, sent):
    with board.store.reading() as connection:
        last = connection.exec_driver_sql("SELECT max(number) FROM editions").scalar_one()
        found = connection.exec_driver_sql(
            "SELECT name, metric FROM results JOIN submissions ON submissions.number = results.submission "
            f"WHERE results.edition = {last}"
        ).all()
        states = connection.exec_driver_sql(f"SELECT state FROM jobs WHERE edition = {last}").scalars()
        n_jobs = Counter(states)
    recorded, kept = Counter(name for name, _ in found), Counter(names(board))
    lost = [*tally.missing, *(name for name in sent if not kept[name] or not recorded[name])]
    doubled = [name for name in sent if kept[name] > 1 or recorded[name] > 1]
    listed = {line.system.name for line in board.standings().systems}
    sys.stdout.write(
        f"\n{sum(tally.kills.values())} kills ({dict(tally.kills)}), {len(sent)} submissions, {last} rounds, "
        f"{len(tally.acknowledged)} acknowledged before the end, {len(tally.hidden)} seen hidden: {len(lost)} lost, "
        f"{len(doubled)} doubled, {len(tally.halves)} half rounds, {len(tally.orphans)} orphans\n"
    )
    assert (lost, doubled, tally.halves, tally.orphans) == ([], [], [], [])
    assert not tally.hidden & listed
    assert n_jobs == {"done": len(sent)}
    assert workers_of(board.place) == []


@pytest.mark.parametrize("any_board", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True)
def test_a_few_kills_lose_and_double_nothing(any_board, write_reports, free_port):
    tally, sent = kill_them_all(any_board, write_reports, free_port, 7)
    check(any_board, tally, sent)
    assert set(tally.kills) == {*KINDS, "server"}


@pytest.mark.slow
def test_two_hundred_kills_lose_and_double_nothing(any_board, write_reports, free_port):
    tally, sent = kill_them_all(any_board, write_reports, free_port, 200)
    assert sum(tally.kills.values()) == 200
    check(any_board, tally, sent)
