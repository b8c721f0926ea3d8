"""Every file a user hands us or gets from us.

Reading: CSV (UTF-8, RFC 4180), JSONL, Parquet, and text files of one report a line. Columns are `study_id` (optional),
`reference`, `candidate` or `report`, and the optional `age`, `sex`, `indication`, spelt exactly so; other columns are
ignored. Texts stay texts: `NA`, `null` and `1` in a CSV are reports. Whatever is wrong is an InputError that names
file, line and column before anything is scored.

CSV records are split here in thirty lines. pandas and pyarrow guess types, missing values and quoting and lose the line
number; the csv module accepts a stray quote (`a 5" mass`) even when strict, reports no column, and stops at a cell
limit that only a process-wide setting can move. JSONL goes through json, Parquet through pyarrow in batches.

Writing: nothing on disk is replaced unless asked, nothing half-written is left, NaN (unscored) is an empty CSV cell, a
JSON null, a Parquet null. A spreadsheet runs a CSV cell that begins with = + - @ as a formula: such a text (an id, say)
gets an apostrophe before it in CSV; JSONL and Parquet hold it unchanged.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.reports import CONTEXT_KEYS, Context, Pair, check_report, parse_context

PathLike = str | os.PathLike[str]
Row = dict[str, Any]

COLUMNS = ("study_id", "reference", "candidate", "report", *CONTEXT_KEYS)
TABLE_SUFFIXES = (".csv", ".jsonl", ".parquet")
SHOWN = 5  # how many ids or columns a message lists
MAX_RECORD = 4_000_000  # characters of a CSV record that goes over several lines: beyond, its quote was never closed
MAX_BLANK = 1_000  # blank lines one after the other

_GENERATED = ("prediction", "predictions", "pred", "hypothesis", "hyp", "generated", "generated_report", "output")
_WRITTEN = ("ground_truth", "gt", "target", "gold", "label", "references", "reference_report", "original")
# What other tools call a column that is missing here, for the message only.
RENAMES = {
    "reference": (*_WRITTEN, "report", "text"),
    "candidate": (*_GENERATED, "report", "text"),
    "report": ("candidate", *_GENERATED, "text", "report_text", "reports", *_WRITTEN),
}
_SIGNS = (
    (b"PAR1", "Parquet"),
    (b"ARROW1", "an Arrow (Feather) file"),
    (b"\x1f\x8b", "gzip; unpack it first"),
    (b"PK\x03\x04", "a zip archive or an Excel workbook; unpack it, or export it as CSV UTF-8"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file; export it as CSV UTF-8"),
    (b"%PDF", "PDF"),
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
# One cell: in quotes (group 1, quotes inside doubled) or bare (group 2). Possessive, hence linear.
_CELL = re.compile(r'"([^"]*+(?:""[^"]*+)*+)"|([^",\r\n]*+)')
_COLUMN_BYTES = {name.encode() for name in COLUMNS}
_NOT_UTF8 = re.compile("[\udc80-\udcff]")  # how surrogateescape marks bytes that do not decode


@dataclass(frozen=True)
class Reports:
    """One report a study, as read from one file.

    Attributes:
        path: The file.
        study_ids: One id a report, all different; None if the file has none.
        reports: The texts.
        contexts: What is known of each patient.
    """

    path: Path
    study_ids: list[str] | None
    reports: list[str]
    contexts: list[Context]


@dataclass(frozen=True)
class Studies:
    """Pairs to score.

    Attributes:
        study_ids: One id a pair, all different; None if the files have none.
        pairs: Reference, candidate and context of each study.
    """

    study_ids: list[str] | None
    pairs: list[Pair]

    @property
    def references(self) -> list[str]:
        """The radiologists' reports."""
        return [pair.reference for pair in self.pairs]

    @property
    def candidates(self) -> list[str]:
        """The system's reports."""
        return [pair.candidate for pair in self.pairs]

    @property
    def contexts(self) -> list[dict[str, Any]]:
        """The contexts as `rrgmetrics.score` takes them."""
        return [pair.context._asdict() for pair in self.pairs]


