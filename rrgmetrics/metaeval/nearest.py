"""The report of a pool that a metric ranks best, for each of many queries.

A metric that has an index (`rrgmetrics.metaeval.pool_index`) scores only the reports that can still win; any other
scores every query with every report, a block of reports at a time. Both find the same report: scores are compared to
twelve decimals, and of equal ones the first of the pool is taken.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rrgmetrics.metaeval.pool_index import PoolIndex, index_of
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array
from rrgmetrics.scorers.frequencies import Frequencies
from rrgmetrics.scoring.prepared import Metrics
from rrgmetrics.utils.progress import duration, watched
from rrgmetrics.utils.text_format import listed

logger = logging.getLogger("rrgmetrics")

NOTHING = 1e-6  # smoothed BLEU-2 without a common bigram is about 1e-9
DECIMALS = 12
BLOCK = 512  # reports of the pool that are read at a time
FIRST, MOST = 8, 512  # reports that are scored at a time, of those that can still win
PAIRS = 50_000  # that are scored at a time without an index
SAMPLE = 64  # pairs that are timed
LONG = 60.0  # seconds, above which the time is announced

Indexes = dict[tuple[str, str], PoolIndex]  # by metric and pack


class Question(NamedTuple):
    """A query.

    Attributes:
        study: Its id.
        pair: Reference and context; the candidate is not used.
        left_out: The reports of the pool that must not be taken.
    """

    study: str
    pair: Pair
    left_out: frozenset[int]


def nearest(
    ready: Metrics,
    questions: Sequence[Question],
    pool: Sequence[str],
    counts: Array,
    *,
    indexed: bool = True,
    progress: bool = True,
) -> dict[str, list[int]]:
    """Finds the best report of each query, by each metric.

    Args:
        ready: The metrics.
        questions: The queries; each has a report of the pool that is not left out.
        pool: Different reports.
        counts: How often each report stands in the pool `(n_reports,)`: where nothing scores above zero, the most
            frequent one is taken, of equal ones the first.
        indexed: Whether indexes are used; what is found is the same.
        progress: Whether to show bars.

    Returns:
        By metric the row of the best report of each query; -1 where it scores no report of the pool, as where it does
        not read the reference.
    """
    keys = {name: each.spec.headline.name for name, each in ready.names.items()}
    by_index = [name for name in keys if indexed and index_of(ready.jobs[name].scorer, keys[name]) is not None]
    rest = [name for name in keys if name not in by_index]
    found = _by_index(ready.only(by_index), questions, pool, progress) if by_index else {}
    found |= _by_scoring(ready.only(rest), questions, pool, progress) if rest else {}
    frequent = np.argsort(-np.asarray(counts), kind="stable").tolist()
    return {name: _or_most_frequent(ready, name, found[name], questions, frequent) for name in keys}


class Best(NamedTuple):
    """The best report of a query and its score, turned so that more is better."""

    row: int
    goodness: float


NONE = Best(-1, -math.inf)


def _or_most_frequent(
    ready: Metrics, name: str, found: Sequence[Best], questions: Sequence[Question], frequent: Sequence[int]
) -> list[int]:
    """The rows found; the most frequent report that is not left out where a score means that nothing was found."""
    higher = ready.names[name].spec.headline.higher_is_better
    return [
        next(row for row in frequent if row not in question.left_out)
        if higher and best.row >= 0 and best.goodness < NOTHING
        else best.row
        for best, question in zip(found, questions, strict=True)
    ]


# --- with an index


def _by_index(
    ready: Metrics, questions: Sequence[Question], pool: Sequence[str], progress: bool
) -> dict[str, list[Best]]:
    read = {name: _as_read(ready, name, questions) for name in ready.jobs}
    packs = {name: {each.pack for each in own if each is not None} for name, own in read.items()}
    indexes = _indexes(ready, packs, pool, progress)
    found: dict[str, list[Best]] = {name: [] for name in ready.jobs}
    for number, question in enumerate(watched(questions, "searching the pool", "studies", shown=progress)):
        for name, own in read.items():
            asked = own[number]
            if asked is None:
                found[name].append(NONE)
                continue
            index = indexes[name, asked.pack]
            (annotation,) = ready.annotations({name: [asked.reference]}, asked.pack)[name]
            bounds = np.round(index.bounds(annotation), DECIMALS)
            bounds[list(question.left_out)] = np.nan
            found[name].append(_best(ready.only([name]), name, question, pool, bounds, index.slack))
    return found


class Asked(NamedTuple):
    """The reference of a query as a metric reads it, and its pack."""

    reference: str
    pack: str


def _as_read(ready: Metrics, name: str, questions: Sequence[Question]) -> list[Asked | None]:
    """The reference of each query as the metric reads it; None for one that it does not score."""
    own = [each.pair._replace(candidate=each.pair.reference) for each in questions]
    scored = ~np.isnan(_goodness(ready.only([name]), own, progress=False)[name])
    read = iter(ready.as_read(name, [pair for pair, is_scored in zip(own, scored, strict=True) if is_scored]))
    found = (next(read) if is_scored else None for is_scored in scored)
    return [None if each is None else Asked(each[0].reference, each[1]) for each in found]


def _indexes(ready: Metrics, packs: Mapping[str, Iterable[str]], pool: Sequence[str], progress: bool) -> Indexes:
    """Reads the pool, each report once for all metrics that share a reading."""
    indexes: Indexes = {}
    for name, own in packs.items():
        for pack in own:
            index = index_of(ready.jobs[name].scorer, ready.names[name].spec.headline.name)
            assert index is not None
            indexes[name, pack] = index
    starts = range(0, len(pool), BLOCK)
    for start in watched(starts, f"reading {len(pool):,} reports", "blocks", shown=progress):
        _add(ready, indexes, pool[start : start + BLOCK])
    return indexes


def _add(ready: Metrics, indexes: Indexes, texts: Sequence[str]) -> None:
    """Adds a block of reports to all indexes."""
    for pack in dict.fromkeys(pack for _, pack in indexes):
        names = [name for name, own in indexes if own == pack]
        normalised = {name: list(map(ready.jobs[name].normaliser.apply, texts)) for name in names}
        for name, read in ready.annotations(normalised, pack).items():
            indexes[name, pack].add(read)


def _best(ready: Metrics, name: str, question: Question, pool: Sequence[str], bounds: Array, slack: float) -> Best:
    """Scores the reports from the highest bound on, until none can be better or, as the first of the pool, as good."""
    order = np.argsort(-bounds, kind="stable")[: int((~np.isnan(bounds)).sum())]
    best, done, size = NONE, 0, FIRST
    while done < len(order):
        rows = [row for row in order[done : done + size].tolist() if _can_win(bounds[row] + slack, row, best)]
        if not rows or (best.row < 0 and bounds[rows[0]] + slack < NOTHING):
            break
        pairs = [question.pair._replace(candidate=pool[row]) for row in rows]
        for row, value in zip(rows, _goodness(ready, pairs, progress=False)[name].tolist(), strict=True):
            if value > best.goodness or (value == best.goodness and row < best.row):
                best = Best(row, value)
        done, size = done + size, min(size * 4, MOST)
    if best.row < 0 and len(order):
        return Best(int(order[0]), float(bounds[order[0]]))  # nothing above zero
    return best


def _can_win(bound: float, row: int, best: Best) -> bool:
    return bound > best.goodness or (bound == best.goodness and row < best.row)


# --- without one


def _by_scoring(
    ready: Metrics, questions: Sequence[Question], pool: Sequence[str], progress: bool
) -> dict[str, list[Best]]:
    statistics = ready.count_references(question.pair.reference for question in questions)
    announce_time(ready, questions, pool, statistics)
    found = {name: [NONE] * len(questions) for name in ready.jobs}
    at_a_time = max(1, PAIRS // len(questions))
    for start in range(0, len(pool), at_a_time):  # a block of the pool for all queries, so that it is read once
        block = range(start, min(start + at_a_time, len(pool)))
        tried = [(q, row) for q, each in enumerate(questions) for row in block if row not in each.left_out]
        if not tried:
            continue
        pairs = [questions[q].pair._replace(candidate=pool[row]) for q, row in tried]
        for name, values in _goodness(ready, pairs, progress=progress, statistics=statistics).items():
            best = found[name]
            for (q, row), value in zip(tried, values.tolist(), strict=True):
                if value > best[q].goodness:
                    best[q] = Best(row, value)
    return found


def announce_time(
    ready: Metrics,
    questions: Sequence[Question],
    pool: Sequence[str],
    statistics: Mapping[str, Frequencies],
) -> None:
    """Logs how long it takes to score every query with every report, where that is more than a minute."""
    n_pairs = len(questions) * len(pool)
    if n_pairs <= PAIRS:
        return
    every = max(1, len(pool) // SAMPLE)
    pairs = [questions[0].pair._replace(candidate=text) for text in pool[::every][:SAMPLE]]
    began = time.perf_counter()
    _goodness(ready, pairs, progress=False, statistics=statistics)
    seconds = (time.perf_counter() - began) / len(pairs) * n_pairs
    if seconds > LONG:
        names = listed(list(ready.jobs))
        logger.warning(
            "%s has no index; scoring %s pairs takes about %s. Fewer studies or reports take less time (n_queries, "
            "n_pool).",
            *(names, f"{n_pairs:,}", duration(seconds)),
        )


def _goodness(
    ready: Metrics,
    pairs: Sequence[Pair],
    *,
    progress: bool,
    statistics: Mapping[str, Frequencies] | None = None,
) -> dict[str, Array]:
    """The headline of each pair by metric, turned so that more is better, to twelve decimals."""
    results = ready.score_pairs(pairs, progress=progress, announce=False, statistics=statistics)
    return {name: np.round(each.spec.headline.goodness(each.headline), DECIMALS) for name, each in results.items()}
