"""Compares a system with trivial systems: its skill on all and on abnormal studies, and whether it has collapsed.

>>> import rrgmetrics
>>> worth = rrgmetrics.measure_worth(
...     "rouge", predictions=["Clear."] * 3, references=["Edema.", "Nodule.", "Clear lungs."], progress=False
... )
>>> worth.skills[0].state
'unsure'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from rrgmetrics import files
from rrgmetrics.backends.reader import Readings
from rrgmetrics.baselines.abnormal import MIN_STUDIES, abnormal_studies
from rrgmetrics.baselines.collapse import Collapse, find_collapse
from rrgmetrics.baselines.skill import TRIVIAL_NAMES, Skill, measure_skill, score_beside, trivial_systems
from rrgmetrics.errors import InputError
from rrgmetrics.reports import Pair
from rrgmetrics.reports.missing import Missing
from rrgmetrics.scoring.prepared import Metrics, prepare
from rrgmetrics.scoring.results import Result, on_shared_studies
from rrgmetrics.specs.names import context_of, listed_names
from rrgmetrics.utils.progress import phase
from rrgmetrics.utils.text_format import counted, listed

Results = dict[str, dict[str, Result]]
TRIALS = 1_000
NAMED = 3  # metrics that a sentence names; of more it gives the number


@dataclass(frozen=True)
class Worth:
    """The comparison of systems with trivial systems.

    Attributes:
        skills: Skill over all studies, by metric and system; empty if every metric needs a language model.
        abnormal: The same over the abnormal studies only; empty if there are fewer than `MIN_STUDIES`.
        n_studies: Number of studies.
        n_abnormal: Number of abnormal studies.
        collapses: The diversity of the reports of each system.
        trivial: The Results of the trivial systems, and of `"perfect"`.
    """

    skills: Sequence[Skill]
    abnormal: Sequence[Skill]
    n_studies: int
    n_abnormal: int
    collapses: Sequence[Collapse]
    trivial: Mapping[str, Mapping[str, Result]]

    @property
    def remarks(self) -> list[str]:
        """What must be said in words: who does not beat a trivial system, where, and who has collapsed."""
        ordered = sorted(self.skills, key=lambda skill: [each.system for each in self.collapses].index(skill.system))
        lines = [
            line
            for system, own in groupby(ordered, lambda skill: skill.system)
            for line in skill_lines(system, list(own))
        ]
        return lines + [collapse.sentence for collapse in self.collapses if collapse.sentence]


def skill_lines(system: str, skills: Sequence[Skill]) -> list[str]:
    """Says in which metrics a system does not beat the best trivial one.

    Args:
        system: Its name.
        skills: Its skills, one a metric.
    """
    by_state = {state: [skill for skill in skills if skill.state == state] for state in ("no better", "unsure")}
    tested = [skill for skill in skills if skill.state != "undefined"]
    lines = []
    if failed := by_state["no better"]:
        share = (
            "in any metric"
            if len(failed) == len(tested) > 1
            else f"in {len(failed)} of {counted(len(tested), 'metric')}"
        )
        beaten = "; ".join(f"{skill.title}: {_against(skill)}" for skill in failed) if len(failed) <= NAMED else ""
        lines.append(f"{system} does not beat the best trivial system {share}.{f' {beaten}.' if beaten else ''}")
    if by_state["unsure"]:
        unsure = by_state["unsure"]
        titles = listed([f"{skill.title} ({TRIVIAL_NAMES[skill.best]})" for skill in unsure])
        where = titles if len(unsure) <= NAMED else f"{len(unsure)} of {counted(len(tested), 'metric')}"
        lines.append(f"{system} is not clearly better than the best trivial system in {where}.")
    if tested and not lines:
        lines.append(f"{system} beats every trivial system in {counted(len(tested), 'metric')}.")
    for skill in skills:
        if skill.state == "undefined" and skill.trivial:
            lines.append(
                f"{skill.title} cannot show this: on these studies a perfect system scores no better than a trivial "
                "one."
            )
    return lines


def _against(skill: Skill) -> str:
    own, best = (_figure(value, skill) for value in (skill.score, skill.trivial[skill.best]))
    return f"{own}, {TRIVIAL_NAMES[skill.best]} {best}{f' {skill.basis}' if skill.basis else ''}"


def _figure(value: float, skill: Skill) -> str:
    places = 3 if skill.key.range[1] <= 1 else 2  # as tables have it
    return f"{value:.{places}f}".replace("-", "−")


def score_with_worth(
    metrics: Metrics,
    systems: Mapping[str, Sequence[Pair]],
    *,
    train: Sequence[str] = (),
    abnormal: Sequence[bool] | None = None,
    trials: int = TRIALS,
    seed: int = 0,
    progress: bool = True,
    study_ids: Sequence[str] | None = None,
) -> tuple[Results, Worth]:
    """Scores systems on the same studies, and measures what they are worth.

    Args:
        metrics: Prepared.
        systems: The pairs of each system; the references are the same.
        train: Reports of a training set, whose most frequent report is a trivial system.
        abnormal: Which studies are abnormal; None: what the reader finds in the references.
        trials: Number of resamples of intervals.
        seed: Random seed of resamples and of the assignment of reports to other studies.
        progress: Whether to show a progress bar.
        study_ids: One id a study, for warnings of missing reports.

    Returns:
        The Results of each system by metric, as without trivial systems; and their worth.
    """
    metrics.warn(systems, study_ids)
    trivial = trivial_systems(next(iter(systems.values())), train=train, seed=seed, readings=metrics.readings)
    results, beside = score_beside(metrics, systems, trivial, progress=progress)
    with phase("skill and collapse", shown=progress):
        return results, worth_of(
            results, beside, systems, abnormal=abnormal, trials=trials, seed=seed, readings=metrics.readings
        )


def worth_of(
    results: Mapping[str, Mapping[str, Result]],
    trivial: Mapping[str, Mapping[str, Result]],
    systems: Mapping[str, Sequence[Pair]],
    *,
    abnormal: Sequence[bool] | None = None,
    trials: int = TRIALS,
    seed: int = 0,
    readings: Readings | None = None,
) -> Worth:
    """Measures what systems are worth from what was scored before.

    Args:
        results: For each system its Results by metric.
        trivial: The Results of the trivial systems (`rrgmetrics.baselines.skill.score_beside`).
        systems: The pairs of each system.
        abnormal: Which studies are abnormal; None: what the reader finds in the references.
        trials: Number of resamples of intervals.
        seed: Of resamples.
        readings: Those of the scoring (`Metrics.keeping`); None: the references are read.
    """
    references = [pair.reference for pair in next(iter(systems.values()))]
    is_abnormal = (
        abnormal_studies(references, readings or Readings()) if abnormal is None else np.array(abnormal, dtype=bool)
    )
    rows = np.flatnonzero(is_abnormal).tolist()
    measure = partial(measure_skill, on_shared_studies(results), trivial, trials=trials, seed=seed)
    return Worth(
        measure(),
        measure(rows=rows) if len(rows) >= MIN_STUDIES else [],
        len(references),
        len(rows),
        [find_collapse(name, [pair.candidate for pair in own], references) for name, own in systems.items()],
        trivial,
    )


def measure_worth(
    metrics: str | Sequence[str],
    pairs: Any = None,
    *,
    predictions: Any = None,
    references: Any = None,
    contexts: Any = None,
    columns: files.Columns = None,
    train: Sequence[str] = (),
    abnormal: Sequence[bool] | None = None,
    trials: int = TRIALS,
    seed: int = 0,
    progress: bool = True,
    missing: Missing = "unscored",
) -> Worth:
    """Compares the scores of a system with those of trivial systems.

    Args:
        metrics: Metrics as in `rrgmetrics.score`.
        pairs: Both reports of each study, as in `rrgmetrics.score`; or None.
        predictions: The system's reports, one for each study.
        references: The radiologists' reports.
        contexts: One dict for each pair with any of `age`, `sex`, `indication`; or None.
        columns: The column names of tables and files, as in `rrgmetrics.score`.
        train: Reports of a training set, whose most frequent report is a trivial system.
        abnormal: Which studies are abnormal, one truth value for each; None: those with findings of the reader in the
            references.
        trials: Number of resamples of intervals.
        seed: Random seed of resamples and of the assignment of reports to other studies.
        progress: Whether to show a progress bar.
        missing: What to do with pairs whose reference is missing, as in `rrgmetrics.score`.

    Returns:
        The skills over all and over abnormal studies, and the diversity of the reports; `.remarks` describes problems
        in words.

    Raises:
        InputError: An invalid name, report or list; nothing was scored.
    """
    metrics = listed_names(metrics)
    with files.use_context(context_of(metrics)):
        studies = files.pairs_of(pairs, predictions, references, contexts, columns)
    if abnormal is not None and len(abnormal) != len(studies.pairs):
        raise InputError(
            f"abnormal has {len(abnormal)} entries for {len(studies.pairs)} pairs; pass one truth value a study."
        )
    options: dict[str, Any] = {"trials": trials, "seed": seed, "progress": progress, "study_ids": studies.study_ids}
    with prepare(metrics, missing=missing) as prepared:
        kept = prepared.keeping(Readings())
        return score_with_worth(kept, {"predictions": studies.pairs}, train=train, abnormal=abnormal, **options)[1]
