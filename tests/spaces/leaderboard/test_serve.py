"""`serve` from the command line, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

from ...processes import ended, heed_interrupts, runs
from .test_queue import recorded, states

pytest.importorskip("gradio")
pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads /proc")


def workers_of(place):
    """The numbers of the worker processes of a board: they have its place in their environment."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                environment = file.read().split(b"\0")
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if b"work" in words and any(
            part.startswith(b"RRGMETRICS_BOARD=") and place.encode() in part for part in environment
        ):
            found.append(int(name))
    return [pid for pid in found if runs(pid)]


@pytest.fixture
def serve(board, free_port):
    """Starts `serve`; returns its process and its worker's number, when both are at work."""
    processes = []

    def started():
        command = [sys.executable, "-m", "rrgmetrics", "leaderboard", "serve", board.place, "--port", str(free_port)]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=heed_interrupts
        )
        processes.append(process)
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{free_port}/", timeout=60).close()
                break
            except OSError:
                assert process.poll() is None
                time.sleep(0.1)
        while not (workers := workers_of(board.place)):
            time.sleep(0.1)
        return process, workers[0]

    yield started
    for process in processes:
        process.kill()
        process.wait()


SLOW = pytest.mark.slow  # each starts a server and its worker


@pytest.mark.parametrize(
    "way", [signal.SIGTERM, *(pytest.param(way, marks=SLOW) for way in (signal.SIGINT, signal.SIGKILL))]
)
def test_serve_takes_its_worker_along(serve, board, send, way):
    process, worker = serve()
    id = send(board, "A", ["Clear."] * 12)
    while board.progress(id).state == "queued":
        time.sleep(0.05)
    process.send_signal(way)
    process.wait()
    assert ended(worker)
    assert workers_of(board.place) == []
    assert states(board) in (["queued"], ["done"], ["running"])
    assert len(recorded(board)) == (states(board) == ["done"])
