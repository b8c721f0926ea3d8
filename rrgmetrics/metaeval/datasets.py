"""RadPref and RadJudge: reports whose quality radiologists judged (CRIMSON, arXiv 2603.06183).

RadPref: 100 cases, each a reference and two candidates (C1, C2); three cardiothoracic radiologists marked the errors of
every candidate and rated it from 1 to 5. RadJudge: 30 cases with two or three candidates and the order that
radiologists expect. Both are read in the published format, a clone of https://github.com/rajpurkarlab/CRIMSON, or from
JSONL with one case a line. Nothing of them is part of this package.

An error is a false finding, a missing finding, or one attribute of a matched finding. It is significant if its
clinical significance is urgent or actionable_not_urgent, an attribute if it is marked significant. Some annotations
name findings beyond the end of the published lists (added after the lists were extracted): they are errors that a
radiologist saw, and count.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.reports import Context, Pair, check_report, parse_context
from rrgmetrics.scorers.base import Array

Target = Literal[
    "total_errors", "significant_errors", "rating", "false_finding", "missing_finding", "attribute", "weighted_errors"
]
TARGETS: tuple[Target, ...] = get_args(Target)
SIGNIFICANCE = {"urgent": 1, "actionable_not_urgent": 1, "not_actionable_not_urgent": 0, "benign_expected": 0}
ATTRIBUTE_SIGNIFICANCE = {"significant": 1, "negligible": 0}
# CRIMSON's weights of false and missing findings, and of a significant attribute error.
WEIGHTS = {"urgent": 1.0, "actionable_not_urgent": 0.5, "not_actionable_not_urgent": 0.25, "benign_expected": 0.0}
UNLABELLED_WEIGHT, ATTRIBUTE_WEIGHT = 0.25, 0.5
CANDIDATES = ("C1", "C2")


class Annotation(NamedTuple):
    """One radiologist's counts of the errors in a candidate, and a rating from 1 (worst) to 5.

    `weighted_errors` is None where the data hold no classes of significance.
    """

    false_finding: int
    missing_finding: int
    attribute: int
    significant_errors: int
    rating: float
    weighted_errors: float | None = None

    @property
    def total_errors(self) -> int:
        """The number of errors, significant or not."""
        return self.false_finding + self.missing_finding + self.attribute


class RatedPair(NamedTuple):
    """A candidate of a case with each radiologist's annotation."""

    case: str
    pair: Pair
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True)
class RadPref:
    """The rated pairs: C1 and C2 of the first case, of the second, and so on."""

    rated: tuple[RatedPair, ...]

    @property
    def pairs(self) -> list[Pair]:
        """The pairs: references, candidates and contexts."""
        return [rated.pair for rated in self.rated]

    @property
    def cases(self) -> list[str]:
        """The case of each pair."""
        return [rated.case for rated in self.rated]

    def annotated(self, target: Target) -> Array:
        """Each radiologist's counts (from 0) or ratings (1 to 5), `(n_raters, n_pairs)`."""
        values = [[getattr(annotation, target) for annotation in rated.annotations] for rated in self.rated]
        return np.array(values, dtype=np.float64).T


class RankedCase(NamedTuple):
    """A RadJudge case: its candidates by name, and the relations ("C1 > C2", "C1 = C2") that must all hold."""

    case: str
    category: str
    pairs: dict[str, Pair]
    expected: tuple[str, ...]


def load_radpref(path: str | Path) -> RadPref:
    """Reads RadPref.

    Args:
        path: A clone of the CRIMSON repository, its folder `RadPref`, `preference_data.json` in it, or a JSONL file.

    Returns:
        The rated pairs, in the order of the file.

    Raises:
        InputError: No such data there, or data that is not as published; names file, case and field.
    """
    file = _locate(path, "RadPref", "preference_data.json")
    rows = _jsonl(file) if file.suffix == ".jsonl" else _published(file)
    return _radpref([pair for where, row in rows for pair in _rated_pairs(row, where)], file)


def load_radjudge(path: str | Path) -> tuple[RankedCase, ...]:
    """Reads RadJudge.

    Args:
        path: A clone of the CRIMSON repository, its folder `RadJudge`, `test_cases.py` in it (read, never executed), or
            a JSONL file.

    Returns:
        The cases, in the order of the file.

    Raises:
        InputError: No such data there, or data that is not as published; names file, case and field.
    """
    file = _locate(path, "RadJudge", "test_cases.py")
    rows = _jsonl(file) if file.suffix == ".jsonl" else _literal_cases(file)
    cases = tuple(_ranked_case(row, where) for where, row in rows)
    _check_cases([case.case for case in cases], 1, file)
    return cases


# --- RadPref


