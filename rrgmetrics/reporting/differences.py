"""Words that only one of two texts has, compared as written (difflib; case and punctuation aside).

A sentence that only moved does not count, nor does a run of words such as "there is a".
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from rrgmetrics.reading.model import Span

COMPARED_WORDS = 1500  # a longer text is shown without marks; difflib's time grows with the square
MOVED_WORDS = 3  # shortest run of words that counts as moved and not as missing and added
LITTLE_WORDS = frozenset(
    "a an and are as at be been by for from has have in is it its of on or that the there this to was with".split()
)
_WORD = re.compile(r"\w+(?:[.,'’/-]\w+)*")


def differences(reference: str, candidate: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Runs of words that only one of two texts has.

    Args:
        reference: The radiologist's text.
        candidate: The system's text.

    Returns:
        Spans of the reference that the candidate lacks, and spans of the candidate that it adds.

    Example:
        >>> missing, added = differences("Small right effusion.", "Small left effusion.")
        >>> missing
        (Span(start=6, end=11),)
    """
    texts = [list(_WORD.finditer(text)) for text in (reference, candidate)]
    if max(map(len, texts)) > COMPARED_WORDS:
        return (), ()
    words: list[list[object]] = [[match[0].lower() for match in matches] for matches in texts]
    for a, b, size in difflib.SequenceMatcher(None, words[0], words[1], autojunk=False).get_matching_blocks():
        _strike(words, a, b, size)
    while True:
        a, b, size = difflib.SequenceMatcher(None, words[0], words[1], autojunk=False).find_longest_match()
        if size < MOVED_WORDS:
            break
        _strike(words, a, b, size)
    missing, added = (_runs(matches, left) for matches, left in zip(texts, words, strict=True))
    return missing, added


def _strike(words: list[list[object]], a: int, b: int, size: int) -> None:
    """Takes a matched run out of both lists; what stands in its place matches nothing."""
    words[0][a : a + size] = [object() for _ in range(size)]
    words[1][b : b + size] = [object() for _ in range(size)]


def _runs(matches: Sequence[re.Match[str]], left: Sequence[object]) -> tuple[Span, ...]:
    """Spans of neighbouring words still in `left`, but for runs of little words."""
    spans, run = [], list[int]()
    for i in range(len(left) + 1):
        if i < len(left) and isinstance(left[i], str):
            run.append(i)
            continue
        if any(left[j] not in LITTLE_WORDS for j in run):
            spans.append(Span(matches[run[0]].start(), matches[run[-1]].end()))
        run = []
    return tuple(spans)
