"""Turns the explanations of metrics into rows of errors, with the same columns for every metric that names errors.

Metrics explain themselves in their own terms (`<metric>_explained` of `Result.details`, JSON). `ERROR_LISTS` has a
function for each metric that counts errors or phrases; pages and the table of errors read both from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple


class ToldError(NamedTuple):
    """An error that a metric found in a pair.

    Attributes:
        category: A to F by name, such as `false_finding`, or the metric's own kind; "" where nobody says.
        error: The error in words; "" where a judge only counted.
        significant: Whether it matters clinically; None where nobody says.
        n_errors: How many errors the row counts; more than 1 only without words, less than 1 for what the candidate
            leaves out of a finding that it has.
        grade: How grave it is in the metric's own terms: a weight, a severity, a significance; "" where there is none.
    """

    category: str
    error: str
    significant: bool | None = None
    n_errors: float = 1
    grade: str = ""


def _listed(errors: Sequence[Mapping[str, Any]]) -> Iterator[ToldError]:
    """Errors with category and words, as `finding_errors` gives them."""
    for error in errors:
        yield ToldError(error["category"], error["sentence"], error["significant"], error["part"])


def _weighed(told: Mapping[str, Any]) -> Iterator[ToldError]:
    """Errors with their weight, as `finding_score` gives them."""
    for error in told["errors"]:
        grade = f"{error['weight']:g}"
        yield ToldError(error["category"], error["sentence"], error["significant"], grade=grade)


def _counted(verdict: Mapping[str, Any]) -> Iterator[ToldError]:
    """Significant and insignificant errors by category, as `green` and `chexprompt` give them."""
    for level in ("significant", "insignificant"):
        for category, errors in (verdict[level] or {}).items():
            part = min(1, errors["count"] / max(len(errors["errors"]), 1))  # of what is left out, less than one each
            for words in errors["errors"]:
                yield ToldError(category, words, level == "significant", part)
            if (silent := errors["count"] - len(errors["errors"])) > 0:
                yield ToldError(category, "", level == "significant", silent)


def _graded(verdict: Mapping[str, Any]) -> Iterator[ToldError]:
    """False and missing findings and wrong attributes with their class, as `crimson` gives them."""
    evaluation = verdict["evaluation"]
    errors, reasons = evaluation.get("errors", {}), iter(verdict["reasons"])
    for kind, part in (("false_finding", "predicted_findings"), ("missing_finding", "reference_findings")):
        grades = {one.get("id"): one.get("clinical_significance", "") for one in evaluation.get(part, ())}
        for name in errors.get(f"{kind}s", ()):
            yield ToldError(kind, next(reasons), grade=str(grades.get(name, "")))
    for error in errors.get("attribute_errors", ()):
        grade = str(error.get("severity", ""))
        yield ToldError(_kind_of(error.get("error_types", ())), next(reasons), grade=grade)


def _kind_of(attributes: Iterable[str]) -> str:
    named = set(attributes)
    if "temporal" in named:
        return ""  # E or F: the verdict does not say
    return "incorrect_location" if "location" in named else "incorrect_severity"


def _corrected(verdict: Mapping[str, Any]) -> Iterator[ToldError]:
    """Corrections with a severity, as `fineradscore` gives them."""
    for one in verdict["corrections"]:
        yield ToldError(next(iter(one["categories"]), ""), one["comment"] or one["text"], grade=str(one["severity"]))


def _phrased(verdict: Mapping[str, Any]) -> Iterator[ToldError]:
    """Phrases that do not follow from the other report, as `radfact` gives them."""
    for side, category in (("candidate", "false_finding"), ("reference", "missing_finding")):
        for phrase in verdict[side]:
            if not phrase["entailed"]:
                yield ToldError(category, phrase["text"])


def _nodules(told: Mapping[str, Any]) -> Iterator[ToldError]:
    """False and missing nodules, and what of a matched one differs, as `nodule_f1` gives them."""
    for side, kind in (("candidate", "false"), ("reference", "missing")):
        for index in told[kind]:
            yield ToldError(f"{kind}_finding", f"Only the {side} reports: {told[side][index].get('text', '?')}.")
    for match in told["matches"]:
        words = " / ".join(str(told[side][match[side]].get("text", "?")) for side in ("reference", "candidate"))
        for attribute in match["differs"]:
            category = "incorrect_location" if attribute == "place" else "incorrect_severity"
            yield ToldError(category, f"{words}: {attribute}.")


ERROR_LISTS: Mapping[str, Callable[[Any], Iterable[ToldError]]] = {
    "finding_errors": _listed,
    "finding_score": _weighed,
    "green": _counted,
    "chexprompt": _counted,
    "mammo_green": _counted,
    "crimson": _graded,
    "fineradscore": _corrected,
    "radfact": _phrased,
    "nodule_f1": _nodules,
}


def errors_of(metric: str, told: Any) -> list[ToldError]:
    """The errors of a pair.

    Args:
        metric: The metric's name.
        told: What it says of the pair, as JSON has it.

    Example:
        >>> told = {"significant": {"missing_finding": {"count": 2, "errors": ["No effusion."]}}, "insignificant": {}}
        >>> [(error.category, error.error, error.n_errors) for error in errors_of("green", told)]
        [('missing_finding', 'No effusion.', 1), ('missing_finding', '', 1)]
    """
    return list(ERROR_LISTS[metric](told))
