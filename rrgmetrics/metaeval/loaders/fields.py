"""Reads fields of data sets as published, with errors that name file, line and field."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.files import rows_of
from rrgmetrics.files.labels import some
from rrgmetrics.files.write import without_guard
from rrgmetrics.reports import Context, check_report, parse_context
from rrgmetrics.reports.missing import is_missing
from rrgmetrics.scorers.base import Array
from rrgmetrics.utils.text_format import by_number, counted

TABLES = (".csv", ".jsonl", ".parquet")
Row = tuple[str, dict[str, Any]]  # where a row is, and its cells by column


def find_file(path: str | Path, *names: str, what: str) -> Path:
    """The file of one of the names, at a path or in the folder there (or in the first of its folders that has it).

    Args:
        path: A file, whatever its name, or a folder.
        names: Names or patterns of it in a folder.
        what: To be given, for the message.

    Raises:
        InputError: Nothing there.
    """
    path = Path(path).expanduser()
    if path.is_file():
        return path
    if not path.exists():
        raise InputError(f"{path} does not exist; give {what}.")
    for name in names:
        for place in (*sorted(path.glob(name)), *sorted(path.glob(f"*/{name}"))):
            if place.is_file():
                return place
    raise InputError(f"{path} has no {' or '.join(names)}; give {what}.")


def tables_at(path: str | Path, *, what: str) -> list[Path]:
    """The table at a path, or those of the folder there and of its folders, sorted.

    Args:
        path: A file, whatever its name, or a folder.
        what: To be given, for the message.

    Raises:
        InputError: Nothing there, or no table.
    """
    path = Path(path).expanduser()
    if path.is_file():
        return [path]
    if not path.exists():
        raise InputError(f"{path} does not exist; give {what}.")
    files = [file for file in sorted([*path.glob("*"), *path.glob("*/*")]) if file.suffix.lower() in TABLES]
    if not files:
        raise InputError(f"{path} has no tables; give {what}.")
    return files


def rows(path: Path, columns: Collection[str] = ()) -> Iterator[Row]:
    """Yields the rows of a CSV, JSONL or Parquet file with where they stand.

    Args:
        path: The file.
        columns: Those that each row must have; of a Parquet file only they are read.
    """
    for unit, number, row in rows_of(path, columns):
        where = f"{path}, {unit} {number}"
        for name in columns:
            value_of(row, name, where)
        yield where, row


def rows_of_raters(path: Path, columns: Collection[str], rater: str | None) -> tuple[list[Row], int]:
    """The rows that name a rater, with where they are, and how many name none.

    Args:
        path: The file.
        columns: As for `rows`.
        rater: The column of raters; None: there is one rater, of all rows.

    Raises:
        InputError: No row is left.
    """
    all_rows = list(rows(path, columns))
    kept = [each for each in all_rows if rater is None or name_of(each[1], rater)]
    if not kept:
        raise InputError(f"{path} has no row that names a rater." if all_rows else f"{path} has no rows.")
    return kept, len(all_rows) - len(kept)


def column_names(path: Path) -> list[str]:
    """The columns of a file: those of its first row."""
    if path.suffix.lower() == ".parquet":
        from pyarrow import parquet

        return list(parquet.read_schema(path).names)
    for _, _, row in rows_of(path, ()):
        return list(row)
    raise InputError(f"{path} has no rows.")


def value_of(row: Mapping[str, Any], name: str, where: str) -> Any:
    """A field; InputError with the fields that are there."""
    if name not in row:
        raise InputError(f"{where} has no {name!r}; it has: {', '.join(map(str, row)) or 'nothing'}.")
    return row[name]


def first_of(row: Mapping[str, Any], names: Sequence[str], where: str) -> str:
    """The first of several names that a row has."""
    for name in names:
        if name in row:
            return name
    raise InputError(f"{where} has none of {', '.join(names)}; it has: {', '.join(map(str, row)) or 'nothing'}.")


def report_of(row: Mapping[str, Any], name: str, where: str) -> str:
    """A report as it was before `write_table` kept a spreadsheet from reading it as a formula."""
    text = value_of(row, name, where)
    check_report(text, f"{where}: {name}")
    return without_guard(str(text))


def context_of(value: Any, where: str) -> Context:
    """A patient's context."""
    return parse_context(value, f"{where}: context")


def mapping(value: Any, where: str) -> Mapping[str, Any]:
    """An object with named fields."""
    if not isinstance(value, Mapping):
        raise InputError(f"{where} is {type(value).__name__}; an object with named fields is needed.")
    return value


