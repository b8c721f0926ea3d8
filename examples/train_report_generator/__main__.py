"""Trains a small report generator from scratch, with our metrics choosing the best checkpoint.

python -m examples.train_report_generator                       # draws its own radiographs; two CPU cores will do
python -m examples.train_report_generator --resume              # goes on from the last checkpoint
python -m examples.train_report_generator --config my.yaml      # images and reports of your own: folder.yaml
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from examples.train_report_generator.config import read_config
from rrgmetrics.errors import BackendError, InputError, MissingExtraError
from rrgmetrics.utils.extras import need

DRAWN = Path(__file__).with_name("drawn.yaml")


def main() -> None:
    """Command line of the example."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.train_report_generator",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--config", type=Path, default=DRAWN, help="a YAML file; default: drawn.yaml")
    parser.add_argument("--output", type=Path, default=Path("out/report-generator"), help="default: %(default)s")
    parser.add_argument("--steps", type=int, help="training steps, instead of the configuration's")
    parser.add_argument("--resume", action="store_true", help="resume from the last checkpoint in --output")
    options = parser.parse_args()
    try:
        run(options)
    except (InputError, BackendError, MissingExtraError) as error:
        sys.exit(f"Error: {error}")


def run(options: argparse.Namespace) -> None:
    """Trains and shows."""
    need("This example", "published,plots", "accelerate", "matplotlib", "torch", "transformers")
    config = read_config(options.config, {} if options.steps is None else {"steps": options.steps})
    planned = read_config(options.config, {}).steps
    if config.steps < planned / 2:
        few = f"--steps {config.steps} shows that everything runs, but is too few for a curve"
        Console(soft_wrap=True).print(f"{few}: {options.config.name} has {planned}.")
    checkpoints = sorted(options.output.glob("checkpoint-*"))
    if checkpoints and not options.resume:
        sys.exit(f"Error: {options.output} contains a run; resume it with --resume, or choose another --output.")
    if options.resume and not checkpoints:
        sys.exit(f"Error: {options.output} contains no checkpoint to resume from.")
    from examples.train_report_generator.summary import show  # these load torch
    from examples.train_report_generator.training import train

    show(train(config, options.output, resume=options.resume), list(config.metrics), options.output)


if __name__ == "__main__":
    main()
