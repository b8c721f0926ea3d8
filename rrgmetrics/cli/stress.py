"""`rrgmetrics stress`: what metrics see, and what they do not."""

from __future__ import annotations

import argparse

from rrgmetrics import files
from rrgmetrics.cli.arguments import add_lexicon, add_report_columns, add_running, split_names
from rrgmetrics.cli.documents import add_outputs, check_documents, print_and_write
from rrgmetrics.cli.formats import print_line
from rrgmetrics.errors import InputError
from rrgmetrics.specs import PRESETS, SPECS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics stress`."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "reports",
        nargs="?",
        metavar="FILE",
        help="reports to change: CSV, JSONL, Parquet, text, the folder of a data set, or hub:<id>; "
        "written:chest_ct and written:mammography are invented reports with changes written by hand "
        "(default: 300 generated reports)",
    )
    parser.add_argument(
        "--metrics",
        nargs="+",
        default=list(SPECS),
        metavar="NAME",
        help="metrics or presets, as in `score`; MODULE:FUNCTION, a Python function of candidates and references; "
        f"or FOLDER#KEY, an evaluate module (default: all). Presets: {', '.join(PRESETS)}",
    )
    parser.add_argument(
        "--variants",
        metavar="FILE",
        help="use your own changed reports instead: a table with reference, candidate and level (0: equal "
        "content); prints two numbers, discrimination and robustness",
    )
    parser.add_argument(
        "--level", default="", metavar="COLUMN", help="column of --variants with the levels (default level)"
    )
    add_report_columns(parser)
    parser.add_argument(
        "--reports", dest="n_reports", type=int, default=None, metavar="N", help="use only the first N reports"
    )
    parser.add_argument(
        "--per-kind", type=int, default=100, help="number of pairs of each kind; 0 takes all (default %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed of the changes (default %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the numbers as JSON")
    parser.add_argument("--html", metavar="FILE", help="write a page that shows which changes each metric detects")
    add_outputs(parser)
    add_lexicon(parser)
    add_running(parser)


def run(options: argparse.Namespace) -> None:
    """Scores reports that are changed here, or that others have changed; prints and writes what was asked for."""
    if options.variants:
        _run_variants(options)
    else:
        _run_suite(options)


def _run_variants(options: argparse.Namespace) -> None:
    from rrgmetrics.metaeval.stress.scoring import read_metrics
    from rrgmetrics.metaeval.stress.variants import measure_variants, read_variants
    from rrgmetrics.reporting.variants import variants_table

    if options.reports or options.html:
        raise InputError(
            f"--variants cannot be combined with {'FILE' if options.reports else '--html'}: its "
            "reports are already changed."
        )
    names = split_names(options.metrics)
    read_metrics(names)
    check_documents(options, inputs=[options.variants])
    variants = read_variants(options.variants, level=options.level)
    found = measure_variants(
        names,
        variants,
        batch_size=options.batch_size,
        device=options.device,
        progress=not options.no_progress,
        seed=options.seed,
    )
    rows = [{"metric": name, **each.to_dict()} for name, each in found.items()]
    print_and_write(options, [variants_table(variants, found)], rows, rows)


def _run_suite(options: argparse.Namespace) -> None:
    from rrgmetrics.metaeval.stress import N_REPORTS, Suite, stress, written_suite
    from rrgmetrics.metaeval.stress.scoring import read_metrics
    from rrgmetrics.metaeval.stress.written import PREFIX
    from rrgmetrics.reporting.stress import COLUMNS, stress_tables
    from rrgmetrics.reporting.stress_page import stress_page
    from rrgmetrics.synthesis.sources import GENERATOR, load_collection

    if options.n_reports is not None and options.n_reports < 1:
        raise InputError(f"--reports is {options.n_reports}; take at least one report.")
    if options.per_kind < 0:
        raise InputError(f"--per-kind is {options.per_kind}; take a number of pairs, or 0 for all.")
    names = split_names(options.metrics)
    read_metrics(names)
    source = options.reports or f"{GENERATOR}{options.n_reports or N_REPORTS}"
    written = source.startswith(PREFIX)
    check_documents(options, pages=[options.html], inputs=[options.reports] if options.reports and not written else [])
    texts: list[str] | Suite
    if written:
        texts = written_suite(source.removeprefix(PREFIX), seed=options.seed)
    else:
        collection = load_collection(source, columns=options.column, id_column=options.id_column, seed=options.seed)
        texts, source = [report.text for report in collection.reports][: options.n_reports], collection.name
    report = stress(
        names,
        texts,
        source=source,
        per_kind=options.per_kind,
        seed=options.seed,
        batch_size=options.batch_size,
        device=options.device,
        progress=not options.no_progress,
    )
    narrow = list(stress_tables(report, COLUMNS))
    print_and_write(options, list(stress_tables(report)), list(report.rows()), report.to_dict(), narrow=narrow)
    if options.html:
        files.write_text(options.html, stress_page(report), force=options.force)
        print_line(f"Written: {options.html}", options)
