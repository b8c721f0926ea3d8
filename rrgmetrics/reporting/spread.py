"""Histograms of scores over the studies, for pages to draw in a box of width 300."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rrgmetrics.reporting.numbers import UNSCORED, between, show
from rrgmetrics.scorers.base import Array
from rrgmetrics.specs import Key

N_BINS = 30
WIDTH = 300


@dataclass(frozen=True)
class Histogram:
    """The scores of one system.

    Attributes:
        bars: Left edge of each bar that is not empty, and its height as a share of the tallest of all systems.
        median: As people read it.
        middle: The ends of the middle half in words; "" if nothing is scored.
        x: Where the median stands; None if nothing is scored.
        described: All of it in words.
    """

    bars: tuple[tuple[int, float], ...]
    median: str
    middle: str
    x: float | None
    described: str


@dataclass(frozen=True)
class Spread:
    """Histograms by system, and the ends of their axis as people read them."""

    low: str
    high: str
    systems: Mapping[str, Histogram]


def spread(key: Key, values: Mapping[str, Array]) -> Spread:
    """The spread of one score.

    Args:
        key: The score.
        values: System to its scores `(n_pairs,)`; NaN = unscored.
    """
    scored = {system: column[np.isfinite(column)] for system, column in values.items()}
    low, high = _axis(key, np.concatenate(list(scored.values())))
    counts = {system: np.histogram(column, bins=N_BINS, range=(low, high))[0] for system, column in scored.items()}
    tallest = max(1, *(int(count.max()) for count in counts.values()))
    histograms = {
        system: _histogram(key, column, counts[system] / tallest, low, high) for system, column in scored.items()
    }
    return Spread(show(low, key), show(high, key), histograms)


def _axis(key: Key, values: Array) -> tuple[float, float]:
    """The key's whole range if that is 0 to 1; else from its finite lower end, or the lowest value, to the highest."""
    low, high = key.range
    if (low, high) != (0.0, 1.0):
        low = low if math.isfinite(low) else float(values.min(initial=high if math.isfinite(high) else 0.0))
        high = float(values.max(initial=low))
    return low, high if high > low else low + 1.0


def _histogram(key: Key, scored: Array, shares: Array, low: float, high: float) -> Histogram:
    bars = tuple((i * WIDTH // N_BINS, float(share)) for i, share in enumerate(shares) if share)
    if not len(scored):
        return Histogram(bars, UNSCORED, "", None, "no study scored")
    first, median, third = np.quantile(scored, (0.25, 0.5, 0.75))
    middle = between(first, third, key)
    ends = f"lowest {show(scored.min(), key)}, highest {show(scored.max(), key)}"
    x = round(WIDTH * float((median - low) / (high - low)), 1)
    return Histogram(bars, show(median, key), middle, x, f"median {show(median, key)}, middle half {middle}, {ends}")
