"""RadPref: two candidates a case whose errors radiologists marked and which they rated (CRIMSON, arXiv 2603.06183).

100 cases, each a reference and two candidates (C1, C2); three cardiothoracic radiologists marked the errors of every
candidate and rated it from 1 to 5. Read in the published format, a clone of https://github.com/rajpurkarlab/CRIMSON, or
from JSONL with one case a line. Nothing of it is part of this package.

An error is a false finding, a missing finding, or one attribute of a matched finding. It is significant if its
clinical significance is urgent or actionable_not_urgent, an attribute if it is marked significant. Some annotations
name findings beyond the end of the published lists (added after the lists were extracted): they are errors that a
radiologist saw, and count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders.fields import (
    context_of,
    count_of,
    json_lines,
    json_of,
    mapping,
    report_of,
    sequence,
    value_of,
)
from rrgmetrics.metaeval.rated import RATING, SIGNIFICANT, TOTAL, Rated
from rrgmetrics.reports import Context, Pair

SIGNIFICANCE = {"urgent": 1, "actionable_not_urgent": 1, "not_actionable_not_urgent": 0, "benign_expected": 0}
ATTRIBUTE_SIGNIFICANCE = {"significant": 1, "negligible": 0}
# CRIMSON's weights of false and missing findings, and of a significant attribute error.
WEIGHTS = {"urgent": 1.0, "actionable_not_urgent": 0.5, "not_actionable_not_urgent": 0.25, "benign_expected": 0.0}
UNLABELLED_WEIGHT, ATTRIBUTE_WEIGHT = 0.25, 0.5
CANDIDATES = ("C1", "C2")
MARKED = ("false_finding", "missing_finding", "incorrect_location", "incorrect_severity")  # comparisons hardly ever
TARGETS = (TOTAL, SIGNIFICANT, RATING, "false_finding", "missing_finding", "attribute", "weighted_errors")


def load_radpref(path: str | Path) -> Rated:
    """Reads RadPref.

    Args:
        path: A clone of the CRIMSON repository, its folder `RadPref`, `preference_data.json` in it, or a JSONL file.

    Returns:
        The rated pairs: C1 and C2 of the first case, of the second, and so on. `weighted_errors`, CRIMSON's weights of
        all errors, is there where the data hold the classes of significance.

    Raises:
        InputError: No such data there, or data that is not as published; names file, case and field.
    """
    file = locate(path, "RadPref", "preference_data.json")
    rows = json_lines(file) if file.suffix == ".jsonl" else _published(file)
    cases, pairs, judged, sources = [], [], [], []
    marks: dict[str, dict[tuple[str, ...], str]] = {}
    findings: dict[tuple[str, ...], str] = {}
    for where, row in rows:
        for name in CANDIDATES:
            case, pair, annotations, source = _candidate(row, name, where)
            cases.append(case)
            pairs.append(pair)
            judged.append(annotations)
            sources.append(source)
            for number, rater in enumerate(row["candidates"][name]["raters"], 1):
                classes = rater.get("classes", {}).items()
                own = marks.setdefault(f"radiologist {number}", {})
                own |= {(case, name, *error): label for error, label in classes if label is not None}
            findings |= {(case, name, *error): words for error, words in _findings(row, name)}
    check_cases(cases, len(CANDIDATES), file)
    numbers = {len(annotations) for annotations in judged}
    if len(numbers) > 1 or 0 in numbers:
        counts = ", ".join(map(str, sorted(numbers)))
        raise InputError(f"{file}: candidates have {counts} raters; each needs the same raters, at least one.")
    values = {
        target: np.array([[rater[target] for rater in annotations] for annotations in judged]).T for target in TARGETS
    }
    return Rated(
        name="radpref",
        pairs=pairs,
        studies=cases,
        raters=[f"radiologist {number + 1}" for number in range(numbers.pop())],
        values={target: each for target, each in values.items() if not np.isnan(each).any()},
        kinds=MARKED,
        labels={"source": sources} if any(sources) else {},
        marks={rater: own for rater, own in marks.items() if own},
        findings=findings,
        significant_classes=tuple(label for label, significant in SIGNIFICANCE.items() if significant),
    )


def _findings(row: Mapping[str, Any], name: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yields the words of each finding of a candidate and of the reference, by kind of error and number in the list."""
    lists = {"false": row["candidates"][name].get("findings"), "missing": row.get("reference_findings")}
    for kind, listed in lists.items():
        for number, words in enumerate(listed if isinstance(listed, list) else ()):
            yield (kind, str(number)), str(words)


