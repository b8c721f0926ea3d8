"""`rrgmetrics list`: the metrics, their keys, ranges, configurations and options."""

from __future__ import annotations

import argparse

from rich.console import Console


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics list`."""
    parser.set_defaults(run=run)
    parser.add_argument("--aliases", action="store_true", help="show what papers call each key")


def run(options: argparse.Namespace) -> None:
    """Prints the table of metrics and that of presets."""
    from rrgmetrics.present.results import metric_table, preset_table

    Console().print(metric_table(aliases=options.aliases))
    if not options.aliases:
        Console().print(preset_table())
