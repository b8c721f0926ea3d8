"""Tables of training results."""

from __future__ import annotations

from collections.abc import Sequence

from rrgmetrics.reporting.numbers import estimate, figure
from rrgmetrics.reporting.tables import Cells, Group, Table
from rrgmetrics.training.ablation import Variant
from rrgmetrics.training.measured import Measured

HEADS = ("tau-b [95% interval]", "rho", "mean error")


def measured_table(measured: Sequence[Measured]) -> Table:
    """Agreement of totals with the labels, a line a split."""
    lines = [(each.split, f"{each.n_pairs:,}", *_numbers(each)) for each in measured]
    return Table(("split", "pairs", *HEADS), (Group(tuple(lines)),), title="Agreement with the labels")


def ablation_table(variants: Sequence[Variant]) -> Table:
    """The shape of the paper's Table 4: a block a setting, a line a value of it."""
    blocks: list[list[Cells]] = []
    for variant in variants:
        if variant.begins_block or not blocks:
            blocks.append([])
        mark = " *" if variant.is_base else ""
        blocks[-1].append((variant.title, f"{variant.value}{mark}", *_numbers(variant.measured)))
    return Table(
        ("setting", "value", *HEADS),
        tuple(Group(tuple(lines)) for lines in blocks),
        title=f"Ablation, {variants[0].measured.split} rows",
        note="* the configuration itself",
    )


def _numbers(measured: Measured) -> tuple[str, str, str]:
    return estimate(measured.tau), figure(measured.rho.value), figure(measured.mae)
