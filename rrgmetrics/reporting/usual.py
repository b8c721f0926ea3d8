"""Usual values: the position of a pair's score among the scores of known candidates, from `measured.yaml`.

All are of chest X-ray reports; a score of another kind of report must not be compared with them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from markupsafe import Markup

from rrgmetrics.metaeval.measured import USUAL, measured_sets
from rrgmetrics.reporting.drawing import Scale, share
from rrgmetrics.reporting.html import NOTHING
from rrgmetrics.reporting.numbers import between, show
from rrgmetrics.specs import Key, MetricSpec
from rrgmetrics.stats import Estimate

MODELS = "models"  # the candidates that a score is compared with in words
ROOM = 0.05  # of the axis, beyond what lies furthest out


def axis(key: Key, values: list[float]) -> Scale:
    """An axis that shows all values; it begins or ends where the key does, if that is finite."""
    room = ROOM * ((max(values) - min(values)) or 1.0)
    return Scale(max(key.range[0], min(values) - room), min(key.range[1], max(values) + room))


def usual_of(spec: MetricSpec) -> Mapping[str, Estimate]:
    """The quartiles around the median by kind of candidate; empty for a metric that was not measured."""
    row = measured_sets()[USUAL].metrics.get(spec.name)
    return row.values if row else {}


def usual(spec: MetricSpec, value: float) -> Markup:
    """A score of a chest X-ray report among those of known candidates: a bar for each kind of them, and words.

    Args:
        spec: The metric, in its default configuration.
        value: Of one pair; NaN: nothing is shown.
    """
    measured = usual_of(spec)
    if not measured or math.isnan(value):
        return NOTHING
    key, data = spec.headline, measured_sets()[USUAL]
    scale = axis(key, [value, *(end for each in measured.values() for end in (each.low, each.high))])
    lines = (
        Markup(
            '<li><span>{}</span><span class="range" aria-hidden="true"><i style="left:{};right:calc(100% - {})"></i>'
            '<b style="left:{}"></b><u style="left:{}"></u></span><span class="number">{}</span></li>'
        ).format(
            data.measures[name].title.capitalize(),
            share(each.low, scale),
            share(each.high, scale),
            share(each.value, scale),
            share(value, scale),
            between(each.low, each.high, key),
        )
        for name, each in measured.items()
    )
    note = (
        f"The middle half of the pairs, and their median, for each kind of candidate; {data.studies} chest X-ray "
        f"references and {data.rows} reports of language models ({data.title.partition(', on ')[2]})."
    )
    return Markup(
        '<figure class="usual"><figcaption>{}</figcaption><ul aria-label="Typical scores">{}</ul>'
        '<p class="note">{}</p></figure>'
    ).format(in_words(key, value, measured[MODELS]), NOTHING.join(lines), note)


def in_words(key: Key, value: float, models: Estimate) -> str:
    """How a score compares with those of language models' reports.

    Example:
        >>> from rrgmetrics.specs import SPECS
        >>> in_words(SPECS["crepe"].headline, 0.4, Estimate(2.3, 0.7, 3.8, 100)).partition("; ")[2]
        'this score is better than three quarters of them.'
    """
    worst, best = sorted((models.low, models.high), key=key.goodness)
    place = "is within this range"
    if key.goodness(value) > key.goodness(best):
        place = "is better than three quarters of them"
    elif key.goodness(value) < key.goodness(worst):
        place = "is worse than three quarters of them"
    spread = between(models.low, models.high, key) if models.low < models.high else show(models.low, key)
    return f"Typical scores: the middle half of language models’ reports is {spread}; this score {place}."
