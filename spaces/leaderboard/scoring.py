"""From a submission's reports to what the board keeps of them, and from that to intervals and paired tests.

`rrgmetrics.score` runs once a submission; everything else here follows from the statistics of pairs.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np

from rrgmetrics import stats
from rrgmetrics.baselines.skill import PERFECT, Skill, measure_skill, score_beside, trivial_systems
from rrgmetrics.baselines.subsets import rows_of_slices
from rrgmetrics.errors import InputError
from rrgmetrics.reports import Pair, parse_context
from rrgmetrics.reports.missing import says_nothing
from rrgmetrics.scorers import aggregate
from rrgmetrics.scorers.base import Array
from rrgmetrics.scoring.prepared import Metrics, parse_names, prepare, reduction_of
from rrgmetrics.scoring.results import Result
from rrgmetrics.spaces.database import StoreError, restoring
from rrgmetrics.spaces.leaderboard import schema, shown
from rrgmetrics.specs import Key
from rrgmetrics.specs.names import READER, parse_name
from rrgmetrics.stats import Estimate, PairedTest

SLICE_TRIALS = 1_000
SKILL_DECIMALS = 2
SKILL, TRIVIAL = "skill", "trivial:"  # what is recorded beside the estimates of a metric's keys
Studies = Sequence[tuple[str, Mapping[str, Any], Sequence[str]]]  # reference, context, slices


class Scored(NamedTuple):
    """What is recorded of one metric.

    Attributes:
        metric: Name on the board.
        signature: What ran.
        unscored: Numbers of the studies without a score.
        estimates: (value, low, high, n) by key; also `SKILL`, and the scores of trivial systems and of the references
            themselves by `TRIVIAL` and their names, where the metric asks no model.
        slices: (value, low, high, n) of the headline by slice.
        stats: Packed statistics of pairs.
        n_lost: Pairs without a score as the metric's judge was down.
    """

    metric: str
    signature: str
    unscored: list[int]
    estimates: dict[str, Estimate]
    slices: dict[str, Estimate]
    stats: bytes
    n_lost: int = 0


def check_metrics(names: Sequence[str]) -> list[str]:
    """Names fit for a board, as they will be written; raises InputError for others."""
    parsed = list(parse_names(names).values())
    for name in parsed:
        if name.spec.judge and name.options["record"]:
            raise InputError(f"{name}: a board cannot record replies in a file, because they quote hidden references.")
    return [str(name) for name in parsed]


def private_name(text: str, folder: Path | None) -> str:
    """The same metric, its judge's replies kept in the board's own folder or nowhere: they quote hidden references."""
    name = parse_name(text)
    if not name.spec.judge or name.config in READER or name.options["cache"]:
        return text
    return str(replace(name, options={**name.options, "cache": "no" if folder is None else str(folder)}))


def signatures(names: Sequence[str], n_studies: int) -> dict[str, str]:
    """What would run here, by metric: loads every backend, and raises what that raises."""
    with prepare(names) as metrics:
        return metrics.signatures(n_studies)


def changed(fixed: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """The metrics whose signature is another; releases that differ in the third number only score alike."""
    return [name for name in fixed if _without_patch(fixed[name]) != _without_patch(here[name])]


def score_trivial(metrics: Metrics, studies: Studies) -> dict[str, dict[str, Result]]:
    """Scores what trivial systems, and the references themselves, would submit."""
    pairs = [Pair(reference, "", parse_context(context)) for reference, context, _ in studies]
    return score_beside(metrics, {}, trivial_systems(pairs), progress=False)[1]


def score_reports(
    metrics: Metrics,
    names: Mapping[str, str],
    studies: Studies,
    reports: Sequence[str],
    *,
    trials: int,
    trivial: Mapping[str, Mapping[str, Result]] | None = None,
    withheld: Collection[int] = (),
) -> list[Scored]:
    """Scores a submission.

    Args:
        metrics: Those of the board, ready.
        names: Name on the board to the name that runs.
        studies: Reference, context and slices of each.
        reports: The system's, in the same order.
        trials: Of the intervals.
        trivial: What `score_trivial` gave for these studies; None: no skill is recorded.
        withheld: Numbers of the studies that count in nothing: nothing of their scores is recorded.

    Returns:
        One entry a metric.
    """
    pairs = [
        Pair(reference, "" if says_nothing(report) else report, parse_context(context))
        for (reference, context, _), report in zip(studies, reports, strict=True)
    ]
    results = {name: _without(result, withheld) for name, result in metrics.score_pairs(pairs, progress=False).items()}
    parts = rows_of_slices([slices for _, _, slices in studies])
    skills = []
    if trivial and len(withheld) < len(pairs):
        skills = measure_skill({"": results}, trivial, trials=min(trials, SLICE_TRIALS))
    known = {skill.metric: skill for skill in skills}
    return [_scored(metric, results[name], parts, trials, known.get(name)) for metric, name in names.items()]


def _without(result: Result, withheld: Collection[int]) -> Result:
    """A result as if these pairs had no score."""
    if not withheld:
        return result
    values = result.pair_stats.copy()
    values[sorted(withheld)] = np.nan
    return replace(result, pair_stats=values)


def _scored(metric: str, result: Result, parts: Mapping[str, list[int]], trials: int, skill: Skill | None) -> Scored:
    headline = result.spec.headline.name
    return Scored(
        metric,
        result.signature,
        np.flatnonzero(~aggregate.scored(result.pair_stats)).tolist(),
        stats.bootstrap(result.reduction, result.pair_stats, trials=trials) | _with_trivial(skill),
        {
            name: stats.bootstrap(result.reduction, result.pair_stats[rows], trials=min(trials, SLICE_TRIALS))[headline]
            for name, rows in parts.items()
        },
        pack(result.pair_stats),
        n_lost(result),
    )


def n_lost(result: Result) -> int:
    """The number of pairs that have no score as the metric's judge was down.

    A pair that a judge refuses, or on which it gives no verdict, is none of them. But where it refuses pairs and has
    answered about none, nothing says that it answers at all: a server that is set up wrongly refuses everything.
    """
    outcomes = result.details.get(f"{result.spec.name}_unscored") or ()
    unscored = [outcome for outcome in outcomes if outcome]
    pending = [outcome for outcome in unscored if outcome.get("is_pending")]
    if pending and result.n_unscored == result.n_pairs and len(pending) == len(unscored):
        return len(pending)
    return sum(outcome.get("cause") == "outage" for outcome in pending)


def _with_trivial(skill: Skill | None) -> dict[str, Estimate]:
    """What is recorded of a skill, as estimates."""
    if skill is None:
        return {}
    scores = {**skill.trivial, PERFECT: skill.perfect}
    n = skill.skill.n
    return {SKILL: skill.skill} | {TRIVIAL + name: Estimate(score, np.nan, np.nan, n) for name, score in scores.items()}


def recorded_skill(metric: str, key: Key, system: str, estimates: Mapping[str, Estimate]) -> Skill | None:
    """A skill as it was recorded, rounded as it is shown; None for what an earlier version recorded.

    Args:
        metric: Name on the board.
        key: The headline.
        system: The system's name.
        estimates: As recorded.
    """
    if SKILL not in estimates:
        return None
    scores = {
        name.removeprefix(TRIVIAL): shown.number(estimate.value, key)
        for name, estimate in estimates.items()
        if name.startswith(TRIVIAL)
    }
    skill = estimates[SKILL]
    value, low, high = (round(end, SKILL_DECIMALS) + 0.0 for end in (skill.value, skill.low, skill.high))
    own = shown.number(estimates[key.name].value, key)
    rounded = Estimate(value, low, high, skill.n)
    return Skill(metric, key, system, own, scores, scores.pop(PERFECT), rounded, estimates[key.name].n)


def pack(values: Array) -> bytes:
    """Statistics as bytes."""
    file = io.BytesIO()
    np.savez_compressed(file, values)
    return file.getvalue()


def unpack(data: bytes) -> Array:
    """The inverse of `pack`; raises StoreError for bytes that are something else."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            values: Array = file["arr_0"]
    except (ValueError, OSError, EOFError, KeyError, BadZipFile, zlib.error):
        raise StoreError(f"The statistics of pairs in the board are damaged; {restoring(schema)}.") from None
    return values


