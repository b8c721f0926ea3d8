"""RadCliQ refitted: the linear model of its metrics, or of any others, that comes nearest to what radiologists counted.

Errors are regressed on the standardised metrics by least squares. By `nnls` no better score may add errors: the weight
of a metric on which more is better is 0 or less. Version 1 seems to have been fitted so (its BLEU weighs 4e-12). By
`ols` weights are free, as Yu et al. 2023 describe it: version 0 calls a candidate with more of the reference's words
worse. Intervals resample cases. How far the model agrees with raters is measured on predictions for each case by a
model that was fitted on all others. The errors that it predicts for the candidates are compared with those for the
references of other cases ("random", as in that paper's Figure 5).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from rrgmetrics import files
from rrgmetrics.baselines.skill import another_study
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders import NAMES, Rated, load
from rrgmetrics.metaeval.rated import TOTAL
from rrgmetrics.reports import Context, Pair
from rrgmetrics.scorers.aggregate import scored
from rrgmetrics.scorers.base import Array
from rrgmetrics.scorers.radcliq import FEATURES, OTHER_KEYS, Coefficients, CombinedBackend, Radcliq
from rrgmetrics.scoring.prepared import Metrics, prepare
from rrgmetrics.specs.names import MetricName, check_per_pair, parse_name, parse_names
from rrgmetrics.stats import LEVEL, TRIALS, Correlation, Estimate, correlate, tau_p_value

Method = Literal["nnls", "ols"]
MORE_CASES = 2  # than features: leaving one out must leave more cases than numbers to fit


class Fitted(NamedTuple):
    """Rated pairs: the pairs, the errors counted in each candidate, and the case of each pair."""

    pairs: list[Pair]
    errors: Array
    cases: list[str]


class Features(NamedTuple):
    """What is combined, scored.

    Attributes:
        names: One a column.
        signs: −1 where more is better, 1 where less is.
        values: Of the rated pairs `(n_pairs, n_features)`.
        random: Of references against those of other cases.
        parts: As in `Coefficients`.
        fitted_on: As in `Coefficients`.
    """

    names: tuple[str, ...]
    signs: tuple[int, ...]
    values: Array
    random: Array
    parts: str
    fitted_on: Mapping[str, str]


class Quality(NamedTuple):
    """How well predictions follow the errors that raters counted.

    Attributes:
        r2: Share of the variance that they explain; below 0 where the mean would be nearer.
        correlation: tau-b, rho and r, with intervals over cases.
        p_value: Of tau-b against 0, two-sided, as if pairs were independent of each other.
        mae: Mean absolute error.
    """

    r2: float
    correlation: Correlation
    p_value: float
    mae: float

    def to_dict(self) -> dict[str, object]:
        """Returns the values as JSON has them."""
        tau_b, r = self.correlation.tau_b._asdict(), self.correlation.r._asdict()
        return {"r2": self.r2, "tau_b": tau_b, "tau_b_p": self.p_value, "r": r, "mae": self.mae}


class Predicted(NamedTuple):
    """Mean errors that the model predicts.

    Attributes:
        candidates: Of the candidates it was fitted on.
        random: Of the reports of other cases; NaN where none was scored.
    """

    candidates: float
    random: float

    @property
    def decrease(self) -> float:
        """Per cent by which the candidates' lie below the random reports'."""
        return 100 * (1 - self.candidates / self.random) if self.random > 0 else math.nan


@dataclass(frozen=True)
class Composite:
    """A fitted composite.

    Attributes:
        coefficients: The model.
        weights: Errors a standard deviation of each feature, with intervals over cases.
        intercept: Errors at the mean of all features, with its interval.
        fitted: How well the model follows the errors that it was fitted on.
        left_out: How well predictions for each case by a model fitted on the others do.
        predicted: Mean errors that it predicts.
        n_pairs: Pairs that were fitted.
        n_cases: Their cases.
        n_left_out: Pairs without a score.
        method: How it was fitted.
    """

    coefficients: Coefficients
    weights: Mapping[str, Estimate]
    intercept: Estimate
    fitted: Quality
    left_out: Quality
    predicted: Predicted
    n_pairs: int
    n_cases: int
    n_left_out: int = 0
    method: Method = "nnls"

    @property
    def held_out(self) -> Correlation:
        """Agreement of the errors with predictions for each case by a model fitted on the others."""
        return self.left_out.correlation

    @property
    def mae(self) -> float:
        """Mean absolute error of these predictions."""
        return self.left_out.mae

    def to_dict(self) -> dict[str, object]:
        """Returns the content of the file that `radcliq@FILE` and `?coefficients=FILE` read."""
        model = self.coefficients
        rows = zip(model.features, model.mean, model.scale, model.weight, strict=True)
        return {
            "source": "rrgmetrics radcliq fit",
            "parts": model.parts,
            "fitted_on": dict(model.fitted_on),
            "method": self.method,
            "n": self.n_pairs,
            "n_cases": self.n_cases,
            "intercept": model.intercept,
            "features": {
                name: {"mean": mean, "scale": scale, "weight": weight, "interval": list(self.weights[name][1:3])}
                for name, mean, scale, weight in rows
            },
            "fitted": self.fitted.to_dict(),
            "held_out": self.left_out.to_dict(),
            "predicted": {**self.predicted._asdict(), "decrease_percent": self.predicted.decrease},
        }


def fit_radcliq(
    source: str,
    *,
    metric: str = "radcliq",
    features: Sequence[str] = (),
    method: Method = "nnls",
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
        features: Scores that are combined in place of these, such as `["bleu#2", "radgraph_f1#radcliq"]`. Those of one
            RadCliQ (`["radcliq#radgraph", "radcliq#bleu"]`) give coefficients that `radcliq@FILE` reads;
            `rrgmetrics.metaeval.predicted.predict_errors` reads any.
        method: `"nnls"`: no better score adds errors; `"ols"`: ordinary least squares, as in the paper.
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
        InputError: A file or column that cannot be used, fewer cases than two more than features, or
            constant errors.
        BackendError: Weights of a metric are not there.
    """
    if method not in get_args(Method):
        raise InputError(f"method is {method!r}; pass nnls or ols.")
    names = list(features) or [f"{metric}#{feature}" for feature in FEATURES]
    _check_features(names, metric, features, method)
    rated = read_rated(source, errors=errors, case=case, columns=columns)
    _check(rated, source, len(names))
    ready = prepare(names, batch_size=batch_size, device=device)
    scored_features = _score_features(ready, names, rated, progress=progress)
    return fit(
        scored_features.values,
        rated.errors,
        rated.cases,
        parts=scored_features.parts,
        fitted_on=scored_features.fitted_on,
        names=scored_features.names,
        signs=scored_features.signs,
        random=scored_features.random,
        method=method,
        folds=folds,
        trials=trials,
        level=level,
        seed=seed,
    )