def _rated_pairs(row: Mapping[str, Any], where: str) -> Iterator[RatedPair]:
    """Reads C1 and C2 of a case in the JSONL format."""
    case = str(_field(row, "case", where))
    context = _context({name: row.get(name) for name in Context._fields}, where)
    reference = _report(row, "reference", where)
    candidates = _mapping(_field(row, "candidates", where), f"{where}: candidates")
    for name in CANDIDATES:
        spot = f"{where}: {name}"
        candidate = _mapping(_field(candidates, name, f"{where}: candidates"), spot)
        raters = enumerate(_list(_field(candidate, "raters", spot), f"{spot}: raters"), 1)
        annotations = tuple(_annotation(rater, f"{spot}, rater {number}") for number, rater in raters)
        yield RatedPair(case, Pair(reference, _report(candidate, "report", spot), context), annotations)


def _annotation(rater: Any, where: str) -> Annotation:
    rater = _mapping(rater, where)
    rating = _field(rater, "rating", where)
    if isinstance(rating, bool) or not isinstance(rating, int | float) or not 1 <= rating <= 5:
        raise InputError(f"{where}: rating is {rating!r}; ratings go from 1 to 5.")
    return Annotation(
        false_finding=_count(rater, "false", where),
        missing_finding=_count(rater, "missing", where),
        attribute=_count(rater, "attribute", where),
        significant_errors=sum(
            _count(rater, f"{kind}_significant", where) for kind in ("false", "missing", "attribute")
        ),
        rating=float(rating),
        weighted_errors=_weighted(rater, where),
    )


def _weighted(rater: Mapping[str, Any], where: str) -> float | None:
    """The weights of all errors; None where their classes were not kept."""
    labels = [rater.get(f"{kind}_significance") for kind in ("false", "missing")]
    if not all(isinstance(names, list) for names in labels):
        return None
    findings = sum(WEIGHTS.get(str(name), UNLABELLED_WEIGHT) for names in labels for name in names or ())
    return findings + ATTRIBUTE_WEIGHT * _count(rater, "attribute_significant", where)


