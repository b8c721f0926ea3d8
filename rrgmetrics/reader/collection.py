"""Python's garbage collector, put off while reports are read and compared.

A reading makes thousands of small objects, drops nearly all of them as it ends, and leaves no cycles to speak of: the
collector would look through them several times a report for nothing, which is a quarter of the time. Where many are
read it would also look, again and again, through all that were read before: another quarter.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


@contextmanager
def set_aside(wanted: bool = True) -> Iterator[None]:
    """Runs a block without the garbage collector, which does not look at what stays of it until `looked_through` ends.

    Args:
        wanted: False: the block runs as any other.
    """
    if not (wanted and gc.isenabled()):
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def looked_through() -> Iterator[None]:
    """Gives back to the garbage collector, in the end, what blocks within it have set aside."""
    frozen = gc.get_freeze_count()  # by somebody who had a reason
    try:
        yield
    finally:
        if not frozen:
            gc.unfreeze()
