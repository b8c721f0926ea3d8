"""Who stands where: from recorded results to the table, and the figures that it needs.

Systems are compared, metric by metric, on the pairs that all of them have scored. Who has left out more than
`MAX_UNSCORED` of the pairs in a metric is not compared in it, and all together leave out no more than the board's
`Limits.left_out_share`: else many systems, each of them a little unscored, would take away everybody's pairs. Beyond
that share an unscored pair counts as the worst of its system. A pair that nobody has a score for, such as one whose
reference is out of a metric's scope, says nothing of anyone; it is dropped, and counts in neither share.

Ranks and tests are of the numbers as they are shown (`shown`). What is computed for common pairs (values, intervals,
paired tests) is a `Figure`: kept by what it was computed from, so that it is computed once, by a worker, and never out
of date.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from rrgmetrics.baselines.skill import Skill
from rrgmetrics.spaces.database import Store
from rrgmetrics.spaces.leaderboard import jobs, schema, scoring, shown
from rrgmetrics.spaces.leaderboard.model import BoardInfo, BoardMetric, Standing, System, Versus
from rrgmetrics.specs import Key
from rrgmetrics.stats import Estimate, PairedTest, holm

MAX_UNSCORED = 0.01
SIGNIFICANT = 0.05
NAN = math.nan


@dataclass(frozen=True)
class Recorded:
    """One metric's result of one system, without the statistics of pairs."""

    signature: str
    unscored: frozenset[int]
    estimates: Mapping[str, Estimate]
    slices: Mapping[str, Estimate]


@dataclass(frozen=True)
class Entry:
    """A scored submission: its newest results."""

    number: int
    system: System
    round: int
    results: Mapping[str, Recorded]


@dataclass(frozen=True)
class Figure:
    """Something to compute from statistics of pairs: an estimate (one entry) or a comparison (two, in their order).

    Attributes:
        metric: Name on the board.
        round: Of the statistics.
        numbers: The submissions.
        left_out: Studies that do not count; of the others, one without a score counts as the system's worst.
        trials: Resamples and swaps.
    """

    metric: str
    round: int
    numbers: tuple[int, ...]
    left_out: frozenset[int]
    trials: int

    @property
    def key(self) -> str:
        """Equal for equal figures."""
        parts = [self.metric, self.round, self.numbers, sorted(self.left_out), self.trials]
        return sha256(json.dumps(parts).encode()).hexdigest()


Figures = Mapping[str, dict[str, Any]]


