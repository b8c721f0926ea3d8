"""`rrgmetrics lexicon`: what the reader knows, checked and shown; `--lexicon`: a folder of the user's own."""

from __future__ import annotations

import argparse
from typing import Any

from rich.console import Console
from rich.table import Table

from rrgmetrics.errors import InputError
from rrgmetrics.reader.lexicon import CONCEPT_FILES, TABLE_FILES, load, use
from rrgmetrics.reader.lexicon.check import check, terms
from rrgmetrics.reader.terms import show_term


def add_lexicon(parser: argparse.ArgumentParser) -> None:
    """Adds `--lexicon`, which `main` obeys for every command that has it."""
    parser.add_argument(
        "--lexicon", metavar="DIR", help="YAML files that add to the reader's lexicon or override it; see CONTRIBUTING"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics lexicon`."""
    steps: Any = parser.add_subparsers(required=True, metavar="WHAT")

    summary = "say with file and line what is wrong with the lexicon"
    step = steps.add_parser("check", help=summary, description=summary.capitalize() + ".")
    step.set_defaults(run=_check)
    step.add_argument("files", nargs="*", metavar="FILES", help="files or folders; default: the lexicon in use")

    summary = "say what the reader knows of a term, and where it stands"
    step = steps.add_parser("show", help=summary, description=summary.capitalize() + ".")
    step.set_defaults(run=_show)
    step.add_argument("term", nargs="+", metavar="TERM", help="words of a report, or the key of a concept")
    add_lexicon(step)


def _check(options: argparse.Namespace) -> None:
    """Prints one line for each fault; without one, what the lexicon holds."""
    problems = check(options.files)
    for problem in problems:
        Console(soft_wrap=True, highlight=False, markup=False).print(str(problem))
    if problems:
        raise InputError(f"{len(problems)} fault{'s' * (len(problems) > 1)} in the lexicon; see above.")
    n_files = len(options.files) or len(CONCEPT_FILES) + len(TABLE_FILES)
    print(f"The lexicon is fine: {n_files} files, {len(load().concepts)} concepts, {len(terms()):,} terms.")


def _show(options: argparse.Namespace) -> None:
    """Prints what is known of a term, in two columns."""
    with use(options.lexicon):
        rows = show_term(" ".join(options.term))
    table = Table.grid(padding=(0, 2))
    for name, text in rows:
        table.add_row(name, text)
    Console(highlight=False, markup=False).print(table)
