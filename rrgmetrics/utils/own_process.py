"""Settings of processes that run nothing else than rrgmetrics: the command line's, and the workers'."""

from __future__ import annotations

import gc
import os

OBJECTS, TIMES = 100_000, 20  # Python's own: 700 objects, 10 times
THREADS = {  # environment variables, which the libraries read when they are loaded
    "GOMP_SPINCOUNT": "10000",  # rounds, of 300,000, that torch's threads wait awake for each other
    "OPENBLAS_NUM_THREADS": "1",  # numpy's: the bundled networks compute several batches at once instead
}
MOST_AT_ONCE = 16  # batches, of 15 MB each


def collect_seldom() -> None:
    """Lets Python search for unused cycles of objects seldom.

    Readings are many small objects without cycles, and Python's own settings search all that are in memory again and
    again: a third of the time of a run, and of the first reading. Whoever imports rrgmetrics keeps their settings.
    """
    gc.set_threshold(OBJECTS, TIMES, TIMES)


def sleeping_threads() -> dict[str, str]:
    """Returns environment variables with which threads do not wait awake; what the user has set stays.

    On cores that others use too, waiting awake takes up to 40 times as long: threads that share one small matrix
    product wait for the slowest of them, thousands of times a second.
    """
    if "OMP_WAIT_POLICY" in os.environ:
        return {}
    return {name: os.environ.get(name, value) for name, value in THREADS.items()}


def batches_at_once() -> int:
    """How many batches numpy computes at a time: one where it has threads of its own, else one for each core."""
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        return 1
    threads = os.environ.get("OMP_NUM_THREADS", "")
    return min(int(threads) if threads.isdecimal() else os.cpu_count() or 1, MOST_AT_ONCE)
