"""Results, comparisons of systems and explanations in notebooks.

Each output contains its style sheet, within `.rrgmetrics`. A notebook's background may be light or dark, whatever the
system prefers: texts keep the notebook's own colour, and marks set their own background and text colours.
"""

from __future__ import annotations

from functools import cache, singledispatch
from pathlib import Path
from typing import Any

from markupsafe import Markup

from rrgmetrics import comparing, files
from rrgmetrics.reporting.html import remarks, reports
from rrgmetrics.reporting.kinds import KINDS
from rrgmetrics.reporting.marks import Explanation
from rrgmetrics.reporting.results import comparison_table, key_table
from rrgmetrics.reporting.worth import worth_tables
from rrgmetrics.scoring.results import Result
from rrgmetrics.systems.comparison import Comparison
from rrgmetrics.utils.text_format import capitalized, counted


@singledispatch
def html(value: Any) -> str:
    """The HTML of a Result, a Comparison, or what `rrgmetrics.explain` returns."""
    raise TypeError(f"{type(value).__name__} has no notebook view.")


@html.register
def _result(result: Result) -> str:
    lines = [counted(result.n_pairs, "pair")]
    lines += [
        f"{counted(count, 'study', 'studies')} not scored: {reason}" for reason, count in result.unscored_counts.items()
    ]
    table = key_table(result.titled.keys, result.scores)
    return _framed(_heading(result.title), table, *map(_line, lines), _line(result.signature, "code"))


@html.register
def _comparison(comparison: Comparison) -> str:
    dependent = files.dependent_lines(files.left_out(comparison.studies))
    table = comparison_table(
        comparison.rows, n_pairs=comparison.n_studies, correction=comparison.correction, notes=dependent
    )
    parts: list[Any] = [_heading(table.title), table]
    if comparison.worth is not None:
        for of_worth in worth_tables(comparison.worth, several=bool(dependent)):
            parts += [_heading(of_worth.title), of_worth]
        parts += map(_line, comparison.worth.remarks)
    return _framed(*parts)


@html.register
def _explanation(comparison: comparing.ReportComparison) -> str:
    shown = Explanation.of(comparison)
    texts = dict(zip(("Reference", "Candidate"), comparison.texts, strict=True))
    marks = {"Reference": shown.reference, "Candidate": shown.candidate}
    note = [_line(shown.note)] if shown.note else []
    return _framed(_heading(shown.summary), reports(texts, marks), remarks(shown.remarks), *note)


def _framed(*parts: Any) -> str:
    return Markup('<div class="rrgmetrics"><style>{}</style>{}</div>').format(_style(), Markup().join(parts))


def _heading(text: str) -> Markup:
    return Markup("<p><b>{}</b></p>").format(capitalized(text))


def _line(text: str, name: str = "note") -> Markup:
    return Markup('<p class="{}">{}</p>').format(name, text)


@cache
def _style() -> Markup:
    values = {name: (*kind.light, kind.underline) for name, kind in KINDS.items()}
    kinds = "".join(
        f".rrgmetrics .kind-{name} {{ --tint: {tint}; --line: {line}; --stroke: {stroke}; }}\n"
        for name, (tint, line, stroke) in values.items()
    )
    return Markup(kinds + (Path(__file__).parent / "templates" / "notebook.css").read_text(encoding="utf-8"))
