"""Joins two texts to the one row of tokens that a cross-encoder reads: [CLS] reference [SEP] candidate [SEP].

Each distinct text is cut into word pieces once, by `tokenizers`; rows are joined here, with the tokens that open,
part and close a pair as the checkpoint's own tokenizer sets them. Equal to calling a transformers tokenizer on the two
texts with `truncation=True`: the longer of the two is cut first, and an empty candidate makes it a single text, without
the second [SEP]. A candidate of blanks, which has no token either, is no empty one: it keeps that [SEP].
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from rrgmetrics.backends.checkpoints.limits import read_json
from rrgmetrics.backends.crepe.alignment import TYPES_A_TEXT
from rrgmetrics.errors import BackendError


class SpecialTokens(NamedTuple):
    """The ids and types of special tokens that stand before, between or behind the texts."""

    ids: tuple[int, ...]
    types: tuple[int, ...]


class Span(NamedTuple):
    """The tokens `start` to `end` of a text."""

    start: int
    end: int

    @property
    def length(self) -> int:
        """The number of tokens."""
        return self.end - self.start


class Window(NamedTuple):
    """The parts of a reference and a candidate that are read together."""

    reference: Span
    candidate: Span

    @property
    def length(self) -> int:
        """The number of tokens of both."""
        return self.reference.length + self.candidate.length


@dataclass(frozen=True)
class PairTokenizer:
    """Cuts texts into tokens and joins two of them.

    Attributes:
        tokenizer: A `tokenizers.Tokenizer` that neither cuts nor pads.
        opening: Before the reference.
        between: After the reference.
        closing: After the candidate.
        lone: After a reference whose candidate is empty.
        types: Type of the reference's and of the candidate's tokens.
        max_length: Tokens that the model reads, the marks included.
    """

    tokenizer: Any
    opening: SpecialTokens
    between: SpecialTokens
    closing: SpecialTokens
    lone: SpecialTokens
    types: tuple[int, int]
    max_length: int

    def token_budget(self, *, alone: bool) -> int:
        """The number of tokens of the two texts that fit; more if the reference stands alone, without a candidate."""
        after = (self.lone,) if alone else (self.between, self.closing)
        return self.max_length - sum(len(marks.ids) for marks in (self.opening, *after))

    def encode(self, texts: Sequence[str]) -> list[Any]:
        """Returns a `tokenizers.Encoding` (ids, offsets) of each whole text, without special tokens."""
        encodings: list[Any] = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return encodings

    def join(
        self,
        reference: list[int],
        candidate: list[int],
        *,
        alone: bool | None = None,
        relations: tuple[list[int], list[int]] | None = None,
    ) -> tuple[list[int], list[int]]:
        """Returns the ids and types of a pair.

        Args:
            reference: Ids of the reference.
            candidate: Ids of the candidate.
            alone: Whether there is no candidate; None: if it has no ids.
            relations: Of the tokens of both (`alignment`), for a checkpoint that reads them as types.
        """
        if relations is not None:
            return self._aligned(reference, candidate, relations)
        opened = [*self.opening.ids, *reference], [*self.opening.types, *[self.types[0]] * len(reference)]
        if not candidate if alone is None else alone:
            return [*opened[0], *self.lone.ids], [*opened[1], *self.lone.types]
        ids = [*opened[0], *self.between.ids, *candidate, *self.closing.ids]
        types = [*opened[1], *self.between.types, *[self.types[1]] * len(candidate), *self.closing.types]
        return ids, types

    def _aligned(
        self, reference: list[int], candidate: list[int], relations: tuple[list[int], list[int]]
    ) -> tuple[list[int], list[int]]:
        """Types are relations, those of the candidate behind those of the reference; there is always a candidate."""
        ids = [*self.opening.ids, *reference, *self.between.ids, *candidate, *self.closing.ids]
        types = [0] * len(self.opening.ids) + relations[0] + [0] * len(self.between.ids)
        behind = [TYPES_A_TEXT + relation for relation in relations[1]]
        return ids, types + behind + [TYPES_A_TEXT] * len(self.closing.ids)

    def truncated(self, n_reference: int, n_candidate: int, *, alone: bool | None = None) -> Window:
        """Returns what is left of two texts: the longer is cut first, then both to half of the token budget."""
        budget = self.token_budget(alone=not n_candidate if alone is None else alone)
        short, long = sorted((n_reference, n_candidate))
        if short + long > budget:
            long = max(short, budget - short)
        if short + long > budget:
            short, long = budget // 2, budget - budget // 2
        lengths = (short, long) if n_reference <= n_candidate else (long, short)
        return Window(Span(0, lengths[0]), Span(0, lengths[1]))

    def windows(self, reference: Any, candidate: Any, texts: tuple[str, str]) -> list[Window]:
        """Cuts two encodings into as few aligned windows as fit, at the sentence ends nearest to equal shares.

        Args:
            reference: Encoding of the reference.
            candidate: Encoding of the candidate.
            texts: Reference and candidate.
        """
        ends = [_sentence_ends(encoding, text) for encoding, text in zip((reference, candidate), texts, strict=True)]
        lengths = len(reference.ids), len(candidate.ids)
        budget = self.token_budget(alone=not texts[1])
        fewest = -(-sum(lengths) // budget)
        most = -(-sum(lengths) // (budget - 2))  # equal shares of both, rounded up, fit at last
        for n in range(fewest, 2 * most + 1):
            cut = [_shares(length, at, n) for length, at in zip(lengths, ends, strict=True)]
            windows = [Window(*pair) for pair in zip(*cut, strict=True)]
            if all(window.length <= budget for window in windows):
                return windows
        anywhere = [_shares(length, range(length), most) for length in lengths]  # a sentence is longer than a window
        return [Window(*pair) for pair in zip(*anywhere, strict=True)]


def _sentence_ends(encoding: Any, text: str) -> list[int]:
    """Places between tokens at which a sentence or a line of the text ends."""
    offsets: list[tuple[int, int]] = encoding.offsets
    return [
        place
        for place, ((_, end), (start, _)) in enumerate(pairwise(offsets), start=1)
        if start > end and (text[end - 1] in ".!?" or "\n" in text[end:start])
    ]


def _shares(length: int, places: Sequence[int], n: int) -> list[Span]:
    """A text of `length` tokens in `n` parts of about equal length that begin and end at given places."""
    places = [0, *places, length]

    def nearest(target: float) -> int:
        after = bisect_left(places, target)
        return min(places[max(after - 1, 0) : after + 1], key=lambda place: abs(place - target))

    cuts = [nearest(length * i / n) for i in range(n + 1)]
    return [Span(start, end) for start, end in pairwise(cuts)]


def load_pair_tokenizer(folder: Path, *, max_length: int, n_types: int) -> PairTokenizer:
    """Reads `tokenizer.json`, or else `vocab.txt` with `tokenizer_config.json`, of a checkpoint.

    Args:
        folder: The checkpoint.
        max_length: Tokens that the model reads.
        n_types: Token types that the model tells apart; 1 (or 0) if none.

    Raises:
        BackendError: No or damaged files, or a tokenizer that does not set two texts apart.
    """
    try:
        tokenizer = _read_tokenizer(folder)
    except BackendError:
        raise
    except Exception as error:  # tokenizers raises bare Exception
        raise BackendError(f"{folder}: the tokenizer's files are damaged: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    probe, single = tokenizer.encode("a", "a"), tokenizer.encode("a")
    texts = probe.sequence_ids
    own = [
        [i for i, text in enumerate(texts) if text == which and not probe.special_tokens_mask[i]] for which in (0, 1)
    ]
    if not all(own) or own[1][0] <= own[0][-1] + 1:
        raise BackendError(
            f"{folder}: the tokenizer puts no separator between two texts; CREPE needs a tokenizer for pairs."
        )
    first, second = (probe.type_ids[places[0]] for places in own)
    if n_types > 1 and first == second:
        raise BackendError(
            f"{folder}: the tokenizer gives both texts the same token type, but the model distinguishes them; save "
            "it with BertTokenizerFast.save_pretrained."
        )

    def marks(encoding: Any, start: int, end: int | None = None) -> SpecialTokens:
        return SpecialTokens(tuple(encoding.ids[start:end]), tuple(encoding.type_ids[start:end]))

    return PairTokenizer(
        tokenizer=tokenizer,
        opening=marks(probe, 0, own[0][0]),
        between=marks(probe, own[0][-1] + 1, own[1][0]),
        closing=marks(probe, own[1][-1] + 1),
        lone=marks(single, own[0][-1] + 1),
        types=(first, second),
        max_length=max_length,
    )


def _read_tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer
    from tokenizers.implementations import BertWordPieceTokenizer
    from tokenizers.models import WordPiece

    settings_file = folder / "tokenizer_config.json"
    settings = read_json(settings_file) if settings_file.is_file() else {}
    if (folder / "tokenizer.json").is_file():
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        lower = settings.get("do_lower_case")
        if lower is not None and hasattr(tokenizer.normalizer, "lowercase"):
            tokenizer.normalizer.lowercase = lower  # transformers, too, follows tokenizer_config.json
        return tokenizer
    if (folder / "vocab.txt").is_file():
        return BertWordPieceTokenizer(
            WordPiece.read_file(str(folder / "vocab.txt")),
            lowercase=settings.get("do_lower_case", True),
            strip_accents=settings.get("strip_accents"),
            handle_chinese_chars=settings.get("tokenize_chinese_chars", True),
        )
    raise BackendError(f"{folder} has neither tokenizer.json nor vocab.txt; copy the tokenizer's files there too.")
