"""Processor time of a call, for tests of texts that once took the square of their length, or never ended."""

import time
from collections.abc import Callable


def ends_within(seconds: float, call: Callable[[], object]) -> bool:
    """Whether one of three calls takes less processor time than that, in this thread.

    The first of them may have waited for a collection of the whole process's garbage.
    """
    return any(_seconds(call) < seconds for _ in range(3))


def _seconds(call: Callable[[], object]) -> float:
    start = time.thread_time()
    call()
    return time.thread_time() - start
