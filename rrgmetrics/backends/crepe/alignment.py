"""Where the words of one report stand in the other: what a small network need not find out by itself.

A checkpoint with `crepe_alignment` reads it as the type of a token: the text (0 reference, 1 candidate), the state of
the finding that the word is a part of, and the relation of the word itself, `(3·text + state)·8 + relation`.

Words are alike that the lexicon takes for the same ("incr." and "worse", "RLL" and "right lower lobe"); of other words,
those that begin alike. Which observations of both reports show the same is told by the reader
(`rrgmetrics.comparing.alignment`), if there are readings; in what they differ is left to the network. A word of an
observation stands `beside` if it is one of its counterpart's: "left" of another is `elsewhere`. Any other word stands
beside if it is in that sentence of the other text with which its own shares most.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rrgmetrics.comparing.alignment import set_beside
from rrgmetrics.reading.lexicon import load
from rrgmetrics.reading.model import Reading
from rrgmetrics.reading.pipeline import find_items
from rrgmetrics.reading.tokens import ENDS, LONGEST_SENTENCE, Token
from rrgmetrics.reading.typing_errors import tokenize_report
from rrgmetrics.reports.cleaning import clean

RELATIONS = ("none", "beside", "elsewhere", "alike beside", "alike elsewhere", "new", "new number", "near number")
NONE, BESIDE, ELSEWHERE, ALIKE_BESIDE, ALIKE_ELSEWHERE, NEW, NEW_NUMBER, NEAR_NUMBER = range(len(RELATIONS))
STATES = ("no finding", "only here", "in both")
OUTSIDE, ONLY_HERE, IN_BOTH = range(len(STATES))
TYPES_A_TEXT = len(STATES) * len(RELATIONS)
_WORD = re.compile(r"\d+(?:\.\d+)?|[CLTclt]\d{1,2}(?!\w)|[^\W\d_]+")  # "T8" is one
_END = re.compile(r"[.!?;](?=\s|$)|\n")
_PLAIN = frozenset(
    "a an and are as at be been by for from has have in into is it its of on or over that the there this to was were"
    " which with".split()
)
# Of what a word can be taken for, the first decides with which others it is alike.
TOLD = (
    *("concept", "side", "level", "zone", "severity", "change", "tip", "position", "route", "acuity", "morphology"),
    *("quality", "structure"),
)
STEM = 5  # letters that words which are alike begin with
NEAR = 0.2  # numbers differ by at most this share of the larger
MOST = 10  # letters of a word that count when sentences are set beside each other
EVERYWHERE = 64  # sentences; what stands in more tells nothing of which one stands beside, and would take long to count


class Word(NamedTuple):
    """A word of a text.

    Attributes:
        start: Its first character.
        key: In lower case.
        kinds: What words that are alike share: their first letters, or what the lexicon takes them for.
        number: What it stands for, if it is a number.
        sentence: The number of its sentence.
        observations: The numbers of the observations that it tells of.
    """

    start: int
    key: str
    kinds: tuple[str, ...]
    number: float | None
    sentence: int
    observations: tuple[int, ...] = ()


def words_of(text: str, reading: Reading | None = None) -> list[Word]:
    """Returns the words of a text.

    Args:
        text: A report, or what is left of it with every character in its place.
        reading: Of the report; without one no word is part of a finding.

    Example:
        >>> [word.key for word in words_of("Nodule of 1.5 cm.")]
        ['nodule', 'of', '1.5', 'cm']
    """
    ends = [match.start() for match in _END.finditer(text)]
    observations: dict[int, dict[int, None]] = {}
    for finding in reading.abnormal if reading else ():
        for place in (place for span in finding.spans for place in range(*span)):
            observations.setdefault(place, {})[finding.observation] = None
    meanings = meanings_of(text)
    found = []
    for match in _WORD.finditer(text):
        start, key = match.start(), match[0].lower()
        number = float(key) if key[0].isdecimal() else None
        kinds = tuple(sorted(meanings.get(start, ()))) or (key[:STEM],)
        found.append(Word(start, key, kinds, number, bisect_right(ends, start), tuple(observations.get(start, ()))))
    return found


def meanings_of(text: str) -> dict[int, set[str]]:
    """Returns what the lexicon takes each word for, by its first character: its own sense, else that of its phrase.

    Example:
        >>> meanings_of("L base, incr.") == meanings_of("l Base; increased")
        True
        >>> sorted(map(sorted, meanings_of("RLL").values()))
        [['side right', 'zone lower']]
    """
    lexicon = load()
    given = clean(text)
    tokens = tokenize_report(given.text, lexicon)
    found: dict[int, set[str]] = {}
    for first, last in _pieces(tokens):
        for item in find_items(tokens, first, last, lexicon):
            for token in tokens[item.first : item.last]:
                own = lexicon.trie.get(token.word, {}).get("", {}) if item.last - item.first > 1 else {}
                meaning = _meaning(own) or _meaning(item.senses)
                if meaning:
                    found.setdefault(given.given(token.start, token.end)[0], set()).add(meaning)
    return found


def _pieces(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yields where the pieces of a text begin and end, at ends of sentences if it has any: their cost is quadratic."""
    first = 0
    while first < len(tokens):
        last = min(first + LONGEST_SENTENCE, len(tokens))
        if last < len(tokens):
            last = next((k for k in range(last, first, -1) if tokens[k - 1].word in ENDS), last)
        yield first, last
        first = last


