"""Processes that end when the one that started them does, however it ends: also by a signal that it cannot catch.

The child's standard input is a pipe whose other end its parent holds and never closes; when the parent is gone,
whatever the reason, the system closes it. Where a process has a parent's number (all but Windows) the child looks at
that too, for a process that the parent forked meanwhile holds the same end. What the child is to do can be said through
the pipe: then no file lies about, whoever of the two is killed when.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

PARENT = "RRGMETRICS_PARENT"  # environment variable: the number of the process that is to be followed
LOOK = 1.0  # seconds between two looks at it


def start(
    command: Sequence[str], line: bytes = b"", *, env: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    """Starts a process that is to call `follow`; it ends with this one, or when what is returned is thrown away.

    Args:
        command: The program and its arguments.
        line: A line for its standard input; does not wait until it is read.
        env: Its environment; None: ours.
        options: Of `subprocess.Popen`.
    """
    environment = {**(os.environ if env is None else env), PARENT: str(os.getpid())}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, **options)
    threading.Thread(target=_say, args=(process, line), daemon=True).start()
    return process


def follow(ended: Callable[[], object] = lambda: os._exit(1)) -> None:
    """Calls `ended`, from a thread, when the process that started this one is gone; by default this one then ends.

    Whoever reads a line from standard input does so before. Does nothing in a process that `start` did not start.
    """
    parent = os.environ.pop(PARENT, "")
    if parent:
        threading.Thread(target=_watch, args=(int(parent), ended), daemon=True).start()


def follow_parent() -> None:
    """Ends this process, from a thread, when the one that started it is gone; for those that a pool starts.

    Looks at the parent's number alone (not on Windows, where it never changes): standard input is somebody else's.
    """
    if os.name == "posix":
        threading.Thread(target=_look, args=(os.getppid(),), daemon=True).start()


def _look(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)


def _say(process: subprocess.Popen[bytes], line: bytes) -> None:
    with suppress(OSError, ValueError):  # it ended before it had read all
        assert process.stdin is not None
        process.stdin.write(line)
        process.stdin.flush()


def _watch(parent: int, ended: Callable[[], object]) -> None:
    while _is_there(parent):
        pass
    ended()


def _is_there(parent: int) -> bool:
    if os.name == "posix":
        readable = select.select([0], [], [], LOOK)[0]
        return os.getppid() == parent and (not readable or bool(os.read(0, 1)))
    return bool(sys.stdin.buffer.read(1))
