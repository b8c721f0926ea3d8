"""Nodules of two reports: which of them are the same, what then differs, and what that adds to each key of `nodule_f1`.

A nodule is matched to one of the other report at most, by the best assignment (Hungarian algorithm) among those whose
sides and lobes do not contradict each other and whose sizes are within 50% or 4 mm, whichever is more; what a report
leaves open contradicts nothing. Groups of sizes are those of RadEval's `hoppr_ctc_lung_nodules`, in mm:
lt4 < 4 ≤ 4to6 < 6 ≤ 6to8 ≤ 8 < 8to15 ≤ 15 < gt15.

A size is right within 2 mm, the least growth that the Fleischner Society's guidelines of 2017 call growth, or 20%.

A pair adds a numerator and a denominator to each field. A corpus value is the sum of all numerators over the sum of all
denominators, a pair's value its own numerator over its own denominator.

RadEval's two nodule metrics, to the number (`read_row`, `count_row`): `nodule_eval` (e0a3909) and
`hoppr_ctc_lung_nodules` (its fork b09e5d1). A judge reads the section PULMONARY NODULES of both reports and answers
with nodules, pairs and flags, which are taken as they are. What this means is theirs to answer for: a report without
that heading, in these capitals, has no nodules, and where neither has any the composite is 1 unasked; a total miss has
no F1; one reference may be paired twice, which makes composites above 1; flags are believed and not looked up.
`nodule_f1` by default does none of it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.protocols.loose_json import plain_json
from rrgmetrics.judges.protocols.replies import answer_of, between_braces, has_keys, read_json, short

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

    def to_dict(self) -> dict[str, object]:
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


DETECTION = ("f1", "precision", "recall")
OF_ALL = ("composite",)
OF_MATCHES = ("size_accuracy", "size_exact", "size_mae", "size_mape")
CLASSES = ("density_solid", "density_subsolid", "type")  # `type`: RadEval's `nodule_eval` knows no classes
OF_MATCHES_TOO = ("calcification", "side", "place", "noun", "certainty")
BY_SIZE = ("mae_4to6", "mae_6to8", "mape_gt8")
FIELDS = (
    *DETECTION,
    *OF_ALL,
    *OF_MATCHES,
    *CLASSES,
    *OF_MATCHES_TOO,
    *BY_SIZE,
    *(f"sensitivity_{bucket}" for bucket in BUCKETS),
    *(f"false_{bucket}" for bucket in BUCKETS),
)


class Counts(dict[str, list[float]]):
    """Numerator and denominator of each of `FIELDS`; nothing counted yet is `[0, 0]`."""

    def __init__(self) -> None:
        super().__init__({field: [0.0, 0.0] for field in FIELDS})

    def add(self, field: str, value: float, of: float = 1.0) -> None:
        """Adds to the numerator and the denominator of a field."""
        self[field][0] += value
        self[field][1] += of

    def add_detection(self, n_matched: int, n_false: int, n_missing: int) -> None:
        """Adds matched, false and missing nodules to F1, precision and recall."""
        self.add("f1", 2 * n_matched, 2 * n_matched + n_false + n_missing)
        self.add("precision", n_matched, n_matched + n_false)
        self.add("recall", n_matched, n_matched + n_missing)

    def add_sizes(self, reference: float, candidate: float, bucket: str | None) -> None:
        """Adds how far two sizes in mm are apart, over all and for the reference's group of sizes."""
        apart = abs(reference - candidate)
        self.add("size_mae", apart)
        if reference > 0:
            self.add("size_mape", apart / reference)
        self.add_diameters(reference, candidate, bucket)

    def add_diameters(self, reference: float, candidate: float, bucket: str | None) -> None:
        """Adds how far two sizes in mm are apart, for the reference's group of sizes alone."""
        apart = abs(reference - candidate)
        if bucket in ("4to6", "6to8"):
            self.add(f"mae_{bucket}", apart)
        if bucket in ("8to15", "gt15") and reference > 0:
            self.add("mape_gt8", apart / reference)


