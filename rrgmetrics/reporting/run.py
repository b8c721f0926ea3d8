"""The page of a training run: its scores over time beside trivial systems, and its reports.

The page is one self-contained HTML file without scripts. Curves are drawn in scalable boxes of `WIDTH` by `HEIGHT`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from markupsafe import Markup

from rrgmetrics.comparing import ErrorCategory, compare_as_scored
from rrgmetrics.reading import read
from rrgmetrics.reporting import html
from rrgmetrics.reporting.drawing import Scale, share
from rrgmetrics.reporting.marks import Explanation, Remark
from rrgmetrics.reporting.numbers import estimate, figure, show
from rrgmetrics.reporting.theme import BY_PREFERENCE, style_sheet
from rrgmetrics.reporting.worth import HEADING
from rrgmetrics.specs import Key
from rrgmetrics.stats import Estimate
from rrgmetrics.utils.text_format import counted
from rrgmetrics.version import VERSION

WIDTH, HEIGHT = 320, 150
AIR = 0.08  # of the axis, beyond what is drawn


class Point(NamedTuple):
    """A score at a step; the ends of its interval are NaN where it has none."""

    step: int
    score: Estimate


@dataclass(frozen=True)
class Curve:
    """A headline over time.

    Attributes:
        key: Its title names a stand-in as one.
        name: The metric as it was asked for.
        points: In the order of steps.
        trivial: What trivial systems score on the same references, by their names in words.
        perfect: What the references themselves score; NaN where nobody measured it.
    """

    key: Key
    name: str
    points: tuple[Point, ...]
    trivial: Mapping[str, float] = field(default_factory=dict)
    perfect: float = math.nan

    @property
    def scored(self) -> list[Point]:
        """The points that have a value."""
        return [point for point in self.points if not math.isnan(point.score.value)]

    @property
    def best(self) -> Point:
        """The best point; the first of several."""
        return max(self.scored, key=lambda point: self.key.goodness(point.score.value))

    @property
    def bar(self) -> tuple[str, float] | None:
        """The best of the trivial systems, and its score."""
        return max(self.trivial.items(), key=lambda item: self.key.goodness(item[1]), default=None)

    @property
    def verdict(self) -> str:
        """How the latest score stands to the best trivial system: better, no better, or not sure."""
        if self.bar is None or not self.scored:
            return ""
        latest = self.scored[-1].score
        ends = [end for end in (latest.low, latest.high) if not math.isnan(end)] or [latest.value]
        beaten = [self.key.goodness(end) > self.key.goodness(self.bar[1]) for end in ends]
        return "beats it" if all(beaten) else "not significantly better" if any(beaten) else "does not beat it"


class Said(NamedTuple):
    """A report at a step: its text, the metrics' values, and the reader's errors (category, sentence)."""

    step: int
    text: str
    scores: Mapping[str, float | None]
    errors: tuple[tuple[str, str], ...]


class Sample(NamedTuple):
    """A study: the radiologist's report, and what the model said of it at several steps."""

    study_id: str
    reference: str
    said: tuple[Said, ...]


@dataclass(frozen=True)
class Evaluations:
    """What was measured of a set.

    Attributes:
        name: Of its record: `"eval"`, `"eval_<set>"`, `"test_best_model"`.
        curves: A headline each.
        step: The latest.
        values: Every value by step and key, without the prefix; NaN is unscored.
        samples: Reports over time.
        notes: On the reports of the latest step.
    """

    name: str
    curves: tuple[Curve, ...]
    step: int
    values: Mapping[int, Mapping[str, float]]
    samples: tuple[Sample, ...] = ()
    notes: tuple[str, ...] = ()


def run_page(sets: Sequence[Evaluations], *, name: str) -> str:
    """Makes the self-contained HTML page of a run.

    Args:
        sets: Those with a value.
        name: Of the run.
    """
    return (
        html.environment("rrgmetrics.reporting", width=WIDTH, height=HEIGHT, worth_heading=HEADING)
        .get_template("run.html.j2")
        .render(
            name=name,
            style=Markup(style_sheet("drawn.css", "run.css", dark=BY_PREFERENCE)),
            sets=[_of_set(each) for each in sets],
            many=len(sets) > 1,
            legend=html.legend([kind.value for kind in ErrorCategory]),
            version=VERSION,
        )
    )


def _of_set(one: Evaluations) -> dict[str, object]:
    curves = [curve for curve in one.curves if curve.scored]
    latest = "the latest " if len(one.values) > 1 else ""
    return {
        "name": one.name,
        "about": f"{counted(len(one.values), 'evaluation')}, {latest}at step {one.step:,}",
        "notes": [f"{latest.capitalize()}reports: {note}" if latest else note for note in one.notes],
        "rows": [_row(curve) for curve in curves],
        "drawings": [_drawn(curve) for curve in curves],
        "steps": list(one.values),
        "values": _all_values(one),
        "samples": [_sample(sample, {curve.key.name: curve.key for curve in one.curves}) for sample in one.samples],
    }


