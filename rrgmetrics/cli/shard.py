"""`rrgmetrics score --shard K/N`: one part of a job, for `rrgmetrics merge`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rrgmetrics import files
from rrgmetrics.cli.arguments import column_names, input_files, prepared, read_studies, study_ids
from rrgmetrics.cli.formats import print_line
from rrgmetrics.cli.output import print_totals
from rrgmetrics.errors import InputError
from rrgmetrics.files.frequencies import read_frequencies, write_frequencies
from rrgmetrics.reports import Pair
from rrgmetrics.reports.missing import REASON
from rrgmetrics.scorers.frequencies import Frequencies
from rrgmetrics.scoring.prepared import Metrics
from rrgmetrics.scoring.results import strange_lines, unscored_lines
from rrgmetrics.scoring.shards import check_shard, checksum_of, parse_shard, whole_of, write_part
from rrgmetrics.scoring.streaming import score_stream
from rrgmetrics.specs.names import uncounted

# What a part cannot say.
OF_THE_WHOLE = ("json", "html", "table", "keys", "summary", "clusters", "errors", "train", "train_column", "abnormal")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds `--shard` and `--statistics`."""
    parser.add_argument(
        "--shard",
        metavar="K/N",
        help="score only part K of N and write it to --output FILE.parquet, for `rrgmetrics merge`",
    )
    parser.add_argument(
        "--statistics",
        metavar="FILE",
        help="with --shard: .parquet file with the counts over all references that metrics such as cider need; "
        "created if it does not exist",
    )
    parser.add_argument(
        "--stream",
        action="store_true",
        help="score PAIRS of any size in constant memory and write to --output FILE.parquet; `rrgmetrics merge` "
        "adds intervals",
    )


def run(options: argparse.Namespace, names: Sequence[str]) -> None:
    """Scores one part of the pairs and writes it."""
    shard = parse_shard(options.shard)
    if options.stream:
        raise InputError("--shard and --stream exclude each other, since --shard loads its part into memory.")
    _check(options, "--shard")
    files.check_outputs(tables=[options.output], inputs=input_files(options), force=options.force)
    studies = read_studies(options)
    check_shard(shard, len(studies.pairs))
    whole = whole_of(files.name_of(options.predictions or options.pairs), studies)
    rows = shard.rows(len(studies.pairs))
    with prepared(names, options) as metrics:
        statistics = shared_statistics(metrics, studies.pairs, options.statistics)
        part: dict[str, Any] = {"statistics": statistics, "study_ids": study_ids(studies)[rows]}
        results = metrics.score_pairs(studies.pairs[rows], progress=not options.no_progress, **part)
    write_part(options.output, shard, whole, results, study_ids(studies)[rows], force=options.force)
    ids = study_ids(studies)[rows]
    of_system = {whole.system: results}
    for line in (*unscored_lines(of_system, ids, without=[REASON]), *strange_lines(of_system, ids)):
        print_line(line)
    print_line(f"Part {shard}: pairs {rows.start + 1:,} to {rows.stop:,} of {whole.n_pairs:,} in {options.output}")


def run_stream(options: argparse.Namespace, names: Sequence[str]) -> None:
    """Scores pairs as they come, writes their scores, and prints those of all."""
    _check(options, "--stream")
    if not options.pairs:
        raise InputError("--stream takes one file of pairs; --predictions and --references would be joined in memory.")
    files.check_outputs(tables=[options.output], inputs=input_files(options), force=options.force)
    totals = score_stream(
        names,
        options.pairs,
        output=options.output,
        columns=files.check_columns(column_names(options)),
        batch_size=options.batch_size,
        device=options.device,
        workers=options.workers,
        missing=options.missing,
        text=options.text or "",
        per_study=options.per_study,
        force=options.force,
        progress=not options.no_progress,
    )
    print_totals(options, totals)
    print_line(f"Scores of each pair: {options.output}; intervals: rrgmetrics merge {options.output}", options)


def _check(options: argparse.Namespace, flag: str) -> None:
    """Raises InputError for outputs that only the whole can give, or without a file for the pairs."""
    if not options.output or Path(options.output).suffix.lower() != ".parquet":
        raise InputError(f"{flag} needs --output FILE.parquet, which `rrgmetrics merge` reads.")
    for name in OF_THE_WHOLE:
        if getattr(options, name):
            raise InputError(
                f"--{name.replace('_', '-')} needs all pairs at once; leave out --{name.replace('_', '-')} or {flag}."
            )


def shared_statistics(metrics: Metrics, pairs: Sequence[Pair], path: str | None) -> Mapping[str, Frequencies]:
    """What metrics with corpus statistics count over all references: of the file, or counted now and written to it."""
    checksum = checksum_of(pairs)
    known = read_frequencies(path, checksum) if path and Path(path).exists() else {}
    needed = uncounted(metrics.names, known)
    if not needed:
        return known
    counted = known | metrics.only(needed).count_references(pair.reference for pair in pairs)
    if path:
        write_frequencies(path, counted, checksum, force=True)
    return counted
