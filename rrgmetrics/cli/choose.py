"""`rrgmetrics choose`: asks a model which of two candidates is better, and holds it against radiologists' choices."""

from __future__ import annotations

import argparse

from rrgmetrics import files
from rrgmetrics.cli.arguments import add_columns, add_running, add_trials, column_names
from rrgmetrics.cli.formats import add_format, print_parts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics choose`."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "choices",
        metavar="FILE",
        help="table of choices (.csv, .jsonl, .parquet) with the columns study_id, rater, reference, "
        "candidate_a, candidate_b, choice, confidence",
    )
    parser.add_argument(
        "--engine",
        required=True,
        metavar="ENGINE",
        help="the model to ask, with the same options as judges: openai:<model>?base_url=..., hf:<id>, replies:<file>",
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers and every choice as JSON")
    add_columns(parser)
    add_trials(parser)
    add_format(parser)
    add_running(parser)


def run(options: argparse.Namespace) -> None:
    """Asks in both orders, prints the accuracy and writes what was asked for."""
    from rrgmetrics.metaeval.direct_preference import ask_preferences
    from rrgmetrics.metaeval.loaders.preferences import load_preferences
    from rrgmetrics.reporting.preferences import direct_table

    files.check_outputs(results=[options.json], inputs=[options.choices], force=options.force)
    data = load_preferences(options.choices, columns=column_names(options))
    found = ask_preferences(
        data,
        options.engine,
        trials=options.trials,
        seed=options.seed,
        batch_size=options.batch_size,
        device=options.device,
        progress=not options.no_progress,
    )
    if options.json:
        files.write_json(options.json, found.to_dict(), force=options.force)
    rows = [{**each._asdict(), "strict": each.strict.value, "half": each.half.value} for each in found.accuracies]
    print_parts(options, [direct_table(data, found)], rows, found.to_dict())
