"""Cells of narrow tables: taus, intervals and names in few characters."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rrgmetrics.present.numbers import MINUS
from rrgmetrics.present.tables import Cell, Cells
from rrgmetrics.results import Result
from rrgmetrics.specs import BUNDLED_MARK
from rrgmetrics.stats import Estimate

STYLES = {"aligned": "better", "misaligned": "worse", "not significant": "quiet", "": "quiet"}
NOTHING = "–"
CORRECTED = {"holm": "Holm", "bh": "Benjamini–Hochberg", "none": "uncorrected"}


def named(subject: str, result: Result) -> str:
    """Writes a metric's name with its direction: `rouge ↑`, `green (bundled) ↑` where a stand-in scored."""
    return f"{subject_of(subject, result)} {result.spec.headline.arrow}"


def subject_of(subject: str, result: Result) -> str:
    """The name as asked for, with the mark of a stand-in."""
    return f"{subject} {BUNDLED_MARK}" if result.bundled else subject


def tau_cell(value: Estimate, label: str) -> Cell:
    """A tau-b with `°` where it is not significant."""
    mark = "°" if label == "not significant" else ""
    return Cell(f"{short(value.value)}{mark}", STYLES[label])


def short_estimate(value: Estimate) -> str:
    """Writes an estimate: `0.34 [.24, .45]`."""
    if math.isnan(value.value):
        return NOTHING
    return f"{short(value.value)} [{short_bound(value.low)}, {short_bound(value.high)}]"


def short_bound(value: float) -> str:
    """Writes the end of an interval: `.24`, `−.05`, `1`."""
    if math.isnan(value):
        return NOTHING
    shown = f"{abs(value):.2f}"
    shown = shown.removesuffix(".00") if abs(value) > 0.995 else shown.replace("0.", ".", 1)
    return (MINUS if value <= -0.005 else "") + shown


def short(value: float, nothing: str = NOTHING) -> str:
    """A number with two decimals: `−0.25`."""
    return nothing if math.isnan(value) else f"{value:.2f}".replace("-0.00", "0.00").replace("-", MINUS)


def short_signed(value: float) -> str:
    """A number with its sign, unless it rounds to zero; nothing for NaN."""
    return "" if math.isnan(value) else f"{'+' if value > 0.005 else ''}{short(value)}"


def short_score(value: float) -> str:
    """A score with four digits, or `unscored`."""
    return "unscored" if math.isnan(value) else f"{value:.4g}"


def span(values: Iterable[float]) -> str:
    """Writes a span from least to most: `.87–.92`."""
    ordered = sorted(value for value in values if not math.isnan(value))
    if not ordered:
        return ""
    low, high = short_bound(ordered[0]), short_bound(ordered[-1])
    return low if low == high else f"{low}–{high}"


def fraction(passed: int, n_cases: int) -> Cell:
    """The cases passed of all: `2/3`."""
    style = "better" if passed == n_cases else "worse" if passed == 0 else ""
    return Cell(f"{passed}/{n_cases}", style)


def metric_head(subject: str, result: Result) -> Cells:
    """The line over the lines of a metric."""
    return (Cell(named(subject, result), "strong"),)
