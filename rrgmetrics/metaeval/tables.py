"""Agreement with radiologists as tables for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from rich import box
from rich.markup import escape
from rich.table import Table

from rrgmetrics.metaeval.datasets import Target
from rrgmetrics.metaeval.model import HEADLINE_TARGETS, VIEWS, Agreement, Preference, View
from rrgmetrics.results import Result
from rrgmetrics.specs import BUNDLED_MARK
from rrgmetrics.stats import Estimate

if TYPE_CHECKING:
    from rrgmetrics.metaeval.agreement import RadJudgeReport, RadPrefReport

TITLES: dict[Target, str] = {
    "total_errors": "total errors",
    "significant_errors": "significant",
    "rating": "rating",
    "false_finding": "A false",
    "missing_finding": "B missing",
    "attribute": "C + D attribute",
    "weighted_errors": "weighted errors",
}
# Where a metric counts errors itself, beside its headline.
COUNT_TITLES = TITLES | {"total_errors": "A to D", "significant_errors": "own significant"}
CEILING = {"others": "a radiologist", "each other": "two radiologists"}
CEILING_CAPTION = (
    "Least to most over raters. A radiologist: one against the mean of the others; two: one against another; "
    "errors to rating: their mean counts against their mean rating."
)


def radpref_tables(report: RadPrefReport) -> Iterator[Table]:
    """Yields a summary and the details of each view; each ends with what radiologists reach."""
    yield _summary(report)
    for view in VIEWS:
        yield _details(report, view)


def radjudge_tables(report: RadJudgeReport) -> Iterator[Table]:
    """Yields the cases passed by category, and the cases not passed with their scores."""
    yield _passed(report)
    if not all(row.passed for row in report.judged):
        yield _failed(report)


# --- RadPref


def _summary(report: RadPrefReport) -> Table:
    n_pairs, n_cases = len(report.data.rated), len(set(report.data.cases))
    clear = report.preferences[0].n_clear if report.preferences else 0
    table = _table(
        f"RadPref, {n_pairs} pairs of {n_cases} cases: tau-b with radiologists",
        "metric",
        *(TITLES[target] for target in HEADLINE_TARGETS),
        "preferences",
        "pairs",
        caption=f"Preferences: share reproduced of the {clear} cases whose candidates' mean ratings differ; "
        "equal scores count half.",
    )
    for preference in report.preferences:
        lines = [line for line in _of(report, preference.subject, "pairs") if _is_headline(line, report)]
        cells = [_number(line.tau_b.value) for line in lines]
        table.add_row(_heading(preference.subject, report), *cells, _share(preference), str(lines[0].n))
    if report.ceiling_preferences:
        lines = [line for line in report.ceiling if line.key == "others" and line.view == "pairs"]
        spans = [_span(line.tau_b.value for line in lines if line.target == target) for target in HEADLINE_TARGETS]
        shares = _span(preference.share.value for preference in report.ceiling_preferences)
        table.add_section()
        table.add_row("a radiologist", *spans, shares, str(n_pairs), style="dim")
    return table


def _details(report: RadPrefReport, view: View) -> Table:
    over = "Pairs" if view == "pairs" else "Differences C1 − C2 within cases"
    maes = ["MAE"] if view == "pairs" else []
    table = _table(
        f"{over}, {100 * report.level:g}% intervals over cases",
        "metric against",
        *("tau-b", "rho", "r"),
        *maes,
        "pairs" if view == "pairs" else "cases",
        caption=CEILING_CAPTION if view == VIEWS[-1] else None,
    )
    for subject in report.results:
        table.add_section()
        table.add_row(f"[bold]{_heading(subject, report)}[/bold]")
        for line in _of(report, subject, view):
            titles = TITLES if _is_headline(line, report) else COUNT_TITLES
            estimates = (_estimate(value) for value in (line.tau_b, line.rho, line.r))
            table.add_row(f"  {titles[line.target]}", *estimates, *[_number(line.mae) for _ in maes], str(line.n))
    ceiling = [line for line in report.ceiling if line.view == view]
    for key, heading in CEILING.items():
        _add_spans(table, heading, [(line.target, line) for line in ceiling if line.key == key], bool(maes))
    own = [(target, line) for target in HEADLINE_TARGETS for line in ceiling if line.key == target]
    _add_spans(table, "errors to rating", own, bool(maes))
    return table


def _add_spans(table: Table, heading: str, lines: Sequence[tuple[Target, Agreement]], has_mae: bool) -> None:
    """A section of what radiologists reach: a row a target, each cell from the least to the most over raters."""
    if lines:
        table.add_section()
        table.add_row(f"[bold]{heading}[/bold]", style="dim")
    for target in dict.fromkeys(target for target, _ in lines):
        of_target = [line for name, line in lines if name == target]
        spans = [_span(getattr(line, name).value for line in of_target) for name in ("tau_b", "rho", "r")]
        maes = [_span(line.mae for line in of_target)] if has_mae else []
        table.add_row(f"  {TITLES[target]}", *spans, *maes, str(of_target[0].n), style="dim")


def _of(report: RadPrefReport, subject: str, view: View) -> list[Agreement]:
    return [line for line in report.agreements if line.subject == subject and line.view == view]


def _is_headline(line: Agreement, report: RadPrefReport) -> bool:
    return line.key == report.results[line.subject].spec.name


def _heading(subject: str, report: RadPrefReport) -> str:
    return _named(subject, report.results[subject])


# --- RadJudge


def _passed(report: RadJudgeReport) -> Table:
    n_pairs = next(iter(report.results.values())).n_pairs
    n_cases = report.passed(next(iter(report.results)))[1]
    table = _table(
        f"RadJudge: cases passed of {n_cases} ({n_pairs} pairs)",
        "category",
        *(_named(name, result) for name, result in report.results.items()),
    )
    for category in report.categories:
        table.add_row(escape(category), *(_fraction(*report.passed(name, category)) for name in report.results))
    table.add_section()
    table.add_row("all", *(_fraction(*report.passed(name)) for name in report.results), style="bold")
    table.add_row("pairs scored", *(str(result.n_pairs - result.n_unscored) for result in report.results.values()))
    return table


def _failed(report: RadJudgeReport) -> Table:
    table = _table("Cases not passed", "metric", "case", "category", "expected", "scores", justify="left")
    for name in report.results:
        table.add_section()
        failed = [row for row in report.judged if row.subject == name and not row.passed]
        for number, row in enumerate(failed):
            scores = "  ".join(f"{candidate} {_score(value)}" for candidate, value in row.scores.items())
            shown = "" if number else _subject(name, report.results[name])
            table.add_row(shown, escape(row.case), escape(row.category), escape(", ".join(row.expected)), scores)
    return table


# --- cells


def _named(subject: str, result: Result) -> str:
    """Writes a metric's name with its direction: `rouge ↑`, `green (bundled) ↑` where a stand-in scored."""
    return f"{_subject(subject, result)} {result.spec.headline.arrow}"


