"""The rows of a Parquet file, by pyarrow in batches, each measured before it becomes Python's objects.

A small file can hold much: a text is stored once in a dictionary, and each row has only its number. So the longest
text of each dictionary is looked at first, and decides how many rows are read at once; and equal texts of a batch are
one object, as they are one in the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.files.labels import check_names
from rrgmetrics.files.limits import FREE_ROWS, MAX_CELL, MAX_RATIO, room_of, too_large

BATCH = 4096  # rows at once, at most
MAX_BATCH = 25 * MAX_CELL  # bytes of all texts of a batch
SHARED = 10_000  # distinct texts that are remembered, to be used again


def parquet_rows(path: Path, columns: Collection[str]) -> Iterator[dict[str, object]]:
    """Yields the rows; of the columns that are not needed each cell is None.

    Raises:
        InputError: The file is no Parquet, or larger than `rrgmetrics.files.limits` allows; names rows and column.
    """
    import pyarrow
    from pyarrow import parquet

    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            names, metadata = file.schema_arrow.names, file.metadata
            leaves = [metadata.schema.column(index) for index in range(metadata.num_columns)]
        check_names(names, str(path))
        used = [name for name in names if name in columns] or names[:1]
        check_size(path, metadata, used)
        ignored = dict.fromkeys(name for name in names if name not in used)
        texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        single = [text for text in texts if text in used]
        in_lists = [text for text in texts if text not in names]
        with (
            parquet.ParquetFile(path, read_dictionary=single) as dictionaries,
            parquet.ParquetFile(path, read_dictionary=in_lists) as file,
        ):
            shared: dict[str, dict[Any, Any]] = {name: {} for name in single}
            for group in range(metadata.num_row_groups):
                n_rows = metadata.row_group(group).num_rows
                if not n_rows:
                    continue
                where = _Where(path, number + 1, number + n_rows)
                size = _rows_at_once(dictionaries, group, single, where)
                for batch in file.iter_batches(size, row_groups=[group], columns=used):
                    cells = {name: _cells(batch.column(name), where.column(name), shared.get(name)) for name in used}
                    for row in zip(*cells.values(), strict=True):
                        number += 1
                        yield {**ignored, **dict(zip(cells, row, strict=True))}
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as Parquet, after row {number}: {error}") from None


def check_size(path: Path, metadata: Any, used: Collection[str]) -> None:
    """Raises InputError if columns of a Parquet file unpack to more than it may hold, by what it says itself."""
    allowed = max(FREE_ROWS, MAX_RATIO * path.stat().st_size)
    if metadata.num_rows > allowed:
        raise InputError(f"{path} has {metadata.num_rows:,} rows; the limit for its size is {allowed:,}. Split it.")
    unpacked, room = 0, room_of(path)
    for group in (metadata.row_group(index) for index in range(metadata.num_row_groups)):
        for chunk in (group.column(index) for index in range(group.num_columns)):
            name = chunk.path_in_schema.partition(".")[0]
            unpacked += chunk.total_uncompressed_size if name in used else 0
            if name in used and chunk.num_values > allowed:
                raise InputError(f"{path}, column {name!r} has lists of {chunk.num_values:,} items; leave it out.")
    if unpacked > room:
        raise too_large(path, room)
    for leaf in (metadata.schema.column(index) for index in range(metadata.num_columns)):
        if leaf.length > MAX_CELL and leaf.path.partition(".")[0] in used:
            raise _too_long(f"{path}, column {leaf.path.partition('.')[0]!r}", leaf.length)


class _Where:
    """The place of rows, for messages."""

    def __init__(self, path: Path, first: int, last: int) -> None:
        self._text = f"{path}, column {{!r}}, rows {first:,} to {last:,}"

    def column(self, name: str) -> str:
        return self._text.format(name)


def _rows_at_once(file: Any, group: int, names: list[str], where: _Where) -> int:
    """How many rows of a group are read at once, by the longest text in the dictionaries of its columns."""
    longest = 1
    if names:
        batch = next(file.iter_batches(1, row_groups=[group], columns=names))
        for name in names:
            longest = max(longest, _longest(batch.column(name).dictionary, where.column(name)))
    return max(1, min(BATCH, MAX_BATCH // longest))


def _cells(column: Any, where: str, shared: dict[Any, Any] | None) -> list[Any]:
    """The cells of a column of a batch as Python's objects; of texts equal ones are one."""
    if shared is not None:
        _longest(column, where)
        if len(shared) > SHARED:
            shared.clear()
        return [shared.setdefault(cell, cell) for cell in column.to_pylist()]
    total = 0
    for part in _dictionaries(column):
        _longest(part.dictionary, where)
        total += text_bytes(part)
    if total > MAX_BATCH:
        raise InputError(f"{where}: the lists of a few rows contain {total:,} bytes of text; leave the column out.")
    cells: list[Any] = column.to_pylist()
    return cells


def _dictionaries(array: Any) -> Iterator[Any]:
    """The dictionaries in a column of lists or structs."""
    from pyarrow import types

    if types.is_dictionary(array.type):
        yield array
    elif types.is_struct(array.type):
        for part in array.flatten():
            yield from _dictionaries(part)
    elif types.is_map(array.type):
        yield from _dictionaries(array.keys)
        yield from _dictionaries(array.items)
    elif types.is_list(array.type) or types.is_large_list(array.type) or types.is_fixed_size_list(array.type):
        yield from _dictionaries(array.flatten())


def text_bytes(column: Any) -> int:
    """Returns the bytes of all texts of a column that was read as a dictionary, as if each were stored by itself."""
    from pyarrow import compute

    lengths = compute.take(compute.binary_length(column.dictionary), column.indices)
    return compute.sum(lengths).as_py() or 0


def _longest(texts: Any, where: str) -> int:
    """The bytes of the longest text; raises InputError if it is too long."""
    from pyarrow import compute

    longest: int = compute.max(compute.binary_length(texts)).as_py() or 0
    if longest > MAX_CELL:
        raise _too_long(where, longest)
    return longest


def _too_long(where: str, size: int) -> InputError:
    return InputError(
        f"{where}: a cell has {size:,} bytes, and the limit is {MAX_CELL:,}; does it contain a whole file?"
    )
