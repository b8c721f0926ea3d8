"""Sentences by themselves: what does not depend on the rest of the report, found once for each distinct sentence.

Reports repeat one another ("No pneumothorax or pleural effusion."): in Open-i three sentences of five, with half of all
words, stand in an earlier report too. So what a sentence says by itself is kept, by its very characters and words, and
whoever reads it again only adds where it is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon, per_lexicon
from rrgmetrics.reading.main_clauses import main_clauses
from rrgmetrics.reading.pipeline import assert_mentions, find_items, find_mentions
from rrgmetrics.reading.recording import SentenceRecord, recorder
from rrgmetrics.reading.statements import Marks, StatementSearch, statements
from rrgmetrics.reading.tokens import Sentence, Token, inline_headings, sentences
from rrgmetrics.reading.unmarked import UnmarkedSearch

KEPT = 8192  # sentences, some 5 kB each; those of a block of pairs, so that a graph finds what its reading found
ADVICE = "recommendation"
SEARCHED = frozenset({ADVICE, "communication"})  # sections that hold no findings: one that is there is a finding
_SPOKEN_OF = frozenset({"communication", "recommendation", "hypothetical", "hypothetical_after", "feigning"})
_DESCRIBING = frozenset({"side", "zone", "severity", "change", "acuity", "morphology", "measure"})
_LINE = 15  # words; lines that are shorter on average hold a statement each
T = TypeVar("T")


class Parsed:
    """A sentence as it is written, wherever it is: the indices of its items and mentions count its own tokens.

    It is shared by all reports that hold the sentence: nothing of it is to be changed but by `once`.

    Attributes:
        text: Its characters.
        tokens: Its words.
        start: Where it began in the report whose characters its words count.
        lexicon: What it is read with.
        items: Words and terms, in order.
        mentions: Findings, in order.
        retracts: Whether it takes something back ("disregard ...") or speaks of somebody else.
        retracts_all: Whether what follows it is taken back too ("disregard: ...").
        communicates: Whether it only states who was told what ("discussed with Dr Smith").
    """

    __slots__ = (
        "_made",
        "communicates",
        "items",
        "lexicon",
        "mentions",
        "retracts",
        "retracts_all",
        "start",
        "text",
        "tokens",
    )

    def __init__(self, text: str, tokens: list[Token], lexicon: Lexicon) -> None:
        self.text, self.tokens, self.start = text, tokens, tokens[0].start
        self.lexicon = lexicon
        if (recording := recorder()) is not None:
            recording.sentence = SentenceRecord(text, tokens)
        self.items: list[Item] = find_items(tokens, 0, len(tokens), lexicon)
        self.mentions: list[Mention] = find_mentions(self.items, lexicon)
        cues = ["retracted" in item.senses for item in self.items]
        self.retracts = True in cues
        self.retracts_all = self.retracts and any(i.word == ":" for i in self.items[cues.index(True) + 1 :][:1])
        self.communicates = any(
            "communication" in item.senses
            and not any(after.word in lexicon.small.showing for after in self.items[i + 1 : i + 2])
            for i, item in enumerate(self.items)
        )
        self._made: dict[Callable[[Parsed], Any], Any] = {}

    def between(self, k: int) -> str:
        """The characters between a word and the one before it."""
        return self.text[self.tokens[k - 1].end - self.start : self.tokens[k].start - self.start]

    def written(self, k: int) -> str:
        """The characters of a word."""
        return self.text[self.tokens[k].start - self.start : self.tokens[k].end - self.start]

    def once(self, make: Callable[[Parsed], T]) -> T:
        """What a function makes of the sentence, made once."""
        if make not in self._made:
            self._made[make] = make(self)
        made: T = self._made[make]
        return made


def asserted(parsed: Parsed) -> list[Mention]:
    """The mentions of a sentence, asserted."""
    assert_mentions(parsed.items, parsed.mentions, parsed.lexicon)
    return parsed.mentions


Kept = OrderedDict[tuple[str, str], Parsed]
Parts = Callable[[Parsed], list[tuple[int, int]]]  # the words `[first, last)` of each part of a sentence


def parse_sentences(report: str, tokens: list[Token], lexicon: Lexicon) -> Iterator[tuple[Sentence, Parsed]]:
    """Yields the sentences of a report in the sections that are read."""
    inline = inline_headings(report, tokens, lexicon.inline)
    found = [*sentences(report, tokens, lexicon.headings, lexicon.small.abbreviations, inline, SEARCHED)]
    parts: tuple[Parts, ...] = (_unmarked_statements, _clauses)
    if _has_ends(report, tokens, found):
        parts = (_at_semicolons, _statements if _are_several(found, tokens) else _joined_statements, _clauses)
    kept = _kept(lexicon)
    for sentence in found:
        parsed = _parsed(report, tokens[sentence.first : sentence.last], lexicon, kept)
        for part, clause in _cut(report, tokens, sentence, parsed, parts, kept):
            if part.section not in SEARCHED:
                yield part, clause
            elif clause.once(_states_finding if part.section == ADVICE else _names_finding):
                yield part._replace(section="findings"), clause


def _names_finding(parsed: Parsed) -> bool:
    """Whether a line of names and dates names a finding: "SIGNED: tension pneumothorax", but "Dr. Mass"."""
    if any(not _SPOKEN_OF.isdisjoint(item.senses) for item in parsed.items):
        return False
    titles = parsed.lexicon.small.abbreviations
    return any(
        _is_of_film(mention, parsed.lexicon) and not {item.word for item in parsed.items[: mention.first]} & titles
        for mention in parsed.mentions
    )


def _states_finding(parsed: Parsed) -> bool:
    """Whether advice begins with a finding, or says that there is one: "There is a tension pneumothorax."."""
    if not parsed.mentions or not _is_of_film(parsed.mentions[0], parsed.lexicon) or not _names_finding(parsed):
        return False
    small, before = parsed.lexicon.small, parsed.items[: parsed.mentions[0].first]
    shown = any(item.word in small.existing | small.showing | small.existent for item in before)
    return shown or all(item.senses.keys() & _DESCRIBING for item in before)


def _is_of_film(mention: Mention, lexicon: Lexicon) -> bool:
    """Whether a mention names a finding that a film shows, and not what was done to the patient."""
    if not mention.concept or mention.denies:
        return False
    return lexicon.concepts[mention.concept].counts and not lexicon.concepts[mention.concept].is_device


def _has_ends(report: str, tokens: list[Token], found: list[Sentence]) -> bool:
    """Whether full stops, the marks of a list, or lines show where the statements of a report end.

    Lines do if they are short, or if words with a capital are seldom elsewhere than where a line begins.
    """
    breaks = 0
    for token in tokens:
        if token.word == "." or (token.word == "¶" and not report[token.start : token.end].isspace()):
            return True
        breaks += token.word == "¶"
    if not breaks or breaks * _LINE > len(tokens):
        return breaks > 0
    inside = sum(_is_capital(report[token.start : token.end]) for token in tokens)
    for sentence in found:
        first = tokens[sentence.first]
        inside -= _is_capital(report[first.start : first.end])
    lines = len(found) - len({sentence.section for sentence in found})
    return inside < lines and not any(report[tokens[sentence.first].start].islower() for sentence in found)


def _cut(
    report: str, tokens: list[Token], sentence: Sentence, parsed: Parsed, ways: Sequence[Parts], kept: Kept
) -> Iterator[tuple[Sentence, Parsed]]:
    """Yields the parts of a sentence, each read by itself: those that the first way finds in it, cut by the next."""
    if not ways:
        yield sentence, parsed
        return
    found = parsed.once(ways[0])
    parts = (
        [(sentence, parsed)] if len(found) == 1 else _read_parts(report, tokens, sentence, found, parsed.lexicon, kept)
    )
    for part in parts:
        yield from _cut(report, tokens, *part, ways[1:], kept)


def _read_parts(
    report: str,
    tokens: list[Token],
    sentence: Sentence,
    parts: list[tuple[int, int]],
    lexicon: Lexicon,
    kept: Kept,
) -> Iterator[tuple[Sentence, Parsed]]:
    for first, last in parts:
        part = sentence._replace(first=sentence.first + first, last=sentence.first + last)
        yield part, _parsed(report, tokens[part.first : part.last], lexicon, kept)


def _are_several(found: list[Sentence], tokens: list[Token]) -> bool:
    """Whether a section has several sentences, or semicolons that end statements; then commas seldom end one.

    Semicolons after a colon separate the items of a list, and do not count.
    """
    if len({sentence.section for sentence in found}) < len(found):
        return True
    words = ({token.word for token in tokens[sentence.first : sentence.last]} for sentence in found)
    return any(";" in own and ":" not in own for own in words)


def _at_semicolons(parsed: Parsed) -> list[tuple[int, int]]:
    """The words `[first, last)` of each part of a sentence whose semicolons take the place of full stops."""
    if not any(item.word == ";" for item in parsed.items):
        return [(0, len(parsed.tokens))]
    found = parsed.once(_statements)
    lasts = [last for _, last in found if last == len(parsed.tokens) or parsed.tokens[last].word == ";"]
    return list(zip([0, *(last + 1 for last in lasts)], lasts, strict=False))


def _statements(parsed: Parsed) -> list[tuple[int, int]]:
    """The words `[first, last)` of each statement of a sentence, in a report that has several in a section."""
    return _with_marks(parsed, StatementSearch, full_stops=True, several=True)


def _joined_statements(parsed: Parsed) -> list[tuple[int, int]]:
    """The words `[first, last)` of each statement of a sentence, in a report of one sentence a section."""
    return _with_marks(parsed, StatementSearch, full_stops=True, several=False)


def _unmarked_statements(parsed: Parsed) -> list[tuple[int, int]]:
    """The words `[first, last)` of each statement of a sentence, in a report without full stops."""
    return _with_marks(parsed, UnmarkedSearch, full_stops=False, several=False)


def _with_marks(
    parsed: Parsed, search: type[StatementSearch], *, full_stops: bool, several: bool
) -> list[tuple[int, int]]:
    tokens = range(1, len(parsed.tokens))
    small = parsed.text[1:].islower()
    initials = (
        frozenset() if small else frozenset(k for k in range(len(parsed.tokens)) if _is_capital(parsed.written(k)))
    )
    capitals = frozenset(k for k in initials if k and k - 1 not in initials)
    broken = "\n" in parsed.text and parsed.text.islower()
    lines = frozenset(k for k in tokens if broken and "\n" in parsed.between(k))
    marks = Marks(initials, capitals, lines, full_stops, several)
    return statements(parsed.tokens, parsed.items, parsed.mentions, parsed.lexicon, marks, search)


def _is_capital(word: str) -> bool:
    """Whether a word is written like the first of a sentence: "The", not "SVC" or "left"."""
    return word[:1].isupper() and word[1:].islower()


def _clauses(parsed: Parsed) -> list[tuple[int, int]]:
    """The words `[first, last)` of each main clause of a sentence."""
    return main_clauses(parsed.tokens, parsed.items, parsed.mentions, parsed.lexicon)


def parse_words(report: str, own: list[Token], lexicon: Lexicon) -> Parsed:
    """Returns words of a report, which need not be beside each other, read as one sentence."""
    return _parsed(report, own, lexicon, _kept(lexicon))


def _parsed(report: str, own: list[Token], lexicon: Lexicon, kept: Kept) -> Parsed:
    """Returns a stretch of words as it is written, read once."""
    if recorder() is not None:
        return Parsed(report[own[0].start : own[-1].end], own, lexicon)
    key = report[own[0].start : own[-1].end], " ".join([token.word for token in own])
    parsed = kept.get(key)
    if parsed is None:
        parsed = kept[key] = Parsed(key[0], own, lexicon)
        if len(kept) > KEPT:
            kept.popitem(last=False)
    return parsed


def read_sentences(report: str, tokens: list[Token], lexicon: Lexicon) -> Iterator[tuple[Sentence, Parsed]]:
    """Yields the sentences that a report does not take back.

    What it takes back ("disregard: ...") or says of somebody else ("another patient has ...") is left out.
    """
    taken_back = ""
    for sentence, parsed in parse_sentences(report, tokens, lexicon):
        if (parsed.retracts or sentence.section == taken_back) and (recording := recorder()) is not None:
            recording.taken_back.append((tokens[sentence.first].start, tokens[sentence.last - 1].end))
        if parsed.retracts:
            if parsed.retracts_all:
                taken_back = sentence.section
        elif sentence.section != taken_back:
            yield sentence, parsed


@per_lexicon
def _kept(lexicon: Lexicon) -> Kept:
    """The sentences that were read with a lexicon, the oldest first."""
    return OrderedDict()