def _subject(subject: str, result: Result) -> str:
    """The name as asked for, with the mark of a stand-in."""
    return f"{escape(subject)} {BUNDLED_MARK}" if result.bundled else escape(subject)


def _estimate(value: Estimate) -> str:
    """Writes an estimate: `0.34 [.24, .45]`."""
    if math.isnan(value.value):
        return "–"
    return f"{value.value:.2f} \\[{_bound(value.low)}, {_bound(value.high)}]"


def _bound(value: float) -> str:
    """Writes the end of an interval: `.24`, `-.05`, `1`."""
    shown = f"{value:.2f}"
    return shown.removesuffix(".00") if abs(value) > 0.995 else shown.replace("0.", ".", 1)


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f}"


def _score(value: float) -> str:
    return "unscored" if math.isnan(value) else f"{value:.4g}"


def _share(preference: Preference) -> str:
    share = preference.share
    if math.isnan(share.value):
        return "–"
    missing = "" if share.n == preference.n_clear else f" of {share.n}"
    return f"{share.value:.0%} \\[{share.low:.0%}, {share.high:.0%}]{missing}"


def _span(values: Iterable[float]) -> str:
    """Writes a span from least to most: `.87–.92`."""
    ordered = sorted(value for value in values if not math.isnan(value))
    if not ordered:
        return ""
    low, high = _bound(ordered[0]), _bound(ordered[-1])
    return low if low == high else f"{low}–{high}"


def _fraction(passed: int, n_cases: int) -> str:
    style = "green" if passed == n_cases else "red" if passed == 0 else "yellow"
    return f"[{style}]{passed}/{n_cases}[/{style}]"


def _table(
    title: str, first: str, *headers: str, caption: str | None = None, justify: Literal["left", "right"] = "right"
) -> Table:
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        caption=caption,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=0,  # the box sets a space between columns; 80 characters must do
        show_edge=False,
    )
    table.add_column(first, overflow="fold")
    for header in headers:
        table.add_column(header, justify=justify, no_wrap=justify == "right")
    return table
