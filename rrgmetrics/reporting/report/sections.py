"""The numbers of the report page, section by section: each function gives what a part of the template shows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rrgmetrics import stats
from rrgmetrics.baselines.collapse import Collapse
from rrgmetrics.baselines.skill import TRIVIAL_NAMES, Skill
from rrgmetrics.baselines.subsets import ORDER, TITLES, Part, Scores
from rrgmetrics.baselines.worth import Worth
from rrgmetrics.comparing import ErrorCategory, ReportComparison
from rrgmetrics.reading.lexicon import lexicon_of
from rrgmetrics.reporting.drawing import Scale, ends, scale_around, scale_around_zero, scale_from_zero, scale_of_range
from rrgmetrics.reporting.html import category_counts
from rrgmetrics.reporting.numbers import estimate, show
from rrgmetrics.reporting.spread import Spread, spread
from rrgmetrics.reporting.tables import Cell, Cells, Group, Table
from rrgmetrics.reporting.verdict import Verdict, favour, tally, verdict_alone, verdict_on
from rrgmetrics.scorers.base import Array, Mean
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs import Key
from rrgmetrics.specs.names import label, parse_name, shown
from rrgmetrics.stats import Estimate
from rrgmetrics.systems.table import Row, distinct_keys
from rrgmetrics.utils.text_format import counted, listed

Results = Mapping[str, Mapping[str, Result]]
Comparisons = Mapping[str, Mapping[int, ReportComparison]]  # by system and number of the study

CORRECTIONS: Mapping[str, str] = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": ""}
DEPENDENT = "Several reports are of one study, and the tests take them as independent: p is too small."
OTHER = "other"  # errors that belong to no finding
LOWEST_SKILL = -1.0  # that is drawn; numbers say how much less it is


class Metric(NamedTuple):
    """A metric of the page: as it was asked for, as people call it, and its headline."""

    name: str
    title: str
    key: Key


def metrics_of(results: Results) -> list[Metric]:
    """The metrics, in the order of the results."""
    first = next(iter(results.values()))
    return [Metric(name, label(name, result.titled), result.titled.headline) for name, result in first.items()]


def estimate_of(result: Result, key: str, row: Row | None) -> Estimate:
    """A score, with its interval where there is one."""
    n = result.n_pairs - result.n_unscored
    return row.score if row is not None else Estimate(result.scores.get(key, math.nan), math.nan, math.nan, n)


# --- the verdict ------------------------------------------------------------------------------------------------------


def verdict(
    results: Results, rows: Sequence[Row], worth: Worth | None, correction: str, *, several: bool = False
) -> Verdict:
    """The page's first sentence and what belongs to it.

    Args:
        results: For each system its Results by metric.
        rows: As `compare_systems` returns them.
        worth: What the systems are worth, or None.
        correction: Of the p-values.
        several: Whether some reports are of one study.
    """
    titles = {metric.name: metric.title for metric in metrics_of(results)}
    baseline, *others = results
    headlines = [row for row in rows if row.test is not None and row.key.name == _headline(results, row)]
    if others and headlines:
        n_tests = sum(row.test is not None for row in rows)
        tallies = [
            tally(each, [(titles[row.metric], row) for row in headlines if row.system == each]) for each in others
        ]
        found = verdict_on(baseline, tallies, CORRECTIONS[correction], n_tests)
        is_different = several and any(each.leans != "none" for each in tallies)
        return found._replace(lines=(*found.lines, *([DEPENDENT] if is_different else []), *reader_lines(results)))
    if not others and worth is not None and (skills := [each for each in worth.skills if each.state != "undefined"]):
        better = [titles[each.metric] for each in skills if each.state == "better"]
        found = verdict_alone(baseline, better, [titles[each.metric] for each in skills if each.state != "better"])
        return found._replace(lines=(*found.lines, *reader_lines(results)))
    first = metrics_of(results)[0]
    said = [
        f"{system} {show(by_name[first.name].scores[first.key.name], first.key)}" for system, by_name in results.items()
    ]
    return Verdict(f"{first.title}: {', '.join(said)}.")


def reader_lines(results: Results) -> list[str]:
    """A sentence on the metrics that share the errors of the bundled reader, if there are several."""
    sharing = [name for name in map(parse_name, next(iter(results.values()))) if name.shares_reader]
    if len(sharing) < 2:
        return []
    taught = listed([name.titled.title for name in sharing if not name.uses_reader])
    learned = f"; {taught} was trained with it" if taught else ""
    return [f"{len(sharing)} of these metrics share the errors of the same bundled reader{learned}."]


def _headline(results: Results, row: Row) -> str:
    return results[row.system][row.metric].spec.headline.name


class Overview(NamedTuple):
    """What is to be known first of a system.

    Attributes:
        name: The system.
        score: Its value in the first metric.
        significant: How many errors of these matter; "" where nobody says.
        skill: In how many metrics it beats trivial systems; "" where that was not measured.
        state: `better`, `worse` or "": what the skill says.
        written: How different its reports are; "" where that was not measured.
        collapsed: Whether they are too much alike.
        unscored: How many studies are left out of a metric for want of a score; "" if none.
    """

    name: str
    score: Estimate
    significant: str
    skill: str
    state: str
    written: str
    collapsed: bool
    unscored: str


def overviews(results: Results, rows: Sequence[Row], worth: Worth | None) -> list[Overview]:
    """What is to be known first of each system."""
    return [_overview(system, results, rows, worth) for system in results]


def _overview(system: str, results: Results, rows: Sequence[Row], worth: Worth | None) -> Overview:
    name, result = next(iter(results[system].items()))
    row = next(
        (row for row in rows if (row.metric, row.system, row.key.name) == (name, system, result.spec.headline.name)),
        None,
    )
    matter = f"{result.spec.name}_significant"
    significant = next((key for key in result.spec.keys if key.name == matter), None)
    skills = [] if worth is None else [skill for skill in worth.skills if skill.system == system]
    tested = [skill.state for skill in skills if skill.state != "undefined"]
    n_better = tested.count("better")
    collapse = None if worth is None else next(each for each in worth.collapses if each.system == system)
    n_unscored = _n_without_score(results[system].values())
    return Overview(
        system,
        estimate_of(result, result.spec.headline.name, row),
        f"{show(result.scores[matter], significant)} of them clinically significant" if significant else "",
        f"beats trivial systems in {n_better} of {counted(len(tested), 'metric')}" if tested else "",
        "" if not tested else "better" if n_better == len(tested) else "worse" if 2 * n_better <= len(tested) else "",
        "" if collapse is None else _written(collapse),
        collapse is not None and bool(collapse.sentence),
        f"{counted(n_unscored, 'study', 'studies')} not scored" if n_unscored else "",
    )


def _n_without_score(results: Iterable[Result]) -> int:
    """The number of studies of which one of the results has no score."""
    return len({row for result in results for row in result.unscored_reasons})


def _written(collapse: Collapse) -> str:
    return f"{counted(collapse.own.n_distinct, 'different report')} of {collapse.own.n_reports:,}"


# --- differences and scores -------------------------------------------------------------------------------------------


class Difference(NamedTuple):
    """A tested headline: its row, the row it was tested against, and the difference turned for the system."""

    metric: Metric
    row: Row
    baseline: Row
    favour: Estimate
    scale: Scale


def differences(results: Results, rows: Sequence[Row]) -> dict[str, list[Difference]]:
    """For each system but the first its headlines beside those of the first; one axis a metric."""
    baseline, *others = results
    cells = {(row.metric, row.system): row for row in rows if row.key.name == _headline(results, row)}
    found: dict[str, list[Difference]] = {}
    for metric in metrics_of(results):
        tested = {each: row for each in others if (row := cells.get((metric.name, each))) is not None and row.test}
        scale = scale_around_zero(map(favour, tested.values()))
        for each, row in tested.items():
            one = Difference(metric, row, cells[metric.name, baseline], favour(row), scale)
            found.setdefault(each, []).append(one)
    return found


class Line(NamedTuple):
    """A line of values with their intervals, one a system, on one axis."""

    title: str
    key: Key
    cells: Sequence[tuple[str, Estimate]]
    scale: Scale
    note: str = ""
    n: int = 0


def score_lines(results: Results, rows: Sequence[Row]) -> list[Line]:
    """The headlines of all systems."""
    cells = {(row.metric, row.system): row for row in rows if row.key.name == _headline(results, row)}
    lines = []
    for metric in metrics_of(results):
        found = [
            (system, estimate_of(by_name[metric.name], metric.key.name, cells.get((metric.name, system))))
            for system, by_name in results.items()
        ]
        n_unscored = _n_without_score(by_name[metric.name] for by_name in results.values())
        note = f"{counted(n_unscored, 'study', 'studies')} not scored" if n_unscored else ""
        alone = scale_of_range(metric.key.range, found[0][1])
        scale = scale_around(score for _, score in found) if len(found) > 1 else alone
        lines.append(Line(metric.title, metric.key, found, scale, note))
    return lines


def every_score(results: Results, rows: Sequence[Row]) -> Table:
    """Every key of every metric, with the interval where there is one."""
    known = {(row.metric, row.key.name, row.system): row for row in rows}
    groups = []
    for metric, first in next(iter(results.values())).items():
        lines: list[Cells] = []
        for key in distinct_keys(first.titled.keys):
            values = [
                estimate(estimate_of(by_name[metric], key.name, known.get((metric, key.name, system))), key)
                for system, by_name in results.items()
            ]
            lines.append((key.title, *(Cell(value, "number") for value in values), key.better, Cell(key.name, "code")))
        groups.append(
            Group(tuple(lines), (Cell(first.title if metric == first.spec.name else shown(metric), "strong"),))
        )
    return Table(("", *results, "better", "key"), tuple(groups), title="Every score")


# --- worth ------------------------------------------------------------------------------------------------------------


class SkillLine(NamedTuple):
    """A metric's skill, by system, and the trivial system that is hardest to beat."""

    title: str
    key: Key
    best: str
    cells: Sequence[Skill]


