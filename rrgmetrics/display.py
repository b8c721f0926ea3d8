"""Tables for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from rrgmetrics.comparison import Row
from rrgmetrics.reader import Comparison as Explanation
from rrgmetrics.results import Result
from rrgmetrics.specs import SPECS, Key
from rrgmetrics.stats import Comparison, Estimate

if TYPE_CHECKING:
    from rrgmetrics.metaeval.composite import Composite

CATEGORY_STYLES = {"A": "red", "B": "yellow", "C": "magenta", "D": "cyan", "E": "blue", "F": "green"}


def score_table(rows: Sequence[Row], *, n_pairs: int) -> Table:
    """One system's scores: a line a key.

    Args:
        rows: Of one system.
        n_pairs: Pairs in all.
    """
    table = _table(f"{n_pairs:,} pairs", "metric", "score", "value [95% interval]", *_unscored_header(rows))
    previous = ""
    for row in rows:
        name = row.metric if row.metric != previous else ""
        table.add_row(name, direction(row.key), estimate(row.score), *_unscored_cell(row, rows))
        previous = row.metric
    return table


def comparison_table(rows: Sequence[Row], *, n_pairs: int, correction: str) -> Table:
    """Several systems' scores: for each key a line a system, with the difference from the first system.

    Args:
        rows: By metric, key and system, as `compare_systems` returns them.
        n_pairs: Studies in all.
        correction: Of the p-values.
    """
    baseline, last = rows[0].system, rows[-1].system
    title = f"{n_pairs:,} studies; differences from {baseline}; p corrected: {correction}"
    table = _table(title, "", "value [95% interval]", "difference", "p", "effect", *_unscored_header(rows))
    for row in rows:
        if row.system == baseline:
            table.add_row(f"[bold]{row.title} {row.key.arrow}[/bold]", "" if row.metric in SPECS else row.metric)
        cells = _test_cells(row.test, row) if row.test else ("", "", "")
        table.add_row(f"  {row.system}", estimate(row.score), *cells, *_unscored_cell(row, rows))
        if row.system == last:
            table.add_section()
    return table


def composite_table(found: Composite) -> Table:
    """A refitted RadCliQ: its weights, and how far it agrees with raters of cases it has not seen."""
    title = f"{found.n_pairs:,} pairs of {found.n_cases:,} cases"
    if found.n_left_out:
        title += f"; {found.n_left_out:,} pairs unscored"
    table = _table(title, "", "value [95% interval]")
    for name, weight in found.weights.items():
        table.add_row(f"{name}, errors a standard deviation", estimate(weight))
    table.add_row("errors at the mean of all", estimate(found.intercept))
    table.add_section()
    table.add_row("tau-b with raters, each case left out", estimate(found.held_out.tau_b))
    table.add_row("mean absolute error, each case left out", f"{found.mae:.3f}")
    return table


def explanation(reference: str, candidate: str, found: Explanation) -> Group:
    """Two reports with the evidence of their differences in colour, and each difference in words.

    Args:
        reference: The radiologist's report.
        candidate: The machine's report.
        found: What `rrgmetrics.explain` says of them.
    """
    texts = (Text(reference or "(empty)"), Text(candidate or "(empty)"))
    lines = []
    for error in found.errors:
        style = CATEGORY_STYLES[error.category.letter]
        for text, spans in zip(texts, (error.reference_spans, error.candidate_spans), strict=True):
            for span in spans:
                text.stylize(style, span.start, span.end)
        mark = "significant" if error.significant else ""
        lines.append(Text.assemble((f"{error.category.letter} ", style), error.sentence, (f"  {mark}", "bold")))
    total = f"{found.total} errors, {found.significant} significant" if lines else "No errors."
    if found.out_of_scope:
        total = f"Unscored: the reference {found.out_of_scope}; this reader knows chest X-ray reports in English."
    headings = (Text("Reference", style="bold"), Text("Candidate", style="bold"), Text(total, style="bold"))
    return Group(headings[0], texts[0], "", headings[1], texts[1], "", headings[2], *lines)


def verdict(name: str, result: Result) -> Group:
    """What a judge says of one pair: its score, and the verdict or why there is none.

    Args:
        name: The judge, as it was asked for.
        result: Of one pair, scored with `explain`.
    """
    import yaml

    said = next(values[0] for key, values in result.details.items() if key.endswith("_explained"))
    value = result.scores[result.spec.name]
    score = "unscored" if math.isnan(value) else f"{value:.3f}"
    heading = Text(f"{name}  {direction(result.titled.headline)}  {score}", style="bold")
    return Group("", heading, Text(yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=100).rstrip()))


def judge_lines(results: Iterable[Result], record: str) -> str:
    """How many pairs each judge has scored, the first that it has not, and where its replies are."""
    lines = []
    for result in results:
        name = result.spec.name
        scored = result.n_pairs - result.n_unscored
        lines.append(
            f"{name}: {scored:,} of {result.n_pairs:,} pairs scored, {direction(result.titled.headline)} "
            + ("unscored" if math.isnan(result.scores[name]) else f"{result.scores[name]:.3f}")
        )
        lines += [f"  unscored: {reason} ({count:,})" for reason, count in result.unscored_counts.items()]
        lines.append(f"  score again without asking: {name}@replies:{record}")
    return "\n".join(lines)


def direction(key: Key) -> str:
    """`BLEU-4 ↑`: which way is better."""
    return f"{key.title} {key.arrow}"


def estimate(value: Estimate) -> str:
    """`0.288 [0.127, 0.461]`, or that nothing was scored."""
    if math.isnan(value.value):
        return "unscored"
    return f"{value.value:.3f} [{value.low:.3f}, {value.high:.3f}]"


def number(value: float) -> str:
    """A bound of a range."""
    return ("-∞" if value < 0 else "∞") if math.isinf(value) else f"{value:g}"


def p_value(value: float) -> str:
    """`0.012`, `<0.001`, or nothing where there is no test."""
    if math.isnan(value):
        return ""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _test_cells(test: Comparison, row: Row) -> tuple[str, str, str]:
    style = {True: "green", False: "red", None: "dim"}[row.is_better if row.p_corrected < 0.05 else None]
    change = test.difference
    cell = f"[{style}]{change.value:+.3f} \\[{change.low:+.3f}, {change.high:+.3f}][/{style}]"
    return cell, p_value(row.p_corrected), "" if math.isnan(test.effect_size) else f"{test.effect_size:+.2f}"


def _unscored_header(rows: Sequence[Row]) -> list[str]:
    return ["unscored"] if any(row.n_unscored for row in rows) else []


def _unscored_cell(row: Row, rows: Sequence[Row]) -> list[str]:
    return [str(row.n_unscored)] if _unscored_header(rows) else []


def _table(title: str, *headers: str) -> Table:
    table = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        show_edge=False,
    )
    for index, header in enumerate(headers):  # only the first column may take a second line
        table.add_column(header, no_wrap=index > 0, overflow="ellipsis" if index else "fold", min_width=len(header))
    return table
