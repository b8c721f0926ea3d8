"""Metrics on reports that others have changed, as a table."""

from __future__ import annotations

from collections.abc import Mapping

from rrgmetrics.metaeval.stress.variants import OfVariants, Variants
from rrgmetrics.reporting.numbers import estimate
from rrgmetrics.reporting.short import NOTHING, best_strong
from rrgmetrics.reporting.tables import Cells, Group, Table
from rrgmetrics.stats import Estimate
from rrgmetrics.utils.text_format import counted

NOTE = (
    "Discrimination: share of pairs of variants of one report in which the more severe one scores worse (chance "
    "0.5). Robustness: 1 − the loss for equal content in other words, in units of the loss for another patient's "
    "report (0: as much). 95% intervals over reports."
)


def variants_table(variants: Variants, found: Mapping[str, OfVariants]) -> Table:
    """Discrimination and robustness of each metric, with intervals; the best in bold."""
    lines: list[Cells] = [
        (f"{each.title} {each.arrow}", _cell(each.discrimination), _cell(each.robustness)) for each in found.values()
    ]
    first = next(iter(found.values()))
    what = f"{counted(first.n_twos, 'pair')} of different levels, {counted(first.n_equal, 'variant')} of equal content"
    return Table(
        ("metric", "discrimination", "robustness"),
        (Group(tuple(best_strong(lines))),),
        title=f"{counted(len(variants.reports), 'report')} of {variants.source}: {what}",
        note=NOTE,
        whole=frozenset({0}),
    )


def _cell(value: Estimate) -> str:
    return NOTHING if value.value != value.value else estimate(value)
