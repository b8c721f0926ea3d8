"""Metrics under stress, as tables and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from rrgmetrics.metaeval.stress.kinds import GROUPS, KINDS, LADDERS, Group, kinds_of
from rrgmetrics.metaeval.stress.measure import OfKind, Stressed, StressReport
from rrgmetrics.metaeval.stress.scoring import INTACT
from rrgmetrics.metaeval.stress.stored import StoredStress
from rrgmetrics.metaeval.stress.written import PREFIX
from rrgmetrics.reading.lexicon import all_packs
from rrgmetrics.reporting import tables
from rrgmetrics.reporting.short import NOTHING, best_note, best_strong, short
from rrgmetrics.reporting.tables import Cell, Cells, Table
from rrgmetrics.synthesis.sources import GENERATOR
from rrgmetrics.utils.text_format import counted, listed

COLUMNS = 3  # metrics beside each other on a terminal
GOOD, POOR = 0.9, 0.5
READER_MARK = "†"
HOW = (
    "Errors: share of pairs that score worse, and the mean loss in units of what another patient's report costs. "
    "Harmless changes: share of the errors in the same reports that cost more (chance 0.5), and the loss. Order: "
    "share of pairs of changes in the correct order (chance 0.5). Tricks: share that score no better than a report "
    "with two errors."
)
BY_CONSTRUCTION = (
    f"{READER_MARK} The reader inserted the errors and this metric uses it, so it detects them by construction."
)
SUMMARY = {
    "errors detected": "seen",
    "harmless below errors": "apart",
    "harmless, no worse": "kept",
    "more errors, worse": "number",
    "graver errors, worse": "grades",
    "tricks resisted": "resisted",
}


def value_of(kind: str, own: OfKind) -> float:
    """The number that says how well a metric does on a kind, 1 is best: for harmless changes `apart`, else `share`."""
    return own.apart if KINDS[kind].group == "harmless" else own.share


def summary_of(metric: Stressed) -> dict[str, float]:
    """The means over kinds, 1 is best, by the names of `SUMMARY`'s values."""
    return {
        "seen": metric.mean("error"),
        "apart": metric.mean("harmless", "apart"),
        "kept": metric.mean("harmless"),
        "number": metric.ladders["number"].share,
        "grades": metric.grades,
        "resisted": metric.mean("trick"),
    }


def stress_tables(report: StressReport, columns: int | None = None) -> Iterator[Table]:
    """Yields the means of each metric, then every kind by metric.

    Args:
        report: The metrics.
        columns: Metrics beside each other; None puts all into one table.
    """
    yield summary_table(report)
    names = list(report.metrics)
    width = columns or len(names)
    for start in range(0, len(names), width):
        yield kinds_table(report, names[start : start + width])


def summary_table(report: StressReport) -> Table:
    """The means over kinds, a line a metric."""
    lines: list[Cells] = []
    for name, metric in report.metrics.items():
        own = summary_of(metric)
        lines.append((_named(name, metric), *(_graded(own[key]) for key in SUMMARY.values())))
    groups = (tables.Group(tuple(best_strong(lines))),)
    return Table(
        ("metric", *SUMMARY),
        groups,
        title=f"{about(report)}: 1 is best",
        note=f"{best_note(groups)} {_note(report)}".strip(),
        whole=frozenset({0}),
        broken=frozenset(range(1, len(SUMMARY) + 1)),
    )


def kinds_table(report: StressReport, names: Sequence[str]) -> Table:
    """Every kind and ladder, a line each, by metric."""
    metrics = {name: report.metrics[name] for name in names}
    groups = [
        tables.Group(
            tuple(_kind_line(report, kind, metrics) for kind in kinds_of(group)), (Cell(title.split(":")[0], "strong"),)
        )
        for group, title in GROUPS.items()
    ]
    ladders: list[Cells] = [
        (f"  {ladder.title}", *(_order_cell(metric, name) for metric in metrics.values()), "")
        for name, ladder in LADDERS.items()
    ]
    groups.insert(2, tables.Group(tuple(ladders), (Cell("Order", "strong"),)))
    return Table(
        ("kind", *(_named(name, metric) for name, metric in metrics.items()), "reports without"),
        tuple(groups),
        title="By kind: share, and in brackets the loss",
        note=HOW,
        broken=frozenset(range(len(names) + 2)),
    )


