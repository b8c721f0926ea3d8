"""Tables for the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich import box
from rich.table import Table

from rrgmetrics.comparison import Row
from rrgmetrics.specs import SPECS, Key, MetricSpec
from rrgmetrics.stats import Estimate


def score_table(rows: Sequence[Row], *, n_pairs: int) -> Table:
    """One system's scores: a line a key.

    Args:
        rows: Of one system.
        n_pairs: Pairs in all.
    """
    table = _table(f"{n_pairs:,} pairs", "metric", "score", "value [95% interval]", "unscored")
    previous = ""
    for row in rows:
        table.add_row(
            row.metric if row.metric != previous else "",
            direction(row.key),
            estimate(row.score),
            _count(row.n_unscored),
        )
        previous = row.metric
    return table


def comparison_table(rows: Sequence[Row], *, n_pairs: int, correction: str) -> Table:
    """Several systems' scores: a line a key and system, with the difference from the first system."""
    baseline = rows[0].system
    title = f"{n_pairs:,} studies; differences from {baseline}; p corrected: {correction}"
    headers = ("metric", "system", "value [95% interval]", "difference", "p", "p corrected", "effect", "unscored")
    table = _table(title, *headers)
    for row in rows:
        head = f"{row.metric}\n[dim]{direction(row.key)}[/dim]" if row.system == baseline else ""
        cells = ("", "", "", "") if row.test is None else _test_cells(row)
        table.add_row(head, row.system, estimate(row.score), *cells, _count(row.n_unscored))
        if row.system == rows[-1].system:
            table.add_section()
    return table


def metric_table(specs: Sequence[MetricSpec] = tuple(SPECS.values()), *, aliases: bool = False) -> Table:
    """The spec table; with `aliases` one line a key and what papers call it."""
    if aliases:
        table = _table("What papers call the keys", "key", "score", "in papers")
        for spec in specs:
            for key in spec.keys:
                table.add_row(key.name, key.title, ", ".join(key.aliases) or "-")
        return table
    table = _table("", "metric", "headline", "keys", "range", "configurations", "options", "extra")
    for spec in specs:
        low, high = spec.range
        table.add_row(
            spec.name,
            direction(spec.headline),
            " ".join(key.name for key in spec.keys),
            f"{number(low)} to {number(high)}",
            " ".join(spec.configs) + (" <Hub id> <folder>" if spec.takes_checkpoint else ""),
            " ".join(spec.options),
            spec.extra or "-",
        )
    return table


def direction(key: Key) -> str:
    """`BLEU-4 ↑`: which way is better."""
    return f"{key.title} {'↑' if key.higher_is_better else '↓'}"


def estimate(value: Estimate) -> str:
    """`0.288 [0.127, 0.461]`, or that nothing was scored."""
    if math.isnan(value.value):
        return "unscored"
    return f"{value.value:.3f} [{value.low:.3f}, {value.high:.3f}]"


def number(value: float) -> str:
    """A bound of a range."""
    return ("-∞" if value < 0 else "∞") if math.isinf(value) else f"{value:g}"


def p_value(value: float) -> str:
    """`0.012`, `<0.001`, or nothing where there is no test."""
    if math.isnan(value):
        return ""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _test_cells(row: Row) -> tuple[str, str, str, str]:
    assert row.test is not None
    style = {True: "green", False: "red", None: "dim"}[row.is_better if row.p_corrected < 0.05 else None]
    change = row.test.difference
    cell = f"[{style}]{change.value:+.3f} \\[{change.low:+.3f}, {change.high:+.3f}][/{style}]"
    effect = "" if math.isnan(row.test.effect_size) else f"{row.test.effect_size:+.2f}"
    return cell, p_value(row.test.p_value), p_value(row.p_corrected), effect


def _count(n: int) -> str:
    return str(n) if n else "-"


def _table(title: str, *headers: str) -> Table:
    table = Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for header in headers:
        table.add_column(header, overflow="fold")
    return table