def _meaning(senses: Mapping[str, object]) -> str:
    return next((f"{sense} {senses[sense]}" for sense in TOLD if sense in senses), "")


Same = Mapping[int, Collection[int]]  # the counterparts of each observation that counts; none: only here


def counterparts(reference: Reading | None, candidate: Reading | None) -> tuple[Same, Same]:
    """Returns which observations of the other text show the same as each of the reference's, and of the candidate's.

    Nothing is known without both readings, by one pack.
    """
    if reference is None or candidate is None or reference.pack != candidate.pack:
        return {}, {}
    return set_beside(reference, candidate).numbers()


def relate(mine: Sequence[Word], other: Sequence[Word], same: Same | None = None) -> list[int]:
    """Returns state and relation of each word to another text, `8·state + relation`.

    Args:
        mine: Words of a text.
        other: Words of the other text.
        same: The counterparts of the text's observations.

    Example:
        >>> pair = words_of("Small left effusion. No mass."), words_of("Large left effusion.")
        >>> [RELATIONS[number] for number in relate(*pair)]
        ['new', 'beside', 'beside', 'new', 'new']
    """
    same = same or {}
    there = _There(other)
    beside = _beside(mine, there)
    return [_type_of(word, there, beside.get(word.sentence), same) for word in mine]


class _There:
    """Where the other text has what: a place is a sentence, or `~observation`, so that both have numbers of their own.

    Attributes:
        places: Of each word, and of what words that are alike share, which begins with "~".
        sentences: Those of `places` that are sentences, if they are not too many to tell anything.
        numbers: Of each place, rising.
    """

    def __init__(self, words: Sequence[Word]) -> None:
        self.places: dict[str, set[int]] = {}
        self.numbers: dict[int, list[float]] = {}
        for word in words:
            places = {word.sentence, *(~observation for observation in word.observations)}
            for key in (word.key, *(f"~{kind}" for kind in word.kinds)):
                self.places.setdefault(key, set()).update(places)
            if word.number is not None:
                for place in places:
                    self.numbers.setdefault(place, []).append(word.number)
        for numbers in self.numbers.values():
            numbers.sort()
        found = {key: [place for place in places if place >= 0] for key, places in self.places.items()}
        self.sentences = {key: places for key, places in found.items() if len(places) <= EVERYWHERE}

    def alike(self, word: Word) -> list[set[int]]:
        """The places of words that share each of a word's kinds."""
        return [self.places.get(f"~{kind}", set()) for kind in word.kinds]

    def alike_in(self, word: Word) -> set[int]:
        """The sentences with words that share one of a word's kinds."""
        return {sentence for kind in word.kinds for sentence in self.sentences.get(f"~{kind}", ())}

    def has_near(self, number: float, places: Iterable[int]) -> bool:
        """Whether a nearly equal number is at one of some places."""
        for place in places:
            numbers = self.numbers.get(place, [])
            at = bisect_left(numbers, number)
            if any(abs(number - other) <= NEAR * max(number, other) for other in numbers[max(at - 1, 0) : at + 1]):
                return True
        return False


