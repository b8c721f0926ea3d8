"""`rrgmetrics list`: all metrics, or what is to know of one: keys, configurations, options, agreement, cost."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rrgmetrics.cli.formats import add_format, print_line, print_parts
from rrgmetrics.errors import InputError
from rrgmetrics.reporting.documents import Part
from rrgmetrics.reporting.numbers import bounds
from rrgmetrics.reporting.results import published_clauses
from rrgmetrics.reporting.tables import Cells, Group, Table
from rrgmetrics.scoring.scope_filter import reports_read
from rrgmetrics.specs import JUDGE_OPTIONS, PRESETS, Key, MetricSpec, Option, all_specs, configurations, others
from rrgmetrics.specs.names import parse_name

STAND_IN = "* a bundled stand-in: its scores are not comparable with published scores"
MORE = "`rrgmetrics list NAME` shows all measurements of a metric; `--html FILE` writes them as a page."
ONE = "`rrgmetrics list NAME` shows a metric's keys, configurations, options, agreement and cost."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics list`."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="show the details of this metric, or of one key, such as bleu#2"
    )
    parser.add_argument("--aliases", action="store_true", help="show the names of each key in papers")
    parser.add_argument(
        "--by",
        choices=["agreement"],
        help="rank the metrics by agreement with radiologists, and show their cost",
    )
    add_format(parser)
    parser.add_argument("--html", metavar="FILE", help="with --by agreement: write all measurements as a page")
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")


def run(options: argparse.Namespace) -> None:
    """Prints the metrics, or what is known of those that were named."""
    if options.html and not options.by:
        raise InputError("--html needs --by agreement, whose measurements it writes.")
    specs = [parse_name(name).spec for name in options.names]
    every = specs or list(all_specs().values())
    if options.by:
        show_by_agreement(every, options)
    elif options.aliases:
        print_parts(options, [alias_table(every)], *_twice(map(key_row, _keys(every))))
    elif specs:
        known = [part for spec in specs for part in metric_parts(spec)]
        print_parts(options, known, map(key_row, _keys(specs)), list(map(metric_facts, specs)))
    else:
        parts: list[Part] = [metric_table(every), preset_table(), ONE]
        print_parts(options, parts, *_twice(map(metric_row, every)))


def show_by_agreement(specs: Sequence[MetricSpec], options: argparse.Namespace) -> None:
    """Prints which metric agrees with radiologists, and what to report; writes the page."""
    from rrgmetrics import files
    from rrgmetrics.reporting import evidence

    files.check_outputs(pages=[options.html], force=options.force)
    parts: list[Part] = [evidence.ranked_table(specs), evidence.advice_table(specs), MORE]
    print_parts(options, parts, *_twice(evidence.agreement_rows(specs)))
    if options.html:
        files.write_text(options.html, evidence.page_html(specs), force=options.force)
        print_line(f"Written: {options.html}", options)


# --- rows


def metric_row(spec: MetricSpec) -> dict[str, object]:
    """A metric as a row of numbers and words."""
    low, high = spec.range
    return {
        "metric": spec.subject,
        "title": spec.title,
        "better": spec.headline.better,
        "low": low,
        "high": high,
        "stand_in": spec.stand_in,
        "summary": spec.summary,
    }


def key_row(key: Key) -> dict[str, object]:
    """A key as a row of numbers and words."""
    low, high = key.range
    aliases = "; ".join(key.aliases)
    return {"key": key.name, "title": key.title, "better": key.better, "low": low, "high": high, "aliases": aliases}


def metric_facts(spec: MetricSpec) -> dict[str, object]:
    """All that `list NAME` says of a metric, for another program."""
    from rrgmetrics.metaeval.advice import in_words

    return {
        **metric_row(spec),
        "modality": reports_read(spec),
        "paper": spec.paper,
        "keys": list(map(key_row, spec.keys)),
        "configurations": configurations(spec),
        "options": {name: {"default": each.default, "help": each.help} for name, each in spec.options.items()},
        "report": in_words(spec.subject),
        "cost": cost(spec),
    }


def _keys(specs: Iterable[MetricSpec]) -> list[Key]:
    return [key for spec in specs for key in spec.keys]


def _twice(rows: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows for CSV and for JSON."""
    listed = list(rows)
    return listed, listed