def _candidate(row: Mapping[str, Any], name: str, where: str) -> tuple[str, Pair, list[dict[str, float]], str]:
    """The case, the pair, each rater's values and the source of one candidate of a case in the JSONL format."""
    case = str(value_of(row, "case", where))
    context = context_of({field: row.get(field) for field in Context._fields}, where)
    reference = report_of(row, "reference", where)
    candidates = mapping(value_of(row, "candidates", where), f"{where}: candidates")
    spot = f"{where}: {name}"
    candidate = mapping(value_of(candidates, name, f"{where}: candidates"), spot)
    raters = enumerate(sequence(value_of(candidate, "raters", spot), f"{spot}: raters"), 1)
    annotations = [_annotation(rater, f"{spot}, rater {number}") for number, rater in raters]
    pair = Pair(reference, report_of(candidate, "report", spot), context)
    return case, pair, annotations, str(candidate.get("source") or "")


def _annotation(rater: Any, where: str) -> dict[str, float]:
    """One radiologist's counts of the errors in a candidate, and the rating from 1 (worst) to 5."""
    rater = mapping(rater, where)
    rating = value_of(rater, "rating", where)
    if isinstance(rating, bool) or not isinstance(rating, int | float) or not 1 <= rating <= 5:
        raise InputError(f"{where}: rating is {rating!r}; ratings go from 1 to 5.")
    kinds = ("false", "missing", "attribute")
    counts = [count_of(rater, kind, where) for kind in kinds]
    significant = sum(count_of(rater, f"{kind}_significant", where) for kind in kinds)
    return dict(zip(TARGETS, (sum(counts), significant, float(rating), *counts, _weighted(rater, where)), strict=True))


def _weighted(rater: Mapping[str, Any], where: str) -> float:
    """The weights of all errors; NaN where their classes were not kept."""
    labels = [rater.get(f"{kind}_significance") for kind in ("false", "missing")]
    if not all(isinstance(names, list) for names in labels):
        return np.nan
    findings = sum(WEIGHTS.get(str(name), UNLABELLED_WEIGHT) for names in labels for name in names or ())
    return findings + ATTRIBUTE_WEIGHT * count_of(rater, "attribute_significant", where)


