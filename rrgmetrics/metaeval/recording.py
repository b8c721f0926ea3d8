"""Writes numbers into `measured.yaml`; what a data set is, and what is measured on it, stands there by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.measured import FILE, NAN, measured_sets
from rrgmetrics.metaeval.overlooked import ANY, BEST, Overlooked, overlooked
from rrgmetrics.stats import Estimate
from rrgmetrics.version import VERSION

if TYPE_CHECKING:
    from rrgmetrics.metaeval import AgreementReport
    from rrgmetrics.metaeval.model import View

OWN, OVERLOOKED, WITHIN = "own_", "overlooked", "_within_studies"  # what the name of a measure says
DIGITS = 4

Row = Mapping[str, Estimate]  # by measure


def record(report: AgreementReport, name: str, *, date: str, file: Path = FILE) -> None:
    """Writes a report's numbers over those of the same metrics on the same data set; all others stay.

    Args:
        report: Of `rrgmetrics.metaeval.agree`.
        name: The data set in the file, whose title, description and measures somebody has written.
        date: Of the measurement.
        file: To write.

    Raises:
        InputError: The file has no such data set, the rows that stay were measured on other pairs, or a measure of the
            file is not in the report; nothing is written.
    """
    measures = list(_facts(_stored(file), name, file)["measures"])
    passed = {each.subject: each for each in overlooked(report)}
    about: dict[str, Any] = {
        "rows": len(report.data.pairs),
        "studies": report.data.n_studies,
        "raters": len(report.data.raters),
        "level": report.resampling.level,
    }
    more = {"ceiling": _ceiling(report, measures)}
    if choices := _choices(passed, measures):
        more["choices"] = choices
    rows = {metric: _row(report, metric, measures, passed) for metric in report.results}
    signatures = {metric: result.signature for metric, result in report.results.items()}
    record_rows(name, rows, date=date, signatures=signatures, about=about, more=more, file=file)


def record_rows(
    name: str,
    rows: Mapping[str, Row],
    *,
    date: str,
    signatures: Mapping[str, str],
    about: Mapping[str, Any],
    more: Mapping[str, Any] | None = None,
    file: Path = FILE,
) -> None:
    """Writes numbers of metrics over those of the same metrics on the same data set; all others stay.

    Args:
        name: The data set in the file.
        rows: The numbers by metric and measure.
        date: Of the measurement.
        signatures: What ran, by metric.
        about: What must be the same for all metrics of the data set, such as its rows.
        more: What else is written of the data set.
        file: To write.

    Raises:
        InputError: The file has no such data set, or the rows that stay were measured on others.
    """
    stored = _stored(file)
    facts = _facts(stored, name, file)
    kept = facts.get("metrics") or {}
    if kept.keys() - rows.keys() and any(facts.get(key) != value for key, value in about.items()):
        raise InputError(
            f"{name} of {file} was measured on other pairs, or on another processor; measure all its metrics again."
        )
    for metric, values in rows.items():
        kept[metric] = {
            "version": VERSION,
            "date": date,
            "signature": signatures[metric],
            "values": {measure: _written(value, about["rows"]) for measure, value in values.items()},
        }
    facts |= {"ceiling": {}, **about, **(more or {}), "metrics": dict(sorted(kept.items()))}
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    comment = "".join(line for line in lines if line.startswith("#"))
    written = yaml.safe_dump(stored, sort_keys=False, width=500, default_flow_style=None, allow_unicode=True)
    file.write_text(comment + written, encoding="utf-8")
    measured_sets.cache_clear()


def _stored(file: Path) -> dict[str, Any]:
    stored: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return stored


def _facts(stored: Mapping[str, Any], name: str, file: Path) -> dict[str, Any]:
    """What the file says of a data set."""
    if name not in stored["datasets"]:
        known = ", ".join(stored["datasets"])
        raise InputError(
            f"{file} has no data set {name!r}, only {known}; write its title, description and measures there first."
        )
    facts: dict[str, Any] = stored["datasets"][name]
    return facts


def _row(report: AgreementReport, metric: str, measures: list[str], passed: Mapping[str, Overlooked]) -> Row:
    found: dict[str, Estimate | None] = {}
    for measure in measures:
        if measure.startswith(OVERLOOKED):
            found[measure] = Estimate(_errors(passed[metric], measure), NAN, NAN, report.data.n_studies)
        else:
            found[measure] = _value(report, metric, measure)
    return {measure: value for measure, value in found.items() if value is not None}


def _value(report: AgreementReport, metric: str, measure: str) -> Estimate | None:
    """A number of a report by the name of its measure; None where a metric has no such number."""
    if measure == "preferences":
        return next(line.share for line in report.preferences if line.subject == metric)
    target = measure.removeprefix(OWN).removesuffix(WITHIN)
    if target not in report.data.values:
        known = ", ".join(report.data.values)
        raise InputError(f"{report.name} has no {target}, which {measure} needs; it has {known}.")
    view: View = "within" if measure.endswith(WITHIN) else "pairs"
    if not measure.startswith(OWN):
        line = report.headline(metric, target, view)
        return None if line is None else line.tau_b
    headline = report.results[metric].spec.headline.name
    own = (line for line in report.agreements if (line.subject, line.target, line.view) == (metric, target, view))
    return next((line.tau_b for line in own if line.key != headline and not line.subset), None)


def _errors(found: Overlooked, measure: str) -> float:
    return found.total if measure == OVERLOOKED else found.means[measure.removeprefix(f"{OVERLOOKED}_")]


def _choices(passed: Mapping[str, Overlooked], measures: list[str]) -> dict[str, Any]:
    """The errors in any candidate, and in the one with the fewest."""
    names = [measure for measure in measures if measure.startswith(OVERLOOKED)]
    subjects = [subject for subject in (ANY, BEST) if names and subject in passed]
    return {
        subject: {measure: round(_errors(passed[subject], measure), DIGITS) for measure in names}
        for subject in subjects
    }


def _ceiling(report: AgreementReport, measures: list[str]) -> dict[str, Any]:
    """Returns the least and the most agreement of one rater with the mean of the others."""
    values: dict[str, Sequence[float]] = {
        measure: report.reached(measure.removesuffix(WITHIN), "within" if measure.endswith(WITHIN) else "pairs")
        for measure in measures
    }
    if "preferences" in measures:
        values["preferences"] = [line.share.value for line in report.ceiling_preferences]
    return {name: [round(min(own), DIGITS), round(max(own), DIGITS)] for name, own in values.items() if own}


def _written(value: Estimate, rows: int) -> list[float]:
    ends = [] if value.low != value.low else [value.low, value.high]
    numbers = [round(float(number), DIGITS) for number in (value.value, *ends)]
    return numbers if value.n == rows or not ends else [*numbers, value.n]
