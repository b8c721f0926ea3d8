"""`rrgmetrics compare`: systems on the same studies, with intervals and paired tests."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from rrgmetrics import files
from rrgmetrics.backends.reader import Readings
from rrgmetrics.cli.arguments import (
    add_columns,
    add_per_study,
    add_scoring,
    add_trivial,
    chosen_keys,
    column_names,
    metric_names,
    read_beside,
    system_paths,
)
from rrgmetrics.cli.config import add_config
from rrgmetrics.cli.formats import mark_stand_ins, print_line
from rrgmetrics.cli.hints import slow_metrics
from rrgmetrics.cli.output import print_scores, write_reports
from rrgmetrics.cli.publish import add_publishing, check_publishing, publish
from rrgmetrics.cli.weights import naming_missing_weights
from rrgmetrics.errors import InputError
from rrgmetrics.files.mistaken import columns_of_source, suggest_systems
from rrgmetrics.scoring.scope_filter import reasons_in_tables
from rrgmetrics.systems.comparison import compare
from rrgmetrics.systems.table import CORRECTIONS
from rrgmetrics.utils.progress import showing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics compare`."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "pairs",
        nargs="?",
        metavar="TABLE",
        help="one table of several systems: with a column of reports for each system, which --systems names, or with "
        "a row for each system and study (--by)",
    )
    parser.add_argument(
        "--systems",
        nargs="+",
        default=[],
        metavar="[NAME=]FILE",
        help="the reports of each system: a table with study_id, report, or pairs with study_id, reference, "
        "candidate; accepts the same files, folders, patterns and data sets as `rrgmetrics score`; the "
        "first system is the baseline. With TABLE: columns of it; with --by: values of that column (default: all)",
    )
    parser.add_argument(
        "--by",
        metavar="COLUMN",
        help="column of TABLE that names the system of each row; only studies that every system has are compared",
    )
    parser.add_argument(
        "--references",
        metavar="FILE",
        help="the radiologists' reports: a table with study_id, report (default: the references of the pairs)",
    )
    add_columns(parser)
    add_per_study(parser)
    parser.add_argument(
        "--correction",
        choices=list(CORRECTIONS),
        default="holm",
        help="correction of the p-values of the table (default: holm)",
    )
    add_trivial(parser)
    add_scoring(parser)
    add_publishing(parser)
    add_config(parser)


def run(options: argparse.Namespace) -> None:
    """Scores the systems, tests their differences, prints the table and writes what was asked for."""
    check_systems(options)
    names = metric_names(options)
    mark_stand_ins(options)
    systems: dict[str, str] = system_paths(options.systems)
    references = str(options.pairs or options.references or next(iter(systems.values())))
    if options.pairs:
        systems = {name: files.InTable(text) for name, text in systems.items()}
    sources = [references, *(() if options.pairs else systems.values())]
    inputs = [str(path) for source in sources for path in files.parts(source)]
    outputs = {"results": [options.json], "pages": [options.html], "documents": options.table}
    check_publishing(options)
    files.check_outputs(**outputs, inputs=inputs, force=options.force)
    readings = Readings()
    with naming_missing_weights(names), reasons_in_tables(), showing(not options.no_progress, slow_metrics):
        compared = compare(
            systems,
            options.pairs or options.references,
            metrics=names,
            columns=column_names(options),
            all_keys=options.all_keys,
            keys=chosen_keys(options),
            by=options.by or "",
            correction=options.correction,
            trials=options.trials,
            seed=options.seed,
            trivial=not options.no_trivial,
            **read_beside(options, references)._asdict(),
            batch_size=options.batch_size,
            device=options.device,
            workers=options.workers,
            missing=options.missing,
            per_study=options.per_study,
            text=options.text or "",
            readings=readings,
            progress=not options.no_progress,
        )
    print_scores(
        options,
        compared.results,
        compared.rows,
        n_pairs=compared.n_studies,
        correction=compared.correction,
        worth=compared.worth,
        ids=next(iter(compared.studies.values())).study_ids,
        announced=True,
        systems=compared.studies,
    )
    write_reports(
        options,
        compared.results,
        compared.studies,
        compared.rows,
        compared.worth,
        compared.correction,
        readings=readings,
    )
    for line in publish(options, compared.results, compared.studies):
        print_line(line, options)


def check_systems(options: argparse.Namespace) -> None:
    """Checks that the systems are files, or columns or rows of one table.

    Raises:
        InputError: They are neither or both; with the command to type where it is known.
    """
    if options.pairs and options.references and not options.systems:
        raise InputError(with_systems(options))
    if options.pairs and options.references:
        raise InputError("Give either a table with a column for each system, or --references; not both.")
    if options.by and not options.pairs:
        raise InputError(f"--by needs the table: rrgmetrics compare TABLE --by {options.by}.")
    if not options.systems and not options.by:
        command = suggest_systems(options.pairs, column_names(options)) if options.pairs else ""
        advice = (
            "give --systems with their files or with columns of TABLE, or --by with the column of TABLE that names the "
            "system of each row"
        )
        raise InputError(f"No system is named; {f'run: {command}' if command else advice}.")


def with_systems(options: argparse.Namespace, others: Sequence[str] = ()) -> str:
    """The message that `--systems` is missing before the systems, with the command to type.

    Args:
        options: With `pairs`, the first of the systems or their table.
        others: What follows it.
    """
    named = [options.pairs, *others]
    table = ["--references", options.references] if options.references else []
    if not table and not all(Path(name).is_file() for name in named):
        table = [named.pop(0)]  # the others are columns of it
    elif not table and "candidate" not in columns_of_source(named[0]):
        table = ["--references", named.pop(0)]
    return (
        f"--systems is missing before the systems; run: rrgmetrics compare {shlex.join([*table, '--systems', *named])}."
    )