def _check_features(names: Sequence[str], metric: str, features: Sequence[str], method: Method) -> None:
    """Checks the names of what is combined before anything is read or scored."""
    name = parse_name(metric)
    if features and metric != "radcliq":
        raise InputError(
            f"features lists the metrics to combine; leave out {metric}, or write {metric}#radgraph as a feature."
        )
    if name.spec.name != "radcliq" or name.config not in ("default", "paper") or name.options["coefficients"] != "v1":
        raise InputError(f"{metric} cannot be refitted; pass radcliq or radcliq@paper, without coefficients.")
    parsed = parse_names(names)
    check_per_pair(names, "a fit")
    undirected = [text for text, each in parsed.items() if each.spec.headline.higher_is_better is None]
    if method == "nnls" and undirected:
        raise InputError(f"The best value of {undirected[0]} is neither its minimum nor its maximum; fit it with ols.")


def _score_features(ready: Metrics, names: Sequence[str], rated: Fitted, *, progress: bool) -> Features:
    """Scores the rated pairs, and the references of other cases in the place of candidates."""
    own = _own_features(ready.names)
    pairs = [pair._replace(context=Context()) for pair in rated.pairs] if own else rated.pairs  # it knows no patient
    results, random = ready.score_sets([pairs, _random_pairs(pairs, rated.cases)], progress=progress)
    columns, others = (np.column_stack([each[name].headline for name in names]) for each in (results, random))
    signs = tuple(1 if ready.names[name].spec.headline.higher_is_better is False else -1 for name in names)
    if not own:
        signed = {name: results[name].signature for name in names}
        return Features(tuple(names), signs, columns, others, OTHER_KEYS, signed)
    job = ready.jobs[names[0]]
    assert isinstance(job.backend, CombinedBackend)
    assert isinstance(job.scorer, Radcliq)
    facts = {fact: value for fact, value in job.backend.part_facts.items() if fact.partition("_")[0] in own}
    order = [own.index(feature) for feature in FEATURES if feature in own]
    columns, others = columns[:, order], others[:, order]
    return Features(tuple(own[i] for i in order), signs, columns, others, job.scorer.parts, facts)


