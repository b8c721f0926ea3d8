"""`rrgmetrics register`: lets a bare `evaluate.load` find our modules."""

from __future__ import annotations

import argparse

from rrgmetrics.cli.formats import print_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics register`."""
    parser.set_defaults(run=run)
    parser.add_argument("--remove", action="store_true", help="take them away again")


def run(options: argparse.Namespace) -> None:
    """Registers the modules, or takes them away, and prints their names."""
    from rrgmetrics.hub import register

    names = register(remove=options.remove)
    print_line("No longer found:" if options.remove else "evaluate.load now finds, with or without a network:")
    for name in names:
        print_line(f"  {name}")
