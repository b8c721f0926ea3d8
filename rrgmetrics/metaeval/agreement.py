"""Measures how far metrics agree with radiologists.

Each metric's headline is turned so that more is better, each count of errors so that fewer is better; a positive
correlation is agreement. Pairs are correlated over all candidates (pooled), within studies (blocked, which no study
moves by being hard), and, where every study has two candidates, as differences C1 - C2. Intervals resample studies.
Raters' counts and ratings are means over the raters of a pair. The ceiling is what one rater reaches against the mean
of the others, or against one other.

Sources: CRIMSON, arXiv 2603.06183, sections on RadJudge and RadPref; its correlation code is not published, and the
mean over raters and tau-b are our choice. RadEval, arXiv 2509.18030, table 2: pooled and blocked tau-b, labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.metaeval.beside import Beside, beside_published
from rrgmetrics.metaeval.model import FEW, UNDEFINED, Agreement, Between, Preference, View
from rrgmetrics.metaeval.rated import KINDS, RATING, TOTAL, Rated, mean_of_raters
from rrgmetrics.metaeval.timing import Timed
from rrgmetrics.scorers.base import Array, Mean
from rrgmetrics.scoring.results import Result
from rrgmetrics.stats import (
    FEWEST_GROUPS,
    LEVEL,
    TRIALS,
    Estimate,
    TauDraws,
    blocked_tau_b,
    bootstrap,
    correlate,
    tau_b_difference,
    tau_b_draws,
    tau_p_value,
    without_interval,
)
from rrgmetrics.systems.table import CORRECTIONS, Correction
from rrgmetrics.utils.progress import watched

LINES = ("agreements", "preferences", "between", "ceiling", "ceiling_preferences", "published", "beside")
FEWEST = 3  # studies behind any correlation that is printed: below, a number says nothing


@dataclass(frozen=True)
class Resampling:
    """How intervals are drawn: resamples of studies, coverage, seed."""

    trials: int = TRIALS
    level: float = LEVEL
    seed: int = 0


@dataclass(frozen=True)
class AgreementReport:
    """The agreement of metrics with the raters of one data set, and of these with each other.

    Attributes:
        data: The rated pairs.
        results: What was scored, by the metric's name as it was passed.
        agreements: By metric, column of scores, target and view; then by subset.
        preferences: By metric.
        between: Every two metrics on `between_target`.
        ceiling: The same for raters: each against the mean of the others, and pairwise.
        ceiling_preferences: Each rater's preferences against the mean of the others.
        published: The agreement of scores that the data come with; the key is the data's name of the metric.
        beside: Those scores beside ours.
        resampling: Behind each interval.
        correction: Of the p-values of `between`.
        times: How long each metric took, where it was timed.
    """

    data: Rated
    results: Mapping[str, Result]
    agreements: tuple[Agreement, ...]
    preferences: tuple[Preference, ...]
    between: tuple[Between, ...]
    ceiling: tuple[Agreement, ...]
    ceiling_preferences: tuple[Preference, ...]
    published: tuple[Agreement, ...]
    beside: tuple[Beside, ...]
    resampling: Resampling
    correction: Correction
    times: Mapping[str, Timed] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The data set."""
        return self.data.name

    def headline(self, subject: str, target: str, view: View = "pairs", subset: str = "") -> Agreement | None:
        """The agreement of a metric's headline; None where there is none."""
        key = self.results[subject].spec.headline.name
        found = (line for line in self.agreements if (line.subject, line.key, line.target) == (subject, key, target))
        return next((line for line in found if (line.view, line.subset) == (view, subset)), None)

    def reached(self, target: str, view: View = "pairs", *, subset: str = "") -> tuple[float, ...]:
        """What each rater reaches against the mean of the others, tau-b; empty where there is one rater only."""
        return self._ceilings(target, view, subset)

    @cached_property
    def _ceilings(self) -> Callable[[str, View, str], tuple[float, ...]]:
        parts = {"": self.data} | {f"{label} {text}": self.data.only(keep) for label, text, keep in self.data.subsets()}
        return cache(lambda target, view, subset: ceiling_of(parts[subset], target, view))

    def to_dict(self) -> dict[str, object]:
        """Returns all but the texts and per-pair scores, in Python's own types (NaN where undefined)."""
        return {
            "dataset": self.data.name,
            "n_pairs": len(self.data.pairs),
            "n_cases": self.data.n_studies,
            "n_raters": len(self.data.raters),
            "notes": [*self.data.notes, *([FEW] if self.data.n_studies < FEWEST_GROUPS else [])],
            "trials": self.resampling.trials,
            "level": self.resampling.level,
            "seed": self.resampling.seed,
            "correction": self.correction,
            "signatures": {name: result.signature for name, result in self.results.items()},
            **{name: [_to_dict(line) for line in getattr(self, name)] for name in LINES},
            "agreements": [
                _to_dict(line) | {"ceiling": list(self.reached(line.target, line.view, subset=line.subset))}
                for line in self.agreements
            ],
        }

    def rows(self) -> Iterator[dict[str, object]]:
        """Yields a flat row for each agreement of a metric or a rater, for a table of numbers."""
        yield from ({"dataset": self.name, **each.row()} for each in self.beside)
        for line in (*self.agreements, *self.published):
            yield row(self.name, line, self.reached(line.target, line.view, subset=line.subset))
        for line in self.ceiling:
            yield row(self.name, line)


