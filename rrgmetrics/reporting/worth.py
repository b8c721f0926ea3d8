"""Tables that compare systems with trivial systems: skill, and the diversity of reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rrgmetrics.baselines.collapse import Collapse, Diversity
from rrgmetrics.baselines.skill import Skill
from rrgmetrics.baselines.worth import Worth
from rrgmetrics.reporting.numbers import estimate, figure, show
from rrgmetrics.reporting.short import marked, with_stand_in_note
from rrgmetrics.reporting.tables import Cell, Cells, Group, Table
from rrgmetrics.specs import SPECS
from rrgmetrics.specs.names import shown
from rrgmetrics.utils.text_format import count_studies, counted

STYLES = {"better": "better", "no better": "worse", "unsure": "", "undefined": "quiet"}
HEADS = {  # of the columns of trivial systems, and what they mean
    "empty": ("empty", "an empty report"),
    "normal": ("normal", "one normal sentence"),
    "template": ("templ.", "a normal report"),
    "frequent": ("freq.", "the most frequent report"),
    "another": ("other", "another study's report"),
}
WITH_INTERVALS = 2  # systems beside each other whose skill is shown with its interval
UNSURE = "°"
HEADING = "Compared with trivial systems"
DIVERSITY_NOTE = (
    "distinct: different reports. most frequent: share of the reports that are the most frequent one. words: in a "
    "report. vocabulary: different words in all reports. similarity: mean cosine of the word counts of two studies' "
    "reports; 0: no word in common, 1: the same words."
)
NOTE = "skill = (score − best trivial) / (perfect − best trivial); perfect: the references against themselves"


def worth_tables(worth: Worth, *, several: bool = False) -> list[Table]:
    """Every table that the worth of systems has: skill over all studies and over the abnormal ones, and collapse.

    Args:
        worth: Of the systems.
        several: Whether some reports are of one study.
    """
    n = count_studies(worth.n_studies, several=several)
    tables = []
    if worth.skills:
        unscored = (worth.n_studies - skill.n_scored for skill in worth.skills)
        scored = count_studies(worth.n_studies, *unscored, several=several)
        tables.append(skill_table(worth.skills, f"{HEADING}: {scored}", with_note=True))
    if worth.abnormal:
        tables.append(skill_table(worth.abnormal, f"Abnormal studies only: {worth.n_abnormal:,} of {n}"))
    return [*tables, collapse_table(worth.collapses)]


def skill_table(skills: Sequence[Skill], title: str, *, with_note: bool = False) -> Table:
    """The skill of systems: a line for each metric, and for several systems a line for each below it.

    Args:
        skills: By metric and system.
        title: What it shows.
        with_note: Whether it says below what skill and the columns are.
    """
    names = [name for name in HEADS if any(name in skill.trivial for skill in skills)]
    several = len({skill.system for skill in skills}) > 1
    groups = []
    for _, own in groupby(skills, lambda skill: skill.metric):
        of_metric = list(own)
        first = of_metric[0]
        head = _head(first)
        blank: list[str | Cell] = [""] * len(names)
        lines: list[Cells] = [(f"  {skill.system}", _score(skill), *blank, _skill(skill)) for skill in of_metric]
        if several:
            groups.append(Group(((Cell(head, "strong"), "", *_trivial(first, names), ""), *lines)))
        else:
            groups.append(Group(((head, _score(first), *_trivial(first, names), _skill(first)),)))
    if not several:
        groups = [Group(tuple(line for group in groups for line in group.lines))]
    heads = ("", "score", *(HEADS[name][0] for name in names), "skill [95% interval]")
    note = f"{NOTE}. {_meant(names)}." if with_note else ""
    return with_stand_in_note(Table(heads, tuple(groups), title=title, note=note))


def skill_summary(skills: Sequence[Skill]) -> Table:
    """The skill of systems beside the best trivial one alone, below a table of scores: a line a metric.

    Args:
        skills: By metric and system.
    """
    by_metric = [list(own) for _, own in groupby(skills, lambda skill: skill.metric)]
    lines: list[Cells] = []
    for own in by_metric:
        first = own[0]
        hardest = f"{show(first.trivial[first.best], first.key)} {HEADS[first.best][0]}" if first.trivial else ""
        lines.append(
            (_head(first), hardest, *(map(_skill, own) if len(own) <= WITH_INTERVALS else map(_bare_skill, own)))
        )
    heads = ("", "best trivial", *(skill.system for skill in by_metric[0]))
    best = dict.fromkeys(own[0].best for own in by_metric if own[0].trivial)
    notes = [
        "0: the best trivial system, which does not use the image; 1: the radiologists' reports.",
        *([f"{_meant(list(best))}."] if best else ()),
    ]
    if len(by_metric[0]) > WITH_INTERVALS:
        notes.append(f"{UNSURE} its interval contains 0 (--full shows intervals).")
    if sampled := next((own[0].basis for own in by_metric if own[0].basis), ""):
        notes.append(f'"{sampled}": trivial systems were scored on these studies only, and the skill refers to them.')
    note = " ".join(notes)
    return Table(heads, (Group(tuple(lines)),), title=f"{HEADING}: skill", note=note)


def _head(skill: Skill) -> str:
    """The metric with its direction, and the studies that trivial systems were scored on, if these are not all."""
    asked = "" if skill.metric in SPECS else f" ({shown(skill.metric)})"
    basis = f", {skill.basis}" if skill.basis else ""
    return f"{marked(skill.title)} {skill.key.arrow}{asked}{basis}"


def _meant(names: Sequence[str]) -> str:
    """What the columns of trivial systems mean."""
    return "; ".join(f"{head}: {words}" for head, words in (HEADS[name] for name in names))


def _score(skill: Skill) -> str:
    return show(skill.score, skill.key)


def _trivial(skill: Skill, names: Sequence[str]) -> list[str | Cell]:
    """The trivial systems' scores; the best one is strong."""
    return [
        Cell(show(skill.trivial[name], skill.key), "strong" if name == skill.best else "quiet")
        if name in skill.trivial
        else ""
        for name in names
    ]


