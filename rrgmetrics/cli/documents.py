"""Tables of numbers and documents that commands such as `agree` write with `--output` and `--json`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rrgmetrics import files
from rrgmetrics.cli.output import print_line
from rrgmetrics.present.documents import document
from rrgmetrics.present.tables import Table


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Adds `--output`."""
    parser.add_argument(
        "--output",
        nargs="+",
        default=[],
        metavar="FILE",
        help="every number, a row each (.csv, .jsonl, .parquet); the tables as printed (.md, .tex)",
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


def write_documents(
    options: argparse.Namespace, tables: Sequence[Table], rows: Sequence[Mapping[str, Any]], value: Any
) -> None:
    """Writes what `--output` and `--json` ask for."""
    for path in options.output:
        if Path(path).suffix.lower() in files.DOCUMENT_SUFFIXES:
            files.write_text(path, document(path, tables), force=options.force)
        else:
            columns = list(dict.fromkeys(name for row in rows for name in row))
            files.write_table(path, {name: [row.get(name) for row in rows] for name in columns}, force=options.force)
    if options.json:
        files.write_json(options.json, value, force=options.force)
    for path in (*options.output, options.json):
        if path:
            print_line(f"Written: {path}")
