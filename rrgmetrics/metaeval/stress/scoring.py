"""Scores a suite: how good each metric finds each changed report, and the report itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.stress.kinds import OTHER
from rrgmetrics.metaeval.stress.outside import Function, checked, find, of_module
from rrgmetrics.metaeval.stress.suite import Suite
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array
from rrgmetrics.scoring.prepared import Metrics, parse_names
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs.names import check_per_pair, label

Named = str | Callable[..., Any]
INTACT = "intact"  # the report itself, beside the kinds


@dataclass(frozen=True)
class Scored:
    """What one metric says of a suite.

    Attributes:
        title: As tables have it.
        arrow: Which of its values are better.
        signature: What ran; of a callable its name.
        goodness: By kind (and `INTACT`) and report the score, turned so that more is better; NaN is unscored.
        rests_on_the_reader: Whether the reader, which made the errors, also reads for the metric.
        reasons: By kind and report why there is no score; "" where nobody says so.
    """

    title: str
    arrow: str
    signature: str
    goodness: Mapping[str, Mapping[int, float]]
    rests_on_the_reader: bool = False
    reasons: Mapping[tuple[str, int], str] = field(default_factory=dict)

    @property
    def means(self) -> dict[str, float]:
        """The mean score, in the metric's own unit, of the reports themselves and of another patient's."""
        sign = -1 if self.arrow == "↓" else 1
        values = {kind: np.array(list(self.goodness.get(kind, {}).values())) for kind in (INTACT, OTHER)}
        return {kind: _mean(sign * own) for kind, own in values.items()}


def _mean(values: Array) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) + 0.0 if len(known) else float("nan")


def score_suite(
    suite: Suite, ready: Metrics | None, outside: Mapping[str, Function], *, progress: bool = True
) -> dict[str, Scored]:
    """Scores every changed report with every metric, each text being read once.

    Args:
        suite: The changed reports.
        ready: Our metrics, if there are any.
        outside: Others by name.
        progress: As in `rrgmetrics.score`.

    Raises:
        InputError: A metric of others that fails or returns what it must not.
    """
    places, pairs = _pairs(suite)
    scored: dict[str, Scored] = {}
    for name, function in outside.items():  # what may be wrong comes first
        values = checked(name, function, [pair.candidate for pair in pairs], [pair.reference for pair in pairs])
        scored[name] = _of_outside(name, np.array(values), places)
    if ready is not None:
        for name, result in ready.score_pairs(pairs, progress=progress, announce=False).items():
            rests = suite.by_reader and ready.names[name].uses_reader
            scored[name] = _of_ours(name, result, places, rests=rests)
    return scored


def read_metrics(metrics: Named | Sequence[Named] | Mapping[str, Named]) -> dict[str, Function | None]:
    """Finds metrics by their names: a function each, None for those of ours.

    Args:
        metrics: Names, callables, loaded `evaluate` modules; or a dictionary of them by name. Ours keep their own.

    Raises:
        InputError: None, one that stands twice, or one that cannot be found.
    """
    named: list[tuple[str, Any]]
    if isinstance(metrics, Mapping):
        named = list(metrics.items())
    elif isinstance(metrics, Sequence) and not isinstance(metrics, str):
        named = [(_name(metric), metric) for metric in metrics]
    else:
        named = [(_name(metrics), metrics)]
    found: dict[str, Function | None] = {}
    for name, metric in named:
        function = find(metric) if isinstance(metric, str) else _function(name, metric)
        if function is None:
            check_per_pair(str(metric), "a comparison of changed reports")
        for each in [name] if function else parse_names(str(metric)):
            if each in found:
                raise InputError(f"The metric {each!r} is named twice; name each once.")
            found[each] = function
    if not found:
        raise InputError("No metric was named; for example ['bleu', 'crepe'].")
    return found


def _name(metric: Any) -> str:
    if isinstance(metric, str):
        return metric
    return str(getattr(metric, "name", None) or getattr(metric, "__name__", None) or type(metric).__name__)


def _function(name: str, metric: Any) -> Function:
    if hasattr(metric, "compute"):
        return of_module(metric)
    if not callable(metric):
        raise InputError(
            f"{name} is a {type(metric).__name__}; pass a metric's name, a function or an evaluate module."
        )
    return metric  # type: ignore[no-any-return]


Place = tuple[str, int]  # kind and report


def _pairs(suite: Suite) -> tuple[list[Place], list[Pair]]:
    """Every changed report against its own, and each report that was changed against itself."""
    used = sorted({case.report for case in suite.cases})
    places: list[Place] = [(INTACT, report) for report in used]
    places += [(case.kind, case.report) for case in suite.cases]
    texts = [suite.reports[report] for report in used] + [case.candidate for case in suite.cases]
    return places, [Pair(suite.reports[report], text) for (_, report), text in zip(places, texts, strict=True)]


def _of_ours(name: str, result: Result, places: Sequence[Place], *, rests: bool) -> Scored:
    headline = result.spec.headline
    values = headline.goodness(result.headline)
    reasons = {places[index]: reason for index, reason in result.unscored_reasons.items()}
    return Scored(label(name, result.titled), headline.arrow, result.signature, _placed(values, places), rests, reasons)


def _of_outside(name: str, values: Array, places: Sequence[Place]) -> Scored:
    """Whichever direction makes a report better than another patient's is that of the metric."""
    goodness = _placed(values, places)
    others = goodness.get(OTHER, {})
    gains = np.array([goodness[INTACT][report] - other for report, other in others.items()], dtype=float)
    lower = _mean(gains) < 0
    return Scored(name, "↓" if lower else "↑", name, _placed(-values if lower else values, places))


def _placed(values: Array, places: Sequence[Place]) -> dict[str, dict[int, float]]:
    placed: dict[str, dict[int, float]] = {}
    for (kind, report), value in zip(places, values.tolist(), strict=True):
        placed.setdefault(kind, {})[report] = value
    return placed