def read_pairs(path: PathLike) -> Studies:
    """Reads `study_id?, reference, candidate, age?, sex?, indication?` from CSV, JSONL or Parquet.

    Args:
        path: The file; its suffix says what it is.

    Returns:
        The pairs, in the order of the file.

    Raises:
        InputError: The file cannot be used; names file, line and column.
    """
    path = Path(path)
    if path.suffix.lower() == ".txt":
        raise InputError(f"{path} holds one report a line; pass references and reports as two text files.")
    study_ids, (references, candidates), contexts = _read(path, ("reference",), ("candidate",))
    return Studies(study_ids, [Pair(*row) for row in zip(references, candidates, contexts, strict=True)])


def read_system(path: PathLike) -> Reports:
    """Reads a system's reports: `study_id?, report` from CSV, JSONL or Parquet, or a text file of one report a line."""
    study_ids, (reports,), contexts = _read(Path(path), ("report",))
    return Reports(Path(path), study_ids, reports, contexts)


def read_references(path: PathLike) -> Reports:
    """Reads radiologists' reports: `study_id?`, `report` or `reference`, `age?, sex?, indication?`; or a text file."""
    study_ids, (reports,), contexts = _read(Path(path), ("reference", "report"))
    return Reports(Path(path), study_ids, reports, contexts)


def rows_of(
    path: PathLike,
    columns: Collection[str],
    *,
    damaged: Callable[[InputError], None] | None = None,
    longest: int | None = None,
) -> Iterator[tuple[str, int, Row]]:
    """The rows of a file of any columns, as they are: `line` or `row`, its number, and its cells by column.

    Args:
        path: CSV, JSONL, Parquet or text; a text file has the column `report`.
        columns: Those that are needed; of a Parquet file only they are read, the others are there as None.
        damaged: Is told of a line that is no row (quotes, number of cells, JSON), and the next one is read; None: the
            first such line raises.
        longest: Characters of the longest record of a CSV or JSONL file, if whoever sends it is not trusted.

    Raises:
        InputError: The file cannot be used; names file and line.
    """
    path = Path(path)
    suffix = _check_file(path)
    if suffix == ".parquet":
        rows = _parquet_rows(path, columns)
    elif suffix == ".txt":
        rows = _text_rows(path)
    else:
        rows = (_csv_rows if suffix == ".csv" else _jsonl_rows)(path, damaged or _raise, longest)
    for number, row in rows:
        yield "row" if suffix == ".parquet" else "line", number, row


def _raise(error: InputError) -> None:
    raise error


def join(references: Reports, system: Reports) -> Studies:
    """Puts a system's reports beside the references, by `study_id` where both have one, else by order.

    Args:
        references: Radiologists' reports; their order and contexts are kept.
        system: The system's reports on the same studies, in any order if there are ids.

    Returns:
        The pairs, in the order of the references.

    Raises:
        InputError: Only one side has ids, an id is missing on either side, or without ids the lengths differ.
    """
    if references.study_ids is None or system.study_ids is None:
        _check_order(references, system)
        study_ids, candidates = None, system.reports
    else:
        study_ids = references.study_ids
        by_id = dict(zip(system.study_ids, system.reports, strict=True))
        _check_same_ids(references, system)
        candidates = [by_id[study_id] for study_id in study_ids]
    rows = zip(references.reports, candidates, references.contexts, strict=True)
    return Studies(study_ids, [Pair(*row) for row in rows])


def _check_order(references: Reports, system: Reports) -> None:
    """Without ids on both sides only the order is left, and only if there is nothing else to go by."""
    with_ids = [side for side in (references, system) if side.study_ids is not None]
    if with_ids:
        other = system if with_ids[0] is references else references
        raise InputError(
            f"{with_ids[0].path} has study_id and {other.path} has not; add study_id to it, or remove it from both "
            "if the studies are in the same order."
        )
    n_references, n_candidates = len(references.reports), len(system.reports)
    if n_references != n_candidates:
        raise InputError(
            f"{references.path} has {n_references:,} reports and {system.path} has {n_candidates:,}; without study_id "
            "they are joined by order and must have the same number."
        )


