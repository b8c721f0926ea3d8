"""Tables of what was measured of the metrics: how far each agrees with radiologists, and on which data."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rrgmetrics.metaeval.measured import Measured, MeasuredSet, measured_sets, of_metric
from rrgmetrics.metaeval.model import label_of
from rrgmetrics.present.numbers import estimate
from rrgmetrics.present.short import NOTHING, STYLES, short, short_bound, span
from rrgmetrics.present.tables import Cell, Cells, Group, Table
from rrgmetrics.specs import MetricSpec
from rrgmetrics.stats import Estimate

STAND_IN = "* a bundled stand-in: its scores do not compare with published ones"


def agreement_table(spec: MetricSpec, *, seen: bool) -> Table | None:
    """How far the default configuration agrees with radiologists; None where that was not measured.

    Args:
        spec: The metric.
        seen: On data that development has seen, or on those that it has not.
    """
    found = [*of_metric(spec.name, seen=seen), *of_metric(spec.name, "share", seen=seen)]
    lines: list[Cells] = []
    for data, _, measure, row, value in found:
        what = measure.title if measure.statistic == "tau_b" else f"{measure.title} (share)"
        lines.append((data.short, what, estimate(value, places=2), str(value.n), row.version))
    if not lines:
        return None
    head = "read by development" if seen else "never seen by development"
    return Table(
        (head, "radiologists'", "tau-b [95% interval]", "n", "version"),
        (Group(tuple(lines)),),
        whole=frozenset({2}),
        broken=frozenset({0, 1}),
    )


def main_measures() -> list[tuple[MeasuredSet, str]]:
    """The first agreement of each data set that development has not seen."""
    unseen = [data for data in measured_sets().values() if not data.seen and data.of("tau_b")]
    return [(data, next(iter(data.of("tau_b")))) for data in unseen]


def by_agreement(specs: Iterable[MetricSpec]) -> list[MetricSpec]:
    """Metrics, the greatest mean agreement first, over the data on which most were measured; the unmeasured last."""
    columns = main_measures()
    most = max(len(data.metrics) for data, _ in columns)
    common = [(data, measure) for data, measure in columns if len(data.metrics) == most]

    def mean(spec: MetricSpec) -> float:
        if not all(spec.name in data.metrics for data, _ in common):
            return -math.inf
        return math.fsum(data.metrics[spec.name].values[measure].value for data, measure in common) / len(common)

    return sorted(specs, key=mean, reverse=True)


def ranked_table(specs: Iterable[MetricSpec]) -> Table:
    """One line a metric, its agreement on each data set that development has not seen, the greatest first."""
    columns = main_measures()
    lines: list[Cells] = []
    for spec in by_agreement(specs):
        cells = [value_cell(data.metrics.get(spec.name), measure) for data, measure in columns]
        lines.append((spec.name + (" *" if spec.stand_in else ""), *cells))
    ceiling = [Cell(span(data.ceiling.get(measure, ())) or NOTHING, "quiet") for data, measure in columns]
    about = "; ".join(
        f"{data.short}: {data.rows} {data.unit} of {data.studies} studies, {data.measures[measure].title}, rrgmetrics "
        f"{versions(data.metrics.values())}"
        for data, measure in columns
    )
    return Table(
        ("metric", *(data.short for data, _ in columns)),
        (Group(tuple(lines)), Group(((Cell("a radiologist", "quiet"), *ceiling),))),
        title="Agreement with radiologists on data that development never saw",
        note=f"Kendall's tau-b [95% interval]; °: it holds 0. {about}. {STAND_IN}.",
        whole=frozenset({0}),
        broken=frozenset(range(1, len(columns) + 1)),
    )


def value_cell(row: Measured | None, measure: str) -> Cell:
    """A tau-b with its interval, and `°` where that holds 0."""
    if row is None or measure not in row.values:
        return Cell(NOTHING, "quiet")
    value = row.values[measure]
    label = label_of(value)
    mark = "°" if label == "not significant" else ""
    return Cell(f"{short(value.value)}{mark}{_ends(value)}", STYLES[label] if label else "")


def versions(rows: Iterable[Measured]) -> str:
    """The versions that were measured."""
    return " and ".join(sorted({row.version for row in rows}))


def _ends(value: Estimate) -> str:
    return "" if math.isnan(value.low) else f" [{short_bound(value.low)}, {short_bound(value.high)}]"
