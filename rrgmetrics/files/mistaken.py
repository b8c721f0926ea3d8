"""Files where columns are expected, and columns where files are: the message is the command to type."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sized
from pathlib import Path
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.files.columns import check_header, obvious_columns, reports_of_systems, system_columns
from rrgmetrics.files.formats import COLUMNS
from rrgmetrics.files.read import placed_rows
from rrgmetrics.files.sources import is_source, name_of
from rrgmetrics.reports import columns_of, listed_values
from rrgmetrics.utils.printable import columns_option


def check_files(systems: Mapping[str, Any], references: Any) -> None:
    """Checks that the systems of `compare` are no columns of the references.

    Args:
        systems: The source of each system.
        references: Their source.

    Raises:
        InputError: All are columns of the references; with the command to type.
    """
    if not is_source(references):
        return
    names = [source for source in systems.values() if isinstance(source, str) and not _is_there(source)]
    if names and len(names) == len(systems) and {*names} <= {*columns_of_source(references)}:
        typed = " ".join(map(shlex.quote, _written(systems)))
        raise InputError(
            f"{names[0]!r} is a column of {references}, not a file; run: rrgmetrics compare {_quoted(references)} "
            f"--systems {typed} (in Python: compare({names!r}, {os.fspath(references)!r}))."
        )


def check_predictions(predictions: Any, references: Any) -> None:
    """Raises InputError if the predictions of `score` are a column of the references, with the command to type."""
    if not isinstance(predictions, str) or _is_there(predictions) or not is_source(references):
        return
    if predictions in columns_of_source(references):
        option = shlex.quote(f"candidate={predictions}")
        raise InputError(
            f"{predictions!r} is a column of {references}, not a file; run: rrgmetrics score {_quoted(references)} "
            f"--columns {option} (in Python: columns={{'candidate': {predictions!r}}})."
        )


def first_text(pairs: Any) -> tuple[int, str] | None:
    """The first text of a list or column of texts, which is no table of pairs, with its index; else None."""
    if not isinstance(pairs, Sized) or isinstance(pairs, str | Mapping) or columns_of(pairs) is not None:
        return None
    return next(((i, each) for i, each in enumerate(listed_values(pairs)) if isinstance(each, str)), None)


def check_columns_of(table: Any, systems: Mapping[str, str]) -> None:
    """Checks that the systems of `compare TABLE` are no files.

    Args:
        table: The table.
        systems: The column of each system.

    Raises:
        InputError: All are files; with the command to type.
    """
    files = [name for name in systems.values() if is_source(name) and _is_there(name)]
    if is_source(table) and len(files) == len(systems) and {*files}.isdisjoint(columns_of_source(table)):
        typed = " ".join(map(shlex.quote, _written(systems)))
        raise InputError(
            f"{files[0]} is a file, not a column of {table}; run: rrgmetrics compare --references {_quoted(table)} "
            f"--systems {typed}."
        )


def suggest_systems(table: str, named: Mapping[str, str]) -> str:
    """The command that compares the systems of a table; "" where its columns do not show them.

    Args:
        table: A file.
        named: Names of columns that the user gave, by field.
    """
    columns = columns_of_source(table)
    check_header(columns, ["reference", *(f"system_{n}" for n in range(1, len(columns)))], table)
    fields = {**obvious_columns(columns, [("reference",)], named), **named}
    by = system_columns(columns)
    if by and "candidate" in columns:
        return f"rrgmetrics compare {_quoted(table)} --by {shlex.quote(by[0])}"
    reports = reports_of_systems([name for name in columns if name not in (*COLUMNS, *fields.values())])
    if not reports or "candidate" in columns or "report" in columns:
        return ""
    option = f" --columns {columns_option(named)}" if named else ""
    return f"rrgmetrics compare {_quoted(table)} --systems {' '.join(map(shlex.quote, reports))}{option}"


def columns_of_source(source: Any) -> list[str]:
    """The columns of a source's first row; none where it cannot be read."""
    try:
        return [*next(iter(placed_rows(source, "", COLUMNS))).cells]
    except (InputError, StopIteration):
        return []


def _written(systems: Mapping[str, str]) -> list[str]:
    """The systems as they were typed: NAME=SOURCE where they have a name of their own."""
    return [source if name in (source, name_of(source)) else f"{name}={source}" for name, source in systems.items()]


def _quoted(source: Any) -> str:
    return shlex.quote(os.fspath(source))


def _is_there(source: str) -> bool:
    return Path(source).exists()
