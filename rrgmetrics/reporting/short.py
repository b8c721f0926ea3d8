"""Cells of narrow tables: taus, intervals and names in few characters."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rrgmetrics.metaeval.model import FEW
from rrgmetrics.reporting.numbers import MINUS, figure, signed_figure
from rrgmetrics.reporting.tables import Cell, Cells, Group, Table, as_cell
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs import BUNDLED_MARK
from rrgmetrics.stats import Estimate

LABEL_NOTES = {
    "°": "°: not significant, the interval contains 0; all others are aligned (above 0) or misaligned (below).",
    "?": f"?: {FEW}.",
}
STYLES = {"aligned": "better", "misaligned": "worse", "not significant": "quiet", "": "quiet"}
STAND_IN = "‡"  # of a bundled stand-in, in tables
STAND_IN_MEANS = "a bundled stand-in: its scores are not comparable with published scores"
STAND_IN_NOTE = f"{STAND_IN} {STAND_IN_MEANS}"
NOTHING = "–"
NO_CEILING = "no ceiling known"  # of one rater, or raters who share no pairs
CORRECTED = {"holm": "Holm", "bh": "Benjamini–Hochberg", "none": "uncorrected"}


def named(subject: str, result: Result) -> str:
    """Writes a metric's name with its direction: `rouge ↑`, `green (bundled) ↑` where a stand-in scored."""
    return f"{subject_of(subject, result)} {result.spec.headline.arrow}"


def subject_of(subject: str, result: Result) -> str:
    """The name as asked for, with the mark of a stand-in."""
    return f"{subject} {BUNDLED_MARK}" if result.bundled else subject


def marked(title: str) -> str:
    """A title with the mark of a stand-in in the place of the word.

    Example:
        >>> marked("GREEN (bundled)"), marked("GREEN (bundled): Errors"), marked("BLEU-4")
        ('GREEN‡', 'GREEN‡: Errors', 'BLEU-4')
    """
    return title.replace(f" {BUNDLED_MARK}", STAND_IN)


def with_stand_in_note(table: Table) -> Table:
    """The table with what the mark of a stand-in means below it, if the mark is in it."""
    cells = (as_cell(cell) for group in table.groups for line in group.every_line for cell in line)
    if not any(STAND_IN in text for text in (*table.heads, *(cell.text for cell in cells))):
        return table
    return replace(table, note=f"{table.note} {STAND_IN_NOTE}.".lstrip())


def tau_cell(value: Estimate, label: str) -> Cell:
    """A tau-b with its mark."""
    return Cell(f"{short(value.value)}{label_mark(value, label)}", STYLES[label])


def label_mark(value: Estimate, label: str) -> str:
    """`°` where a value is not significant, `?` where too few studies are behind it for an interval."""
    return "°" if label == "not significant" else "?" if not label and not math.isnan(value.value) else ""


def few_note(values: Iterable[Estimate]) -> str:
    """Why values have no interval, where there are such."""
    return f"Without an interval: {FEW}." if any(math.isnan(v.low) > math.isnan(v.value) for v in values) else ""


def label_notes(groups: Iterable[Group]) -> str:
    """What `°` and `?` mean, where a table has them."""
    texts = [as_cell(cell).text for group in groups for line in group.lines for cell in line]
    return " ".join(note for mark, note in LABEL_NOTES.items() if any(text.endswith(mark) for text in texts))


def best_strong(lines: Sequence[Cells]) -> list[Cells]:
    """Lines whose cells after the first are numbers where more is better, the best of each column in bold.

    Example:
        >>> lines = [("a", Cell("0.30°")), ("b", "0.41"), ("c", "–")]
        >>> [cell.is_strong for _, cell in best_strong(lines)]
        [False, True, False]
    """
    columns = [[as_cell(cell) for cell in column] for column in zip(*lines, strict=True)]
    for cells in columns[1:]:
        values = [_number(cell.text) for cell in cells]
        most = max(values)
        for row, value in enumerate(values):
            if len(lines) > 1 and value == most > -math.inf:
                cells[row] = replace(cells[row], style=f"{cells[row].style} strong".strip())
    return list(zip(*columns, strict=True))


def best_note(groups: Iterable[Group]) -> str:
    """What bold cells mean; "" if no line has one.

    Example:
        >>> best_note([Group((("a", Cell("0.50", "strong")),))]), best_note([Group((("a", "0.50"),))])
        ('Best in bold.', '')
    """
    is_bold = any(as_cell(cell).is_strong for group in groups for line in group.lines for cell in line)
    return "Best in bold." if is_bold else ""


def _number(text: str) -> float:
    """The number that a cell begins with."""
    found = re.match(r"[−-]?\d+(?:\.\d+)?", text)
    return float(found[0].replace(MINUS, "-")) if found else -math.inf


def short_estimate(value: Estimate) -> str:
    """Writes an estimate: `0.34 [.24, .45]`; without an interval the value alone."""
    if math.isnan(value.value):
        return NOTHING
    if math.isnan(value.low):
        return short(value.value)
    return f"{short(value.value)} [{short_bound(value.low)}, {short_bound(value.high)}]"


def short_bound(value: float) -> str:
    """Writes the end of an interval: `.24`, `−.05`, `1`."""
    if math.isnan(value):
        return NOTHING
    shown = figure(abs(value), 2)
    shown = shown.removesuffix(".00") if abs(value) > 0.995 else shown.replace("0.", ".", 1)
    return (MINUS if value <= -0.005 else "") + shown


def short(value: float, nothing: str = NOTHING) -> str:
    """A number with two decimals: `−0.25`."""
    return nothing if math.isnan(value) else figure(value, 2)


def short_signed(value: float) -> str:
    """A number with its sign, unless it rounds to zero; nothing for NaN."""
    return "" if math.isnan(value) else signed_figure(value, 2)


def span(values: Iterable[float]) -> str:
    """Writes a span from least to most: `.87–.92`; of one value `0.87`."""
    ordered = sorted(value for value in values if not math.isnan(value))
    if not ordered:
        return ""
    low, high = short_bound(ordered[0]), short_bound(ordered[-1])
    return short(ordered[0]) if low == high else f"{low}–{high}"


def fraction(passed: int, n_cases: int) -> Cell:
    """The cases passed of all: `2/3`."""
    style = "better" if passed == n_cases else "worse" if passed == 0 else ""
    return Cell(f"{passed}/{n_cases}", style)


def metric_head(subject: str, result: Result) -> Cells:
    """The line over the lines of a metric."""
    return (Cell(named(subject, result), "strong"),)
