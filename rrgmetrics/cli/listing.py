"""`rrgmetrics list`: all metrics, or what is to know of one: keys, configurations, options, agreement, cost."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from rrgmetrics.names import parse_name
from rrgmetrics.present.numbers import bounds, estimate, figure
from rrgmetrics.present.tables import Cells, Group, Table
from rrgmetrics.specs import JUDGE_OPTIONS, PRESETS, MetricSpec, Option, all_specs, configurations, others

STAND_IN = "* a bundled stand-in: its scores do not compare with published ones"
ONE = "`rrgmetrics list NAME` shows a metric's keys, configurations, options, agreement and cost."
TARGETS = {
    "total_errors": "tau-b, all errors",
    "significant_errors": "tau-b, significant errors",
    "rating": "tau-b, rating",
    "preferences": "share of preferences",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics list`."""
    parser.set_defaults(run=run)
    parser.add_argument("names", nargs="*", metavar="NAME", help="show everything that is known of this metric")
    parser.add_argument("--aliases", action="store_true", help="show what papers call each key")
    parser.add_argument("--by", choices=["agreement"], help="order the metrics by their agreement with radiologists")


def run(options: argparse.Namespace) -> None:
    """Prints the metrics, or what is known of those that were named."""
    console = Console(highlight=False)
    specs = [parse_name(name).spec for name in options.names]
    if options.aliases:
        console.print(alias_table(specs or all_specs().values()))
    elif options.by:
        console.print(ranked_table(specs or all_specs().values()))
    elif specs:
        for spec in specs:
            for part in metric_parts(spec):
                console.print(part, "")
    else:
        console.print(metric_table(all_specs().values()), "", preset_table(), "", ONE, sep="\n")


def metric_table(specs: Iterable[MetricSpec]) -> Table:
    """One line a metric: which values are better, their range, what it compares."""
    packages = others().packages
    lines = []
    for spec in specs:
        package = f" ({packages[spec.name]})" if spec.name in packages else ""
        mark = " *" if spec.stand_in else ""
        lines.append((spec.name + mark, spec.headline.better, bounds(spec.headline), spec.summary + package))
    return _table(("metric", "better", "range", "what it compares"), lines, note=STAND_IN)


def preset_table() -> Table:
    """The names that stand for several metrics."""
    return _table(("preset", "metrics"), [(name, ", ".join(metrics)) for name, metrics in PRESETS.items()])


def alias_table(specs: Iterable[MetricSpec]) -> Table:
    """One line a key, with what papers call it."""
    lines = [(key.name, key.better, ", ".join(key.aliases) or "-") for spec in specs for key in spec.keys]
    return _table(("key", "better", "in papers"), lines, note="A bundled stand-in is not what the papers ran.")


def metric_parts(spec: MetricSpec) -> Iterator[RenderableType]:
    """What is known of a metric, from its row, the measurements and its card."""
    yield Text.assemble((parse_name(spec.name).title, "bold"), f": {spec.summary}")
    yield Text(f"Reads {spec.modality}. {spec.paper or 'No paper'}.")
    keys = [(key.name, key.better, bounds(key), key.title) for key in spec.keys]
    yield _table(("key", "better", "range", "what"), keys)
    yield _table(("configuration", "what runs"), list(configurations(spec).items()))
    options = {key: option for key, option in spec.options.items() if not (spec.judge and key in JUDGE_OPTIONS)}
    if options:
        yield option_table("option", options)
    if spec.judge:
        yield option_table("of the engine", JUDGE_OPTIONS)
    yield agreement_part(spec)
    yield independent_part(spec)
    yield Text.assemble(("Cost", "bold"), f": {cost(spec)}")


def option_table(title: str, options: Mapping[str, Option]) -> Table:
    """One line an option: default, what it does, what it may be."""
    lines = []
    for key, option in options.items():
        choices = f" ({', '.join(map(str, option.choices))})" if option.choices else ""
        lines.append((key, option.write(option.default), option.help + choices))
    return _table((title, "default", "what it does"), lines)


