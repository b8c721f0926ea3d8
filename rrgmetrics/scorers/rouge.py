"""ROUGE-1, ROUGE-2 and ROUGE-L, F-measure (Lin 2004), equal to the rouge-score package.

rouge-score tokenizes and stems; the counting is done here, because its table for the longest common subsequence
takes time and memory of the product of both lengths, and because it tokenizes a text again for each pair.
ROUGE-L runs over the whole report (`rougeL`), not sentence by sentence (`rougeLsum`).

`flavour=coco` is coco-caption's ROUGE-L, which R2Gen and those after it report: white space tokens as they are, and

    F = (1 + β²) P R / (R + β² P),  β = 1.2

Differs from coco-caption: it splits at each single space, so that two spaces make an empty token and two empty reports
score 1; here runs of white space part tokens, and an empty report scores 0. ROUGE-1 and ROUGE-2, which it does not
have, are the same F of the same tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rrgmetrics.backends import tokens
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Mean, Runtime, of_pairs
from rrgmetrics.specs import keys_of

KEYS = keys_of("rouge")
COCO_BETA = 1.2  # coco-caption, rouge.py


@dataclass(frozen=True)
class Rouge:
    """ROUGE with the options `flavour` and `stemmer` of the spec."""

    flavour: str = "google"
    stemmer: bool = True

    @property
    def reduction(self) -> Mean:
        """The means over pairs."""
        return Mean(KEYS)

    def backend(self, runtime: Runtime) -> tokens.TextFunction:
        """The backend that counts rouge-score's tokens, or those between white space."""
        return tokens.coco_tokens(self.stemmer) if self.flavour == "coco" else tokens.rouge_tokens(self.stemmer)

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, tokens.RougeTokens],
        statistics: None = None,
    ) -> Array:
        """The F-measures `(n_pairs, 4)` in the order of `KEYS`."""
        beta = COCO_BETA if self.flavour == "coco" else 1.0
        rows = []
        for reference, candidate in of_pairs(pairs, annotations):
            shared = longest_common_subsequence(reference, candidate)
            rouge_l = f_measure(shared, candidate.length, reference.length, beta)
            rouge_1 = _overlap_f(reference.unigrams, candidate.unigrams, beta)
            rouge_2 = _overlap_f(reference.bigrams, candidate.bigrams, beta)
            rows.append((rouge_l, rouge_1, rouge_2, rouge_l))
        return np.array(rows, dtype=np.float64).reshape(-1, len(KEYS))


def f_measure(matches: int, n_candidate: int, n_reference: int, beta: float = 1.0) -> float:
    """The mean F of precision and recall, harmonic for `beta` 1; 0 where either is undefined or both are 0."""
    if not matches:
        return 0.0
    precision, recall = matches / n_candidate, matches / n_reference
    if beta == 1:
        return 2 * precision * recall / (precision + recall)
    return (1 + beta**2) * precision * recall / (recall + beta**2 * precision)


def longest_common_subsequence(reference: tokens.RougeTokens, candidate: tokens.RougeTokens) -> int:
    """The length of the longest common subsequence, by bit vectors (Hyyrö 2004): one step for each candidate token."""
    all_places = (1 << reference.length) - 1
    row = all_places
    for token in candidate.tokens:
        matches = row & reference.places.get(token, 0)
        if matches:
            row = (row + matches | row - matches) & all_places
    return reference.length - row.bit_count()


def _overlap_f(reference: Counter[Any], candidate: Counter[Any], beta: float) -> float:
    shared = sum(min(reference[gram], candidate[gram]) for gram in reference.keys() & candidate.keys())
    return f_measure(shared, candidate.total(), reference.total(), beta)