def row(dataset: str, line: Agreement, ceiling: Sequence[float] = ()) -> dict[str, object]:
    """A line as a flat row; what raters reach is NaN where none shares pairs with others."""
    return {
        "dataset": dataset,
        "subject": line.subject,
        "key": line.key,
        "target": line.target,
        "view": line.view,
        "subset": line.subset,
        "tau_b": line.tau_b.value,
        "low": line.tau_b.low,
        "high": line.tau_b.high,
        "label": line.label,
        "p_value": line.p_value,
        "ceiling_low": min(ceiling, default=np.nan),
        "ceiling_high": max(ceiling, default=np.nan),
        "rho": line.rho.value,
        "rho_low": line.rho.low,
        "rho_high": line.rho.high,
        "r": line.r.value,
        "r_low": line.r.low,
        "r_high": line.r.high,
        "mae": line.mae,
        "mae_sd": line.mae_sd,
        "bias": line.bias,
        "n": line.n,
    }


class Column(NamedTuple):
    """Numbers of each pair, to be held against one target; `counts` if both count the same errors."""

    subject: str
    key: str
    values: Array
    higher_is_better: bool
    target: str
    counts: bool


def measure(
    data: Rated,
    results: Mapping[str, Result],
    *,
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
    correction: Correction = "holm",
    progress: bool = False,
) -> AgreementReport:
    """Measures how far scores agree with raters.

    Args:
        data: The rated pairs.
        results: Scores of `data.pairs` by the metric's name.
        trials: Resamples of studies behind each interval.
        level: Coverage of the intervals.
        seed: Of every interval.
        correction: Of the p-values of every two metrics.
        progress: Whether to show a bar while intervals are drawn.
    """
    resampling = Resampling(trials, level, seed)
    means = {target: data.mean(target) for target in data.targets}
    ours = [column for name, result in results.items() for column in _columns(data, name, result)]
    seen = watched(ours, "drawing intervals", "columns", shown=progress)
    minors = [_is_minor(data, column, results) for column in ours]
    theirs = list(_rater_columns(data, means))
    preferred = data.preferred_by
    return AgreementReport(
        data=data,
        results=results,
        agreements=(
            *(
                line
                for column, minor in zip(seen, minors, strict=True)
                for line in _views(data, column, means[column.target], resampling, short=minor)
            ),
            *_of_subsets(data, [column for column in ours if _is_main(data, column, results)], means, resampling),
        ),
        preferences=tuple(
            _preference(data, name, goodness(result), means[preferred], resampling) for name, result in results.items()
        ),
        between=between_metrics(data, results, resampling, correction),
        ceiling=tuple(line for column, truth in theirs for line in _views(data, column, truth, resampling)),
        ceiling_preferences=tuple(
            _preference(data, column.subject, column.values * data.goodness(preferred), truth, resampling)
            for column, truth in theirs
            if column.target == preferred and column.key == "others"
        ),
        published=tuple(
            line
            for column in _published_columns(data)
            for line in _views(data, column, means[column.target], resampling)
        ),
        beside=tuple(beside_published(data, results, vars(resampling))),
        resampling=resampling,
        correction=correction,
    )


def goodness(result: Result) -> Array:
    """A metric's headline for each pair, turned so that more is better."""
    return result.spec.headline.goodness(result.headline)


def main_target(data: Rated) -> str:
    """The target on which metrics are held against each other: the first that was chosen, else total errors."""
    return TOTAL if TOTAL in data.values and not data.chosen else data.main[0]


# --- columns


def _columns(data: Rated, name: str, result: Result) -> Iterator[Column]:
    """The headline against everything, and what counts errors against the same counts of raters."""
    for target in data.targets:
        yield headline_column(data, name, result, target)
    for target in () if result.spec.fragment else data.targets:
        if own := data.counts_of(result.spec.name, result.per_pair, target):
            yield Column(name, *own, False, target, True)


