"""The processes of a distributed run: their number, gathering in order, and work that one does for all.

accelerate, torchrun, DDP, FSDP and DeepSpeed all use `torch.distributed`; without it there is one process.
Every function that says "collective" must be called by all processes alike, or they wait for each other for ever.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from rrgmetrics.errors import BackendError

T = TypeVar("T")


def _distributed() -> Any:
    """Returns `torch.distributed` if a group of several processes runs, else None."""
    if "torch" not in sys.modules:  # whoever initialised it has imported it
        return None
    import torch.distributed as distributed

    running = distributed.is_available() and distributed.is_initialized()
    return distributed if running and distributed.get_world_size() > 1 else None


def rank() -> int:
    """Returns this process's number, from 0."""
    distributed = _distributed()
    return int(distributed.get_rank()) if distributed else 0


def count() -> int:
    """Returns the number of processes."""
    distributed = _distributed()
    return int(distributed.get_world_size()) if distributed else 1


def is_main() -> bool:
    """Returns whether this process scores and writes for all."""
    return rank() == 0


def gather(items: Sequence[T]) -> list[T]:
    """Gathers all processes' items in the order of the processes; the same list everywhere. Collective."""
    distributed = _distributed()
    if distributed is None:
        return list(items)
    lists: list[Any] = [None] * count()
    distributed.all_gather_object(lists, list(items))
    return [item for each in lists for item in each]


def any_of(flag: bool) -> bool:
    """Returns whether the flag is set in any process. Collective."""
    return any(gather([flag]))


def on_main(function: Callable[[], T]) -> T:
    """Calls the function in the main process; every process gets its value or its failure. Collective.

    Raises:
        Exception: What the function raised; in the other processes a BackendError that quotes it.
    """
    distributed = _distributed()
    if distributed is None:
        return function()
    failure: Exception | None = None
    box: list[Any] = [None, ""]
    if is_main():
        try:
            box[0] = function()
        except Exception as error:  # the others must hear of it, whatever it is
            failure, box[1] = error, f"{type(error).__name__}: {error}"
    distributed.broadcast_object_list(box, src=0)
    if failure is not None:
        raise failure
    if box[1]:
        raise BackendError(f"The main process failed: {box[1]}")
    value: T = box[0]
    return value
