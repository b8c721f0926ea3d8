"""METEOR as NLTK computes it (Banerjee and Lavie 2005; weights of Lavie and Agarwal 2007: 0.9, 3, 0.5).

Unigrams are aligned by exact word, then Porter stem, then WordNet synonym; F = P·R / (0.9·P + 0.1·R) is lowered by
0.5·(chunks / matches)³. Java METEOR 1.5, which pycocoevalcap wraps, has other weights and paraphrase tables and gives
about half the value: the signature names which ran.

Differs from NLTK's usual set-up: WordNet ships with rrgmetrics, and tokens come from a regular expression, because
`nltk.word_tokenize` needs the punkt data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from rrgmetrics.backends import tokens
from rrgmetrics.backends.wordnet import Synset, load_wordnet
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Mean, Runtime, of_pairs


class NoWordNet:
    """A WordNet without words, with which the synonym stage matches nothing."""

    def synsets(self, word: str) -> list[Synset]:
        """Returns no meaning."""
        return []


@dataclass(frozen=True)
class Meteor:
    """METEOR with the options of the spec."""

    tokenizer: str = "wordpunct"
    synonyms: bool = True
    wordnet: str = ""

    @property
    def reduction(self) -> Mean:
        """The means over pairs."""
        return Mean(("meteor",))

    def backend(self, runtime: Runtime) -> tokens.TextFunction:
        """The backend that cuts texts into tokens; loads WordNet too, so that a missing folder is known at once."""
        facts = {"nltk": version("nltk")}
        if self.synonyms:
            facts["wordnet_sha256"] = load_wordnet(self.wordnet).sha256[:8]
        words = tokens.words(self.tokenizer)
        return tokens.TextFunction(words.key, words.function, facts)

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, list[str]],
        statistics: None = None,
    ) -> Array:
        """The scores of the pairs `(n_pairs, 1)`."""
        from nltk.translate.meteor_score import single_meteor_score

        wordnet = load_wordnet(self.wordnet) if self.synonyms else NoWordNet()
        stemmer = tokens.CachedStemmer()
        scores = [
            single_meteor_score(reference, candidate, stemmer=stemmer, wordnet=wordnet)
            for reference, candidate in of_pairs(pairs, annotations)
        ]
        return np.array(scores, dtype=np.float64)[:, None]
