"""`rrgmetrics list`: all metrics, or what is to know of one: keys, configurations, options, agreement, cost."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from rrgmetrics.cli.output import print_line
from rrgmetrics.errors import InputError
from rrgmetrics.names import parse_name
from rrgmetrics.present.numbers import bounds
from rrgmetrics.present.tables import Cells, Group, Table
from rrgmetrics.specs import JUDGE_OPTIONS, PRESETS, MetricSpec, Option, all_specs, configurations, others

STAND_IN = "* a bundled stand-in: its scores do not compare with published ones"
MORE = "`rrgmetrics list NAME` has all that was measured of a metric; `--html FILE` writes everything as a page."
ONE = "`rrgmetrics list NAME` shows a metric's keys, configurations, options, agreement and cost."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics list`."""
    parser.set_defaults(run=run)
    parser.add_argument("names", nargs="*", metavar="NAME", help="show everything that is known of this metric")
    parser.add_argument("--aliases", action="store_true", help="show what papers call each key")
    parser.add_argument(
        "--by",
        choices=["agreement"],
        help="which metric to report: agreement with radiologists, cost",
    )
    parser.add_argument("--html", metavar="FILE", help="with --by agreement: all that was measured, as a page")
    parser.add_argument("--force", action="store_true", help="replace a file that exists")


def run(options: argparse.Namespace) -> None:
    """Prints the metrics, or what is known of those that were named."""
    console = Console(highlight=False)
    if options.html and not options.by:
        raise InputError("--html writes what was measured of all metrics; add --by agreement.")
    specs = [parse_name(name).spec for name in options.names]
    if options.aliases:
        console.print(alias_table(specs or all_specs().values()))
    elif options.by:
        show_by_agreement(specs or list(all_specs().values()), options)
    elif specs:
        for spec in specs:
            for part in metric_parts(spec):
                console.print(part, "")
    else:
        console.print(metric_table(all_specs().values()), "", preset_table(), "", ONE, sep="\n")


def show_by_agreement(specs: Sequence[MetricSpec], options: argparse.Namespace) -> None:
    """Prints which metric agrees with radiologists, and what to report; writes the page."""
    from rrgmetrics import files
    from rrgmetrics.present import evidence

    files.check_outputs(pages=[options.html], force=options.force)
    Console(highlight=False).print(evidence.ranked_table(specs), "", evidence.advice_table(specs), "", MORE, sep="\n")
    if options.html:
        files.write_text(options.html, evidence.page_html(specs), force=options.force)
        print_line(f"Written: {options.html}")


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
    from rrgmetrics.metaeval.advice import in_words
    from rrgmetrics.present.evidence import agreement_table

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
    for seen in (False, True):
        where = "read by development" if seen else "that development never saw"
        missing = Text.assemble((f"Agreement on data {where}", "bold"), ": not measured.")
        yield agreement_table(spec, seen=seen) or missing
    yield Text.assemble(("Which to report", "bold"), f": {in_words(spec.name)}")
    yield Text.assemble(("Cost", "bold"), f": {cost(spec)}")


def option_table(title: str, options: Mapping[str, Option]) -> Table:
    """One line an option: default, what it does, what it may be."""
    lines = []
    for key, option in options.items():
        choices = f" ({', '.join(map(str, option.choices))})" if option.choices else ""
        lines.append((key, option.write(option.default), option.help + choices))
    return _table((title, "default", "what it does"), lines)


def cost(spec: MetricSpec) -> str:
    """What the metric card says of the cost."""
    from rrgmetrics.hub import module_path

    path = module_path(spec.name) / "README.md"
    card = path.read_text(encoding="utf-8") if path.is_file() else ""
    section = re.search(r"^#### Cost\n+(.*?)(?=^#|\Z)", card, re.DOTALL | re.MULTILINE)
    words = re.sub(r"<!--.*?-->|\*\*", "", section[1], flags=re.DOTALL) if section else "not measured."
    return " ".join(words.split())


def _table(heads: tuple[str, ...], lines: Sequence[Cells], *, note: str = "") -> Table:
    """A table whose last column takes as many lines as it needs; names are never broken."""
    last = len(heads) - 1
    return Table(heads, (Group(tuple(lines)),), note=note, whole=frozenset({0}), broken=frozenset({last}))
