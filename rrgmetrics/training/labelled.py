"""Labelled pairs as files hold them: Parquet → reports, counts, evidence and the split, which goes by study."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.errors import InputError
from rrgmetrics.synthesis.pairs import N_CATEGORIES, Evidence

LABELS = ("significant", "insignificant")
REQUIRED = ("reference", "candidate", *LABELS)
OPTIONAL = ("study_id", "split", "evidence", "label_source", "label_version")
SPLITS = ("train", "validation", "test")


class Source(NamedTuple):
    """A file that pairs or reports came from: its name, checksum, and number of rows."""

    name: str
    sha256: str
    n_rows: int


def source_of(path: Path, n_rows: int) -> Source:
    """Returns a file as a source."""
    with path.open("rb") as stream:
        return Source(path.name, hashlib.file_digest(stream, "sha256").hexdigest(), n_rows)


@dataclass(frozen=True)
class LabelledPairs:
    """Pairs with the number of errors in each category.

    Attributes:
        references: Radiologists' reports.
        candidates: Machine-written reports.
        studies: An id a pair; pairs of one study stay on one side of a split.
        splits: `train`, `validation`, `test` or "" of each pair.
        significant: Clinically significant errors `(n_pairs, 6)`.
        insignificant: The others `(n_pairs, 6)`.
        spans: The evidence of each pair; None if the files have none.
        sources: Where the pairs came from.
        labels: What labelled them, `source version`.
        n_unlabelled: Rows left out because they have no label.
    """

    references: list[str]
    candidates: list[str]
    studies: list[str]
    splits: list[str]
    significant: NDArray[np.float32]
    insignificant: NDArray[np.float32]
    spans: list[list[Evidence]] | None
    sources: tuple[Source, ...]
    labels: tuple[str, ...]
    n_unlabelled: int

    def __len__(self) -> int:
        return len(self.references)

    @property
    def counts(self) -> NDArray[np.float32]:
        """The errors of either kind `(n_pairs, 6)`."""
        return self.significant + self.insignificant

    def heads(self, n_heads: int) -> NDArray[np.float32]:
        """Returns labels for 6 (A to F), 2 (significant, not significant) or 1 head (all)."""
        if n_heads == N_CATEGORIES:
            return self.counts
        both = np.stack([self.significant.sum(1), self.insignificant.sum(1)], 1)
        return both if n_heads == 2 else both.sum(1, keepdims=True)


def read_labelled_pairs(paths: Sequence[str]) -> LabelledPairs:
    """Reads Parquet files of labelled pairs, and all of them in folders.

    Args:
        paths: Files and folders; their rows follow one another.

    Raises:
        InputError: No file, a missing column, a row without a text or with other than six counts, a negative count.
    """
    import pyarrow
    from pyarrow import compute

    files = [file for path in paths for file in _parquet_files(path)]
    if not files:
        raise InputError("No pairs are named; give pairs: [FILE.parquet] in the config, or --pairs FILE.")
    tables, sources = zip(*map(_read_file, files), strict=True)
    table = pyarrow.concat_tables(tables, promote_options="permissive").combine_chunks()
    counts = [_six(table.column(name), name) for name in LABELS]
    labelled = ~np.isnan(counts[0] + counts[1]).any(axis=1)
    table = table.filter(pyarrow.array(labelled))
    if not len(table):
        raise InputError(f"{', '.join(paths)}: none of {len(labelled):,} rows has a label.")
    versions = [compute.fill_null(table.column(name), "?").to_pylist() for name in OPTIONAL[-2:]]
    return LabelledPairs(
        references=table.column("reference").to_pylist(),
        candidates=table.column("candidate").to_pylist(),
        studies=[study or reference for study, reference in _columns(table, "study_id", "reference")],
        splits=compute.fill_null(table.column("split"), "").to_pylist(),
        significant=counts[0][labelled],
        insignificant=counts[1][labelled],
        spans=_spans(table.column("evidence")),
        sources=tuple(sources),
        labels=tuple(sorted({f"{source} {version}" for source, version in set(zip(*versions, strict=True))})),
        n_unlabelled=int((~labelled).sum()),
    )


def _parquet_files(path: str) -> list[Path]:
    place = Path(path).expanduser()
    if place.is_dir():
        files = sorted(place.glob("*.parquet"))
        if not files:
            raise InputError(f"{place} holds no .parquet file; `rrgmetrics synthesize` writes them.")
        return files
    if not place.is_file():
        raise InputError(f"{place} does not exist (looked in {Path.cwd()}); pairs come from `rrgmetrics synthesize`.")
    return [place]


def _read_file(path: Path) -> tuple[Any, Source]:
    """Returns the file's columns, optional ones as nulls where it has none; texts checked."""
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            missing = [name for name in REQUIRED if name not in names]
            if missing:
                raise InputError(f"{path} has no column {', '.join(missing)}; its columns are {', '.join(names)}.")
            table = file.read(columns=[name for name in (*REQUIRED, *OPTIONAL) if name in names])
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from None
    for name in ("reference", "candidate"):
        if table.column(name).null_count:
            raise InputError(f"{path}, column {name!r}: {table.column(name).null_count:,} rows have no text.")
    for name in OPTIONAL:
        if name not in names:
            kind = pyarrow.null() if name == "evidence" else pyarrow.string()
            table = table.append_column(name, pyarrow.nulls(len(table), kind))
    return table, source_of(path, len(table))


