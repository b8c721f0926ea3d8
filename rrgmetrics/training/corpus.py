"""Reports for the encoder: files → distinct texts → a WordPiece vocabulary → token ids → masked batches."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics import files
from rrgmetrics.errors import InputError
from rrgmetrics.training.labelled import Source, source_of

if TYPE_CHECKING:
    from torch import Tensor

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNKNOWN, CLS, SEP, MASK = range(len(SPECIAL))
Ids = NDArray[np.unsignedinteger[Any]]  # of 16 bits where the vocabulary allows it
COLUMNS = ("report", "reference", "candidate")
CHUNK = 4096
NOT_PREDICTED = -100  # what transformers' losses leave out
MASKED, REPLACED = 0.8, 0.1  # of the tokens to be predicted; the others are kept (Devlin et al. 2019, 3.1)


class Vocabulary(NamedTuple):
    """A tokenizer and what training must know of it.

    Attributes:
        tokenizer: A `tokenizers.Tokenizer` that opens and closes a text with tokens of its own.
        pad: Id that fills rows up.
        mask: Id that stands for a hidden token.
        special: Ids that are never hidden, nor put in another's place.
    """

    tokenizer: Any
    pad: int = PAD
    mask: int = MASK
    special: tuple[int, ...] = tuple(range(len(SPECIAL)))


class Corpus(NamedTuple):
    """Distinct texts, in the order of their files."""

    texts: list[str]
    sources: tuple[Source, ...]


def read_corpus(paths: Sequence[str]) -> Corpus:
    """Reads the reports of text files (one a line), CSV, JSONL and Parquet.

    Args:
        paths: Files. Of CSV and JSONL `report` or `reference` is read, of Parquet every column of `COLUMNS`.

    Raises:
        InputError: No file named, or one that cannot be read.
    """
    if not paths:
        raise InputError("No corpus is named; give corpus: [FILE, ...] in the config, or --corpus FILE.")
    texts: dict[str, None] = {}
    sources = []
    for path in map(Path, paths):
        parquet = path.suffix.lower() == ".parquet" and path.is_file()
        reports = _read_parquet(path) if parquet else files.read_references(path).reports
        texts |= dict.fromkeys(text.strip() for text in reports if text.strip())
        sources.append(source_of(path, len(reports)))
    return Corpus(list(texts), tuple(sources))


def _read_parquet(path: Path) -> list[str]:
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            names = [name for name in COLUMNS if name in file.schema_arrow.names]
            if not names:
                raise InputError(f"{path} has none of the columns {', '.join(COLUMNS)}.")
            table = file.read(columns=names)
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from None
    return [text for name in names for text in table.column(name).to_pylist() if text is not None]


# --- vocabulary -------------------------------------------------------------------------------------------------------


def train_vocabulary(texts: Sequence[str], *, size: int, min_frequency: int) -> Any:
    """Trains lower-cased word pieces, as BERT's (Schuster and Nakajima 2012; `tokenizers`' WordPiece trainer).

    Args:
        texts: The corpus.
        size: Word pieces, the five special tokens included.
        min_frequency: Times a piece must occur.

    Returns:
        A `tokenizers.Tokenizer` that opens, parts and closes pairs as BERT does, with token types.
    """
    from tokenizers.implementations import BertWordPieceTokenizer

    trainee = BertWordPieceTokenizer(lowercase=True)
    # The trainer numbers pieces inside words as a hash table yields them, and so breaks ties differently each time:
    # given to it beforehand, in order, they make the vocabulary a function of the corpus.
    characters = sorted(set(trainee._tokenizer.normalizer.normalize_str("".join(sorted(set().union(*texts))))))
    inside = [f"##{character}" for character in characters if character.isalnum()]
    trainee.train_from_iterator(
        texts, vocab_size=size, min_frequency=min_frequency, special_tokens=[*SPECIAL, *inside], show_progress=False
    )
    return BertWordPieceTokenizer(trainee.get_vocab(), lowercase=True)._tokenizer


def save_vocabulary(tokenizer: Any, folder: Path, *, max_length: int) -> None:
    """Writes tokenizer.json, tokenizer_config.json and vocab.txt, so that transformers and `tokenizers` read it."""
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))
    settings = {"tokenizer_class": "BertTokenizerFast", "do_lower_case": True, "model_max_length": max_length}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | names, indent=2) + "\n")
    pieces = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece, _ in pieces), encoding="utf-8")
    tokenizer.save(str(folder / "tokenizer.json"))


# --- tokens -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TokenizedTexts:
    """Token ids of texts, one after the other; `order` says which of them make up this data set."""

    ids: Ids
    starts: NDArray[np.int64]
    order: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.order)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens of each text."""
        lengths: NDArray[np.int64] = np.diff(self.starts)[self.order]
        return lengths

    def __getitem__(self, i: int) -> Ids:
        start, end = self.starts[self.order[i]], self.starts[self.order[i] + 1]
        return self.ids[start:end]

    def split(self, n_held_out: int, seed: int) -> tuple[TokenizedTexts, TokenizedTexts]:
        """Returns texts held out, drawn by seed, and the others."""
        order = np.random.default_rng(seed).permutation(self.order)
        held_out, others = order[:n_held_out], order[n_held_out:]
        return TokenizedTexts(self.ids, self.starts, held_out), TokenizedTexts(self.ids, self.starts, others)