def _check_same_ids(references: Reports, system: Reports) -> None:
    problems = []
    for here, there in ((references, system), (system, references)):
        there_ids, here_ids = set(there.study_ids or ()), here.study_ids or []
        only_here = [study_id for study_id in here_ids if study_id not in there_ids]
        if only_here:
            problems.append(f"{len(only_here):,} only in {here.path} ({_some(only_here)})")
    if problems:
        raise InputError(f"The files do not hold the same studies. Values of study_id: {'; '.join(problems)}.")


def _some(values: Collection[object]) -> str:
    shown = [repr(value)[:60] for value in list(values)[:SHOWN]]
    return ", ".join(shown) + (f" and {len(values) - SHOWN:,} more" if len(values) > SHOWN else "")


# --- one row after the other ------------------------------------------------------------------------------------------


def _read(path: Path, *wanted: tuple[str, ...]) -> tuple[list[str] | None, list[list[str]], list[Context]]:
    """Reads ids, one list of texts for each of `wanted` (of whose names a file has exactly one), and contexts."""
    suffix = _check_file(path)
    unit = "row" if suffix == ".parquet" else "line"
    numbers: dict[str, int] = {}
    texts: list[list[str]] = [[] for _ in wanted]
    contexts: list[Context] = []
    names: list[str] = []
    keys: Collection[str] | None = None
    for number, row in _READERS[suffix](path):
        where = f"{path}, {unit} {number}"
        if keys is None or row.keys() != keys:
            names = _pick_columns(row, wanted, where if suffix == ".jsonl" else str(path))
            keys = row.keys()
        if bool(numbers) != ("study_id" in row) and contexts:
            raise InputError(
                f"{where}, column 'study_id': some rows have it and others not; give each row one, or none."
            )
        if "study_id" in row:
            study_id = _study_id(row["study_id"], where)
            if study_id in numbers:
                raise InputError(
                    f"{where}, column 'study_id': {study_id!r} stands on {unit} {numbers[study_id]} already."
                )
            numbers[study_id] = number
        for column, name in zip(texts, names, strict=True):
            check_report(row[name], f"{where}, column {name!r}")
            column.append(row[name])
        contexts.append(parse_context({key: row[key] for key in CONTEXT_KEYS if key in row}, where))
    if not contexts:
        raise InputError(f"{path} holds no reports{' below its column names' if suffix == '.csv' else ''}.")
    return list(numbers) or None, texts, contexts


def _study_id(value: object, where: str) -> str:
    """An id as text. Whole numbers are ids too: Parquet and JSONL keep them as numbers where CSV has their digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise InputError(f"{where}, column 'study_id' is {value!r}; an id is a text or a whole number.")
    if not value.strip():
        raise InputError(f"{where}, column 'study_id' is blank; give each study an id, or leave the column out.")
    check_report(value, f"{where}, column 'study_id'")
    return value


def _pick_columns(found: Collection[str], wanted: Sequence[tuple[str, ...]], where: str) -> list[str]:
    """For each of `wanted` the one name that the file has; InputError with the columns found and a way out."""
    for name in found:
        near = re.sub(r"[\s-]+", "_", name.strip().lower())
        if near in COLUMNS and name not in COLUMNS:
            raise InputError(f"{where} has a column {name!r}; rename it to {near!r}.")
    picked = []
    for names in wanted:
        there = [name for name in names if name in found]
        if len(there) > 1:
            raise InputError(f"{where} has the columns {_some(there)}; keep the one that holds the reports.")
        if not there:
            needed = " or ".join(map(repr, names))
            raise InputError(
                f"{where} has no column {needed}; it has: {_some(found)}. {_way_out(found, names)}".strip()
            )
        picked += there
    return picked


def _way_out(found: Collection[str], names: Sequence[str]) -> str:
    if len(found) == 1 and (match := re.search(r"[;\t|]", next(iter(found)))):
        separator = {"\t": "tabs", ";": "semicolons"}.get(match[0], repr(match[0]))
        return f"Its cells are separated by {separator}; write commas."
    for name in names:
        for other in found:
            if other.strip().lower() in RENAMES[name]:
                return f"Rename {other!r} to {name!r}."
    return ""


def _check_names(names: Sequence[str], where: str) -> None:
    twice = {name for name, count in Counter(names).items() if name and count > 1}
    if twice:
        raise InputError(f"{where} has two columns named {_some(sorted(twice))}; rename or remove one.")


# --- what a file is ---------------------------------------------------------------------------------------------------


def _check_file(path: Path) -> str:
    """The suffix of a file that can be opened and is what its name says."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder; name a file.")
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is not a regular file; save what it gives to a file first.")
        with path.open("rb") as file:
            head = file.read(4096).removeprefix(b"\xef\xbb\xbf")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist (looked in {Path.cwd()}).") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        raise InputError(f"{path} ends in {suffix or 'nothing'!r}; we read {', '.join(_READERS)}.")
    if not head:
        raise InputError(f"{path} is empty.")
    kind = _kind(head, suffix)
    if kind.startswith("UTF-"):
        raise InputError(f"{path} looks like {kind} text; we read UTF-8: {_iconv(path, kind.split()[0])}")
    if kind != {".parquet": "Parquet"}.get(suffix, ""):
        raise InputError(f"{path} is named {suffix} but looks like {kind or 'text'}; name it for what it is.")
    return suffix


