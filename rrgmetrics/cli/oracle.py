"""`rrgmetrics oracle`: for each study the report that a metric ranks best, and what other metrics say of it."""

from __future__ import annotations

import argparse

from rrgmetrics import files
from rrgmetrics.cli.arguments import SCORE_TRIALS, add_lexicon, add_running, add_trials, split_names
from rrgmetrics.cli.documents import add_outputs, check_documents, print_and_write
from rrgmetrics.reports import Pair


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics oracle`."""
    parser.set_defaults(run=run)
    parser.add_argument("references", metavar="REFERENCES", help="radiologists' reports: study_id, report")
    parser.add_argument("--pool", metavar="FILE", help="reports to retrieve from (default: the references)")
    parser.add_argument("--metrics", nargs="+", required=True, metavar="NAME", help="the oracles")
    parser.add_argument("--judges", nargs="+", default=[], metavar="NAME", help="who judges (default: the oracles)")
    parser.add_argument("--queries", type=int, default=50, help="studies drawn; 0 is all (default %(default)s)")
    parser.add_argument("--size", type=int, default=200, help="reports drawn of the pool; 0 is all (default 200)")
    parser.add_argument("--json", metavar="FILE", help="the scores as JSON")
    add_outputs(parser)
    add_trials(parser, SCORE_TRIALS)
    add_lexicon(parser)
    add_running(parser)


def run(options: argparse.Namespace) -> None:
    """Retrieves, judges, prints the table and writes the retrieved pairs."""
    from rrgmetrics.metaeval.oracle import oracles
    from rrgmetrics.present.retrieved import oracle_table

    inputs = [path for path in (options.references, options.pool) if path]
    check_documents(options, inputs=inputs)
    references = files.read_references(options.references)
    ids = references.study_ids or [str(number) for number in range(len(references.reports))]
    rows = zip(ids, references.reports, references.contexts, strict=True)
    found = oracles(
        {study: Pair(report, "", context) for study, report, context in rows},
        files.read_references(options.pool).reports if options.pool else references.reports,
        split_names(options.metrics),
        judges=split_names(options.judges),
        n_queries=options.queries,
        n_pool=options.size,
        trials=options.trials,
        seed=options.seed,
        batch_size=options.batch_size,
        device=options.device,
        progress=not options.no_progress,
    )
    table = oracle_table(found)
    scores = [
        {"oracle": oracle, "metric": metric, **found.score(oracle, metric)._asdict()}
        for oracle, judged in found.judged.items()
        for metric in judged
    ]
    print_and_write(options, [table], list(found.rows()), {"n_pool": found.n_pool, "scores": scores})
