"""`rrgmetrics list`: all metrics, or what is to know of one: keys, configurations, options, agreement, cost."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping

from rich import box
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table

from rrgmetrics.cards import bounds
from rrgmetrics.names import parse_name
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


def run(options: argparse.Namespace) -> None:
    """Prints the metrics, or what is known of those that were named."""
    console = Console(highlight=False)
    specs = [parse_name(name).spec for name in options.names]
    if options.aliases:
        console.print(alias_table(specs or all_specs().values()))
    elif specs:
        for spec in specs:
            for part in metric_parts(spec):
                console.print(part, end="\n\n")
    else:
        console.print(metric_table(all_specs().values()), "", preset_table(), "", ONE, sep="\n")


def metric_table(specs: Iterable[MetricSpec]) -> Table:
    """One line a metric: which values are better, their range, what it compares."""
    table = _table("metric", "better", "range", "what it compares")
    packages = others().packages
    for spec in specs:
        package = f" ({packages[spec.name]})" if spec.name in packages else ""
        mark = " *" if spec.stand_in else ""
        table.add_row(spec.name + mark, spec.headline.better, bounds(spec.range), escape(spec.summary + package))
    table.caption = STAND_IN
    return table


def preset_table() -> Table:
    """The names that stand for several metrics."""
    table = _table("preset", "metrics")
    for name, metrics in PRESETS.items():
        table.add_row(name, ", ".join(metrics))
    return table


def alias_table(specs: Iterable[MetricSpec]) -> Table:
    """One line a key, with what papers call it."""
    table = _table("key", "better", "in papers")
    for spec in specs:
        for key in spec.keys:
            table.add_row(key.name, key.better, escape(", ".join(key.aliases)) or "-")
    table.caption = "A bundled stand-in is not what the papers ran."
    return table


def metric_parts(spec: MetricSpec) -> Iterator[RenderableType]:
    """What is known of a metric, from its row, the measurements and its card."""
    yield f"[bold]{escape(parse_name(spec.name).title)}[/bold]: {escape(spec.summary)}"
    yield f"Reads {escape(spec.modality)}. {escape(spec.paper or 'No paper')}."
    keys = _table("key", "better", "range", "what")
    for key in spec.keys:
        keys.add_row(key.name, key.better, bounds(key.range), escape(key.title))
    yield keys
    configs = _table("configuration", "what runs")
    for name, what in configurations(spec).items():
        configs.add_row(escape(name), escape(what))
    yield configs
    options = {key: option for key, option in spec.options.items() if not (spec.judge and key in JUDGE_OPTIONS)}
    if options:
        yield option_table("option", options)
    if spec.judge:
        yield option_table("of the engine", JUDGE_OPTIONS)
    yield from agreement_parts(spec)
    yield f"[bold]Cost[/bold]: {escape(cost(spec))}"


def option_table(title: str, options: Mapping[str, Option]) -> Table:
    """One line an option: default, what it does, what it may be."""
    table = _table(title, "default", "what it does")
    for key, option in options.items():
        choices = f" ({', '.join(map(str, option.choices))})" if option.choices else ""
        table.add_row(key, escape(option.write(option.default)), escape(option.help + choices))
    return table


def agreement_parts(spec: MetricSpec) -> Iterator[RenderableType]:
    """How far the default configuration agrees with radiologists, as it was measured."""
    from rrgmetrics.metaeval.measured import agreements

    measured = agreements()
    if spec.name not in measured.metrics:
        yield "[bold]Agreement with radiologists[/bold]: not measured."
        return
    row = measured.metrics[spec.name]
    table = _table("agreement", "value [95% interval]", "one radiologist against the others")
    for target, title in TARGETS.items():
        estimate = row.preferences if target == "preferences" else row.tau_b[target]
        low, high = measured.ceiling[target]
        table.add_row(
            title, escape(f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"), f"{low:.2f} to {high:.2f}"
        )
    table.caption = (
        f"{measured.n_raters} radiologists, {measured.n_pairs} pairs of {measured.n_cases} cases; {row.date}, "
        f"version {row.version}"
    )
    yield table


def cost(spec: MetricSpec) -> str:
    """What the metric card says of the cost."""
    from rrgmetrics.hub import module_path

    path = module_path(spec.name) / "README.md"
    card = path.read_text(encoding="utf-8") if path.is_file() else ""
    section = re.search(r"^#### Cost\n+(.*?)(?=^#|\Z)", card, re.DOTALL | re.MULTILINE)
    return " ".join(section[1].split()) if section else "not measured."


def _table(*headers: str) -> Table:
    """A table whose last column takes as many lines as it needs; names are never broken."""
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), caption_justify="left", title_justify="left"
    )
    for header in headers:
        last = header == headers[-1]
        table.add_column(header, no_wrap=not last, overflow="fold")
    return table
