"""The worst pairs of a file, each of which opens: its reports with their marks, the errors in words, all its scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from rrgmetrics.reporting.explanations import explain_pair
from rrgmetrics.reporting.html import NOTHING
from rrgmetrics.reporting.kinds import KINDS
from rrgmetrics.reporting.numbers import figure, show
from rrgmetrics.reporting.results import key_table
from rrgmetrics.reports import Pair
from rrgmetrics.scoring.results import Result
from rrgmetrics.spaces.controls import with_words
from rrgmetrics.spaces.pair_view import as_read, explained
from rrgmetrics.spaces.ready import ready

SHOWN_ROWS = 50
LONGEST_ID = 60  # characters
WORTH_A_LETTER = 0.1  # of an error: a network gives every kind a little


def worst_rows(result: Result) -> list[int]:
    """The rows with the worst headline, the worst first; unscored ones come last."""
    key = result.spec.headline
    worst = np.argsort(key.goodness(result.per_pair[key.name]), kind="stable")[:SHOWN_ROWS]
    return [int(row) for row in worst]


def rows_view(name: str, pairs: Sequence[Pair], study_ids: Sequence[str], result: Result) -> Markup:
    """The worst pairs of a result, folded.

    Args:
        name: What was asked for.
        pairs: All pairs.
        study_ids: Theirs.
        result: Of all pairs.
    """
    rows = worst_rows(result)
    chosen = [as_read(name, pairs[row]) for row in rows]
    words = with_words(name)
    if words == name:
        told, places = result, rows
    else:
        told, places = (
            ready(words).score_pairs([pairs[row] for row in rows], progress=False)[words],
            [*range(len(rows))],
        )
    lines = [
        _line(result, row, study_ids[row], explained(explain_pair(told, pair, place), pair, level=3))
        for row, pair, place in zip(rows, chosen, places, strict=True)
    ]
    title = f"The {len(rows)} worst pairs" if len(rows) < result.n_pairs else "All pairs, the worst first"
    return Markup(
        '<h2>{}</h2><p class="note">Open a pair to see the explanation of its score.</p><div class="rows">{}</div>'
    ).format(title, NOTHING.join(lines))


def _line(result: Result, row: int, study_id: str, content: Markup) -> Markup:
    keys = [key for key in result.titled.keys if key.name in result.per_pair]
    scores = {key.name: float(result.per_pair[key.name][row]) for key in keys}
    return Markup(
        '<details><summary><span class="id">{}</span><b>{}</b><span>{}</span></summary><div>{}{}</div></details>'
    ).format(
        study_id[:LONGEST_ID],
        show(scores[keys[0].name], keys[0]),
        _letters(result.spec.name, scores),
        content,
        key_table(keys, scores) if len(keys) > 1 else NOTHING,
    )


def _letters(metric: str, scores: dict[str, float]) -> Markup:
    """The kinds of errors that a pair has, with their number."""
    counts = {kind: scores.get(f"{metric}_{kind}", 0.0) for kind in KINDS}
    shown = {
        kind: figure(count, 0 if count.is_integer() else 1) for kind, count in counts.items() if count >= WORTH_A_LETTER
    }
    return NOTHING.join(
        Markup(
            '<span class="tag kind-{}"><span aria-hidden="true">{} {}</span><span class="unseen">{} {} </span></span>'
        ).format(kind, KINDS[kind].letter, number, number, KINDS[kind].title)
        for kind, number in shown.items()
    )