def headline_column(data: Rated, name: str, result: Result, target: str) -> Column:
    """A metric's headline, to be held against a target."""
    headline = result.spec.headline
    higher = headline.higher_is_better is not False
    values = result.headline if headline.target is None else headline.goodness(result.headline)
    return Column(name, headline.name, values, higher, target, _counts(data, result, target))


def _counts(data: Rated, result: Result, target: str) -> bool:
    """Whether a metric's headline counts what a target counts."""
    metric, headline = result.spec.name, result.spec.headline.name
    if result.spec.headline.higher_is_better is not False:
        return False
    if target == TOTAL:
        counts_errors = f"{metric}_false_finding" in result.per_pair or headline == f"{metric}_errors"
        return counts_errors and set(data.kinds) <= set(KINDS)
    return any(parts == (headline.removeprefix(f"{metric}_"),) for parts in data.counted_by(target))


def _published_columns(data: Rated) -> Iterator[Column]:
    """Yields the scores that the data come with, each against what every table shows."""
    for name, each in data.published.items():
        for target in data.main:
            yield Column("published", name, each.scores, each.higher_is_better, target, counts=False)


def _is_minor(data: Rated, column: Column, results: Mapping[str, Result]) -> bool:
    """Whether a headline is held against something else than a total: pooled will do."""
    return column.key == results[column.subject].spec.headline.name and column.target not in data.main


def _is_main(data: Rated, column: Column, results: Mapping[str, Result]) -> bool:
    return column.key == results[column.subject].spec.headline.name and column.target in data.main


def _rater_columns(data: Rated, means: Mapping[str, Array]) -> Iterator[tuple[Column, Array]]:
    """Yields each rater with the mean of the others and with each other, and mean counts with mean ratings."""
    n_raters = len(data.raters)
    for target in data.main:
        values, rating = data.values[target], target in data.ratings
        for i in range(n_raters if n_raters > 1 else 0):
            others = mean_of_raters(np.delete(values, i, axis=0))
            if _overlap(values[i], others):
                yield Column(data.raters[i], "others", values[i], rating, target, not rating), others
        for i, j in combinations(range(n_raters), 2):
            if _overlap(values[i], values[j]):
                subject = f"{data.raters[i]} and {data.raters[j]}"
                yield Column(subject, "each other", values[i], rating, target, not rating), values[j]
        if not rating and RATING in data.values:
            column = Column("raters' mean", target, means[target], False, RATING, False)
            yield column, means[RATING]


def ceiling_of(data: Rated, target: str, view: View = "pairs") -> tuple[float, ...]:
    """What each rater reaches against the mean of the others, tau-b; empty where none shares pairs with others."""
    values, once = data.values.get(target, np.empty((0, 0))), Resampling(trials=1)
    taus = []
    for i in range(len(values) if len(values) > 1 else 0):
        others = mean_of_raters(np.delete(values, i, axis=0))
        if _overlap(values[i], others):
            column = Column(data.raters[i], "others", values[i], target in data.ratings, target, counts=False)
            taus.append(agreement_of(column, others, data, once, view).tau_b.value)
    return tuple(tau for tau in taus if not np.isnan(tau))


def _overlap(one: Array, other: Array) -> bool:
    """Whether two raters have judged enough of the same pairs."""
    return int((~np.isnan(one) & ~np.isnan(other)).sum()) >= FEWEST


# --- one column


def _views(
    data: Rated, column: Column, truth: Array, resampling: Resampling, *, short: bool = False
) -> Iterator[Agreement]:
    """The agreement pooled (if `short`, no more), within studies, and of differences, where there are such."""
    correlated = partial(agreement_of, column, truth, data, resampling)
    yield correlated("pairs")
    if short:
        return
    if data.n_studies < len(data.pairs):
        yield correlated("within")
    if len(data.pairs) == 2 * data.n_studies == 2 * data.candidates_compared().shape[1]:
        yield correlated("differences")


