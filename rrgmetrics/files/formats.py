"""What a file is, and its rows one after the other: CSV, JSONL, Parquet, text.

CSV records are split here in thirty lines. pandas and pyarrow guess types, missing values and quoting and lose the line
number; the csv module accepts a stray quote (`a 5" mass`) even when strict, reports no column, and stops at a cell
limit that only a process-wide setting can move. JSONL goes through json, Parquet through pyarrow in batches. What is
compressed (`.csv.gz`, `.jsonl.zst`) is unpacked as it is read.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shlex
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from rrgmetrics.errors import InputError
from rrgmetrics.files.labels import check_names, some
from rrgmetrics.files.limits import MAX_LINE, room_of, too_large
from rrgmetrics.reports import CONTEXT_KEYS

PathLike = str | os.PathLike[str]
Row = dict[str, Any]

COLUMNS = ("study_id", "reference", "candidate", "report", *CONTEXT_KEYS)
MAX_RECORD = 4_000_000  # characters of a CSV record that goes over several lines: beyond, its quote was never closed
MAX_BLANK = 1_000  # blank lines one after the other
COMPRESSED = (".gz", ".zst")
ON_HUB = "hub:"  # how the name of a data set on the Hub begins
_SIGNS = (
    (b"PAR1", "Parquet"),
    (b"ARROW1", "an Arrow (Feather) file"),
    (b"\x1f\x8b", "gzip; unpack it, or add .gz to its name"),
    (b"\x28\xb5\x2f\xfd", "Zstandard; unpack it, or add .zst to its name"),
    (b"PK\x03\x04", "a zip archive or an Excel workbook; unpack it, or export it as CSV UTF-8"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file; export it as CSV UTF-8"),
    (b"%PDF", "PDF"),
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_IMAGES = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
)
_BINARY = "binary data"
_ARRAY = "a JSON array"
_CONTROL = bytes({*range(1, 32), 127} - {*b"\t\n\v\f\r\x1b"})  # rare in texts; NUL has its own error
_ADVICE = {
    ".json": "Write one object a line and name it .jsonl",
    ".tsv": "Write commas between cells and name it .csv",
    ".tab": "Write commas between cells and name it .csv",
    ".xlsx": "Export it as CSV UTF-8",
    ".xls": "Export it as CSV UTF-8",
}
_JSON_LINES = (  # what a JSON file begins with, and the Python that writes it as JSONL
    (re.compile(rb"\s*\["), "print(*map(json.dumps, json.load(sys.stdin)), sep=chr(10))"),
    (
        re.compile(rb'\s*\{\s*"[^"]*"\s*:\s*"'),  # a report for each study id
        "[print(json.dumps(dict(study_id=i, report=text))) for i, text in json.load(sys.stdin).items()]",
    ),
)
# One cell: in quotes (group 1, quotes inside doubled) or bare (group 2). Possessive, hence linear.
_CELL = re.compile(r'"([^"]*+(?:""[^"]*+)*+)"|([^",\r\n]*+)')
_QUOTED = re.compile(r'"[^"]*+"')
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "'|'"}  # of cells, in the place of commas
_COLUMN_BYTES = {name.encode() for name in COLUMNS}
_NOT_UTF8 = re.compile("[\udc80-\udcff]")  # how surrogateescape marks bytes that do not decode


def rows_of(
    path: PathLike,
    columns: Collection[str],
    *,
    damaged: Callable[[InputError], None] | None = None,
    longest: int | None = None,
) -> Iterator[tuple[str, int, Row]]:
    """The rows of a file of any columns, as they are: `line` or `row`, its number, and its cells by column.

    Args:
        path: CSV, JSONL, Parquet or text, or one of these compressed; a text file has the column `report`.
        columns: Those that are needed; of a Parquet file only they are read, the others are there as None.
        damaged: Is called for a line that is no row (quotes, number of cells, JSON), and the next is read; None: the
            first such line raises.
        longest: Characters of the longest record of a CSV or JSONL file, if whoever sends it is not trusted; nothing
            is unpacked then. None: `rrgmetrics.files.limits`.

    Raises:
        InputError: The file cannot be used; names file and line.
    """
    path = Path(path)
    if longest is not None and path.suffix.lower() in COMPRESSED:
        raise InputError(f"{path} is compressed; unpack it first.")
    suffix = check_file(path)
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


def separated_by(names: str) -> str:
    """What separates a line of columns' names in the place of commas, in words; "" if commas do, or nothing does.

    Example:
        >>> separated_by('"id";"findings, impression"'), separated_by("id,a;b")
        ('semicolons', '')
    """
    bare = _QUOTED.sub("", names)
    return next((said for mark, said in _SEPARATORS.items() if mark in bare and "," not in bare), "")


def suffix_of(path: Path) -> str:
    """What a file is, by its name: `.csv` of `pairs.csv` and of `pairs.csv.gz`."""
    name = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return name.suffix.lower()


def _opened(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked where its name says that it is compressed."""
    if path.suffix.lower() == ".zst":
        import pyarrow

        unpacked: IO[bytes] = pyarrow.input_stream(str(path), compression="zstd")
        return unpacked
    return cast(IO[bytes], gzip.GzipFile(path)) if path.suffix.lower() == ".gz" else path.open("rb")