class Table:
    """Everything recorded, at one moment.

    Attributes:
        info: The board's head.
        entries: Scored submissions by number, hidden ones too.
        figures: What has been computed so far, by key.
    """

    def __init__(self, info: BoardInfo, entries: Mapping[int, Entry], figures: Figures, trials: int) -> None:
        self.info = info
        self.entries = entries
        self.figures = figures
        self.trials = trials
        self.dropped = {metric.name: self._scored_by_nobody(metric.name) for metric in info.metrics}
        self.left_out = {metric.name: self._left_out(metric.name) for metric in info.metrics}

    def by_id(self, id: str) -> Entry | None:
        """The entry of a public id."""
        return next((entry for entry in self.entries.values() if entry.system.id == id), None)

    def compared(self, metric: str) -> list[Entry]:
        """Who is compared in a metric."""
        return [entry for entry in self.entries.values() if not self.reason(entry, metric)]

    def reason(self, entry: Entry, metric: str) -> str:
        """Why a system is not compared in a metric; "" if it is."""
        if entry.system.hidden:
            return "Hidden by the board's administrator."
        if self._is_stale(entry):
            return f"The scores are those of round {entry.round}; round {self.info.round} is being scored."
        title, dropped = self.info.metric(metric).spec.title, self.dropped[metric]
        n_unscored, n = len(entry.results[metric].unscored - dropped), self.info.n_studies - len(dropped)
        if self.info.n_withheld == self.info.n_studies:
            return "No study counts yet: withheld_share of the board is 1."
        if not n:
            return f"No system has a scored study in {title}."
        if n_unscored > MAX_UNSCORED * n:
            return f"{n_unscored:,} of {n:,} studies ({n_unscored / n:.1%}) are not scored in {title}; 1% is allowed."
        return ""

    def _is_stale(self, entry: Entry) -> bool:
        return entry.round != self.info.round

    def n_worst(self, entry: Entry, metric: str) -> int:
        """How many of a compared entry's pairs count as its worst."""
        return 0 if self.reason(entry, metric) else len(entry.results[metric].unscored - self.left_out[metric])

    def _scored_by_nobody(self, metric: str) -> frozenset[int]:
        now = [e.results[metric].unscored for e in self.entries.values() if e.round == self.info.round]
        return frozenset.intersection(*now) if now else frozenset()

    def _left_out(self, metric: str) -> frozenset[int]:
        """What nobody has scored, and of what compared entries lack the first pairs, in the order of submission."""
        dropped = self.dropped[metric]
        allowed = math.floor(self.info.limits.left_out_share * (self.info.n_studies - len(dropped)) + 1e-9)
        lacking = dict.fromkeys(
            study for entry in self.compared(metric) for study in sorted(entry.results[metric].unscored - dropped)
        )
        return dropped | frozenset(list(lacking)[:allowed])

    def estimate_figure(self, entry: Entry, metric: str) -> Figure | None:
        """What gives an entry's scores on the common pairs; None where they are the recorded ones."""
        left_out = self.left_out[metric]
        if self.reason(entry, metric) or left_out == entry.results[metric].unscored:
            return None
        return Figure(metric, entry.round, (entry.number,), left_out, self.trials)

    def score(self, entry: Entry, metric: str) -> Estimate:
        """An entry's headline as it is shown: on the common pairs if it is compared, else on its own."""
        headline = self.info.metric(metric).spec.headline
        figure = self.estimate_figure(entry, metric)
        estimates = entry.results[metric].estimates if figure is None else self.figures[figure.key]
        return shown.estimate(Estimate(*estimates[headline.name]), headline)

    @cached_property
    def ranking(self) -> list[Entry]:
        """The ranked entries, best first; of equal ones the earlier."""
        return sorted(self.compared(self.info.primary), key=lambda entry: (self._badness(entry), entry.number))

    def _badness(self, entry: Entry) -> float:
        """The shown score in the primary metric, turned so that less is better."""
        metric = self.info.metric(self.info.primary)
        value = metric.spec.headline.goodness(self.score(entry, metric.name).value)
        return math.inf if math.isnan(value) else -value

    def rank(self, entry: Entry) -> int:
        """1 + the ranked entries with a better shown score: equal ones share a rank."""
        own = self._badness(entry)
        return 1 + sum(self._badness(other) < own for other in self.ranking)

    def better(self, entry: Entry) -> list[Entry]:
        """The ranked entries with a better shown score, best first; none for an entry that is not ranked."""
        return self.ranking[: self.rank(entry) - 1] if entry in self.ranking else []

    def versus_figure(self, metric: str, first: Entry, second: Entry, left_out: frozenset[int]) -> Figure:
        """What compares two entries; the same figure whichever is named first."""
        low, high = sorted((first.number, second.number))
        return Figure(metric, first.round, (low, high), left_out, self.trials)

    def figures_wanted(self) -> Iterator[Figure]:
        """Every figure that the table shows."""
        for metric in self.info.metrics:
            for entry in self.compared(metric.name):
                if figure := self.estimate_figure(entry, metric.name):
                    yield figure
        primary = self.info.primary
        for entry in self.ranking:
            for above in self.better(entry):
                yield self.versus_figure(primary, entry, above, self.left_out[primary])

    def above(self, entry: Entry) -> tuple[Versus, ...]:
        """An entry against all better ones in the primary metric, nearest first; empty before all is tested."""
        metric = self.info.metric(self.info.primary)
        tests = []
        for other in reversed(self.better(entry)):
            figure = self.versus_figure(metric.name, entry, other, self.left_out[metric.name])
            if figure.key not in self.figures:
                return ()
            test = comparison(self.figures[figure.key], metric.spec.headline, flip=entry.number < other.number)
            tests.append((other, test))
        corrected = holm([test.p_value for _, test in tests])
        return tuple(
            versus(other.system, metric, metric.spec.headline, test, float(p))
            for (other, test), p in zip(tests, corrected, strict=True)
        )

    @cached_property
    def lines(self) -> list[Standing]:
        """All lines: ranked, then those of the round before, best first, then the others, newest first."""
        others = [entry for entry in self.entries.values() if entry not in self.ranking]

        def place(entry: Entry) -> tuple[float, ...]:
            return entry.round, self._badness(entry) if self._is_stale(entry) else 0, -entry.number

        others.sort(key=place)
        return [self._line(entry) for entry in (*self.ranking, *others)]

    def _line(self, entry: Entry) -> Standing:
        reason = self.reason(entry, self.info.primary)
        rank = None if reason else self.rank(entry)
        tests = self.above(entry)
        best = None
        if rank is not None and len(tests) == rank - 1:
            best = 1 + sum(test.is_better is False and test.p_corrected < SIGNIFICANT for test in tests)
        return Standing(
            system=entry.system,
            rank=rank,
            reason=reason,
            best_rank=best,
            scores={metric.name: self.score(entry, metric.name) for metric in self.info.metrics},
            n_unscored={
                metric.name: max(0, len(entry.results[metric.name].unscored) - self.info.n_withheld)
                for metric in self.info.metrics
            },
            n_worst={metric.name: self.n_worst(entry, metric.name) for metric in self.info.metrics},
            skills=dict(self._skills(entry)),
            round=entry.round,
        )

    def _skills(self, entry: Entry) -> Iterator[tuple[str, Skill]]:
        for metric in self.info.metrics:
            estimates = entry.results[metric.name].estimates
            skill = scoring.recorded_skill(metric.name, metric.spec.headline, entry.system.name, estimates)
            if skill is not None:
                yield metric.name, skill