def agreement_part(spec: MetricSpec) -> RenderableType:
    """How far the default configuration agrees with radiologists, as it was measured."""
    from rrgmetrics.metaeval.measured import agreements

    measured = agreements()
    if spec.name not in measured.metrics:
        return Text.assemble(("Agreement with radiologists", "bold"), ": not measured.")
    row = measured.metrics[spec.name]
    lines = []
    for target, title in TARGETS.items():
        value = row.preferences if target == "preferences" else row.tau_b[target]
        low, high = measured.ceiling[target]
        lines.append((title, estimate(value, places=2), f"{figure(low, 2)} to {figure(high, 2)}"))
    return _table(
        ("agreement", "value [95% interval]", "one radiologist against the others"),
        lines,
        note=(
            f"{measured.n_raters} radiologists, {measured.n_pairs} pairs of {measured.n_cases} cases; {row.date}, "
            f"version {row.version}"
        ),
    )


def independent_part(spec: MetricSpec) -> RenderableType:
    """How far the default configuration agrees with radiologists on data that its development never saw."""
    from rrgmetrics.metaeval.independent import of_metric

    lines = [
        (rated.short, rated.targets[target], str(rated.pairs), estimate(tau, places=2), rated.version)
        for rated, target, tau in of_metric(spec.name)
    ]
    if not lines:
        return Text.assemble(("Agreement on data that development never saw", "bold"), ": not measured.")
    heads = ("never seen by development", "target", "pairs", "tau-b [95% interval]", "version")
    return Table(heads, (Group(tuple(lines)),), whole=frozenset({3}), broken=frozenset({0, 1}))


def ranked_table(specs: Iterable[MetricSpec]) -> Table:
    """One line a metric, the greatest mean agreement first, on data that development never saw."""
    from rrgmetrics.metaeval.independent import rated_sets

    sets = rated_sets()
    columns = [(rated, target) for rated in sets.values() for target in rated.targets]
    everywhere = [column for column in columns if len(column[0].metrics) == max(len(s.metrics) for s in sets.values())]
    lines: list[tuple[float, Cells]] = []
    for spec in specs:
        taus = [rated.metrics.get(spec.name, {}).get(target) for rated, target in columns]
        common = [rated.metrics.get(spec.name, {}).get(target) for rated, target in everywhere]
        mean = sum(tau.value for tau in common if tau) / len(common) if all(common) else math.nan
        cells = [figure(tau.value, 2) if tau else "-" for tau in taus]
        lines.append((mean, (spec.name + (" *" if spec.stand_in else ""), *cells)))
    lines.sort(key=lambda line: (math.isnan(line[0]), -line[0]))
    heads = ("metric", *(f"{rated.short} {rated.targets[target]}" for rated, target in columns))
    about = "; ".join(f"{rated.short}: {rated.pairs} pairs, version {rated.version}" for rated in sets.values())
    note = (
        f"Kendall's tau-b with radiologists, on data that development never saw. {about}. `rrgmetrics list NAME` has "
    )
    note += f"the intervals. {STAND_IN}."
    broken = frozenset(range(1, len(heads)))
    return Table(heads, (Group(tuple(cells for _, cells in lines)),), note=note, whole=frozenset({0}), broken=broken)


def cost(spec: MetricSpec) -> str:
    """What the metric card says of the cost."""
    from rrgmetrics.hub import module_path

    path = module_path(spec.name) / "README.md"
    card = path.read_text(encoding="utf-8") if path.is_file() else ""
    section = re.search(r"^#### Cost\n+(.*?)(?=^#|\Z)", card, re.DOTALL | re.MULTILINE)
    return " ".join(section[1].split()) if section else "not measured."


def _table(heads: tuple[str, ...], lines: Sequence[Cells], *, note: str = "") -> Table:
    """A table whose last column takes as many lines as it needs; names are never broken."""
    last = len(heads) - 1
    return Table(heads, (Group(tuple(lines)),), note=note, whole=frozenset({0}), broken=frozenset({last}))