def tokenize_texts(texts: Sequence[str], tokenizer: Any, max_length: int) -> TokenizedTexts:
    """Tokenises texts, cut at `max_length`, special tokens included."""
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length)
    kind: Any = np.uint16 if tokenizer.get_vocab_size() <= 2**16 else np.uint32
    rows: list[Ids] = [
        np.array(encoding.ids, kind)
        for start in range(0, len(texts), CHUNK)
        for encoding in tokenizer.encode_batch(list(texts[start : start + CHUNK]))
    ]
    tokenizer.no_truncation()
    return TokenizedTexts(np.concatenate(rows), np.cumsum([0, *map(len, rows)]), np.arange(len(rows)))


@dataclass(frozen=True)
class TextBatches:
    """Pads texts to a batch: `input_ids` and `attention_mask` `(B, T)`."""

    pad: int = PAD

    def __call__(self, rows: Sequence[Ids]) -> Mapping[str, Tensor]:
        """Returns the batch."""
        import torch

        return {name: torch.from_numpy(array) for name, array in _pad(rows, self.pad).items()}


@dataclass(frozen=True)
class MaskedBatches:
    """Texts with some tokens hidden, and those tokens as `labels`.

    What is hidden is a function of seed and batch, so it differs from epoch to epoch and from seed to seed, and a run
    that was interrupted, or reads with several workers, hides the same.

    Attributes:
        vocabulary_size: Pieces that a token may be replaced with.
        probability: Share of tokens to be predicted.
        seed: Of the draws.
        pad: Id that fills rows up.
        mask: Id that stands for a hidden token.
        special: Ids that are never hidden, nor put in another's place.
    """

    vocabulary_size: int
    probability: float
    seed: int
    pad: int = PAD
    mask: int = MASK
    special: tuple[int, ...] = tuple(range(len(SPECIAL)))

    @cached_property
    def ordinary(self) -> NDArray[np.int64]:
        """The ids of all other tokens."""
        return np.setdiff1d(np.arange(self.vocabulary_size), self.special)

    def __call__(self, rows: Sequence[Ids]) -> Mapping[str, Tensor]:
        """Returns `input_ids`, `attention_mask`, `labels` `(B, T)`."""
        import torch

        batch = _pad(rows, self.pad)
        ids = batch["input_ids"]
        generator = np.random.default_rng((self.seed, zlib.crc32(ids.tobytes())))
        predicted = (generator.random(ids.shape) < self.probability) & ~np.isin(ids, self.special)
        labels = np.where(predicted, ids, NOT_PREDICTED)
        fate = generator.random(ids.shape)
        others = self.ordinary[generator.integers(len(self.ordinary), size=ids.shape)]
        ids[predicted & (fate < MASKED)] = self.mask
        replaced = predicted & (fate >= MASKED) & (fate < MASKED + REPLACED)
        ids[replaced] = others[replaced]
        return {name: torch.from_numpy(array) for name, array in (batch | {"labels": labels}).items()}


def _pad(rows: Sequence[Ids], pad: int) -> dict[str, NDArray[np.int64]]:
    ids = np.full((len(rows), max(map(len, rows))), pad, np.int64)
    mask = np.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
        mask[i, : len(row)] = 1
    return {"input_ids": ids, "attention_mask": mask}
