"""Files of what was counted over all references, for metrics with corpus statistics (`--statistics FILE`)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.files.formats import PathLike, check_file
from rrgmetrics.files.stored import reading
from rrgmetrics.files.write import replacing
from rrgmetrics.scorers.frequencies import Frequencies

KEY = b"rrgmetrics.statistics"
_COLUMNS = ("metric", "ngram", "token", "count")


def write_frequencies(
    path: PathLike, frequencies: Mapping[str, Frequencies], references: str, *, force: bool = False
) -> None:
    """Writes what was counted.

    Args:
        path: A file that ends in .parquet.
        frequencies: By metric.
        references: A checksum of the references.
        force: Whether a file on disk may be replaced.
    """
    import pyarrow
    from pyarrow import parquet

    path = Path(path)
    _check_suffix(path)
    facts = {"references": references, "n": {name: each.n for name, each in frequencies.items()}}
    text, number = pyarrow.string(), pyarrow.int64()
    types = zip(_COLUMNS, (text, text, number, number), strict=True)
    schema = pyarrow.schema(list(types), metadata={KEY: json.dumps(facts).encode()})
    with replacing(path, force) as part, parquet.ParquetWriter(part, schema) as file:
        for name, each in frequencies.items():
            items = list(each.documents)
            is_ngram = bool(items) and isinstance(items[0], tuple)
            columns = (
                [name] * len(items),
                [" ".join(item) if is_ngram else None for item in items],
                [None if is_ngram else item for item in items],
                list(each.documents.values()),
            )
            arrays = [pyarrow.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
            file.write_table(pyarrow.table(arrays, schema=schema))


def read_frequencies(path: PathLike, references: str) -> dict[str, Frequencies]:
    """Reads what was counted over the references of this checksum.

    Raises:
        InputError: The file cannot be used, or was made from other references.
    """
    path = Path(path)
    _check_suffix(path)
    check_file(path)
    with reading(path, "what was counted"):
        return _read(path, references)


def _read(path: Path, references: str) -> dict[str, Frequencies]:
    from pyarrow import ArrowException, parquet

    try:
        table = parquet.read_table(path)
        facts: dict[str, Any] = json.loads((table.schema.metadata or {})[KEY])
    except (KeyError, ValueError):
        raise InputError(f"{path} contains no statistics of references; name a file that does not exist yet.") from None
    except (ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from None
    if facts["references"] != references:
        raise InputError(f"{path} has the statistics of other references; name another file, or remove it.")
    documents: dict[str, Counter[Any]] = {name: Counter() for name in facts["n"]}
    for batch in table.to_batches(max_chunksize=100_000):
        for name, ngram, token, count in zip(*(batch[column].to_pylist() for column in _COLUMNS), strict=True):
            documents[name][token if ngram is None else tuple(ngram.split(" "))] = count
    return {name: Frequencies(documents[name], n) for name, n in facts["n"].items()}


def _check_suffix(path: Path) -> None:
    if path.suffix.lower() != ".parquet":
        raise InputError(f"{path} must end in .parquet.")