def versus(other: System, metric: BoardMetric, key: Key, test: PairedTest, p_corrected: float) -> Versus:
    """A comparison with what it says of better and worse."""
    is_better = key.is_better(test.difference.value)
    test = replace(test, p_value=shown.p_value(test.p_value))
    return Versus(other, metric, key, test, shown.p_value(p_corrected), is_better)


def comparison(value: Mapping[str, Any], key: Key, *, flip: bool) -> PairedTest:
    """One key of a stored comparison, as it is shown; with `flip` as the other system sees it."""
    fields = dict(value[key.name])
    test = shown.comparison(PairedTest(**{**fields, "difference": Estimate(*fields["difference"])}), key)
    if not flip:
        return test
    middle, low, high, n = test.difference
    return PairedTest(
        baseline=test.system,
        system=test.baseline,
        difference=Estimate(0.0 - middle, 0.0 - high, 0.0 - low, n),
        effect_size=0.0 - test.effect_size,
        p_value=test.p_value,
        exact=test.exact,
        n_left_out=test.n_left_out,
    )


# --- reading ----------------------------------------------------------------------------------------------------------


def read_table(connection: Connection, info: BoardInfo, trials: int) -> Table:
    """The table, with every figure that was computed; values on common pairs that are not are reduced now."""
    table = Table(info, read_entries(connection), read_figures(connection, info.round), trials)
    missing = {}
    for metric in info.metrics:
        for entry in table.compared(metric.name):
            figure = table.estimate_figure(entry, metric.name)
            if figure and figure.key not in table.figures:
                values = scoring.value_without(metric.name, _stats(connection, figure)[0], figure.left_out)
                n = info.n_studies - len(figure.left_out)
                missing[figure.key] = {key: (value, NAN, NAN, n) for key, value in values.items()}
    return Table(info, table.entries, {**table.figures, **missing}, trials) if missing else table


