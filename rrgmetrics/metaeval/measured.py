"""What was measured of the metrics, and on which data: reads `measured.yaml`, the one file of results.

Cards, pages and `rrgmetrics list` take every number on a metric's agreement from there. The numbers are those of
`rrgmetrics agree`; each says its data set, rows, version of rrgmetrics and date. A metric without a row was not
measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml

from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import AUTO, DEFAULT_PACK, all_packs
from rrgmetrics.reading.scope import reads
from rrgmetrics.specs import MetricSpec
from rrgmetrics.stats import Estimate

Statistic = Literal["tau_b", "share", "errors", "cases", "score", "seconds", "quartiles"]

FILE = Path(__file__).parent / "measured.yaml"
DEVELOPMENT = "radpref_dev"  # the data set that was read while the reader was written
USUAL = "usual"  # the data set of what metrics usually give
FACTS = ("title", "short", "description", "rows", "unit", "studies", "raters", "seen", "level")
NAN = float("nan")


class Measure(NamedTuple):
    """What was measured on a data set.

    Attributes:
        title: What radiologists said of a pair, or what stands in its place.
        statistic: `tau_b` with it, -1 to 1, positive is agreement; `share` of radiologists' clear preferences between
            two candidates, 0 to 1, 0.5 is chance; `errors` a report that the metric overlooks; `cases` passed; the mean
            `score` itself; `seconds` that it takes; `quartiles` of the scores, around their median.
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
        words: Of seconds: how many words a reference and a prediction have on average.
        processor: Of seconds: what they were measured on, with the instructions that it has; "" where not kept.
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
    words: Mapping[str, int] = field(default_factory=dict)
    processor: str = ""

    def of(self, statistic: Statistic) -> dict[str, Measure]:
        """The measures of one statistic."""
        return {name: measure for name, measure in self.measures.items() if measure.statistic == statistic}


class Replaced(NamedTuple):
    """A bundled configuration that does something else since a version; what was measured before is not shown."""

    since: str
    what: str


REPLACED = {"radgraph_f1": Replaced("0.2.0", "its bundled graph now consists of the words of the report")}


class Measurement(NamedTuple):
    """One number of a metric, with all that is known of it."""

    data: MeasuredSet
    name: str
    measure: Measure
    row: Measured
    value: Estimate


def reads_chest_xrays(spec: MetricSpec) -> bool:
    """Whether a metric says anything of reports of chest X-rays, on which costs and stress are measured."""
    return reads(spec.modality, "chest x-ray")


def reads_reports_of(spec: MetricSpec, pack: str) -> bool:
    """Whether a metric says anything of the reports that a pack reads; any text, or as it follows the report."""
    option = spec.options.get("modality")
    follows = option is not None and option.default == AUTO and reads_chest_xrays(spec)
    return follows or reads(spec.modality, all_packs()[pack].kind)


def read_results(file: Path) -> dict[str, Any]:
    """Reads a file of results of this package, with libyaml where PyYAML has it: they are large."""
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    content: dict[str, Any] = yaml.load(file.read_text(encoding="utf-8"), Loader=loader)
    return content


def is_measured_kind(reference: str) -> bool:
    """Whether a reference is of the kind that agreement and usual values were measured on: a chest X-ray report.

    Example:
        >>> is_measured_kind("Small left effusion."), is_measured_kind("Petit épanchement pleural gauche.")
        (True, False)
    """
    reading = read(reference, AUTO)
    return reading.pack == DEFAULT_PACK and reads(all_packs()[DEFAULT_PACK].title, reading.scope.kind)


@cache
def measured_sets(file: Path = FILE) -> Mapping[str, MeasuredSet]:
    """Reads the data sets by name."""
    stored = read_results(file)["datasets"]
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


def with_keys(spec: MetricSpec) -> Iterator[MetricSpec]:
    """Yields a metric, then each of its keys that was measured as a subject of its own (`radgraph_f1#radcliq`)."""
    yield spec
    named = {name for data in measured_sets().values() for name in data.metrics}
    for key in spec.keys:
        focused = spec.focused(key.name)
        if focused.fragment and not spec.fragment and focused.subject in named:
            yield focused


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
            if not _is_replaced(metric, str(row["version"]))
        },
        choices=stored.get("choices", {}),
        published=stored.get("published", {}),
        words=stored.get("words", {}),
        processor=stored.get("processor", ""),
    )


def _is_replaced(metric: str, version: str) -> bool:
    """Whether a metric has changed since the version that was measured."""
    return metric in REPLACED and _parts_of(version) < _parts_of(REPLACED[metric].since)


def _parts_of(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
