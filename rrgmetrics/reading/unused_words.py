"""The words of a sentence that no step of its reading used, and the terms of the lexicon that hold them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rrgmetrics.reading.boundaries import grammar_words
from rrgmetrics.reading.lexicon import Lexicon, per_lexicon
from rrgmetrics.reading.lexicon.build import words_of
from rrgmetrics.reading.model import Compared, Reading, Span, Unused
from rrgmetrics.reading.pipeline import STAGES
from rrgmetrics.reading.recording import Recorder, SentenceRecord

Places = Mapping[tuple[str, ...], list[tuple[tuple[str, ...], str]]]  # keys and places of terms, by their words
PlacesOf = Callable[[Lexicon], Places]
_LETTER = re.compile(r"[^\W\d_]")
_NEAR = 3  # terms that are shown
_JOINING = frozenset(
    {"clause_end", "item_break", "location_preposition", "versus"}
)  # senses of words of any English text
_COMPARING = frozenset({"change", "earlier_study"})  # what a sentence that compares with an earlier study is made of


def unused_words(
    reading: Reading, recorded: Recorder, lexicon: Lexicon, places_of: PlacesOf
) -> Iterator[tuple[Span, tuple[Unused, ...]]]:
    """Yields each sentence that has words which no step used, with these words."""
    for sentence in recorded.sentences:
        found = tuple(_unused_in(sentence, reading, recorded, lexicon, places_of))
        if found and not sentence.communicates:
            yield Span(*sentence.span), found


def _unused_in(
    sentence: SentenceRecord, reading: Reading, recorded: Recorder, lexicon: Lexicon, places_of: PlacesOf
) -> Iterator[Unused]:
    used, tokens = _used_tokens(sentence, reading, recorded), sentence.tokens
    silent = _grammar(lexicon)
    offset = sentence.span[0] - tokens[0].start
    words = frozenset(token.word for token in tokens)
    compares = any(_is_in(each, sentence) for each in reading.compared)
    for item in sentence.parsed_items:
        own = [token.word for token in tokens[item.first : item.last]]
        if not used.isdisjoint(range(item.first, item.last)) or not _LETTER.search(item.word):
            continue
        if (compares and item.senses.keys() & _COMPARING) or (
            item.senses.keys() <= _JOINING and silent.issuperset(own)
        ):
            continue
        listed = places_of(lexicon).get(tuple(own), ())
        means = tuple(_meanings(item.senses)) or tuple(_with_steps(keys[0]) for keys, _ in listed)
        span = Span(tokens[item.first].start + offset, tokens[item.last - 1].end + offset)
        yield Unused(span, means, tuple(_near(own, words, lexicon, places_of)), listed[0][1] if listed else "")


def _is_in(compared: Compared, sentence: SentenceRecord) -> bool:
    return compared.span.start < sentence.span[1] and sentence.span[0] < compared.span.end


def _used_tokens(sentence: SentenceRecord, reading: Reading, recorded: Recorder) -> set[int]:
    """The tokens of a sentence that are a finding, or the words of a step."""
    used = {k for mention in sentence.mentions for k in range(*mention.tokens)}
    given = {(item.first, item.last) for mention in sentence.mentions for item in mention.modifiers}
    used.update(k for first, last, _ in sentence.items if (first, last) in given for k in range(first, last))
    start, end = sentence.span
    own = [f for f in (*reading.findings, *reading.told) if any(s.start < end and start < s.end for s in f.spans)]
    steps = [step for thing in (*sentence.mentions, *own) for step in recorded.steps(thing)]
    cues = {cue for step in steps for cue in (step.words, *(each.words for each in step.held if not each.name))}
    for words in cues.union(*(cue.split(", ") for cue in cues)) - {""}:
        for found in re.finditer(rf"(?<!\w){re.escape(words)}(?!\w)", sentence.text):
            used.update(_tokens_in(sentence, *found.span()))
    return used


def _tokens_in(sentence: SentenceRecord, start: int, end: int) -> Iterable[int]:
    """The tokens among some characters of a sentence."""
    offset = sentence.tokens[0].start
    return (k for k, t in enumerate(sentence.tokens) if start <= t.start - offset and t.end - offset <= end)


def _meanings(senses: Mapping[str, Any]) -> Iterator[str]:
    for kind, value in senses.items():
        shown = ", ".join(map(str, value)) if isinstance(value, tuple | set | frozenset) else str(value)
        yield kind if shown in (kind, "True") else f"{kind}: {shown}"


def _with_steps(words: str) -> str:
    """A list of small words with the steps that look for them: heights, read by place_words.resolve_places."""
    steps = [step.run for stage in STAGES for step in stage if any(words in signs.lists for signs in step.needs)]
    names = [f"{run.__module__.rpartition('.')[2]}.{run.__name__}" for run in steps]
    return f"{words}, read by {' and '.join(names)}" if names else words


def _near(own: list[str], words: frozenset[str], lexicon: Lexicon, places_of: PlacesOf) -> Iterator[str]:
    """Yields the terms with most words of the sentence that hold one of these words and another."""
    by_word = _by_word(lexicon, places_of)
    terms = {term for word in own for term in by_word.get(word, ()) if len(term) > len(own)}
    shown = sorted(terms, key=lambda term: (-len(words.intersection(term)) / len(term), len(term), term))[:_NEAR]
    for term in shown:
        keys, place = places_of(lexicon)[term][0]
        yield f'"{" ".join(term)}" ({": ".join(key for key in keys if key != "terms")}, {place})'


@per_lexicon
def _grammar(lexicon: Lexicon) -> frozenset[str]:
    """The words of any English text."""
    return frozenset(words_of(" ".join(grammar_words(lexicon)), lexicon.words))


@per_lexicon
def _by_word(lexicon: Lexicon, places_of: PlacesOf) -> Mapping[str, list[tuple[str, ...]]]:
    """The terms by each of their words."""
    found = defaultdict(list)
    for term in places_of(lexicon):
        for word in {*term}:
            found[word].append(term)
    return found