def read_entries(connection: Connection) -> dict[int, Entry]:
    """Every scored submission with its newest results."""
    columns = [column for column in schema.results.c if column.name != "stats"]
    recorded: dict[int, dict[str, Recorded]] = {}
    rounds: dict[int, int] = {}
    for row in connection.execute(select(*columns).order_by(schema.results.c.round)):
        if rounds.get(row.submission) != row.round:
            rounds[row.submission] = row.round
            recorded[row.submission] = {}
        recorded[row.submission][row.metric] = Recorded(
            row.signature,
            frozenset(json.loads(row.unscored)),
            _estimates(row.estimates),
            _estimates(row.slices),
        )
    rows = connection.execute(select(schema.submissions).order_by(schema.submissions.c.number))
    return {
        row.number: Entry(row.number, system_of(row), rounds[row.number], recorded[row.number])
        for row in rows
        if row.number in recorded
    }


def read_figures(connection: Connection, round_: int) -> dict[str, dict[str, Any]]:
    """All figures of a round, by key."""
    query = select(schema.figures.c.key, schema.figures.c.value).where(schema.figures.c.round == round_)
    return {key: json.loads(value) for key, value in connection.execute(query)}


def system_of(row: Row[Any]) -> System:
    """A row of `submissions` as the board shows it."""
    return System(
        id=row.id,
        name=row.name,
        submitter=row.submitter,
        submitter_url=row.submitter_url,
        verified=row.verified,
        model_card=row.model_card,
        model=row.model,
        tags=tuple(json.loads(row.tags)),
        submitted=moment(row.submitted),
        hidden=row.hidden,
    )


def moment(seconds: float) -> datetime:
    """Seconds since 1970 as a time in UTC."""
    return datetime.fromtimestamp(seconds, UTC)


def _estimates(text: str) -> dict[str, Estimate]:
    return {key: Estimate(*value) for key, value in json.loads(text).items()}


# --- computing --------------------------------------------------------------------------------------------------------


def compute(store: Store, figure: Figure) -> dict[str, object]:
    """A figure's value by key of the metric, kept in the board."""
    with store.reading() as connection:
        values = _stats(connection, figure)
    if len(values) == 1:
        value: dict[str, Any] = dict(
            scoring.estimates_without(figure.metric, values[0], figure.left_out, trials=figure.trials)
        )
    else:
        first, second = values
        tests = scoring.compare_without(figure.metric, first, second, figure.left_out, trials=figure.trials)
        value = {key: asdict(test) | {"difference": list(test.difference)} for key, test in tests.items()}
    with store.writing() as connection:
        known = select(schema.figures.c.key).where(schema.figures.c.key == figure.key)
        if connection.execute(known).first() is None:
            row = {"key": figure.key, "round": figure.round, "value": json.dumps(value)}
            connection.execute(insert(schema.figures).values(**row))
            jobs.bump(connection)
    return value


def settle(store: Store, table: Table, *, stopped: Callable[[], bool] = lambda: False) -> int:
    """Computes what the table shows and nobody has computed yet; returns how much that was."""
    known = read_known(store, table.info.round)
    wanted = {figure.key: figure for figure in table.figures_wanted()}
    missing = [figure for key, figure in wanted.items() if key not in known]
    for count, figure in enumerate(missing):
        if stopped():
            return count
        compute(store, figure)
    return len(missing)


def read_known(store: Store, round_: int) -> set[str]:
    """Keys of the figures that are kept."""
    with store.reading() as connection:
        query = select(schema.figures.c.key).where(schema.figures.c.round == round_)
        return set(connection.execute(query).scalars())


def _stats(connection: Connection, figure: Figure) -> list[Any]:
    """The statistics of pairs of a figure's submissions, in their order."""
    rows = schema.results
    query = select(rows.c.submission, rows.c.stats).where(
        rows.c.metric == figure.metric, rows.c.round == figure.round, rows.c.submission.in_(figure.numbers)
    )
    values = {number: scoring.unpack(data) for number, data in connection.execute(query)}
    return [values[number] for number in figure.numbers]
