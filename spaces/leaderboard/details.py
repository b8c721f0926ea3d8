"""What the pages of one system and of two say, from the table of everything recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Connection, select

from rrgmetrics.baselines.collapse import Collapse, find_collapse
from rrgmetrics.baselines.subsets import ORDER, TITLES
from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.errors import InputError
from rrgmetrics.spaces.leaderboard import schema, scoring, shown, standings
from rrgmetrics.spaces.leaderboard.model import (
    BoardInfo,
    BoardMetric,
    Example,
    HeadToHead,
    KeyScore,
    MetricResult,
    SliceResult,
    SystemReport,
)
from rrgmetrics.spaces.leaderboard.standings import Entry, Figure, Recorded, Table
from rrgmetrics.stats import holm

MAX_EXAMPLES = 100  # a call


def system_report(connection: Connection, table: Table, entry: Entry) -> SystemReport:
    """All scores of a system, on all studies and on groups of them, and its tests against the systems above."""
    return SystemReport(
        standing=next(line for line in table.lines if line.system.id == entry.system.id),
        results=tuple(
            _metric_result(metric, entry.results[metric.name], entry.system.name, table.info.n_withheld)
            for metric in table.info.metrics
        ),
        slices=_slice_results(table.info, entry),
        above=table.above(entry),
        n_examples=table.info.n_public,
        stale=entry.round != table.info.round,
        collapse=_collapse(connection, entry),
    )


def _collapse(connection: Connection, entry: Entry) -> Collapse:
    """How different a system's reports are, beside the references."""
    studies, reports = schema.studies.c, schema.reports.c
    rows = connection.execute(
        select(studies.reference, reports.report).join(schema.reports).where(reports.submission == entry.number)
    ).all()
    found = find_collapse(entry.system.name, [row.report for row in rows], [row.reference for row in rows])
    return shown.collapse(found)


def examples(connection: Connection, info: BoardInfo, entry: Entry, *, offset: int, limit: int) -> tuple[Example, ...]:
    """Public studies with what a system wrote, and the scores of these pairs, in the board's order."""
    studies, reports, results = schema.studies.c, schema.reports.c, schema.results.c
    rows = connection.execute(
        select(studies.number, studies.study_id, studies.reference, studies.context, reports.report)
        .join(schema.reports)
        .where(studies.public, reports.submission == entry.number)
        .order_by(studies.number)
        .offset(max(0, offset))
        .limit(max(0, min(limit, MAX_EXAMPLES)))
    ).all()
    packed = connection.execute(
        select(results.metric, results.stats).where(results.submission == entry.number, results.round == entry.round)
    ).all()
    numbers = [row.number for row in rows]
    headlines = {metric.name: metric.spec.headline for metric in info.metrics}
    per_pair = {
        metric: [shown.number(value, headlines[metric]) for value in scoring.headline_per_pair(metric, data)[numbers]]
        for metric, data in packed
    }
    return tuple(
        Example(
            study_id=row.study_id,
            reference=row.reference,
            candidate=row.report,
            context=json.loads(row.context),
            scores={metric.name: per_pair[metric.name][i] for metric in info.metrics},
        )
        for i, row in enumerate(rows)
    )


def head_to_head(
    table: Table, ours: Entry, theirs: Entry, value_of: Callable[[Figure], Mapping[str, Any]]
) -> HeadToHead:
    """Two systems on the pairs that both have scored.

    Args:
        table: Everything recorded.
        ours: The system asked about.
        theirs: The other one.
        value_of: Gives the value of a figure, computed if nobody has done so.

    Raises:
        InputError: They are one, or were scored in different rounds.
    """
    if ours is theirs:
        raise InputError("Choose two different systems.")
    if ours.round != theirs.round:
        raise InputError("One of the two has no scores of the new round yet; come back later.")
    left_out = {
        metric.name: ours.results[metric.name].unscored | theirs.results[metric.name].unscored
        for metric in table.info.metrics
    }
    tests = {name: value_of(table.versus_figure(name, ours, theirs, pairs)) for name, pairs in left_out.items()}
    rows = [
        (metric, key, standings.comparison(tests[metric.name], key, flip=ours.number < theirs.number))
        for metric in table.info.metrics
        for key in metric.spec.keys
    ]
    corrected = iter(holm([test.p_value for metric, key, test in rows if key == metric.spec.headline]).tolist())
    return HeadToHead(
        first=ours.system,
        second=theirs.system,
        rows=tuple(
            standings.versus(
                theirs.system, metric, key, test, next(corrected) if key == metric.spec.headline else standings.NAN
            )
            for metric, key, test in rows
        ),
        n_common={name: table.info.n_studies - len(pairs) for name, pairs in left_out.items()},
    )


def _metric_result(metric: BoardMetric, recorded: Recorded, system: str, n_withheld: int) -> MetricResult:
    scores = {key.name: KeyScore(key, shown.estimate(recorded.estimates[key.name], key)) for key in metric.spec.keys}
    categories = {category.letter: f"{metric.spec.name}_{category.value}" for category in ErrorCategory}
    return MetricResult(
        metric=metric,
        signature=recorded.signature,
        n_unscored=max(0, len(recorded.unscored) - n_withheld),
        scores=tuple(scores.values()),
        categories={letter: scores[name] for letter, name in categories.items() if name in scores},
        skill=scoring.recorded_skill(metric.name, metric.spec.headline, system, recorded.estimates),
    )


def _slice_results(info: BoardInfo, entry: Entry) -> tuple[SliceResult, ...]:
    by_slice = {
        name: {
            metric.name: shown.estimate(entry.results[metric.name].slices[name], metric.spec.headline)
            for metric in info.metrics
            if name in entry.results[metric.name].slices
        }
        for name in ORDER
    }
    return tuple(
        SliceResult(name, TITLES[name], max(score.n for score in scores.values()), scores)
        for name, scores in by_slice.items()
        if scores
    )
