"""Measures how far metrics agree with radiologists.

Each metric's headline is turned so that more is better, each count of errors so that fewer is better; a positive
correlation is agreement. Pairs are correlated over all candidates, and as differences C1 - C2 within cases, which no
case moves by being hard. Intervals resample cases. Radiologists' counts and ratings are means over raters. The ceiling
is what one radiologist reaches against the mean of the others, or against one other.

Source: CRIMSON, arXiv 2603.06183, sections on RadJudge and RadPref. Its correlation code is not published; the mean
over raters and tau-b are our choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.datasets import RadPref, RankedCase, Target, load_radjudge, load_radpref
from rrgmetrics.metaeval.model import HEADLINE_TARGETS, VIEWS, Agreement, Judged, Preference, View
from rrgmetrics.prepared import prepare
from rrgmetrics.reports import Pair
from rrgmetrics.results import Result
from rrgmetrics.scorers.base import Array, Mean
from rrgmetrics.stats import LEVEL, TRIALS, Estimate, bootstrap, correlate

if TYPE_CHECKING:
    from rich.console import Console

# Sums of a metric's keys that count what radiologists counted; raters hardly marked comparisons (E and F).
COUNTED: tuple[tuple[Target, tuple[str, ...]], ...] = (
    ("false_finding", ("false_finding",)),
    ("missing_finding", ("missing_finding",)),
    ("attribute", ("incorrect_location", "incorrect_severity")),
    ("total_errors", ("false_finding", "missing_finding", "incorrect_location", "incorrect_severity")),
    ("significant_errors", ("significant",)),
    ("significant_errors", ("errors_significant",)),
    ("weighted_errors", ("weighted_errors",)),
)
JUDGED_DECIMALS = 4  # RadJudge compares scores as printed
TIE = 0.01  # RadJudge: "C1 = C2" is an absolute difference below this, whatever the metric's range


@dataclass(frozen=True)
class RadPrefReport:
    """The agreement of metrics with RadPref's radiologists, and of these with each other.

    Attributes:
        data: The rated pairs.
        results: What was scored, by the metric's name as it was passed.
        agreements: By metric, view and target.
        preferences: By metric.
        ceiling: The same for radiologists: each against the mean of the others, and pairwise.
        ceiling_preferences: Each radiologist's ratings against the mean of the others.
        trials: Resamples of cases behind each interval.
        level: Coverage of the intervals.
        seed: Of every interval.
    """

    data: RadPref
    results: Mapping[str, Result]
    agreements: tuple[Agreement, ...]
    preferences: tuple[Preference, ...]
    ceiling: tuple[Agreement, ...]
    ceiling_preferences: tuple[Preference, ...]
    trials: int
    level: float
    seed: int

    def print(self, console: Console) -> None:
        """Prints the tables."""
        from rrgmetrics.metaeval.tables import radpref_tables

        for table in radpref_tables(self):
            console.print(table, "")

    def to_dict(self) -> dict[str, Any]:
        """Returns all but the texts and per-pair scores, in Python's own types (NaN where undefined)."""
        return {
            "dataset": "radpref",
            "n_pairs": len(self.data.rated),
            "n_cases": len(set(self.data.cases)),
            "n_raters": len(self.data.rated[0].annotations),
            "trials": self.trials,
            "level": self.level,
            "seed": self.seed,
            "signatures": {name: result.signature for name, result in self.results.items()},
            **{
                name: [_to_dict(line) for line in getattr(self, name)]
                for name in ("agreements", "preferences", "ceiling", "ceiling_preferences")
            },
        }

    def plot(self, folder: str | Path, *, force: bool = False) -> list[Path]:
        """Writes a scatter plot a metric; returns the files. InputError if one exists, unless `force`."""
        from rrgmetrics.metaeval.plots import scatter_plots

        return scatter_plots(self, Path(folder), force=force)


@dataclass(frozen=True)
class RadJudgeReport:
    """The report on which of RadJudge's cases each metric orders as radiologists do.

    Attributes:
        results: What was scored, by the metric's name as it was passed; pairs in the order of the cases.
        judged: By metric and case.
    """

    results: Mapping[str, Result]
    judged: tuple[Judged, ...]

    def passed(self, subject: str, category: str | None = None) -> tuple[int, int]:
        """The numbers of cases passed and of all cases, in one category or in all."""
        rows = [row for row in self.judged if row.subject == subject and category in (None, row.category)]
        return sum(row.passed for row in rows), len(rows)

    @property
    def categories(self) -> list[str]:
        """The categories in the order of the data."""
        return list(dict.fromkeys(row.category for row in self.judged))

    def print(self, console: Console) -> None:
        """Prints the tables."""
        from rrgmetrics.metaeval.tables import radjudge_tables

        for table in radjudge_tables(self):
            console.print(table, "")

    def to_dict(self) -> dict[str, Any]:
        """Returns the cases passed by metric and category, and every case, in Python's own types (NaN: unscored)."""
        return {
            "dataset": "radjudge",
            "metrics": {
                name: {
                    "signature": result.signature,
                    "n_pairs": result.n_pairs,
                    "n_unscored": result.n_unscored,
                    "passed": self.passed(name)[0],
                    "n_cases": self.passed(name)[1],
                    "passed_by_category": {category: self.passed(name, category)[0] for category in self.categories},
                }
                for name, result in self.results.items()
            },
            "n_cases_by_category": dict(Counter(row.category for row in self.judged if row.subject == self._first)),
            "cases": [row._asdict() | {"expected": list(row.expected)} for row in self.judged],
        }

    def plot(self, folder: str | Path, *, force: bool = False) -> list[Path]:
        """Raises InputError: RadJudge has expected orders, no ratings to draw scores against."""
        raise InputError("RadJudge has no ratings to plot scores against; leave --plots out, or use radpref:PATH.")

    @property
    def _first(self) -> str:
        return next(iter(self.results))


