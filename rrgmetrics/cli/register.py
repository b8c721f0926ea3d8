"""`rrgmetrics register`: lets a bare `evaluate.load` find our modules."""

from __future__ import annotations

import argparse

from rrgmetrics.cli.formats import print_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics register`."""
    parser.set_defaults(run=run)
    parser.add_argument("--remove", action="store_true", help="undo the registration")


def run(options: argparse.Namespace) -> None:
    """Registers the modules, or takes them away, and says in one line by which names they load."""
    from rrgmetrics.scoring.hub import ORGANISATION, register

    names = register(remove=options.remove)
    n_bare = sum("/" not in name for name in names)
    n_metrics = len(names) - n_bare
    if options.remove:
        print_line(f"evaluate.load no longer finds the {n_metrics} metrics of rrgmetrics by name.")
        return
    print_line(
        f'evaluate.load now finds the {n_metrics} metrics of rrgmetrics as "{ORGANISATION}/NAME", and {n_bare} of '
        'them also as "NAME" (the other names belong to Hugging Face), with or without a network.'
    )
