"""Classifies studies as normal or abnormal, from the reader's findings in the radiologist's report.

A study is abnormal if its reference reports a finding as present or possible. Devices and remarks on technique do
not count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.reader import Readings
from rrgmetrics.reading import Reading
from rrgmetrics.reading.lexicon import lexicon_of

NO_FINDING = ("devices", "technique")  # groups of concepts
MIN_STUDIES = 5  # a mean over fewer would tell about single references


def finding_groups(reading: Reading) -> set[str]:
    """Returns the groups of the lexicon that a report has something to report of.

    Example:
        >>> finding_groups(Readings().read("Small left pleural effusion. No pneumothorax."))
        {'pleura'}
    """
    concepts = lexicon_of(reading).concepts
    return {concepts[item.concept].group for item in reading.abnormal if concepts[item.concept].counts}


def is_abnormal(reading: Reading) -> bool:
    """Returns whether a report reports anything abnormal.

    Example:
        >>> texts = ["Small left pleural effusion.", "The lungs are clear.", ""]
        >>> [is_abnormal(Readings().read(text)) for text in texts]
        [True, False, False]
    """
    return bool(finding_groups(reading) - set(NO_FINDING))


def abnormal_studies(references: Sequence[str], readings: Readings) -> NDArray[np.bool_]:
    """Returns which studies are abnormal `(n_studies,)`."""
    known = {text: is_abnormal(readings.read(text)) for text in dict.fromkeys(references)}
    return np.array([known[text] for text in references], dtype=bool)
