"""Scores and marked reports as HTML; every text from outside is escaped by Markup's own formatting."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import jinja2
from markupsafe import Markup

from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.reporting.drawing import share
from rrgmetrics.reporting.kinds import KINDS, MATCHED, UNLETTERED
from rrgmetrics.reporting.marks import Mark, Piece, Remark, pieces
from rrgmetrics.reporting.numbers import bound, direction, figure, in_words, show
from rrgmetrics.reporting.theme import TEMPLATES
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs import Key

NOTHING = Markup()
HOUSE = {  # what every template knows
    "direction": direction,
    "show": show,
    "figure": figure,
    "share": share,
    "isnan": math.isnan,
    "KINDS": KINDS,
}


def environment(package: str, **names: Any) -> jinja2.Environment:
    """Templates of a package's folder `templates`, then of the house's: all is escaped, and nothing may be missing.

    Args:
        package: Whose.
        **names: What its templates know besides the house's own functions and their values.
    """
    loaded = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package, "templates"), jinja2.FileSystemLoader(TEMPLATES)]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    loaded.globals.update(HOUSE, **names)
    return loaded


# --- texts ------------------------------------------------------------------------------------------------------------


def marked(text: str, marks: Sequence[Mark]) -> Markup:
    """A report with its phrases marked.

    Args:
        text: The report.
        marks: Phrases of it; where several meet, the first gives the colour, and each gives its letter.

    Returns:
        HTML, a paragraph; line breaks are kept.

    Example:
        >>> from rrgmetrics.reading.model import Span
        >>> print(marked("Left <effusion>.", [Mark((Span(0, 4),), "incorrect_location")]).split("<span")[0])
        <p class="report"><mark class="kind-incorrect_location">Left</mark>
    """
    if not text.strip():
        return Markup('<p class="report empty">(empty report)</p>')
    errors_first = sorted(marks, key=lambda mark: mark.kind == MATCHED)
    return Markup('<p class="report">{}</p>').format(NOTHING.join(map(_piece, pieces(text, errors_first))))


def _piece(piece: Piece[Mark]) -> Markup:
    """A stretch of text, and the letters of the marks that end with it."""
    if not piece.over:
        return Markup("{}").format(piece.text)
    letters = dict.fromkeys(mark for mark in piece.ending if mark.kind not in UNLETTERED)
    shown = Markup('<mark class="kind-{}">{}</mark>').format(piece.over[0].kind, piece.text)
    return shown + NOTHING.join(map(_tag, letters))


def _tag(mark: Mark) -> Markup:
    kind = KINDS[mark.kind]
    amount = "" if mark.amount is None else f" {figure(mark.amount, 2)}"
    after = amount + (f" {mark.whose}" if mark.whose else "")
    return Markup(
        '<span class="tag kind-{}"><span aria-hidden="true">{}{}</span><span class="unseen"> ({}{}) </span></span>'
    ).format(mark.kind, kind.letter, after, kind.title, after)


def legend(kinds: Collection[str]) -> Markup:
    """What the colours, lines and letters mean; only of the kinds that occur, in the order of `KINDS`."""
    items = [
        Markup('<li><mark class="kind-{}"><b>{}</b> {}</mark></li>').format(name, kind.letter, kind.title)
        for name, kind in KINDS.items()
        if name in kinds
    ]
    return Markup('<ul class="legend" aria-label="Marks">{}</ul>').format(NOTHING.join(items)) if items else NOTHING


def reports(texts: Mapping[str, str], marks: Mapping[str, Sequence[Mark]]) -> Markup:
    """Reports side by side, by heading, with a legend of the marks in them."""
    columns = [
        Markup("<div><h3>{}</h3>{}</div>").format(heading, marked(text, marks.get(heading, ())))
        for heading, text in texts.items()
    ]
    kinds = {mark.kind for of_text in marks.values() for mark in of_text}
    return Markup('<div class="reports">{}</div>{}').format(NOTHING.join(columns), legend(kinds))


def remarks(listed: Sequence[Remark]) -> Markup:
    """Errors in words, one a line, with their letter and whether they matter."""
    lines = []
    for remark in listed:
        much = " much" if remark.significant else ""
        note = Markup(' <span class="matters{}">{}</span>').format(much, remark.weight) if remark.weight else ""
        before, differs, after = remark.parts
        words = Markup("{}<b>{}</b>{}").format(before, differs, after) if differs else before
        lines.append(Markup("<li>{}<span>{}{}</span></li>").format(_letter(remark.kind), words, note))
    return Markup('<ul class="remarks">{}</ul>').format(NOTHING.join(lines)) if lines else NOTHING


def _letter(kind: str) -> Markup:
    if kind not in KINDS:
        return Markup('<span class="tag" aria-hidden="true">–</span>')
    return Markup(
        '<span class="tag kind-{}"><span aria-hidden="true">{}</span><span class="unseen">{}: </span></span>'
    ).format(kind, KINDS[kind].letter, KINDS[kind].title)


# --- numbers ----------------------------------------------------------------------------------------------------------


def headline(key: Key, value: float) -> Markup:
    """A score in large figures, its place on the scale where that has two ends, direction and range in words."""
    return Markup(
        '<div class="headline"><p class="score"><b>{}</b> <span>{}</span></p>{}<p class="words">{}</p></div>'
    ).format(show(value, key), key.title, _meter(key, value), in_words(key))


def _meter(key: Key, value: float) -> Markup:
    low, high = key.range
    if not all(map(math.isfinite, (low, high, value))):
        return NOTHING
    share = 100 * (value - low) / (high - low)
    left, right = {high: ("worst", "best"), low: ("best", "worst")}.get(key.best, ("", ""))
    return Markup(
        '<div class="meter" aria-hidden="true"><div class="track"><i style="width:{:.1f}%"></i></div>'
        "<div><span>{} {}</span><span>{} {}</span></div></div>"
    ).format(min(100.0, max(0.0, share)), bound(low), left, right, bound(high))


def category_counts(result: Result, scores: Mapping[str, float] | None = None) -> dict[str, float]:
    """Category (as in `ErrorCategory`) → its count; empty for a metric that counts none."""
    values = scores if scores is not None else result.scores
    named = {category.value: f"{result.spec.name}_{category.value}" for category in ErrorCategory}
    return {category: values[key] for category, key in named.items() if key in values}


def category_bars(counts: Mapping[str, float]) -> Markup:
    """A bar for each error category; the number stands beside it."""
    if not counts:
        return NOTHING
    known = [count for count in counts.values() if math.isfinite(count)]
    longest, whole = max([1.0, *known]), all(map(float.is_integer, known))
    lines = []
    for name, count in counts.items():
        width = 100 * count / longest if math.isfinite(count) else 0.0
        lines.append(
            Markup(
                '<li class="kind-{}"><span class="tag" aria-hidden="true">{}</span><span class="name">{}</span>'
                '<b>{}</b><span class="track" aria-hidden="true"><i style="width:{:.1f}%"></i></span></li>'
            ).format(name, KINDS[name].letter, KINDS[name].title.capitalize(), figure(count, 0 if whole else 2), width)
        )
    return Markup('<ul class="bars" aria-label="Errors by category">{}</ul>').format(NOTHING.join(lines))


def part(*pieces: Markup) -> Markup:
    """Wraps pieces of a page so that the style sheet applies to them."""
    return Markup('<div class="rrg">{}</div>').format(NOTHING.join(pieces))


def alert(message: str) -> Markup:
    """What is wrong and what to do, announced to screen readers."""
    return Markup('<p class="alert" role="alert">{}</p>').format(message)
