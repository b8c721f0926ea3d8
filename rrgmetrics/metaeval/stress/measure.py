"""What the scores of a suite come to: what a metric sees, what it lets be, what order it keeps, what games it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rrgmetrics.metaeval.stress.kinds import KINDS, LADDERS, OTHER, Group, kinds_of
from rrgmetrics.metaeval.stress.scoring import INTACT, Scored
from rrgmetrics.metaeval.stress.suite import Suite

TOLERANCE = 1e-3  # of what another patient's report costs; a smaller fall is none
NAN = float("nan")


class OfKind(NamedTuple):
    """What a metric makes of one kind of change.

    Attributes:
        share: Of an error the pairs that score worse than the report itself (1 sees it, 0 is blind); of a harmless
            change those that do not; of a trick those that score no better than the honest report.
        fall: Mean loss against the report itself (of a trick against the honest one), in units of what another
            patient's report costs; below 0 is a gain.
        apart: Of a harmless change the share of (change, error) twos of one report in which the error costs more;
            equal costs count half, so chance is 0.5. NaN of all others.
        n: Pairs that were scored.
        n_unscored: Pairs to which the metric gave no number.
    """

    share: float
    fall: float
    apart: float
    n: int
    n_unscored: int


class OfLadder(NamedTuple):
    """How far a metric keeps an order: twos of rungs of one report in which the graver one costs more, ties half."""

    share: float
    n: int


@dataclass(frozen=True)
class Stressed:
    """One metric under stress.

    Attributes:
        title: As tables have it.
        arrow: Which of its values are better.
        signature: What ran.
        unit: What another patient's report costs, in the metric's own unit; not above 0 if it does not tell them apart.
        means: Mean score, in its own unit, of the reports themselves (`intact`) and of another patient's (`other`).
        kinds: By kind; one without a scored pair has `n` 0 and NaN.
        ladders: By ladder.
        rests_on_the_reader: Whether it sees errors by construction, the reader having made them.
    """

    title: str
    arrow: str
    signature: str
    unit: float
    means: Mapping[str, float]
    kinds: Mapping[str, OfKind]
    ladders: Mapping[str, OfLadder]
    rests_on_the_reader: bool = False

    def mean(self, group: Group, what: str = "share") -> float:
        """The mean of the kinds of a group, each alike: of `share`, `fall` or `apart`."""
        values = [getattr(self.kinds[kind], what) for kind in kinds_of(group) if self.kinds[kind].n]
        known = [value for value in values if not np.isnan(value)]
        return float(np.mean(known)) if known else NAN

    @property
    def grades(self) -> float:
        """The mean of the ladders of grade, all but that of the number of errors."""
        known = [own.share for name, own in self.ladders.items() if name != "number" and own.n]
        return float(np.mean(known)) if known else NAN


@dataclass(frozen=True)
class StressReport:
    """Metrics under stress.

    Attributes:
        suite: What they were asked.
        metrics: By the name they were asked for.
    """

    suite: Suite
    metrics: Mapping[str, Stressed]

    def rows(self) -> Iterator[dict[str, object]]:
        """Yields every number, a row for each metric and kind or ladder."""
        for name, metric in self.metrics.items():
            for kind, own in metric.kinds.items():
                about = {"metric": name, "group": KINDS[kind].group, "kind": kind, "category": KINDS[kind].letter}
                yield {**about, **own._asdict(), "n_without": self.suite.without(kind)}
            for ladder, order in metric.ladders.items():
                yield {"metric": name, "group": "order", "kind": ladder, "category": "", **order._asdict()}

    def to_dict(self) -> dict[str, object]:
        """Returns the report as JSON has it; NaN becomes None."""
        suite = {
            "source": self.suite.source,
            "n_reports": len(self.suite.reports),
            "seed": self.suite.seed,
            "without": {kind: self.suite.without(kind) for kind in KINDS},
        }
        metrics = {name: _to_dict(metric) for name, metric in self.metrics.items()}
        return {"suite": suite, "metrics": metrics}


def measure_suite(suite: Suite, scored: Mapping[str, Scored]) -> StressReport:
    """Measures each metric on a suite that it has scored."""
    return StressReport(suite, {name: _stressed(suite, each) for name, each in scored.items()})


def _stressed(suite: Suite, scored: Scored) -> Stressed:
    intact = scored.goodness[INTACT]
    falls = {kind: _falls(suite, scored, kind) for kind in KINDS}
    known = [fall for report, fall in _below(intact, scored.goodness.get(OTHER, {})).items() if not np.isnan(fall)]
    unit = float(np.mean(known)) if known else NAN
    least = TOLERANCE * unit if unit > 0 else 0.0
    harm = [falls[kind] for kind in kinds_of("error")]
    return Stressed(
        scored.title,
        scored.arrow,
        scored.signature,
        unit,
        scored.means,
        {kind: _of_kind(kind, falls[kind], harm, unit, least) for kind in KINDS},
        {name: _of_ladder(name, scored, least) for name in LADDERS},
        scored.rests_on_the_reader,
    )


Falls = Mapping[int, float]


def _below(base: Falls, values: Falls) -> Falls:
    """What each report lost against what it scored before."""
    return {report: base[report] - value for report, value in values.items() if report in base}


def _falls(suite: Suite, scored: Scored, kind: str) -> Falls:
    values, intact = scored.goodness.get(kind, {}), scored.goodness[INTACT]
    if KINDS[kind].group != "trick":
        return _below(intact, values)
    honest = {report: scored.goodness[own][report] for report, own in suite.honest.items() if own in scored.goodness}
    return _below(honest, values)


def _of_kind(kind: str, falls: Falls, harm: Sequence[Falls], unit: float, least: float) -> OfKind:
    values = np.array(list(falls.values()), dtype=float)
    known = values[~np.isnan(values)]
    if not len(known):
        return OfKind(NAN, NAN, NAN, 0, len(values))
    group = KINDS[kind].group
    worse, better = known > least, known < -least
    share = {"error": worse, "hidden": worse, "scale": worse, "harmless": ~worse, "trick": ~better}[group].mean()
    apart = _graver(falls, harm, least) if group == "harmless" else NAN
    return OfKind(
        float(share),
        float(known.mean() / unit) if unit > 0 else NAN,
        apart,
        len(known),
        len(values) - len(known),
    )


def _graver(light: Falls, graver: Sequence[Falls], least: float) -> float:
    """The share of twos of one report in which the graver change costs more, ties half."""
    differences = [other[report] - fall for other in graver for report, fall in light.items() if report in other]
    return _in_order(differences, least)


def _of_ladder(name: str, scored: Scored, least: float) -> OfLadder:
    ladder = LADDERS[name]
    rungs = [INTACT, *ladder.rungs] if ladder.from_intact else list(ladder.rungs)
    falls = [
        scored.goodness[above][report] - value
        for above, below in _steps(rungs, ladder.from_intact)
        for report, value in scored.goodness.get(below, {}).items()
        if report in scored.goodness.get(above, {})
    ]
    return OfLadder(_in_order(falls, least), int((~np.isnan(falls)).sum()) if falls else 0)


def _steps(rungs: Sequence[str], neighbours: bool) -> list[tuple[str, str]]:
    """Neighbouring rungs; of grades, which not every report has, every two."""
    if neighbours:
        return list(pairwise(rungs))
    return [(rungs[i], rungs[j]) for i in range(len(rungs)) for j in range(i + 1, len(rungs))]


def _in_order(differences: Sequence[float], least: float) -> float:
    values = np.array(differences, dtype=float)
    values = values[~np.isnan(values)]
    if not len(values):
        return NAN
    return float(((values > least) + 0.5 * (abs(values) <= least)).mean())


def _to_dict(metric: Stressed) -> dict[str, object]:
    return {
        "title": metric.title,
        "signature": metric.signature,
        "unit": _or_none(metric.unit),
        "means": {kind: _or_none(value) for kind, value in metric.means.items()},
        "rests_on_the_reader": metric.rests_on_the_reader,
        "kinds": {kind: _fields(own) for kind, own in metric.kinds.items()},
        "ladders": {name: _fields(own) for name, own in metric.ladders.items()},
    }


def _fields(own: OfKind | OfLadder) -> dict[str, object]:
    return {name: _or_none(value) for name, value in own._asdict().items()}


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value
