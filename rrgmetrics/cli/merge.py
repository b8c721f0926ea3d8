"""`rrgmetrics merge`: the parts of a job become what one run would have given."""

from __future__ import annotations

import argparse
from typing import Any

from rrgmetrics import files
from rrgmetrics.cli.arguments import add_shown, add_trials, add_writing, chosen_keys
from rrgmetrics.cli.output import print_scores, write_scores
from rrgmetrics.errors import InputError
from rrgmetrics.scoring.results import per_pair_columns
from rrgmetrics.scoring.shards import merge
from rrgmetrics.systems.table import CORRECTIONS, compare_systems


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics merge`."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "parts",
        nargs="+",
        metavar="PART",
        help="all files that `rrgmetrics score --shard K/N --output PART.parquet` wrote; with several systems, "
        "the first is the baseline",
    )
    parser.add_argument("--output", metavar="FILE", help="write the scores of each pair (.csv, .jsonl or .parquet)")
    parser.add_argument(
        "--correction",
        choices=list(CORRECTIONS),
        default="holm",
        help="correction of the p-values of the table (default: holm)",
    )
    add_shown(parser)
    parser.add_argument("--html", metavar="FILE", help=argparse.SUPPRESS)
    add_trials(parser)
    add_writing(parser)


def run(options: argparse.Namespace) -> None:
    """Joins the parts, prints the table and writes what was asked for."""
    if options.html:
        raise InputError(
            "--html needs the texts of the reports, and parts hold only their scores; use `rrgmetrics score` or "
            "`rrgmetrics compare` without --shard or --stream."
        )
    outputs = {"tables": [options.output], "results": [options.json], "documents": options.table}
    files.check_outputs(**outputs, inputs=options.parts, force=options.force)
    systems = merge(options.parts)
    if options.output and len(systems) > 1:
        raise InputError(f"--output is for one system, and these are parts of {', '.join(systems)}.")
    results = {system: merged.results for system, merged in systems.items()}
    rows = compare_systems(
        results,
        all_keys=options.all_keys or len(systems) == 1,
        keys=chosen_keys(options),
        correction=options.correction,
        trials=options.trials,
        seed=options.seed,
    )
    first = next(iter(systems.values()))
    print_scores(
        options, results, rows, n_pairs=first.whole.n_pairs, correction=options.correction, ids=first.study_ids
    )
    if options.output:
        columns: dict[str, Any] = {"study_id": first.study_ids, **per_pair_columns(first.results)}
        files.write_table(options.output, columns, force=options.force)
    write_scores(options, results, rows, None, options.correction, n_pairs=first.whole.n_pairs)
