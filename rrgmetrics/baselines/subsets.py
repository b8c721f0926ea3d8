"""Subsets of studies, by the reader's findings in the reference.

`normal`: the reference reports nothing abnormal (devices and remarks on technique do not count); `abnormal`: the
others. An abnormal study is also in the group of each finding that its reference reports as present or possible: the
groups of the lexicon (`lung`, `pleura`, ...), one file each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rrgmetrics import stats
from rrgmetrics.backends.reader import Readings
from rrgmetrics.baselines.abnormal import MIN_STUDIES, NO_FINDING, finding_groups
from rrgmetrics.reading import Reading
from rrgmetrics.scoring.results import Result

TITLES = {
    "normal": "Normal studies",
    "abnormal": "Abnormal studies",
    "lung": "Lung findings",
    "pleura": "Pleural findings",
    "heart_and_vessels": "Heart and vessels",
    "mediastinum": "Mediastinum",
    "bones": "Bones",
    "chest_wall_and_abdomen": "Chest wall and abdomen",
    "devices": "Devices",
}
ORDER = tuple(TITLES)
TRIALS = 1_000  # resamples; the interval of a part is a hint, not a test


class Part(NamedTuple):
    """A part of the studies: its name, its title, and the numbers of its studies."""

    name: str
    title: str
    rows: list[int]


Scores = Mapping[str, Mapping[str, Mapping[str, stats.Estimate]]]  # by part, metric and system


def slices_of(reading: Reading) -> tuple[str, ...]:
    """The parts that a study belongs to.

    Example:
        >>> slices_of(Readings().read("Small left pleural effusion. No pneumothorax."))
        ('abnormal', 'pleura')
        >>> slices_of(Readings().read("The lungs are clear."))
        ('normal',)
    """
    groups = finding_groups(reading)
    groups.add("abnormal" if groups - set(NO_FINDING) else "normal")
    return tuple(name for name in ORDER if name in groups)


def rows_of_slices(memberships: Sequence[Sequence[str]]) -> dict[str, list[int]]:
    """Numbers of the studies of each part that has at least `MIN_STUDIES`, in the order of the page.

    Args:
        memberships: For each study its parts, as `slices_of` returns them.
    """
    rows = {name: [i for i, names in enumerate(memberships) if name in names] for name in ORDER}
    return {name: members for name, members in rows.items() if len(members) >= MIN_STUDIES}


def parts_of(references: Sequence[str], readings: Readings) -> list[Part]:
    """The parts of a set of studies that have at least `MIN_STUDIES`, in the order of a page."""
    known = {text: slices_of(readings.read(text)) for text in dict.fromkeys(references)}
    rows = rows_of_slices([known[text] for text in references])
    return [Part(name, TITLES[name], members) for name, members in rows.items()]


def score_parts(
    results: Mapping[str, Mapping[str, Result]],
    parts: Sequence[Part],
    *,
    trials: int = TRIALS,
    level: float = stats.LEVEL,
    seed: int = 0,
) -> Scores:
    """Scores parts of the studies, in the headline of each metric.

    Args:
        results: For each system its Results by metric.
        parts: As `parts_of` returns them.
        trials: Resamples of intervals.
        level: Coverage of intervals.
        seed: Of the resamples.

    Returns:
        By part, metric and system the value with its interval and the number of scored pairs.
    """
    drawing: dict[str, Any] = {"trials": trials, "level": level, "seed": seed}
    return {
        part.name: {
            metric: {system: _headline(own[metric], part, **drawing) for system, own in results.items()}
            for metric in next(iter(results.values()))
        }
        for part in parts
    }


def _headline(result: Result, part: Part, **drawing: Any) -> stats.Estimate:
    scores = stats.bootstrap(result.reduction, result.pair_stats[part.rows], **drawing)
    return scores[result.spec.headline.name]