def skill_lines(results: Results, worth: Worth) -> tuple[list[SkillLine], Scale]:
    """The skill of all systems in each metric, and the axis that all share: 0 is trivial, 1 is perfect."""
    lines = []
    for metric in metrics_of(results):
        own = [skill for skill in worth.skills if skill.metric == metric.name]
        if own and own[0].trivial:
            first = own[0]
            best = f"{TRIVIAL_NAMES[first.best]} {show(first.trivial[first.best], first.key)} {first.basis}".rstrip()
            lines.append(SkillLine(metric.title, metric.key, best, own))
    found = ends(skill.skill for skill in worth.skills)
    return lines, Scale(max(LOWEST_SKILL, min([-0.1, *found])), 1.0)


# --- errors -----------------------------------------------------------------------------------------------------------


class Kinds(NamedTuple):
    """Errors a report of each kind, by system, on one axis."""

    title: str
    systems: Mapping[str, Mapping[str, Estimate]]
    scale: Scale


def kinds(results: Results, found: Comparisons, *, level: float, seed: int) -> list[Kinds]:
    """Errors by kind as each metric counts them that does; as the reader does where none is asked."""
    titles = {metric.name: metric.title for metric in metrics_of(results)}
    counted_by: dict[str, dict[str, dict[str, Estimate]]] = {}
    for system, by_name in results.items():
        for name, result in by_name.items():
            if known := category_counts(result):
                drawn = stats.bootstrap(result.reduction, result.pair_stats, level=level, seed=seed)
                own = {category: drawn[f"{result.spec.name}_{category}"] for category in known}
                counted_by.setdefault(titles[name], {})[system] = own
    if not counted_by and found:
        counted_by["As the bundled reader finds them"] = {
            system: stats.bootstrap(Mean(tuple(ErrorCategory)), _counts(list(own.values())), level=level, seed=seed)
            for system, own in found.items()
        }
    return [
        Kinds(title, systems, scale_from_zero(score for own in systems.values() for score in own.values()))
        for title, systems in counted_by.items()
    ]