def agree(
    dataset: str,
    metrics: Sequence[str],
    *,
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
    batch_size: int | None = None,
    device: str | None = None,
    progress: bool = True,
) -> RadPrefReport | RadJudgeReport:
    """Scores a data set that radiologists judged, and measures how far metrics agree with them.

    Args:
        dataset: `"radpref:PATH"` or `"radjudge:PATH"`; see `load_radpref` and `load_radjudge` for what PATH may be.
        metrics: As `rrgmetrics.score` takes them.
        trials: Resamples of cases behind each interval.
        level: Coverage of the intervals.
        seed: Of every interval.
        batch_size: As in `rrgmetrics.score`.
        device: As in `rrgmetrics.score`.
        progress: As in `rrgmetrics.score`.

    Returns:
        A report with `print(console)`, `to_dict()` and `plot(folder)`.

    Raises:
        InputError: Unknown data set or metric, or data that cannot be used; nothing was scored.
        BackendError: Weights or data of a metric are not there; nothing was scored.
    """
    kind, _, path = dataset.partition(":")
    if kind not in ("radpref", "radjudge") or not path:
        raise InputError(f"There is no dataset {dataset!r}; write radpref:PATH or radjudge:PATH.")

    def scored(pairs: Sequence[Pair]) -> dict[str, Result]:
        with prepare(metrics, batch_size=batch_size, device=device) as ready:
            return ready.score_pairs(pairs, progress=progress)

    if kind == "radpref":
        data = load_radpref(path)
        return radpref_report(data, scored(data.pairs), trials=trials, level=level, seed=seed)
    cases = load_radjudge(path)
    return radjudge_report(cases, scored([pair for case in cases for pair in case.pairs.values()]))


# --- RadPref


class _Column(NamedTuple):
    """Numbers of each pair, to be held against one target; `counts` if both count the same errors."""

    subject: str
    key: str
    values: Array
    higher_is_better: bool
    target: Target
    counts: bool


def radpref_report(
    data: RadPref, results: Mapping[str, Result], *, trials: int = TRIALS, level: float = LEVEL, seed: int = 0
) -> RadPrefReport:
    """Measures how far scores agree with RadPref's radiologists.

    Args:
        data: The rated pairs.
        results: Scores of `data.pairs` by the metric's name.
        trials: Resamples of cases behind each interval.
        level: Coverage of the intervals.
        seed: Of every interval.
    """

    def agreements(column: _Column, truth: Array) -> Iterator[Agreement]:
        for view in VIEWS:
            yield _agreement(column, truth, view, data.cases, trials=trials, level=level, seed=seed)

    means = {target: data.annotated(target).mean(axis=0) for target in get_args(Target)}
    ours = [
        (column, means[column.target])
        for name, result in results.items()
        for column in _columns(name, result)
        if not np.isnan(means[column.target]).any()  # data without classes of significance
    ]
    theirs = list(_rater_columns(data))

    def preferences(subject: str, values: Array, rating: Array) -> Preference:
        return _preference(subject, values, rating, trials=trials, level=level, seed=seed)

    return RadPrefReport(
        data=data,
        results=results,
        agreements=tuple(line for column, truth in ours for line in agreements(column, truth)),
        preferences=tuple(
            preferences(name, result.spec.headline.goodness(_headline(result)), means["rating"])
            for name, result in results.items()
        ),
        ceiling=tuple(line for column, truth in theirs for line in agreements(column, truth)),
        ceiling_preferences=tuple(
            preferences(column.subject, column.values, truth)
            for column, truth in theirs
            if column.target == "rating" and column.key == "others"
        ),
        trials=trials,
        level=level,
        seed=seed,
    )


def _columns(name: str, result: Result) -> Iterator[_Column]:
    """The headline against everything, and what counts errors against the same counts of radiologists."""
    metric, headline = result.spec.name, result.spec.headline
    higher = headline.higher_is_better is not False
    values = _headline(result) if headline.target is None else headline.goodness(_headline(result))
    counts_errors = not higher and f"{metric}_false_finding" in result.per_pair
    for target in HEADLINE_TARGETS:
        counts = counts_errors and target == "total_errors"
        yield _Column(name, metric, values, higher, target, counts)
    for target, parts in COUNTED:
        keys = [f"{metric}_{part}" for part in parts]
        if all(key in result.per_pair for key in keys):
            counted = np.sum([result.per_pair[key] for key in keys], axis=0)
            yield _Column(name, " + ".join(keys), counted, False, target, True)


