"""Readings and tokens of texts, kept: a report serves several pairs, and an edited text is read again for its label."""

from __future__ import annotations

from functools import lru_cache

from rrgmetrics.reader import Reading, read
from rrgmetrics.reader.lexicon import folder_in_use, load
from rrgmetrics.reader.tokens import Token
from rrgmetrics.reader.typing_errors import tokenize_report

KEPT = 20_000  # texts, some 5 kB each


def reading_of(text: str) -> Reading:
    """Returns the reading of a report with the lexicon in use."""
    return _reading_of(text, folder_in_use())


def tokens_of(text: str) -> list[Token]:
    """Returns the words of a clean report as the reader sees them; they are not to be changed."""
    return _tokens_of(text, folder_in_use())


@lru_cache(maxsize=KEPT)
def _reading_of(text: str, lexicon: str) -> Reading:
    return read(text)


@lru_cache(maxsize=KEPT // 10)
def _tokens_of(text: str, lexicon: str) -> list[Token]:
    return tokenize_report(text, load())
