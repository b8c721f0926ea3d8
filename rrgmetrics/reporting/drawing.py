"""Positions of values and intervals on an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from rrgmetrics.stats import Estimate

AIR = 0.06  # of an axis, beyond its outermost ends


class Scale(NamedTuple):
    """The ends of an axis."""

    low: float
    high: float


def share(value: float, scale: Scale, otherwise: float = math.nan) -> str:
    """Where on an axis a value stands, in per cent; `otherwise` takes the place of NaN.

    Example:
        >>> share(0.3, Scale(0.2, 0.6)), share(math.nan, Scale(0, 1), 0.5)
        ('25.00%', '50.00%')
    """
    place = otherwise if math.isnan(value) else value
    width = scale.high - scale.low
    if not math.isfinite(place) or not width > 0:
        return "50.00%" if math.isfinite(place) else "0.00%"
    return f"{100 * min(1.0, max(0.0, (place - scale.low) / width)):.2f}%"


def scale_around(estimates: Iterable[Estimate | None]) -> Scale:
    """From the lowest end to the highest, with a little air."""
    found = ends(estimates) or [0.0, 1.0]
    air = AIR * (max(found) - min(found))
    return Scale(min(found) - air, max(found) + air)


def scale_from_zero(estimates: Iterable[Estimate]) -> Scale:
    """From zero to the highest end."""
    return Scale(0.0, max([1e-9, *ends(estimates)]))


def scale_around_zero(estimates: Iterable[Estimate]) -> Scale:
    """As far below zero as above."""
    reach = (1 + AIR) * max([1e-9, *map(abs, ends(estimates))])
    return Scale(-reach, reach)


def scale_of_range(limits: tuple[float, float], score: Estimate) -> Scale:
    """A score's own range; where it has no end, from zero to beyond the score."""
    low, high = limits
    reach = 1.5 * max([1e-9, *map(abs, ends([score]))])
    return Scale(low if math.isfinite(low) else min(0.0, -reach), high if math.isfinite(high) else reach)


def ends(estimates: Iterable[Estimate | None]) -> list[float]:
    """Every finite value and end of an interval."""
    return [end for item in estimates if item for end in (item.value, item.low, item.high) if math.isfinite(end)]