def _own_features(names: Mapping[str, MetricName]) -> list[str]:
    """The features of RadCliQ that are combined, if they are all of one RadCliQ whose file can be read again."""
    first = next(iter(names.values()))
    is_one = len({str(name.whole) for name in names.values()}) == 1 and first.spec.name == "radcliq"
    own = [name.spec.headline.name.removeprefix("radcliq_") for name in names.values()]
    is_read_again = is_one and first.config in ("default", "paper") and first.options["coefficients"] == "v1"
    return own if is_read_again and set(own) <= set(FEATURES) else []


def _random_pairs(pairs: Sequence[Pair], cases: Sequence[str]) -> list[Pair]:
    """Each case's reference with that of another case as its candidate."""
    firsts = list({case: pair for pair, case in reversed(list(zip(pairs, cases, strict=True)))}.values())
    others = another_study([pair.reference for pair in firsts])
    return [pair._replace(candidate=firsts[other].reference) for pair, other in zip(firsts, others, strict=True)]


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
    names: tuple[str, ...] = FEATURES,
    signs: Sequence[int] | None = None,
    random: Array | None = None,
    method: Method = "nnls",
    folds: int = 0,
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
) -> Composite:
    """Fits the model and estimates how well its coefficients are known.

    Args:
        features: `(n_pairs, n_features)` in the order of `names`; a row with NaN is left out.
        errors: Errors of each pair `(n_pairs,)`.
        cases: The case of each pair.
        parts: Which metrics the features are.
        fitted_on: What these were, as signatures name them.
        names: Of the features.
        signs: −1 for a feature of which more is better, 1 for one of which less is; None: −1 for all.
        random: Features of the reports of other cases, for the errors predicted for them.
        method: As in `fit_radcliq`.
        folds: As in `fit_radcliq`.
        trials: Resamples of cases behind each interval.
        level: Coverage of the intervals.
        seed: Of every interval.
    """
    keep = scored(features)
    x, y = features[keep], errors[keep]
    kept, index = np.unique(np.asarray(cases)[keep], return_inverse=True)
    if len(kept) < len(names) + MORE_CASES:
        raise InputError(
            f"{len(kept)} cases have a score in every metric; a fit needs {len(names) + MORE_CASES} or more."
        )
    fitting = _Fitting(names, np.array(signs or [-1] * len(names)), method)
    model = replace(fitting.model(x, y), parts=parts, fitted_on=fitted_on or {})
    drawn = _resampled(fitting, x, y, index, model, trials=trials, seed=seed)
    left_out = _left_out(fitting, x, y, _folds(index, folds, seed, len(names)))
    qualities = [
        _quality(predicted, y, index, trials=trials, level=level, seed=seed) for predicted in (model.raw(x), left_out)
    ]
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    estimates = [
        Estimate(value, float(a), float(b), len(y))
        for value, a, b in zip((*model.weight, model.intercept), low, high, strict=True)
    ]
    return Composite(
        coefficients=model,
        weights=dict(zip(names, estimates, strict=False)),
        intercept=estimates[-1],
        fitted=qualities[0],
        left_out=qualities[1],
        predicted=Predicted(float(model.raw(x).mean()), _mean_raw(model, random)),
        n_pairs=len(y),
        n_cases=len(kept),
        n_left_out=int((~keep).sum()),
        method=method,
    )