def count(references: Sequence[Nodule], candidates: Sequence[Nodule], matches: Sequence[Match]) -> Counts:
    """Counts what a pair adds to each field.

    Args:
        references: Nodules of the reference.
        candidates: Nodules of the candidate.
        matches: Which of them are the same.
    """
    counts = Counts()
    found, right = {match.reference for match in matches}, {match.candidate for match in matches}
    n_false, n_missing = len(candidates) - len(right), len(references) - len(found)
    counts.add_detection(len(matches), n_false, n_missing)
    if references or candidates:
        counts.add("composite", composite(len(references), [len(match.differs) for match in matches], n_false))
    for match in matches:
        _compare(counts, references[match.reference], candidates[match.candidate], match.differs)
    for index, nodule in enumerate(references):
        if nodule.bucket:
            counts.add(f"sensitivity_{nodule.bucket}", index in found)
    for bucket in BUCKETS:
        n_false = sum(one.bucket == bucket and index not in right for index, one in enumerate(candidates))
        counts.add(f"false_{bucket}", n_false)
    return counts


def _compare(counts: Counts, reference: Nodule, candidate: Nodule, differs: Sequence[str]) -> None:
    if reference.size_mm is not None and candidate.size_mm is not None:
        counts.add_sizes(reference.size_mm, candidate.size_mm, reference.bucket)
        counts.add("size_accuracy", "size" not in differs)
        counts.add("size_exact", reference.size_mm == candidate.size_mm)
    if reference.is_solid is not None and candidate.is_solid is not None:
        counts.add("density_solid" if reference.is_solid else "density_subsolid", "density" not in differs)
    if reference.side and candidate.side:
        counts.add("side", reference.side == candidate.side)
    if reference.calcified is not None or candidate.calcified is not None:
        counts.add("calcification", "calcification" not in differs)
    if reference.place or candidate.place:
        counts.add("place", "place" not in differs)
    counts.add("noun", "noun" not in differs)
    counts.add("certainty", "certainty" not in differs)


Form = Literal["nodule_eval", "lung_nodules"]

SECTION = re.compile(
    r"PULMONARY NODULES:\s*(.*?)(?=\s(?:LUNGS AND AIRWAYS|MEDIASTINUM|HEART AND GREAT VESSELS|UPPER ABDOMEN|BONES|"
    r"SUPPORT DEVICES|SOFT TISSUES):|\Z)",
    re.DOTALL,
)
PARTS = ("reference_nodules", "predicted_nodules", "matched_pairs", "false_findings", "missing_findings")
FLAGS: Mapping[Form, tuple[str, ...]] = {  # what the composite counts of a pair
    "nodule_eval": ("size_error", "type_error", "location_error", "noun_error", "uncertainty_error"),
    "lung_nodules": ("size_error", "density_error", "calcified_error", "location_error", "uncertainty_error"),
}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(mm|cm)\b", re.IGNORECASE)
PLACES = (  # in the order of reports
    "right upper lobe",
    "right middle lobe",
    "right lower lobe",
    "right lung",
    "left upper lobe",
    "lingula",
    "left lower lobe",
    "left lung",
    "bilateral lungs",
    "lung",
)
UNKNOWN_SIZE = float("inf")


# --- asking


def section(report: str) -> str:
    """The text of a report's section PULMONARY NODULES; "" without one.

    Example:
        >>> section("PULMONARY NODULES: A 5 mm nodule. BONES: Normal.")
        'A 5 mm nodule.'
    """
    found = SECTION.search(report)
    return found[1].strip() if found else ""


def ordered(text: str) -> str:
    """The sentences of a section in one order: nodules first, all by side, lobe, size and words.

    Example:
        >>> ordered("Airways clear. A 6 mm nodule in the lingula. A 4 mm nodule in the right upper lobe.")
        'A 4 mm nodule in the right upper lobe. A 6 mm nodule in the lingula. Airways clear.'
    """
    sentences = [part.strip() for part in re.split(r"(?<=[.!?])\s+", text.strip()) if part.strip()]
    ended = [one if one[-1] in ".!?" else f"{one}." for one in sentences]
    return " ".join(sorted(ended, key=_rank))


