"""Tables of cases whose candidates radiologists would order."""

from __future__ import annotations

from rrgmetrics.metaeval.ranked import RankedReport
from rrgmetrics.reporting.numbers import show
from rrgmetrics.reporting.short import fraction, named, subject_of
from rrgmetrics.reporting.tables import Cells, Group, Table


def passed_table(report: RankedReport) -> Table:
    """The cases that each metric orders as radiologists do, by category."""
    lines: list[Cells] = [
        (
            named(name, result),
            fraction(*report.passed(name)),
            *(fraction(*report.passed(name, category)) for category in report.categories),
        )
        for name, result in report.results.items()
    ]
    first = next(iter(report.results.values()))
    names = "; ".join(f"{number} {category}" for number, category in enumerate(report.categories, 1))
    unscored = ", ".join(f"{name} {each.n_unscored}" for name, each in report.results.items() if each.n_unscored)
    return Table(
        ("metric", "all", *map(str, range(1, len(report.categories) + 1))),
        (Group(tuple(lines)),),
        title=f"{report.name}: cases passed of {len(report.judged) // len(report.results)} ({first.n_pairs} pairs)",
        note=f"{names}.{f' Unscored pairs: {unscored}.' if unscored else ''}",
    )


def failed_table(report: RankedReport) -> Table:
    """The cases that a metric does not order so, with its scores."""
    groups = []
    for name, result in report.results.items():
        headline = report.results[name].spec.headline
        failed = [row for row in report.judged if row.subject == name and not row.passed]
        lines = tuple(
            (
                subject_of(name, result) if number == 0 else "",
                row.case,
                row.category,
                ", ".join(row.expected),
                "  ".join(f"{candidate} {show(value, headline)}" for candidate, value in row.scores.items()),
            )
            for number, row in enumerate(failed)
        )
        groups += [Group(lines)] if lines else []
    heads = ("metric", "case", "category", "expected", "scores")
    return Table(heads, tuple(groups), title=f"{report.name}: cases not passed", broken=frozenset(range(5)))
