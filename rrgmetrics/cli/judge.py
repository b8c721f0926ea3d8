"""`rrgmetrics judge`: asks a judge about each pair and keeps its replies."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from rrgmetrics import files
from rrgmetrics.cli.arguments import (
    add_missing,
    add_pairs,
    add_running,
    input_files,
    judge_names,
    prepared,
    read_studies,
    split_names,
)
from rrgmetrics.cli.formats import print_line
from rrgmetrics.cli.terminal import Terminal, paragraph
from rrgmetrics.errors import InputError
from rrgmetrics.judges.bill import bill_of, redo_unusable
from rrgmetrics.judges.cache import Cache
from rrgmetrics.judges.engines.asking import dry_run
from rrgmetrics.metaeval.judges_compared import TEXTS, compare_judges
from rrgmetrics.reporting.bill import bill_notes, bill_table
from rrgmetrics.reporting.results import judge_lines, judges_table
from rrgmetrics.reports import Pair
from rrgmetrics.scoring.prepared import Metrics
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs.names import READER, parse_name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics judge`."""
    parser.set_defaults(run=run)
    add_pairs(parser)
    parser.add_argument(
        "--metrics",
        "--judges",
        nargs="+",
        required=True,
        metavar="NAME",
        help="judges with an engine, such as green@openai:<model>?base_url=...",
    )
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="write the replies to a .jsonl file, to use as replies:FILE; otherwise they are only in the cache",
    )
    parser.add_argument(
        "--redo",
        action="store_true",
        help="ask again if the cached replies give no verdict because they are cut off, empty or unreadable",
    )
    parser.add_argument(
        "--compare",
        action="store_true",
        help="compare the other judges with the first: MAE of counts and scores, and the metrics in --texts on "
        "the replies",
    )
    parser.add_argument(
        "--texts",
        nargs="*",
        default=list(TEXTS),
        metavar="NAME",
        help="with --compare: metrics that compare the texts of the replies",
    )
    parser.add_argument("--json", metavar="FILE", help="with --compare: write the comparison as JSON")
    parser.add_argument(
        "--dry-run", action="store_true", help="show the number of questions, the tokens and the price, and ask nothing"
    )
    add_missing(parser)
    add_running(parser)


def run(options: argparse.Namespace) -> None:
    """Asks the judges, keeps their replies and prints how many pairs are scored."""
    names = judge_names(split_names(options.metrics))
    if options.compare:
        _compare(names, options)
        return
    if options.json:
        raise InputError("--json is for --compare; for scores, use `rrgmetrics score`.")
    silent = [name for name in names if parse_name(name).config in READER]
    if silent:
        raise InputError(
            f"{silent[0].partition('?')[0]} is the bundled judge, which asks no model. Name an engine, for example "
            f"{parse_name(silent[0]).spec.name}@openai:<model>?base_url=http://127.0.0.1:8000/v1."
        )
    if options.dry_run:
        studies = read_studies(options)
        with dry_run(), prepared(names, options) as metrics:
            _show_bills(metrics, studies.pairs, redo=options.redo)
        return
    if options.record:
        results = _recorded(names, options)
        print_line(judge_lines(results, options.record if Path(options.record).exists() else ""))
        return
    if unkept := [name for name in names if parse_name(name).options.get("cache") == "no"]:
        raise InputError(f"{unkept[0]} stores no reply: pass --record FILE, or leave out cache=no.")
    results = _judged(names, options)
    print_line(judge_lines(results, is_cached=bool(Cache.held)))


def _compare(names: Sequence[str], options: argparse.Namespace) -> None:
    """Compares the judges with the first one."""
    if options.record or options.redo or options.dry_run:
        raise InputError("--compare asks the judges itself; leave out --record, --redo and --dry-run.")
    files.check_outputs(results=[options.json], inputs=input_files(options), force=options.force)
    found = compare_judges(
        read_studies(options).pairs,
        names[0],
        names[1:],
        texts=split_names(options.texts),
        missing=options.missing,
        batch_size=options.batch_size,
        device=options.device,
        progress=not options.no_progress,
    )
    if options.json:
        files.write_json(options.json, {"compared": [each.to_dict() for each in found]}, force=options.force)
    for each in found:
        Terminal(highlight=False, markup=False, emoji=False).print(judges_table(each))


def _recorded(names: Sequence[str], options: argparse.Namespace) -> Mapping[str, Result]:
    """The results; the replies are in the file when all were asked for."""
    if len({parse_name(name).config for name in names}) > 1:
        raise InputError("A file holds the replies of one engine; use a separate --record FILE for each engine.")
    files.check_outputs(replies=[options.record], inputs=input_files(options), force=options.force)
    part = Path(f"{options.record}.part")
    part.unlink(missing_ok=True)
    results = _judged(judge_names(names, record=str(part)), options)
    if part.exists():  # else nobody gave a reply
        part.replace(options.record)
    return results


def _judged(names: Sequence[str], options: argparse.Namespace) -> Mapping[str, Result]:
    """The results of each judge."""
    studies = read_studies(options)
    with prepared(names, options) as metrics:
        metrics.warn({"": studies.pairs}, studies.study_ids)
        for name, job in metrics.jobs.items() if options.redo else ():
            redo_unusable(job.backend, metrics.as_read(name, studies.pairs))
        return metrics.score_sets([studies.pairs], progress=not options.no_progress)[0]


def _show_bills(metrics: Metrics, pairs: Sequence[Pair], *, redo: bool) -> None:
    """Prints what each judge would be asked, and what that would cost."""
    bills = []
    for name, job in metrics.jobs.items():
        asked = metrics.as_read(name, pairs)
        if redo:
            redo_unusable(job.backend, asked)
        bills.append(bill_of(job.backend, asked))
    console = Terminal(highlight=False, markup=False, emoji=False)
    console.print(bill_table(bills))
    for line in bill_notes(bills):
        console.print(paragraph(line, console.width))
