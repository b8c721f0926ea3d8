"""ROUGE-1, ROUGE-2 and ROUGE-L, F-measure (Lin 2004), equal to the rouge-score package.

rouge-score tokenizes and stems; the counting is done here, because its table for the longest common subsequence
takes time and memory of the product of both lengths, and because it tokenizes a text again for each pair.
ROUGE-L runs over the whole report (`rougeL`), not sentence by sentence (`rougeLsum`).
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


@dataclass(frozen=True)
class Rouge:
    """ROUGE with the option `stemmer` of the spec."""

    stemmer: bool = True

    @property
    def reduction(self) -> Mean:
        """The means over pairs."""
        return Mean(KEYS)

    def backend(self, runtime: Runtime) -> tokens.TextFunction:
        """The backend that counts rouge-score's tokens."""
        return tokens.rouge_tokens(self.stemmer)

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, tokens.RougeTokens],
        statistics: None = None,
    ) -> Array:
        """The F-measures `(n_pairs, 4)` in the order of `KEYS`."""
        rows = []
        for reference, candidate in of_pairs(pairs, annotations):
            shared = longest_common_subsequence(reference, candidate)
            rouge_l = f_measure(shared, candidate.length, reference.length)
            rouge_1 = _overlap_f(reference.unigrams, candidate.unigrams)
            rouge_2 = _overlap_f(reference.bigrams, candidate.bigrams)
            rows.append((rouge_l, rouge_1, rouge_2, rouge_l))
        return np.array(rows, dtype=np.float64).reshape(-1, len(KEYS))


def f_measure(matches: int, n_candidate: int, n_reference: int) -> float:
    """The harmonic mean of precision and recall; 0 where either is undefined or both are 0."""
    if not matches:
        return 0.0
    precision, recall = matches / n_candidate, matches / n_reference
    return 2 * precision * recall / (precision + recall)


def longest_common_subsequence(reference: tokens.RougeTokens, candidate: tokens.RougeTokens) -> int:
    """The length of the longest common subsequence, by bit vectors (Hyyrö 2004): one step for each candidate token."""
    all_places = (1 << reference.length) - 1
    row = all_places
    for token in candidate.tokens:
        matches = row & reference.places.get(token, 0)
        if matches:
            row = (row + matches | row - matches) & all_places
    return reference.length - row.bit_count()


def _overlap_f(reference: Counter[Any], candidate: Counter[Any]) -> float:
    shared = sum(min(reference[gram], candidate[gram]) for gram in reference.keys() & candidate.keys())
    return f_measure(shared, candidate.total(), reference.total())
