"""Finding F1: how many of the findings a candidate has, and how many of its own are there; rrgmetrics' own metric.

Both reports are read and compared as `finding_score` does (`rrgmetrics.comparing.rubric`). With the weight of a finding
for the patient w (urgent 2, actionable 1, other ½, benign ¼),

    recall    = Σ w of the reference's findings that the candidate has / Σ w of the reference's findings
    precision = Σ w of the candidate's findings that the reference has / Σ w of the candidate's findings
    finding_f1 = 2 · precision · recall / (precision + recall)

over the findings of all pairs; 1 where no report has one. A contradiction counts as a false finding more, what the
reader charges for silence as a missing one (`ReportComparison.penalties`).

Of what the reports deny: specificity is the share of the reference's denials that the candidate does not contradict,
NPV (negative predictive value) the share of the candidate's denials that the reference does not contradict. A finding
that a report does not name is no denial of it.

By attribute, of findings that both reports have: of location, severity, measurement and comparison precision is the
share of what the candidate states that is right, recall the share of what the reference states that the candidate has
right. Status (present or absent, of what both reports speak of) and certainty are always stated: their share is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from rrgmetrics.backends.compared_pairs import Compared, ComparedPairs
from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.comparing.graded_findings import Graded
from rrgmetrics.comparing.model import Attribute, Unit
from rrgmetrics.comparing.rubric import Appraisal
from rrgmetrics.reading import Reading
from rrgmetrics.reading.lexicon import lexicon_of
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Runtime
from rrgmetrics.scorers.finding_score import RIGHT as WEIGHTS
from rrgmetrics.specs import keys_of

KEYS = keys_of("finding_f1")

Outcome = Literal["found", "missing", "false", "denied"]
Stated = Literal["location", "severity", "measurement", "comparison"]
OF_ATTRIBUTE: Mapping[Attribute, Stated | Literal["certainty"]] = {
    "location": "location",
    "device_position": "location",
    "severity": "severity",
    "measurement": "measurement",
    "temporal": "comparison",
    "certainty": "certainty",
}
STATED: tuple[Stated, ...] = ("location", "severity", "measurement", "comparison")
ALWAYS = ("status", "certainty")
# Columns: what was right, and of how many, from the reference's and from the candidate's side.
DETECTION = ("weighted", "counted")
CHARGED = {ErrorCategory.FALSE_FINDING: "in_candidate", ErrorCategory.MISSING_FINDING: "in_reference"}
PARTS = (
    *(
        f"{kind}_{part}"
        for kind in (*DETECTION, *STATED)
        for part in ("recalled", "in_reference", "right", "in_candidate")
    ),
    *(f"{kind}_{part}" for kind in ("specificity", "npv", *ALWAYS) for part in ("right", "of")),
)


class Row(NamedTuple):
    """What became of a finding of either report.

    Attributes:
        finding: The concept's name in the lexicon.
        words: The finding as a phrase.
        outcome: `found` in both, `missing` in the candidate, `false` in it, or `denied` by a report.
        weight: What it weighs for the patient; 0 for what is denied.
        right: Of a finding in both, by attribute whether the candidate has it right; None where it leaves it out.
            Of a denial by `reference` or `candidate`, whether the other report does not contradict it.
    """

    finding: str
    words: str
    outcome: Outcome
    weight: float
    right: Mapping[str, bool | None]


@dataclass(frozen=True)
class Ratios:
    """The reduction to ratios of sums of the columns of `PARTS`."""

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """Ratios of the sums; NaN where nothing was counted."""
        return {key: np.where(np.asarray(n) > 0, value, np.nan) for key, value in self._ratios(sums).items()}

    def per_pair(self, stats: Array) -> dict[str, Array]:
        """F1, precision and recall of each pair; NaN for an unscored one."""
        unscored, ratios = np.isnan(stats).any(axis=1), self._ratios(stats)
        return {key: np.where(unscored, np.nan, ratios[key]) for key in KEYS[:6]}

    def _ratios(self, stats: Array) -> dict[str, Array]:
        part = {name: stats[..., index] for index, name in enumerate(PARTS)}
        values: dict[str, Array] = {}
        for kind, name in {"weighted": "finding_f1", "counted": "finding_f1_unweighted"}.items():
            values |= _f1(part, kind, name, nothing=1.0, undefined=0.0)
        for kind in ("specificity", "npv", *ALWAYS):
            values[f"finding_f1_{kind}"] = _share(part[f"{kind}_right"], part[f"{kind}_of"])
        for kind in STATED:
            values |= _f1(part, kind, f"finding_f1_{kind}", nothing=np.nan, undefined=np.nan)
        return {key: values[key] for key in KEYS}


def _f1(part: Mapping[str, Array], kind: str, name: str, *, nothing: float, undefined: float) -> dict[str, Array]:
    """F1, precision and recall; `nothing` where neither side has anything, `undefined` where one has nothing."""
    recall = _share(part[f"{kind}_recalled"], part[f"{kind}_in_reference"])
    precision = _share(part[f"{kind}_right"], part[f"{kind}_in_candidate"])
    both = np.nan_to_num(precision) + np.nan_to_num(recall)
    with np.errstate(invalid="ignore", divide="ignore"):
        f1 = np.where(both > 0, 2 * np.nan_to_num(precision) * np.nan_to_num(recall) / both, 0.0)
    empty = (part[f"{kind}_in_reference"] == 0) & (part[f"{kind}_in_candidate"] == 0)
    values = {
        name: np.where(empty, nothing, f1),
        f"{name}_precision": np.where(empty, nothing, np.where(np.isnan(precision), undefined, precision)),
        f"{name}_recall": np.where(empty, nothing, np.where(np.isnan(recall), undefined, recall)),
    }
    return {key: np.clip(value, 0.0, 1.0) for key, value in values.items()}


def _share(right: Array, of: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        share: Array = np.where(of > 0, right / of, np.nan)
    return share


@dataclass(frozen=True)
class FindingF1:
    """Finding F1; with `explain` what became of each finding is returned too."""

    explain: bool = False

    @property
    def reduction(self) -> Ratios:
        """Ratios of sums."""
        return Ratios()

    def backend(self, runtime: Runtime) -> ComparedPairs:
        """The backend that reads both reports and compares them."""
        return ComparedPairs()

    def pair_stats(self, pairs: Sequence[Pair], annotations: Mapping[Pair, Compared], statistics: None = None) -> Array:
        """The columns of `PARTS` for each pair."""
        rows = []
        for pair in pairs:
            counts = _counts(annotations[pair])
            rows.append([counts.get(name, 0.0) for name in PARTS])
        return np.array(rows, dtype=np.float64).reshape(-1, len(PARTS))

    def details(self, pairs: Sequence[Pair], annotations: Mapping[Pair, Compared]) -> Mapping[str, Sequence[Any]]:
        """Returns, with `explain`, what became of each finding of each pair; `by_finding` makes a table of it."""
        if not self.explain:
            return {}
        told = []
        for pair in pairs:
            compared = annotations[pair]
            told.append([row._asdict() for row in _rows(compared)])
        return {"finding_f1_explained": told}


def by_finding(explained: Iterable[Sequence[Mapping[str, Any]]]) -> dict[str, dict[str, float]]:
    """Returns precision, recall, F1, specificity and NPV of each finding over pairs; NaN where undefined.

    Args:
        explained: `result.details["finding_f1_explained"]` of `finding_f1?explain=yes`.

    Returns:
        By finding, the most frequent first: `precision`, `recall`, `f1`, `specificity`, `npv`, and `n`, in how many
        places either report has it or denies it.

    Example:
        >>> from rrgmetrics import score
        >>> result = score("finding_f1?explain=yes", predictions=["Large effusion."], progress=False,
        ...     references=["Large effusion. No pneumothorax. Nodule."])["finding_f1?explain=yes"]
        >>> by_finding(result.details["finding_f1_explained"])["pleural_effusion"]["f1"]
        1.0
    """
    counts: dict[str, dict[str, int]] = {}
    for row in (row for rows in explained for row in rows):
        own = counts.setdefault(row["finding"], dict.fromkeys(("found", "missing", "false"), 0))
        if row["outcome"] != "denied":
            own[row["outcome"]] += 1
        for side, is_right in row["right"].items() if row["outcome"] == "denied" else ():
            own[f"{side}_of"] = own.get(f"{side}_of", 0) + 1
            own[f"{side}_right"] = own.get(f"{side}_right", 0) + bool(is_right)
    table = {name: _of_finding(own) for name, own in counts.items()}
    return dict(sorted(table.items(), key=lambda item: (-item[1]["n"], item[0])))


def _of_finding(own: Mapping[str, int]) -> dict[str, float]:
    found, missing, false = own["found"], own["missing"], own["false"]
    denied = own.get("reference_of", 0), own.get("candidate_of", 0)
    return {
        "precision": _ratio(found, found + false),
        "recall": _ratio(found, found + missing),
        "f1": _ratio(2 * found, 2 * found + missing + false),
        "specificity": _ratio(own.get("reference_right", 0), denied[0]),
        "npv": _ratio(own.get("candidate_right", 0), denied[1]),
        "n": float(found + missing + false + sum(denied)),
    }


def _ratio(right: float, of: float) -> float:
    return right / of if of else float("nan")


# --- one pair ---------------------------------------------------------------------------------------------------------


def _counts(compared: Compared) -> dict[str, float]:
    """What each column of `PARTS` counts in a pair."""
    counts, appraisal = dict.fromkeys(PARTS, 0.0), compared.appraisal
    references = {reference for reference, _ in appraisal.links}
    candidates = {candidate for _, candidate in appraisal.links}
    for graded, linked, right, of in (
        (appraisal.references, references, "recalled", "in_reference"),
        (appraisal.candidates, candidates, "right", "in_candidate"),
    ):
        for index, each in enumerate(graded):
            for kind, weight in (("weighted", WEIGHTS[each.significance]), ("counted", 1.0)):
                counts[f"{kind}_{of}"] += weight
                counts[f"{kind}_{right}"] += weight * (index in linked)
    for error in compared.comparison.penalties:
        if error.category in CHARGED:
            counts[f"weighted_{CHARGED[error.category]}"] += WEIGHTS[error.significance or "not_actionable_not_urgent"]
            counts[f"counted_{CHARGED[error.category]}"] += 1
    _count_attributes(counts, appraisal)
    _count_denials(counts, compared, len(appraisal.links))
    return counts


def _count_attributes(counts: dict[str, float], appraisal: Appraisal) -> None:
    for reference, candidate in appraisal.links:
        right = _attributes(appraisal, reference, candidate)
        counts["certainty_right"] += right["certainty"] is True
        counts["certainty_of"] += 1
        for kind in STATED:
            in_reference = _is_stated(appraisal.references[reference].unit, kind)
            in_candidate = _is_stated(appraisal.candidates[candidate].unit, kind)
            is_right = right.get(kind) is True
            counts[f"{kind}_in_reference"] += in_reference
            counts[f"{kind}_recalled"] += in_reference and is_right
            counts[f"{kind}_in_candidate"] += in_candidate
            counts[f"{kind}_right"] += in_candidate and is_right


def _count_denials(counts: dict[str, float], compared: Compared, n_links: int) -> None:
    of_reference, of_candidate = _denials(compared)
    for kind, denials in (("specificity", of_reference), ("npv", of_candidate)):
        counts[f"{kind}_of"] += len(denials)
        counts[f"{kind}_right"] += sum(denials.values())
    both = of_reference.keys() & of_candidate.keys()
    contradicted = sum(not right for denials in (of_reference, of_candidate) for right in denials.values())
    counts["status_right"] += n_links + len(both)
    counts["status_of"] += n_links + len(both) + contradicted


def _attributes(appraisal: Appraisal, reference: int, candidate: int) -> dict[str, bool | None]:
    """Of a finding in both reports, whether the candidate has each stated attribute right; None: it leaves it out."""
    wrong = {
        OF_ATTRIBUTE[each.attribute]
        for each in appraisal.differences
        if (each.reference, each.candidate) == (reference, candidate) and each.attribute in OF_ATTRIBUTE
    }
    one, two = appraisal.references[reference].unit, appraisal.candidates[candidate].unit
    right: dict[str, bool | None] = {"certainty": "certainty" not in wrong}
    for kind in STATED:
        in_reference, in_candidate = _is_stated(one, kind), _is_stated(two, kind)
        if in_reference and not in_candidate:
            right[kind] = None
        elif in_reference or in_candidate:
            right[kind] = kind not in wrong
    return right


def _is_stated(unit: Unit, kind: Stated) -> bool:
    readings = unit.readings
    if kind == "location":
        return bool(unit.side or unit.zones or any(each.levels or each.tip or each.position for each in readings))
    if kind == "severity":
        return any(each.severity is not None for each in readings)
    if kind == "measurement":
        return any(each.measurements_mm for each in readings)
    return any(each.change for each in readings)


def _denials(compared: Compared) -> tuple[dict[str, bool], dict[str, bool]]:
    """What each report denies, by concept, and whether the other does not contradict it."""
    of_reference, of_candidate = (_denied(reading) for reading in (compared.reference, compared.candidate))
    for error in compared.comparison.errors:
        false = error.category is ErrorCategory.FALSE_FINDING
        denial = error.reference if false else error.candidate
        if error.contradicts and denial is not None and denial.assertion == "absent":
            (of_reference if false else of_candidate)[denial.concept] = False
    return of_reference, of_candidate


def _denied(reading: Reading) -> dict[str, bool]:
    shown = {finding.concept for finding in reading.abnormal}
    return {each.concept: True for each in reading.findings if each.assertion == "absent" and each.concept not in shown}


def _rows(compared: Compared) -> Iterator[Row]:
    appraisal = compared.appraisal
    for reference, candidate in appraisal.links:
        graded = appraisal.references[reference]
        yield _row(graded, "found", _attributes(appraisal, reference, candidate))
    yield from (_row(appraisal.references[index], "missing") for index in appraisal.missing)
    yield from (_row(appraisal.candidates[index], "false") for index in appraisal.false)
    of_reference, of_candidate = _denials(compared)
    concepts = lexicon_of(compared.reference).concepts
    for concept in dict.fromkeys((*of_reference, *of_candidate)):
        sides = {"reference": of_reference, "candidate": of_candidate}
        yield Row(
            concept,
            concepts[concept].name,
            "denied",
            0.0,
            {side: own[concept] for side, own in sides.items() if concept in own},
        )


def _row(graded: Graded, outcome: Outcome, right: Mapping[str, bool | None] | None = None) -> Row:
    return Row(graded.unit.head.concept, graded.words, outcome, WEIGHTS[graded.significance], right or {})
