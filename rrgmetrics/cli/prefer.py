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
        help="files with one row for each candidate (.csv, .jsonl, .parquet), read as one table: study_id, "
        "reference, candidate, prompt and optionally age, sex, indication",
    )
    parser.add_argument(
        "--metric", required=True, metavar="NAME", help="metric that ranks the candidates: green, crimson#errors, ..."
    )
    parser.add_argument("--output", required=True, metavar="FILE", help="write the data (.jsonl, .parquet or .csv)")
    parser.add_argument(
        "--form",
        choices=("dpo", "kto"),
        default="dpo",
        help="columns of the output: dpo has prompt, chosen, rejected (default); kto has prompt, completion, label",
    )
    parser.add_argument(
        "--pairs",
        choices=("extremes", "best", "all"),
        default="extremes",
        help="pairs for each study: the best candidate with the worst (extremes, default), the best with each "
        "other candidate (best), or all pairs (all)",
    )
    parser.add_argument(
        "--margin",
        type=float,
        default=0.0,
        help="smallest difference between the scores of a pair (default: any difference)",
    )
    parser.add_argument(
        "--prompt",
        default="",
        metavar="TEXT",
        help="prompt for rows that have none; {indication} inserts the value of that column",
    )
    parser.add_argument(
        "--keep", nargs="+", default=[], metavar="COLUMN", help="columns to copy to the output, such as image"
    )
    parser.add_argument("--scores", action="store_true", help="add the scores to the output")
    parser.add_argument("--conversational", action="store_true", help="write prompts and reports as lists of messages")
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
        raise InputError(f"{options.output}: a CSV cannot hold messages; write .jsonl or .parquet.")
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
        raise InputError(f"No two candidates of a study differ in score; {options.output} was not written.")
