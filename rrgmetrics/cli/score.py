"""`rrgmetrics score`: one system's reports against the radiologists'."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from rrgmetrics import files
from rrgmetrics.backends.reader import Readings
from rrgmetrics.cli import ray, shard
from rrgmetrics.cli.arguments import (
    add_pairs,
    add_scoring,
    add_trivial,
    chosen_keys,
    input_files,
    metric_names,
    read_beside,
    read_studies,
    score_with_trivial,
    study_ids,
)
from rrgmetrics.cli.config import add_config
from rrgmetrics.cli.formats import mark_stand_ins, print_line
from rrgmetrics.cli.hints import slow_metrics
from rrgmetrics.cli.output import print_scores, write_reports
from rrgmetrics.cli.publish import add_publishing, check_publishing, publish
from rrgmetrics.cli.weights import naming_missing_weights
from rrgmetrics.errors import InputError
from rrgmetrics.scoring.error_rows import ERROR_LISTS, ToldError
from rrgmetrics.scoring.results import Result, per_pair_columns
from rrgmetrics.scoring.scope_filter import reasons_in_tables
from rrgmetrics.specs.names import label, parse_name, shown
from rrgmetrics.systems.table import compare_systems
from rrgmetrics.utils.progress import STATISTICS, phase, showing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics score`."""
    parser.set_defaults(run=run)
    add_pairs(parser)
    parser.add_argument("--output", metavar="FILE", help="write the scores of each pair (.csv, .jsonl or .parquet)")
    parser.add_argument(
        "--errors", metavar="FILE", help="write each error that a metric names as a row (.csv, .jsonl or .parquet)"
    )
    parser.add_argument(
        "--summary",
        action="store_true",
        help="also print, for each metric that names errors, how often reports are free of each kind of error, and the "
        "typical errors",
    )
    parser.add_argument("--clusters", metavar="FILE", help="plot GREEN's clusters of typical errors (.png)")
    shard.add_arguments(parser)
    ray.add_arguments(parser)
    add_trivial(parser)
    add_scoring(parser)
    add_publishing(parser)
    add_config(parser)


def run(options: argparse.Namespace) -> None:
    """Scores the reports, prints the table and writes what was asked for."""
    names = metric_names(options)
    mark_stand_ins(options)
    called = {name: name for name in names}
    if options.summary:
        called = _with_verdicts(called, ERROR_LISTS, "--summary needs a metric that lists errors")
    if options.clusters:
        called = _with_verdicts(called, ["green"], "--clusters needs a GREEN metric")
    if options.errors:
        called = _with_verdicts(called, ERROR_LISTS, "--errors needs a metric that lists errors")
    if options.engine:
        return ray.run(options, names)
    if options.address or options.num_gpus:
        raise InputError("--address and --num-gpus need --engine ray.")
    if options.shard:
        return shard.run(options, names)
    if options.statistics:
        raise InputError("--statistics needs --shard K/N.")
    if options.stream:
        return shard.run_stream(options, names)
    check_publishing(options)
    files.check_outputs(
        tables=[options.output, options.errors],
        results=[options.json],
        pages=[options.html],
        pictures=[options.clusters],
        documents=options.table,
        inputs=input_files(options),
        force=options.force,
    )
    studies = read_studies(options)
    beside = read_beside(options, options.references or options.pairs)
    system = files.name_of(options.predictions or options.pairs)
    readings = Readings()
    keys, has_bar = chosen_keys(options), not options.no_progress
    with naming_missing_weights(names), reasons_in_tables(), showing(has_bar, slow_metrics):
        results, worth = score_with_trivial(
            called, {system: studies.pairs}, beside, options, studies.study_ids, readings
        )
        with phase(STATISTICS, shown=has_bar):
            rows = compare_systems(results, all_keys=True, keys=keys, trials=options.trials, seed=options.seed)
    lines = list(summary_lines(results[system])) if options.summary else []
    systems = {system: studies}
    said: dict[str, Any] = {"lines": lines, "ids": studies.study_ids, "announced": True, "systems": systems}
    print_scores(options, results, rows, n_pairs=len(studies.pairs), correction="none", worth=worth, **said)
    if options.output:
        columns: dict[str, Any] = {"study_id": study_ids(studies), **per_pair_columns(results[system])}
        files.write_table(options.output, columns, force=options.force)
    if options.errors:
        files.write_table(options.errors, _error_columns(results[system], study_ids(studies)), force=options.force)
    if options.clusters:
        from rrgmetrics.reporting.clusters import clusters, draw_clusters

        green = next(result for result in results[system].values() if result.spec.name == "green")
        draw_clusters(clusters(green.details["green_explained"]), options.clusters, force=options.force)
    write_reports(options, results, systems, rows, worth, readings=readings)
    for line in publish(options, results, systems):
        print_line(line, options)


def _with_verdicts(called: Mapping[str, str], metrics: Collection[str], purpose: str) -> dict[str, str]:
    """Makes metrics add what they say of each pair; InputError without any of them.

    Args:
        called: What is scored, by the name that it was asked for.
        metrics: Those that are to add something.
        purpose: Who needs it, for the message.
    """
    parsed = {asked: parse_name(name) for asked, name in called.items()}
    if all(name.spec.name not in metrics for name in parsed.values()):
        named = ", ".join(metrics)
        raise InputError(f"{purpose}: {named}; name one with --metrics, for example --metrics {next(iter(metrics))}.")
    return {asked: str(name.explaining() if name.spec.name in metrics else name) for asked, name in parsed.items()}


def _error_columns(results: Mapping[str, Result], study_ids: Sequence[str]) -> dict[str, Any]:
    """The errors that metrics name, as columns: a row an error, with its study and metric."""
    rows = [
        {"study_id": study_ids[row.pop("pair")], "metric": shown(name), **row}
        for name, result in results.items()
        if result.spec.name in ERROR_LISTS
        for row in result.errors_frame().to_dict("records")
    ]
    heads = ("study_id", "metric", *ToldError._fields)
    return {head: [row[head] for row in rows] for head in heads}


def summary_lines(results: Mapping[str, Result]) -> Iterator[str]:
    """Yields the summary of each metric that names errors."""
    from rrgmetrics.scoring.error_summary import summarise

    for name, result in results.items():
        metric = result.spec.name
        if metric in ERROR_LISTS:
            told, scores = result.details[f"{metric}_explained"], result.headline.tolist()
            summary = summarise(metric, told, scores) if result.n_unscored < result.n_pairs else "no pair is scored"
            yield f"{label(name, result.titled)}: {summary}"
