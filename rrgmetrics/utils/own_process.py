"""Settings of processes that run nothing else than rrgmetrics: the command line's, and the workers'."""

from __future__ import annotations

import gc

OBJECTS, TIMES = 100_000, 20  # Python's own: 700 objects, 10 times


def collect_seldom() -> None:
    """Lets Python search for unused cycles of objects seldom.

    Readings are many small objects without cycles, and Python's own settings search all that are in memory again and
    again: a third of the time of a run, and of the first reading. Whoever imports rrgmetrics keeps their settings.
    """
    gc.set_threshold(OBJECTS, TIMES, TIMES)
