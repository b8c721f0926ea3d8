"""Tables of the variation of judges over repeated runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rrgmetrics.metaeval.agreement import AgreementReport
from rrgmetrics.metaeval.judge_noise import SOURCES, Noise, NoiseReport
from rrgmetrics.reporting.numbers import figure
from rrgmetrics.reporting.results import spread_line
from rrgmetrics.reporting.short import named
from rrgmetrics.reporting.tables import Cells, Group, Table

HEADS = ("", "value", "SD of runs", *(f"{source} [95%]" for source in SOURCES))
NOTE = (
    "Each interval resamples one source of noise and keeps the others: the runs of each pair, the raters, the "
    "studies; then all. SD of runs: standard deviation of the number over runs."
)


def noise_tables(report: AgreementReport, found: Sequence[NoiseReport]) -> Iterator[Table]:
    """Yields a table for each judge that was asked several times (`?runs=N`)."""
    for each in found:
        lines = tuple(_line(report, noise) for noise in each.noises)
        title = f"{named(each.subject, report.results[each.subject])}: {spread_line(each.spread)}"
        yield Table(HEADS, (Group(lines),), title=title, note=NOTE)


def noise_numbers(report: AgreementReport, found: Sequence[NoiseReport]) -> list[dict[str, object]]:
    """The numbers of these tables, a row each."""
    return [row for each in found for row in _rows(report, each)]


def _line(report: AgreementReport, each: Noise) -> Cells:
    what = f"tau-b, {report.data.title(each.target)}" if each.target else "mean score"
    intervals = (each.intervals.get(source) for source in SOURCES)
    shown = ("" if ends is None else f"[{_or_dash(ends[0])}, {_or_dash(ends[1])}]" for ends in intervals)
    return (what, _or_dash(each.value), _or_dash(each.sd_of_runs), *shown)


def _rows(report: AgreementReport, found: NoiseReport) -> Iterator[dict[str, object]]:
    for each in found.noises:
        yield {
            "dataset": report.data.name,
            "subject": found.subject,
            "key": report.results[found.subject].spec.headline.name,
            "target": each.target or "mean",
            "view": "runs",
            "n_runs": found.spread.n_runs,
            "sd_of_pair": found.spread.sd_of_pair,
            "value": each.value,
            "sd_of_runs": each.sd_of_runs,
            **{f"{source}_low": each.intervals[source][0] for source in each.intervals},
            **{f"{source}_high": each.intervals[source][1] for source in each.intervals},
            **{f"{source}_sd": each.sds[source] for source in each.sds},
        }


def _or_dash(value: float) -> str:
    return "—" if math.isnan(value) else figure(value)
