"""Tables of pairs with equal content."""

from __future__ import annotations

from collections.abc import Sequence

from rrgmetrics.metaeval.equal import EqualReport
from rrgmetrics.reporting.numbers import show
from rrgmetrics.reporting.short import named, short, short_estimate
from rrgmetrics.reporting.tables import Cell, Cells, Group, Table

HOW = (
    "Kept: share of pairs that score no worse than the report against itself (1 is best). Loss: mean decrease, in "
    "units of the decrease for another study's report. Then the mean scores."
)


def equal_table(reports: Sequence[EqualReport]) -> Table:
    """What each metric makes of pairs that say the same, a group a data set."""
    groups = []
    for report in reports:
        lines: list[Cells] = []
        for each in report.kept:
            result = report.results[each.subject]
            headline = result.spec.headline
            means = (show(value, headline) for value in (each.reworded, each.itself, each.another))
            unscored = f" ({each.n_unscored} unscored)" if each.n_unscored else ""
            counted = f"{each.n}{unscored}"
            name = f"  {named(each.subject, result)}"
            lines.append((name, short_estimate(each.share), short(each.loss), *means, counted))
        n_studies = len(set(report.data.studies))
        heading = f"{report.name}, {len(report.data.reworded)} pairs of {n_studies} studies"
        groups.append(Group(tuple(lines), (Cell(heading, "strong"),)))
    notes = " ".join(f"{report.name}: {note}." for report in reports for note in report.data.notes)
    return Table(
        ("metric", "kept", "loss", "reworded", "itself", "another", "pairs"),
        tuple(groups),
        title="Pairs of equal content",
        note=f"{HOW} {notes}".rstrip(),
    )
