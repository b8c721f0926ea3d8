"""Writes tables, results and pages: nothing on disk is replaced unless asked, nothing half-written is left.

NaN (unscored) is an empty CSV cell, a JSON null, a Parquet null. A spreadsheet runs a CSV cell that begins with = + - @
as a formula: such a text (an id, say) gets an apostrophe before it in CSV; JSONL and Parquet hold it unchanged.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TextIO

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.files.formats import PathLike
from rrgmetrics.reports.missing import log_lines
from rrgmetrics.utils.extras import need

TABLE_SUFFIXES = (".csv", ".jsonl", ".parquet")
DOCUMENT_SUFFIXES = (".md", ".tex")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # with what a spreadsheet begins a formula


def check_outputs(
    *,
    tables: Iterable[PathLike | None] = (),
    results: Iterable[PathLike | None] = (),
    pages: Iterable[PathLike | None] = (),
    pictures: Iterable[PathLike | None] = (),
    replies: Iterable[PathLike | None] = (),
    documents: Iterable[PathLike | None] = (),
    settings: Iterable[PathLike | None] = (),
    inputs: Iterable[PathLike] = (),
    force: bool = False,
) -> None:
    """Checks, before any work, that everything can be written where it is asked for; makes missing folders.

    Args:
        tables: Paths for `write_table` (.csv, .jsonl, .parquet); None: not requested.
        results: Paths for `write_json` (.json).
        pages: Paths for `write_text` (.html).
        pictures: Paths of plots (.png).
        replies: Paths of judges' replies (.jsonl).
        documents: Paths of tables to read, Markdown or LaTeX (.md, .tex).
        settings: Paths of evaluations (.yaml, .yml).
        inputs: Files that are read and must not be written.
        force: Whether files on disk may be replaced.

    Raises:
        InputError: A suffix that does not fit, a path given twice or among the inputs, a file that exists, or a
            folder that cannot be written to.
        MissingExtraError: A picture is asked for, and matplotlib is not installed.
    """
    pictures = [path for path in pictures if path is not None]
    if pictures:
        need(str(pictures[0]), "plots")
    read = {Path(path).resolve() for path in inputs}
    seen: set[Path] = set()
    kinds = (
        (tables, TABLE_SUFFIXES),
        (results, (".json",)),
        (pages, (".html",)),
        (pictures, (".png",)),
        (replies, (".jsonl",)),
        (documents, DOCUMENT_SUFFIXES),
        (settings, (".yaml", ".yml")),
    )
    for paths, suffixes in kinds:
        for path in (Path(path) for path in paths if path is not None):
            if path.suffix.lower() not in suffixes:
                raise InputError(f"{path} must end in {' or '.join(suffixes)}.")
            if path.resolve() in seen:
                raise InputError(f"{path} is named for two outputs; give each output its own name.")
            if path.resolve() in read or any(_same_file(path, other) for other in read):
                raise InputError(f"{path} is one of the inputs; choose another file for the output.")
            _check_free(path, force)
            check_folder(path.parent)
            seen.add(path.resolve())


def write_table(path: PathLike, columns: Mapping[str, Sequence[Any]], *, force: bool = False) -> None:
    """Writes columns of equal length, such as `study_id` and scores per pair, as CSV, JSONL or Parquet by suffix.

    Args:
        path: Where to; the folder must exist.
        columns: Name to values `(n_pairs,)`: texts, numbers, NaN for unscored.
        force: Whether a file on disk may be replaced.

    Raises:
        InputError: Unknown suffix, a file that exists, or a folder that cannot be written to.
    """
    path = Path(path)
    writers = {".csv": _write_csv, ".jsonl": _write_jsonl, ".parquet": _write_parquet}
    if path.suffix.lower() not in writers:
        raise InputError(f"{path} must end in {' or '.join(writers)}.")
    with replacing(path, force) as part:
        writers[path.suffix.lower()](part, {name: _plain(values) for name, values in columns.items()})


def write_json(path: PathLike, value: Any, *, force: bool = False) -> None:
    """Writes what `json_text` makes of a value."""
    write_text(path, json_text(value), force=force)


def json_text(value: Any) -> str:
    """Mappings, sequences, arrays, texts and numbers as JSON; NaN becomes null, infinity the text "inf"."""
    return json.dumps(_plain(value), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def csv_text(columns: Mapping[str, Sequence[Any]]) -> str:
    """Columns of equal length as CSV, as `write_table` writes them."""
    written = io.StringIO()
    _write_rows(written, {name: _plain(values) for name, values in columns.items()})
    return written.getvalue()


def write_text(path: PathLike, text: str, *, force: bool = False) -> None:
    """Writes a page or any other text as UTF-8; refuses to replace a file unless `force`."""
    with replacing(Path(path), force) as part:
        part.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


@contextmanager
def replacing(path: Path, force: bool) -> Iterator[Path]:
    """Yields a file beside `path` to write to, which takes its place at the end, or vanishes on an error.

    Raises:
        InputError: `path` is a folder, or exists and not `force`, or cannot be written.
    """
    _check_free(path, force)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        _check_free(path, force)
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from None
    finally:
        part.unlink(missing_ok=True)


def _check_free(path: Path, force: bool) -> None:
    try:
        is_folder, is_there = path.is_dir(), path.exists() or path.is_symlink()
    except OSError as error:  # a name that is too long
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None
    if is_folder:
        raise InputError(f"{path} is a folder; name a file.")
    if is_there and not force:
        raise InputError(f"{path} exists; pass force=True to replace it, or choose another name.")


def check_folder(folder: Path) -> None:
    """Makes a folder, and checks that files can be written there.

    Raises:
        InputError: It cannot be made, or not be written to.
    """
    is_new = not folder.is_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder {folder} cannot be created: {error.strerror}.") from None
    if is_new:
        log_lines([f"The folder {folder} did not exist; it has been created."])
    try:
        with TemporaryFile(dir=folder):  # permissions alone do not show a mount or a quota that refuses
            pass
    except OSError as error:
        raise InputError(f"The folder {folder} cannot be written to: {error.strerror}.") from None


def _same_file(one: Path, other: Path) -> bool:
    """Whether two names mean one file, as hard links do."""
    return one.exists() and other.exists() and one.samefile(other)


def _plain(value: Any) -> Any:
    """Python's own types for JSON: NaN as None, infinity as "inf" or "-inf"."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _rows(columns: Mapping[str, Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    return zip(*columns.values(), strict=True)


def _write_csv(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        _write_rows(file, columns)


def _write_rows(file: TextIO, columns: Mapping[str, Sequence[Any]]) -> None:
    writer = csv.writer(file)
    writer.writerow(map(_no_formula, columns))
    writer.writerows(map(_no_formula, row) for row in _rows(columns))


def without_guard(text: str) -> str:
    """A text of a CSV without the apostrophe that `write_table` puts before what a spreadsheet would run as a formula.

    Example:
        >>> without_guard("'- No effusion."), without_guard("'Stable' heart.")
        ('- No effusion.', "'Stable' heart.")
    """
    return text[1:] if text.startswith(tuple(f"'{sign}" for sign in FORMULA)) else text


def _no_formula(cell: Any) -> Any:
    return "'" + cell if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def _write_jsonl(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in _rows(columns):
            file.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False, allow_nan=False) + "\n")


def _write_parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()}), path)
