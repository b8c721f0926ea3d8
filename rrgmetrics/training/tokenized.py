"""Labelled pairs as a network reads them: token ids, labels and token targets → padded batches.

Everything is tokenised once, before training, into flat arrays: 1 M pairs of 140 tokens take 0.3 GB, and a batch is cut
out of them in microseconds. Nothing here is learnt or random.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.crepe.alignment import Word, relations, words_of
from rrgmetrics.backends.crepe.pair_tokens import PairTokenizer
from rrgmetrics.errors import InputError
from rrgmetrics.reading import Reading, read
from rrgmetrics.synthesis.pairs import CANDIDATE, N_CATEGORIES, REFERENCE, Evidence
from rrgmetrics.training.labelled import LabelledPairs

if TYPE_CHECKING:
    from torch import Tensor

CHUNK = 2048
UNREAD = 10  # one text in so many has no reading beside it
LENGTH_STEP = 16  # batches are so many tokens long, or a multiple
TOLERANCE = 1e-3  # within which as many errors were located as are labelled
# Where an error of each category A to F is read: what is false in the candidate, what is missing in the reference.
HOME = (CANDIDATE, REFERENCE, CANDIDATE, CANDIDATE, CANDIDATE, REFERENCE)


class Row(NamedTuple):
    """One row of a batch before padding.

    Attributes:
        ids: Token ids `(n_tokens,)`.
        types: Token types `(n_tokens,)`.
        labels: Counts `(n_heads,)`.
        targets: Tokens, categories and shares of errors, each `(n_targets,)`; None without token targets.
        known: `(6,)`, the categories whose token targets are known.
    """

    ids: NDArray[Any]
    types: NDArray[np.uint8]
    labels: NDArray[np.float32]
    targets: tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]] | None = None
    known: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class TokenizedPairs:
    """A data set of `Row`s, cut out of flat arrays.

    Attributes:
        ids: Token ids of all pairs, one after the other.
        starts: Where each pair begins `(n_pairs + 1,)`.
        types: Token types of all pairs, likewise.
        labels: Counts `(n_pairs, n_heads)`.
        n_cut: Pairs that were longer than `max_length`.
        targets: Token targets; None if they are not asked for.
    """

    ids: NDArray[Any]
    starts: NDArray[np.int64]
    types: NDArray[np.uint8]
    labels: NDArray[np.float32]
    n_cut: int
    targets: TokenTargets | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens of each pair."""
        return np.diff(self.starts)

    def __getitem__(self, i: int) -> Row:
        place = slice(self.starts[i], self.starts[i + 1])
        row = Row(self.ids[place], self.types[place], self.labels[i])
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
        """Returns tokens, categories and shares of one pair."""
        at = slice(self.starts[i], self.starts[i + 1])
        return self.tokens[at].astype(np.intp), self.categories[at].astype(np.intp), self.shares[at]


def tokenize_pairs(
    pairs: LabelledPairs,
    rows: NDArray[np.intp],
    tokenizer: PairTokenizer,
    *,
    n_heads: int = N_CATEGORIES,
    targets: bool = False,
    alignment: bool = False,
    progress: bool = False,
) -> TokenizedPairs:
    """Tokenises pairs exactly as inference does.

    Args:
        pairs: All pairs.
        rows: Which of them, in this order.
        tokenizer: Of the encoder; pairs longer than its `max_length` are cut.
        n_heads: What the labels count; see `LabelledPairs.heads`.
        targets: Whether to spread the errors over their evidence.
        alignment: Whether types tell where words stand in the other text.
        progress: Whether to show a bar.

    Raises:
        InputError: Token targets are asked for and the pairs have no evidence.
    """
    from tqdm import tqdm

    if targets and pairs.spans is None:
        raise InputError("token_weight needs the column 'evidence'; these pairs have none. Set token_weight=0.")
    kind = np.uint16 if tokenizer.tokenizer.get_vocab_size() <= 65536 else np.int32
    counts = pairs.counts
    ids, types, n_cut, collected = list[NDArray[Any]](), list[NDArray[np.uint8]](), 0, _Targets()
    with tqdm(total=len(rows), desc="tokens", unit="pair", disable=not progress) as bar:
        for start in range(0, len(rows), CHUNK):
            chunk = rows[start : start + CHUNK].tolist()
            for i, cut in zip(chunk, _cut_pairs(pairs, chunk, tokenizer, alignment=alignment), strict=True):
                types_of = _relations(cut) if alignment else None
                joined, kinds = tokenizer.join(cut[0].ids, cut[1].ids, relations=types_of)
                ids.append(np.array(joined, kind))
                types.append(np.array(kinds, np.uint8))
                n_cut += cut[0].is_cut or cut[1].is_cut
                if targets and pairs.spans is not None:
                    collected.add(*_layout(cut, tokenizer, len(joined)), pairs.spans[i], counts[i])
            bar.update(len(chunk))
    return TokenizedPairs(
        np.concatenate([np.zeros(0, kind), *ids]),
        np.cumsum([0, *map(len, ids)]),
        np.concatenate([np.zeros(0, np.uint8), *types]),
        pairs.heads(n_heads)[rows],
        n_cut,
        collected.finish() if targets else None,
    )


