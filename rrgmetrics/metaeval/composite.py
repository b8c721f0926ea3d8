"""RadCliQ refitted: the linear model of its four metrics that comes nearest to what radiologists counted.

Errors are regressed on the standardised metrics by least squares, and no weight may be above 0: a metric on which more
is better cannot add errors. Version 1 seems to have been fitted so too (its BLEU weighs 4e-12); version 0 was not, and
calls a candidate with more of the reference's words worse. Intervals resample cases. How far the composite agrees with
raters is said of predictions for each case by a model that was fitted on all others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rrgmetrics import files
from rrgmetrics.aggregate import scored
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders import NAMES, Rated, load
from rrgmetrics.metaeval.rated import TOTAL
from rrgmetrics.names import parse_name
from rrgmetrics.prepared import prepare
from rrgmetrics.reports import Context, Pair
from rrgmetrics.scorers.base import Array
from rrgmetrics.scorers.radcliq import FEATURES, Coefficients, CombinedBackend, Radcliq
from rrgmetrics.stats import LEVEL, TRIALS, Correlation, Estimate, correlate

FEWEST_CASES = len(FEATURES) + 2  # leaving one out must leave more cases than numbers to fit


class Fitted(NamedTuple):
    """Rated pairs: the pairs, the errors counted in each candidate, and the case of each pair."""

    pairs: list[Pair]
    errors: Array
    cases: list[str]


@dataclass(frozen=True)
class Composite:
    """A fitted composite.

    Attributes:
        coefficients: The model.
        weights: Errors a standard deviation of each feature, with intervals over cases.
        intercept: Errors at the mean of all features, with its interval.
        held_out: Agreement of the errors with predictions for each case by a model fitted on the others.
        mae: Mean absolute error of these predictions.
        n_pairs: Pairs that were fitted.
        n_cases: Their cases.
        n_left_out: Pairs without a score.
    """

    coefficients: Coefficients
    weights: Mapping[str, Estimate]
    intercept: Estimate
    held_out: Correlation
    mae: float
    n_pairs: int
    n_cases: int
    n_left_out: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Returns the content of the file that `radcliq@FILE` and `?coefficients=FILE` read."""
        model = self.coefficients
        rows = zip(FEATURES, model.mean, model.scale, model.weight, strict=True)
        return {
            "source": "rrgmetrics radcliq fit",
            "parts": model.parts,
            "fitted_on": dict(model.fitted_on),
            "n": self.n_pairs,
            "n_cases": self.n_cases,
            "intercept": model.intercept,
            "features": {
                name: {"mean": mean, "scale": scale, "weight": weight, "interval": list(self.weights[name][1:3])}
                for name, mean, scale, weight in rows
            },
            "held_out": {"tau_b": self.held_out.tau_b._asdict(), "r": self.held_out.r._asdict(), "mae": self.mae},
        }


def fit_radcliq(
    source: str,
    *,
    metric: str = "radcliq",
    errors: str = "errors",
    case: str = "",
    columns: Mapping[str, str] | None = None,
    folds: int = 0,
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
    batch_size: int | None = None,
    device: str | None = None,
    progress: bool = True,
) -> Composite:
    """Refits RadCliQ on rated pairs.

    Args:
        source: CSV, JSONL or Parquet with `reference`, `candidate` and the errors of each pair; or `NAME:PATH` of
            data that radiologists judged, as `rrgmetrics agree` takes it.
        metric: Which metrics are combined: `radcliq`, `radcliq@paper`, with options.
        errors: Column with the number of errors that was counted in the candidate; more is worse.
        case: Column that says which pairs belong together; "" takes those with one reference.
        columns: What a file's columns of pairs are called: `{"reference": "truth", "candidate": "draft"}`.
        folds: Parts of the cases, each predicted by a model fitted on the others; 0 leaves out one case at a time. The
            authors fitted version 1 on 160 of 200 pairs, one fold of five.
        trials: Resamples of cases behind each interval.
        level: Coverage of the intervals.
        seed: Of every interval.
        batch_size: As in `rrgmetrics.score`.
        device: As in `rrgmetrics.score`.
        progress: As in `rrgmetrics.score`.

    Raises:
        InputError: A file or column that cannot be used, fewer than 6 cases, or constant errors.
        BackendError: Weights of a metric are not there.
    """
    name = parse_name(metric)
    if name.spec.name != "radcliq" or name.config not in ("default", "paper") or name.options["coefficients"] != "v1":
        raise InputError(f"{metric} is not to be refitted; pass radcliq or radcliq@paper, without coefficients.")
    rated = read_rated(source, errors=errors, case=case, columns=columns)
    _check(rated, source)
    ready = prepare(metric, batch_size=batch_size, device=device)
    job = ready.jobs[metric]
    assert isinstance(job.backend, CombinedBackend)
    assert isinstance(job.scorer, Radcliq)
    pairs = [pair._replace(context=Context()) for pair in rated.pairs]  # RadCliQ knows no patient
    result = ready.score_pairs(pairs, progress=progress)[metric]
    features = np.column_stack([result.per_pair[f"radcliq_{feature}"] for feature in FEATURES])
    return fit(
        features,
        rated.errors,
        rated.cases,
        parts=job.scorer.parts,
        fitted_on=job.backend.part_facts,
        folds=folds,
        trials=trials,
        level=level,
        seed=seed,
    )


