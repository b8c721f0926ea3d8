"""Invented studies: what a radiograph shows, and a report of it in one of many wordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

SIDES = ("right", "left")
ZONES = ("upper", "mid", "lower")
SEVERITIES = ("mild", "moderate", "severe")
SIZES = ("small", "moderate", "large")
DIAMETERS_MM = (8, 14, 22)


@dataclass(frozen=True)
class Study:
    """What a radiograph shows.

    Attributes:
        heart: Severity of cardiomegaly, from `SEVERITIES`; empty for a heart of normal size.
        effusions: Size, from `SIZES`, by side.
        pneumothorax: Side; empty for none.
        nodule: Side, zone and diameter in mm, or None.
        opacity: Side and zone of a consolidation, or None.
        devices: Of `endotracheal tube`, `right jugular catheter`, `pacemaker`.
    """

    heart: str = ""
    effusions: Mapping[str, str] = field(default_factory=dict)
    pneumothorax: str = ""
    nodule: tuple[str, str, int] | None = None
    opacity: tuple[str, str] | None = None
    devices: tuple[str, ...] = ()


def draw_study(random: Random) -> Study:
    """A study with some findings; about one in six has none."""
    return Study(
        heart=random.choice(SEVERITIES) if random.random() < 0.4 else "",
        effusions={side: random.choice(SIZES) for side in SIDES if random.random() < 0.25},
        pneumothorax=random.choice(SIDES) if random.random() < 0.1 else "",
        nodule=(random.choice(SIDES), random.choice(ZONES), random.choice(DIAMETERS_MM))
        if random.random() < 0.25
        else None,
        opacity=(random.choice(SIDES), random.choice(ZONES)) if random.random() < 0.25 else None,
        devices=tuple(name for name in DEVICES if random.random() < 0.12),
    )


# --- words ------------------------------------------------------------------------------------------------------------

DEVICES: dict[str, Sequence[str]] = {
    "endotracheal tube": (
        "The endotracheal tube ends above the carina.",
        "An endotracheal tube is in place with its tip above the carina.",
    ),
    "right jugular catheter": (
        "A right internal jugular catheter ends in the superior vena cava.",
        "The tip of the right internal jugular line is in the superior vena cava.",
    ),
    "pacemaker": (
        "A left pacemaker is in place.",
        "There is a left chest wall pacemaker.",
    ),
}
NORMAL_HEART = ("The heart is normal in size.", "Heart size is normal.", "The cardiac silhouette is not enlarged.")
LARGE_HEART = (
    "There is {0} cardiomegaly.",
    "The heart is {0}ly enlarged.",
    "{1} enlargement of the cardiac silhouette.",
)
CLEAR_LUNGS = ("The lungs are clear.", "Both lungs are clear.", "There is no focal consolidation.")
OPACITY = (
    "There is consolidation in the {0} {1} lung zone.",
    "Airspace opacity in the {0} {1} lung zone.",
    "A consolidation is seen in the {0} {1} lung.",
)
NODULE = (
    "There is a {2} mm nodule in the {0} {1} lung zone.",
    "A {2} mm nodule projects over the {0} {1} lung.",
)
EFFUSION = (
    "There is a {1} {0} pleural effusion.",
    "A {1} {0} pleural effusion is present.",
    "{2} {0} pleural effusion.",
)
BOTH_EFFUSIONS = ("There are {0} bilateral pleural effusions.", "{1} bilateral pleural effusions are present.")
NO_EFFUSION = ("There is no pleural effusion.", "No pleural effusion is seen.", "No effusion.")
PNEUMOTHORAX = ("There is a {0} apical pneumothorax.", "A {0} apical pneumothorax is present.")
NO_PNEUMOTHORAX = ("There is no pneumothorax.", "No pneumothorax is seen.")
SILENCE = 0.15  # how often a normal statement is left out


def write_report(study: Study, random: Random) -> str:
    """A report of the study; two calls differ in words, not in findings."""
    sentences = [random.choice(DEVICES[name]) for name in study.devices]
    if study.heart:
        sentences.append(random.choice(LARGE_HEART).format(study.heart, study.heart.capitalize()))
    else:
        sentences.append(_normally(NORMAL_HEART, random))
    if study.opacity:
        sentences.append(random.choice(OPACITY).format(*study.opacity))
    if study.nodule:
        sentences.append(random.choice(NODULE).format(*study.nodule))
    if not study.opacity and not study.nodule:
        sentences.append(_normally(CLEAR_LUNGS, random))
    sentences += _effusions(study.effusions, random)
    if study.pneumothorax:
        sentences.append(random.choice(PNEUMOTHORAX).format(study.pneumothorax))
    else:
        sentences.append(_normally(NO_PNEUMOTHORAX, random))
    return " ".join(filter(None, sentences)) or CLEAR_LUNGS[0]


def write_normal_report() -> str:
    """The report of a study without findings, every normal statement in its first wording."""
    return " ".join(wordings[0] for wordings in (NORMAL_HEART, CLEAR_LUNGS, NO_EFFUSION, NO_PNEUMOTHORAX))


def _effusions(effusions: Mapping[str, str], random: Random) -> list[str]:
    sizes = set(effusions.values())
    if len(effusions) == 2 and len(sizes) == 1:
        (size,) = sizes
        return [random.choice(BOTH_EFFUSIONS).format(size, size.capitalize())]
    if effusions:
        return [random.choice(EFFUSION).format(side, size, size.capitalize()) for side, size in effusions.items()]
    return [_normally(NO_EFFUSION, random)]


def _normally(wordings: Sequence[str], random: Random) -> str:
    return "" if random.random() < SILENCE else random.choice(wordings)
