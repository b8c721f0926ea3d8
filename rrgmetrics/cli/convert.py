"""`rrgmetrics convert`: a published RadGraph checkpoint as safetensors."""

from __future__ import annotations

import argparse
from pathlib import Path

from rrgmetrics.cli.formats import print_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics convert`."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "checkpoint",
        metavar="NAME",
        help="checkpoint to convert: radgraph-xl, radgraph, ..., an archive or its unpacked folder",
    )
    parser.add_argument("--output", required=True, metavar="DIR", help="output folder, to use as radgraph_f1@DIR")


def run(options: argparse.Namespace) -> None:
    """Converts the checkpoint and prints how to use it."""
    from rrgmetrics.backends.radgraph.checkpoint import convert

    folder = convert(options.checkpoint, Path(options.output))
    print_line(f"{folder}: use it as radgraph_f1@{folder}")