def _row(curve: Curve) -> dict[str, object]:
    """A line of the table at the top."""
    latest, best = curve.scored[-1], curve.best
    return {
        "key": curve.key,
        "name": curve.name,
        "latest": estimate(latest.score, curve.key),
        "first": show(curve.scored[0].score.value, curve.key),
        "best": f"{show(best.score.value, curve.key)} at step {best.step:,}",
        "bar": f"{show(curve.bar[1], curve.key)}, {curve.bar[0]}" if curve.bar else "not measured",
        "verdict": curve.verdict,
    }


def _all_values(one: Evaluations) -> list[tuple[str, list[str]]]:
    """Every key with its values at each step; "" where a metric took no part."""
    keys = dict.fromkeys(key for values in one.values.values() for key in values)

    def cells(key: str) -> list[str]:
        places = 0 if key.endswith("_n_unscored") else 3
        return [figure(row[key], places) if key in row else "" for row in one.values.values()]

    return [(key, cells(key)) for key in keys]


# --- the drawing of a curve -------------------------------------------------------------------------------------------


def _drawn(curve: Curve) -> dict[str, object]:
    points, scale = curve.scored, _scale(curve)
    first, last = points[0].step, points[-1].step

    def x(step: int) -> float:
        return round(WIDTH * (step - first) / (last - first), 1) if last > first else 0

    def y(value: float) -> float:
        return round(HEIGHT * (1 - (value - scale.low) / (scale.high - scale.low)), 1)

    known = [point for point in points if not math.isnan(point.score.low)]
    band = [(x(point.step), y(point.score.high)) for point in known]
    band += [(x(point.step), y(point.score.low)) for point in reversed(known)]
    return {
        "key": curve.key,
        "name": curve.name,
        "described": _described(curve),
        "band": " ".join(f"{left},{top}" for left, top in band) if len(known) > 1 else "",
        "whisker": (x(known[0].step), y(known[0].score.low), y(known[0].score.high)) if len(known) == 1 else None,
        "line": " ".join(f"{x(point.step)},{y(point.score.value)}" for point in points),
        "dots": [(x(point.step), y(point.score.value)) for point in points],
        "trivial": sorted({y(value) for value in curve.trivial.values()}),
        "bar": None if curve.bar is None else (y(curve.bar[1]), share(curve.bar[1], scale), curve.bar[0], _side(curve)),
        "ends": (show(scale.low, curve.key), show(scale.high, curve.key)),
        "steps": (f"step {first:,}", f"{last:,}") if last > first else (f"step {first:,}", ""),
        "caption": list(_caption(curve)),
    }


def _side(curve: Curve) -> str:
    """Where the name of the best trivial system hides less of the curve: at its beginning or its end."""
    far = [abs(curve.scored[end].score.value - curve.bar[1]) for end in (0, -1)] if curve.bar else [0.0, 0.0]
    return "left" if far[0] > far[1] else "right"


def _scale(curve: Curve) -> Scale:
    """From the lowest to the highest of what is drawn, with air; within the range of the key."""
    drawn = [*curve.trivial.values()]
    drawn += [end for point in curve.scored for end in point.score[:3] if not math.isnan(end)]
    low, high = min(drawn), max(drawn)
    air = AIR * (high - low) or 0.5
    least, most = curve.key.range
    return Scale(max(low - air, least) if low - air < least <= low else low - air, min(high + air, most))


def _described(curve: Curve) -> str:
    first, last = curve.scored[0], curve.scored[-1]
    words = f"{curve.key.title}: {show(first.score.value, curve.key)} at step {first.step:,}"
    if last.step > first.step:
        words += f", {show(last.score.value, curve.key)} at step {last.step:,}"
    return f"{words}; {curve.bar[0]} scores {show(curve.bar[1], curve.key)}." if curve.bar else f"{words}."


def _caption(curve: Curve) -> Iterator[tuple[str, str]]:
    ordered = sorted(curve.trivial.items(), key=lambda item: -curve.key.goodness(item[1]))
    for name, value in ordered:
        yield name, show(value, curve.key)
    if not math.isnan(curve.perfect):
        yield "the references themselves", show(curve.perfect, curve.key)


# --- reports over time ------------------------------------------------------------------------------------------------


def _sample(sample: Sample, keys: Mapping[str, Key]) -> dict[str, object]:
    reading = read(sample.reference)
    return {
        "study_id": sample.study_id,
        "reference": html.marked(sample.reference, ()),
        "said": [
            {
                "step": f"{said.step:,}",
                "text": html.marked(said.text, Explanation.of(compare_as_scored(reading, read(said.text))).candidate),
                "scores": [_shown(*score, keys) for score in said.scores.items()],
                "errors": html.remarks([Remark(kind, sentence) for kind, sentence in said.errors]),
                "n": counted(len(said.errors), "error") if said.errors else "no error found",
            }
            for said in sample.said
        ],
    }


def _shown(name: str, score: float | None, keys: Mapping[str, Key]) -> tuple[str, str]:
    """A score as the curves show it, by its title and with its decimals."""
    value = math.nan if score is None else score
    return (keys[name].title, show(value, keys[name])) if name in keys else (name, figure(value))
