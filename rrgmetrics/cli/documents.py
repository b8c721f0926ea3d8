"""Tables of numbers and documents that commands such as `agree` write with `--output` and `--json`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rrgmetrics import files
from rrgmetrics.cli.formats import TERMINAL, add_format, columns_of, print_line, print_parts
from rrgmetrics.reporting.documents import document
from rrgmetrics.reporting.tables import Table


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Adds `--format` and `--output`."""
    add_format(parser)
    parser.add_argument(
        "--output",
        nargs="+",
        default=[],
        metavar="FILE",
        help="write every number as a row (.csv, .jsonl, .parquet), or the tables as printed (.md, .tex)",
    )


def check_documents(
    options: argparse.Namespace,
    *,
    pictures: Iterable[Path] = (),
    pages: Iterable[str | None] = (),
    inputs: Iterable[str] = (),
) -> None:
    """Checks, before any work, that all can be written."""
    documents = [path for path in options.output if Path(path).suffix.lower() in files.DOCUMENT_SUFFIXES]
    files.check_outputs(
        documents=documents,
        tables=[path for path in options.output if path not in documents],
        results=[options.json],
        pictures=pictures,
        pages=pages,
        inputs=inputs,
        force=options.force,
    )


def print_and_write(
    options: argparse.Namespace,
    tables: Sequence[Table],
    rows: Sequence[Mapping[str, Any]],
    value: Any,
    *,
    narrow: Sequence[Table] | None = None,
) -> None:
    """Prints what was found as `--format` says, and writes what `--output` and `--json` ask for.

    Args:
        options: Of the command.
        tables: For people.
        rows: Every number, a row each.
        value: All of it, for JSON.
        narrow: The tables for a terminal; None: the same.
    """
    shown = tables if narrow is None or options.format != TERMINAL else narrow
    print_parts(options, shown, rows, value)
    for path in options.output:
        if Path(path).suffix.lower() in files.DOCUMENT_SUFFIXES:
            files.write_text(path, document(path, tables), force=options.force)
        else:
            files.write_table(path, columns_of(rows), force=options.force)
    if options.json:
        files.write_json(options.json, value, force=options.force)
    for path in (*options.output, options.json):
        if path:
            print_line(f"Written: {path}", options)
