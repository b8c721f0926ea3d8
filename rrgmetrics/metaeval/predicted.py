"""Errors that a linear model predicts for systems, and per cent by which they lie below those of random reports.

As in Yu et al. 2023, Figure 5 and Supplementary Table 5: random are the references of other studies here, reports of
the training set there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rrgmetrics import files
from rrgmetrics.baselines.skill import another_study
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.fitted_models import combined
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array
from rrgmetrics.scorers.radcliq import OTHER_KEYS, read_coefficients
from rrgmetrics.scoring.prepared import Metrics, prepare
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs.names import parse_name
from rrgmetrics.stats import LEVEL, TRIALS, Estimate, bootstrap
from rrgmetrics.stats.resampling import check_drawing

RANDOM = "another study's report"


class Prediction(NamedTuple):
    """Of one system.

    Attributes:
        errors: Mean predicted errors, with an interval over studies.
        decrease: Per cent by which they lie below those of random reports.
        n_unscored: Studies without a prediction.
        is_random: Whether it is of other studies' reports.
    """

    errors: Estimate
    decrease: Estimate
    n_unscored: int
    is_random: bool = False


@dataclass(frozen=True)
class Predictions:
    """What a model predicts.

    Attributes:
        model: Its name, as it was asked for.
        systems: By name; the last one is of random reports.
        n_studies: Studies in all.
    """

    model: str
    systems: Mapping[str, Prediction]
    n_studies: int

    def rows(self) -> list[dict[str, object]]:
        """One a system, for a table of numbers."""
        return [
            {
                "system": name,
                **dict(zip(("errors", "errors_low", "errors_high"), each.errors[:3], strict=True)),
                **dict(zip(("decrease", "decrease_low", "decrease_high"), each.decrease[:3], strict=True)),
                "n_unscored": each.n_unscored,
            }
            for name, each in self.systems.items()
        ]

    def to_dict(self) -> dict[str, object]:
        """Returns the values as JSON has them."""
        systems = {
            name: {
                "errors": each.errors._asdict(),
                "decrease_percent": each.decrease._asdict(),
                "n_unscored": each.n_unscored,
            }
            for name, each in self.systems.items()
        }
        return {"model": self.model, "n_studies": self.n_studies, "systems": systems}


def predict_errors(
    systems: Mapping[str, Any],
    model: str = "radcliq?coefficients=yu2022",
    *,
    references: Any = None,
    columns: files.Columns = None,
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
    batch_size: int | None = None,
    device: str | None = None,
    progress: bool = True,
) -> Predictions:
    """Predicts the errors of systems' reports, and of the reports of other studies.

    Args:
        systems: Each system's reports by its name, as `Metrics.score_systems` takes them.
        model: RadCliQ under coefficients that predict errors (`"radcliq@yu2022"`, `"radcliq?coefficients=v0"`,
            `"radcliq@FILE"`), or a file that `rrgmetrics radcliq fit --features` wrote.
        references: Radiologists' reports, where the systems' have none beside them.
        columns: What the columns are called.
        trials: Resamples of studies behind each interval.
        level: Coverage of the intervals.
        seed: Of the intervals, and of the order in which studies get another's report.
        batch_size: As in `rrgmetrics.score`.
        device: As in `rrgmetrics.score`.
        progress: As in `rrgmetrics.score`.

    Raises:
        InputError: Reports or a model that cannot be used; nothing was scored.
    """
    check_drawing(trials, level)
    names, predict = _read_model(model)
    studies = files.read_systems(systems, references, None, columns)
    pairs = {name: list(each.pairs) for name, each in studies.items()}
    if RANDOM in pairs:
        raise InputError(f"A system is called {RANDOM!r}; give it another name.")
    first = next(iter(pairs.values()))
    others = another_study([pair.reference for pair in first], seed=seed)
    pairs[RANDOM] = [pair._replace(candidate=first[other].reference) for pair, other in zip(first, others, strict=True)]
    errors = _errors_of(prepare(names, batch_size=batch_size, device=device), pairs, predict, progress=progress)
    draws: dict[str, Any] = {"trials": trials, "level": level, "seed": seed}
    predictions = {name: _prediction(each, errors[RANDOM], **draws) for name, each in errors.items()}
    predictions[RANDOM] = predictions[RANDOM]._replace(is_random=True)
    return Predictions(model, predictions, len(first))


def _read_model(model: str) -> tuple[list[str], Callable[[Mapping[str, Result]], Array]]:
    """Returns what is scored, and how predictions follow from it."""
    path = Path(model).expanduser()
    if path.is_file():
        coefficients = read_coefficients(model)
        if coefficients.parts == OTHER_KEYS:
            return list(coefficients.features), lambda results: combined(coefficients, results)
        model = f"radcliq@{model}" if coefficients.parts == "default" else f"radcliq@paper?coefficients={model}"
    name = parse_name(model)
    if name.spec.name != "radcliq" or name.spec.headline.name != "radcliq":
        raise InputError(f"{model} predicts no errors; pass a RadCliQ, or a file that `rrgmetrics radcliq fit` wrote.")
    if name.config in ("default", "paper") and name.options["coefficients"] == "v1":
        raise InputError(
            f"{model} has version 1's coefficients, which count standard deviations and no errors; "
            "write coefficients=yu2022 or coefficients=v0."
        )
    return [model], lambda results: results[model].headline


def _errors_of(
    ready: Metrics,
    pairs: Mapping[str, Sequence[Pair]],
    predict: Callable[[Mapping[str, Result]], Array],
    *,
    progress: bool,
) -> dict[str, Array]:
    results = ready.score_sets(list(pairs.values()), progress=progress)
    return {name: predict(each) for name, each in zip(pairs, results, strict=True)}


class _Decrease(NamedTuple):
    """The arithmetic of two columns of predicted errors, a system's and the random reports'."""

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """The mean of the system, and per cent by which it lies below the other."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return {"errors": sums[..., 0] / n, "decrease": 100 * (1 - sums[..., 0] / sums[..., 1])}

    def per_pair(self, stats: Array) -> dict[str, Array]:
        """The system's errors."""
        return {"errors": stats[:, 0]}


def _prediction(errors: Array, random: Array, **draws: Any) -> Prediction:
    """Resamples studies; the decrease is over those for which both have a prediction."""
    own = bootstrap(_Decrease(), np.column_stack([errors, errors]), **draws)
    both = bootstrap(_Decrease(), np.column_stack([errors, random]), **draws)
    return Prediction(own["errors"], both["decrease"], int(np.isnan(errors).sum()))