def _rank(sentence: str) -> tuple[object, ...]:
    lowered = sentence.lower()
    place = next((place for place in sorted(PLACES, key=len, reverse=True) if place in lowered), None)
    sides = ("right", "left", "bilateral")
    named = place if place is not None else lowered
    side = "left" if place == "lingula" else next((side for side in sides if side in named), None)
    size = largest_size(sentence)
    return (
        not re.search(r"\b(?:nodul|mass\b)", lowered),
        sides.index(side) if side else len(sides),
        PLACES.index(place) if place else len(PLACES),
        UNKNOWN_SIZE if size is None else size,
        lowered,
    )


def largest_size(sentence: str) -> float | None:
    """The largest size in mm of the numbers that stand before a unit; None without one.

    Example:
        >>> largest_size("15 x 12 mm"), largest_size("9mm and 1 cm")
        (12.0, 10.0)
    """
    sizes = [float(number) * (10 if unit.lower() == "cm" else 1) for number, unit in SIZE.findall(sentence)]
    return max(sizes, default=None)


# --- reading


def read_row(reply: str) -> dict[str, list[Any]]:
    """Reads the five lists of a reply.

    What theirs cannot read, and ends the run for, is read as other judges' JSON is.

    Raises:
        VerdictError: There is no JSON object, a list is missing, or a pair is none.
    """
    text = answer_of(reply)
    try:
        row = json.loads(between_braces(text))
        lists = {part: row[part] for part in PARTS}
    except (ValueError, KeyError, TypeError, RecursionError):
        found, _ = read_json(text, has_keys(*PARTS))
        lists = {part: plain_json(found.get(part)) for part in PARTS}
    lists = {part: [] if value is None else value for part, value in lists.items()}
    if not all(isinstance(value, list | str) for value in lists.values()):
        raise VerdictError(f"The reply lists no nodules: {short(reply)!r}.")
    if not all(isinstance(pair, dict) for pair in lists["matched_pairs"]):
        raise VerdictError(f"A matched pair of the reply is not an object: {short(reply)!r}.")
    return lists


def count_row(row: Mapping[str, Sequence[Any]], form: Form) -> Counts:
    """What a reply adds to each field: numbers of its own for what RadEval averages over pairs of reports."""
    counts, pairs = Counts(), row["matched_pairs"]
    n_matched, n_false, n_missing = len(pairs), len(row["false_findings"]), len(row["missing_findings"])
    precision = _share(n_matched, n_matched + n_false) if row["predicted_nodules"] else None
    recall = _share(n_matched, n_matched + n_missing) if row["reference_nodules"] else None
    _add(counts, precision=precision, recall=recall)
    if precision is not None and recall is not None:
        counts.add("f1", _share(2 * precision * recall, precision + recall))
    if row["reference_nodules"] or row["predicted_nodules"]:
        wrong = [sum(bool(pair.get(flag)) for flag in FLAGS[form]) for pair in pairs]
        counts.add("composite", composite(len(row["reference_nodules"]), wrong, n_false))
    else:
        counts.add("composite", 1.0)
    _add_sizes(counts, pairs)
    for field, flag in (("noun", "noun_error"), ("certainty", "uncertainty_error")):
        _add(counts, **{field: _right(pairs, flag)})
    if form == "nodule_eval":
        _add(counts, type=_right(pairs, "type_error"), place=_right(pairs, "location_error"))
    else:
        _add_lists(counts, row)
    return counts


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _add(counts: Counts, **values: float | None) -> None:
    for field, value in values.items():
        if value is not None:
            counts.add(field, value)


def _right(pairs: Sequence[Mapping[str, Any]], flag: str) -> float | None:
    """The share of pairs without a flag; None without a pair."""
    return 1 - sum(bool(pair.get(flag)) for pair in pairs) / len(pairs) if pairs else None


