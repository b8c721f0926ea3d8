"""Results of the gaming tests, as tables and as the page "Can this reward be gamed?"."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rrgmetrics.metaeval.gaming.report import GamingReport, gains
from rrgmetrics.metaeval.gaming.search import GOALS
from rrgmetrics.reporting.numbers import signed_figure
from rrgmetrics.reporting.short import NOTHING, short
from rrgmetrics.reporting.tables import Cell, Cells, Group, Table
from rrgmetrics.stats import Estimate

FINE = 0.1  # gains below it have a decimal more
LONGEST = 300  # characters of a text that a line shows
NOTE = (
    "Gain over honest candidates in the metric's unit, with 95% intervals, on studies not used in the search; "
    "above 0 the text scores better. Green: the interval is not above 0."
)


def gaming_tables(report: GamingReport) -> Iterator[Table]:
    """Yields what honest systems earn and the search's best texts gain; the texts; then every trick by metric."""
    about = f"{report.n_studies} studies of {report.source}"
    if any(metric.found for metric in report.metrics.values()):
        yield _found_table(report, about)
        yield _texts_table(report)
    if any(metric.tricks for metric in report.metrics.values()):
        yield _tricks_table(report, about)


def _found_table(report: GamingReport, about: str) -> Table:
    metrics = list(report.metrics.items())
    systems = list(metrics[0][1].honest)
    lines: list[Cells] = []
    for name, metric in metrics:
        honest = [short(metric.honest[system]) for system in systems]
        constant, addition = (metric.found[goal] for goal in GOALS)
        over_weakest = [gain_cell(constant.by_system[systems[0]])] if len(systems) > 1 else []
        gains = (gain_cell(constant.gain), *over_weakest, gain_cell(addition.gain))
        lines.append((f"{name} {metric.arrow}", *honest, short(constant.earned), *gains))
    weakest = [f"over {systems[0]}"] if len(systems) > 1 else []
    heads = ("metric", *systems, "best constant", "its gain", *weakest, "best addition's gain")
    columns = frozenset(range(1, len(heads)))
    return Table(heads, (Group(tuple(lines)),), f"Can it be gamed? {about}", NOTE, whole=frozenset({0}), broken=columns)


def _texts_table(report: GamingReport) -> Table:
    lines: list[Cells] = [
        (name, goal, cut(metric.found[goal].text)) for name, metric in report.metrics.items() for goal in metric.found
    ]
    note = '"..." marks the position of the report.'
    return Table(
        ("metric", "goal", "best text found"), (Group(tuple(lines)),), title="Texts", note=note, broken=frozenset({2})
    )


def _tricks_table(report: GamingReport, about: str) -> Table:
    metrics = report.metrics
    names = list(next(iter(metrics.values())).tricks)
    lines: list[Cells] = []
    for trick in names:
        played = [metric.tricks[trick] for metric in metrics.values()]
        lines.append((played[0].title, *(gain_cell(each.gain) for each in played), str(played[0].n)))
    pay = [sum(metric.tricks[trick].pays for trick in names) for metric in metrics.values()]
    total: Cells = ("tricks that raise the score", *map(str, pay), "")
    heads = ("trick", *(f"{name} {metric.arrow}" for name, metric in metrics.items()), "pairs")
    return Table(heads, (Group(tuple(lines)), Group((total,))), title=f"Tricks: {about}", note=NOTE)


def gain_cell(gain: Estimate) -> Cell:
    """A gain with its interval."""
    return Cell(gain_text(gain), "worse" if gains(gain) else "better")


def gain_text(gain: Estimate) -> str:
    """A gain with its interval, as text."""
    if math.isnan(gain.value):
        return NOTHING
    places = 3 if max(map(abs, gain[:3])) < FINE else 2
    value, low, high = (signed_figure(number, places) for number in gain[:3])
    return f"{value} [{low}, {high}]"


def cut(text: str) -> str:
    """A text in one line, its end left out where it is long."""
    line = " ".join(text.split()) or "(nothing)"
    return line if len(line) <= LONGEST else f"{line[:LONGEST].rsplit(' ', 1)[0]} (and so on)"