def _rater_columns(data: RadPref) -> Iterator[tuple[_Column, Array]]:
    """Yields each radiologist with the mean of the others and with each other, and mean counts with mean ratings."""
    n_raters = len(data.rated[0].annotations)
    for target in HEADLINE_TARGETS:
        annotated = data.annotated(target)
        is_rating = target == "rating"
        for i in range(n_raters if n_raters > 1 else 0):
            column = _Column(f"radiologist {i + 1}", "others", annotated[i], is_rating, target, not is_rating)
            yield column, np.delete(annotated, i, axis=0).mean(axis=0)
        for i, j in combinations(range(n_raters), 2):
            subject = f"radiologists {i + 1} and {j + 1}"
            yield _Column(subject, "each other", annotated[i], is_rating, target, not is_rating), annotated[j]
        if not is_rating:
            column = _Column("radiologists' mean", target, annotated.mean(axis=0), False, "rating", False)
            yield column, data.annotated("rating").mean(axis=0)


def _agreement(
    column: _Column, truth: Array, view: View, cases: Sequence[str], *, trials: int, level: float, seed: int
) -> Agreement:
    errors = np.abs(column.values - truth)
    scores = _turned(column.values, column.higher_is_better)
    annotated = _turned(truth, column.target == "rating")
    if view == "differences":
        scores, annotated, cases = _differences(scores), _differences(annotated), cases[::2]
    correlation = correlate(_tied(scores), _tied(annotated), groups=cases, trials=trials, level=level, seed=seed)
    has_mae = column.counts and view == "pairs" and correlation.n > 0
    return Agreement(
        subject=column.subject,
        key=column.key,
        target=column.target,
        view=view,
        tau_b=correlation.tau_b,
        rho=correlation.rho,
        r=correlation.r,
        mae=float(np.nanmean(errors)) if has_mae else np.nan,
        n=correlation.n,
    )


def _preference(subject: str, values: Array, rating: Array, *, trials: int, level: float, seed: int) -> Preference:
    preferred = np.sign(_differences(rating))
    clear = preferred != 0
    ours = np.sign(_differences(values))[clear]
    hits = (1 + ours * preferred[clear]) / 2
    share = bootstrap(Mean(("share",)), hits[:, None], trials=trials, level=level, seed=seed)["share"]
    return Preference(subject, share, n_clear=int(clear.sum()), n_ties=int((ours == 0).sum()))


def _headline(result: Result) -> Array:
    return result.per_pair[result.spec.name]


def _turned(values: Array, higher_is_better: bool) -> Array:
    """Turns scores so that more is better."""
    return values if higher_is_better else -values


def _differences(values: Array) -> Array:
    """Returns C1 - C2 of each case; 0 where they are equal but for float error."""
    first, second = values[::2], values[1::2]
    return np.where(np.isclose(first, second, rtol=1e-9, atol=0), 0.0, first - second)


def _tied(values: Array) -> Array:
    """Values to seven digits, so that float error breaks no tie: 5/3 - 4/3 and 4/3 - 1 are one rank."""
    return values.astype(np.float32).astype(np.float64)


def _to_dict(line: Agreement | Preference) -> dict[str, Any]:
    return {name: value._asdict() if isinstance(value, Estimate) else value for name, value in vars(line).items()}


# --- RadJudge


def radjudge_report(cases: Sequence[RankedCase], results: Mapping[str, Result]) -> RadJudgeReport:
    """Judges scores by RadJudge's expected orders.

    Args:
        cases: The cases.
        results: Scores of the cases' pairs, in order, by the metric's name.
    """
    judged = []
    for subject, result in results.items():
        values = iter(_headline(result))
        for case in cases:
            scores = {name: round(float(next(values)), JUDGED_DECIMALS) for name in case.pairs}
            better = {name: result.spec.headline.goodness(score) for name, score in scores.items()}
            passed = all(holds(relation, better) for relation in case.expected)
            judged.append(Judged(subject, case.case, case.category, case.expected, scores, passed))
    return RadJudgeReport(results, tuple(judged))


def holds(relation: str, scores: Mapping[str, float], *, higher_is_better: bool = True) -> bool:
    """Returns whether scores stand in the expected relation.

    Args:
        relation: `"C1 > C2"` (C1 is strictly better) or `"C1 = C2"` (they differ by less than 0.01).
        scores: By candidate; NaN (unscored) stands in no relation.
        higher_is_better: Direction of the scores.

    Returns:
        False too for a relation that cannot be read, as in the authors' checker.

    Example:
        >>> holds("C1 = C2", {"C1": 0.5, "C2": 0.509})
        True
    """
    for sign in (" > ", " = "):
        first, separator, second = relation.partition(sign)
        if separator and first in scores and second in scores:
            difference = scores[first] - scores[second]
            if sign == " = ":
                return abs(difference) < TIE
            return difference > 0 if higher_is_better else difference < 0
    return False
