"""`rrgmetrics oracle`: for each study the report that a metric ranks best, and what other metrics say of it."""

from __future__ import annotations

import argparse

from rrgmetrics import files
from rrgmetrics.cli.arguments import (
    FEW_TRIALS,
    add_lexicon,
    add_running,
    add_trials,
    split_names,
    system_paths,
)
from rrgmetrics.cli.documents import add_outputs, check_documents, print_and_write
from rrgmetrics.cli.formats import print_line
from rrgmetrics.files.read import Reports
from rrgmetrics.reports import Pair


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics oracle`."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "references", metavar="REFERENCES", help="the radiologists' reports: a table with study_id, report"
    )
    parser.add_argument(
        "--pool",
        metavar="FILE",
        help="reports to retrieve from, such as a training set; repeated reports count as often as they occur "
        "(default: the references)",
    )
    parser.add_argument("--metrics", nargs="+", required=True, metavar="NAME", help="metrics that choose reports")
    parser.add_argument(
        "--judges",
        nargs="+",
        default=[],
        metavar="NAME",
        help="metrics that score the chosen reports (default: the same as --metrics)",
    )
    parser.add_argument(
        "--systems", nargs="+", default=[], metavar="[NAME=]FILE", help="reports of systems, scored in the same way"
    )
    parser.add_argument(
        "--protocol",
        choices=("default", "yu2023"),
        default="default",
        help="yu2023: --identical allowed --size 0, as in Yu et al. 2023; default: --identical left-out --size 200",
    )
    parser.add_argument(
        "--identical",
        choices=("left-out", "allowed"),
        help="whether a report with the same text as the reference may be chosen",
    )
    parser.add_argument(
        "--queries", type=int, default=50, help="number of studies to draw; 0 takes all (default %(default)s)"
    )
    parser.add_argument("--size", type=int, help="number of distinct reports to draw from the pool; 0 takes all")
    parser.add_argument(
        "--sheet",
        metavar="FOLDER",
        help="write raters/sheet.csv, a blinded sheet on which raters count errors, and key.csv, which raters "
        "must not see; `agree --dataset sheet:FOLDER` reads the completed copies raters/NAME.csv",
    )
    parser.add_argument("--json", metavar="FILE", help="write the scores as JSON")
    add_outputs(parser)
    add_trials(parser, FEW_TRIALS)
    add_lexicon(parser)
    add_running(parser)


def run(options: argparse.Namespace) -> None:
    """Retrieves, judges, prints the table and writes the retrieved pairs and the sheet."""
    from rrgmetrics.metaeval.oracle import PROTOCOLS, oracles
    from rrgmetrics.metaeval.rating_sheet import sheet_paths, write_sheet
    from rrgmetrics.reporting.retrieved import oracle_table

    protocol = PROTOCOLS[options.protocol]
    paths = system_paths(options.systems)
    inputs = [path for path in (options.references, options.pool, *paths.values()) if path]
    check_documents(options, inputs=inputs)
    if options.sheet:
        files.check_outputs(tables=sheet_paths(options.sheet), inputs=inputs, force=options.force)
    references = files.read_references(options.references)
    ids = references.study_ids or [str(number) for number in range(len(references.reports))]
    rows = zip(ids, references.reports, references.contexts, strict=True)
    found = oracles(
        {study: Pair(report, "", context) for study, report, context in rows},
        files.read_references(options.pool).reports if options.pool else references.reports,
        split_names(options.metrics),
        judges=split_names(options.judges),
        systems=_systems(paths, references, ids),
        identical=options.identical or protocol.identical,
        n_queries=options.queries,
        n_pool=protocol.n_pool if options.size is None else options.size,
        trials=options.trials,
        seed=options.seed,
        batch_size=options.batch_size,
        device=options.device,
        progress=not options.no_progress,
    )
    table = oracle_table(found)
    document = {"n_pool": found.n_pool, "left_out": dict(found.left_out), "scores": list(found.numbers())}
    print_and_write(options, [table], list(found.rows()), document)
    if options.sheet:
        sheet, key = write_sheet(options.sheet, found, force=options.force)
        print_line(f"Written: {sheet} for the raters; keep {key} from them", options)


def _systems(paths: dict[str, str], references: Reports, ids: list[str]) -> dict[str, dict[str, str]]:
    """By system its report of each study."""
    joined = {name: files.join(references, files.read_system(path)) for name, path in paths.items()}
    return {
        name: {study: pair.candidate for study, pair in zip(ids, each.pairs, strict=True)}
        for name, each in joined.items()
    }
