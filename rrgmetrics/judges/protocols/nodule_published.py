"""RadEval's two nodule metrics, to the number: `nodule_eval` (e0a3909) and `hoppr_ctc_lung_nodules` (its fork b09e5d1).

A judge reads the section PULMONARY NODULES of both reports and answers with nodules, pairs and flags, which are taken
as they are. What this means is theirs to answer for: a report without that heading, in these capitals, has no nodules,
and where neither has any the composite is 1 unasked; a total miss has no F1; one reference may be paired twice, which
makes composites above 1; flags are believed and not looked up. `nodule_f1` by default does none of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.protocols.loose_json import plain_json
from rrgmetrics.judges.protocols.nodule_counts import Counts
from rrgmetrics.judges.protocols.nodule_match import BUCKETS, DENSITIES, Density, bucket_of, composite
from rrgmetrics.judges.protocols.replies import answer_of, between_braces, has_keys, read_json, short

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
        raise VerdictError(f"A matched pair of the reply is no object: {short(reply)!r}.")
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
