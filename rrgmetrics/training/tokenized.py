"""Labelled pairs as a network reads them: Parquet files → token ids, labels and token targets → padded batches.

Everything is tokenised once, before training, into flat arrays: 1 M pairs of 140 tokens take 0.3 GB, and a batch is cut
out of them in microseconds. Nothing here is learnt or random but the split, which goes by study.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.crepe.pair_tokens import PairTokenizer
from rrgmetrics.errors import InputError
from rrgmetrics.synthesis.pairs import CANDIDATE, N_CATEGORIES, REFERENCE, Evidence

if TYPE_CHECKING:
    from torch import Tensor

LABELS = ("significant", "insignificant")
REQUIRED = ("reference", "candidate", *LABELS)
OPTIONAL = ("study_id", "split", "evidence", "label_source", "label_version")
SPLITS = ("train", "validation", "test")
CHUNK = 2048
LENGTH_STEP = 16  # batches are so many tokens long, or a multiple
TOLERANCE = 1e-3  # within which as many errors were located as are labelled
# Where an error of each category A to F is read: what is false in the candidate, what is missing in the reference.
HOME = (CANDIDATE, REFERENCE, CANDIDATE, CANDIDATE, CANDIDATE, REFERENCE)


class Source(NamedTuple):
    """A file that pairs came from: its name, checksum, and number of rows."""

    name: str
    sha256: str
    n_rows: int


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
        """Errors of either kind `(n_pairs, 6)`."""
        return self.significant + self.insignificant

    def heads(self, n_heads: int) -> NDArray[np.float32]:
        """Labels for 6 (A to F), 2 (significant, not significant) or 1 head (all)."""
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
        raise InputError("No pairs are named; give pairs: [FILE.parquet] in the recipe, or --pairs FILE.")
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
    found = Path(path).expanduser()
    if found.is_dir():
        files = sorted(found.glob("*.parquet"))
        if not files:
            raise InputError(f"{found} holds no .parquet file; `rrgmetrics synthesize` writes them.")
        return files
    if not found.is_file():
        raise InputError(f"{found} does not exist (looked in {Path.cwd()}); pairs come from `rrgmetrics synthesize`.")
    return [found]


def _read_file(path: Path) -> tuple[Any, Source]:
    """The file's columns, optional ones as nulls where it has none; texts checked."""
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
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return table, Source(path.name, digest, len(table))


def _columns(table: Any, *names: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(table.column(name).to_pylist() for name in names), strict=True)


def _six(column: Any, name: str) -> NDArray[np.float32]:
    """Six counts a row; a row of NaN where there is no list."""
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
    """Rows of each of `SPLITS`.

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


# --- tokens -----------------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """One row of a batch before padding.

    Attributes:
        ids: Token ids `(n_tokens,)`.
        boundary: First token of the second text.
        labels: Counts `(n_heads,)`.
        targets: Tokens, categories and shares of errors, each `(n_targets,)`; None without token targets.
        known: `(6,)`, the categories whose token targets are known.
    """

    ids: NDArray[Any]
    boundary: int
    labels: NDArray[np.float32]
    targets: tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]] | None = None
    known: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class TokenizedPairs:
    """A data set of `Row`s, cut out of flat arrays.

    Attributes:
        ids: Token ids of all pairs, one after the other.
        starts: Where each pair begins `(n_pairs + 1,)`.
        boundaries: First token of the second text, within its pair `(n_pairs,)`.
        labels: Counts `(n_pairs, n_heads)`.
        n_cut: Pairs that were longer than `max_length`.
        targets: Token targets; None if they are not asked for.
    """

    ids: NDArray[Any]
    starts: NDArray[np.int64]
    boundaries: NDArray[np.int32]
    labels: NDArray[np.float32]
    n_cut: int
    targets: TokenTargets | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each pair."""
        return np.diff(self.starts)

    def __getitem__(self, i: int) -> Row:
        ids = self.ids[self.starts[i] : self.starts[i + 1]]
        row = Row(ids, int(self.boundaries[i]), self.labels[i])
        return row if self.targets is None else row._replace(targets=self.targets.of(i), known=self.targets.known[i])


