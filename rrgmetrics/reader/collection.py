"""Python's garbage collector, put off while a report is read.

A reading makes thousands of small objects, drops nearly all of them as it ends, and leaves no cycles to speak of: the
collector would look through them several times a report for nothing, which is a quarter of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def collecting_afterwards(function: Callable[[A], B]) -> Callable[[A], B]:
    """Lets a short function run without the garbage collector, which takes over again when it ends."""

    @wraps(function)
    def run(argument: A) -> B:
        if not gc.isenabled():
            return function(argument)
        gc.disable()
        try:
            return function(argument)
        finally:
            gc.enable()

    return run
