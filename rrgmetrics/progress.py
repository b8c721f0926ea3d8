"""How far a run is, and the bar that shows it."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import nullcontext
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class Progress(NamedTuple):
    """The progress of a run: pairs scored, of so many in all."""

    done: int
    total: int


def drained(walk: Generator[Progress, None, T], shown: bool) -> T:
    """Runs a walk to its end, with a progress bar if it is to be shown, and returns its value."""
    with progress_bar() if shown else nullcontext() as bar:
        while True:
            try:
                progress = next(walk)
            except StopIteration as stop:
                result: T = stop.value
                return result
            if bar is not None:
                bar.total = progress.total
                bar.update(progress.done - bar.n)


def progress_bar() -> Any:
    """A bar for pairs, the notebook's own in a notebook; its import costs as much as reading a hundred reports."""
    tqdm = import_module("tqdm.auto" if "IPython" in sys.modules else "tqdm").tqdm
    return tqdm(total=0, unit="pair", desc="scoring", leave=False)