def read_rated(
    source: str, *, errors: str = "errors", case: str = "", columns: Mapping[str, str] | None = None
) -> Fitted:
    """Reads rated pairs, as `fit_radcliq` takes them."""
    if source.partition(":")[0] in NAMES:
        return _of_data(source)
    pairs = files.read_pairs(source, columns).pairs
    counts: list[float] = []
    cases: list[str] = []
    for (unit, number, row), pair in zip(files.rows_of(source, (errors, *filter(None, [case]))), pairs, strict=True):
        counts.append(_count(row.get(errors), f"{source}, {unit} {number}, column {errors!r}"))
        if case and case not in row:
            raise InputError(f"{source}, {unit} {number}: there is no column {case!r}.")
        cases.append(str(row[case]) if case else pair.reference)
    return Fitted(pairs, np.array(counts), cases)


def fit(
    features: Array,
    errors: Array,
    cases: Sequence[str],
    *,
    parts: str = "default",
    fitted_on: Mapping[str, str] | None = None,
    folds: int = 0,
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
) -> Composite:
    """Fits the model and estimates how well its coefficients are known.

    Args:
        features: `(n_pairs, 4)` in the order of `FEATURES`; a row with NaN is left out.
        errors: Errors of each pair `(n_pairs,)`.
        cases: The case of each pair.
        parts: Which metrics the features are.
        fitted_on: What these were, as signatures name them.
        folds: As in `fit_radcliq`.
        trials: Resamples of cases behind each interval.
        level: Coverage of the intervals.
        seed: Of every interval.
    """
    keep = scored(features)
    x, y = features[keep], errors[keep]
    names, index = np.unique(np.asarray(cases)[keep], return_inverse=True)
    if len(names) < FEWEST_CASES:
        raise InputError(f"{len(names)} cases have a score in every metric; a fit needs {FEWEST_CASES} or more.")
    model = _least_squares(x, y, parts, fitted_on or {})
    fold = _folds(index, folds, seed)
    drawn = _resampled(x, y, index, model, trials=trials, seed=seed)
    predicted = _left_out(x, y, fold)
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    estimates = [
        Estimate(value, float(a), float(b), len(y))
        for value, a, b in zip((*model.weight, model.intercept), low, high, strict=True)
    ]
    return Composite(
        coefficients=model,
        weights=dict(zip(FEATURES, estimates, strict=False)),
        intercept=estimates[-1],
        held_out=correlate(predicted, y, groups=index, trials=trials, level=level, seed=seed),
        mae=float(np.abs(predicted - y).mean()),
        n_pairs=len(y),
        n_cases=len(names),
        n_left_out=int((~keep).sum()),
    )


def _least_squares(
    x: Array, y: Array, parts: str = "default", fitted_on: Mapping[str, str] | None = None
) -> Coefficients:
    """Standardises, and finds the weights of 0 or less with the smallest sum of squares."""
    from scipy.optimize import nnls

    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale < 1e-12] = 1.0  # a constant feature: its weight is 0
    weight, _ = nnls(-(x - mean) / scale, y - y.mean())
    columns = [tuple(map(float, column)) for column in (mean, scale, np.negative(weight) + 0.0)]
    return Coefficients(columns[0], columns[1], columns[2], float(y.mean()), parts, fitted_on or {})


def _folds(index: Any, folds: int, seed: int) -> Any:
    """The fold of each pair; the pairs of a case are in one."""
    n_cases = int(index.max()) + 1
    if folds == 0:
        return index
    if not 2 <= folds <= n_cases or n_cases - -(-n_cases // folds) <= len(FEATURES):
        raise InputError(f"folds is {folds} for {n_cases} cases; take 2 to {n_cases}, or 0 to leave out each case.")
    return (np.random.default_rng(seed).permutation(n_cases) % folds)[index]


def _left_out(x: Array, y: Array, fold: Any) -> Array:
    """Predictions for each fold by a model fitted on all others."""
    predicted = np.empty_like(y)
    for part in range(fold.max() + 1):
        held = fold == part
        predicted[held] = _least_squares(x[~held], y[~held]).raw(x[held])
    return predicted


def _resampled(x: Array, y: Array, index: Any, model: Coefficients, *, trials: int, seed: int) -> Array:
    """Fits resampled cases `(trials, 5)`: weights (errors per standard deviation of the whole set), intercepts."""
    generator = np.random.default_rng(seed)
    members = [np.flatnonzero(index == case) for case in range(index.max() + 1)]
    drawn = np.empty((trials, len(FEATURES) + 1))
    for row in drawn:
        rows = np.concatenate([members[case] for case in generator.integers(len(members), size=len(members))])
        fit = _least_squares(x[rows], y[rows])
        row[:-1] = np.array(fit.weight) / np.array(fit.scale) * np.array(model.scale)
        row[-1] = fit.raw(np.array([model.mean]))[0]
    return drawn


def _of_data(source: str) -> Fitted:
    """The total errors of data that radiologists judged, mean over raters."""
    data = load(source)
    if not isinstance(data, Rated) or TOTAL not in data.values:
        raise InputError(f"{source} has no total errors to fit RadCliQ to.")
    errors = data.mean(TOTAL)
    judged = np.flatnonzero(~np.isnan(errors)).tolist()
    return Fitted([data.pairs[row] for row in judged], errors[judged], [data.studies[row] for row in judged])


def _count(cell: Any, where: str) -> float:
    try:
        value = float(cell)
    except (TypeError, ValueError):
        value = math.nan
    if isinstance(cell, bool) or not math.isfinite(value):
        raise InputError(f"{where}: {cell!r} is no number of errors; name the column with --errors.")
    return value


def _check(rated: Fitted, source: str) -> None:
    """Finds what no fit can be made of before anything is scored."""
    n_cases = len(set(rated.cases))
    if n_cases < FEWEST_CASES:
        raise InputError(f"{source} has {n_cases} cases (pairs of one reference); a fit needs {FEWEST_CASES} or more.")
    if np.ptp(rated.errors) == 0:
        raise InputError(f"{source}: every pair has {rated.errors[0]:g} errors; there is nothing to fit.")
