"""Readings and tokens of texts, kept: a report serves several pairs, and an edited text is read again for its label."""

from __future__ import annotations

from functools import lru_cache

from rrgmetrics.reading import Reading
from rrgmetrics.reading.engine import read_with
from rrgmetrics.reading.lexicon import DEFAULT_PACK, LexiconKey, key_in_use, load
from rrgmetrics.reading.tokens import Token
from rrgmetrics.reading.typing_errors import tokenize_report

KEPT = 20_000  # texts, some 5 kB each


def reading_of(text: str, pack: str = DEFAULT_PACK) -> Reading:
    """Returns the reading of a report with a pack and the folder in use."""
    return _reading_of(text, key_in_use(pack))


def tokens_of(text: str, pack: str = DEFAULT_PACK) -> list[Token]:
    """Returns the words of a clean report as the reader sees them; they are not to be changed."""
    return _tokens_of(text, key_in_use(pack))


@lru_cache(maxsize=KEPT)
def _reading_of(text: str, key: LexiconKey) -> Reading:
    return read_with(load(*key), text)


@lru_cache(maxsize=KEPT // 10)
def _tokens_of(text: str, key: LexiconKey) -> list[Token]:
    return tokenize_report(text, load(*key))
