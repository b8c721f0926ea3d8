"""Parts of a set of studies, by what the reader finds in the reference.

`normal`: the reference reports nothing abnormal (devices and remarks on technique are no finding); `abnormal`: the
others. An abnormal study is also in the group of each finding that its reference reports as present or possible: the
groups of the lexicon (`lung`, `pleura`, ...), one file each.
"""

from __future__ import annotations

from collections.abc import Sequence

from rrgmetrics.abnormal import MIN_STUDIES, NO_FINDING, finding_groups
from rrgmetrics.reader.lexicon import CONCEPT_FILES

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
ORDER = ("normal", "abnormal", *(name for name in CONCEPT_FILES if name != "technique"))


def slices_of(reference: str) -> tuple[str, ...]:
    """The parts that a study belongs to.

    Example:
        >>> slices_of("Small left pleural effusion. No pneumothorax.")
        ('abnormal', 'pleura')
        >>> slices_of("The lungs are clear.")
        ('normal',)
    """
    groups = finding_groups(reference)
    groups.add("abnormal" if groups - set(NO_FINDING) else "normal")
    return tuple(name for name in ORDER if name in groups)


def rows_of_slices(memberships: Sequence[Sequence[str]]) -> dict[str, list[int]]:
    """Numbers of the studies of each part that has at least `MIN_STUDIES`, in the order of the page.

    Args:
        memberships: For each study its parts, as `slices_of` returns them.
    """
    rows = {name: [i for i, names in enumerate(memberships) if name in names] for name in ORDER}
    return {name: members for name, members in rows.items() if len(members) >= MIN_STUDIES}
