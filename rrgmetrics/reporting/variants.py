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
    "report (0: as much). 95% intervals over reports. Pairs: of different levels, both scored; equal: scored variants "
    "of equal content."
)
NO_LEVELS = (
    "No variant has a level above 0, so all of them count as equal content; --level COLUMN names the column of levels."
)


def variants_table(variants: Variants, found: Mapping[str, OfVariants]) -> Table:
    """Discrimination and robustness of each metric, with intervals; the best in bold."""
    best = best_strong(
        [(f"{each.title} {each.arrow}", _cell(each.discrimination), _cell(each.robustness)) for each in found.values()]
    )
    lines: list[Cells] = [
        (*cells, str(each.n_twos), str(each.n_equal), str(each.n_unscored))
        for cells, each in zip(best, found.values(), strict=True)
    ]
    has_levels = any(level > 0 for own in variants.variants for _, level in own)
    unscored = [f"{each.title}: {reason} ({n:,})." for each in found.values() for reason, n in each.reasons.items()]
    n_variants = counted(sum(map(len, variants.variants)), "variant")
    return Table(
        ("metric", "discrimination", "robustness", "pairs", "equal", "unscored"),
        (Group(tuple(lines)),),
        title=f"{n_variants} of {counted(len(variants.reports), 'report')} of {variants.source}",
        note=" ".join([NOTE, *([] if has_levels else [NO_LEVELS]), *(["Unscored:"] if unscored else []), *unscored]),
        whole=frozenset({0}),
    )


def _cell(value: Estimate) -> str:
    return NOTHING if value.value != value.value else estimate(value)
