"""`rrgmetrics tabulate`: systems, data sets and metrics as one table, from what `compare --json` wrote of each set."""

from __future__ import annotations

import argparse

from rrgmetrics.cli.documents import add_outputs, check_documents, print_and_write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics tabulate`."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="[DATASET=]FILE",
        help="files that `compare --json` or `score --json` wrote, one for each data set",
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers as JSON")
    add_outputs(parser)
    parser.add_argument("--force", action="store_true", help="overwrite existing files")


def run(options: argparse.Namespace) -> None:
    """Reads the runs, prints the table and writes what was asked for."""
    from rrgmetrics.cli.arguments import named_paths
    from rrgmetrics.reporting.across import number_rows, read_run, table_across

    paths = named_paths(options.runs, "data sets")
    check_documents(options, inputs=list(paths.values()))
    runs = [read_run(name, path) for name, path in paths.items()]
    rows = number_rows(runs)
    print_and_write(options, [table_across(runs)], rows, rows)