# --- tables


def metric_table(specs: Iterable[MetricSpec]) -> Table:
    """One line a metric: which values are better, their range, what it compares."""
    packages = others().packages
    lines = []
    for spec in specs:
        package = f" ({packages[spec.name]})" if spec.name in packages else ""
        mark = " *" if spec.stand_in else ""
        lines.append((spec.subject + mark, spec.headline.better, bounds(spec.headline), spec.summary + package))
    return _table(("metric", "better", "range", "what it compares"), lines, note=STAND_IN)


def preset_table() -> Table:
    """The presets: names for sets of metrics."""
    lines = [(name, ", ".join(metrics)) for name, metrics in PRESETS.items()]
    every = [metric for metrics in PRESETS.values() for metric in metrics]
    return _table(("preset", "metrics"), lines, note=" ".join(published_clauses(every)))


def alias_table(specs: Iterable[MetricSpec]) -> Table:
    """One line a key that papers call otherwise, and the headline of every metric."""
    named = [key for spec in specs for key in spec.keys if key.aliases or key is spec.headline]
    lines = [(key.name, key.better, ", ".join(key.aliases) or "-") for key in named]
    return _table(("key", "better", "in papers"), lines, note="A bundled stand-in differs from the model of the paper.")


def metric_parts(spec: MetricSpec) -> Iterator[Part]:
    """What is known of a metric, from its row, the measurements and its card."""
    from rrgmetrics.metaeval.advice import in_words
    from rrgmetrics.reporting.evidence import agreement_table

    yield f"{parse_name(spec.name).title}: {spec.summary}"
    yield f"Reads {reports_read(spec)}. {spec.paper or 'No paper'}."
    keys = [(key.name, key.better, bounds(key), key.title) for key in spec.keys]
    yield _table(("key", "better", "range", "what"), keys)
    yield _table(("configuration", "what runs"), list(configurations(spec).items()))
    options = {key: option for key, option in spec.options.items() if not (spec.judge and key in JUDGE_OPTIONS)}
    if options:
        yield option_table("option", options)
    if spec.judge:
        yield option_table("of the engine", JUDGE_OPTIONS)
    for seen in (False, True):
        where = "used in development" if seen else "not used in development"
        yield agreement_table(spec, seen=seen) or f"Agreement on data {where}: not measured."
    yield f"Recommendation: {in_words(spec.subject)}"
    yield f"Cost: {cost(spec)}"
    yield evaluate_line(spec)


def evaluate_line(spec: MetricSpec) -> str:
    """How the metric is loaded as a module of Hugging Face's evaluate, which does not find its bare name by itself."""
    from rrgmetrics.scoring.hub import bare_names

    bare = " or ".join(f'evaluate.load("{name}")' for name in bare_names(spec.name))
    return f'As a module of evaluate: rrgmetrics.load("{spec.name}"); once `rrgmetrics register` has run, also {bare}.'


def option_table(title: str, options: Mapping[str, Option]) -> Table:
    """One line an option: default, what it does, what it may be."""
    lines = []
    for key, option in options.items():
        choices = f" ({', '.join(map(str, option.choices))})" if option.choices else ""
        lines.append((key, option.write(option.default), option.help + choices))
    return _table((title, "default", "what it does"), lines)


def cost(spec: MetricSpec) -> str:
    """What the metric card says of the cost."""
    from rrgmetrics.scoring.hub import module_path

    path = module_path(spec.name) / "README.md"
    card = path.read_text(encoding="utf-8") if path.is_file() else ""
    section = re.search(r"^#### Cost\n+(.*?)(?=^#|\Z)", card, re.DOTALL | re.MULTILINE)
    words = re.sub(r"<!--.*?-->|\*\*", "", section[1], flags=re.DOTALL) if section else "not measured."
    return " ".join(words.split())


def _table(heads: tuple[str, ...], lines: Sequence[Cells], *, note: str = "") -> Table:
    """A table whose last column takes as many lines as it needs; names are never broken."""
    last = len(heads) - 1
    return Table(heads, (Group(tuple(lines)),), note=note, whole=frozenset({0}), broken=frozenset({last}))
