"""`rrgmetrics prefer`: chosen and rejected reports for DPO and KTO, from several candidates a study."""

from __future__ import annotations

import argparse

from rrgmetrics import files
from rrgmetrics.cli.arguments import add_columns, add_lexicon, add_running, column_names, split_names
from rrgmetrics.cli.terminal import Terminal
from rrgmetrics.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics prefer`."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "candidates",
        nargs="+",
        metavar="FILE",
        help="a row for each candidate: study_id, reference, candidate, prompt; age, sex, indication; several files "
        "are read as one: .csv, .jsonl, .parquet",
    )
    parser.add_argument("--metric", required=True, metavar="NAME", help="what is better: green, crimson#errors, ...")
    parser.add_argument("--output", required=True, metavar="FILE", help="the data: .jsonl, .parquet, .csv")
    parser.add_argument(
        "--form",
        choices=("dpo", "kto"),
        default="dpo",
        help="prompt, chosen, rejected (default); prompt, completion, label",
    )
    parser.add_argument(
        "--pairs",
        choices=("extremes", "best", "all"),
        default="extremes",
        help="of a study: the best with the worst candidate (default), with each other, or every two",
    )
    parser.add_argument(
        "--margin",
        type=float,
        default=0.0,
        help="least difference of the scores of a pair (default: any but equal ones)",
    )
    parser.add_argument(
        "--prompt",
        default="",
        metavar="TEXT",
        help="of rows without a column prompt; {indication} is the cell of a column",
    )
    parser.add_argument("--keep", nargs="+", default=[], metavar="COLUMN", help="columns that stay, such as image")
    parser.add_argument("--scores", action="store_true", help="add the scores")
    parser.add_argument("--conversational", action="store_true", help="prompts and reports as lists of messages")
    add_columns(parser)
    add_lexicon(parser)
    add_running(parser)


def run(options: argparse.Namespace) -> None:
    """Scores the candidates, writes the pairs and prints how many there are."""
    from rrgmetrics.reporting.results import preferences_table
    from rrgmetrics.training.preference_pairs import prefer

    inputs = [str(path) for source in options.candidates for path in files.parts(source)]
    files.check_outputs(tables=[options.output], inputs=inputs, force=options.force)
    if options.conversational and options.output.lower().endswith(".csv"):
        raise InputError(f"{options.output}: a CSV holds no messages; write .jsonl or .parquet.")
    preferences = prefer(
        options.candidates,
        options.metric,
        form=options.form,
        which=options.pairs,
        margin=options.margin,
        prompt=options.prompt,
        keep=split_names(options.keep),
        scores=options.scores,
        conversational=options.conversational,
        columns=column_names(options),
        batch_size=options.batch_size,
        device=options.device,
        progress=not options.no_progress,
    )
    if preferences.n_pairs:
        files.write_table(options.output, preferences.columns, force=options.force)
    Terminal().print(preferences_table(preferences, options.metric, options.output))
    if not preferences.n_pairs:
        raise InputError(f"No two candidates of a study are apart; {options.output} was not written.")
