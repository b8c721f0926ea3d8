"""`rrgmetrics compare`: systems on the same studies, with intervals and paired tests."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from rrgmetrics import files
from rrgmetrics.cli.arguments import add_scoring, add_trivial, metric_names, read_beside, score_with_trivial
from rrgmetrics.cli.output import print_conventions, print_unscored, print_worth, write_reports
from rrgmetrics.comparison import CORRECTIONS, compare_systems
from rrgmetrics.errors import InputError
from rrgmetrics.present.documents import document
from rrgmetrics.stats import TRIALS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics compare`."""
    parser.set_defaults(run=run)
    parser.add_argument("--references", required=True, metavar="FILE", help="radiologists' reports: study_id, report")
    parser.add_argument(
        "--systems", required=True, nargs="+", metavar="[NAME=]FILE", help="each system's reports: study_id, report"
    )
    parser.add_argument("--correction", choices=list(CORRECTIONS), default="holm", help="for all tests of the table")
    parser.add_argument("--all-keys", action="store_true", help="every key instead of each metric's headline")
    parser.add_argument(
        "--table", nargs="+", default=[], metavar="FILE", help="the table as Markdown or LaTeX (.md, .tex)"
    )
    add_trivial(parser)
    add_scoring(parser, trials=TRIALS)


def run(options: argparse.Namespace) -> None:
    """Scores the systems, tests their differences, prints the table and writes what was asked for."""
    from rrgmetrics.present.results import comparison_table

    names = metric_names(options)
    paths = _system_paths(options.systems)
    inputs = [options.references, *paths.values()]
    outputs = {"results": [options.json], "pages": [options.html], "documents": options.table}
    files.check_outputs(**outputs, inputs=inputs, force=options.force)
    references = files.read_references(options.references)
    systems = {name: files.join(references, files.read_system(path)) for name, path in paths.items()}
    beside = read_beside(options, options.references)
    results, worth = score_with_trivial(names, {name: each.pairs for name, each in systems.items()}, beside, options)
    rows = compare_systems(
        results, all_keys=options.all_keys, correction=options.correction, trials=options.trials, seed=options.seed
    )
    table = comparison_table(rows, n_pairs=len(references.reports), correction=options.correction)
    Console().print(table)
    for path in options.table:
        files.write_text(path, document(path, [table]), force=options.force)
    print_conventions(options, results)
    print_worth(worth)
    print_unscored(results)
    write_reports(options, results, systems, rows, worth)


def _system_paths(texts: Sequence[str]) -> dict[str, str]:
    """Name and file of each system; a file without a name gives its own."""
    paths: dict[str, str] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not equals or Path(text).exists():
            name, path = Path(text).stem, text
        if name in paths:
            raise InputError(f"Two systems are called {name!r}; name them: NAME=FILE.")
        paths[name] = path
    return paths