def sequence(value: Any, where: str) -> Sequence[Any]:
    """A list."""
    if not isinstance(value, list | tuple):
        raise InputError(f"{where} is {type(value).__name__}; a list is needed.")
    return value


def count_of(row: Mapping[str, Any], name: str, where: str) -> int:
    """A whole number from 0, which a CSV may hold as digits."""
    value = value_of(row, name, where)
    number = _number(value)
    if number is None or number < 0 or number != int(number):
        raise InputError(f"{where}: {name} is {value!r}; a whole number from 0 is needed.")
    return int(number)


def number_of(row: Mapping[str, Any], name: str, where: str, *, least: float = -math.inf) -> float:
    """A number; NaN for an empty cell, which says that nobody judged."""
    value = value_of(row, name, where)
    if is_missing(value) or not str(value).strip():
        return math.nan
    number = _number(value)
    if number is None or number < least:
        wanted = "a number" if least == -math.inf else f"a number from {least:g}"
        raise InputError(f"{where}: {name} is {value!r}; {wanted} is needed, or nothing if nobody judged.")
    return number


def name_of(row: Mapping[str, Any], column: str) -> str:
    """The name in a cell, without the spaces around it; "" for a blank cell."""
    return "" if is_missing(row[column]) else str(row[column]).strip()


def blank_notes(nameless: int, cells: Mapping[str, Sequence[float]]) -> list[str]:
    """Notes of what raters left blank.

    Args:
        nameless: Rows that name no rater, which are left out.
        cells: By column, what the raters wrote; NaN for a blank cell.

    Example:
        >>> blank_notes(1, {"errors": [1.0, math.nan]})
        ['1 row names no rater and is left out', "1 of 2 cells of 'errors' is blank: not judged"]
    """
    notes = []
    if nameless:
        words = by_number(nameless, "names no rater and is", "name no rater and are")
        notes.append(f"{counted(nameless, 'row')} {words} left out")
    by_count: dict[int, list[str]] = {}
    for column, own in cells.items():
        by_count.setdefault(sum(map(math.isnan, own)), []).append(column)
    for n, columns in by_count.items():
        if n:
            each = "each of " if len(columns) > 1 else ""
            words = by_number(n, "is", "are")
            notes.append(f"{n} of {len(cells[columns[0]])} cells of {each}{some(columns)} {words} blank: not judged")
    return notes


def names_in(value: Any, where: str) -> list[str]:
    """The names in a cell: a list, a list as JSON or Python writes it, or names between commas, semicolons or lines.

    Example:
        >>> names_in("['Add typo', 'False negation']", ""), names_in("Add typo; False negation", "")
        (['Add typo', 'False negation'], ['Add typo', 'False negation'])
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return []
    if not isinstance(value, str):
        listed = value.tolist() if hasattr(value, "tolist") else value
        return [str(each).strip() for each in sequence(listed, where)]
    names = re.split(r"[,;\n]", value.strip().removeprefix("[").removesuffix("]"))
    return [name for each in names if (name := each.strip(" \t\r'\""))]


def count_names(names: Sequence[Sequence[str]], prefix: str) -> dict[str, Array]:
    """How often each name stands in each list, `(1, n_lists)`, by the name as a target."""
    targets: dict[str, Array] = {}
    for number, own in enumerate(names):
        for name in own:
            target = f"{prefix}_{re.sub(r'[^a-z0-9]+', '_', name.lower()).strip('_')}"
            targets.setdefault(target, np.zeros((1, len(names))))[0, number] += 1
    return targets


def flag_of(row: Mapping[str, Any], name: str, where: str) -> bool:
    """A truth value, which a CSV may hold as a word."""
    value = value_of(row, name, where)
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    word = str(value).strip().lower().removesuffix(".0")
    if word not in words:
        raise InputError(f"{where}: {name} is {value!r}; True or False is needed.")
    return words[word]


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def text(file: Path) -> str:
    """A file's text."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 at byte {error.start}; save it as UTF-8.") from None


def json_of(file: Path) -> Any:
    """A file's JSON."""
    try:
        return json.loads(text(file))
    except json.JSONDecodeError as error:
        raise InputError(f"{file} is not JSON at line {error.lineno}: {error.msg}.") from None


def json_lines(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a JSONL file with where they stand."""
    for number, line in enumerate(text(file).split("\n"), 1):
        where = f"{file}, line {number}"
        if line.strip():
            try:
                yield where, mapping(json.loads(line), where)
            except json.JSONDecodeError as error:
                raise InputError(f"{where} is not JSON: {error.msg}; write one case a line.") from None