def _published(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The published files as rows of the JSONL format."""
    raters = {path: _rater(path) for path in sorted((file.parent / "radiologist_annotations").glob("user_*.json"))}
    if not raters:
        raise InputError(
            f"{file.parent} has no radiologist_annotations/user_1.json; clone the CRIMSON repository whole."
        )
    for number, case in enumerate(sequence(json_of(file), str(file))):
        name = str(value_of(mapping(case, f"{file}[{number}]"), "id", f"{file}[{number}]"))
        where = f"{file}: case {name}"
        row = {
            "case": name,
            "reference": value_of(case, "ground_truth_report", where),
            "reference_findings": case.get("ground_truth_findings"),
            "age": case.get("PatientAge"),
            "sex": case.get("PatientSex"),
            "indication": case.get("Indication"),
            "candidates": {
                candidate: {
                    "report": value_of(case, f"{candidate}_report", where),
                    "source": case.get(f"{candidate}_source"),
                    "findings": case.get(f"{candidate}_findings"),
                    "raters": [_marks(marks, name, candidate, path) for path, marks in raters.items()],
                }
                for candidate in CANDIDATES
            },
        }
        yield where, row


def _rater(path: Path) -> Mapping[str, Any]:
    return mapping(value_of(mapping(json_of(path), str(path)), "annotations", str(path)), f"{path}: annotations")


def _marks(marks: Mapping[str, Any], case: str, candidate: str, path: Path) -> dict[str, object]:
    """Counts one radiologist's marks on one candidate."""
    where = f"{path}: case {case}"
    marked = mapping(value_of(mapping(value_of(marks, case, str(path)), where), candidate, where), where)
    where += f", {candidate}"
    errors = [mapping(error, where) for error in _entries(marked, "finding_errors", where)]
    kinds = Counter(value_of(error, "error_type", where) for error in errors)
    unknown = sorted(str(kind) for kind in kinds if kind not in ("false", "attribute"))
    if unknown:
        raise InputError(f"{where}: error_type is {unknown[0]!r}; we know 'false' and 'attribute'.")
    false = [error.get("clinical_significance") for error in errors if error["error_type"] == "false"]
    missing = [
        mapping(error, where).get("clinical_significance") for error in _entries(marked, "missing_findings", where)
    ]
    attributes = [
        value
        for error in errors
        if error["error_type"] == "attribute"
        for value in _entries(error, "attributes", where)
    ]
    return {
        "false": len(false),
        "missing": len(missing),
        "attribute": len(attributes),
        "false_significant": _significant(false, SIGNIFICANCE, where),
        "missing_significant": _significant(missing, SIGNIFICANCE, where),
        "attribute_significant": _significant(attributes, ATTRIBUTE_SIGNIFICANCE, where),
        "false_significance": false,
        "missing_significance": missing,
        "classes": _classes(marked, where),
        "rating": value_of(marked, "rating", where),
    }


def _classes(marked: Mapping[str, Any], where: str) -> dict[tuple[str, str], Any]:
    """The class of each false and missing finding, by its kind and its number in the published lists."""
    kinds = {"false": "finding_errors", "missing": "missing_findings"}
    return {
        (kind, str(number)): error.get("clinical_significance")
        for kind, key in kinds.items()
        for number, error in mapping(marked.get(key) or {}, f"{where}: {key}").items()
        if error.get("error_type", "missing") == kind
    }


def _entries(marked: Mapping[str, Any], key: str, where: str) -> list[Any]:
    """Values of an object that may be missing or null; its keys, indices of findings, are not needed to count."""
    return list(mapping(marked.get(key) or {}, f"{where}: {key}").values())


def _significant(labels: Sequence[Any], known: Mapping[str, int], where: str) -> int:
    """Counts the significant labels; an entry without a label is not significant."""
    for label in labels:
        if label is not None and label not in known:
            raise InputError(f"{where}: significance is {label!r}; we know {', '.join(known)}.")
    return sum(known[label] for label in labels if label is not None)


# --- shared with RadJudge


def locate(path: str | Path, folder: str, file: str) -> Path:
    """A file of a clone of the CRIMSON repository, or a JSONL file; InputError if neither is there."""
    path = Path(path).expanduser()
    for place in (path, path / file, path / folder / file):
        if place.is_file():
            if place.suffix not in (".jsonl", Path(file).suffix):
                raise InputError(f"{place} is neither {file} nor a .jsonl file.")
            return place
    what = f"has neither {file} nor {folder}/{file}" if path.is_dir() else "does not exist"
    raise InputError(f"{path} {what}; give a clone of the CRIMSON repository, its folder {folder}, or a JSONL file.")


def check_cases(cases: Sequence[str], times: int, file: Path) -> None:
    """Raises InputError unless each case stands there `times` times."""
    if not cases:
        raise InputError(f"{file} has no cases.")
    case, count = Counter(cases).most_common(1)[0]
    if count != times:
        raise InputError(f"{file}: case {case} occurs {count // times} times; give each case its own id.")
