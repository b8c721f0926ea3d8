"""Parquet files of what was scored: scores and statistics of each pair, from which every score follows exactly.

One row a pair: `study_id` (if there are ids), the scores that people read, and for each metric the columns
`<metric> statistics` and, where there are any, `<metric> details` (JSON). What ran stands in the file's metadata, under
the key `rrgmetrics`. Rows are written as they come, a block at a time, and no file is half-written: it gets its name at
the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.errors import InputError
from rrgmetrics.files.formats import PathLike, check_file
from rrgmetrics.files.write import replacing

FORMAT = 1  # of these files; raised with every change that older versions could not read
KEY = b"rrgmetrics"
STATISTICS, DETAILS = " statistics", " details"

Details = Mapping[str, Sequence[Any]]


class Scored(NamedTuple):
    """A metric's numbers of some pairs.

    Attributes:
        stats: `(n_pairs, n_stats)`; a row of NaN is an unscored pair.
        details: By key, one entry a pair.
    """

    stats: NDArray[np.float64]
    details: Details


def joined(parts: Sequence[Scored]) -> Scored:
    """Joins the numbers of parts of the pairs, in their order; where a part has no details of a key they are None."""
    keys = dict.fromkeys(key for part in parts for key in part.details)
    details = {
        key: [each for part in parts for each in part.details.get(key) or [None] * len(part.stats)] for key in keys
    }
    return Scored(np.concatenate([part.stats for part in parts]), details)


class Stored(NamedTuple):
    """The contents of a file.

    Attributes:
        facts: What the writer says of the whole, such as the signature of each metric.
        study_ids: One id a pair; None if there are none.
        metrics: By the name that the metric was asked for.
    """

    facts: Mapping[str, Any]
    study_ids: list[str] | None
    metrics: dict[str, Scored]


class Writer:
    """Writes blocks of pairs to a file; made by `storing`.

    Attributes:
        path: The unfinished file.
        facts: Of the whole.
    """

    def __init__(self, path: Path, facts: Mapping[str, Any]) -> None:
        self.path, self.facts = path, facts
        self._file: Any = None

    def add(
        self,
        metrics: Mapping[str, Scored],
        columns: Mapping[str, Sequence[Any] | NDArray[np.float64]],
    ) -> None:
        """Writes some pairs.

        Args:
            metrics: The same metrics each time.
            columns: What people read of these pairs, `study_id` first; the same columns each time.
        """
        import pyarrow
        from pyarrow import parquet

        table = pyarrow.table(arrays_of(metrics, columns))
        if self._file is None:
            facts = json.dumps({"format": FORMAT, **self.facts}, ensure_ascii=False)
            self._file = parquet.ParquetWriter(self.path, table.schema.with_metadata({KEY: facts.encode()}))
        self._file.write_table(table.cast(self._file.schema))

    def close(self) -> None:
        """Ends the file."""
        if self._file is not None:
            self._file.close()


@contextmanager
def storing(path: PathLike, facts: Mapping[str, Any], *, force: bool = False) -> Iterator[Writer]:
    """Opens a file for blocks of pairs; it takes its place at the end, and vanishes on an error.

    Args:
        path: Where to; ends in .parquet.
        facts: JSON values that hold for the whole file.
        force: Whether a file on disk may be replaced.

    Raises:
        InputError: Another suffix, a file that exists, or one that cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() != ".parquet":
        raise InputError(f"{path} must end in .parquet.")
    with replacing(path, force) as part:
        writer = Writer(part, facts)
        try:
            yield writer
        finally:
            writer.close()


def read_facts(path: PathLike) -> dict[str, Any]:
    """Reads what the writer says of a whole file; raises InputError for a file that is none of ours."""
    from pyarrow import ArrowException, parquet

    path = Path(path)
    if path.suffix.lower() != ".parquet":
        raise InputError(f"{path} must end in .parquet.")
    check_file(path)
    try:
        metadata = parquet.read_schema(path).metadata or {}
    except (ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from None
    try:
        facts: dict[str, Any] = json.loads(metadata[KEY])
        known = facts.pop("format")
    except (KeyError, ValueError, TypeError):
        raise InputError(
            f"{path} holds no statistics of pairs; they are written by rrgmetrics score --shard K/N --output FILE, "
            "--stream, or Result.save."
        ) from None
    if known != FORMAT:
        raise InputError(f"{path} has the format {known!r} and this version reads {FORMAT}; score its pairs again.")
    return facts


def arrays_of(
    metrics: Mapping[str, Scored], columns: Mapping[str, Sequence[Any] | NDArray[np.float64]]
) -> dict[str, Any]:
    """Makes the columns of some pairs: what people read, then the statistics and details of each metric."""
    import pyarrow

    arrays = {name: pyarrow.array(values, from_pandas=True) for name, values in columns.items()}
    for name, scored in metrics.items():
        flat = pyarrow.array(scored.stats.ravel())
        arrays[name + STATISTICS] = pyarrow.FixedSizeListArray.from_arrays(flat, scored.stats.shape[1])
        arrays[name + DETAILS] = pyarrow.array(list(_as_lines(scored)), pyarrow.string())
    return arrays


def scored_of(table: Any, name: str) -> Scored:
    """Reads a metric's numbers from the columns of a table."""
    lists = table[name + STATISTICS].combine_chunks()
    flat = lists.flatten().to_numpy(zero_copy_only=False)
    return Scored(flat.reshape(table.num_rows, -1), _read_lines(table[name + DETAILS].to_pylist()))


def count_rows(path: PathLike) -> int:
    """Counts the pairs of a file."""
    from pyarrow import parquet

    return int(parquet.read_metadata(path).num_rows)


def read_stored(path: PathLike) -> Stored:
    """Reads a file that `storing` wrote.

    Raises:
        InputError: The file cannot be used; it is named.
    """
    import pyarrow
    from pyarrow import parquet

    facts = read_facts(path)
    try:
        table = parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from None
    metrics = {}
    for column in table.column_names:
        name = column.removesuffix(STATISTICS)
        if name != column:
            metrics[name] = scored_of(table, name)
    study_ids = table["study_id"].to_pylist() if "study_id" in table.column_names else None
    return Stored(facts, study_ids, metrics)


def _as_lines(scored: Scored) -> Iterator[str | None]:
    """The details of each pair as JSON; None where there are none."""
    for index in range(len(scored.stats)):
        details = {key: values[index] for key, values in scored.details.items() if values[index] is not None}
        yield json.dumps(details, ensure_ascii=False, default=_plain) if details else None


def _read_lines(lines: Sequence[str | None]) -> dict[str, list[Any]]:
    """The details by key, from those of each pair."""
    rows = [json.loads(line) if line else {} for line in lines]
    keys = dict.fromkeys(key for row in rows for key in row)
    return {key: [row.get(key) for row in rows] for key in keys}


def _plain(value: Any) -> Any:
    """What JSON has for a number or an array of NumPy."""
    return value.tolist()
