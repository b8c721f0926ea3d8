"""Nodules of two reports: what is said of each, which of them are the same, and what then differs.

A nodule is matched to one of the other report at most, by the best assignment (Hungarian algorithm) among those whose
sides and lobes do not contradict each other and whose sizes are within 50% or 4 mm, whichever is more; what a report
leaves open contradicts nothing. Groups of sizes are those of RadEval's `hoppr_ctc_lung_nodules`, in mm:
lt4 < 4 ≤ 4to6 < 6 ≤ 6to8 ≤ 8 < 8to15 ≤ 15 < gt15.

A size is right within 2 mm, the least growth that the Fleischner Society's guidelines of 2017 call growth, or 20%.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

Density = Literal["solid", "part-solid", "ground-glass"]
Side = Literal["right", "left", "bilateral"]

DENSITIES: tuple[Density, ...] = ("solid", "part-solid", "ground-glass")
LOBES = {  # place → the places that hold it
    "right upper lobe": ("right lung", "lung"),
    "right middle lobe": ("right lung", "lung"),
    "right lower lobe": ("right lung", "lung"),
    "left upper lobe": ("left lung", "lung"),
    "lingula": ("left upper lobe", "left lung", "lung"),
    "left lower lobe": ("left lung", "lung"),
    "right lung": ("bilateral lungs", "lung"),
    "left lung": ("bilateral lungs", "lung"),
    "bilateral lungs": ("lung",),
    "lung": (),
}
BUCKETS = ("lt4", "4to6", "6to8", "8to15", "gt15")
MATCH_SHARE, MATCH_MM = 0.5, 4.0
RIGHT_SHARE, RIGHT_MM = 0.2, 2.0
IMPOSSIBLE = 1e6  # the cost of a pair that may not be


@dataclass(frozen=True, slots=True)
class Nodule:
    """A nodule or mass of the lung, as a report has it; None where the report does not say.

    Attributes:
        text: Its words.
        size_mm: Largest diameter, in mm.
        density: Solid, part-solid or ground-glass.
        calcified: Whether it is calcified.
        place: A key of `LOBES`.
        is_mass: Whether it is called a mass.
        uncertain: Whether the report is unsure of it.
    """

    text: str
    size_mm: float | None = None
    density: Density | None = None
    calcified: bool | None = None
    place: str | None = None
    is_mass: bool = False
    uncertain: bool = False

    @property
    def side(self) -> Side | None:
        """The side of its place."""
        return side_of(self.place)

    @property
    def is_solid(self) -> bool | None:
        """Whether it is solid, as against part-solid and ground-glass."""
        return None if self.density is None else self.density == "solid"

    @property
    def bucket(self) -> str | None:
        """The group of its size; None without one."""
        return bucket_of(self.size_mm)

    def to_dict(self) -> dict[str, Any]:
        """Returns a JSON object without what the report does not say."""
        known = {
            "size_mm": self.size_mm,
            "density": self.density,
            "calcified": self.calcified,
            "place": self.place,
            "noun": "mass" if self.is_mass else "nodule",
            "uncertain": self.uncertain or None,
        }
        return {"text": self.text} | {key: value for key, value in known.items() if value is not None}


class Match(NamedTuple):
    """A nodule of the reference and the candidate's (indices) that is the same, and what of it differs.

    `differs` names size, density, calcification, place, noun or certainty; size and density only where both say it.
    """

    reference: int
    candidate: int
    differs: tuple[str, ...] = ()


def side_of(place: str | None) -> Side | None:
    """The side of a place.

    Example:
        >>> side_of("lingula"), side_of("bilateral lungs"), side_of("lung")
        ('left', 'bilateral', None)
    """
    if place is None or place == "lung":
        return None
    return "bilateral" if place == "bilateral lungs" else "right" if place.startswith("right") else "left"


def bucket_of(size_mm: object) -> str | None:
    """The group of a size in mm; None for what is no number.

    Example:
        >>> [bucket_of(size) for size in (3.9, 4, 6, 8, 8.1, 15.1, None)]
        ['lt4', '4to6', '6to8', '6to8', '8to15', 'gt15', None]
    """
    if not isinstance(size_mm, int | float) or math.isnan(size_mm):
        return None
    if size_mm < 6:
        return "lt4" if size_mm < 4 else "4to6"
    return "6to8" if size_mm <= 8 else "8to15" if size_mm <= 15 else "gt15"


def near(one: float, other: float, share: float, least: float) -> bool:
    """Whether a size is within a share of another one, or a number of mm."""
    return abs(one - other) <= max(share * one, least)


def match_nodules(references: Sequence[Nodule], candidates: Sequence[Nodule]) -> tuple[Match, ...]:
    """Matches the nodules of two reports, each at most once.

    Args:
        references: Of the radiologist.
        candidates: Of the system.

    Example:
        >>> match_nodules([Nodule("a", 8.0, place="lingula")], [Nodule("b", 7.0, place="left lung")])
        (Match(reference=0, candidate=0, differs=('place',)),)
    """
    if not references or not candidates:
        return ()
    from scipy.optimize import linear_sum_assignment

    costs = np.array([[_cost(reference, candidate) for candidate in candidates] for reference in references])
    assigned = (ends.tolist() for ends in linear_sum_assignment(costs))
    return tuple(
        Match(row, column, tuple(_differs(references[row], candidates[column])))
        for row, column in zip(*assigned, strict=True)
        if costs[row, column] < IMPOSSIBLE
    )


def _cost(reference: Nodule, candidate: Nodule) -> float:
    """How little two nodules are the same: 0 for identical ones, less than 10, IMPOSSIBLE for different ones."""
    one, other = reference.place, candidate.place
    if one and other and one != other and one not in LOBES[other] and other not in LOBES[one]:
        return IMPOSSIBLE
    cost = 0.0 if one == other else 1.0
    if reference.size_mm is None or candidate.size_mm is None:
        cost += 0.0 if reference.size_mm == candidate.size_mm else 2.0
    elif not near(reference.size_mm, candidate.size_mm, MATCH_SHARE, MATCH_MM):
        return IMPOSSIBLE
    else:
        cost += 4 * min(abs(reference.size_mm - candidate.size_mm) / max(reference.size_mm, 1.0), 1.0)
    return cost + 0.5 * (reference.is_solid != candidate.is_solid) + 0.1 * (reference.is_mass != candidate.is_mass)


def _differs(reference: Nodule, candidate: Nodule) -> Iterator[str]:
    sizes = reference.size_mm, candidate.size_mm
    if sizes[0] is not None and sizes[1] is not None and not near(sizes[0], sizes[1], RIGHT_SHARE, RIGHT_MM):
        yield "size"
    if None not in (reference.is_solid, candidate.is_solid) and reference.is_solid != candidate.is_solid:
        yield "density"
    if bool(reference.calcified) != bool(candidate.calcified):
        yield "calcification"
    if reference.place != candidate.place:
        yield "place"
    if reference.is_mass != candidate.is_mass:
        yield "noun"
    if reference.uncertain != candidate.uncertain:
        yield "certainty"


def composite(n_references: int, credits: Sequence[int], n_false: int) -> float:
    """RadEval's value of a pair of reports: CRIMSON's form over nodules that all weigh the same.

    Args:
        n_references: Nodules of the reference.
        credits: For each match how many of its attributes are wrong; a match is worth 1 / (1 + that / 2).
        n_false: Nodules that only the candidate has.

    Returns:
        S = (Σ worth − n_false) / n_references; below 0 it is −d / (1 + d), d being how far falsehoods outweigh.

    Example:
        >>> composite(2, [1], 1), composite(0, [], 1)
        (-0.25, -0.5)
    """
    worth = sum(1 / (1 + wrong / 2) for wrong in credits)
    if not n_references:
        return -n_false / (1 + n_false)
    excess = n_false - worth
    return -excess / n_references if excess <= 0 else -excess / (1 + excess)
