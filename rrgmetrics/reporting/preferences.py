"""Tables of preferences: how often a metric scores the preferred candidate higher."""

from __future__ import annotations

from collections.abc import Iterator

from rrgmetrics.metaeval.direct_preference import DirectPreference
from rrgmetrics.metaeval.preferences import ALL, Accuracy, PreferenceReport, Preferred
from rrgmetrics.reporting.short import NOTHING, named, short_estimate
from rrgmetrics.reporting.tables import Cell, Cells, Group, Table
from rrgmetrics.utils.text_format import counted

HOW = (
    "Share of the preferred candidates with the better score. Strict: an equal score is wrong, as in GREEN's paper; "
    "half: it counts half. Pairs on which raters differ are left out."
)


def preference_tables(report: PreferenceReport) -> Iterator[Table]:
    """Yields the accuracy on all pairs, then by the raters' confidence and against each rater."""
    yield _table(report, [ALL], f"{report.name}: {_pairs(report)}")
    strata = list(dict.fromkeys(each.stratum for each in report.accuracies if each.stratum.startswith("confidence")))
    if strata:
        yield _table(report, strata, f"{report.name}: by the raters' confidence")
    if report.raters:
        yield _table(report, [f"rater {rater}" for rater in report.data.raters], f"{report.name}: each rater alone")


def direct_table(data: Preferred, found: DirectPreference) -> Table:
    """A model's choices against the raters', and how they change with the order."""
    lines = tuple(_line(each.stratum, each) for each in found.accuracies)
    shares = (found.answers.differing, found.answers.first_shown)
    differing, first = (NOTHING if share != share else f"{100 * share:.0f}%" for share in shares)
    note = (
        f"If the candidates are swapped, {differing} of its choices change; {first} of its answers prefer the "
        "report shown first. A choice that changes counts as wrong (strict) or as one half (half)."
    )
    title = f"{found.engine} chooses between {counted(len(data.first), 'pair')} of candidates"
    return Table(("", "strict", "half", "pairs", "neither", "unread"), (Group(lines),), title=title, note=note)


def _pairs(report: PreferenceReport) -> str:
    differ, neither = report.data.left_out()
    text = f"{counted(len(report.data.first), 'pair')} of {counted(len(set(report.data.studies)), 'study', 'studies')}"
    left_out = [f"{n} {why}" for n, why in ((differ, "with differing choices"), (neither, "with no preference")) if n]
    return f"{text}{'; left out: ' + ', '.join(left_out) if left_out else ''}"


def _table(report: PreferenceReport, strata: list[str], title: str) -> Table:
    groups = []
    for stratum in strata:
        lines = [_line(named(each, result), report.of(each)[stratum]) for each, result in report.results.items()]
        lines += [_line(each.subject, each) for each in report.raters if each.stratum == stratum]
        heading = () if stratum == ALL else (Cell(stratum, "strong"),)
        groups.append(Group(tuple(lines), heading))
    notes = " ".join(f"{note}." for note in report.data.notes)
    note = f"{HOW} {notes}".rstrip() if strata == [ALL] else ""
    return Table(("", "strict", "half", "pairs", "equal", "unscored"), tuple(groups), title=title, note=note)


def _line(name: str, each: Accuracy) -> Cells:
    counts = (str(each.n), str(each.n_ties), str(each.n_unscored))
    return (f"  {name}", short_estimate(each.strict), short_estimate(each.half), *counts)
