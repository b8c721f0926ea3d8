"""`rrgmetrics lexicon`: what the reader knows, checked and shown."""

from __future__ import annotations

import argparse

from rrgmetrics.cli.arguments import add_lexicon, add_step
from rrgmetrics.cli.formats import print_line
from rrgmetrics.cli.terminal import Terminal
from rrgmetrics.errors import InputError
from rrgmetrics.reading.lexicon import DEFAULT_PACK, all_packs
from rrgmetrics.reporting.tables import Group, Table
from rrgmetrics.utils.text_format import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what `rrgmetrics lexicon` can do."""
    steps = parser.add_subparsers(required=True, metavar="WHAT")
    step = add_step(steps, "check", _check, "report errors in the lexicon, with file and line")
    step.add_argument("files", nargs="*", metavar="FILES", help="files or folders (default: the lexicon in use)")
    step = add_step(steps, "show", _show, "show the entries of a term in the lexicon, and their files")
    step.add_argument("term", nargs="+", metavar="TERM", help="a term as written in a report, or the key of a concept")
    step.add_argument("--pack", default=DEFAULT_PACK, help="kind of report: chest_xray (default), chest_ct, ...")
    add_lexicon(step)


def _check(options: argparse.Namespace) -> None:
    from rrgmetrics.reading.lexicon.checking import check

    faults = check(options.files)
    for fault in faults:
        print_line(str(fault))
    if faults:
        raise InputError(f"the lexicon has {counted(len(faults), 'fault')}, see above.")
    print_line(f"No fault in {' '.join(options.files) or 'the lexicon'}.")


def _show(options: argparse.Namespace) -> None:
    from rrgmetrics.labels.terms import show_term

    if options.pack not in all_packs():
        raise InputError(f"--pack={options.pack!r} is unknown; choose one of {', '.join(all_packs())}.")
    lines = tuple(show_term(" ".join(options.term), options.pack))
    table = Table(("", ""), (Group(lines),), whole=frozenset({0}), broken=frozenset({1}))
    Terminal(highlight=False, markup=False, emoji=False).print(table)
