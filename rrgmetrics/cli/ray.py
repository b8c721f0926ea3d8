"""`rrgmetrics score --engine ray`: files of any size to a folder, on a cluster or on this machine's cores."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rrgmetrics import files
from rrgmetrics.cli.arguments import column_names
from rrgmetrics.cli.formats import print_line
from rrgmetrics.cli.output import print_totals
from rrgmetrics.errors import InputError

ELSEWHERE = (
    "shard",
    "stream",
    "statistics",
    "json",
    "html",
    "summary",
    "clusters",
    "errors",
    "train",
    "train_column",
    "abnormal",
    "force",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds `--engine` and its options."""
    parser.add_argument(
        "--engine",
        choices=["ray"],
        help="score PAIRS (Parquet or JSONL with study_id; also s3://...) with Ray and write to the folder "
        "--output; run the same command again to resume an interrupted run",
    )
    parser.add_argument("--address", metavar="ADDRESS", help="address of a Ray cluster (default: this machine only)")
    parser.add_argument(
        "--num-gpus", type=float, default=0, metavar="G", help="number of GPUs for each of Ray's --workers"
    )


def run(options: argparse.Namespace, names: Sequence[str]) -> None:
    """Scores the files and prints the scores of all."""
    for name in ELSEWHERE:
        if getattr(options, name):
            raise InputError(f"--{name.replace('_', '-')} does not work with --engine ray; leave one of them out.")
    if not options.pairs or options.predictions or options.references:
        raise InputError(
            "--engine ray takes one file of pairs; --predictions and --references would be joined in memory."
        )
    if options.per_study != "error":
        raise InputError(
            "--engine ray resumes a run by study_id, so each study has one row; leave out --per-study or --engine ray."
        )
    if not options.output:
        raise InputError("--engine ray needs --output FOLDER, where it writes the rows with their scores.")
    from rrgmetrics.integrations.ray import score_files

    totals = score_files(
        options.pairs,
        names,
        options.output,
        columns=files.check_columns(column_names(options)),
        address=options.address,
        concurrency=options.workers,
        num_gpus=options.num_gpus,
        batch_size=options.batch_size,
        device=options.device,
        missing=options.missing,
        text=options.text or "",
        progress=not options.no_progress and sys.stderr.isatty(),
    )
    print_totals(options, totals)
    print_line(f"Rows with their scores: {options.output}/scores", options)
