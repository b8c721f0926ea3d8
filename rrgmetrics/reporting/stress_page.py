"""The page of metrics under stress: a heat map row for each metric, remarks in words, and every number.

The page is one self-contained HTML file. Colours have five steps, and each tile shows its number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from markupsafe import Markup

from rrgmetrics.metaeval.stress.kinds import GROUPS, KINDS, LADDERS, kinds_of
from rrgmetrics.metaeval.stress.measure import Stressed, StressReport
from rrgmetrics.metaeval.stress.suite import Suite
from rrgmetrics.reporting import html
from rrgmetrics.reporting.short import short
from rrgmetrics.reporting.stress import BY_CONSTRUCTION, HOW, READER_MARK, about, remarks, summary_of, value_of
from rrgmetrics.version import VERSION

STEPS = (0.2, 0.4, 0.6, 0.8)  # between the five colours
ORDER = "Order: the graver change must score worse"
SUMMARY = {
    "seen": "errors detected",
    "apart": "harmless changes cost less than errors",
    "number": "more errors score worse",
    "grades": "graver errors score worse",
    "resisted": "tricks resisted",
}
OPEN = 2  # metrics whose numbers are unfolded at once
AROUND = 5  # words about a change in an example
LONGEST = 60  # words of an example


class Tile(NamedTuple):
    """One number: its kind, the value, the step of its colour, and what stands in small print."""

    title: str
    value: str
    step: str
    small: str


def stress_page(report: StressReport, *, title: str = "What a metric detects and what it misses") -> str:
    """Makes a self-contained HTML page of metrics under stress.

    Args:
        report: The metrics.
        title: Heading of the page.
    """
    metrics = list(report.metrics.items())
    return (
        html.environment("rrgmetrics.reporting")
        .get_template("stress.html.j2")
        .render(
            title=title,
            about=about(report),
            how=HOW,
            by_construction=BY_CONSTRUCTION if any(metric.rests_on_the_reader for _, metric in metrics) else "",
            metrics=[_metric(name, metric) for name, metric in metrics],
            unfolded=len(metrics) <= OPEN,
            examples=list(_examples(report.suite)),
            version=VERSION,
        )
    )


def _metric(name: str, metric: Stressed) -> dict[str, object]:
    return {
        "name": name,
        "title": f"{metric.title}{READER_MARK if metric.rests_on_the_reader else ''}",
        "arrow": metric.arrow,
        "signature": metric.signature,
        "remarks": remarks(metric),
        "summary": [_tile(SUMMARY[key], value) for key, value in summary_of(metric).items() if key in SUMMARY],
        "groups": list(_groups(metric)),
    }


def _groups(metric: Stressed) -> Iterator[tuple[str, list[Tile]]]:
    for group, title in GROUPS.items():
        if group == "trick":
            ladders = [(ladder.title, metric.ladders[name]) for name, ladder in LADDERS.items()]
            yield ORDER, [_tile(name, own.share, f"{own.n:,} steps") for name, own in ladders]
        yield title, [_kind(metric, kind) for kind in kinds_of(group)]


def _kind(metric: Stressed, kind: str) -> Tile:
    own = metric.kinds[kind]
    if not own.n:
        return _tile(KINDS[kind].title, math.nan, "unscored" if own.n_unscored else "no pair")
    unscored = f", {own.n_unscored} unscored" if own.n_unscored else ""
    fall = "" if math.isnan(own.fall) else f"loss {short(own.fall)}, "
    return _tile(KINDS[kind].title, value_of(kind, own), f"{fall}{own.n} pairs{unscored}")


def _tile(title: str, value: float, small: str = "") -> Tile:
    step = "none" if math.isnan(value) else str(sum(value >= limit for limit in STEPS))
    return Tile(title, short(value), step, small)


def _examples(suite: Suite) -> Iterator[tuple[str, str, Markup]]:
    """By kind its title, the reports without, and the shortest change of a text that is not too short."""
    for kind, row in KINDS.items():
        cases = [case for case in suite.cases if case.kind == kind]
        if cases and row.group != "scale":
            shortest = sorted(cases, key=lambda case: abs(len(suite.reports[case.report].split()) - LONGEST // 3))[0]
            base = suite.reports[shortest.report]
            if row.group == "trick":
                own = suite.honest.get(shortest.report)
                base = next((c.candidate for c in suite.cases if (c.report, c.kind) == (shortest.report, own)), base)
            yield row.title, f"{suite.without(kind)} of {suite.tried[kind]}", changed(base, shortest.candidate)


def changed(before: str, after: str) -> Markup:
    """A text with what has left it and what has come.

    Example:
        >>> print(changed("Small left effusion.", "Small right effusion."))
        Small <del>left</del> <ins>right</ins> effusion.
    """
    old, new = before.split(), after.split()
    shown: list[Markup] = []
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for number, (what, i, j, m, n) in enumerate(steps):
        if what == "equal":
            head, tail = AROUND if number else 0, AROUND if number < len(steps) - 1 else 0
            shown.append(Markup("{}").format(_shortened(old[i:j], head, tail)))
            continue
        shown += [Markup("<del>{}</del>").format(_cut(old[i:j]))] if i < j else []
        shown += [Markup("<ins>{}</ins>").format(_cut(new[m:n]))] if m < n else []
    return Markup(" ").join(shown)


def _shortened(words: list[str], head: int, tail: int) -> str:
    if len(words) <= head + tail + 1:
        return " ".join(words)
    return " ".join([*words[:head], "…", *words[len(words) - tail :]])


def _cut(words: list[str]) -> str:
    return " ".join(words if len(words) <= LONGEST else [*words[:LONGEST], "…"])