def _kind(head: bytes, suffix: str) -> str:
    """What a file looks like from its first bytes; "" where that is text as its suffix says."""
    for sign, kind in _SIGNS:
        if head.startswith(sign):
            return kind
    if head[1::2].count(0) > len(head) // 4 or head[::2].count(0) > len(head) // 4:
        zeros_first = head[::2].count(0) > head[1::2].count(0)
        return "UTF-16BE" if zeros_first else "UTF-16LE"
    start = head.lstrip()[:200].lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml")):
        return "HTML or XML"
    if suffix == ".jsonl" and start.startswith(b"["):
        return "a JSON array; write one object a line, without [ ] around them"
    if (suffix == ".csv" and start.startswith((b"{", b"["))) or (suffix == ".txt" and start.startswith(b'{"')):
        return "JSON"
    if suffix == ".txt" and {cell.strip(b' "\r') for cell in start.partition(b"\n")[0].split(b",")} <= _COLUMN_BYTES:
        return "a CSV with column names"
    return ""


def _iconv(path: Path, encoding: str) -> str:
    return f"iconv -f {encoding} -t UTF-8 {path} > utf8{path.suffix}"


# --- one reader a format: (number, row) after (number, row) -----------------------------------------------------------


def _lines(path: Path, longest: int | None = None) -> Iterator[tuple[int, str]]:
    """Numbered lines with their ends (LF, CRLF or CR); InputError where one is too long, not UTF-8 or holds a NUL."""
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        lines: Iterable[str] = file if longest is None else iter(partial(file.readline, longest + 1), "")
        for number, line in enumerate(lines, 1):
            if longest is not None and len(line) > longest:
                raise InputError(f"{path}, line {number} has more than {longest:,} characters.")
            if "\0" in line:
                raise InputError(f"{path}, line {number} holds a NUL byte; it is damaged, or not UTF-8 text.")
            if not line.isascii() and (match := _NOT_UTF8.search(line)):
                start = match.start()
                near = (
                    line[max(0, start - 12) : start + 12].encode(errors="surrogateescape").decode("cp1252", "replace")
                )
                raise InputError(
                    f"{path}, line {number} is not UTF-8 (byte 0x{ord(match[0]) - 0xDC00:02X} in {near.strip()!r}); it "
                    f"looks like Windows-1252 (Latin-1): {_iconv(path, 'WINDOWS-1252')}"
                )
            yield number, line


def _text_rows(path: Path) -> Iterator[tuple[int, Row]]:
    for number, line in _lines(path):
        yield number, {"report": line.rstrip("\r\n")}