def _counts(found: Sequence[ReportComparison]) -> Array:
    """Errors by category `(n_pairs, 6)`; NaN where the reference cannot be read."""
    counts = np.array(
        [[each.counts.get(category, 0) for category in ErrorCategory] for each in found], dtype=np.float64
    )
    counts[[bool(each.out_of_scope) for each in found]] = np.nan
    return counts


class GroupLine(NamedTuple):
    """Errors about one group of findings: by system, for each kind, in 100 reports."""

    title: str
    systems: Mapping[str, Mapping[str, float]]


def groups(found: Comparisons) -> tuple[list[GroupLine], float]:
    """Errors by the group of findings that they are about, and the longest bar."""
    counts = {
        system: Counter(pair for each in own.values() for pair in _group_and_kind(each))
        for system, own in found.items()
    }
    n_read = {system: sum(not each.out_of_scope for each in own.values()) or 1 for system, own in found.items()}
    lines = []
    others = {group: None for own in counts.values() for group, _ in own if group not in (*ORDER, OTHER)}
    for group in (*ORDER[2:], *others, OTHER):
        by_system = {
            system: {c.value: 100 * own[group, c.value] / n_read[system] for c in ErrorCategory if own[group, c.value]}
            for system, own in counts.items()
        }
        if any(by_system.values()):
            title = "Not about a single finding" if group == OTHER else group.replace("_", " ").capitalize()
            lines.append(GroupLine(TITLES.get(group, title), by_system))
    longest = max((sum(own.values()) for line in lines for own in line.systems.values()), default=1.0)
    return lines, longest


def _group_and_kind(compared: ReportComparison) -> list[tuple[str, str]]:
    concepts = lexicon_of(compared).concepts
    return [
        (concepts[finding.concept].group if finding else OTHER, error.category.value)
        for error in compared.whole.errors
        for finding in [error.reference or error.candidate]
    ]


# --- parts and spread -------------------------------------------------------------------------------------------------


def part_tables(results: Results, parts: Sequence[Part], scores: Scores) -> list[tuple[Metric, list[Line]]]:
    """For each metric the parts of the studies, on one axis."""
    tables = []
    for metric in metrics_of(results):
        own = [list(scores[part.name][metric.name].items()) for part in parts]
        scale = scale_around(score for cells in own for _, score in cells)
        lines = [
            Line(part.title, metric.key, cells, scale, n=len(part.rows)) for part, cells in zip(parts, own, strict=True)
        ]
        tables.append((metric, lines))
    return tables


def spreads(results: Results) -> list[tuple[Metric, Spread]]:
    """How the headlines spread over the studies."""
    return [
        (
            metric,
            spread(metric.key, {system: own[metric.name].per_pair[metric.key.name] for system, own in results.items()}),
        )
        for metric in metrics_of(results)
    ]
