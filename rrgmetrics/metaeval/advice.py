"""Which metric to report: what follows from the measurements, by rules that are written here and nowhere else.

A recommendation is made of the agreement on data that development has not seen (the main measure of each data set: its
first), never of the data that it has. It is of the bundled configuration, which was measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from rrgmetrics.metaeval.measured import DEVELOPMENT, REPLACED, Measured, MeasuredSet, measured_sets
from rrgmetrics.metaeval.model import label_of
from rrgmetrics.specs import MetricSpec
from rrgmetrics.stats import Estimate

Verdict = Literal["report", "beside", "compare", "unmeasured"]

ENOUGH = 0.4  # tau-b on every data set, of a metric that may stand alone
ABOVE_CHANCE = 0.2  # where no interval is known
# As radiologists marked them in the development data.
KINDS: Mapping[str, str] = {"false_finding": "false", "missing_finding": "missing", "attribute": "attributes"}

VERDICTS: Mapping[Verdict, tuple[str, str]] = {
    "report": (
        "Report",
        f"They agree with radiologists on every data set, with a tau-b of at least {ENOUGH:g}.",
    ),
    "beside": (
        "Report as a second metric",
        "They agree with radiologists better than chance on every data set, but only weakly on some.",
    ),
    "compare": (
        "Do not report alone",
        "On at least one data set, their agreement with radiologists is not significant. To compare with "
        "earlier papers, "
        "use the settings of those papers.",
    ),
    "unmeasured": (
        "None yet",
        "Their current versions have not been measured on data that were not used in development.",
    ),
}


class Main(NamedTuple):
    """A metric's agreement on the main measure of a data set that development has not seen."""

    data: MeasuredSet
    measure: str
    value: Estimate


class Blind(NamedTuple):
    """What a metric overlooks, in the development data.

    Attributes:
        kind: The kind of error with which its headline agrees least.
        tau_b: How far.
        passed: Errors a report in the candidate of each study that it ranks best.
    """

    kind: str
    tau_b: Estimate
    passed: float


def main_measures() -> list[tuple[MeasuredSet, str]]:
    """The main measure of each data set that development has not seen."""
    unseen = [data for data in measured_sets().values() if not data.seen and data.of("tau_b")]
    return [(data, next(iter(data.of("tau_b")))) for data in unseen]


def main_agreements(metric: str) -> list[Main]:
    """A metric's agreement with radiologists on each data set that development has not seen."""
    return [
        Main(data, measure, data.metrics[metric].values[measure])
        for data, measure in main_measures()
        if metric in data.metrics
    ]


def verdict(metric: str) -> Verdict:
    """What to do with a metric.

    Example:
        >>> verdict("finding_errors"), verdict("crimson"), verdict("bleu"), verdict("radgraph_f1")
        ('report', 'beside', 'compare', 'unmeasured')
    """
    found = main_agreements(metric)
    if not found:
        return "unmeasured"
    if not all(_above_chance(each.value) for each in found):
        return "compare"
    return "report" if min(each.value.value for each in found) >= ENOUGH else "beside"


def in_words(metric: str) -> str:
    """What to do with a metric, and where it agrees least.

    Example:
        >>> in_words("bleu").split(":")[0], in_words("finding_score")
        ('Do not report alone', 'None yet: there is no measurement on data not used in development.')
    """
    found = main_agreements(metric)
    title = VERDICTS[verdict(metric)][0]
    if not found and metric in REPLACED:
        return f"{title}: {REPLACED[metric].what}; its agreement has not been measured since."
    if not found:
        return f"{title}: there is no measurement on data not used in development."
    least, most = (choose(found, key=lambda each: each.value.value) for choose in (min, max))
    return (
        f"{title}: tau-b with radiologists from {least.value.value:.2f} ({least.data.short}) to "
        f"{most.value.value:.2f} ({most.data.short}), on data not used in development.".replace("-0.", "−0.")
    )


def _above_chance(value: Estimate) -> bool:
    return value.value >= ABOVE_CHANCE if math.isnan(value.low) else label_of(value) == "aligned"


def by_agreement(specs: Iterable[MetricSpec]) -> list[MetricSpec]:
    """Metrics, the greatest mean agreement first, over the data on which most were measured; the unmeasured last."""
    columns = main_measures()
    most = max(len(data.metrics) for data, _ in columns)
    common = [(data.metrics, measure) for data, measure in columns if len(data.metrics) == most]

    def mean(spec: MetricSpec) -> float:
        if not all(spec.subject in rows for rows, _ in common):
            return -math.inf
        return math.fsum(rows[spec.subject].values[measure].value for rows, measure in common) / len(common)

    return sorted(specs, key=mean, reverse=True)


def blind(metric: str) -> Blind | None:
    """What a metric overlooks; None where it was not measured."""
    data = measured_sets()[DEVELOPMENT]
    row = data.metrics.get(metric)
    if row is None:
        return None
    kind = min(KINDS, key=lambda kind: row.values[kind].value)
    return Blind(KINDS[kind], row.values[kind], row.values["overlooked"].value)


def seconds(metric: str) -> Measured | None:
    """What 1,000 pairs cost; None where it was not measured."""
    return measured_sets()["cost"].metrics.get(metric)


def needs(spec: MetricSpec) -> str:
    """What a metric's published setting needs beyond the wheel; the bundled one needs nothing."""
    if spec.judge:
        return "a model"
    if spec.stand_in and spec.checkpoint:
        return "weights"
    return f"extra {spec.extra}" if spec.extra else "nothing"
