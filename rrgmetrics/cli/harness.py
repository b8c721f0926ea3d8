"""`rrgmetrics harness`: the tasks for lm-evaluation-harness and lmms-eval: where they lie, or others written."""

from __future__ import annotations

import argparse
from pathlib import Path

from rrgmetrics import files
from rrgmetrics.cli.arguments import add_writing, split_names
from rrgmetrics.cli.formats import print_line
from rrgmetrics.errors import InputError
from rrgmetrics.integrations.documents import DEFAULT_METRICS
from rrgmetrics.integrations.task_files import DATA, LOADERS, QUESTIONS, shipped, task_files
from rrgmetrics.scoring.prepared import parse_names

NEEDED = ("reference", "findings", "image")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `rrgmetrics harness`."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "harness", choices=list(QUESTIONS), help="harness whose task folder is printed, for its --include_path"
    )
    parser.add_argument("--output", metavar="DIR", help="write the tasks to DIR, with the options below")
    parser.add_argument(
        "--metrics", nargs="+", metavar="NAME", help=f"metrics of the tasks (default: {' '.join(DEFAULT_METRICS)})"
    )
    parser.add_argument(
        "--all-keys", action="store_true", help="report every key of each metric, not only its headline"
    )
    parser.add_argument(
        "--data",
        metavar="DATA",
        help=f"file or Hub id with the columns reference, and findings or image (default: {DATA})",
    )
    add_writing(parser)


def run(options: argparse.Namespace) -> None:
    """Prints where the tasks lie, or writes them."""
    asked = [name for name in ("metrics", "all_keys", "data") if getattr(options, name)]
    if not options.output:
        if asked:
            raise InputError(f"--{asked[0].replace('_', '-')} needs --output DIR, the folder to write the tasks to.")
        print_line(str(shipped(options.harness)))
        return
    metrics = list(parse_names(split_names(options.metrics or DEFAULT_METRICS)))
    data = _found(options.data) if options.data else DATA
    written = task_files(options.harness, metrics, data=data, all_keys=options.all_keys)
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in written.items():
        files.write_text(folder / name, text, force=options.force)
    print_line(str(folder))


def _found(data: str) -> str:
    """The file in full, or the Hub id; InputError for a file that is not there."""
    path = Path(data)
    if path.suffix in LOADERS:
        if not path.is_file():
            raise InputError(f"--data {data}: there is no such file.")
        _check_columns(path)
        return str(path.resolve())
    return data


def _check_columns(path: Path) -> None:
    """Looks at the first row; InputError where it lacks what the tasks ask for."""
    if path.suffix == ".json":  # an array, or a table in one of many forms
        return
    _, _, row = next(files.rows_of(path, NEEDED), ("", 0, {}))
    if "reference" not in row or not {"findings", "image"} & row.keys():
        raise InputError(
            f"--data {path} has the columns {', '.join(row) or '(none)'}; the tasks read 'reference', and 'findings' "
            "to summarise or 'image' to describe. Rename them."
        )
