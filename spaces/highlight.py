"""Scores and explained reports as HTML; every text that comes from outside is escaped by Markup's own formatting."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from rrgmetrics.display import number
from rrgmetrics.pages import show
from rrgmetrics.reader import ErrorCategory
from rrgmetrics.results import Result
from rrgmetrics.spaces.theme import KINDS, MATCHED, UNLETTERED
from rrgmetrics.specs import Key

NOTHING = Markup()


class Mark(NamedTuple):
    """A phrase to mark: where it stands (one or several stretches of the text), its kind, and its share of a count."""

    spans: tuple[tuple[int, int], ...]
    kind: str
    amount: float | None = None


class Remark(NamedTuple):
    """One error (or other remark) in words; `kind` a key of `KINDS` or "", `significant` None where nobody says."""

    kind: str
    sentence: str
    significant: bool | None = None


# --- texts ------------------------------------------------------------------------------------------------------------


def marked(text: str, marks: Sequence[Mark]) -> Markup:
    """A report with its phrases marked.

    Args:
        text: The report.
        marks: Phrases of it; where several meet, the first gives the colour, and each gives its letter.

    Returns:
        HTML, a paragraph; line breaks are kept.

    Example:
        >>> print(marked("Left <effusion>.", [Mark(((0, 4),), "incorrect_location")]).split("<span")[0])
        <p class="report"><mark class="kind-incorrect_location">Left
    """
    if not text.strip():
        return Markup('<p class="report empty">(empty report)</p>')
    errors_first = sorted(marks, key=lambda mark: mark.kind == MATCHED)
    cuts = {0, len(text)} | {min(end, len(text)) for mark in marks for span in mark.spans for end in span}
    parts = [_segment(text, start, end, errors_first) for start, end in itertools.pairwise(sorted(cuts))]
    return Markup('<p class="report">{}</p>').format(NOTHING.join(parts))


def _segment(text: str, start: int, end: int, marks: Sequence[Mark]) -> Markup:
    """A stretch of text without a cut inside, and the letters of the marks that end with it."""
    over = [mark for mark in marks if any(a < end and b > start for a, b in mark.spans)]
    if not over:
        return Markup("{}").format(text[start:end])
    ending = [mark for mark in over if mark.kind not in UNLETTERED and min(mark.spans[-1][1], len(text)) == end]
    shown = Markup('<mark class="kind-{}">{}</mark>').format(over[0].kind, text[start:end])
    return shown + NOTHING.join(map(_tag, dict.fromkeys(ending)))


def _tag(mark: Mark) -> Markup:
    kind = KINDS[mark.kind]
    amount = "" if mark.amount is None else f" {mark.amount:.1f}"
    return Markup(
        '<span class="tag kind-{}"><span aria-hidden="true">{}{}</span><span class="unseen"> ({}{}) </span></span>'
    ).format(mark.kind, kind.letter, amount, kind.title, amount)


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
    kinds = {mark.kind for found in marks.values() for mark in found}
    return Markup('<div class="reports">{}</div>{}').format(NOTHING.join(columns), legend(kinds))


def remarks(said: Sequence[Remark]) -> Markup:
    """Errors in words, one a line, with their letter and whether they matter."""
    lines = []
    for kind, sentence, significant in said:
        matters = {True: "significant", False: "not significant", None: ""}[significant]
        note = Markup(' <span class="matters{}">{}</span>').format(" much" if significant else "", matters)
        lines.append(Markup("<li>{}<span>{}{}</span></li>").format(_letter(kind), sentence, note if matters else ""))
    return Markup('<ul class="remarks">{}</ul>').format(NOTHING.join(lines)) if lines else NOTHING


def _letter(kind: str) -> Markup:
    if kind not in KINDS:
        return Markup('<span class="tag" aria-hidden="true">–</span>')
    return Markup(
        '<span class="tag kind-{}"><span aria-hidden="true">{}</span><span class="unseen">{}: </span></span>'
    ).format(kind, KINDS[kind].letter, KINDS[kind].title)


# --- numbers ----------------------------------------------------------------------------------------------------------


def direction(key: Key) -> str:
    """Which way is better, in three words."""
    return f"{key.better} is better"


def in_words(key: Key) -> str:
    """Direction and range in a sentence.

    Example:
        >>> from rrgmetrics import SPECS
        >>> in_words(SPECS["crepe"].headline)
        'Lower is better: 0 is the best, there is no worst.'
        >>> in_words(SPECS["crimson"].headline)
        'Higher is better, from −1 (the worst) to 1 (the best).'
    """
    low, high = key.range
    better = direction(key).capitalize()
    if key.target is not None:
        return f"{better}: {_bound(key.target)} is the best; possible are {_bound(low)} to {_bound(high)}."
    best, worst = (high, low) if key.higher_is_better else (low, high)
    if math.isinf(best):
        return f"{better}; there is no best." if math.isinf(worst) else f"{better}: {_bound(worst)} is the worst."
    if math.isinf(worst):
        return f"{better}: {_bound(best)} is the best, there is no worst."
    return f"{better}, from {_bound(worst)} (the worst) to {_bound(best)} (the best)."


def _bound(value: float) -> str:
    return number(value).replace("-", "\N{MINUS SIGN}")


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
    ).format(min(100.0, max(0.0, share)), _bound(low), left, right, _bound(high))


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
        figure = "unscored" if math.isnan(count) else f"{count:.{0 if whole else 1}f}"
        lines.append(
            Markup(
                '<li class="kind-{}"><span class="tag" aria-hidden="true">{}</span><span class="name">{}</span>'
                '<b>{}</b><span class="track" aria-hidden="true"><i style="width:{:.1f}%"></i></span></li>'
            ).format(name, KINDS[name].letter, KINDS[name].title.capitalize(), figure, width)
        )
    return Markup('<ul class="bars" aria-label="Errors by category">{}</ul>').format(NOTHING.join(lines))


def score_table(keys: Iterable[Key], scores: Mapping[str, float]) -> Markup:
    """Every key with its value, range and direction."""
    row = Markup(
        '<tr><th scope="row">{}</th><td class="number">{}</td><td>{} to {}</td><td>{}</td><td><code>{}</code></td></tr>'
    )
    rows = [
        row.format(key.title, show(scores[key.name], key), *map(_bound, key.range), direction(key), key.name)
        for key in keys
    ]
    head = NOTHING.join(
        Markup('<th scope="col">{}</th>').format(title) for title in ("Score", "Value", "Range", "Direction", "Key")
    )
    return Markup(
        '<div class="wide" tabindex="0" role="region" aria-label="All scores"><table><thead><tr>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>"
    ).format(head, NOTHING.join(rows))


def part(*pieces: Markup) -> Markup:
    """Wraps pieces of a page so that the style sheet applies to them."""
    return Markup('<div class="rrg">{}</div>').format(NOTHING.join(pieces))


def alert(message: str) -> Markup:
    """What is wrong and what to do, announced to screen readers."""
    return Markup('<p class="alert" role="alert">{}</p>').format(message)
