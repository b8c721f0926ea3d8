"""Where the words of one report stand in the other: what a small network need not find out by itself.

A checkpoint with `crepe_alignment` reads it as the type of a token: the text (0 reference, 1 candidate), the state of
the finding that the word is a part of, and the relation of the word itself, `(3·text + state)·8 + relation`.

Words are alike that the lexicon takes for the same ("incr." and "worse", "RLL" and "right lower lobe"); of other words,
those that begin alike. Sentences are set beside those of the other text with which they share most: "left" that stands
in the other text, but not in the sentence beside, is `elsewhere`. Which findings both reports have is told by the
reader, if there is a reading; in what they differ is left to the network.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rrgmetrics.reader.items import find_items
from rrgmetrics.reader.lexicon import Lexicon, Senses, load
from rrgmetrics.reader.model import Reading
from rrgmetrics.reader.similarity import related
from rrgmetrics.reader.typing_errors import tokenize_report

RELATIONS = ("none", "beside", "elsewhere", "alike beside", "alike elsewhere", "new", "new number", "near number")
NONE, BESIDE, ELSEWHERE, ALIKE_BESIDE, ALIKE_ELSEWHERE, NEW, NEW_NUMBER, NEAR_NUMBER = range(len(RELATIONS))
STATES = ("no finding", "only here", "in both")
OUTSIDE, ONLY_HERE, IN_BOTH = range(len(STATES))
TYPES_A_TEXT = len(STATES) * len(RELATIONS)
_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_END = re.compile(r"[.!?;](?=\s|$)|\n")
_PLAIN = frozenset(
    "a an and are as at be been by for from has have in into is it its of on or over that the there this to was were"
    " which with".split()
)
# Of what a word can be taken for, the first decides with which others it is alike.
TOLD = (
    *("concept", "side", "zone", "severity", "change", "level", "tip", "position", "route", "acuity", "morphology"),
    *("quality", "structure"),
)
STEM = 5  # letters that words which are alike begin with
NEAR = 0.2  # numbers differ by at most this share of the larger
MOST = 10  # letters of a word that count when sentences are set beside each other


class Word(NamedTuple):
    """A word of a text.

    Attributes:
        start: Its first character.
        key: In lower case.
        kinds: What words that are alike share: their first letters, or what the lexicon takes them for.
        number: What it stands for, if it is a number.
        sentence: The number of its sentence.
        observation: The number of the observation that it tells of; -1 for none.
    """

    start: int
    key: str
    kinds: tuple[str, ...]
    number: float | None
    sentence: int
    observation: int = -1


class Words(NamedTuple):
    """The words of a text, and the concepts of its observations by number."""

    words: Sequence[Word]
    concepts: Mapping[int, frozenset[str]]


def words_of(text: str, reading: Reading | None = None) -> Words:
    """Returns the words of a text.

    Args:
        text: A report, or what is left of it with every character in its place.
        reading: Of the report; without one no word is part of a finding.

    Example:
        >>> [word.key for word in words_of("Nodule of 1.5 cm.").words]
        ['nodule', 'of', '1.5', 'cm']
    """
    ends = [match.start() for match in _END.finditer(text)]
    observations: dict[int, int] = {}
    concepts: dict[int, frozenset[str]] = {}
    for finding in reading.abnormal if reading else ():
        concepts[finding.observation] = concepts.get(finding.observation, frozenset()) | {finding.concept}
        for start, end in finding.spans:
            observations |= dict.fromkeys(range(start, end), finding.observation)
    meanings = meanings_of(text)
    found = []
    for match in _WORD.finditer(text):
        start, key = match.start(), match[0].lower()
        number = float(key) if key[0].isdecimal() else None
        kinds = tuple(sorted(meanings.get(start, ()))) or (key[:STEM],)
        found.append(Word(start, key, kinds, number, bisect_right(ends, start), observations.get(start, -1)))
    return Words(found, concepts)


def meanings_of(text: str) -> dict[int, set[str]]:
    """Returns what the lexicon takes each word for, by its first character: its own sense, else that of its phrase.

    Example:
        >>> meanings_of("L base, incr.") == meanings_of("l Base; increased")
        True
        >>> sorted(map(sorted, meanings_of("RLL").values()))
        [['side right', 'zone lower']]
    """
    lexicon = load()
    tokens = tokenize_report(text, lexicon)
    found: dict[int, set[str]] = {}
    for item in find_items(tokens, 0, len(tokens), lexicon):
        for token in tokens[item.first : item.last]:
            own = lexicon.trie.get(token.word, {}).get("", {}) if item.last - item.first > 1 else {}
            meaning = _meaning(own) or _meaning(item.senses)
            if meaning:
                found.setdefault(token.start, set()).add(meaning)
    return found


def _meaning(senses: Senses) -> str:
    return next((f"{sense} {senses[sense]}" for sense in TOLD if sense in senses), "")


def relate(mine: Words, other: Words) -> list[int]:
    """Returns state and relation of each word to another text, `8·state + relation`.

    Example:
        >>> pair = words_of("Small left effusion. No mass."), words_of("Large left effusion.")
        >>> [RELATIONS[number] for number in relate(*pair)]
        ['new', 'beside', 'beside', 'new', 'new']
    """
    places: dict[str, set[int]] = {}
    for word in other.words:
        places.setdefault(word.key, set()).add(word.sentence)
        for kind in word.kinds:
            places.setdefault(f"~{kind}", set()).add(word.sentence)
    beside = _beside(mine.words, places)
    numbers = [word.number for word in other.words if word.number is not None]
    states = _states(mine, other)
    return [
        len(RELATIONS) * states.get(word.observation, OUTSIDE)
        + _relation(word, places, beside.get(word.sentence), numbers)
        for word in mine.words
    ]


def _states(mine: Words, other: Words) -> dict[int, int]:
    """Returns the state of each observation."""
    if not mine.concepts:
        return {}
    lexicon = load()
    there = frozenset().union(*other.concepts.values())
    return {
        observation: IN_BOTH if _is_there(concepts, there, lexicon) else ONLY_HERE
        for observation, concepts in mine.concepts.items()
    }


def _is_there(concepts: frozenset[str], there: frozenset[str], lexicon: Lexicon) -> bool:
    return bool(concepts & there) or any(related(a, b, lexicon) for a in concepts for b in there)


def _beside(words: Sequence[Word], places: dict[str, set[int]]) -> dict[int, int]:
    """Returns for each sentence that of the other text with which it shares most; longer words count more."""
    shared: dict[int, Counter[int]] = {}
    for word in words:
        if word.key not in _PLAIN:
            for sentence in set().union(*(places.get(f"~{kind}", ()) for kind in word.kinds)):
                shared.setdefault(word.sentence, Counter())[sentence] += min(len(word.key), MOST)
    return {sentence: min(counts, key=lambda place: (-counts[place], place)) for sentence, counts in shared.items()}


def _relation(word: Word, places: dict[str, set[int]], beside: int | None, numbers: Sequence[float]) -> int:
    if word.key in _PLAIN:
        return NONE
    there = places.get(word.key)
    if there is not None:
        return BESIDE if beside in there else ELSEWHERE
    if word.number is not None:
        near = any(abs(word.number - other) <= NEAR * max(word.number, other) for other in numbers)
        return NEAR_NUMBER if near else NEW_NUMBER
    alike = [places.get(f"~{kind}", set()) for kind in word.kinds]
    if all(alike):
        return ALIKE_BESIDE if all(beside in sentences for sentences in alike) else ALIKE_ELSEWHERE
    return NEW


def places(starts: Sequence[int], words: Sequence[Word]) -> list[tuple[int, int]]:
    """Returns observation and sentence of each token; -1 and -1 where its word tells of no finding.

    Args:
        starts: The first character of each token, rising.
        words: Of the text.
    """
    owners = (words[at] if at >= 0 else None for at in _owners(starts, words))
    return [(word.observation, word.sentence) if word and word.observation >= 0 else (-1, -1) for word in owners]


def of_tokens(starts: Sequence[int], words: Sequence[Word], relations: Sequence[int]) -> list[int]:
    """Returns what `relate` says of each token: of the word it is a part of; 0 for marks.

    Args:
        starts: The first character of each token, rising.
        words: Of the text.
        relations: Of the words.
    """
    return [relations[at] if at >= 0 else NONE for at in _owners(starts, words)]


def _owners(starts: Sequence[int], words: Sequence[Word]) -> Iterator[int]:
    """Yields the number of the word that each token is a part of; -1 for marks."""
    at = -1
    for start in starts:
        while at + 1 < len(words) and words[at + 1].start <= start:
            at += 1
        yield at if at >= 0 and start < words[at].start + len(words[at].key) else -1
