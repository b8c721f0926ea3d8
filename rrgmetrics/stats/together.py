"""Many metrics on the same draws: the column sums of all of them are one matrix product a block of sets.

A corpus score is a function of the column sums of the pair statistics. Which pairs a resample holds, or a swap
exchanges, depends on their number and the seed alone; so the statistics of every metric and system are side by side,
and each block of draws is made, and multiplied, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.scorers.base import Array

MATRIX_CELLS = 32_000_000  # 256 MB of statistics side by side; what is more takes draws of its own

Scores = Mapping[str, NDArray[np.float64] | NDArray[np.bool_]]


class Wanted(NamedTuple):
    """What is wanted of every set that is drawn.

    Attributes:
        tables: Statistics of the same pairs, `(n_pairs, n_stats)` each, all scored. One that is wanted more than once
            (the same object) is multiplied once.
        scores: What to make of the tables' column sums, `(n_sets, n_stats)` each, and of the number of pairs
            `(n_sets,)`.
    """

    tables: tuple[Array, ...]
    scores: Callable[[Sequence[Array], Array], Scores]


class Kept:
    """Rows of statistics that are scored; all of them are the table itself, so that it is multiplied once."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, bytes], tuple[Array, Array]] = {}

    def of(self, stats: Array, keep: NDArray[np.bool_]) -> Array:
        """The rows of a table that are kept."""
        if keep.all():
            return stats
        key = id(stats), keep.tobytes()
        if key not in self._kept:
            self._kept[key] = stats, stats[keep]  # the table too: its id must not be given to another one
        return self._kept[key][1]


def drawn_scores(wanted: Sequence[Wanted], draws: Callable[[], Iterable[Array]]) -> list[dict[str, Array]]:
    """Computes what is wanted of every set.

    Args:
        wanted: All of the same pairs.
        draws: Gives the sets in blocks `(n_sets, n_pairs)`: how often each pair counts; alike each time.

    Returns:
        For each wanted its scores of all sets.
    """
    found: list[dict[str, Array]] = []
    for batch in _batches(wanted):
        tables = {id(table): table for one in batch for table in one.tables}
        side_by_side = np.hstack(list(tables.values()))
        ends = np.cumsum([table.shape[1] for table in tables.values()])[:-1]
        blocks: list[list[Scores]] = [[] for _ in batch]
        for weights in draws():
            sums = dict(zip(tables, np.split(weights @ side_by_side, ends, axis=1), strict=True))
            n = weights.sum(axis=1)
            for one, own in zip(batch, blocks, strict=True):
                own.append(one.scores([sums[id(table)] for table in one.tables], n))
        found += [{key: np.concatenate([block[key] for block in own]) for key in own[0]} for own in blocks]
    return found


def _batches(wanted: Sequence[Wanted]) -> Iterator[list[Wanted]]:
    """What is wanted, in parts whose tables fit side by side into `MATRIX_CELLS`."""
    batch: list[Wanted] = []
    seen: set[int] = set()
    cells = 0
    for one in wanted:
        new = {id(table): table.size for table in one.tables if id(table) not in seen}
        if batch and cells + sum(new.values()) > MATRIX_CELLS:
            yield batch
            batch, seen, cells = [], set(), 0
            new = {id(table): table.size for table in one.tables}
        batch.append(one)
        seen |= set(new)
        cells += sum(new.values())
    if batch:
        yield batch
