"""CIDEr-D (Vedantam et al. 2015), with the constants and the factor 10 of the published code (pycocoevalcap).

For n = 1..4, n-gram counts weighted by log N - log max(1, df), N references of which df hold the n-gram; similarity
Σ min(c, r)·r / (‖c‖·‖r‖) times exp(-(len_c - len_r)² / (2·6²)), averaged over n, times 10. Papers report it ×1 or ×10.
The weights come from all references of the call: one pair alone has no meaning.

Differs from the authors: a reference whose every n-gram stands in all references (always so for a single pair) has
weight 0 everywhere; its pair is unscored (NaN), not 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rrgmetrics.backends import tokens
from rrgmetrics.reports import Pair, distinct_texts
from rrgmetrics.scorers.base import Array, Mean, Runtime, of_pairs
from rrgmetrics.scorers.frequencies import Frequencies

ORDER = tokens.MAX_ORDER
SIGMA = 6.0  # published code, cider_scorer.py
FACTOR = 10.0

Ngram = tuple[str, ...]


class Vectors(NamedTuple):
    """The weighted n-grams of one text, its norm for each order, and its length in bigrams."""

    weights: dict[Ngram, float]
    norms: Array
    length: int


@dataclass(frozen=True)
class Cider:
    """The metric CIDEr-D, over white-space tokens."""

    @property
    def reduction(self) -> Mean:
        """The means over pairs; document frequencies stay those of the whole call."""
        return Mean(("cider",))

    def backend(self, runtime: Runtime) -> tokens.TextFunction:
        """The backend that counts n-grams."""
        return tokens.whitespace_ngrams()

    def reference_statistics(self, references: Iterable[str], backend: tokens.TextFunction) -> Frequencies:
        """The document frequencies of the n-grams of all references, repeated ones counted each time."""
        texts = Counter(references)
        documents: Counter[Ngram] = Counter()
        for text, times in texts.items():
            for ngram in backend.function(text).counts:
                documents[ngram] += times
        return Frequencies(documents, texts.total())

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, tokens.Ngrams],
        statistics: Frequencies,
    ) -> Array:
        """The scores of the pairs `(n_pairs, 1)`."""
        vectors = {text: _vectors(annotations[text], statistics) for text in distinct_texts(pairs)}
        scores = [similarity(*both) for both in of_pairs(pairs, vectors)]
        return np.array(scores, dtype=np.float64)[:, None]


def _vectors(ngrams: tokens.Ngrams, frequencies: Frequencies) -> Vectors:
    weights: dict[Ngram, float] = {}
    squares = np.zeros(ORDER)
    log_n = frequencies.log_n
    for ngram, count in ngrams.counts.items():
        weight = count * (log_n - math.log(max(1, frequencies.documents[ngram])))
        weights[ngram] = weight
        squares[len(ngram) - 1] += weight**2
    return Vectors(weights, np.sqrt(squares), max(0, ngrams.length - 1))


def similarity(reference: Vectors, candidate: Vectors) -> float:
    """The CIDEr-D of one pair, 0 to 10; 0 if either text is empty, NaN if the reference has no weight."""
    if reference.weights and not reference.norms.any():
        return math.nan
    products = np.zeros(ORDER)
    for ngram, weight in reference.weights.items():  # in the text's order: a set's would change the last digit
        if ngram in candidate.weights:
            products[len(ngram) - 1] += min(candidate.weights[ngram], weight) * weight
    norms = reference.norms * candidate.norms
    cosines = np.divide(products, norms, out=np.zeros(ORDER), where=norms > 0)
    penalty = math.exp(-((candidate.length - reference.length) ** 2) / (2 * SIGMA**2))
    return min(FACTOR, FACTOR * penalty * float(cosines.mean()))