@dataclass(frozen=True)
class _Fitting:
    """How a model is fitted: names and signs of the features, and the method."""

    names: tuple[str, ...]
    signs: Any
    method: Method

    def model(self, x: Array, y: Array) -> Coefficients:
        """Standardises, and finds the weights with the smallest sum of squares; of a constant feature it is 0."""
        from scipy.optimize import nnls

        mean, scale = x.mean(axis=0), x.std(axis=0)
        scale[scale < 1e-12] = 1.0
        z, centred = (x - mean) / scale, y - y.mean()
        if self.method == "ols":
            weight = np.linalg.lstsq(z, centred, rcond=None)[0]
        else:
            weight = self.signs * nnls(z * self.signs, centred)[0]
        columns = [tuple(map(float, column)) for column in (mean, scale, weight + 0.0)]
        return Coefficients(columns[0], columns[1], columns[2], float(y.mean()), features=self.names)


def _quality(predicted: Array, errors: Array, cases: Any, **draws: Any) -> Quality:
    off = errors - predicted
    r2 = 1 - float((off**2).sum() / ((errors - errors.mean()) ** 2).sum())
    p_value = tau_p_value(predicted, errors)
    return Quality(r2, correlate(predicted, errors, groups=cases, **draws), p_value, float(np.abs(off).mean()))


def _mean_raw(model: Coefficients, features: Array | None) -> float:
    """The mean errors predicted for rows without NaN; NaN where there are none."""
    known = features[scored(features)] if features is not None else np.empty((0, len(model.features)))
    return float(model.raw(known).mean()) if len(known) else math.nan


def _folds(index: Any, folds: int, seed: int, n_features: int) -> Any:
    """The fold of each pair; the pairs of a case are in one."""
    n_cases = int(index.max()) + 1
    if folds == 0:
        return index
    if not 2 <= folds <= n_cases or n_cases - -(-n_cases // folds) <= n_features:
        raise InputError(f"folds is {folds} for {n_cases} cases; take 2 to {n_cases}, or 0 to leave out each case.")
    return (np.random.default_rng(seed).permutation(n_cases) % folds)[index]


def _left_out(fitting: _Fitting, x: Array, y: Array, fold: Any) -> Array:
    """Predictions for each fold by a model fitted on all others."""
    predicted = np.empty_like(y)
    for part in range(fold.max() + 1):
        held = fold == part
        predicted[held] = fitting.model(x[~held], y[~held]).raw(x[held])
    return predicted


def _resampled(
    fitting: _Fitting, x: Array, y: Array, index: Any, model: Coefficients, *, trials: int, seed: int
) -> Array:
    """Fits resampled cases: weights (errors per standard deviation of the whole set), and last the intercepts."""
    generator = np.random.default_rng(seed)
    members = [np.flatnonzero(index == case) for case in range(index.max() + 1)]
    drawn = np.empty((trials, len(fitting.names) + 1))
    for row in drawn:
        rows = np.concatenate([members[case] for case in generator.integers(len(members), size=len(members))])
        drawn_model = fitting.model(x[rows], y[rows])
        row[:-1] = np.array(drawn_model.weight) / np.array(drawn_model.scale) * np.array(model.scale)
        row[-1] = drawn_model.raw(np.array([model.mean]))[0]
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
        raise InputError(f"{where}: {cell!r} is not a number of errors; name the column with --errors.")
    return value


def _check(rated: Fitted, source: str, n_features: int) -> None:
    """Finds what no fit can be made of before anything is scored."""
    n_cases = len(set(rated.cases))
    if n_cases < n_features + MORE_CASES:
        raise InputError(
            f"{source} has {n_cases} cases (pairs of one reference); a fit of {n_features} features needs "
            f"{n_features + MORE_CASES} or more."
        )
    if np.ptp(rated.errors) == 0:
        raise InputError(f"{source}: every pair has {rated.errors[0]:g} errors; there is nothing to fit.")
