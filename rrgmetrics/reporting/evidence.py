"""Tables and the page "Which metric should I report?", from the measurements of the metrics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from rrgmetrics.metaeval import advice
from rrgmetrics.metaeval.measured import DEVELOPMENT, Measured, MeasuredSet, measured_sets, of_metric, with_keys
from rrgmetrics.metaeval.model import label_of
from rrgmetrics.metaeval.stress.stored import results_file, stored_stress
from rrgmetrics.metaeval.stress.written import written_packs
from rrgmetrics.reading.lexicon import all_packs
from rrgmetrics.reporting import html
from rrgmetrics.reporting.documents import markdown
from rrgmetrics.reporting.numbers import estimate, figure
from rrgmetrics.reporting.short import NOTHING, STYLES, short, short_bound, span
from rrgmetrics.reporting.stress import remarks, reports_of
from rrgmetrics.reporting.tables import Cell, Cells, Group, Table
from rrgmetrics.specs import MetricSpec
from rrgmetrics.specs.names import parse_name
from rrgmetrics.stats import Estimate
from rrgmetrics.utils.text_format import capitalized, counted, listed
from rrgmetrics.version import VERSION

STAND_IN = "* a bundled stand-in: its scores are not comparable with published scores"
TITLE = "Which metric should I report?"


UNASKED = "Judges without a language model: the bundled reader gives their verdicts"


class Section(NamedTuple):
    """A part of a page: a heading, sentences, a table, and more sentences as a list."""

    heading: str
    text: str = ""
    table: Table | None = None
    items: tuple[str, ...] = ()


# --- one metric


def agreement_table(spec: MetricSpec, *, seen: bool) -> Table | None:
    """How far the default configuration agrees with radiologists; None where that was not measured.

    Args:
        spec: The metric.
        seen: On data that development has seen, or on those that it has not.
    """
    lines: list[Cells] = []
    for each in with_keys(spec):
        found = [*of_metric(each.subject, seen=seen), *of_metric(each.subject, "share", seen=seen)]
        key = "" if each == spec else f"{each.subject}: "
        for data, _, measure, row, value in found:
            what = measure.title if measure.statistic == "tau_b" else f"{measure.title} (share)"
            lines.append((data.short, key + what, estimate(value, places=2), str(value.n), row.version))
    if not lines:
        return None
    head = "used in development" if seen else "not used in development"
    return Table(
        (head, "radiologists'", "tau-b [95% interval]", "n", "version"),
        (Group(tuple(lines)),),
        whole=frozenset({2}),
        broken=frozenset({0, 1}),
    )


# --- all metrics


def ranked_table(specs: Iterable[MetricSpec]) -> Table:
    """One line a metric, its agreement on each data set that development has not seen, the greatest first."""
    columns = advice.main_measures()
    lines: dict[bool, list[Cells]] = {False: [], True: []}
    for spec in advice.by_agreement(each for whole in specs for each in with_keys(whole)):
        cells = [value_cell(data.metrics.get(spec.subject), measure) for data, measure in columns]
        lines[is_unasked(spec)].append((name_of(spec), *cells))
    groups = [Group(tuple(lines[False]))]
    if lines[True]:
        groups.append(Group(tuple(lines[True]), (Cell(UNASKED, "strong"),)))
    ceiling = [Cell(span(data.ceiling.get(measure, ())) or NOTHING, "quiet") for data, measure in columns]
    about = "; ".join(
        f"{data.short}: {data.measures[measure].title}, {data.rows} {data.unit} of {data.studies} studies"
        for data, measure in columns
    )
    measured = versions(row for data, _ in columns for row in data.metrics.values())
    bare = [
        data.short
        for data, measure in columns
        if any(math.isnan(row.values[measure].low) for row in data.metrics.values() if measure in row.values)
    ]
    without = f" Values of {listed(bare)} without brackets were recorded without an interval." if bare else ""
    return Table(
        ("metric", *(data.short for data, _ in columns)),
        (*groups, Group(((Cell("a radiologist", "quiet"), *ceiling),))),
        title="Agreement with radiologists on data not used in development",
        note=f"Kendall's tau-b [95% interval]; °: the interval contains 0. {about}.{without} {STAND_IN}. All values "
        f"are of rrgmetrics {measured}.",
        whole=frozenset({0}),
        broken=frozenset(range(1, len(columns) + 1)),
    )


def agreement_rows(specs: Iterable[MetricSpec]) -> list[dict[str, object]]:
    """Every number of `ranked_table`, a row each."""
    return [
        {
            "metric": spec.subject,
            "dataset": data.short,
            "target": data.measures[measure].title,
            **dict(zip(("tau_b", "low", "high", "n"), data.metrics[spec.subject].values[measure], strict=True)),
            "version": data.metrics[spec.subject].version,
        }
        for spec in advice.by_agreement(each for whole in specs for each in with_keys(whole))
        for data, measure in advice.main_measures()
        if spec.subject in data.metrics and measure in data.metrics[spec.subject].values
    ]


def advice_table(specs: Iterable[MetricSpec]) -> Table:
    """What to do with each metric: where it agrees least, what it costs, overlooks and needs."""
    groups: dict[advice.Verdict, list[Cells]] = {verdict: [] for verdict in advice.VERDICTS}
    for spec in advice.by_agreement(specs):
        groups[advice.verdict(spec.name)].append(_advice_line(spec))
    choices = measured_sets()[DEVELOPMENT].choices
    any_candidate, best = (short(each["overlooked"]) for each in choices.values())
    heads = [(Cell(title, "strong"),) for title, _ in advice.VERDICTS.values()]
    verdicts = " ".join(f"{title}: {why}" for title, why in advice.VERDICTS.values())
    return Table(
        ("metric", "tau-b", "s", "overlooked", "weakest kind", "needs"),
        tuple(Group(tuple(lines), head) for lines, head in zip(groups.values(), heads, strict=True) if lines),
        title="Recommendation, cost and overlooked errors",
        note=f"{verdicts} Tau-b: lowest and highest over the data sets. s: seconds on one core for 1,000 pairs "
        f"({measured_sets()['cost'].processor}). Overlooked: mean number of errors in the candidate that the "
        "metric ranks "
        f"best ({any_candidate} in a random candidate, {best} in the one with the fewest). Weakest kind: the kind of "
        "error with the lowest tau-b. Both on RadPref's development half. Needs: requirements of the published setting "
        "(a model: a language model on a server or a GPU; weights: a download). All bundled settings run offline. "
        f"{STAND_IN}.",
        whole=frozenset({0}),
    )


def _advice_line(spec: MetricSpec) -> Cells:
    blind, cost = advice.blind(spec.name), advice.seconds(spec.name)
    return (
        name_of(spec),
        span(each.value.value for each in advice.main_agreements(spec.name)) or NOTHING,
        figure(cost.values["seconds"].value, 1) if cost else NOTHING,
        short(blind.passed) if blind else NOTHING,
        f"{blind.kind} {short(blind.tau_b.value)}" if blind else NOTHING,
        advice.needs(spec),
    )


def value_cell(row: Measured | None, measure: str) -> Cell:
    """A tau-b with its interval, and `°` where that holds 0."""
    if row is None or measure not in row.values:
        return Cell(NOTHING, "quiet")
    value = row.values[measure]
    label = label_of(value)
    mark = "°" if label == "not significant" else ""
    return Cell(f"{short(value.value)}{mark}{_ends(value)}", STYLES[label] if label else "")


def name_of(spec: MetricSpec) -> str:
    """The name, with the mark of a stand-in."""
    return spec.subject + (" *" if spec.stand_in else "")


def is_unasked(spec: MetricSpec) -> bool:
    """Whether the metric is a judge for whom the bundled reader answers: it agrees and errs with `finding_errors`."""
    return spec.judge and spec.stand_in and "reader" in spec.needs


def versions(rows: Iterable[Measured]) -> str:
    """The versions that were measured."""
    return listed(sorted({row.version for row in rows}))


def _ends(value: Estimate) -> str:
    return "" if math.isnan(value.low) else f" [{short_bound(value.low)}, {short_bound(value.high)}]"


# --- the page


def page(specs: Sequence[MetricSpec]) -> Iterator[Section]:
    """The page, part by part, from the results file and the rows of the metrics."""
    yield Section("Summary", items=tuple(_short(specs)))
    table = advice_table(specs)
    yield Section(table.title, table=replace(table, title=""))
    unseen = [data for data in measured_sets().values() if not data.seen]
    yield Section(
        "Agreement on data not used in development",
        "The tables compare the bundled configurations with the radiologists' counts or ratings. A metric that "
        "is not in a "
        "table was not measured on those data, or has changed since.",
        items=tuple(map(_about, unseen)),
    )
    for data in unseen:
        yield from _sections(data, specs)
    yield _kinds_section(specs)
    yield _stress_section(specs)
    yield from (_written_section(specs, pack) for pack in written_packs())


def _short(specs: Sequence[MetricSpec]) -> Iterator[str]:
    names: dict[str, list[str]] = {}
    for spec in advice.by_agreement(specs):
        names.setdefault(advice.verdict(spec.name), []).append(f"`{spec.name}`")
    for verdict, (title, why) in advice.VERDICTS.items():
        if verdict in names:
            yield f"{title}: {listed(names[verdict])}. {why}"
    reads = {f"`{spec.name}`" for spec in specs if parse_name(spec.name).shares_reader}
    voices = [name for name in names.get("report", ()) if name in reads]
    if len(voices) > 1:
        yield f"In the first group, {listed(voices)} share the errors of the same reader: report only one."
    yield (
        "A stand-in (*) ships with the package and replaces published weights or a language model. Its "
        "agreement does not "
        "apply to the published metric, and its scores are not comparable with published scores."
    )
    measured = versions(row for data in measured_sets().values() if not data.seen for row in data.metrics.values())
    if measured != VERSION:
        yield f"These numbers are of version {measured}; the changelog lists the scores that changed in {VERSION}."
    yield (
        "For every metric, report the signature, an interval (`rrgmetrics compare`) and the score of a trivial system "
        "(`rrgmetrics score` prints it)."
    )


def _about(data: MeasuredSet) -> str:
    size = f"{data.rows} {data.unit}" + (f" of {data.studies} studies" if data.studies != data.rows else "")
    raters = f", {counted(data.raters, 'radiologist')} for each pair" if data.of("tau_b") else ""
    dates = listed(sorted({row.date for row in data.metrics.values()}))
    printed = ", ".join(f"{name} {value:g}" for name, value in data.published.get("values", {}).items())
    others = f" Published ({data.published['description']}): {printed}." if printed else ""
    ran = f"rrgmetrics {versions(data.metrics.values())}, {dates}"
    return f"**{data.title}**: {size}{raters}; {ran}. {data.description}{others}"


def _sections(data: MeasuredSet, specs: Sequence[MetricSpec]) -> Iterator[Section]:
    """What metrics reach on one data set; counts of their own, which few make, in a table apart."""
    own = [name for name in data.measures if name.startswith("own_")]
    for measures, title in (([name for name in data.measures if name not in own], ""), (own, ", by kind of error")):
        rows = [spec for spec in specs if spec.name in data.metrics and _has(data, spec.name, measures)]
        if rows:
            yield Section(f"{data.short}{title}", table=_set_table(data, rows, measures))


def _has(data: MeasuredSet, metric: str, measures: Sequence[str]) -> bool:
    return any(measure in data.metrics[metric].values for measure in measures)


def _set_table(data: MeasuredSet, specs: Sequence[MetricSpec], measures: Sequence[str]) -> Table:
    first = data.measures[measures[0]].statistic
    ordered = advice.by_agreement(specs) if first in ("tau_b", "score") else _by_value(data, specs, measures[0])
    lines = [(name_of(spec), *(_cell(data, spec, measure) for measure in measures)) for spec in ordered]
    groups = [Group(tuple(lines))]
    ceiling = [span(data.ceiling.get(measure, ())) for measure in measures]
    if any(ceiling):
        groups.append(Group((("a radiologist", *(cell or NOTHING for cell in ceiling)),)))
    return Table(("metric", *(data.measures[measure].title for measure in measures)), tuple(groups))


def _by_value(data: MeasuredSet, specs: Sequence[MetricSpec], measure: str) -> list[MetricSpec]:
    return sorted(specs, key=lambda spec: -data.metrics[spec.name].values[measure].value)


def _cell(data: MeasuredSet, spec: MetricSpec, measure: str) -> str | Cell:
    statistic = data.measures[measure].statistic
    if statistic == "tau_b":
        return value_cell(data.metrics[spec.name], measure)
    value = data.metrics[spec.name].values[measure].value
    return f"{value:g} of {data.rows}" if statistic == "cases" else short(value)


def _kinds_section(specs: Sequence[MetricSpec]) -> Section:
    """What each metric overlooks, on the data that development has read."""
    data = measured_sets()[DEVELOPMENT]
    parts = [f"overlooked_{kind}" for kind in advice.KINDS]
    lines: list[Cells] = []
    for spec in advice.by_agreement(specs):
        row = data.metrics.get(spec.name)
        if row is not None:
            taus = [value_cell(row, kind) for kind in advice.KINDS]
            lines.append((name_of(spec), *taus, *_passed({name: row.values[name].value for name in row.values}, parts)))
    quiet = tuple((subject, *[NOTHING] * 3, *_passed(values, parts)) for subject, values in data.choices.items())
    titles = [data.measures[kind].title for kind in advice.KINDS]
    return Section(
        "Overlooked errors",
        f"On {data.title}: {data.rows} pairs of {data.studies} studies, which were used to develop the reader. "
        "Left: tau-b "
        "of the headline with the errors of each kind. Right: the errors in the candidate of each study that "
        "the metric "
        "ranks best, and the share of each kind (`rrgmetrics agree --also overlooked`).",
        Table(
            ("metric", *titles, "errors overlooked", *titles),
            (Group(tuple(lines)), Group(quiet)),
        ),
    )


def _passed(values: Mapping[str, float], parts: Sequence[str]) -> tuple[str, ...]:
    whole = values["overlooked"]
    return (short(whole), *(f"{values[part] / whole:.0%}" for part in parts))


def _stress_section(specs: Sequence[MetricSpec]) -> Section:
    """What each metric sees of changed reports, and what games it."""
    stored = stored_stress()
    known = [
        (spec.name, stored.metrics[spec.name]) for spec in advice.by_agreement(specs) if spec.name in stored.metrics
    ]
    readers = [f"`{name}`" for name, metric in known if metric.rests_on_the_reader]
    caveat = f" The reader inserted the errors, so {listed(readers)} detect them by construction." if readers else ""
    return Section(
        "Detection of inserted errors, and tricks",
        f"{stored.n_reports} generated reports, changed in known ways (`rrgmetrics stress`; rrgmetrics "
        f"{stored.version}, {stored.date}). A generator that is trained on a metric, or selected by it, can "
        "learn tricks "
        f"that raise its score.{caveat}",
        items=tuple(f"`{name}`: {' '.join(remarks(metric))}" for name, metric in known),
    )


def _written_section(specs: Sequence[MetricSpec], pack: str) -> Section:
    """What each metric sees of changed reports of another kind, whose changes were written by hand."""
    stored = stored_stress(results_file(pack))
    known = [(spec.name, stored.metrics[spec.name]) for spec in specs if spec.name in stored.metrics]
    return Section(
        f"Detection of errors in {all_packs()[pack].title.removesuffix(' in English')}",
        f"{capitalized(reports_of(stored))} (`rrgmetrics stress {stored.source}`; rrgmetrics "
        f"{stored.version}, {stored.date}). There are few examples of each kind, so this is an indication and "
        "not a ranking.",
        items=tuple(f"`{name}`: {' '.join(remarks(metric))}" for name, metric in known),
    )


def page_markdown(specs: Sequence[MetricSpec]) -> str:
    """The page as Markdown."""
    about = "This page is generated by `make cards` from `rrgmetrics/metaeval/measured.yaml`; do not edit it."
    parts = [f"# {TITLE}", about]
    for section in page(specs):
        parts += [f"## {section.heading}", section.text]
        parts.append("\n".join(f"- {item}" for item in section.items))
        if section.table:
            parts.append(markdown([section.table]).strip())
    return "\n\n".join(filter(None, parts)) + "\n"


def page_html(specs: Sequence[MetricSpec]) -> str:
    """The page as one HTML file that loads nothing."""
    template = html.environment("rrgmetrics.reporting").get_template("evidence.html.j2")
    return template.render(title=TITLE, version=VERSION, sections=list(page(specs)))
