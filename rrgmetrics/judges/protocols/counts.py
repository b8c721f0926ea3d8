"""Errors by category, as GREEN and CheXprompt count them: significant and insignificant, A to F each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from rrgmetrics.comparing import ErrorCategory, ReportComparison
from rrgmetrics.errors import VerdictError

CATEGORIES = tuple(ErrorCategory)
NO_WORDS: tuple[tuple[str, ...], ...] = ((),) * len(CATEGORIES)


class Errors(NamedTuple):
    """The number of errors of each category A to F `(6,)`, and the judge's words for them where it gave any.

    What the bundled judge finds left out is a part of an error, so that its numbers need not be whole.
    """

    counts: tuple[float, ...]
    words: tuple[tuple[str, ...], ...] = NO_WORDS

    @property
    def total(self) -> float:
        """The errors of all categories."""
        return sum(self.counts)

    def to_dict(self) -> dict[str, dict[str, object]]:
        """Returns a JSON object: count and words by category; categories without an error are left out."""
        rows = zip(CATEGORIES, self.counts, self.words, strict=True)
        return {category.value: {"count": count, "errors": list(words)} for category, count, words in rows if count}


def compared_errors(comparison: ReportComparison, *, significant: bool) -> Errors:
    """The reader's errors, either the significant or the insignificant ones."""
    sentences: dict[ErrorCategory, list[str]] = {category: [] for category in CATEGORIES}
    for error in comparison.errors:
        if error.significant == significant:
            sentences[error.category].append(error.sentence)
    words = tuple(tuple(sentences[category]) for category in CATEGORIES)
    return Errors(tuple(comparison.cost(category, significant=significant) for category in CATEGORIES), words)


def category_of(words: str) -> int | None:
    """The category A to F (0 to 5) that a judge's words name, None if they name none."""
    text = words.lower()
    if "comparison" in text:
        return 5 if re.search(r"omi|missing", text) else 4
    patterns = (r"false", r"missing|omi(?:ss|tt)", r"location|position|misidentif", r"severity|misassess")
    return next((index for index, pattern in enumerate(patterns) if re.search(pattern, text)), None)


def whole(digits: str) -> int:
    """Reads a count; raises VerdictError for one of ten digits or more, which no judge means."""
    if len(digits.strip()) > 9:
        raise VerdictError(f"The reply counts {digits.strip()[:20]}... errors or findings.")
    return int(digits)


def add(left: Iterable[float], right: Iterable[float]) -> tuple[float, ...]:
    """Adds two counts by category."""
    return tuple(a + b for a, b in zip(left, right, strict=True))
