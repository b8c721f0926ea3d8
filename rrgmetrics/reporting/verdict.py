"""Describes tested differences in words: of one score, and of two systems over all metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from rrgmetrics.reporting.numbers import p_value
from rrgmetrics.specs import Key
from rrgmetrics.stats import Estimate, PairedTest
from rrgmetrics.systems.table import SIGNIFICANT
from rrgmetrics.utils.text_format import by_number, counted, listed

NAMED = 4  # metrics that a sentence names; of more it gives the number

Leaning = Literal["better", "worse", "split", "none"]


class Tested(Protocol):
    """A difference in one score; `test` is None where there was none."""

    @property
    def key(self) -> Key:
        """The score."""

    @property
    def test(self) -> PairedTest | None:
        """The difference between the system asked about and the other one, with its interval."""

    @property
    def p_corrected(self) -> float:
        """The p-value, corrected for all tests shown with it; NaN where there was none."""

    @property
    def is_better(self) -> bool | None:
        """Whether the system asked about is better; None without a difference."""


def verdict(row: Tested, better: str = "better", worse: str = "worse", neither: str = "no difference shown") -> str:
    """What a tested difference says, in words; nothing where there was no test."""
    if math.isnan(row.p_corrected):
        return ""
    if row.is_better is None or row.p_corrected >= SIGNIFICANT:
        return neither
    return better if row.is_better else worse


def favour(row: Tested) -> Estimate:
    """A difference turned so that more means the system asked about is better."""
    if row.test is None:
        return Estimate(math.nan, math.nan, math.nan, 0)
    value, low, high, n = row.test.difference
    return row.test.difference if row.key.is_better(1.0) else Estimate(-value, -high, -low, n)


def summary(first: str, second: str, better: Sequence[str], worse: Sequence[str], n_tests: int) -> str:
    """Who is better in which metrics.

    Args:
        first: The system asked about.
        second: The other one.
        better: Metrics in which the first is better.
        worse: Metrics in which the second is.
        n_tests: How many metrics were tested.
    """
    if not better and not worse:
        return f"No difference is shown between {first} and {second} (corrected p < {SIGNIFICANT})."
    clauses = [f"{name} is better in {listed(won)}" for name, won in ((first, better), (second, worse)) if won]
    if len(better) + len(worse) < n_tests:
        clauses.append("no difference is shown elsewhere")
    return f"{'; '.join(clauses)} (corrected p < {SIGNIFICANT})."


class Tally(NamedTuple):
    """How a system stands to the one that all are tested against, metric by metric.

    Attributes:
        system: Its name.
        better: Metrics in which it is better.
        worse: Those in which it is worse.
        neither: Those in which no difference is shown.
        p: The largest corrected p-value of those in which a difference is shown; NaN without one.
    """

    system: str
    better: tuple[str, ...]
    worse: tuple[str, ...]
    neither: tuple[str, ...]
    p: float

    @property
    def n(self) -> int:
        """How many metrics were tested."""
        return len(self.better) + len(self.worse) + len(self.neither)

    @property
    def leans(self) -> Leaning:
        """Which is better: in most metrics, or in some while it is worse in none."""
        n_better, n_worse = len(self.better), len(self.worse)
        if not n_better and not n_worse:
            return "none"
        if n_better and (not n_worse or 2 * n_better > self.n):
            return "better"
        return "worse" if n_worse and (not n_better or 2 * n_worse > self.n) else "split"


class Verdict(NamedTuple):
    """What a page says first: a sentence, and what belongs to it."""

    headline: str
    lines: tuple[str, ...] = ()


def tally(system: str, rows: Sequence[tuple[str, Tested]]) -> Tally:
    """Counts the tested differences of a system.

    Args:
        system: Its name.
        rows: Metric, as pages call it, and its tested headline.
    """
    said = {title: verdict(row, neither="neither") for title, row in rows}
    better, worse, neither = (
        tuple(title for title, word in said.items() if word == which) for which in ("better", "worse", "neither")
    )
    p_values = [row.p_corrected for title, row in rows if said[title] in ("better", "worse")]
    return Tally(system, better, worse, neither, max(p_values, default=math.nan))


def verdict_on(baseline: str, tallies: Sequence[Tally], correction: str, n_tests: int) -> Verdict:
    """Which system is better, in which metrics, and how sure that is.

    Args:
        baseline: The system that the others are tested against.
        tallies: Of the others.
        correction: Of the p-values, as people call it; "" for none.
        n_tests: How many tests it takes in.
    """
    over = f", {correction} over {counted(n_tests, 'test')}" if correction else ""
    if len(tallies) == 1:
        return _of_two(baseline, tallies[0], over)
    by_leaning = {
        leaning: [each.system for each in tallies if each.leans == leaning]
        for leaning in ("better", "worse", "split", "none")
    }
    mixed = {each.system for each in tallies if each.better and each.worse}
    clauses = []
    for where, is_mixed in (("", False), (" in most metrics", True)):
        if names := [name for name in by_leaning["better"] if (name in mixed) == is_mixed]:
            clauses.append(f"{listed(names)} {by_number(len(names), 'is', 'are')} better than {baseline}{where}")
        if names := [name for name in by_leaning["worse"] if (name in mixed) == is_mixed]:
            clauses.append(f"{baseline} is better than {listed(names)}{where}")
    if names := by_leaning["split"]:
        clauses.append(f"{'on' if clauses else 'On'} {listed(names)} against {baseline} the metrics disagree")
    if names := by_leaning["none"]:
        clauses.append(f"{'between' if clauses else 'Between'} {baseline} and {_each(names)} no difference is shown")
    lines = [f"{each.system}: {_counts(each)}." for each in tallies]
    sure = _how_sure([each.p for each in tallies], over)
    return Verdict(f"{'; '.join(clauses)}.", (*lines, *sure))


def _of_two(baseline: str, each: Tally, over: str) -> Verdict:
    lines = []
    match each.leans:
        case "none":
            headline = f"No difference is shown between {baseline} and {each.system}."
            lines.append("They may still differ: the intervals show by how much.")
        case "split":
            headline = f"The metrics disagree on {baseline} and {each.system}."
            lines += [f"{baseline} is better {_where(each.worse, each.n)}."]
            lines += [f"{each.system} is better {_where(each.better, each.n)}."]
        case leaning:
            winner, loser = (each.system, baseline) if leaning == "better" else (baseline, each.system)
            won, lost = (each.better, each.worse) if leaning == "better" else (each.worse, each.better)
            headline = f"{winner} is better than {loser} {_where(won, each.n)}."
            lines += [f"{loser} is better {_where(lost, each.n)}."] if lost else []
    if each.neither and each.leans != "none":
        lines.append(f"No difference is shown {_where(each.neither, each.n)}.")
    return Verdict(headline, (*lines, *_how_sure([each.p], over)))


def _each(names: Sequence[str]) -> str:
    return f"each of {listed(names)}" if len(names) > 1 else names[0]


def _where(metrics: Sequence[str], n: int) -> str:
    """In which metrics."""
    if len(metrics) == n > 1:
        return "in both metrics" if n == 2 else f"in all {n} metrics"
    return f"in {listed(metrics)}" if len(metrics) <= NAMED else f"in {len(metrics)} of {counted(n, 'metric')}"


def _counts(each: Tally) -> str:
    said = (("better", each.better), ("worse", each.worse), ("no difference shown", each.neither))
    return "; ".join(f"{words} {_where(metrics, each.n)}" for words, metrics in said if metrics)


def _how_sure(p_values: Sequence[float], over: str) -> list[str]:
    known = [p for p in p_values if not math.isnan(p)]
    if not known:
        return []
    largest = max(known)
    p = "below 0.001" if largest < 0.001 else f"at most {p_value(largest)}"
    return [
        f"If the systems were equally good, such differences would be unlikely (p {p} in each metric counted{over})."
    ]


def verdict_alone(system: str, better: Sequence[str], others: Sequence[str]) -> Verdict:
    """Whether a single system is better than trivial systems.

    Args:
        system: Its name.
        better: Metrics in which it beats every trivial system.
        others: Those in which it does not, or not clearly.
    """
    n = len(better) + len(others)
    lines = [("Trivial systems do not use the image: an empty report, a normal template, the report of another study.")]
    if not better:
        where = f"in any of {n} metrics" if n > 1 else _where(others, n)  # "not in all" would allow some
        return Verdict(f"{system} is not clearly better than a trivial system {where}.", tuple(lines))
    if others:
        lines.append(f"It is not clearly better than the best of them {_where(others, n)}.")
    return Verdict(f"{system} is better than every trivial system {_where(better, n)}.", tuple(lines))
