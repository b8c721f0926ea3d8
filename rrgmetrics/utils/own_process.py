"""Settings of processes that run nothing else than rrgmetrics: the command line's, and the workers'."""

from __future__ import annotations

import gc
import os

OBJECTS, TIMES = 100_000, 20  # Python's own: 700 objects, 10 times
WAITING = {  # by environment variable, how long a thread waits awake for another
    "GOMP_SPINCOUNT": "10000",  # rounds, of 300,000: torch's threads
    "OPENBLAS_THREAD_TIMEOUT": "4",  # 2**4 ticks, of 2**26: numpy's, which the bundled networks run on
}


def collect_seldom() -> None:
    """Lets Python search for unused cycles of objects seldom.

    Readings are many small objects without cycles, and Python's own settings search all that are in memory again and
    again: a third of the time of a run, and of the first reading. Whoever imports rrgmetrics keeps their settings.
    """
    gc.set_threshold(OBJECTS, TIMES, TIMES)


def sleeping_threads() -> dict[str, str]:
    """Returns environment variables with which threads wait asleep; what the user has set stays.

    On cores that others use too, waiting awake takes up to 40 times as long. The libraries read them when they are
    loaded.
    """
    if "OMP_WAIT_POLICY" in os.environ:
        return {}
    return {name: os.environ.get(name, value) for name, value in WAITING.items()}
