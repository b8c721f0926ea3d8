"""Scores of several systems on several data sets as one table (Xu et al. 2025, RadEval, appendix A)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders.fields import find_file, json_of
from rrgmetrics.reporting.numbers import show
from rrgmetrics.reporting.short import NOTHING
from rrgmetrics.reporting.tables import Cell, Cells, Group, Table
from rrgmetrics.specs import Key
from rrgmetrics.specs.names import parse_name
from rrgmetrics.stats import Estimate
from rrgmetrics.utils.text_format import counted, listed

WRITERS = "`rrgmetrics compare --json` or `score --json`"


@dataclass(frozen=True)
class Score:
    """One score of one system.

    Attributes:
        system: Whose.
        metric: As it was asked for.
        key: Which of its scores, titled as people read it.
        value: With its interval.
        n_unscored: Pairs without a score.
    """

    system: str
    metric: str
    key: Key
    value: Estimate
    n_unscored: int

    @property
    def column(self) -> tuple[str, str]:
        """Metric and key."""
        return self.metric, self.key.name


@dataclass(frozen=True)
class Run:
    """What was scored on one data set.

    Attributes:
        dataset: Its name.
        n: Studies.
        version: Of the package that scored.
        scores: Of each system, metric and key.
    """

    dataset: str
    n: int
    version: str
    scores: tuple[Score, ...]


def read_run(dataset: str, path: str) -> Run:
    """Reads what `compare --json` or `score --json` wrote.

    Raises:
        InputError: No such file, another one, or a metric that is not known here.
    """
    document = json_of(find_file(path, what=f"what {WRITERS} wrote"))
    try:
        systems = document["systems"]
        scores = tuple(_score(row, systems) for row in document["rows"])
        n = max(metric["n_pairs"] for system in systems.values() for metric in system.values())
        version = str(document["rrgmetrics"])
    except InputError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(f"{path} was not written by {WRITERS}.") from None
    if not scores:
        raise InputError(f"{path} contains no scores.")
    return Run(dataset, n, version, scores)


def _score(row: Mapping[str, Any], systems: Mapping[str, Any]) -> Score:
    name = str(row["metric"])
    key = next((key for key in parse_name(name).titled.keys if key.name == row["key"]), None)
    if key is None:
        raise InputError(f"{name} has no key {row['key']!r} in this version.")
    numbers = (row["score"][field] for field in ("value", "low", "high"))
    value, low, high = (math.nan if number is None else float(number) for number in numbers)  # infinity is "inf"
    about = systems[row["system"]][name]
    estimate = Estimate(value, low, high, about["n_pairs"] - about["n_unscored"])
    return Score(str(row["system"]), name, key, estimate, int(about["n_unscored"]))


def table_across(runs: Sequence[Run]) -> Table:
    """A group a data set, a line a system, a column a score; the best of each data set in bold."""
    columns = {score.column: score for run in runs for score in run.scores}
    groups = []
    for run in runs:
        found = {(score.system, score.column): score for score in run.scores}
        best = {column: _best([score for score in run.scores if score.column == column]) for column in columns}
        lines: list[Cells] = []
        for system in dict.fromkeys(score.system for score in run.scores):
            cells = [_cell(found.get((system, column)), best[column]) for column in columns]
            lines.append((f"  {system}", *cells))
        studies = counted(run.n, "study", "studies")
        groups.append(Group(tuple(lines), (Cell(f"{run.dataset}, {studies}", "strong"),)))
    versions = sorted({run.version for run in runs})
    note = f" Scored by rrgmetrics {listed(versions)}: numbers may differ by version." if len(versions) > 1 else ""
    unscored = any(score.n_unscored for run in runs for score in run.scores)
    note = (" ° some studies are not scored." if unscored else "") + note
    return Table(
        ("", *_heads(list(columns.values()))),
        tuple(groups),
        title=f"{counted(len(columns), 'score')} on {counted(len(runs), 'data set')}",
        note=f"Best of each data set in bold; --output writes intervals and n.{note}",
        broken=frozenset(range(len(columns) + 1)),
    )


def _heads(scores: Sequence[Score]) -> list[str]:
    """The head of each column; where two would read alike, with the metric as it was asked for."""
    titles = [f"{parse_name(score.metric).titled.named(score.key)} {score.key.arrow}" for score in scores]
    return [
        f"{title} ({score.metric})" if titles.count(title) > 1 else title
        for title, score in zip(titles, scores, strict=True)
    ]


def number_rows(runs: Sequence[Run]) -> list[dict[str, object]]:
    """Every score with its interval, a row each."""
    return [
        {
            "dataset": run.dataset,
            "system": score.system,
            "metric": score.metric,
            "key": score.key.name,
            "value": score.value.value,
            "low": score.value.low,
            "high": score.value.high,
            "n": run.n,
            "n_unscored": score.n_unscored,
            "version": run.version,
        }
        for run in runs
        for score in run.scores
    ]


def _best(scores: Sequence[Score]) -> float:
    """The best value of one column, as it is shown; NaN where no two systems can be compared."""
    known = [score for score in scores if not math.isnan(score.value.value)]
    if len(known) < 2:
        return math.nan
    return max(known, key=lambda score: score.key.goodness(score.value.value)).value.value


def _cell(score: Score | None, best: float) -> Cell:
    if score is None or math.isnan(score.value.value):
        return Cell(NOTHING, "quiet")
    shown = show(score.value.value, score.key)
    is_best = not math.isnan(best) and shown == show(best, score.key)
    return Cell(f"{shown}{'°' if score.n_unscored else ''}", "strong" if is_best else "")