@dataclass(frozen=True)
class TokenTargets:
    """Where in each pair its errors are: a sparse `(n_pairs, n_tokens, 6)`, and which categories are known."""

    starts: NDArray[np.int64]
    tokens: NDArray[np.int32]
    categories: NDArray[np.int8]
    shares: NDArray[np.float32]
    known: NDArray[np.bool_]

    def of(self, i: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
        """Tokens, categories and shares of one pair."""
        at = slice(self.starts[i], self.starts[i + 1])
        return self.tokens[at].astype(np.intp), self.categories[at].astype(np.intp), self.shares[at]


def tokenize_pairs(
    pairs: LabelledPairs,
    rows: NDArray[np.intp],
    tokenizer: PairTokenizer,
    *,
    n_heads: int = N_CATEGORIES,
    targets: bool = False,
    progress: bool = False,
) -> TokenizedPairs:
    """Tokenises pairs exactly as inference does.

    Args:
        pairs: All pairs.
        rows: Which of them, in this order.
        tokenizer: Of the encoder; pairs longer than its `max_length` are cut.
        n_heads: What the labels count; see `LabelledPairs.heads`.
        targets: Whether to spread the errors over their evidence.
        progress: Whether to show a bar.

    Raises:
        InputError: Token targets are asked for and the pairs have no evidence.
    """
    from tqdm import tqdm

    if targets and pairs.spans is None:
        raise InputError("token_weight needs the column 'evidence'; these pairs have none. Set token_weight=0.")
    kind = np.uint16 if tokenizer.tokenizer.get_vocab_size() <= 65536 else np.int32
    counts = pairs.counts
    ids, boundaries, n_cut, collected = list[NDArray[Any]](), list[int](), 0, _Targets()
    with tqdm(total=len(rows), desc="tokens", unit="pair", disable=not progress) as bar:
        for start in range(0, len(rows), CHUNK):
            chunk = rows[start : start + CHUNK].tolist()
            for i, cut in zip(chunk, _cut_pairs(pairs, chunk, tokenizer), strict=True):
                joined, types = tokenizer.join(cut[0].ids, cut[1].ids)
                ids.append(np.array(joined, kind))
                boundaries.append(types.index(1) if 1 in types else len(types))
                n_cut += cut[0].is_cut or cut[1].is_cut
                if targets and pairs.spans is not None:
                    collected.add(*_layout(cut, tokenizer, len(joined)), pairs.spans[i], counts[i])
            bar.update(len(chunk))
    return TokenizedPairs(
        np.concatenate([np.zeros(0, kind), *ids]),
        np.cumsum([0, *map(len, ids)]),
        np.array(boundaries, np.int32),
        pairs.heads(n_heads)[rows],
        n_cut,
        collected.finish() if targets else None,
    )


class _Cut(NamedTuple):
    """What is left of a text: its encoding's first tokens."""

    encoding: Any
    n_tokens: int

    @property
    def ids(self) -> list[int]:
        ids: list[int] = self.encoding.ids
        return ids[: self.n_tokens]

    @property
    def is_cut(self) -> bool:
        return self.n_tokens < len(self.encoding)


def _cut_pairs(pairs: LabelledPairs, rows: Sequence[int], tokenizer: PairTokenizer) -> Iterator[tuple[_Cut, _Cut]]:
    """Reference and candidate of each row, cut to what the model reads; each distinct text is tokenised once."""
    texts = list(dict.fromkeys(text for i in rows for text in (pairs.references[i], pairs.candidates[i])))
    encodings = dict(zip(texts, tokenizer.encode(texts), strict=True))
    for i in rows:
        reference, candidate = encodings[pairs.references[i]], encodings[pairs.candidates[i]]
        window = tokenizer.truncated(len(reference), len(candidate))
        yield _Cut(reference, window.reference.length), _Cut(candidate, window.candidate.length)


def _layout(
    cut: tuple[_Cut, _Cut], tokenizer: PairTokenizer, n_tokens: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Characters `(n_tokens, 2)` and text (-1 for the tokens around the texts) of each token of a joined pair."""
    offsets, texts = np.zeros((n_tokens, 2), np.intp), np.full(n_tokens, -1)
    first = len(tokenizer.opening.ids)
    second = first + cut[REFERENCE].n_tokens + len(tokenizer.between.ids)
    for text, start in ((REFERENCE, first), (CANDIDATE, second)):
        end = start + cut[text].n_tokens
        if end > start:
            offsets[start:end] = cut[text].encoding.offsets[: end - start]
            texts[start:end] = text
    return offsets, texts


class _Targets:
    """Collects token targets pair by pair."""

    def __init__(self) -> None:
        self.parts: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []
        self.known: list[NDArray[np.bool_]] = []

    def add(
        self,
        offsets: NDArray[np.intp],
        texts: NDArray[np.intp],
        spans: Sequence[Evidence],
        counts: NDArray[np.float32],
    ) -> None:
        """One pair: its tokens as `spread_errors` takes them, its evidence, its labels `(6,)`."""
        targets, located = spread_errors(offsets, texts, spans)
        tokens, categories = targets.nonzero()
        self.parts.append((tokens, categories, targets[tokens, categories]))
        self.known.append(np.abs(located - counts) < TOLERANCE)

    def finish(self) -> TokenTargets:
        starts = np.cumsum([0, *(len(part[0]) for part in self.parts)])
        none = (np.zeros(0),) * 3
        tokens, categories, shares = (np.concatenate(column) for column in zip(none, *self.parts, strict=True))
        known = np.array(self.known, bool).reshape(-1, N_CATEGORIES)
        return TokenTargets(
            starts, tokens.astype(np.int32), categories.astype(np.int8), shares.astype(np.float32), known
        )


def spread_errors(
    offsets: NDArray[np.intp], texts: NDArray[np.intp], spans: Sequence[Evidence]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Spreads each error equally over the tokens of its evidence.

    An error counts 1 in all, in the text where its category is read (`HOME`): A, C, D, E in the candidate, B and F in
    the reference; in the other text if it has no span there.

    Args:
        offsets: First character and one after the last of each token `(n_tokens, 2)`.
        texts: The text of each token `(n_tokens,)`: 0 reference, 1 candidate, -1 neither.
        spans: The evidence of the pair.

    Returns:
        Targets `(n_tokens, 6)`, and how many errors of each category found a token `(6,)`.
    """
    targets = np.zeros((len(offsets), N_CATEGORIES), np.float32)
    located = np.zeros(N_CATEGORIES, np.float32)
    for category, error in sorted({(span.category, span.error) for span in spans}):
        own = [span for span in spans if (span.category, span.error) == (category, error)]
        for text in (HOME[category], 1 - HOME[category]):
            hit = np.zeros(len(offsets), bool)
            for span in own:
                if span.text == text:
                    hit |= (texts == text) & (offsets[:, 0] < span.end) & (offsets[:, 1] > span.start)
            if hit.any():
                targets[hit, category] += 1 / hit.sum()
                located[category] += 1
                break
    return targets, located


@dataclass(frozen=True)
class PairBatches:
    """Pads rows to a batch: what CREPE's `forward` takes.

    Lengths are rounded up: oneDNN compiles for each shape it meets and keeps what it compiled, 8 GB after 3,000 steps
    of every length, and a few lengths cost nothing.

    Attributes:
        padding: Id of the padding token.
        max_length: Tokens that the network reads.
    """

    padding: int
    max_length: int

    def __call__(self, rows: Sequence[Row]) -> Mapping[str, Tensor]:
        """`input_ids`, `attention_mask`, `token_type_ids` `(B, T)`, `labels` `(B, C)`, perhaps `token_targets`."""
        import torch

        longest = max(len(row.ids) for row in rows)
        longest = min(-(-longest // LENGTH_STEP) * LENGTH_STEP, self.max_length)
        ids = np.full((len(rows), longest), self.padding, np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for i, row in enumerate(rows):
            ids[i, : len(row.ids)] = row.ids
            mask[i, : len(row.ids)] = 1
            types[i, row.boundary : len(row.ids)] = 1
        arrays = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": types,
            "labels": np.stack([row.labels for row in rows]),
        }
        if rows[0].targets is not None:
            arrays["token_targets"] = _dense_targets(rows, longest)
        return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _dense_targets(rows: Sequence[Row], longest: int) -> NDArray[np.float32]:
    """`(B, T, 6)`; NaN where a category's errors could not all be found in the text."""
    dense = np.zeros((len(rows), longest, N_CATEGORIES), np.float32)
    for i, row in enumerate(rows):
        if row.targets is not None and row.known is not None:
            tokens, categories, shares = row.targets
            dense[i, tokens, categories] = shares
            dense[i][:, ~row.known] = np.nan
    return dense