def _published(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The published files as rows of the JSONL format."""
    raters = {path: _rater(path) for path in sorted((file.parent / "radiologist_annotations").glob("user_*.json"))}
    if not raters:
        raise InputError(
            f"{file.parent} has no radiologist_annotations/user_1.json; clone the CRIMSON repository whole."
        )
    for number, case in enumerate(_list(_json(file), str(file))):
        name = str(_field(_mapping(case, f"{file}[{number}]"), "id", f"{file}[{number}]"))
        where = f"{file}: case {name}"
        row = {
            "case": name,
            "reference": _field(case, "ground_truth_report", where),
            "age": case.get("PatientAge"),
            "sex": case.get("PatientSex"),
            "indication": case.get("Indication"),
            "candidates": {
                candidate: {
                    "report": _field(case, f"{candidate}_report", where),
                    "raters": [_marks(marks, name, candidate, path) for path, marks in raters.items()],
                }
                for candidate in CANDIDATES
            },
        }
        yield where, row


def _rater(path: Path) -> Mapping[str, Any]:
    return _mapping(_field(_mapping(_json(path), str(path)), "annotations", str(path)), f"{path}: annotations")


def _marks(marks: Mapping[str, Any], case: str, candidate: str, path: Path) -> dict[str, Any]:
    """Counts one radiologist's marks on one candidate."""
    where = f"{path}: case {case}"
    marked = _mapping(_field(_mapping(_field(marks, case, str(path)), where), candidate, where), where)
    where += f", {candidate}"
    errors = [_mapping(error, where) for error in _entries(marked, "finding_errors", where)]
    kinds = Counter(_field(error, "error_type", where) for error in errors)
    unknown = sorted(str(kind) for kind in kinds if kind not in ("false", "attribute"))
    if unknown:
        raise InputError(f"{where}: error_type is {unknown[0]!r}; we know 'false' and 'attribute'.")
    false = [error.get("clinical_significance") for error in errors if error["error_type"] == "false"]
    missing = [
        _mapping(error, where).get("clinical_significance") for error in _entries(marked, "missing_findings", where)
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
        "rating": _field(marked, "rating", where),
    }


def _entries(marked: Mapping[str, Any], key: str, where: str) -> list[Any]:
    """Values of an object that may be missing or null; its keys, indices of findings, are not needed to count."""
    return list(_mapping(marked.get(key) or {}, f"{where}: {key}").values())


def _significant(labels: Sequence[Any], known: Mapping[str, int], where: str) -> int:
    """Counts the significant labels; an entry without a label is not significant."""
    for label in labels:
        if label is not None and label not in known:
            raise InputError(f"{where}: significance is {label!r}; we know {', '.join(known)}.")
    return sum(known[label] for label in labels if label is not None)


def _radpref(rated: list[RatedPair], file: Path) -> RadPref:
    _check_cases([pair.case for pair in rated], len(CANDIDATES), file)
    numbers = {len(pair.annotations) for pair in rated}
    if len(numbers) > 1 or 0 in numbers:
        counts = ", ".join(map(str, sorted(numbers)))
        raise InputError(f"{file}: candidates have {counts} raters; each needs the same raters, at least one.")
    return RadPref(tuple(rated))


# --- RadJudge


def _ranked_case(row: Mapping[str, Any], where: str) -> RankedCase:
    reference = _report(row, "reference", where)
    pairs = {}
    for name, candidate in _mapping(_field(row, "candidates", where), f"{where}: candidates").items():
        spot = f"{where}: {name}"
        fields = {"text": candidate} if isinstance(candidate, str) else _mapping(candidate, spot)
        pairs[name] = Pair(reference, _report(fields, "text", spot), _context(fields.get("context"), spot))
    expected = _field(row, "expected", where)
    relations = (expected,) if isinstance(expected, str) else tuple(_list(expected, f"{where}: expected"))
    if not relations or not all(isinstance(relation, str) for relation in relations):
        raise InputError(f"{where}: expected is {expected!r}; write 'C1 > C2', or a list of such relations.")
    return RankedCase(str(_field(row, "id", where)), str(_field(row, "category", where)), pairs, relations)


def _literal_cases(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Cases in the module-level literals of a Python file, which is parsed and not run."""
    try:
        module = ast.parse(_text(file))
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{file} is not Python that we can read: {error}.") from None
    seen = False
    for statement in module.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            for row in _cases_in(_literal(statement.value)):
                seen = True
                yield f"{file}: case {row.get('id', '?')}", row
    if not seen:
        raise InputError(
            f"{file} has no list or dict of cases written out at module level; a case is a dict with id, category, "
            "reference, candidates and expected. The JSONL form holds the same fields, one case a line."
        )


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):
        return None


def _cases_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Cases of a list, of a dict by id, or of a dict of lists by category."""
    if isinstance(value, list | tuple):
        yield from (row for row in value if isinstance(row, Mapping) and "candidates" in row)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, Mapping) and "candidates" in item:
                yield {"id": key, **item}
            else:
                yield from ({"category": key, **row} for row in _cases_in(item))


# --- reading


def _locate(path: str | Path, folder: str, file: str) -> Path:
    path = Path(path).expanduser()
    for place in (path, path / file, path / folder / file):
        if place.is_file():
            if place.suffix not in (".jsonl", Path(file).suffix):
                raise InputError(f"{place} is neither {file} nor a .jsonl file.")
            return place
    what = f"has neither {file} nor {folder}/{file}" if path.is_dir() else "does not exist"
    raise InputError(f"{path} {what}; give a clone of the CRIMSON repository, its folder {folder}, or a JSONL file.")


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 at byte {error.start}; save it as UTF-8.") from None


def _json(file: Path) -> Any:
    try:
        return json.loads(_text(file))
    except json.JSONDecodeError as error:
        raise InputError(f"{file} is not JSON at line {error.lineno}: {error.msg}.") from None


def _jsonl(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(_text(file).split("\n"), 1):
        where = f"{file}, line {number}"
        if line.strip():
            try:
                yield where, _mapping(json.loads(line), where)
            except json.JSONDecodeError as error:
                raise InputError(f"{where} is not JSON: {error.msg}; write one case a line.") from None


def _check_cases(cases: Sequence[str], times: int, file: Path) -> None:
    if not cases:
        raise InputError(f"{file} has no cases.")
    case, count = Counter(cases).most_common(1)[0]
    if count != times:
        raise InputError(f"{file}: case {case} stands there {count // times} times; give each case its own id.")


def _field(row: Mapping[str, Any], name: str, where: str) -> Any:
    if name not in row:
        raise InputError(f"{where} has no {name!r}; it has: {', '.join(map(str, row)) or 'nothing'}.")
    return row[name]


def _report(row: Mapping[str, Any], name: str, where: str) -> str:
    text = _field(row, name, where)
    check_report(text, f"{where}: {name}")
    return str(text)


def _context(value: Any, where: str) -> Context:
    return parse_context(value, f"{where}: context")


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{where} is {type(value).__name__}; an object with named fields is needed.")
    return value


def _list(value: Any, where: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise InputError(f"{where} is {type(value).__name__}; a list is needed.")
    return value


def _count(row: Mapping[str, Any], name: str, where: str) -> int:
    value = _field(row, name, where)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"{where}: {name} is {value!r}; a whole number from 0 is needed.")
    return value