def about(report: StressReport) -> str:
    """What the metrics were asked, in words."""
    is_generated = report.suite.source.startswith(GENERATOR)
    n = counted(len(report.suite.reports), "generated report" if is_generated else "report")
    source = f" of {report.suite.source}" if report.suite.source and not is_generated else ""
    return f"{n}{source}, {counted(len(report.suite.cases), 'changed report')}"


def reports_of(stored: StoredStress) -> str:
    """What a stored measurement was made on, in words: "300 generated reports"."""
    pack = all_packs().get(stored.source.removeprefix(PREFIX))
    if pack is None:
        return f"{stored.n_reports} generated reports"
    return f"{stored.n_reports} invented {pack.title.removesuffix(' in English')}, with errors written by hand"


def remarks(metric: Stressed) -> list[str]:
    """What a metric sees and what it does not, in a few sentences."""
    if not metric.unit > 0:
        return [f"The metric {_fault(metric)}, so the test is not applicable."]
    said = []
    errors, harmless, tricks = (_known(metric, group) for group in ("error", "harmless", "trick"))
    classes = {
        "Hardly detects": [kind for kind, value in errors.items() if value < POOR],
        "Detects in part": [kind for kind, value in errors.items() if POOR <= value < GOOD],
        "Detects": [kind for kind, value in errors.items() if value >= GOOD],
    }
    *others, last = sorted((name for name in classes if classes[name]), key=lambda name: len(classes[name])) or [""]
    said += [f"{name}: {_titles(classes[name])}." for name in others]
    said += [f"{last}: all {'other ' if others else ''}kinds of error."] if last else []
    for name, kinds in (
        ("Harmless changes that cost less than an error", [kind for kind in harmless if harmless[kind] >= GOOD]),
        ("Harmless changes that cost as much as an error", [kind for kind in harmless if harmless[kind] < POOR]),
    ):
        if kinds:
            said.append(f"{name}: {'all' if len(kinds) == len(harmless) else _titles(kinds)}.")
    paying = [kind for kind, value in tricks.items() if value < GOOD]
    if paying:
        said.append(f"Tricks that score better than a report with two errors: {_titles(paying)}.")
    elif tricks:
        said.append("No trick scores better than a report with two errors in over a tenth of pairs.")
    return said


def _titles(kinds: Sequence[str]) -> str:
    return listed([KINDS[kind].title for kind in kinds])


def _known(metric: Stressed, group: Group) -> dict[str, float]:
    values = {kind: value_of(kind, metric.kinds[kind]) for kind in kinds_of(group)}
    return {kind: value for kind, value in values.items() if not math.isnan(value)}


def _kind_line(report: StressReport, kind: str, metrics: Mapping[str, Stressed]) -> Cells:
    cells = [_kind_cell(kind, metric.kinds[kind]) for metric in metrics.values()]
    tried = report.suite.tried[kind]
    return (f"  {KINDS[kind].title}", *cells, Cell(f"{report.suite.without(kind)} of {tried}", "quiet"))


def _kind_cell(kind: str, own: OfKind) -> Cell:
    value = value_of(kind, own)
    unscored = f", {own.n_unscored} unscored" if own.n_unscored else ""
    fall = "" if math.isnan(own.fall) else f" ({short(own.fall)})"
    return Cell(f"{short(value)}{fall}{unscored}", _style(value))


def _order_cell(metric: Stressed, ladder: str) -> Cell:
    return _graded(metric.ladders[ladder].share)


def _graded(value: float) -> Cell:
    return Cell(short(value), _style(value))


def _style(value: float) -> str:
    if math.isnan(value):
        return "quiet"
    return "better" if value >= GOOD else "worse" if value < POOR else ""


def _named(name: str, metric: Stressed) -> str:
    is_path = metric.signature == name and name.startswith((".", "/"))
    shown = name.rstrip("/").rpartition("/")[2] if is_path else name
    return f"{shown}{READER_MARK if metric.rests_on_the_reader else ''} {metric.arrow}"


def _note(report: StressReport) -> str:
    parts = [BY_CONSTRUCTION] if any(metric.rests_on_the_reader for metric in report.metrics.values()) else []
    for name, metric in report.metrics.items():
        if not metric.unit > 0:
            parts.append(f"{name} {_fault(metric)} ({NOTHING} for loss).")
    return " ".join(parts)


def _fault(metric: Stressed) -> str:
    """Why there is no unit in which losses could be measured."""
    if math.isnan(metric.means[INTACT]):
        return "returns no number (NaN) for the reports themselves"
    if math.isnan(metric.unit):
        return "has no score of another patient's report"
    return "does not score another patient's report below the report itself"
