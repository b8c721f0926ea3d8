"""`rrgmetrics radcliq`: RadCliQ refitted on rated pairs, and the errors that it predicts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rrgmetrics import files
from rrgmetrics.cli.arguments import (
    FEW_TRIALS,
    add_columns,
    add_running,
    add_step,
    add_trials,
    column_names,
    split_names,
    system_paths,
)
from rrgmetrics.cli.formats import add_format, print_line, print_parts
from rrgmetrics.cli.terminal import Terminal

MODEL = "radcliq?coefficients=yu2022"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what `rrgmetrics radcliq` can do."""
    steps = parser.add_subparsers(required=True, metavar="WHAT")
    parser = add_step(steps, "fit", _fit_radcliq, "fit RadCliQ's coefficients to the errors that raters counted")
    parser.add_argument(
        "rated",
        metavar="RATED",
        help="rated pairs with a column of error counts (.csv, .jsonl, .parquet), or NAME:PATH as in `agree`",
    )
    parser.add_argument(
        "--output", required=True, metavar="FILE", help="write the coefficients as .json, to use as radcliq@FILE"
    )
    parser.add_argument(
        "--metric",
        default="radcliq",
        metavar="NAME",
        help="configuration whose scores are combined: radcliq (default) or radcliq@paper",
    )
    parser.add_argument(
        "--errors", default="errors", metavar="COLUMN", help="column with the number of errors (default %(default)s)"
    )
    parser.add_argument(
        "--case",
        default="",
        metavar="COLUMN",
        help="column that groups pairs into cases (default: pairs with the same reference)",
    )
    parser.add_argument(
        "--features",
        nargs="+",
        default=[],
        metavar="KEY",
        help="scores to combine instead of RadCliQ's four, such as bleu#2 radgraph_f1#radcliq; the paper's two "
        "are radcliq#bleu radcliq#radgraph",
    )
    parser.add_argument(
        "--method",
        choices=("nnls", "ols"),
        default="nnls",
        help="nnls: non-negative least squares, so that a better score never adds errors (default); ols: "
        "ordinary least squares, as in the paper",
    )
    add_columns(parser)
    parser.add_argument(
        "--folds",
        type=int,
        default=0,
        help="number of cross-validation folds over cases; 0 leaves out one case at a time",
    )
    add_trials(parser, FEW_TRIALS)
    add_running(parser)
    _add_predict(steps)


def _add_predict(steps: Any) -> None:
    parser = add_step(
        steps, "predict", _predict, "predict the errors of systems, and of reports of other studies for comparison"
    )
    parser.add_argument(
        "--systems", required=True, nargs="+", metavar="[NAME=]FILE", help="the reports of each system, as in `compare`"
    )
    parser.add_argument(
        "--references",
        metavar="FILE",
        help="the radiologists' reports: a table with study_id, report (default: the references of the pairs)",
    )
    add_columns(parser)
    parser.add_argument(
        "--model",
        default=MODEL,
        metavar="NAME",
        help="model: radcliq@yu2022, radcliq@paper?coefficients=v0, or a file that `fit` wrote (default %(default)s)",
    )
    parser.add_argument("--output", metavar="FILE", help="write the predictions as .json")
    add_trials(parser, FEW_TRIALS)
    add_format(parser)
    add_running(parser)


def _fit_radcliq(options: argparse.Namespace) -> None:
    from rrgmetrics.metaeval.composite import fit_radcliq
    from rrgmetrics.reporting.results import composite_table

    inputs = [options.rated] if Path(options.rated).exists() else []
    files.check_outputs(results=[options.output], inputs=inputs, force=options.force)
    fitted = fit_radcliq(
        options.rated,
        metric=options.metric,
        features=split_names(options.features),
        method=options.method,
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
    names = {"default": f"radcliq@{options.output}", "paper": f"radcliq@paper?coefficients={options.output}"}
    parts = fitted.coefficients.parts
    if parts in names:
        print_line(f"Score with it: {names[parts]}")
    else:
        print_line(f"Measure its agreement: rrgmetrics agree --dataset NAME:PATH --metrics radcliq@{options.output}")
    print_line(f"Predict with it: rrgmetrics radcliq predict --model {options.output} --systems FILE")


def _predict(options: argparse.Namespace) -> None:
    from rrgmetrics.metaeval.predicted import predict_errors
    from rrgmetrics.reporting.results import prediction_table

    paths = system_paths(options.systems)
    inputs = [str(path) for source in (options.references, *paths.values()) if source for path in files.parts(source)]
    files.check_outputs(results=[options.output], inputs=inputs, force=options.force)
    predicted = predict_errors(
        paths,
        options.model,
        references=options.references,
        columns=column_names(options),
        trials=options.trials,
        seed=options.seed,
        batch_size=options.batch_size,
        device=options.device,
        progress=not options.no_progress,
    )
    if options.output:
        files.write_json(options.output, predicted.to_dict(), force=options.force)
    print_parts(options, [prediction_table(predicted)], predicted.rows(), predicted.to_dict())
