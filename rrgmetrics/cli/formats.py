"""`--format`: what a command prints, for a terminal, a README, a paper or another program."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rrgmetrics import files
from rrgmetrics.cli.terminal import Terminal, paragraph
from rrgmetrics.reporting.documents import WRITERS, Part
from rrgmetrics.scoring.notice import leave_stand_ins_to_tables
from rrgmetrics.utils.printable import visible

TERMINAL = "terminal"
FORMATS = (TERMINAL, *WRITERS, "csv", "json")
HELP = (
    "format of the printed output (default: %(default)s): markdown and latex (booktabs) for a README or a paper, csv "
    "and json with all digits; with these, remarks go to standard error"
)


def add_format(parser: argparse.ArgumentParser) -> None:
    """Adds `--format`."""
    parser.add_argument("--format", choices=FORMATS, default=TERMINAL, help=HELP)


def mark_stand_ins(options: argparse.Namespace) -> None:
    """Leaves it to the tables of a command to say which metrics are stand-ins, where it prints tables."""
    if options.format in (TERMINAL, *WRITERS):
        leave_stand_ins_to_tables()


def print_line(line: str, options: argparse.Namespace | None = None) -> None:
    """Prints a line as it is, not wrapped, not coloured; on standard error beside a document for another program."""
    beside = getattr(options, "format", TERMINAL) != TERMINAL
    Terminal(stderr=beside, soft_wrap=True, highlight=False, markup=False, emoji=False).print(line)


def print_paragraph(text: str, options: argparse.Namespace | None = None, indent: str = "") -> None:
    """Prints sentences as `print_line` does; a terminal gets them in lines broken between words, a file in one.

    Args:
        text: The sentences.
        options: With `format`, or None.
        indent: The beginning of all lines but the first.
    """
    stream = sys.stdout if getattr(options, "format", TERMINAL) == TERMINAL else sys.stderr
    is_seen = Terminal(file=stream).is_terminal
    print_line(paragraph(text, Terminal(file=stream).width, indent) if is_seen else text, options)


def print_parts(
    options: argparse.Namespace,
    parts: Sequence[Part],
    rows: Iterable[Mapping[str, Any]],
    value: Any,
    lines: Iterable[str] = (),
) -> None:
    """Prints what a command has found in the format that was asked for.

    Args:
        options: With `format`.
        parts: Tables and paragraphs, for people.
        rows: Every number, a row each, for `csv`.
        value: All of it, for `json`.
        lines: Remarks.
    """
    if options.format == TERMINAL:
        console = Terminal(highlight=False, markup=False, emoji=False)
        for index, part in enumerate(parts):
            shown = paragraph(part, console.width) if isinstance(part, str) else part
            console.print(*([""] if index else []), shown, sep="\n")
    elif options.format == "csv":
        _print_document(files.csv_text(columns_of(rows)))
    elif options.format == "json":
        _print_document(files.json_text(value))
    else:
        _print_document(WRITERS[options.format](parts))
    for line in lines:
        print_paragraph(line, options, " " * (len(line) - len(line.lstrip())))


def _print_document(text: str) -> None:
    """Prints a text for another program: unchanged but for what a terminal would obey."""
    try:
        sys.stdout.write(visible(text))
        sys.stdout.flush()
    except BrokenPipeError:
        Terminal().on_broken_pipe()


def columns_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns; a row without a column's value has None."""
    listed = list(rows)
    return {name: [row.get(name) for row in listed] for name in dict.fromkeys(name for row in listed for name in row)}