def _beside(words: Sequence[Word], there: _There) -> dict[int, int]:
    """Returns for each sentence that of the other text with which it shares most; longer words count more."""
    shared: dict[int, Counter[int]] = {}
    for word in words:
        if word.key not in _PLAIN:
            for sentence in there.alike_in(word):
                shared.setdefault(word.sentence, Counter())[sentence] += min(len(word.key), MOST)
    return {sentence: min(counts, key=lambda place: (-counts[place], place)) for sentence, counts in shared.items()}


def _type_of(word: Word, there: _There, sentence: int | None, same: Same) -> int:
    known = [same[observation] for observation in word.observations if observation in same]
    counterparts = {~observation for others in known for observation in others}
    state = IN_BOTH if counterparts else ONLY_HERE if known else OUTSIDE
    beside = counterparts or ({sentence} if sentence is not None else set())
    return len(RELATIONS) * state + _relation(word, there, beside)


def _relation(word: Word, there: _There, beside: set[int]) -> int:
    if word.key in _PLAIN:
        return NONE
    places = there.places.get(word.key)
    if places is not None:
        return BESIDE if beside & places else ELSEWHERE
    if word.number is not None and not word.kinds[0].startswith("level"):
        return NEAR_NUMBER if there.has_near(word.number, beside) else NEW_NUMBER
    alike = there.alike(word)
    if all(alike):
        return ALIKE_BESIDE if all(beside & places for places in alike) else ALIKE_ELSEWHERE
    return NEW


def places(starts: Sequence[int], words: Sequence[Word]) -> list[tuple[int, int]]:
    """Returns observation and sentence of each token; -1 and -1 where its word tells of no finding.

    Args:
        starts: The first character of each token, rising.
        words: Of the text.
    """
    owners = (words[at] if at >= 0 else None for at in _owners(starts, words))
    return [(word.observations[-1], word.sentence) if word and word.observations else (-1, -1) for word in owners]


def of_tokens(starts: Sequence[int], words: Sequence[Word], relations: Sequence[int]) -> list[int]:
    """Returns what `relate` says of each token: of the word it is a part of; 0 for marks.

    Args:
        starts: The first character of each token, rising.
        words: Of the text.
        relations: Of the words.
    """
    return [relations[at] if at >= 0 else NONE for at in _owners(starts, words)]


def relations(
    words: tuple[Sequence[Word], Sequence[Word]],
    starts: tuple[Sequence[int], Sequence[int]],
    readings: tuple[Reading | None, Reading | None],
) -> tuple[list[int], list[int]]:
    """Returns what `relate` says of each token of a reference and of a candidate.

    Args:
        words: Of both texts.
        starts: The first character of each token, rising.
        readings: Of the reports, if there are any.
    """
    same = counterparts(*readings)
    found = relate(words[0], words[1], same[0]), relate(words[1], words[0], same[1])
    return of_tokens(starts[0], words[0], found[0]), of_tokens(starts[1], words[1], found[1])


def _owners(starts: Sequence[int], words: Sequence[Word]) -> Iterator[int]:
    """Yields the number of the word that each token is a part of; -1 for marks."""
    at = -1
    for start in starts:
        while at + 1 < len(words) and words[at + 1].start <= start:
            at += 1
        yield at if at >= 0 and start < words[at].start + len(words[at].key) else -1