def working_folder() -> str:
    """The folder that relative names start from, for messages; it may have been deleted."""
    try:
        return os.getcwd()
    except OSError:
        return "a working directory that was deleted"


def _column_advice(path: Path) -> str:
    """What to type where a file was named with one of its columns: `gen.csv:hyp`; else an empty text."""
    file, _, column = str(path).rpartition(":")
    if not file or not column or not Path(file).is_file():
        return ""
    return (
        f" For its column {column!r}, write {file} and columns={ {'report': column} }; in a file of pairs its field is "
        "reference or candidate."
    )


def check_file(path: Path) -> str:
    """The suffix of a file that can be opened and is what its name says."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder; name a file.")
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is not a regular file; save its content to a file first.")
        with _opened(path) as file:
            head = file.read(4096).removeprefix(b"\xef\xbb\xbf")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist (looked in {working_folder()}).{_column_advice(path)}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    suffix = suffix_of(path)
    if suffix not in READERS or (suffix == ".parquet" and path.suffix.lower() in COMPRESSED):
        known = f"{', '.join(READERS)}; all except Parquet also compressed ({', '.join(COMPRESSED)})"
        advice = f" {_ADVICE[suffix]}{_command_for(path, suffix, head)}." if suffix in _ADVICE else ""
        raise InputError(f"{path} ends in {''.join(path.suffixes[-2:]) or 'nothing'!r}; we read {known}.{advice}")
    if not head:
        raise InputError(f"{path} is empty.")
    kind = _kind(head, suffix)
    _check_encoding(path, kind)
    if kind == _BINARY or kind in dict(_IMAGES).values():
        raise InputError(f"{path} is not a table: it looks like {kind}; pass a CSV or JSONL file of reports.")
    if kind != {".parquet": "Parquet"}.get(suffix, ""):
        raise InputError(f"{path} is named {suffix} but looks like {kind or 'text'}.{_mend(path, kind, head)}")
    return suffix


def read_text(path: Path) -> str:
    """The text of a file with any suffix; InputError if it cannot be read or is not UTF-8, with how to convert it."""
    try:
        with path.open("rb") as file:
            _check_encoding(path, _kind(file.read(4096), path.suffix))
        return "".join(line for _, line in _lines(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def _check_encoding(path: Path, kind: str) -> None:
    if kind.startswith("UTF-"):
        raise InputError(f"{path} looks like {kind} text, and rrgmetrics reads UTF-8: {_iconv(path, kind.split()[0])}")


def _kind(head: bytes, suffix: str) -> str:
    """What a file looks like from its first bytes; "" where that is text as its suffix says."""
    if head[128:132] == b"DICM":
        return _BINARY
    for sign, kind in (*_SIGNS, *_IMAGES):
        if head.startswith(sign):
            return kind
    if head[1::2].count(0) > len(head) // 4 or head[::2].count(0) > len(head) // 4:
        zeros_first = head[::2].count(0) > head[1::2].count(0)
        return "UTF-16BE" if zeros_first else "UTF-16LE"
    n_control = len(head) - len(head.translate(None, _CONTROL))
    if n_control > 10 and n_control > len(head) // 50:
        return _BINARY
    start = head.lstrip()[:200].lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml")):
        return "HTML or XML"
    if suffix in (".jsonl", ".csv") and start.startswith(b"["):
        return _ARRAY
    if (suffix == ".csv" and start.startswith(b"{")) or (suffix == ".txt" and start.startswith(b'{"')):
        return "JSON"
    if suffix == ".txt" and {cell.strip(b' "\r') for cell in start.partition(b"\n")[0].split(b",")} <= _COLUMN_BYTES:
        return "a CSV with column names"
    return ""


def _iconv(path: Path, encoding: str) -> str:
    return f"iconv -f {encoding} -t UTF-8 {path} > utf8{path.suffix}"


def _command_for(path: Path, suffix: str, head: bytes) -> str:
    """What writes a file of a suffix of `_ADVICE` as one that is read; "" where no package of ours does."""
    if suffix in (".tsv", ".tab"):
        return f"; in Python: {_with_commas(path)}"
    return _as_lines(path, head) if suffix == ".json" else ""


def _mend(path: Path, kind: str, head: bytes) -> str:
    """What to do with a file that is not what its name says, where its kind does not say it."""
    if kind == _ARRAY:
        return f" {_ADVICE['.json']}{_as_lines(path, head)}."
    if kind in ("HTML or XML", "PDF"):
        return " Pass a CSV or JSONL file of reports."
    return "" if ";" in kind else " Give it the matching suffix."


def _as_lines(path: Path, head: bytes) -> str:
    """What writes a JSON file as JSONL, beside it; "" where it is compressed or begins otherwise."""
    lines = next((code for start, code in _JSON_LINES if start.match(head)), "")
    if not lines or path.suffix.lower() in COMPRESSED:
        return ""
    written = f"{path.stem}{'_lines' * (path.suffix == '.jsonl')}.jsonl"
    return f"; in a shell: python -c 'import json, sys; {lines}' < {shlex.quote(str(path))} > {shlex.quote(written)}"


def _with_commas(path: Path) -> str:
    """Python that writes a table with commas between its cells, whatever separates them."""
    read = f"pandas.read_csv({str(path)!r}, sep=None, engine='python', dtype=str)"
    return f"import pandas; {read}.to_csv('commas.csv', index=False)"


def _lines(path: Path, longest: int | None = None) -> Iterator[tuple[int, str]]:
    """Numbered lines with their ends (LF, CRLF or CR); InputError where one is too long, not UTF-8 or holds a NUL.

    No line is read further than it may be long, and no packed file further than it may unpack to.
    """
    options: dict[str, Any] = {"encoding": "utf-8-sig", "errors": "surrogateescape", "newline": ""}
    advice = "" if longest else "; write one row a line, and leave out columns that are not text"
    longest = longest or MAX_LINE
    left = room = room_of(path) if path.suffix.lower() in COMPRESSED else 0
    with io.TextIOWrapper(_opened(path), **options) as file:
        lines: Iterable[str] = iter(partial(file.readline, longest + 1), "")
        for number, line in enumerate(_unbroken(lines, path), 1):
            if len(line) > longest:
                raise InputError(f"{path}, line {number} has more than {longest:,} characters{advice}.")
            if room:
                left -= len(line)
                if left < 0:
                    raise too_large(path, room)
            if "\0" in line:
                raise InputError(f"{path}, line {number} contains a NUL byte; the file is damaged, or not UTF-8 text.")
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


def _unbroken(lines: Iterable[str], path: Path) -> Iterator[str]:
    """The lines; InputError where they break off because a compressed file is damaged."""
    number = 0
    try:
        for line in lines:
            number += 1
            yield line
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} is damaged after line {number:,}: {error}.") from None


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
        raise ValueError(f"the key {name!r} occurs twice")
    return row


def _parquet_rows(path: Path, columns: Collection[str] = COLUMNS) -> Iterator[tuple[int, Row]]:
    from rrgmetrics.files.parquet import parquet_rows  # pyarrow takes a while

    yield from enumerate(parquet_rows(path, columns), 1)


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
        if not names and (marks := separated_by(record)):
            for _ in _lines(path, longest):  # what is not UTF-8 is named first, as it must be converted first
                pass
            raise InputError(f"{path}: cells are separated by {marks}, not by commas; in Python: {_with_commas(path)}")
        try:
            cells = _csv_cells(record, names, path, number)
        except InputError as error:
            if not names:
                raise
            damaged(error)
            continue
        if not names:
            names = cells
            check_names(names, str(path))
        elif len(cells) != len(names):
            damaged(
                InputError(
                    f"{path}, line {number} has {len(cells)} cells for {len(names)} columns ({some(names)}); put a "
                    "report that contains a comma in quotes."
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
                f"{path}, line {start} has a quote that is never closed: the record does not end within "
                f"{longest or MAX_RECORD:,} characters."
            )
    if lines:
        yield start, "".join(lines)


def _csv_cells(record: str, names: Sequence[str], path: Path, number: int) -> list[str]:
    """Splits one record after RFC 4180; InputError for a quote that is in the wrong place."""
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
        raise InputError(
            f'{where} has a stray quote; put the cell in quotes and write each quote inside it twice ("").'
        )
    if at == position:
        raise InputError(f"{where} has a quote that is never closed.")
    raise InputError(
        f"{where} continues with {record[at : at + 20]!r} after a closing quote (the cell starts on line {opened}); "
        'close the quote at the end of the cell, and write a quote inside a cell twice ("").'
    )


READERS: Mapping[str, Callable[[Path], Iterator[tuple[int, Row]]]] = {
    ".csv": _csv_rows,
    ".jsonl": _jsonl_rows,
    ".parquet": _parquet_rows,
    ".txt": _text_rows,
}
