"""What was measured of the metrics, and on which data: reads and writes `measured.yaml`, the one file of results.

Cards, pages and `rrgmetrics list` take every number on a metric's agreement from there. The numbers are those of
`rrgmetrics agree`; each says its data set, rows, version of rrgmetrics and date. A metric without a row was not
measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import yaml

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.failures import ANY, BEST, Overlooked, overlooked
from rrgmetrics.stats import Estimate
from rrgmetrics.version import VERSION

if TYPE_CHECKING:
    from rrgmetrics.metaeval import AgreementReport
    from rrgmetrics.metaeval.model import View

Statistic = Literal["tau_b", "share", "errors", "cases", "score"]

FILE = Path(__file__).parent / "measured.yaml"
DEVELOPMENT = "radpref_dev"  # the data set that was read while the reader was written
FACTS = ("title", "short", "description", "rows", "unit", "studies", "raters", "seen", "level")
OWN, OVERLOOKED, WITHIN = "own_", "overlooked", "_within_studies"  # what the name of a measure says
DIGITS = 4
NAN = float("nan")


class Measure(NamedTuple):
    """What was measured on a data set.

    Attributes:
        title: What radiologists said of a pair, or what stands in its place.
        statistic: `tau_b` with it, -1 to 1, positive is agreement; `share` of radiologists' clear preferences between
            two candidates, 0 to 1, 0.5 is chance; `errors` a report that the metric overlooks; `cases` passed; or the
            mean `score` itself.
    """

    title: str
    statistic: Statistic


@dataclass(frozen=True)
class Measured:
    """One metric on one data set.

    Attributes:
        version: Of rrgmetrics.
        date: Of the measurement, as in 2026-11-21.
        values: By measure; the ends are NaN where no interval is known, and n is the rows that were used.
        signature: What ran; "" where it was not kept.
    """

    version: str
    date: str
    values: Mapping[str, Estimate]
    signature: str = ""


@dataclass(frozen=True)
class MeasuredSet:
    """A data set, and what metrics reach on it.

    Attributes:
        name: Its key in the file.
        title: What it is.
        short: As a table's head has it.
        description: Whose references and candidates they are, and who judged.
        rows: Number of pairs, cases or reports.
        unit: Which of these.
        studies: Number of studies; intervals are over these.
        raters: Radiologists a pair.
        seen: Whether development has read it; then its numbers guard and prove nothing.
        level: Coverage of the intervals.
        measures: By name.
        ceiling: By measure, what one radiologist reaches against the mean of the others: least and most.
        metrics: By name.
        choices: Of `overlooked` measures, what any candidate has and what the one with the fewest errors.
        published: What others have printed for these data, by name, and on which rows.
    """

    name: str
    title: str
    short: str
    description: str
    rows: int
    unit: str
    studies: int
    raters: int
    seen: bool
    level: float
    measures: Mapping[str, Measure]
    ceiling: Mapping[str, tuple[float, float]]
    metrics: Mapping[str, Measured]
    choices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    published: Mapping[str, Any] = field(default_factory=dict)

    def of(self, statistic: Statistic) -> dict[str, Measure]:
        """The measures of one statistic."""
        return {name: measure for name, measure in self.measures.items() if measure.statistic == statistic}


class Measurement(NamedTuple):
    """One number of a metric, with all that is known of it."""

    data: MeasuredSet
    name: str
    measure: Measure
    row: Measured
    value: Estimate


@cache
def measured_sets(file: Path = FILE) -> Mapping[str, MeasuredSet]:
    """Reads the data sets by name."""
    stored = yaml.safe_load(file.read_text(encoding="utf-8"))["datasets"]
    return {name: _data_set(name, facts) for name, facts in stored.items()}


def of_metric(metric: str, statistic: Statistic = "tau_b", *, seen: bool = False) -> Iterator[Measurement]:
    """Yields each number of a metric on data that development has not seen, or on those that it has.

    Example:
        >>> for found in of_metric("bleu"):
        ...     print(found.data.name, found.name, found.value.value)
        radpref_kept_back total_errors 0.4
        radpref_kept_back rating 0.46
        radeval_expert significant_errors -0.03
        radeval_expert significant_errors_within_studies 0.03
        radeval_expert total_errors -0.02
        radevalx significant_errors 0.16
        refisco total_errors 0.49
    """
    for data in measured_sets().values():
        if data.seen == seen and metric in data.metrics:
            row = data.metrics[metric]
            for name, measure in data.of(statistic).items():
                if name in row.values:
                    yield Measurement(data, name, measure, row, row.values[name])


# --- writing


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
    text = file.read_text(encoding="utf-8")
    stored = yaml.safe_load(text)
    if name not in stored["datasets"]:
        known = ", ".join(stored["datasets"])
        raise InputError(
            f"{file} has no data set {name!r}, only {known}; write its title, description and measures there first."
        )
    facts = stored["datasets"][name]
    about: dict[str, float] = {
        "rows": len(report.data.pairs),
        "studies": report.data.n_studies,
        "raters": len(report.data.raters),
        "level": report.resampling.level,
    }
    if facts.get("metrics") and any(facts[key] != value for key, value in about.items()):
        raise InputError(f"{name} of {file} was measured on other pairs; take its metrics away to measure all anew.")
    rows = facts.get("metrics") or {}
    passed = {each.subject: each for each in overlooked(report)}
    rows |= {metric: _row(report, metric, facts["measures"], passed, date) for metric in report.results}
    facts |= {**about, "ceiling": _ceiling(report, facts["measures"]), "metrics": dict(sorted(rows.items()))}
    if choices := _choices(passed, facts["measures"]):
        facts["choices"] = choices
    comment = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    written = yaml.safe_dump(stored, sort_keys=False, width=500, default_flow_style=None, allow_unicode=True)
    file.write_text(comment + written, encoding="utf-8")


def _row(
    report: AgreementReport, metric: str, measures: Mapping[str, Any], passed: Mapping[str, Overlooked], date: str
) -> dict[str, Any]:
    rows = len(report.data.pairs)
    found: dict[str, Estimate | None] = {}
    for measure in measures:
        if measure.startswith(OVERLOOKED):
            found[measure] = Estimate(_errors(passed[metric], measure), NAN, NAN, report.data.n_studies)
        else:
            found[measure] = _value(report, metric, measure)
    return {
        "version": VERSION,
        "date": date,
        "signature": report.results[metric].signature,
        "values": {measure: _written(value, rows) for measure, value in found.items() if value is not None},
    }


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
    headline = report.results[metric].spec.name
    own = (line for line in report.agreements if (line.subject, line.target, line.view) == (metric, target, view))
    return next((line.tau_b for line in own if line.key != headline and not line.subset), None)


def _errors(found: Overlooked, measure: str) -> float:
    return found.total if measure == OVERLOOKED else found.means[measure.removeprefix(f"{OVERLOOKED}_")]


def _choices(passed: Mapping[str, Overlooked], measures: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The errors in any candidate, and in the one with the fewest."""
    names = [measure for measure in measures if measure.startswith(OVERLOOKED)]
    subjects = [subject for subject in (ANY, BEST) if names and subject in passed]
    return {
        subject: {measure: round(_errors(passed[subject], measure), DIGITS) for measure in names}
        for subject in subjects
    }


def _ceiling(report: AgreementReport, measures: Mapping[str, Any]) -> dict[str, list[float]]:
    """Returns the least and the most agreement of one rater with the mean of the others."""
    values = {
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


# --- reading


def _data_set(name: str, stored: Mapping[str, Any]) -> MeasuredSet:
    def estimate(value: float, low: float = NAN, high: float = NAN, n: int = stored["rows"]) -> Estimate:
        return Estimate(value, low, high, n)

    return MeasuredSet(
        name=name,
        **{fact: stored[fact] for fact in FACTS},
        measures={measure: Measure(**facts) for measure, facts in stored["measures"].items()},
        ceiling={measure: (low, high) for measure, (low, high) in stored["ceiling"].items()},
        metrics={
            metric: Measured(
                version=str(row["version"]),
                date=str(row["date"]),
                values={measure: estimate(*values) for measure, values in row["values"].items()},
                signature=row.get("signature", ""),
            )
            for metric, row in stored["metrics"].items()
        },
        choices=stored.get("choices", {}),
        published=stored.get("published", {}),
    )
