"""A process ends when the one that started it does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from rrgmetrics.utils import subprocess_guard as child

from ..processes import ended

CHILD = """
import sys, threading
from rrgmetrics.utils import subprocess_guard as child
child.LOOK = 0.02
print(sys.stdin.readline().strip(), flush=True)
child.follow()
print("follows", flush=True)
threading.Event().wait()
"""
PARENT = """
import os, signal, sys, time
from rrgmetrics.utils import subprocess_guard as child
process = child.start([sys.executable, "-c", {child!r}], b"hello\\n", stdout=sys.stdout)
if {fork}:
    if os.fork() == 0:  # holds the same end of the pipe, as a data loader's worker would
        time.sleep(30)
        os._exit(0)
print(process.pid, flush=True)
sys.stdin.readline()
{end}
"""


WAYS = {
    "it returns": "",
    "it raises": "1 / 0",
    "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM)",
    "SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
}


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads /proc")
@pytest.mark.parametrize("fork", [False, True], ids=["alone", "with a forked process"])
@pytest.mark.parametrize("way", WAYS)
def test_a_child_ends_with_its_parent(way, fork):
    code = PARENT.format(child=CHILD, fork=fork, end=WAYS[way])
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    lines = {process.stdout.readline().strip() for _ in range(3)}
    (pid,) = (int(line) for line in lines - {"hello", "follows"})
    process.stdin.close()
    process.wait()
    assert ended(pid)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads /proc")
def test_a_worker_of_a_pool_ends_with_its_parent():
    worker = """
import threading
from rrgmetrics.utils import subprocess_guard as child
child.LOOK = 0.02
child.follow_parent()
print(1)
threading.Event().wait()
"""
    parent = f"""
import os, signal, subprocess, sys
process = subprocess.Popen([sys.executable, "-uc", {worker!r}], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
    stderr=subprocess.DEVNULL)
assert process.stdout.readline()
print(process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", parent], capture_output=True, text=True, check=False)
    assert ended(int(done.stdout))


def test_nobody_is_followed_unasked(monkeypatch):
    monkeypatch.delenv(child.PARENT, raising=False)
    child.follow(lambda: os.kill(os.getpid(), signal.SIGKILL))


def test_a_child_that_does_not_listen_disturbs_nobody():
    process = child.start([sys.executable, "-c", ""], b"x" * 10_000_000)
    assert process.wait() == 0
