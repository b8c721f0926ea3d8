"""`agree`: scores data that radiologists judged, and measures how far metrics agree with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.agreement import AgreementReport, measure
from rrgmetrics.metaeval.equal import Equal, EqualReport, equal_report
from rrgmetrics.metaeval.fitted_models import subjects_of
from rrgmetrics.metaeval.loaders import Data, Ranked, load
from rrgmetrics.metaeval.preferences import PreferenceReport, Preferred, preference_report
from rrgmetrics.metaeval.ranked import RankedReport, ranked_report
from rrgmetrics.metaeval.rated import Rated
from rrgmetrics.metaeval.timing import Timed, score_timed
from rrgmetrics.scoring.prepared import prepare
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs.names import check_per_pair
from rrgmetrics.stats import LEVEL, TRIALS
from rrgmetrics.systems.table import Correction

Report = AgreementReport | RankedReport | EqualReport | PreferenceReport


def agree(
    dataset: str | Path,
    metrics: str | Sequence[str],
    *,
    columns: Mapping[str, str] | None = None,
    counts: str | Sequence[str] = (),
    ratings: str | Sequence[str] = (),
    targets: Sequence[str] = (),
    correction: Correction = "holm",
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
    batch_size: int | None = None,
    device: str | None = None,
    timed: bool = False,
    progress: bool = True,
) -> Report:
    """Scores one data set, and measures how far metrics agree with its raters.

    Args:
        dataset: `NAME:PATH`, or the path of a table of rated pairs; see `rrgmetrics.metaeval.loaders.load`.
        metrics: As `rrgmetrics.score` takes them, one of their keys as `green#errors`; also `radcliq@FILE`, a model of
            any keys that `rrgmetrics radcliq fit` wrote.
        columns: Of a table: the column of each field, such as `{"study_id": "case"}`.
        counts: Of a table: columns that count errors.
        ratings: Of a table: columns in which more is better.
        targets: What tables and plots are of, the main one first, such as `"all_eight"`; empty: total and significant
            errors, and the rating.
        correction: Of the p-values of every two metrics.
        trials: Resamples of studies behind each interval.
        level: Coverage of the intervals.
        seed: Of every interval.
        batch_size: As in `rrgmetrics.score`.
        device: As in `rrgmetrics.score`.
        timed: Whether to score each metric alone, and say how long it takes (`AgreementReport.times`).
        progress: As in `rrgmetrics.score`.

    Returns:
        The report; of RadJudge the cases passed, of pairs that say the same those that score so, else the agreement.

    Raises:
        InputError: Unknown data set or metric, or data that cannot be used; nothing was scored.
        BackendError: Weights or data of a metric are not there; nothing was scored.
    """
    data = load(dataset, columns=columns, counts=counts, ratings=ratings)
    data = data.with_targets(targets) if isinstance(data, Rated) else data
    return agree_on(
        [data],
        metrics,
        correction=correction,
        trials=trials,
        level=level,
        seed=seed,
        batch_size=batch_size,
        device=device,
        timed=timed,
        progress=progress,
    )[0]


def agree_on(
    data: Sequence[Data],
    metrics: str | Sequence[str],
    *,
    correction: Correction = "holm",
    trials: int = TRIALS,
    level: float = LEVEL,
    seed: int = 0,
    batch_size: int | None = None,
    device: str | None = None,
    timed: bool = False,
    progress: bool = True,
) -> list[Report]:
    """Scores several data sets with the same prepared metrics; arguments as in `agree`."""
    name, n_called = Counter(each.name for each in data).most_common(1)[0]
    if n_called > 1:
        raise InputError(f"Two data sets are called {name!r}; give each file its own name.")
    check_per_pair(metrics, "agree")
    draws: dict[str, Any] = {"trials": trials, "level": level, "seed": seed}
    scored = _scored(data, metrics, batch_size, device, timed, progress)
    reports: list[Report] = []
    for each, (results, times) in zip(data, scored, strict=True):
        if isinstance(each, Ranked):
            reports.append(ranked_report(each, results))
        elif isinstance(each, Equal):
            reports.append(equal_report(each, results, **draws))
        elif isinstance(each, Preferred):
            reports.append(preference_report(each, results, **draws))
        else:
            report = measure(each, results, correction=correction, progress=progress, **draws)
            reports.append(replace(report, times=times))
    return reports


def _scored(
    data: Sequence[Data],
    metrics: str | Sequence[str],
    batch_size: int | None,
    device: str | None,
    timed: bool,
    progress: bool,
) -> list[tuple[dict[str, Result], dict[str, Timed]]]:
    """The results of each data set, and the times where they are wanted: then each metric runs alone."""
    subjects = subjects_of(metrics)
    if not timed:
        with prepare(subjects.scored, batch_size=batch_size, device=device) as ready:
            results_of = (ready.score_pairs(list(each.pairs), progress=progress) for each in data)
            return [(subjects.complete(results), {}) for results in results_of]
    if subjects.models:
        raise InputError(
            f"{next(iter(subjects.models))} takes the time of the metrics that it combines; name those instead."
        )
    scored: list[tuple[dict[str, Result], dict[str, Timed]]] = [({}, {}) for _ in data]
    with prepare(metrics, batch_size=batch_size, device=device) as ready:  # what is missing is known first, and once
        for each in data:
            ready.warn({"": list(each.pairs)}, None)
    for name in metrics:
        with prepare([name], batch_size=batch_size, device=device) as ready:
            for each, (results, times) in zip(data, scored, strict=True):
                result, times[name] = score_timed(ready, each.pairs, progress=progress)
                results.update(result)
    return scored
