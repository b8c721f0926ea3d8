"""`rrgmetrics agree`: how far metrics agree with radiologists."""

from __future__ import annotations

import argparse

from rich.console import Console

from rrgmetrics import files
from rrgmetrics.cli.arguments import add_metrics, metric_names
from rrgmetrics.errors import InputError
from rrgmetrics.stats import TRIALS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics agree`."""
    parser.set_defaults(run=run)
    parser.add_argument("--dataset", required=True, metavar="KIND:PATH", help="radpref:PATH or radjudge:PATH")
    parser.add_argument("--plots", metavar="DIR", help="write a scatter plot per metric")
    parser.add_argument("--json", metavar="FILE", help="the same numbers as JSON")
    add_metrics(parser, trials=TRIALS)


def run(options: argparse.Namespace) -> None:
    """Scores the rated pairs, prints the agreement and writes what was asked for."""
    from rrgmetrics.metaeval import agree
    from rrgmetrics.metaeval.plots import plot_path

    names = metric_names(options)
    if options.plots and not options.dataset.startswith("radpref:"):
        raise InputError("--plots draws scores against radiologists' ratings; only radpref has them.")
    pictures = [plot_path(options.plots, name) for name in names] if options.plots else []
    files.check_outputs(results=[options.json], pictures=pictures, force=options.force)
    report = agree(
        options.dataset,
        names,
        trials=options.trials,
        seed=options.seed,
        batch_size=options.batch_size,
        device=options.device,
        progress=not options.no_progress,
    )
    report.print(Console())
    if options.json:
        files.write_json(options.json, report.to_dict(), force=options.force)
    if options.plots:
        report.plot(options.plots, force=options.force)
