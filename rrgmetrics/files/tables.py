"""Rows of what users hold in memory: frames, tables, data sets, arrays, lists of dicts.

No package is imported to find out what an object is: it is known by what it can do. Frames and tables (pandas, polars,
pyarrow) name their columns and give each by its name; data sets (`datasets.Dataset`, `IterableDataset`) select columns,
so that images beside the reports are not decoded, and give rows; whatever else speaks Arrow's C stream protocol
(DuckDB's relations, record batch readers) is read by pyarrow, batch by batch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.files.formats import Row
from rrgmetrics.files.labels import check_names
from rrgmetrics.reports import columns_of, describe, listed_values

BATCH = 1_000  # rows of a data set at once
TAKEN = "a frame, a table, a data set, a dict of columns, an iterable of dicts, or the name of a file"


def table_rows(table: Any, columns: Collection[str], name: str, *, texts: str = "") -> Iterator[tuple[str, Row]]:
    """Yields the rows of a table in memory: the place of each, and its cells by column.

    Args:
        table: A pandas or polars frame, a pyarrow table, a data set, a dict of columns, an iterable of dicts.
        columns: Those that are needed; the others of a frame, table or data set are there as None.
        name: What the caller calls it, for messages.
        texts: The column that bare texts are taken for, in a list, an array or a series; "" takes none.

    Raises:
        InputError: It is no table, or its columns differ in length.
    """
    if hasattr(table, "collect_schema") and hasattr(table, "collect"):  # polars' lazy frame
        table = table.collect()
    if isinstance(table, Mapping):
        rows = _of_columns(table, list(map(str, table)), columns, name)
    elif hasattr(table, "select_columns"):
        rows = _of_dataset(table, columns)
    elif (names := columns_of(table)) is not None:
        rows = _of_columns(table, names, columns, name)
    else:
        rows = _of_items(table, columns, name, texts)
    for number, row in enumerate(rows):
        yield f"{name}[{number}]", row


def _of_columns(table: Any, names: Sequence[Any], columns: Collection[str], name: str) -> Iterator[Row]:
    """The rows of what gives a column by its name."""
    check_names(list(map(str, names)), name)
    used = [column for column in names if column in columns] or list(names[:1])
    cells = {column: table[column] for column in used}
    if any(columns_of(values) is not None for values in cells.values()):
        splits = ", ".join(map(repr, names))
        raise InputError(f"{name} contains several tables: {splits}; pass one of them, such as {name}[{names[0]!r}].")
    if not all(_is_column(values) for values in cells.values()):
        return _of_stream(table, columns, name)
    lists = {str(column): list(listed_values(values)) for column, values in cells.items()}
    lengths = {column: len(values) for column, values in lists.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"The columns of {name} differ in length: {lengths}; they need one cell for each row.")
    ignored = dict.fromkeys(str(column) for column in names if column not in used)
    return ({**ignored, **dict(zip(lists, row, strict=True))} for row in zip(*lists.values(), strict=True))


def _is_column(values: Any) -> bool:
    return isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping)


def _of_dataset(dataset: Any, columns: Collection[str]) -> Iterator[Row]:
    """The rows of a data set of the package datasets, in memory, on disk or streamed."""
    dataset = dataset.with_format(None)
    names = dataset.column_names
    if names is None:  # a stream whose first row nobody has seen
        return (dict(row) for row in dataset)
    used = [column for column in names if column in columns] or names[:1]
    ignored = dict.fromkeys(column for column in names if column not in used)
    batches = dataset.select_columns(used).iter(batch_size=BATCH)
    return (
        {**ignored, **dict(zip(batch, row, strict=True))}
        for batch in batches
        for row in zip(*batch.values(), strict=True)
    )


def _of_stream(table: Any, columns: Collection[str], name: str) -> Iterator[Row]:
    """The rows of anything that speaks Arrow's C stream protocol."""
    if not hasattr(table, "__arrow_c_stream__"):
        raise InputError(f"{name} is {describe(table)}; pass {TAKEN}.")
    import pyarrow

    reader = pyarrow.RecordBatchReader.from_stream(table)
    names = reader.schema.names
    check_names(names, name)
    used = [column for column in names if column in columns] or names[:1]
    ignored = dict.fromkeys(column for column in names if column not in used)
    return ({**ignored, **row} for batch in reader for row in batch.select(used).to_pylist())


def _of_items(items: Any, columns: Collection[str], name: str, texts: str) -> Iterator[Row]:
    """The rows of an iterable of dicts; or of texts, where these are taken."""
    if hasattr(items, "__arrow_c_stream__") and hasattr(items, "schema"):
        yield from _of_stream(items, columns, name)
        return
    if isinstance(items, str | bytes) or not isinstance(items := listed_values(items), Iterable):
        raise InputError(f"{name} is {describe(items)}; pass {TAKEN}.")
    for number, item in enumerate(items):
        if isinstance(item, Mapping):
            yield dict(item)
        elif texts:
            yield {texts: item}
        else:
            raise InputError(f"{name}[{number}] is {describe(item)}; pass a dict with the columns of a row.")