def _sizes(pair: Mapping[str, Any]) -> tuple[float, float] | None:
    sizes = pair.get("ref_size_mm"), pair.get("pred_size_mm")
    return sizes if all(isinstance(size, int | float) for size in sizes) else None  # type: ignore[return-value]


def _add_sizes(counts: Counts, pairs: Sequence[Mapping[str, Any]]) -> None:
    """Adds a pair of reports' means over the pairs of nodules that both have a size."""
    sized = [(pair, sizes) for pair in pairs if (sizes := _sizes(pair))]
    if not sized:
        return
    apart = [abs(reference - candidate) for _, (reference, candidate) in sized]
    shares = [mm / sizes[0] for mm, (_, sizes) in zip(apart, sized, strict=True) if sizes[0] > 0]
    exact = [bool(flag) if (flag := pair.get("size_exact_match")) is not None else a == b for pair, (a, b) in sized]
    _add(
        counts,
        size_accuracy=1 - sum(bool(pair.get("size_error")) for pair, _ in sized) / len(sized),
        size_exact=sum(exact) / len(sized),
        size_mae=sum(apart) / len(sized),
        size_mape=sum(shares) / len(shares) if shares else None,
    )


def _add_lists(counts: Counts, row: Mapping[str, Sequence[Any]]) -> None:
    """Adds what the fork sums over all pairs of reports: by group of sizes, and what the lists say of a pair."""
    references, candidates = (
        {nodule.get("id"): nodule for nodule in row[part] if isinstance(nodule, dict)} for part in PARTS[:2]
    )
    for pair in row["matched_pairs"]:
        ends = references.get(pair.get("ref_id"), {}), candidates.get(pair.get("pred_id"), {})
        bucket = _bucket(pair.get("ref_size_bucket"), None) or _bucket_of(ends[0])
        if bucket:
            counts.add(f"sensitivity_{bucket}", 1)
        if sizes := _sizes(pair):
            counts.add_diameters(*sizes, bucket)
        _add_fields(counts, *ends, wrong_place=bool(pair.get("location_error")))
    for name in row["missing_findings"]:
        if bucket := _bucket_of(references.get(name, {})):
            counts.add(f"sensitivity_{bucket}", 0)
    false = [_bucket_of(candidates.get(name, {})) for name in row["false_findings"]]
    for bucket in BUCKETS:
        counts.add(f"false_{bucket}", false.count(bucket))


def _add_fields(counts: Counts, one: Mapping[str, Any], other: Mapping[str, Any], *, wrong_place: bool) -> None:
    solid = [is_solid(nodule.get("density")) for nodule in (one, other)]
    if None not in solid:
        counts.add("density_solid" if solid[0] else "density_subsolid", solid[0] == solid[1])
    if isinstance(one.get("calcified"), bool) and isinstance(other.get("calcified"), bool):
        counts.add("calcification", one["calcified"] == other["calcified"])
    if one.get("laterality") and other.get("laterality"):
        counts.add("side", one["laterality"] == other["laterality"])
    if one.get("location") and other.get("location"):
        counts.add("place", not wrong_place)


def normal_density(value: object) -> Density | None:
    """A density as it is spelled here; None for anything else.

    Example:
        >>> normal_density("Part Solid"), normal_density("groundglass"), normal_density("subsolid")
        ('part-solid', 'ground-glass', None)
    """
    text = str(value or "").strip().lower().replace("groundglass", "ground-glass").replace(" ", "-")
    return next((density for density in DENSITIES if text == density), None)


def is_solid(value: object) -> bool | None:
    """Whether a density is solid; None for none."""
    density = normal_density(value)
    return None if density is None else density == "solid"


def _bucket(stated: object, size_mm: object) -> str | None:
    return str(stated) if stated in BUCKETS else bucket_of(size_mm)


def _bucket_of(nodule: Mapping[str, Any]) -> str | None:
    return _bucket(nodule.get("size_bucket"), nodule.get("size_mm"))
