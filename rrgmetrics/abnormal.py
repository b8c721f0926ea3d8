"""Which studies are abnormal: by what the reader finds in the radiologist's report.

A study is abnormal if its reference reports a finding as present or possible. Devices and remarks on technique are no
finding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.reader import read
from rrgmetrics.reader.lexicon import AUTO, load, pack_used

NO_FINDING = ("devices", "technique")  # groups of concepts
MIN_STUDIES = 5  # a mean over fewer would tell about single references


def finding_groups(reference: str) -> set[str]:
    """Returns the groups of the lexicon that a report has something to report of.

    Example:
        >>> finding_groups("Small left pleural effusion. No pneumothorax.")
        {'pleura'}
    """
    reading = read(reference, AUTO)
    with pack_used(reading.pack):
        concepts = load().concepts
    return {concepts[item.concept].group for item in reading.abnormal if concepts[item.concept].counts}


def is_abnormal(reference: str) -> bool:
    """Returns whether a report reports anything abnormal.

    Example:
        >>> is_abnormal("Small left pleural effusion."), is_abnormal("The lungs are clear."), is_abnormal("")
        (True, False, False)
    """
    return bool(finding_groups(reference) - set(NO_FINDING))


def abnormal_studies(references: Sequence[str]) -> NDArray[np.bool_]:
    """Returns which studies are abnormal `(n_studies,)`."""
    known = {text: is_abnormal(text) for text in dict.fromkeys(references)}
    return np.array([known[text] for text in references], dtype=bool)