def headline_per_pair(name: str, data: bytes) -> Array:
    """The headline of each pair `(n_studies,)` from packed statistics; NaN = unscored."""
    return reduction_of(name).per_pair(unpack(data))[parse_name(name).spec.headline.name]


def counting(name: str, values: Array, left_out: Collection[int]) -> Array:
    """The statistics of all pairs but those left out; of a pair without a score, the system's worst one instead."""
    kept = np.delete(values, list(left_out), axis=0)
    unscored = ~aggregate.scored(kept)
    if unscored.any():
        headline = parse_name(name).spec.headline
        goodness = headline.goodness(reduction_of(name).per_pair(values)[headline.name])
        if not np.isnan(goodness).all():
            kept[unscored] = values[np.nanargmin(goodness)]
    return kept


def value_without(name: str, values: Array, left_out: Collection[int]) -> dict[str, float]:
    """Scores by key of the pairs that count."""
    return aggregate.reduce(reduction_of(name), counting(name, values, left_out))


def estimates_without(name: str, values: Array, left_out: Collection[int], *, trials: int) -> dict[str, Estimate]:
    """Scores with intervals by key of the pairs that count."""
    return stats.bootstrap(reduction_of(name), counting(name, values, left_out), trials=trials)


def compare_without(
    name: str, first: Array, second: Array, left_out: Collection[int], *, trials: int
) -> dict[str, PairedTest]:
    """Paired comparisons by key, second - first, of the pairs that count."""
    kept = (counting(name, values, left_out) for values in (first, second))
    return stats.compare(reduction_of(name), *kept, trials=trials, targets=parse_name(name).spec.targets)


def _without_patch(line: str) -> str:
    return re.sub(r"(\|v:\d+\.\d+)\.\w+$", r"\1", line)
