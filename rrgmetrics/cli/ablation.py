"""`rrgmetrics ablation`: checkpoints of CREPE, with any number of heads and any loss, against raters."""

from __future__ import annotations

import argparse

from rrgmetrics.cli.arguments import add_rated, add_running, add_trials, read_rated
from rrgmetrics.cli.documents import add_outputs, check_documents, print_and_write
from rrgmetrics.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics ablation`."""
    parser.set_defaults(run=run)
    parser.add_argument("checkpoints", nargs="+", metavar="CHECKPOINT", help="CREPE checkpoints: folders or Hub ids")
    add_rated(parser)
    parser.add_argument("--json", metavar="FILE", help="write the numbers as JSON")
    add_outputs(parser)
    add_trials(parser)
    add_running(parser)


def run(options: argparse.Namespace) -> None:
    """Runs each checkpoint on the rated pairs, prints a table a data set and writes what was asked for."""
    from rrgmetrics.metaeval import Rated
    from rrgmetrics.metaeval.ablation import ablation
    from rrgmetrics.reporting.papers import ablation_table

    check_documents(options)
    tables, rows = [], []
    for data in read_rated(options):
        if not isinstance(data, Rated):
            raise InputError(f"{data.name} has no error counts to compare the checkpoints with.")
        runtime = {"batch_size": options.batch_size, "device": options.device}
        found = ablation(data, options.checkpoints, trials=options.trials, seed=options.seed, **runtime)
        tables.append(ablation_table(data, found))
        rows += [
            {
                "dataset": data.name,
                "checkpoint": each.checkpoint,
                "heads": each.settings.num_error_categories,
                "loss": each.loss,
                "encoder": each.encoder,
                **{name: getattr(each.agreement, name).value for name in ("tau_b", "rho", "r")},
                "low": each.agreement.tau_b.low,
                "high": each.agreement.tau_b.high,
                "mae": each.mae,
                "n": each.agreement.n,
            }
            for each in found
        ]
    print_and_write(options, tables, rows, rows)
