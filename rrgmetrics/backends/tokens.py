"""Backends that need no model: tokens and counted n-grams of a text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from rrgmetrics.backends.porter import NLTK, stem

MAX_ORDER = 4
WORD_OR_PUNCTUATION = re.compile(r"\w+|[^\w\s]+")
ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
RULES_13A = (
    (re.compile(r"([!-&(-+:-@\[-`{-~/])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),  # full stop and comma unless after a digit
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),  # or before one
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


@dataclass(frozen=True)
class TextFunction:
    """A backend that applies a pure function to each text."""

    key: str
    function: Callable[[str], Any]
    facts: Mapping[str, str] = field(default_factory=dict)

    def annotate(self, texts: Sequence[str]) -> list[Any]:
        """Applies the function to each text."""
        return [self.function(text) for text in texts]


class Ngrams(NamedTuple):
    """The number of tokens, and how often each n-gram of order 1 to 4 occurs (keys are tuples of tokens)."""

    length: int
    counts: Counter[tuple[str, ...]]


def count_ngrams(tokens: Sequence[str], max_order: int = MAX_ORDER) -> Ngrams:
    """Counts the n-grams of order 1 to `max_order`."""
    counts: Counter[tuple[str, ...]] = Counter()
    for order in range(1, max_order + 1):
        counts.update(zip(*(tokens[i:] for i in range(order)), strict=False))
    return Ngrams(len(tokens), counts)


def whitespace_ngrams() -> TextFunction:
    """Counts n-grams over `str.split()`, as BLEU in COCO's arithmetic and CIDEr do."""
    return TextFunction("ngrams:whitespace", lambda text: count_ngrams(text.split()))


def sacrebleu_ngrams() -> TextFunction:
    """Counts n-grams over sacrebleu's 13a tokens."""
    return TextFunction("ngrams:13a", lambda text: count_ngrams(tokenize_13a(text)))


def tokenize_13a(text: str) -> list[str]:
    """The 13a tokens of sacrebleu (mteval-v13a): the rules of its tokenizer_13a.py and tokenizer_re.py, version 2.6.

    sacrebleu's own function also pads every space with two more, which split away again, and keeps its last 65,536
    texts: it takes twice as long and does not let go of them.
    """
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in text:
        for entity, character in ENTITIES:
            text = text.replace(entity, character)
    text = f" {text} "
    for pattern, replacement in RULES_13A:
        text = pattern.sub(replacement, text)
    return text.split()


class RougeTokens(NamedTuple):
    """The tokens of rouge-score with ROUGE's counts of them; `places` has for each token a bit at its positions."""

    length: int
    unigrams: Counter[str]
    bigrams: Counter[tuple[str, str]]
    tokens: list[str]
    places: dict[str, int]


class Stemmer(NamedTuple):
    """A stemmer as rouge-score takes it."""

    stem: Callable[[str], str]


def rouge_tokens(stemmer: bool) -> TextFunction:
    """Cuts a text into tokens as rouge-score does; each distinct word is stemmed once."""
    from importlib.metadata import version  # 20 ms that other metrics need not pay

    from rouge_score.tokenize import tokenize

    own = Stemmer(cached_stemmer()) if stemmer else None
    facts = {"rouge_score": version("rouge-score")} | ({"nltk": NLTK} if stemmer else {})
    key = f"rouge:{'stem' if stemmer else 'word'}"
    return TextFunction(key, lambda text: count_rouge_tokens(tokenize(text, own)), facts)


def coco_tokens(stemmer: bool) -> TextFunction:
    """Cuts a text into tokens at white space, for ROUGE-L as coco-caption has it; stems them if asked to."""
    own = cached_stemmer() if stemmer else None
    facts = {"nltk": NLTK} if stemmer else {}

    def annotate(text: str) -> RougeTokens:
        return count_rouge_tokens([own(token) for token in text.split()] if own else text.split())

    return TextFunction(f"rouge:coco:{'stem' if stemmer else 'word'}", annotate, facts)


def count_rouge_tokens(tokens: list[str]) -> RougeTokens:
    """Counts tokens as ROUGE needs them."""
    places: dict[str, int] = {}
    for index, token in enumerate(tokens):
        places[token] = places.get(token, 0) | 1 << index
    return RougeTokens(len(tokens), Counter(tokens), Counter(pairwise(tokens)), tokens, places)


def words(tokenizer: str) -> TextFunction:
    """Cuts a text into tokens by `"wordpunct"` (words and runs of punctuation) or `"whitespace"`."""
    functions: dict[str, Callable[[str], list[str]]] = {
        "wordpunct": WORD_OR_PUNCTUATION.findall,
        "whitespace": str.split,
    }
    return TextFunction(f"words:{tokenizer}", functions[tokenizer])


def cached_stemmer() -> Callable[[str], str]:
    """A Porter stemmer, equal to NLTK's, that stems each word once."""
    return lru_cache(maxsize=100_000)(stem)