def _columns(table: Any, *names: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(table.column(name).to_pylist() for name in names), strict=True)


def _six(column: Any, name: str) -> NDArray[np.float32]:
    """Returns six counts a row; a row of NaN where there is no list."""
    from pyarrow import compute, types

    if types.is_null(column.type):
        return np.full((len(column), N_CATEGORIES), np.nan, np.float32)
    lengths = compute.list_value_length(column).fill_null(-1).to_numpy()
    wrong = np.flatnonzero((lengths != N_CATEGORIES) & (lengths != -1))
    if len(wrong):
        raise InputError(f"Row {wrong[0]}, column {name!r} has {lengths[wrong[0]]} counts; there are six, A to F.")
    rows = np.full((len(lengths), N_CATEGORIES), np.nan, np.float32)
    flat = np.asarray(compute.list_flatten(column), np.float32)
    rows[lengths == N_CATEGORIES] = flat.reshape(-1, N_CATEGORIES)
    if (rows < 0).any():
        raise InputError(f"Row {np.argwhere(rows < 0)[0][0]}, column {name!r} has a negative count.")
    return rows


def _spans(column: Any) -> list[list[Evidence]] | None:
    from pyarrow import compute, types

    if types.is_null(column.type) or column.null_count == len(column):
        return None
    spans: list[list[Evidence]] = [[] for _ in range(len(column))]
    if types.is_null(column.type.value_type):  # a file in which no pair has an error
        return spans
    parents = compute.list_parent_indices(column).to_numpy()
    structs = compute.list_flatten(column)
    fields = [compute.struct_field(structs, name).to_pylist() for name in Evidence._fields]
    for parent, *values in zip(parents.tolist(), *fields, strict=True):
        spans[parent].append(Evidence(*values))
    return spans


def split_pairs(pairs: LabelledPairs, *, fraction: float, seed: int) -> dict[str, NDArray[np.intp]]:
    """Returns the rows of each of `SPLITS`.

    Where the pairs name validation rows, what they name holds; else `fraction` of the studies that are not named
    `test` are held out.

    Raises:
        InputError: An unknown split, or no rows to train or to validate on.
    """
    names = np.array(pairs.splits, dtype="U10")
    unknown = set(pairs.splits) - {*SPLITS, ""}
    if unknown:
        raise InputError(f"column 'split' holds {sorted(unknown)[0]!r}; it is one of {', '.join(SPLITS)}.")
    if "validation" not in pairs.splits:
        free = sorted({study for study, name in zip(pairs.studies, pairs.splits, strict=True) if name != "test"})
        drawn = np.random.default_rng(seed).permutation(len(free))[: round(fraction * len(free))]
        held_out = {free[i] for i in drawn}
        names[(names != "test") & [study in held_out for study in pairs.studies]] = "validation"
    names[names == ""] = "train"
    rows = {split: np.flatnonzero(names == split) for split in SPLITS}
    for split in SPLITS[:2]:
        if not len(rows[split]):
            raise InputError(
                f"{len(pairs):,} pairs of {len(set(pairs.studies)):,} studies leave no {split} rows; name them in the "
                "column 'split', add pairs, or set validation_fraction."
            )
    return rows
