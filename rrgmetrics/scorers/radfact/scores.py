"""RadFact's arithmetic: precision, recall and F1 of entailed phrases, with or without boxes in the image.

After microsoft/RadFact 72463ac. Narrative reports have no boxes; the spatial and grounding scores of grounded reports
are here for those who have them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MASK_SIZE = 224  # pixels a side
BOX_PRECISION = 0.5  # above it a phrase is in the right place

Box = tuple[float, float, float, float]  # left, top, right, bottom, as shares of the image


class JudgedPhrase(NamedTuple):
    """A phrase, whether it is entailed, its boxes, and those of its evidence."""

    entailed: bool
    boxes: tuple[Box, ...] = ()
    evidence_boxes: tuple[Box, ...] = ()


class Shares(NamedTuple):
    """The shares of a report's phrases that are entailed, 0 to 1; NaN where there is no phrase to count.

    Attributes:
        logical: Entailed phrases of all.
        spatial: Entailed phrases in the right place of all that have boxes.
        grounding: The same of all entailed ones that have boxes.
    """

    logical: float
    spatial: float
    grounding: float


def shares(phrases: Sequence[JudgedPhrase]) -> Shares:
    """Returns the shares of one report's phrases: precision from a candidate's, recall from a reference's."""
    boxed = [phrase for phrase in phrases if phrase.boxes]
    placed = sum(phrase.entailed and box_precision(phrase) > BOX_PRECISION for phrase in boxed)
    return Shares(
        _share(sum(phrase.entailed for phrase in phrases), len(phrases)),
        _share(placed, len(boxed)),
        _share(placed, sum(phrase.entailed for phrase in boxed)),
    )


def f1(precision: float, recall: float) -> float:
    """The harmonic mean, 0 for two zeros (the authors divide by zero)."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def box_precision(phrase: JudgedPhrase) -> float:
    """The share of the pixels in a phrase's boxes that lie in a box of its evidence, 0 for boxes without a pixel."""
    mine, theirs = _mask(phrase.boxes), _mask(phrase.evidence_boxes)
    return float((mine & theirs).sum() / mine.sum()) if mine.any() else 0.0


def normalise(text: str) -> str:
    """Normalises a phrase for comparison: small letters, single spaces, no punctuation but the colon."""
    return re.sub(r"[^\w\s:]", "", " ".join(text.lower().split()))


class Best(NamedTuple):
    """The most similar of several phrases: where it stands, and how similar it is, 0 to 1."""

    place: int
    similarity: float


def best_match(text: str, phrases: Sequence[str]) -> Best:
    """The phrase that a text is a copy of, or nearly; the first of equals."""
    wanted = normalise(text).strip()
    ratios = [difflib.SequenceMatcher(None, wanted, normalise(phrase).strip()).ratio() for phrase in phrases]
    place = max(range(len(ratios)), key=ratios.__getitem__)
    return Best(place, ratios[place])


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def _mask(boxes: Sequence[Box]) -> NDArray[np.bool_]:
    mask = np.zeros((MASK_SIZE, MASK_SIZE), dtype=np.bool_)
    for box in boxes:
        left, top, right, bottom = (int(edge * MASK_SIZE) for edge in box)
        mask[top:bottom, left:right] = True
    return mask
