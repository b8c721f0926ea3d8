"""Metrics that stay ready during a training, and the flat dict of numbers that training loops want."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rrgmetrics.errors import InputError
from rrgmetrics.names import MetricName
from rrgmetrics.reports import Pair
from rrgmetrics.results import Result
from rrgmetrics.runner import Job, check_batch_size, parse_names, prepare, run
from rrgmetrics.scorers.base import Runtime

logger = logging.getLogger("rrgmetrics")

OnError = Literal["log", "raise"]


@dataclass(frozen=True)
class Scores:
    """What one scoring gave.

    Attributes:
        values: Every key of every metric that was asked, and `<metric>_n_unscored`; plain floats, NaN = unscored.
        results: The Results by the metric's name as passed; one that failed is missing.
    """

    values: dict[str, float]
    results: Mapping[str, Result] = field(default_factory=dict)


class Scoring:
    """Metrics with their backends loaded: what is missing is known before the training begins.

    Args:
        metrics: Names as in `rrgmetrics.score`; one or several.
        batch_size: Texts a forward pass of a model; None leaves it to the backend.
        device: torch device of models; None takes CUDA where there is one.
        on_error: `"raise"`, or `"log"`: a metric that fails while it scores is NaN for all pairs, and said once.

    Raises:
        InputError: A name, an option or an argument that cannot be used.
        BackendError: Weights or data that are not there.
        MissingExtraError: An optional dependency that is not installed.
    """

    def __init__(
        self,
        metrics: str | Sequence[str],
        *,
        batch_size: int | None = None,
        device: str | None = None,
        on_error: OnError = "raise",
    ) -> None:
        if on_error not in ("log", "raise"):
            raise InputError(f"on_error is {on_error!r}; pass 'log' or 'raise'.")
        names = parse_metrics(metrics)
        runtime = Runtime(check_batch_size(batch_size), device, progress=False)
        self.jobs = dict(zip(names, prepare(names.values(), runtime), strict=True))
        self._on_error = on_error
        self._said: set[tuple[str, type[Exception]]] = set()

    def score(self, pairs: Sequence[Pair], metrics: Collection[str] | None = None) -> Scores:
        """Scores pairs with all metrics, or with those named, sharing what the backends read."""
        jobs = {name: job for name, job in self.jobs.items() if metrics is None or name in metrics}
        values: dict[str, float] = {}
        results = self._run(jobs, pairs)
        for name, job in jobs.items():
            values |= flat(job.name, results.get(name), len(pairs))
        return Scores(values, results)

    def _run(self, jobs: Mapping[str, Job], pairs: Sequence[Pair]) -> dict[str, Result]:
        if not jobs:
            return {}
        try:
            return dict(zip(jobs, run(list(jobs.values()), [pairs], progress=False)[0], strict=True))
        except Exception as error:  # a server, a model or a plug-in: training must outlive them
            if self._on_error == "raise":
                raise
            if len(jobs) == 1:
                self._say(next(iter(jobs)), error)
                return {}
        return {key: value for name, job in jobs.items() for key, value in self._run({name: job}, pairs).items()}

    def _say(self, name: str, error: Exception) -> None:
        if (name, type(error)) not in self._said:
            self._said.add((name, type(error)))
            logger.error(
                "%s could not score; its values are NaN, and this is said once: %s: %s",
                *(name, type(error).__name__, error),
                exc_info=error,
            )


def suffix(name: MetricName) -> str:
    """What tells two configurations of a metric apart: `"__paper"`; empty for the default one."""
    return name.slug.removeprefix(name.spec.name)


def flat(name: MetricName, result: Result | None, n_pairs: int) -> dict[str, float]:
    """A metric's values by the names a training loop logs; all NaN if there is no result."""
    end = suffix(name)
    scores = result.scores if result else {}
    values = {key.name + end: float(scores.get(key.name, float("nan"))) for key in name.spec.keys}
    return values | {f"{name.spec.name}{end}_n_unscored": float(result.n_unscored if result else n_pairs)}


def parse_metrics(metrics: str | Sequence[str]) -> dict[str, MetricName]:
    """Names by the string that was passed; raises InputError for two spellings of one, which would share their keys."""
    names = parse_names(metrics)
    seen: dict[str, str] = {}
    for text, name in names.items():
        other = seen.setdefault(name.slug, text)
        if other != text:
            raise InputError(
                f"The metrics {other!r} and {text!r} would both be logged as {name.slug}; name one of them."
            )
    return names
