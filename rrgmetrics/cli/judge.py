"""`rrgmetrics judge`: asks a judge about each pair and keeps its replies."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from rrgmetrics import files
from rrgmetrics.cli.arguments import (
    add_pairs,
    add_running,
    input_files,
    judge_names,
    read_studies,
    score_systems,
    split_names,
)
from rrgmetrics.cli.formats import print_line
from rrgmetrics.errors import InputError
from rrgmetrics.names import READER, parse_name
from rrgmetrics.prepared import prepare
from rrgmetrics.reports import Pair
from rrgmetrics.text import Normaliser


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics judge`."""
    parser.set_defaults(run=run)
    add_pairs(parser)
    parser.add_argument(
        "--metrics",
        nargs="+",
        required=True,
        metavar="NAME",
        help="judges with an engine: green@openai:<model>?base_url=...",
    )
    parser.add_argument("--record", metavar="FILE", help=".jsonl that gets the replies, for replies:FILE")
    parser.add_argument(
        "--dry-run", action="store_true", help="ask nothing: show the number of questions, tokens and price"
    )
    add_running(parser)


def run(options: argparse.Namespace) -> None:
    """Asks the judges, writes their replies and prints how many could be read."""
    from rrgmetrics.present.results import judge_lines

    names = judge_names(split_names(options.metrics))
    silent = [name for name in names if parse_name(name).config in READER]
    if silent:
        raise InputError(
            f"{silent[0].partition('?')[0]} asks nobody: it is the bundled one. Name an engine, for example "
            f"{parse_name(silent[0]).spec.name}@openai:<model>?base_url=http://127.0.0.1:8000/v1."
        )
    if options.dry_run:
        _show_bills(names, options)
        return
    if not options.record:
        raise InputError("Name the file that gets the replies, --record FILE; or --dry-run, which asks nothing.")
    if len({parse_name(name).config for name in names}) > 1:
        raise InputError("One file holds the replies of one engine; record each engine in a file of its own.")
    files.check_outputs(replies=[options.record], inputs=input_files(options), force=options.force)
    studies = read_studies(options)
    part = Path(f"{options.record}.part")
    part.unlink(missing_ok=True)
    results = score_systems(judge_names(names, record=str(part)), {"": studies.pairs}, options, studies.study_ids)[""]
    if part.exists():  # else nobody gave a reply
        part.replace(options.record)
    print_line(judge_lines(results.values(), options.record))


def _show_bills(names: Sequence[str], options: argparse.Namespace) -> None:
    """Prints what each judge would be asked, and what that would cost."""
    from rrgmetrics.judges.bill import bill_of
    from rrgmetrics.present.bill import bill_notes, bill_table

    studies = read_studies(options)
    with prepare(names, batch_size=options.batch_size, device=options.device) as metrics:
        bills = [bill_of(job.backend, _as_read(studies.pairs, job.normaliser)) for job in metrics.jobs.values()]
    Console().print(bill_table(bills))
    for line in bill_notes(bills):
        print_line(line)


def _as_read(pairs: Sequence[Pair], normaliser: Normaliser) -> list[Pair]:
    """The pairs as a judge reads them."""
    return [
        pair._replace(reference=normaliser.apply(pair.reference), candidate=normaliser.apply(pair.candidate))
        for pair in pairs
    ]
