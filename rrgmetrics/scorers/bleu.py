"""BLEU-1 to BLEU-4 (Papineni et al. 2002).

Two kinds of tokens under one name, chosen by `tokenizer`, each with its `smoothing`:

- `coco` (default): whitespace tokens, case and punctuation kept, and the smoothing constants of coco-caption
  (1e-15 in the numerator, 1e-9 in the denominator), which RRG papers and RadEval 2.2 report. A pair's value is the
  same formula on its own counts, so two identical texts of three tokens do not reach 1.
- `13a`: sacrebleu 2.6's defaults: 13a tokens, exponential smoothing; a pair's value uses the effective order.
- `13a` with `smoothing=none`: Papineni's formula, 0 where an order has no match, as evaluate's own `bleu` computes it.

Differs from the authors: 0 to 1 for both (sacrebleu prints 0 to 100), and one reference a candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rrgmetrics.backends import tokens
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Runtime, of_pairs
from rrgmetrics.specs import keys_of

ORDER = tokens.MAX_ORDER
KEYS = (*keys_of("bleu")[1:], "bleu")  # by order
TINY, SMALL = 1e-15, 1e-9  # coco-caption, bleu_scorer.py


@dataclass(frozen=True)
class BleuReduction:
    """Reduces sums to BLEU: matches of order 1-4, candidate n-grams of order 1-4, candidate and reference length."""

    smoothing: str

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """The BLEU of summed counts; NaN where nothing is scored."""
        scores = self._bleu(sums, effective_order=False)
        return _by_key(np.where(np.asarray(n)[..., None] > 0, scores, np.nan))

    def per_pair(self, stats: Array) -> dict[str, Array]:
        """The BLEU of each pair's own counts."""
        scores = self._bleu(stats, effective_order=True)
        return _by_key(np.where(np.isnan(stats).any(axis=-1, keepdims=True), np.nan, scores))

    def _bleu(self, counts: Array, *, effective_order: bool) -> Array:
        if self.smoothing == "coco":
            return coco_bleu(counts)
        if self.smoothing == "none":
            return unsmoothed_bleu(counts)
        return sacrebleu_bleu(counts, effective_order=effective_order)


@dataclass(frozen=True)
class Bleu:
    """BLEU with the options `tokenizer` and `smoothing` of the spec."""

    tokenizer: str = "coco"
    smoothing: str = "coco"

    @property
    def reduction(self) -> BleuReduction:
        """The reduction of summed counts to BLEU."""
        return BleuReduction(self.smoothing)

    def backend(self, runtime: Runtime) -> tokens.TextFunction:
        """The backend that counts n-grams."""
        return tokens.whitespace_ngrams() if self.tokenizer == "coco" else tokens.sacrebleu_ngrams()

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, tokens.Ngrams],
        statistics: None = None,
    ) -> Array:
        """The counts of each pair `(n_pairs, 10)`, in the order that `BleuReduction` names."""
        counts = [_counts(*both) for both in of_pairs(pairs, annotations)]
        return np.array(counts, dtype=np.float64).reshape(-1, 2 * ORDER + 2)


def _counts(reference: tokens.Ngrams, candidate: tokens.Ngrams) -> list[int]:
    matches = [0] * ORDER
    for ngram in reference.counts.keys() & candidate.counts.keys():
        matches[len(ngram) - 1] += min(reference.counts[ngram], candidate.counts[ngram])
    guesses = [max(0, candidate.length - order) for order in range(ORDER)]
    return [*matches, *guesses, candidate.length, reference.length]


def coco_bleu(sums: Array) -> Array:
    """Computes BLEU-1 to BLEU-4 `(..., 4)` from counts `(..., 10)` as coco-caption does."""
    matches, guesses = sums[..., :ORDER], sums[..., ORDER : 2 * ORDER]
    precisions = (matches + TINY) / (guesses + SMALL)
    scores = np.cumprod(precisions, axis=-1) ** (1 / np.arange(1, ORDER + 1))
    ratio = (sums[..., -2] + TINY) / (sums[..., -1] + SMALL)
    brevity: Array = np.exp(np.minimum(0, 1 - 1 / ratio))
    return scores * brevity[..., None]


def unsmoothed_bleu(sums: Array) -> Array:
    """Computes BLEU-1 to BLEU-4 `(..., 4)` from counts `(..., 10)` without smoothing: 0 where an order has no match."""
    matches, guesses = sums[..., :ORDER], sums[..., ORDER : 2 * ORDER]
    precisions = np.divide(matches, guesses, out=np.zeros_like(matches), where=guesses > 0)
    scores = np.cumprod(precisions, axis=-1) ** (1 / np.arange(1, ORDER + 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        brevity = np.where(sums[..., -2] > 0, np.exp(np.minimum(0, 1 - sums[..., -1] / sums[..., -2])), 0.0)
    return np.asarray(scores * brevity[..., None])


def sacrebleu_bleu(sums: Array, *, effective_order: bool) -> Array:
    """Computes BLEU-1 to BLEU-4 `(..., 4)` from counts `(..., 10)` as sacrebleu does, with exponential smoothing.

    Args:
        sums: Counts.
        effective_order: Average only over orders of which the candidate has n-grams (sacrebleu: sentence scores);
            otherwise a candidate too short for an order scores 0.
    """
    matches, guesses = sums[..., :ORDER], sums[..., ORDER : 2 * ORDER]
    orders = np.arange(1, ORDER + 1)
    has_guesses = guesses > 0
    smoothing = 2.0 ** np.cumsum((matches == 0) & has_guesses, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        precisions = np.where(matches > 0, matches / guesses, 1 / (smoothing * guesses))
        logs = np.cumsum(np.where(has_guesses, np.log(precisions), 0.0), axis=-1)
        lengths = sums[..., -1] / sums[..., -2]
        brevity = np.where(sums[..., -2] > 0, np.exp(np.minimum(0, 1 - lengths)), 0.0)
        used = np.cumsum(has_guesses, axis=-1) if effective_order else orders
        scores = brevity[..., None] * np.exp(logs / used)
    defined = (np.cumsum(matches, axis=-1) > 0) & (has_guesses | effective_order)
    return np.where(defined, np.minimum(scores, 1.0), 0.0)


def _by_key(scores: Array) -> dict[str, Array]:
    by_order = {key: scores[..., i] for i, key in enumerate(KEYS)}
    return {"bleu": by_order.pop("bleu"), **by_order}
