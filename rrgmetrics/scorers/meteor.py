"""METEOR as NLTK computes it (Banerjee and Lavie 2005; weights of Lavie and Agarwal 2007: 0.9, 3, 0.5).

Unigrams are aligned by exact word, then Porter stem, then WordNet synonym of the stem; F = P·R / (0.9·P + 0.1·R) is
lowered by 0.5·(chunks / matches)³. Java METEOR 1.5, which pycocoevalcap wraps, has other weights and paraphrase tables
and gives about half the value: the signature names which ran.

Differs from NLTK's usual set-up: WordNet ships with rrgmetrics, and tokens come from a regular expression, because
`nltk.word_tokenize` needs the punkt data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rrgmetrics.backends import tokens
from rrgmetrics.backends.porter import NLTK
from rrgmetrics.backends.wordnet import load_wordnet
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Mean, Runtime, of_pairs

ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5


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
        facts = {"nltk": NLTK}
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
        synonyms_of = load_wordnet(self.wordnet).synonyms if self.synonyms else lambda word: {word}
        stem = tokens.cached_stemmer()
        scores = [
            score(align(reference, candidate, stem, synonyms_of), len(reference), len(candidate))
            for reference, candidate in of_pairs(pairs, annotations)
        ]
        return np.array(scores, dtype=np.float64)[:, None]


def align(
    reference: Sequence[str],
    candidate: Sequence[str],
    stem: Callable[[str], str],
    synonyms_of: Callable[[str], Iterable[str]],
) -> list[tuple[int, int]]:
    """Returns the places in candidate and reference of the words that match, in the candidate's order."""
    own, other = ({place: word.lower() for place, word in enumerate(words)} for words in (candidate, reference))
    matches = list(_matches(own, other, lambda word: (word,)))
    own, other = ({place: stem(word) for place, word in words.items()} for words in (own, other))
    matches += _matches(own, other, lambda word: (word,))
    matches += _matches(own, other, synonyms_of)
    return sorted(matches)


def _matches(
    candidate: dict[int, str], reference: dict[int, str], forms: Callable[[str], Iterable[str]]
) -> Iterator[tuple[int, int]]:
    """Matches words from the last to the first, each with the last that is free in the reference; removes both."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, word in reference.items():
        places[word].append(place)
    for own in list(candidate)[::-1]:
        free = [places[form][-1] for form in forms(candidate[own]) if places.get(form)]
        if free:
            del candidate[own]
            places[reference.pop(max(free))].pop()
            yield own, max(free)


def score(matches: Sequence[tuple[int, int]], n_reference: int, n_candidate: int) -> float:
    """The score of an alignment; 0 where nothing matches."""
    if not matches:
        return 0.0
    precision, recall = len(matches) / n_candidate, len(matches) / n_reference
    f = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    chunks = 1 + sum(after != (own + 1, other + 1) for (own, other), after in pairwise(matches))
    penalty: float = GAMMA * (chunks / len(matches)) ** BETA
    return (1 - penalty) * f
