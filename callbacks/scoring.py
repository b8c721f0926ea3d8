"""Keeps metrics ready during a training, and makes the flat dict of numbers that training loops want."""

from __future__ import annotations

import logging
import textwrap
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rrgmetrics.errors import InputError
from rrgmetrics.reports import Pair
from rrgmetrics.reports.missing import Missing
from rrgmetrics.scoring import notice
from rrgmetrics.scoring.prepared import parse_names, prepare
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs.names import MetricName

logger = logging.getLogger("rrgmetrics")

OnError = Literal["log", "raise"]

N_REASONS = 5  # reasons for unscored pairs that are logged, the most frequent first


@dataclass(frozen=True)
class Scores:
    """The values and results of one scoring.

    Attributes:
        values: Every key of every metric that was asked, and `<metric>_n_unscored`; plain floats, NaN = unscored.
        results: The Results by the metric's name as passed; one that failed has no number and holds the error.
    """

    values: dict[str, float]
    results: Mapping[str, Result] = field(default_factory=dict)


class Scoring:
    """Metrics with their backends loaded, so that anything missing is known before the training begins.

    Args:
        metrics: Names as in `rrgmetrics.score`; one or several.
        batch_size: Texts per forward pass of a model; None leaves it to the backend.
        device: torch device of models; None takes CUDA where there is one.
        on_error: `"raise"`, or `"log"`: a metric that fails while it scores is NaN for all pairs, and said once.
        missing: What becomes of studies whose reference is missing: `"unscored"`, `"empty"` or `"error"`, as in
            `rrgmetrics.score`.

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
        missing: Missing = "unscored",
    ) -> None:
        if on_error not in ("log", "raise"):
            raise InputError(f"on_error is {on_error!r}; pass 'log' or 'raise'.")
        parse_metrics(metrics)
        self.metrics = prepare(metrics, batch_size=batch_size, device=device, missing=missing)
        self._on_error: Literal["raise", "unscored"] = "raise" if on_error == "raise" else "unscored"
        self._logged: set[tuple[str, str | type[Exception]]] = set()
        self._warned: set[str] = set()

    def score(self, pairs: Sequence[Pair], metrics: Collection[str] | None = None, where: str = "") -> Scores:
        """Scores pairs with all metrics, or with those named; logs once why pairs of the set `where` are unscored."""
        warn_of_tokens(pairs, where, self._warned)
        (scores,) = self.score_sets([pairs], metrics)
        for name, result in scores.results.items():
            if result.error is None:
                self._log_unscored(name, result, where)
        return scores

    def score_sets(self, sets: Sequence[Sequence[Pair]], metrics: Collection[str] | None = None) -> list[Scores]:
        """Scores several lists of pairs, which share what the backends read of their texts."""
        ready = self.metrics if metrics is None else self.metrics.only(metrics)
        if not ready.names:
            return [Scores({}) for _ in sets]
        by_set = ready.score_sets(sets, on_error=self._on_error, progress=False, announce=False)
        for name, result in by_set[0].items():
            if result.error is not None:
                self._log_error(name, result.error)
        scores = []
        for pairs, results in zip(sets, by_set, strict=True):
            values = [flat(name, results[text], len(pairs)) for text, name in ready.names.items()]
            scores.append(Scores({key: value for each in values for key, value in each.items()}, results))
        return scores

    def _log_error(self, name: str, error: Exception) -> None:
        if (name, type(error)) not in self._logged:
            self._logged.add((name, type(error)))
            logger.error(
                "%s could not score; its values are NaN. This message appears once. %s: %s",
                *(name, type(error).__name__, error),
                exc_info=error,
            )

    def _log_unscored(self, name: str, result: Result, where: str) -> None:
        reasons = Counter(reason for reason in unscored_reasons(result) if reason)
        if reasons and (name, where) not in self._logged:
            self._logged.add((name, where))
            most = [f"{n} x {textwrap.shorten(reason, 120)}" for reason, n in reasons.most_common(N_REASONS)]
            logger.warning(
                "%s%s: %d of %d pairs are unscored (this message appears once): %s%s",
                *(where, name, result.n_unscored, result.n_pairs, "; ".join(most)),
                "; ..." if len(reasons) > N_REASONS else "",
            )


def warn_of_tokens(pairs: Sequence[Pair], where: str, warned: set[str]) -> None:
    """Warns once of control tokens in the candidates and once in the references of the set `where`."""
    of = f" of {name}" if (name := where.rstrip("_/")) else ""
    columns = {f"candidates{of}": [pair.candidate for pair in pairs]}
    columns[f"references{of}"] = [pair.reference for pair in pairs]
    notice.warn_of_control_tokens(columns, warned=warned)


def unscored_reasons(result: Result) -> list[str | None]:
    """Returns why each pair is unscored, None where it is not; empty if the metric gives no reasons."""
    reasons = result.details.get(f"{result.spec.name}_unscored", ())
    return [reason["unscored"] if reason else None for reason in reasons]


def headline(name: MetricName) -> str:
    """Returns the key of a metric's headline, as it is logged: `"crepe__paper"`."""
    return name.slug


def flat(name: MetricName, result: Result | None, n_pairs: int) -> dict[str, float]:
    """Returns a metric's values by the names that a training loop logs; all NaN if there is no result."""
    end = name.suffix
    scores = result.scores if result else {}
    values = {key.name + end: float(scores.get(key.name, float("nan"))) for key in name.spec.keys}
    return values | {f"{headline(name)}_n_unscored": float(result.n_unscored if result else n_pairs)}


def parse_metrics(metrics: str | Sequence[str]) -> dict[str, MetricName]:
    """Reads names by the string that was passed; raises InputError for two spellings of one, which would share keys."""
    names = parse_names(metrics)
    seen: dict[str, str] = {}
    for text, name in names.items():
        other = seen.setdefault(name.slug, text)
        if other != text:
            raise InputError(
                f"The metrics {other!r} and {text!r} would both be logged as {name.slug}; name one of them."
            )
    return names