def agreement_of(
    column: Column, truth: Array, data: Rated, resampling: Resampling, view: View, subset: str = ""
) -> Agreement:
    """Measures the agreement of one column of scores with one column of annotations, over pairs or within studies."""
    draws = vars(resampling)
    scores = column.values if column.higher_is_better else -column.values
    annotated = truth * (1 if column.target in data.ratings else -1)
    studies: Sequence[str] = data.studies
    if view == "within":
        within = blocked_tau_b(_tied(scores), _tied(annotated), groups=studies, **draws)
        return Agreement(
            *column[:2], column.target, view, within, UNDEFINED, UNDEFINED, np.nan, np.nan, within.n, subset
        )
    if view == "differences":
        twos = data.candidates_compared()
        scores, annotated = (_differences(values, twos) for values in (scores, annotated))
        studies = [studies[row] for row in twos[0]]
    found = correlate(_tied(scores), _tied(annotated), groups=studies, **draws)
    errors = column.values - truth
    has_mae = column.counts and view == "pairs" and found.n > 0
    return Agreement(
        subject=column.subject,
        key=column.key,
        target=column.target,
        view=view,
        tau_b=found.tau_b,
        rho=found.rho,
        r=found.r,
        mae=float(np.nanmean(np.abs(errors))) if has_mae else np.nan,
        bias=float(np.nanmean(errors)) if has_mae else np.nan,
        n=found.n,
        subset=subset,
        p_value=np.nan if np.isnan(found.tau_b.low) else tau_p_value(_tied(scores), _tied(annotated)),
        mae_sd=float(np.nanstd(np.abs(errors))) if has_mae else np.nan,
    )


def _of_subsets(
    data: Rated, columns: Sequence[Column], means: Mapping[str, Array], resampling: Resampling
) -> Iterator[Agreement]:
    """The pooled agreement of each section, source, or whatever else divides the pairs."""
    for label, text, keep in data.subsets():
        part = data.only(keep)
        for column in columns:
            own = column._replace(values=column.values[keep])
            yield agreement_of(own, means[column.target][keep], part, resampling, "pairs", f"{label} {text}")


def _preference(data: Rated, subject: str, values: Array, truth: Array, resampling: Resampling) -> Preference:
    """How often two candidates of a study are put in the raters' order; `values` are better if more."""
    twos = data.candidates_compared()
    preferred = np.sign(_differences(truth * data.goodness(data.preferred_by), twos))
    clear = (preferred != 0) & ~np.isnan(preferred)
    ours = np.sign(_differences(values, twos))[clear]
    hits = (1 + ours * preferred[clear]) / 2
    studies = [data.studies[row] for row in twos[0][clear]]
    share = bootstrap(Mean(("share",)), hits[:, None], groups=studies, **vars(resampling))["share"]
    share = without_interval(share) if len(set(studies)) < FEWEST_GROUPS else share
    return Preference(subject, share, n_clear=int(clear.sum()), n_ties=int((ours == 0).sum()))


# --- two metrics


def between_metrics(
    data: Rated, results: Mapping[str, Result], resampling: Resampling, correction: Correction
) -> tuple[Between, ...]:
    """Compares the agreement of every two metrics with the raters on the pairs that both scored."""
    target = main_target(data)
    truth = _tied(data.mean(target) * data.goodness(target))
    scores = {name: _tied(goodness(result)) for name, result in results.items()}
    drawn: dict[tuple[str, bytes], TauDraws] = {}

    def draws(name: str, keep: NDArray[np.bool_]) -> TauDraws:
        key = name, keep.tobytes()
        if key not in drawn:
            values = np.where(keep, scores[name], np.nan)
            drawn[key] = tau_b_draws(values, truth, groups=data.studies, trials=resampling.trials, seed=resampling.seed)
        return drawn[key]

    lines = []
    for first, second in combinations(results, 2):
        keep = ~np.isnan(scores[first]) & ~np.isnan(scores[second]) & ~np.isnan(truth)
        one, other = draws(first, keep), draws(second, keep)
        difference, p, floor = tau_b_difference(one, other, level=resampling.level)
        lines.append(Between(target, first, second, (one.value, other.value), difference, p, np.nan, floor))
    corrected = CORRECTIONS[correction]([line.p_value for line in lines])
    return tuple(replace(line, p_corrected=float(p)) for line, p in zip(lines, corrected, strict=True))


# --- numbers


def _differences(values: Array, twos: Any) -> Array:
    """Returns the first less the second of every two candidates; 0 where they are equal but for float error."""
    first, second = values[twos[0]], values[twos[1]]
    return np.where(np.isclose(first, second, rtol=1e-9, atol=0), 0.0, first - second)


def _tied(values: Array) -> Array:
    """Values to seven digits, so that float error breaks no tie: 5/3 - 4/3 and 4/3 - 1 are one rank."""
    return values.astype(np.float32).astype(np.float64)


def _to_dict(line: Agreement | Preference | Between | Beside) -> dict[str, object]:
    fields = {name: value._asdict() if isinstance(value, Estimate) else value for name, value in vars(line).items()}
    return fields | ({"label": line.label} if isinstance(line, Agreement) else {})
