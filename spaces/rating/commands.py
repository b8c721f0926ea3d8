"""`rrgmetrics rating ...`: everything a rating project can do, without the web page."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rrgmetrics import files
from rrgmetrics.cli.arguments import add_step, column_names, split_names
from rrgmetrics.cli.formats import print_line
from rrgmetrics.cli.terminal import Terminal
from rrgmetrics.errors import InputError
from rrgmetrics.files.formats import read_text
from rrgmetrics.reporting.tables import Group, Table
from rrgmetrics.spaces.address import check_address
from rrgmetrics.spaces.database import place
from rrgmetrics.spaces.rating import export
from rrgmetrics.spaces.rating.project import ASKS, TITLE, NewProject, Project, create_project, open_project
from rrgmetrics.utils.text_format import counted

PORT = 7860


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the steps of `rrgmetrics rating` with their arguments."""
    steps = parser.add_subparsers(required=True, metavar="STEP")
    for name, (run, summary, add) in STEPS.items():
        step = add_step(steps, name, run, summary)
        step.add_argument(
            "project", metavar="PROJECT", help="a SQLite file, a PostgreSQL URL, or env:VARIABLE with one"
        )
        add(step)


def _init_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "table", nargs="?", metavar="TABLE", help="table with study_id, reference, candidate, source, ..."
    )
    parser.add_argument("--demo", action="store_true", help="use invented reports instead of a table")
    parser.add_argument(
        "--ask",
        nargs="+",
        default=["errors"],
        metavar="WHAT",
        help=f"what to ask for: {', '.join(ASKS)} (default: errors)",
    )
    parser.add_argument("--title", default=TITLE, help="title of the page (default: %(default)s)")
    parser.add_argument("--notes", metavar="FILE", help="text for the raters, shown beside the conventions")
    parser.add_argument("--seed", type=int, help="random seed of the raters' orders (default: random)")
    parser.add_argument("--columns", nargs="+", default=[], metavar="FIELD=COLUMN", help="column names of the table")


def _init(options: argparse.Namespace) -> None:
    made = _demo(options) if options.demo else _project_of_table(options)
    project = made.project
    print_line(f"{project.place}: {counted(project.n_studies, 'study', 'studies')}; asks for {', '.join(project.ask)}.")
    print_line(f"Host token, shown only once: {made.host_token}")


def _demo(options: argparse.Namespace) -> NewProject:
    from rrgmetrics.spaces.rating.demo import demo_project

    if options.table:
        raise InputError("Pass a table or --demo, not both.")
    return demo_project(place(options.project), seed=options.seed or 0)


def _project_of_table(options: argparse.Namespace) -> NewProject:
    if not options.table:
        raise InputError("Pass a table of study_id, reference, candidate and source, or --demo.")
    return create_project(
        place(options.project),
        options.table,
        ask=split_names(options.ask),
        title=options.title,
        notes=_text(options.notes) if options.notes else "",
        columns=column_names(options),
        seed=options.seed,
    )


def _text(file: str) -> str:
    return read_text(Path(file)).strip()


def _serve_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to serve at (default %(default)s)")
    parser.add_argument("--port", type=int, default=PORT, help="port to serve at (default %(default)s)")
    parser.add_argument(
        "--proxies",
        type=int,
        default=0,
        help="number of proxies in front of the page that forward the visitor's address",
    )


def serve(options: argparse.Namespace) -> None:
    """Serves the page of a project."""
    from rrgmetrics.spaces.rating import app

    check_address(options.host, options.port)
    project = _open(options)
    print_line(f"{project.place} at http://{options.host}:{options.port}/, for the host at /host; Ctrl+C stops it.")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    app.serve(project, host=options.host, port=options.port, proxies=options.proxies)


def _show(options: argparse.Namespace) -> None:
    project = _open(options)
    rows = tuple((row.rater, f"{row.finished} of {project.n_studies}", str(row.begun)) for row in project.progress())
    Terminal().print(Table(("rater", "finished", "begun"), (Group(rows),), title=project.title))


def _export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "ratings", nargs="?", metavar="RATINGS", help="write errors and ratings (.csv, .jsonl or .parquet)"
    )
    parser.add_argument("--preferences", metavar="FILE", help="write choices between candidates, in the same formats")
    parser.add_argument("--force", action="store_true", help="overwrite existing files")


def _export(options: argparse.Namespace) -> None:
    tables = {"ratings": (options.ratings, export.ratings), "preferences": (options.preferences, export.preferences)}
    if not any(file for file, _ in tables.values()):
        raise InputError("Name a file for the ratings, --preferences FILE, or both.")
    files.check_outputs(tables=[options.ratings, options.preferences], force=options.force)
    project = _open(options)
    made = {name: (file, columns(project)) for name, (file, columns) in tables.items() if file}
    for name, (file, columns) in made.items():
        files.write_table(file, columns, force=options.force)
        print_line(f"{file}: {counted(len(columns['study_id']), name.removesuffix('s'))} of finished studies")
    left = sum(row.begun - row.finished for row in project.progress())
    if left > 0:
        print_line(f"Left out: {counted(left, 'study', 'studies')} that a rater has started but not finished.")


def _form_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="file to write (.xlsx or .csv)")
    parser.add_argument(
        "--rater", required=True, metavar="NAME", help="name of the rater; each rater has a different order of studies"
    )
    parser.add_argument("--force", action="store_true", help="overwrite existing files")


def _form(options: argparse.Namespace) -> None:
    from rrgmetrics.spaces.rating import forms

    for file in forms.write_form(_open(options), options.rater, options.file, force=options.force):
        print_line(f"{file}")


def _read_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="completed forms")
    parser.add_argument("--force", action="store_true", help="replace answers that were given on the page")


def _read(options: argparse.Namespace) -> None:
    from rrgmetrics.spaces.rating import forms

    project = _open(options)
    for name, changed in forms.read_forms(project, options.files, force=options.force).items():
        rater = next(row for row in project.progress() if row.rater == name)
        saved = f"{counted(changed, 'answer')} saved" if changed else "no new answer; blank rows are skipped"
        print_line(f"{name}: {saved}; {rater.finished} of {project.n_studies} studies finished")


def _backup_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="that does not exist")


def _backup(options: argparse.Namespace) -> None:
    print_line(f"{_open(options).backup(options.file)} is a copy.")


def _token(options: argparse.Namespace) -> None:
    print_line(f"Host token, shown only once: {_open(options).new_host_token()}")


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    """Takes nothing but the project."""


def _open(options: argparse.Namespace) -> Project:
    return open_project(place(options.project))


Step = tuple[Callable[[argparse.Namespace], None], str, Callable[[argparse.ArgumentParser], Any]]
STEPS: Mapping[str, Step] = {
    "init": (_init, "create a project from a table, or from invented reports", _init_arguments),
    "serve": (serve, "show the project in a browser", _serve_arguments),
    "show": (_show, "show the progress of each rater", _no_arguments),
    "export": (_export, "write the answers of the raters, with the sources", _export_arguments),
    "form": (_form, "write a blinded spreadsheet for one rater, to use without a server", _form_arguments),
    "read": (_read, "read completed spreadsheets; nothing is saved if a cell is invalid", _read_arguments),
    "backup": (_backup, "make a consistent copy, even while the project is in use", _backup_arguments),
    "token": (_token, "make a new host token; the old one becomes invalid", _no_arguments),
}
