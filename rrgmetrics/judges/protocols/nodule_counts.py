"""What the nodules of a pair of reports add to each key of `nodule_f1`: a numerator and a denominator.

A corpus value is the sum of all numerators over the sum of all denominators, a pair's value its own numerator over its
own denominator.
"""

from __future__ import annotations

from collections.abc import Sequence

from rrgmetrics.judges.protocols.nodule_match import BUCKETS, Match, Nodule, composite

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