def _jsonl_rows(
    path: Path, damaged: Callable[[InputError], None] = _raise, longest: int | None = None
) -> Iterator[tuple[int, Row]]:
    blank = 0
    for number, line in _lines(path, longest):
        if line.isspace():
            blank += 1
            if blank > MAX_BLANK:
                raise InputError(f"{path}, line {number} ends {blank:,} blank lines; remove them.")
            continue
        blank = 0
        try:
            row = json.loads(line, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:
            what = f"is not a JSON object ({error})"
        else:
            what = "" if isinstance(row, dict) else f"is a JSON {type(row).__name__}"
        if what:
            damaged(InputError(f"{path}, line {number} {what}; write one object a line."))
            continue
        yield number, row


def _object(items: list[tuple[str, Any]]) -> Row:
    row = dict(items)
    if len(row) < len(items):
        name = Counter(name for name, _ in items).most_common(1)[0][0]
        raise ValueError(f"the key {name!r} stands twice")
    return row


def _parquet_rows(path: Path, columns: Collection[str] = COLUMNS) -> Iterator[tuple[int, Row]]:
    import pyarrow
    from pyarrow import parquet

    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            _check_names(names, str(path))
            ignored = dict.fromkeys(name for name in names if name not in columns)
            used = [name for name in names if name in columns] or names[:1]
            for batch in file.iter_batches(batch_size=4096, columns=used):
                for row in batch.to_pylist():
                    number += 1
                    yield number, {**ignored, **row}
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as Parquet, after row {number}: {error}") from None


def _csv_rows(
    path: Path, damaged: Callable[[InputError], None] = _raise, longest: int | None = None
) -> Iterator[tuple[int, Row]]:
    names: list[str] = []
    blank = 0
    for number, record in _csv_records(path, longest):
        is_blank = not record.strip("\r\n")
        if blank and (not is_blank or number - blank > MAX_BLANK):
            break
        if is_blank:
            blank = blank or number
            continue
        try:
            cells = _csv_cells(record, names, path, number)
        except InputError as error:
            if not names:
                raise
            damaged(error)
            continue
        if not names:
            names = cells
            _check_names(names, str(path))
        elif len(cells) != len(names):
            damaged(
                InputError(
                    f"{path}, line {number} has {len(cells)} cells for {len(names)} columns ({_some(names)}); a report "
                    "that holds a comma must stand in quotes."
                )
            )
        else:
            yield number, dict(zip(names, cells, strict=True))
    else:
        if not blank or len(names) > 1:  # blank lines at the end mean nothing, unless each line is one report
            return
    raise InputError(f'{path}, line {blank} is blank; remove it, or write "" for an empty report.')


def _csv_records(path: Path, longest: int | None = None) -> Iterator[tuple[int, str]]:
    """Records with the number of their first line. A record ends where a line does and its quotes are even."""
    start, lines, size, inside = 1, list[str](), 0, False
    for number, line in _lines(path, longest):
        start = start if lines else number
        lines.append(line)
        size += len(line)
        inside ^= line.count('"') % 2 == 1
        if not inside:
            yield start, "".join(lines)
            lines, size = [], 0
        elif size > (longest or MAX_RECORD):
            raise InputError(
                f"{path}, line {start} opens a quote that is never closed: {longest or MAX_RECORD:,} characters "
                "further on the record has not ended."
            )
    if lines:
        yield start, "".join(lines)


def _csv_cells(record: str, names: Sequence[str], path: Path, number: int) -> list[str]:
    """Splits one record after RFC 4180; InputError for a quote that does not belong where it stands."""
    if '"' not in record:
        return record.rstrip("\r\n").split(",")
    cells: list[str] = []
    position = 0
    while match := _CELL.match(record, position):
        cells.append(match[2] if match[1] is None else match[1].replace('""', '"'))
        after = record[match.end() : match.end() + 1]
        if after in ("", "\r", "\n"):
            return cells
        if after != ",":
            break
        position = match.end() + 1
    at = match.end() if match else position
    column = repr(names[len(cells) - 1]) if len(cells) <= len(names) else f"number {len(cells)}"
    where = f"{path}, line {number + record.count(chr(10), 0, at)}, column {column}"
    opened = number + record.count("\n", 0, position)
    if record[position] != '"':
        raise InputError(f'{where} holds a stray quote; put the cell in quotes and write each quote inside twice ("").')
    if at == position:
        raise InputError(f"{where} opens a quote that is never closed.")
    raise InputError(
        f"{where} goes on with {record[at : at + 20]!r} after a closing quote (the cell opens on line {opened}); close "
        'the quote where the cell ends, and write a quote inside a cell twice ("").'
    )


_READERS: Mapping[str, Callable[[Path], Iterator[tuple[int, Row]]]] = {
    ".csv": _csv_rows,
    ".jsonl": _jsonl_rows,
    ".parquet": _parquet_rows,
    ".txt": _text_rows,
}


# --- writing ----------------------------------------------------------------------------------------------------------


def check_outputs(
    *,
    tables: Iterable[PathLike | None] = (),
    results: Iterable[PathLike | None] = (),
    pages: Iterable[PathLike | None] = (),
    pictures: Iterable[PathLike | None] = (),
    replies: Iterable[PathLike | None] = (),
    inputs: Iterable[PathLike] = (),
    force: bool = False,
) -> None:
    """Checks, before any work, that everything can be written where it is asked for; makes missing folders.

    Args:
        tables: Paths for `write_table` (.csv, .jsonl, .parquet); None stands for an output not asked for.
        results: Paths for `write_json` (.json).
        pages: Paths for `write_text` (.html).
        pictures: Paths of plots (.png).
        replies: Paths of judges' replies (.jsonl).
        inputs: Files that are read and must not be written.
        force: Whether files on disk may be replaced.

    Raises:
        InputError: A suffix that does not fit, a path given twice or among the inputs, a file that exists, or a
            folder that cannot be written to.
    """
    read = {Path(path).resolve() for path in inputs}
    seen: set[Path] = set()
    kinds = (
        (tables, TABLE_SUFFIXES),
        (results, (".json",)),
        (pages, (".html",)),
        (pictures, (".png",)),
        (replies, (".jsonl",)),
    )
    for paths, suffixes in kinds:
        for path in (Path(path) for path in paths if path is not None):
            if path.suffix.lower() not in suffixes:
                raise InputError(f"{path} must end in {' or '.join(suffixes)}.")
            if path.resolve() in seen:
                raise InputError(f"{path} is asked for twice; give each output its own name.")
            if path.resolve() in read or any(_same_file(path, other) for other in read):
                raise InputError(f"{path} is one of the inputs; write the output elsewhere.")
            _check_free(path, force)
            _check_folder(path.parent)
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
    with _replacing(path, force) as part:
        writers[path.suffix.lower()](part, {name: _plain(values) for name, values in columns.items()})


def write_json(path: PathLike, value: Any, *, force: bool = False) -> None:
    """Writes mappings, sequences, arrays, texts and numbers as JSON; NaN becomes null, infinity the text "inf"."""
    write_text(path, json.dumps(_plain(value), ensure_ascii=False, indent=2, allow_nan=False) + "\n", force=force)


def write_text(path: PathLike, text: str, *, force: bool = False) -> None:
    """Writes a page or any other text as UTF-8; refuses to replace a file unless `force`."""
    with _replacing(Path(path), force) as part:
        part.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


@contextmanager
def _replacing(path: Path, force: bool) -> Iterator[Path]:
    """A file beside `path` to write to, which takes its place at the end, or vanishes on an error."""
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
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file.")
    if not force and (path.exists() or path.is_symlink()):
        raise InputError(f"{path} exists; pass --force (force=True) to replace it, or choose another name.")


def _check_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder {folder} cannot be made: {error.strerror}.") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"The folder {folder} cannot be written to: permission denied.")


def _same_file(one: Path, other: Path) -> bool:
    """Whether two names stand for one file, as hard links do."""
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
        writer = csv.writer(file)
        writer.writerow(map(_no_formula, columns))
        writer.writerows(map(_no_formula, row) for row in _rows(columns))


def _no_formula(cell: Any) -> Any:
    return "'" + cell if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def _write_jsonl(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in _rows(columns):
            file.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False, allow_nan=False) + "\n")


def _write_parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()}), path)
