"""CRIMSON's arithmetic: counts and a score from an evaluation by a judge or the reader.

With w the weight of a finding (1, 0.5, 0.25 or 0 by its class), W the sum over the reference's findings, F the sum over
false findings, and a matched finding with attribute errors of weights e credited c = w² / (w + Σe),

    S = (Σc − F) / W        (W = 0: 1 without false and missing findings, else below 0)
    CRIMSON = S if S ≥ 0, else −A / (1 + A) with A = F − Σc if that is above 0, else 0.

0 is the normal template: a report without findings scores 0 against one that has some. Missing findings lower the score
through W alone. Range (−1, 1]. Paper: arXiv 2603.06183; code rajpurkarlab/CRIMSON 07e3331 (`crimson-score` 0.2.0).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

SIGNIFICANCE = {"urgent": 1.0, "actionable_not_urgent": 0.5, "not_actionable_not_urgent": 0.25, "benign_expected": 0.0}
SEVERITY = {"significant": 0.5, "negligible": 0.0}
UNKNOWN = 0.25  # weight of any other label, or of none; the authors' code, not in the paper
ATTRIBUTES = (
    "location",
    "severity",
    "descriptor",
    "measurement",
    "certainty",
    "unspecific",
    "overinterpretation",
    "temporal",
)

Evaluation = Mapping[str, Any]


class Tally(NamedTuple):
    """An evaluation in numbers.

    Attributes:
        n_false: False findings.
        n_missing: Missing findings.
        n_attribute: Attribute errors; an entry counts once, however many kinds it names, and what is
            left out as the part of an error that it is.
        by_attribute: Entries that name each of `ATTRIBUTES` `(8,)`.
        significant: Urgent or actionable false and missing findings, and significant attribute errors.
        weighted_false: F, the weights of false findings.
        weighted_missing: Of missing ones.
        weighted_attribute: Of attribute errors.
        reference_weight: W.
        correct: Σc.
        s: S before negative values are squeezed.
        score: CRIMSON, -1 to 1; the authors round it to four digits.
    """

    n_false: int
    n_missing: int
    n_attribute: float
    by_attribute: tuple[float, ...]
    significant: float
    weighted_false: float
    weighted_missing: float
    weighted_attribute: float
    reference_weight: float
    correct: float
    s: float
    score: float

    @property
    def n_errors(self) -> float:
        """CRIMSON E: the number of errors of all kinds."""
        return self.n_false + self.n_missing + self.n_attribute

    @property
    def weighted_errors(self) -> float:
        """The weighted E: the sum of the errors' weights."""
        return self.weighted_false + self.weighted_missing + self.weighted_attribute


def tally(evaluation: Evaluation, parts: Sequence[float] | None = None) -> Tally:
    """Counts and scores an evaluation exactly as the authors' code does.

    Args:
        evaluation: The judge's, in the authors' JSON.
        parts: Which part of an error each attribute error is (ours: below 1 for what is left out); None: each is whole.

    Raises:
        KeyError, AttributeError, TypeError: Not an evaluation, as in the authors' code.

    Example:
        >>> effusion = {"id": "R1", "clinical_significance": "actionable_not_urgent"}
        >>> side = {"ref_id": "R1", "pred_id": "P1", "severity": "significant", "error_types": ["location"]}
        >>> found = tally(
        ...     {
        ...         "reference_findings": [effusion],
        ...         "predicted_findings": [effusion | {"id": "P1"}],
        ...         "matched_findings": [{"ref_id": "R1", "pred_id": "P1"}],
        ...         "errors": {"attribute_errors": [side]},
        ...     }
        ... )
        >>> found.score, found.n_errors, found.weighted_errors
        (0.5, 1, 0.5)
    """
    errors = evaluation.get("errors", {})
    matched = evaluation.get("matched_findings", [])
    references = {finding["id"]: _weight(finding) for finding in evaluation.get("reference_findings", [])}
    candidates = {finding["id"]: _weight(finding) for finding in evaluation.get("predicted_findings", [])}
    false, missing = errors.get("false_findings", []), errors.get("missing_findings", [])
    attributes = errors.get("attribute_errors", [])
    weighted_false = sum(candidates.get(name, 0.0) for name in false)
    weighted_missing = sum(references.get(name, 0.0) for name in missing)
    spoiled: dict[Any, float] = {}
    shares = parts if parts is not None else [1] * len(attributes)
    weights = [share * _weight(error, SEVERITY, "severity") for error, share in zip(attributes, shares, strict=True)]
    # of one reference finding; which candidate finding is at fault plays no part
    for error, lost in zip(attributes, weights, strict=True):
        spoiled[error["ref_id"]] = spoiled.get(error["ref_id"], 0.0) + lost
    weight = sum(_weight(finding) for finding in evaluation.get("reference_findings", []))
    if not references:
        weight = len(matched) + weighted_missing
    correct = sum(_credit(references.get(name, 0.0), spoiled.get(name)) for name in _distinct(matched))
    s, score = _score(weight, correct, weighted_false, weighted_missing)
    kinds = [(error.get("error_types", []), share) for error, share in zip(attributes, shares, strict=True)]
    return Tally(
        n_false=len(false),
        n_missing=len(missing),
        n_attribute=round(sum(shares), 6),
        by_attribute=tuple(round(sum(share for named, share in kinds if kind in named), 6) for kind in ATTRIBUTES),
        significant=sum(candidates.get(name, 0.0) >= SIGNIFICANCE["actionable_not_urgent"] for name in false)
        + sum(references.get(name, 0.0) >= SIGNIFICANCE["actionable_not_urgent"] for name in missing)
        + round(sum(s for e, s in zip(attributes, shares, strict=True) if e.get("severity") == "significant"), 6),
        weighted_false=weighted_false,
        weighted_missing=weighted_missing,
        weighted_attribute=sum(weights),
        reference_weight=weight,
        correct=correct,
        s=s,
        score=score,
    )


def by_kind(evaluation: Evaluation) -> dict[str, object]:
    """Returns an evaluation in which each kind that an attribute error names is an error of its own, as in the paper.

    The authors' code weighs an entry once, however many kinds it names.
    """
    errors = evaluation.get("errors", {})
    entries = [
        {**entry, "error_types": [kind] if kind else []}
        for entry in errors.get("attribute_errors", [])
        for kind in dict.fromkeys(entry.get("error_types", ())) or (None,)
    ]
    return {**evaluation, "errors": {**errors, "attribute_errors": entries}}


def _weight(
    entry: Mapping[str, Any], weights: Mapping[str, float] = SIGNIFICANCE, label: str = "clinical_significance"
) -> float:
    return weights.get(entry.get(label, ""), UNKNOWN)


def _distinct(matched: Any) -> list[Any]:
    """The matched reference findings, each once."""
    return list(dict.fromkeys(match["ref_id"] for match in matched))


def _credit(weight: float, spoiled: float | None) -> float:
    """Returns the credit of a matched finding."""
    if spoiled is None:
        return weight
    return weight * (weight / (weight + spoiled)) if weight + spoiled > 0 else 0.0


def _score(weight: float, correct: float, false: float, missing: float) -> tuple[float, float]:
    """Returns S and CRIMSON."""
    nothing = 1.0 if false == 0 and missing == 0 else -(false + missing + 1)
    s = (correct - false) / weight if weight else nothing
    excess = false - correct
    return s, s if s >= 0 else (-excess / (1 + excess) if excess > 0 else 0.0)
