"""`rrgmetrics game`: what games a metric as a reward."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rrgmetrics.cli.arguments import add_lexicon, add_rated, add_report_columns, add_running, read_rated, split_names
from rrgmetrics.cli.documents import add_outputs, check_documents, print_and_write
from rrgmetrics.errors import InputError
from rrgmetrics.stats import TRIALS

if TYPE_CHECKING:
    from rrgmetrics.metaeval.gaming import Studies

REWARDS = ("finding_score", "finding_errors", "crimson", "crepe", "green")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics game`."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "reports",
        nargs="?",
        metavar="FILE",
        help="your own reports, into which errors are inserted: CSV, JSONL, Parquet or text (default: generated "
        "studies)",
    )
    parser.add_argument(
        "--metrics",
        nargs="+",
        default=list(REWARDS),
        metavar="NAME",
        help="metrics, named as in `score`, or MODULE:FUNCTION, a Python function of candidates and references "
        f"(default: {', '.join(REWARDS)})",
    )
    parser.add_argument(
        "--steps",
        type=int,
        default=100,
        help="number of texts that each search tries; 0 only tries the tricks (default %(default)s)",
    )
    parser.add_argument(
        "--tricks", nargs="+", metavar="NAME", help="tricks to try, named as in the --output file (default: all)"
    )
    parser.add_argument("--no-tricks", action="store_true", help="only search, and try no tricks")
    add_report_columns(parser)
    parser.add_argument(
        "--reports",
        dest="n_reports",
        type=int,
        default=None,
        metavar="N",
        help="use only the first N reports, or generate N",
    )
    parser.add_argument(
        "--trials", type=int, default=TRIALS, help="number of bootstrap resamples (default %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed of the studies and the search (default %(default)s)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers as JSON")
    add_rated(parser, required=False)
    add_outputs(parser)
    add_lexicon(parser)
    add_running(parser)


def run(options: argparse.Namespace) -> None:
    """Searches, plays the tricks, prints the tables and writes what was asked for."""
    from rrgmetrics.metaeval.gaming import game
    from rrgmetrics.metaeval.stress.scoring import read_metrics
    from rrgmetrics.reporting.gaming import gaming_tables

    if options.reports and options.dataset:
        raise InputError("Give either a file of reports, or --dataset with rated pairs.")
    if options.tricks and options.no_tricks:
        raise InputError("--tricks names tricks and --no-tricks leaves them out; give one of both.")
    if options.n_reports is not None and options.n_reports < 1:
        raise InputError(f"--reports is {options.n_reports}; take at least one report.")
    names = split_names(options.metrics)
    read_metrics(names)
    check_documents(options, inputs=[options.reports] if options.reports else [])
    report = game(
        names,
        _studies(options),
        steps=options.steps,
        tricks=split_names(options.tricks) if options.tricks else not options.no_tricks,
        seed=options.seed,
        trials=options.trials,
        batch_size=options.batch_size,
        device=options.device,
        progress=not options.no_progress,
    )
    print_and_write(options, list(gaming_tables(report)), list(report.rows()), report.to_dict())


def _studies(options: argparse.Namespace) -> Studies:
    """The studies that were named."""
    from rrgmetrics.metaeval.gaming import N_STUDIES, generated_studies, own_studies, rated_studies
    from rrgmetrics.synthesis.sources import load_collection

    if options.dataset:
        if len(options.dataset) > 1:
            raise InputError("--dataset names several data sets; name one.")
        return rated_studies(read_rated(options)[0], seed=options.seed)
    if not options.reports:
        return generated_studies(options.n_reports or N_STUDIES, seed=options.seed)
    collection = load_collection(
        options.reports, columns=options.column, id_column=options.id_column, seed=options.seed
    )
    texts = [report.text for report in collection.reports][: options.n_reports]
    return own_studies(texts, name=collection.name, seed=options.seed, progress=not options.no_progress)
