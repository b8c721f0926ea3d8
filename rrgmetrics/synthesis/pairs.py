"""A labelled pair of reports: what it is made of, and its row in a Parquet file.

The columns are a contract between whoever makes pairs and whoever trains on them. The label of a category is the
number of its errors, clinically significant and insignificant together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.errors import InputError

CATEGORIES = tuple(ErrorCategory)
N_CATEGORIES = len(CATEGORIES)
LETTERS = tuple(category.letter for category in CATEGORIES)
Split = Literal["train", "validation", "test"]
Counts = tuple[int, ...]
REFERENCE, CANDIDATE = 0, 1  # the text that a piece of evidence stands in
READ_AT_ONCE = 4096  # rows


class Report(NamedTuple):
    """One report of a collection.

    Attributes:
        study_id: Of the imaging study.
        text: The report.
        style: How it was written, where that is known.
    """

    study_id: str
    text: str
    style: str = ""


class Draft(NamedTuple):
    """A pair without its label.

    Attributes:
        reference: The report as it was.
        candidate: The report beside it.
        study_id: Of the reference.
        pairing: How the candidate was found or made (`pairing.WAYS`).
        seed: Of this pair: the same reference, way and seed give the same candidate.
        style: How both were written, where that is known.
        injected: Errors put in on purpose, A to F; None where nobody counted.
    """

    reference: str
    candidate: str
    study_id: str
    pairing: str
    seed: int
    style: str = ""
    injected: Counts | None = None


class Evidence(NamedTuple):
    """Characters of one text that an error rests on.

    Attributes:
        category: Of the error, 0 (A) to 5 (F).
        error: The number of the error in its pair.
        text: `REFERENCE` or `CANDIDATE`.
        start: The first character.
        end: One after the last character.
    """

    category: int
    error: int
    text: int
    start: int
    end: int


class Label(NamedTuple):
    """Errors of a pair by category A to F, and where they stand if whoever counted them says so."""

    significant: tuple[float, ...]
    insignificant: tuple[float, ...]
    evidence: tuple[Evidence, ...] = ()


class Row(NamedTuple):
    """One row of the file."""

    reference: str
    candidate: str
    study_id: str
    source: str
    pairing: str
    seed: int
    style: str
    injected: Counts | None
    significant: tuple[float, ...]
    insignificant: tuple[float, ...]
    label_source: str
    label_version: str
    evidence: tuple[dict[str, int], ...]
    split: str

    @property
    def total(self) -> tuple[float, ...]:
        """The training label: all errors by category."""
        return tuple(a + b for a, b in zip(self.significant, self.insignificant, strict=True))


def row_of(draft: Draft, label: Label, *, source: str, label_source: str, label_version: str, split: str) -> Row:
    """Returns the row of a labelled draft."""
    return Row(
        reference=draft.reference,
        candidate=draft.candidate,
        study_id=draft.study_id,
        source=source,
        pairing=draft.pairing,
        seed=draft.seed,
        style=draft.style,
        injected=draft.injected,
        significant=label.significant,
        insignificant=label.insignificant,
        label_source=label_source,
        label_version=label_version,
        evidence=tuple(piece._asdict() for piece in label.evidence),
        split=split,
    )


def schema() -> Any:
    """Returns the columns of the file, as pyarrow has them.

    Lists have no fixed size, although all counts are six: pyarrow before 26 cannot write null lists of a fixed size.
    """
    import pyarrow as pa

    kinds = (pa.int8(), pa.int16(), pa.int8(), pa.int32(), pa.int32())
    piece = pa.struct(list(zip(Evidence._fields, kinds, strict=True)))
    counts = pa.list_(pa.float32())
    types = {
        "seed": pa.int64(),
        "injected": pa.list_(pa.int8()),
        "significant": counts,
        "insignificant": counts,
        "evidence": pa.list_(piece),
    }
    return pa.schema([(name, types.get(name, pa.string())) for name in Row._fields])


def read_rows(path: str | Path) -> Iterator[Row]:
    """Reads a file of pairs that `synthesize` wrote.

    Raises:
        InputError: No such file, not Parquet, or not these columns.
    """
    from pyarrow import ArrowException, parquet

    try:
        with parquet.ParquetFile(path) as file:
            absent = [name for name in Row._fields if name not in file.schema_arrow.names]
            if absent:
                raise InputError(f"{path} has no column {absent[0]!r}; `rrgmetrics synthesize` writes files with it.")
            for batch in file.iter_batches(READ_AT_ONCE, columns=list(Row._fields)):
                for row in batch.to_pylist():
                    row["evidence"] = tuple(row["evidence"])
                    yield Row(**row)
    except (ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from None


def split_of(reference: str, held_out: tuple[float, float]) -> Split:
    """Returns the part of the data that a reference belongs to.

    It depends on the words of the reference alone: equal reports stay together, two files made with other seeds or from
    more reports have the same parts.

    Args:
        reference: The report.
        held_out: Shares of validation and test.

    Example:
        >>> split_of("Clear lungs.", (0.0, 0.0)), split_of("Clear lungs.", (0.0, 1.0))
        ('train', 'test')
    """
    digest = hashlib.sha256(" ".join(reference.lower().split()).encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    validation, test = held_out
    if place < test:
        return "test"
    return "validation" if place < test + validation else "train"


def seed_of(*parts: object) -> int:
    """Returns a seed of 63 bits from whatever names a pair."""
    return int.from_bytes(hashlib.sha256("|".join(map(str, parts)).encode()).digest()[:8], "big") >> 1


def identity(texts: Iterable[str]) -> str:
    """Returns the checksum of texts in their order."""
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()