def _skill(skill: Skill) -> Cell:
    if skill.state == "undefined":
        return Cell("cannot tell", STYLES[skill.state])
    value, _, ends = estimate(skill.skill, places=2).partition(" ")
    return Cell(value, STYLES[skill.state], detail=ends)


def _bare_skill(skill: Skill) -> Cell:
    """The skill without its interval."""
    whole = _skill(skill)
    return Cell(whole.text + (UNSURE if skill.skill.low <= 0 <= skill.skill.high else ""), whole.style)


def collapse_table(collapses: Sequence[Collapse]) -> Table:
    """How different the reports of each system are, beside the radiologists'."""
    references = collapses[0].references
    lines = [_diversity(each.system, each.own, bool(each.sentence)) for each in collapses]
    lines.append(_diversity("radiologists", references, False))
    heads = ("", "distinct", "most frequent", "words", "vocabulary", "similarity")
    return Table(
        heads,
        (Group(tuple(lines)),),
        title=f"Diversity of the reports; the radiologists wrote {counted(references.n_reports, 'report')}",
        note=DIVERSITY_NOTE,
    )


def _diversity(name: str, own: Diversity, wrong: bool) -> Cells:
    return (
        name,
        Cell(f"{own.n_distinct:,}", "worse" if wrong else ""),
        f"{own.commonest_share:.1%}",
        f"{own.mean_words:.1f}",
        f"{own.vocabulary:,}",
        figure(own.self_similarity, 2) if own.self_similarity == own.self_similarity else "",
    )


def as_json(worth: Worth) -> dict[str, object]:
    """The worth of systems for a JSON file; texts of reports are left out."""
    return {
        "skill": _skills(worth.skills),
        "abnormal": _skills(worth.abnormal),
        "n_studies": worth.n_studies,
        "n_abnormal": worth.n_abnormal,
        "collapse": {each.system: _without_text(each.own) for each in worth.collapses},
        "references": _without_text(worth.collapses[0].references),
        "remarks": worth.remarks,
    }


def _skills(skills: Sequence[Skill]) -> list[Mapping[str, Any]]:
    return [
        {
            "metric": skill.metric,
            "key": skill.key.name,
            "system": skill.system,
            "score": skill.score,
            "trivial": skill.trivial,
            "best_trivial": skill.best if skill.trivial else None,
            "perfect": skill.perfect,
            "skill": skill.skill._asdict(),
            "n_scored": skill.n_scored,
            "state": skill.state,
        }
        for skill in skills
    ]


def _without_text(own: Diversity) -> dict[str, object]:
    return {key: value for key, value in own._asdict().items() if key != "commonest"}
