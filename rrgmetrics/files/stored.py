"""Parquet files of what was scored: scores and statistics of each pair, from which every score follows exactly.

One row a pair: `study_id` (if there are ids), the scores that people read, and for each metric the columns
`<metric> statistics` and, where there are any, `<metric> details` (JSON). What ran is in the file's metadata, under
the key `rrgmetrics`. Rows are written as they come, a block at a time, and no file is half-written: it gets its name at
the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.errors import InputError
from rrgmetrics.files.formats import PathLike, check_file
from rrgmetrics.files.parquet import text_bytes
from rrgmetrics.files.write import replacing

MOST_CELLS = 250_000_000  # numbers of a file: 2 GB in memory
MOST_TEXT = 2_000_000_000  # bytes of its details
ROWS = 4096  # pairs that are read at a time
SHOWN = 200  # characters of another library's message
FORMAT = 1  # of these files; raised with every change that older versions could not read
KEY, WHOLE = b"rrgmetrics", b"rrgmetrics.whole"  # facts of the beginning and of the end
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
        whole: Facts that are known at the end only.
    """

    def __init__(self, path: Path, facts: Mapping[str, Any]) -> None:
        self.path, self.facts = path, facts
        self.whole: Mapping[str, Any] = {}
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
            schema = table.schema.with_metadata({KEY: facts.encode()})
            self._file = parquet.ParquetWriter(self.path, schema, write_page_checksum=True)
        self._file.write_table(table.cast(self._file.schema))

    def close(self) -> None:
        """Ends the file."""
        if self._file is not None:
            if self.whole:
                self._file.add_key_value_metadata({WHOLE: json.dumps(self.whole).encode()})
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
    with reading(path, "the description of the file"):
        try:
            metadata = parquet.read_metadata(path).metadata or {}
        except (ArrowException, OSError) as error:
            raise InputError(f"{path} cannot be read as Parquet: {_one_line(error)}") from None
    try:
        facts: dict[str, Any] = json.loads(metadata[KEY]) | json.loads(metadata.get(WHOLE, "{}"))
        known = facts.pop("format")
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        raise InputError(
            f"{path} contains no statistics of pairs; such files are written by rrgmetrics score --shard K/N "
            "--output FILE, --stream, or Result.save."
        ) from None
    if known != FORMAT:
        raise InputError(
            f"{path} has the format {_short(known)} and this version reads {FORMAT}; score its pairs again."
        )
    metrics = facts.get("metrics")
    if not isinstance(metrics, dict) or not metrics or not all(isinstance(each, str) for each in metrics.values()):
        raise damaged(path, "it does not name its metrics")
    return facts


def damaged(path: PathLike, what: str) -> InputError:
    """The error for a file that is none as we write it, in whatever way."""
    return InputError(f"{path} is damaged: {what}; score its pairs again.")


@contextmanager
def reading(path: PathLike, what: str) -> Iterator[None]:
    """Turns whatever the content of a damaged file makes of a step into one error that names the file."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # of whatever kind: the file may hold anything
        raise damaged(path, f"{what} cannot be read ({type(error).__name__}: {_one_line(error)})") from None


def _one_line(error: object) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _short(value: object) -> str:
    return _one_line(repr(value))


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
    """Reads a metric's numbers from the columns of a table; raises ValueError if they are none as we write them."""
    lists = table[name + STATISTICS].combine_chunks()
    flat = lists.flatten()
    if lists.null_count or flat.null_count:
        raise ValueError("numbers are missing")
    stats = flat.to_numpy(zero_copy_only=False).reshape(table.num_rows, -1)
    return Scored(stats, _read_lines(table[name + DETAILS].to_pylist()))


def count_rows(path: PathLike) -> int:
    """Counts the pairs of a file."""
    from pyarrow import parquet

    return int(parquet.read_metadata(path).num_rows)


def read_stored(path: PathLike) -> Stored:
    """Reads a file that `storing` wrote.

    Raises:
        InputError: The file cannot be used; it is named.
    """
    facts = read_facts(path)
    with reading(path, "the table"):
        table = _read_table(Path(path), facts["metrics"])
    metrics = {}
    for name in facts["metrics"]:
        with reading(path, f"its content for {_short(name)}"):
            metrics[name] = scored_of(table, name)
    study_ids = table["study_id"].to_pylist() if "study_id" in table.column_names else None
    if study_ids is not None and None in study_ids:
        raise damaged(path, "some pairs have no study_id")
    return Stored(facts, study_ids, metrics)


def _read_table(path: Path, metrics: Iterable[str]) -> Any:
    """The columns of metrics and the ids, within bounds; raises ValueError if they are not of our types.

    A few kB of Parquet can encode any number of rows, and for one long text in each: both are counted as they come.
    """
    import pyarrow
    from pyarrow import parquet, types

    file = parquet.ParquetFile(path, page_checksum_verification=True)
    schema = file.schema_arrow
    details = [name + DETAILS for name in metrics]
    texts = details + ["study_id"] * ("study_id" in schema.names)
    width = 0
    for name in metrics:
        kind = schema.field(name + STATISTICS).type
        if not types.is_fixed_size_list(kind) or not types.is_float64(kind.value_type) or kind.list_size < 1:
            raise ValueError(f"the statistics are {kind}")
        width += kind.list_size
    for name in texts:
        if not types.is_string(schema.field(name).type):
            raise ValueError(f"{name} is {schema.field(name).type}")
    if (n_rows := file.metadata.num_rows) * width > MOST_CELLS:
        raise ValueError(f"{n_rows:,} pairs exceed the limit")
    columns = [*(name + STATISTICS for name in metrics), *texts]
    narrow = parquet.ParquetFile(path, read_dictionary=texts, page_checksum_verification=True)
    batches, size = [], 0
    for batch in narrow.iter_batches(ROWS, columns=columns):
        size += sum(text_bytes(batch[name]) for name in texts)
        if size > MOST_TEXT:
            raise ValueError(f"its texts have more than {MOST_TEXT:,} bytes")
        batches.append(batch)
    table = pyarrow.Table.from_batches(batches, narrow.schema_arrow.empty_table().select(columns).schema)
    return table.cast(pyarrow.schema([schema.field(name) for name in columns]))


def _as_lines(scored: Scored) -> Iterator[str | None]:
    """The details of each pair as JSON; None where there are none."""
    for index in range(len(scored.stats)):
        details = {key: values[index] for key, values in scored.details.items() if values[index] is not None}
        yield json.dumps(details, ensure_ascii=False, default=_plain) if details else None


def _read_lines(lines: Sequence[str | None]) -> dict[str, list[Any]]:
    """The details by key, from those of each pair; raises ValueError if they are none as we write them."""
    rows = [json.loads(line) if line else {} for line in lines]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("the details of a pair are not a JSON object")
    keys = dict.fromkeys(key for row in rows for key in row)
    details = {key: [row.get(key) for row in rows] for key in keys}
    for key, values in details.items():
        if (is_one := next((check for end, check in _KINDS if key.endswith(end)), None)) is not None:
            for value in values:
                if value is not None and not is_one(value):
                    raise ValueError(f"{key} has {_short(value)}")
    return details


def _is_reason(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("unscored"), str)


def _are_counts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, int) for each in value.values())


# Details that more than their own metric reads, by the end of their key, and what an entry must be.
_KINDS = (
    ("_unscored", _is_reason),
    ("_modality", lambda value: isinstance(value, str)),
    ("_removed", _are_counts),
)


def _plain(value: Any) -> Any:
    """What JSON has for a number or an array of NumPy."""
    return value.tolist()
