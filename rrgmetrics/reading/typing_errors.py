"""Typing errors: a word that nobody knows, one letter away from one word of the lexicon, is read as that word.

One letter is too many, too few or wrong, or two neighbours have changed places; the first letter stands, as typists
seldom miss it. A word of the lexicon or of English is never made another one (`vocabulary.yaml`, `one_letter_off`), and
one between two words of the lexicon stays as it is. A British spelling (ae, oe, our, is) is no error, and read as the
American one; two words without the space between them are read as two, and the two parts of a word that the end of a
line has broken ("pneu-⏎mothorax") as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rrgmetrics.reading.lexicon import Lexicon, load_file, per_lexicon
from rrgmetrics.reading.tokens import BrokenWord, Token, singular, tokenize

SHORTEST = 5  # letters of a word that may be mistyped, and of either word that runs into another
KEPT = 16384  # words as they are written
LETTERS = 7  # letters of a lexicon's word that may hold a wrong one; in a shorter one nearly any word of English may
_BROKEN = re.compile(r"(?<![A-Za-z-])([A-Za-z]{2,20})[-\u2010\u2011]\s+([A-Za-z]{2,20})(?![A-Za-z])")

BRITISH = {"ae": "e", "oe": "e", "our": "or", "is": "iz", "ys": "yz"}


class _Words(NamedTuple):
    """What the mending needs to know of the lexicon.

    Attributes:
        known: Words that are no typing errors.
        near: First letter and length → the lexicon's words.
        longest: Letters of the longest of the lexicon's words.
        written: Words of reports as they were written → as they are compared.
    """

    known: frozenset[str]
    near: dict[tuple[str, int], list[str]]
    longest: int
    written: dict[str, str]


def tokenize_report(report: str, lexicon: Lexicon) -> list[Token]:
    """Splits a clean report into tokens, its typing errors mended; each still points to the characters it came from.

    Example:
        >>> from rrgmetrics.reading.lexicon import load
        >>> [token.word for token in tokenize_report("Small plueral efusion.", load())]
        ['small', 'pleural', 'effusion', '.']
    """
    words = _words(lexicon)
    if len(words.written) > KEPT:
        words.written.clear()
    tokens = tokenize(report, lexicon.words, words.written)
    if broken := {each.start(): each for each in _BROKEN.finditer(report) if _is_one_word(each, lexicon)}:
        tokens = list(_joined(tokens, broken, lexicon))
    unknown = {token.word for token in tokens} - words.known
    if not any(map(_may_be_mistyped, unknown)):
        return tokens
    return [mended for token in tokens for mended in (_mend(token, lexicon) if token.word in unknown else (token,))]


def meant_by(written: str, lexicon: Lexicon) -> str:
    """Returns what a word is read as that is taken for a typing error; "" if it is not."""
    word = _word(written, lexicon)
    mistyped = word not in _words(lexicon).known and _may_be_mistyped(word)
    return " ".join(_meant(lexicon, word)) if mistyped else ""


def _is_one_word(parts: re.Match[str], lexicon: Lexicon) -> bool:
    """Whether a hyphen before white space parts one word: "pneu-⏎mothorax", but not "right-⏎sided"."""
    known = _words(lexicon).known
    first, second = (singular(part.lower()) for part in parts.groups())
    joined = _word("".join(parts.groups()), lexicon)
    return joined in lexicon.trie or (joined in known and not {first, second} <= known)


def _word(written: str, lexicon: Lexicon) -> str:
    return lexicon.words.get(written.lower()) or singular(written.lower())


def _joined(tokens: list[Token], broken: dict[int, re.Match[str]], lexicon: Lexicon) -> Iterator[Token]:
    end = 0
    for token in tokens:
        if parts := broken.get(token.start):
            end = parts.end()
            written = "".join(parts.groups())
            yield BrokenWord.of(_word(written, lexicon), parts.start(), end, len(written))
        elif token.start >= end:
            yield token


def _may_be_mistyped(word: str) -> bool:
    return len(word) >= SHORTEST and word.isalpha()


def _mend(token: Token, lexicon: Lexicon) -> Iterator[Token]:
    parts = _meant(lexicon, token.word) if _may_be_mistyped(token.word) else ()
    if len(parts) == 2:
        middle = token.start + len(parts[0])
        yield Token(parts[0], token.start, middle)
        yield Token(singular(parts[1]), middle, token.end)
    else:
        yield Token(parts[0] if parts else token.word, token.start, token.end)


@per_lexicon
def _meant(lexicon: Lexicon, word: str) -> tuple[str, ...]:
    """The one or two words of the lexicon that a word nobody knows is meant to be; empty if that is not certain."""
    words = _words(lexicon)
    american = _american(word)
    if american in words.known:
        return (american,)
    candidates = {
        other: slip
        for first in {word[0], word[1]}
        for length in (len(word) - 1, len(word), len(word) + 1)
        for other in words.near.get((first, length), ())
        if (slip := _slip(word, other)) is not None
    }
    commonest = min(candidates.values(), default=0)
    meant = {lexicon.words.get(other, other) for other, slip in candidates.items() if slip == commonest}
    if len(meant) == 1:
        return tuple(meant)
    if len(word) > 2 * words.longest:
        return ()
    for i in range(SHORTEST, len(word) - SHORTEST + 1):
        if "" in lexicon.trie.get(word[:i], {}) and "" in lexicon.trie.get(singular(word[i:]), {}):
            return word[:i], word[i:]
    return ()


def _american(word: str) -> str:
    for british, american in BRITISH.items():
        word = word.replace(british, american)
    return word


def _slip(word: str, other: str) -> int | None:
    """Returns how a word is another one mistyped, the commonest slip first; None if it is not."""
    i = next((i for i, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    if word[i : i + 2] == other[i : i + 2][::-1] and word[i + 2 :] == other[i + 2 :]:
        return 0  # two letters have changed places
    if i == 0 or len(other) <= SHORTEST:
        return None
    if word[i:] == other[i + 1 :]:
        return 1  # one is left out
    if word[i + 1 :] == other[i:]:
        return 2  # one is too many
    if word[i + 1 :] == other[i + 1 :] and len(other) >= LETTERS:
        return 3  # one is wrong
    return None


@per_lexicon
def _words(lexicon: Lexicon) -> _Words:
    terms = lexicon.terms_words | lexicon.words.keys()
    listed = (singular(str(word).lower()) for words in load_file("vocabulary", lexicon.key).values() for word in words)
    near: dict[tuple[str, int], list[str]] = {}
    for word in terms:
        if _may_be_mistyped(word):
            near.setdefault((word[0], len(word)), []).append(word)
    return _Words(frozenset(terms) | set(listed), near, max(map(len, terms)), {})
