"""`rrgmetrics retrieve`: how well encoders find reports with the same findings, and pools to measure it on."""

from __future__ import annotations

import argparse

from rrgmetrics import files
from rrgmetrics.cli.arguments import add_running, add_step, add_trials, add_writing, split_names
from rrgmetrics.cli.documents import add_outputs, check_documents, print_and_write
from rrgmetrics.cli.formats import print_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what `rrgmetrics retrieve` can do."""
    steps = parser.add_subparsers(required=True, metavar="WHAT")
    measure = add_step(steps, "measure", _measure, "measure P@k, nDCG@k and mAP of encoders on a labelled pool")
    _add_pool(measure)
    measure.add_argument(
        "--encoders",
        nargs="+",
        default=["bundled", "minilm"],
        metavar="NAME",
        help="encoders: bundled, minilm, a Hub id or a folder; NAME#N takes layer N (default: bundled and minilm)",
    )
    measure.add_argument(
        "--queries",
        type=int,
        default=0,
        metavar="N",
        help="number of query reports to draw with each seed; results are mean ± SD over seeds (default: every "
        "report is a query once)",
    )
    measure.add_argument(
        "--seeds", type=int, default=10, metavar="N", help="number of draws of --queries (default %(default)s)"
    )
    measure.add_argument("--json", metavar="FILE", help="write the numbers as JSON")
    add_outputs(measure)
    add_trials(measure)
    add_running(measure)
    make = add_step(steps, "pool", _make, "draw a pool with the same number of reports for each label")
    _add_pool(make)
    make.add_argument(
        "--output",
        required=True,
        metavar="FILE",
        help="write the pool with the columns report, labels (.csv, .jsonl or .parquet)",
    )
    make.add_argument(
        "--per-label", type=int, default=200, help="number of reports for each label (default %(default)s)"
    )
    make.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="LABEL",
        help="labels to include (default: all labels with enough reports)",
    )
    make.add_argument("--several", action="store_true", help="also include reports with several labels")
    make.add_argument("--seed", type=int, default=0, help="random seed of the draw (default %(default)s)")
    add_writing(make)


def _add_pool(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pool", metavar="POOL", help="reports with labels (.csv, .jsonl or .parquet)")
    parser.add_argument(
        "--text",
        default="report",
        metavar="COLUMN",
        help="column with the report; a,b joins two columns (default %(default)s)",
    )
    parser.add_argument(
        "--labels",
        default="labels",
        metavar="COLUMN",
        help="column with the labels, separated by semicolons (default %(default)s)",
    )


def _measure(options: argparse.Namespace) -> None:
    from rrgmetrics.metaeval.retrieval import read_pool, retrieve
    from rrgmetrics.reporting.retrieved import retrieval_table

    check_documents(options, inputs=[options.pool])
    pool = read_pool(options.pool, text=options.text, labels=options.labels)
    found = retrieve(
        pool,
        split_names(options.encoders),
        queries=options.queries,
        seeds=options.seeds,
        trials=options.trials,
        seed=options.seed,
        batch_size=options.batch_size,
        device=options.device,
    )
    table = retrieval_table(pool, found)
    rows = [
        {
            "encoder": each.encoder,
            "score": key,
            "value": value.value,
            "low": value.low,
            "high": value.high,
            "n": value.n,
            **({"sd": each.deviations[key]} if each.deviations else {}),
        }
        for each in found
        for key, value in each.scores.items()
    ]
    about = [{"encoder": each.encoder, "facts": each.facts, "n_left_out": each.n_left_out} for each in found]
    drawn = {"n_queries": options.queries, "n_seeds": options.seeds} if options.queries else {}
    print_and_write(
        options, [table], rows, {"n_reports": len(pool.reports), **drawn, "encoders": about, "scores": rows}
    )


def _make(options: argparse.Namespace) -> None:
    from rrgmetrics.metaeval.retrieval import SEPARATOR, make_pool, read_pool

    files.check_outputs(tables=[options.output], inputs=[options.pool], force=options.force)
    whole = read_pool(options.pool, text=options.text, labels=options.labels)
    pool = make_pool(
        whole, per_label=options.per_label, labels=options.only, several=options.several, seed=options.seed
    )
    columns = {"report": pool.reports, "labels": [SEPARATOR.join(sorted(own)) for own in pool.labels]}
    files.write_table(options.output, columns, force=options.force)
    counts = ", ".join(f"{label} {count}" for label, count in sorted(pool.counts.items()))
    print_line(f"{options.output}: {len(pool.reports):,} reports ({counts})")
