"""The words of `phrases/edits.yaml` and `phrases/variants.yaml`, and patterns that find them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from rrgmetrics.synthesis.phrases import load_phrases


@cache
def edit_words() -> dict[str, Any]:
    """Returns the tables of `phrases/edits.yaml`."""
    tables: dict[str, Any] = load_phrases("edits")
    return tables


@cache
def variant_words() -> dict[str, Any]:
    """Returns the tables of `phrases/variants.yaml`."""
    tables: dict[str, Any] = load_phrases("variants")
    return tables


@cache
def variant_pattern(name: str) -> re.Pattern[str]:
    """Returns one of the regular expressions of `phrases/variants.yaml`, or what finds the words of a table there."""
    rows = variant_words()[name]
    return re.compile(rows, re.IGNORECASE) if isinstance(rows, str) else whole_words(rows)


@cache
def words_pattern(table: str) -> re.Pattern[str]:
    """Returns what finds the words of one table, whole words only, the longest first."""
    rows = edit_words()[table]
    return whole_words(rows if isinstance(rows, dict) else {word for row in rows for word in row})


def whole_words(words: Iterable[str]) -> re.Pattern[str]:
    """Returns what finds any of some words, whole words only, the longest first."""
    longest = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})\b", re.IGNORECASE)


@cache
def english_pattern(name: str) -> re.Pattern[str]:
    """Returns one of the regular expressions under `patterns`."""
    return re.compile(edit_words()["patterns"][name], re.IGNORECASE)
