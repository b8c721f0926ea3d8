"""Negation flips: one word for another, and a denied finding is stated, or a stated one denied.

The new text has as many words as the old one, so what counts words alone cannot tell them apart. The reader judges:
a flip stands if it adds false findings alone (a lost "no") or missing ones alone (a "no" put in).
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from rrgmetrics.comparing import ErrorCategory, compare
from rrgmetrics.synthesis.edits.page import Page
from rrgmetrics.synthesis.edits.sentences import replace_words
from rrgmetrics.synthesis.edits.words import variant_pattern, variant_words
from rrgmetrics.synthesis.generator.english import article
from rrgmetrics.synthesis.readings import reading_of

TRIES = 8
OPENING = 9  # letters of the next word that an article may depend on


def lose_negation(page: Page, rng: Random) -> str | None:
    """States what a report denies.

    Example:
        >>> from rrgmetrics.reading import read
        >>> text = "There is no pneumothorax."
        >>> lose_negation(Page(text, read(text)), Random(0))
        'There is a pneumothorax.'
    """
    return _flipped(page, rng, "negation_lost", ErrorCategory.FALSE_FINDING)


def add_negation(page: Page, rng: Random) -> str | None:
    """Denies what a report states.

    Example:
        >>> from rrgmetrics.reading import read
        >>> text = "There is a left pleural effusion."
        >>> add_negation(Page(text, read(text)), Random(0))
        'There is no left pleural effusion.'
    """
    return _flipped(page, rng, "negation_added", ErrorCategory.MISSING_FINDING)


def _flipped(page: Page, rng: Random, table: str, meant: ErrorCategory) -> str | None:
    """The first of the flips, in a drawn order, that makes errors of the category that is meant and no other."""
    flips = list(_flips(page.text, table))
    for text in rng.sample(flips, min(TRIES, len(flips))):
        counts = compare(page.reading, reading_of(text)).counts
        if counts[meant] and not any(n for category, n in counts.items() if category is not meant):
            return text
    return None


def _flips(text: str, table: str) -> Iterator[str]:
    words = variant_words()[table]
    for match in variant_pattern(table).finditer(text):
        new = replace_words(text, *match.span(), _before(words[match[0].lower()], text[match.end() :].lstrip()))
        if len(new.split()) == len(text.split()):
            yield new


def _before(word: str, following: str) -> str:
    """An article as the next word needs it; any other word as it is."""
    return article(following[:OPENING]).partition(" ")[0] if word == "a" else word
