"""`rrgmetrics radcliq`: RadCliQ refitted on rated pairs."""

from __future__ import annotations

import argparse
from pathlib import Path

from rrgmetrics import files
from rrgmetrics.cli.arguments import SCORE_TRIALS, add_columns, add_running, add_step, add_trials, column_names
from rrgmetrics.cli.formats import print_line
from rrgmetrics.cli.terminal import Terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what `rrgmetrics radcliq` can do."""
    steps = parser.add_subparsers(required=True, metavar="WHAT")
    parser = add_step(steps, "fit", _fit_radcliq, "fit RadCliQ's coefficients to errors that raters counted")
    parser.add_argument(
        "rated",
        metavar="RATED",
        help="pairs with a column of errors: .csv, .jsonl, .parquet; or NAME:PATH as `agree` takes it",
    )
    parser.add_argument("--output", required=True, metavar="FILE", help="coefficients, for radcliq@FILE: .json")
    parser.add_argument(
        "--metric", default="radcliq", metavar="NAME", help="what is combined: radcliq (default), radcliq@paper"
    )
    parser.add_argument(
        "--errors", default="errors", metavar="COLUMN", help="errors of the candidate (default %(default)s)"
    )
    parser.add_argument(
        "--case", default="", metavar="COLUMN", help="pairs that belong together (default: one reference)"
    )
    add_columns(parser)
    parser.add_argument(
        "--folds", type=int, default=0, help="parts of the cases, each predicted by the others; 0 leaves out each case"
    )
    add_trials(parser, SCORE_TRIALS)
    add_running(parser)


def _fit_radcliq(options: argparse.Namespace) -> None:
    from rrgmetrics.metaeval.composite import fit_radcliq
    from rrgmetrics.present.results import composite_table

    inputs = [options.rated] if Path(options.rated).exists() else []
    files.check_outputs(results=[options.output], inputs=inputs, force=options.force)
    fitted = fit_radcliq(
        options.rated,
        metric=options.metric,
        errors=options.errors,
        case=options.case,
        columns=column_names(options),
        folds=options.folds,
        trials=options.trials,
        seed=options.seed,
        batch_size=options.batch_size,
        device=options.device,
        progress=not options.no_progress,
    )
    files.write_json(options.output, fitted.to_dict(), force=options.force)
    Terminal().print(composite_table(fitted))
    ours = fitted.coefficients.parts == "default"
    name = f"radcliq@{options.output}" if ours else f"radcliq@paper?coefficients={options.output}"
    print_line(f"Score with it: {name}")
