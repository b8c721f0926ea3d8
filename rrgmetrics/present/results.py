"""Tables of what was scored, compared and fitted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rrgmetrics.comparison import Row
from rrgmetrics.names import parse_name, shown
from rrgmetrics.present.numbers import bounds, direction, estimate, figure, headed, p_value, show, signed, signed_figure
from rrgmetrics.present.tables import Cell, Cells, Group, Table
from rrgmetrics.results import Result
from rrgmetrics.specs import SPECS, Key
from rrgmetrics.specs.conventions import Convention
from rrgmetrics.stats import Comparison
from rrgmetrics.streaming import Totals

if TYPE_CHECKING:
    from rrgmetrics.metaeval.composite import Composite


def score_table(rows: Sequence[Row], *, n_pairs: int) -> Table:
    """One system's scores: a line a key.

    Args:
        rows: Of one system.
        n_pairs: Pairs in all.
    """
    lines: list[Cells] = []
    previous = ""
    for row in rows:
        name = shown(row.metric) if row.metric != previous else ""
        lines.append((name, headed(row.key), estimate(row.score, row.key), *_unscored_cell(row, rows)))
        previous = row.metric
    heads = ("metric", "score", "value [95% interval]", *_unscored_head(rows))
    return Table(heads, (Group(tuple(lines)),), title=f"{n_pairs:,} pairs")


def totals_table(totals: Mapping[str, Totals]) -> Table:
    """The scores of pairs that went through as they came: a line a key, without intervals.

    Args:
        totals: By metric.
    """
    lines: list[Cells] = []
    for name, each in totals.items():
        titled, scores = parse_name(name).titled, each.scores
        for index, key in enumerate(titled.keys):
            number = Cell(show(scores[key.name], key), "number")
            lines.append((name if not index else "", headed(key), number, str(each.n_unscored)))
    n_pairs = next(iter(totals.values())).n_pairs
    return Table(("metric", "score", "value", "unscored"), (Group(tuple(lines)),), title=f"{n_pairs:,} pairs")


def comparison_table(rows: Sequence[Row], *, n_pairs: int, correction: str) -> Table:
    """Several systems' scores: for each key a line a system, with the difference from the first system.

    Args:
        rows: By metric, key and system, as `compare_systems` returns them.
        n_pairs: Studies in all.
        correction: Of the p-values.
    """
    groups = []
    for (metric, _), own in groupby(rows, lambda row: (row.metric, row.key.name)):
        of_key = list(own)
        first = of_key[0]
        head = (Cell(f"{first.title} {first.key.arrow}", "strong"), "" if metric in SPECS else shown(metric))
        lines = [
            (
                f"  {row.system}",
                estimate(row.score, row.key),
                *(_test_cells(row.test, row) if row.test else ("", "", "")),
                *_unscored_cell(row, rows),
            )
            for row in of_key
        ]
        groups.append(Group(tuple(lines), head))
    return Table(
        ("", "value [95% interval]", "difference", "p", "effect", *_unscored_head(rows)),
        tuple(groups),
        title=f"{n_pairs:,} studies; differences from {rows[0].system}; p corrected: {correction}",
    )


def convention_table(convention: Convention, results: Mapping[str, Mapping[str, Result]]) -> Table:
    """The numbers that a paper prints, by its own words, for each system.

    Args:
        convention: The paper's.
        results: For each system its Results by metric.
    """
    lines: list[Cells] = []
    for words, number in convention.numbers.items():
        key = next(key for key in parse_name(number.metric).spec.keys if key.name == number.key)
        values = [show(by_metric[number.metric].scores[number.key], key) for by_metric in results.values()]
        lines.append((words, *values, Cell(number.key, "quiet")))
    heads = ("", *(results if len(results) > 1 else ("value",)), "key")
    return Table(heads, (Group(tuple(lines)),), title=f"As {convention.title} prints it", note=convention.words)


def key_table(keys: Iterable[Key], scores: Mapping[str, float]) -> Table:
    """Every key with its value, range and direction."""
    lines = tuple(
        (
            key.title,
            Cell(show(scores[key.name], key), "number"),
            bounds(key),
            direction(key),
            Cell(key.name, "code"),
        )
        for key in keys
    )
    return Table(("Score", "Value", "Range", "Direction", "Key"), (Group(lines),), title="All scores")


def composite_table(composite: Composite) -> Table:
    """A refitted RadCliQ: its weights, and how far it agrees with raters of cases it has not seen."""
    title = f"{composite.n_pairs:,} pairs of {composite.n_cases:,} cases"
    if composite.n_left_out:
        title += f"; {composite.n_left_out:,} pairs unscored"
    weights = [(f"{name}, errors a standard deviation", estimate(weight)) for name, weight in composite.weights.items()]
    agreement = (
        ("tau-b with raters, each case left out", estimate(composite.held_out.tau_b)),
        ("mean absolute error, each case left out", figure(composite.mae)),
    )
    intercept = ("errors at the mean of all", estimate(composite.intercept))
    return Table(("", "value [95% interval]"), (Group((*weights, intercept)), Group(agreement)), title=title)


def judge_lines(results: Iterable[Result], record: str) -> str:
    """How many pairs each judge has scored, the first that it has not, and where its replies are."""
    lines = []
    for result in results:
        name, headline = result.spec.name, result.titled.headline
        scored = f"{result.n_pairs - result.n_unscored:,} of {result.n_pairs:,} pairs scored"
        lines.append(f"{name}: {scored}, {headed(headline)} {show(result.scores[name], headline)}")
        lines += [f"  unscored: {reason} ({count:,})" for reason, count in result.unscored_counts.items()]
        lines.append(f"  score again without asking: {name}@replies:{record}")
    return "\n".join(lines)


def _test_cells(test: Comparison, row: Row) -> Cells:
    style = {True: "better", False: "worse", None: "quiet"}[row.is_better if row.p_corrected < 0.05 else None]
    change = test.difference
    value, low, high = (signed(end, row.key) for end in change[:3])
    effect = "" if math.isnan(test.effect_size) else signed_figure(test.effect_size, 2)
    return Cell(f"{value} [{low}, {high}]", style), p_value(row.p_corrected), effect


def _unscored_head(rows: Sequence[Row]) -> list[str]:
    return ["unscored"] if any(row.n_unscored for row in rows) else []


def _unscored_cell(row: Row, rows: Sequence[Row]) -> list[str]:
    return [str(row.n_unscored)] if _unscored_head(rows) else []