class _Cut(NamedTuple):
    """What is left of a text: its encoding's first tokens."""

    encoding: Any
    n_tokens: int
    words: Sequence[Word] = ()
    reading: Reading | None = None

    @property
    def ids(self) -> list[int]:
        ids: list[int] = self.encoding.ids
        return ids[: self.n_tokens]

    @property
    def is_cut(self) -> bool:
        return self.n_tokens < len(self.encoding)


def _cut_pairs(
    pairs: LabelledPairs, rows: Sequence[int], tokenizer: PairTokenizer, *, alignment: bool
) -> Iterator[tuple[_Cut, _Cut]]:
    """Yields reference and candidate of each row, cut to what the model reads; each distinct text is tokenised once."""
    texts = list(dict.fromkeys(text for i in rows for text in (pairs.references[i], pairs.candidates[i])))
    encodings = dict(zip(texts, tokenizer.encode(texts), strict=True))
    readings = {text: _reading(text) for text in texts} if alignment else {}
    words = {text: words_of(text, readings[text]) for text in readings}
    for i in rows:
        reference, candidate = pairs.references[i], pairs.candidates[i]
        window = tokenizer.truncated(len(encodings[reference]), len(encodings[candidate]))
        yield (
            _Cut(encodings[reference], window.reference.length, words.get(reference, ()), readings.get(reference)),
            _Cut(encodings[candidate], window.candidate.length, words.get(candidate, ()), readings.get(candidate)),
        )


def _reading(text: str) -> Reading | None:
    """Returns the reading of a text; none for one in `UNREAD`, so that the network learns to do without."""
    return read(text) if zlib.crc32(text.encode()) % UNREAD else None


def _relations(cut: tuple[_Cut, _Cut]) -> tuple[list[int], list[int]]:
    """Returns the relations of both texts' tokens."""
    reference, candidate = cut
    starts = [[start for start, _ in part.encoding.offsets[: part.n_tokens]] for part in cut]
    readings = reference.reading, candidate.reading
    return relations((reference.words, candidate.words), (starts[0], starts[1]), readings)


def _layout(
    cut: tuple[_Cut, _Cut], tokenizer: PairTokenizer, n_tokens: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Returns characters `(n_tokens, 2)` and text (-1 around the texts) of each token of a joined pair."""
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
        """Adds one pair: its tokens as `spread_errors` takes them, its evidence, its labels `(6,)`."""
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
        Targets `(n_tokens, 6)`, and how many errors of each category have a token `(6,)`.
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
        """Returns `input_ids`, `attention_mask`, `token_type_ids` `(B, T)`, `labels` `(B, C)`, perhaps targets."""
        import torch

        longest = max(len(row.ids) for row in rows)
        longest = min(-(-longest // LENGTH_STEP) * LENGTH_STEP, self.max_length)
        ids = np.full((len(rows), longest), self.padding, np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for i, row in enumerate(rows):
            ids[i, : len(row.ids)] = row.ids
            mask[i, : len(row.ids)] = 1
            types[i, : len(row.ids)] = row.types
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
    """Returns `(B, T, 6)`; NaN where a category's errors could not all be found in the text."""
    dense = np.zeros((len(rows), longest, N_CATEGORIES), np.float32)
    for i, row in enumerate(rows):
        if row.targets is not None and row.known is not None:
            tokens, categories, shares = row.targets
            dense[i, tokens, categories] = shares
            dense[i][:, ~row.known] = np.nan
    return dense
