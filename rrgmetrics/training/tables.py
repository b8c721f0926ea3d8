"""What trainings reach, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.markup import escape
from rich.table import Table

from rrgmetrics.training.ablation import Variant
from rrgmetrics.training.cards import estimate
from rrgmetrics.training.measured import Measured


def measured_table(measured: Sequence[Measured]) -> Table:
    """Returns a table with a line a split: agreement of totals with the labels."""
    table = _table("Agreement with the labels", "split", "pairs", "tau-b [95% interval]", "rho", "mean error")
    for m in measured:
        table.add_row(m.split, f"{m.n_pairs:,}", escape(estimate(m.tau)), f"{m.rho.value:.3f}", f"{m.mae:.3f}")
    return table


def ablation_table(variants: Sequence[Variant]) -> Table:
    """Returns a table in the shape of the paper's Table 4: a block a setting, a line a value of it."""
    table = _table(
        f"Ablation, {variants[0].measured.split} rows", "setting", "value", "tau-b [95% interval]", "rho", "mean error"
    )
    for variant in variants:
        if variant.begins_block:
            table.add_section()
        m = variant.measured
        mark = " *" if variant.is_base else ""
        value = escape(f"{variant.value}{mark}")
        table.add_row(variant.title, value, escape(estimate(m.tau)), f"{m.rho.value:.3f}", f"{m.mae:.3f}")
    table.caption = "* the config itself"
    return table


def _table(title: str, *headers: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, show_edge=False)
    for header in headers:
        table.add_column(header, no_wrap=True)
    return table
