"""How far a run is, and the bar that shows it."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class Progress(NamedTuple):
    """The progress of a run: pairs scored, of so many in all."""

    done: int
    total: int


def drained(walk: Generator[Progress, None, T], shown: bool) -> T:
    """Runs a walk to its end with a progress bar, and returns its value."""
    with _bar(shown) as bar:
        while True:
            try:
                progress = next(walk)
            except StopIteration as stop:
                result: T = stop.value
                return result
            bar.total = progress.total
            bar.update(progress.done - bar.n)


def _bar(shown: bool) -> Any:
    from tqdm.auto import tqdm

    return tqdm(total=0, unit="pair", desc="scoring", disable=not shown, leave=False)
