"""How much of a text the reader understands, and whether the text is one that it can read at all.

What is not understood must never count as "nothing to report". So each sentence of a report either **says something**
(a finding, a normal statement, a change, a technique, advice), or is **unread**: most of its words stand neither in the
lexicon nor in the vocabulary of reports. A text is out of scope if it is written in another language, if its terms
belong to another part of the body or to another modality, or if most of what it says is unread. Which kind of report
it is also says with which pack it is read (`pack_for`).

The check looks at words and terms only (`lexicon/*/scope.yaml`, `lexicon/*/vocabulary.yaml`); it needs no findings and
no model, so that metrics which do not read findings (CREPE, encoders) share it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product
from operator import eq
from typing import Any, NamedTuple

from rrgmetrics.reader.items import Item, Mention
from rrgmetrics.reader.lexicon import (
    DEFAULT_PACK,
    TECHNIQUE,
    Lexicon,
    all_packs,
    in_its_pack,
    load,
    load_file,
    pack_in_use,
    pack_titled,
    per_lexicon,
)
from rrgmetrics.reader.lexicon.build import words_of
from rrgmetrics.reader.lexicon.packs import chain
from rrgmetrics.reader.model import Kind, Reading, Scope, Span
from rrgmetrics.reader.parsed import Parsed, read_sentences
from rrgmetrics.reader.tokens import Sentence, Token
from rrgmetrics.reader.typing_errors import tokenize_report

CHEST_XRAY, CHEST_CT = "chest X-ray reports in English", "chest CT reports in English"  # titles of packs
XRAY, CT = "chest x-ray", "chest ct"

UNREAD_SHARE = 2  # unread sentences for each that says something, from which on a text is not understood
FEW_WORDS = 2  # foreign words that make a text foreign, if it has no English one
SOME_WORDS = 3  # and if it has fewer English ones
OTHER_SCRIPT = 0.3  # share of letters beyond Latin script
BROKEN, BROKEN_SHARE = 2, 10  # pairs of words that do not go together: at least so many, and one in so many words
CUES = 2  # different terms of another part of the body or modality
_LONGEST_TITLE = 6  # words
_HEADS = frozenset({"exam", "examination", "study", "procedure", "modality", "technique", "title", ":", "unenhanced"})
_BEHIND_TITLES = frozenset({".", ":", ",", ";", "-", "and", "with", "without", "report", "protocol", "contrast"})
_LETTERS = re.compile(r"[^\W\d_]+")
_REPORTS = frozenset({"communication", "recommendation", "hypothetical", "hypothetical_after", "nothing"})  # no finding
_REMOVED = "xxxx"  # a word that was taken out of the report, as Open-i marks it


class _Knowledge(NamedTuple):
    """The tables of this module, ready for use."""

    grammar: frozenset[str]
    vocabulary: frozenset[str]
    foreign: frozenset[str]  # the words of all languages
    languages: dict[str, frozenset[str]]
    scripts: dict[str, str]
    broken: frozenset[tuple[str, str]]  # a word and one that does not follow it
    own: tuple[Kind, ...]  # the kind of the pack's reports, behind those of the packs that it extends
    packed: frozenset[Kind]  # kinds that a pack reads
    kinds: tuple[Kind, ...]
    elsewhere: tuple[Kind, ...]  # those that are not of the chest
    terms: dict[str, list[tuple[tuple[str, ...], Kind]]]  # first word → terms, the longest first, with their kind
    decisive: frozenset[tuple[str, ...]]  # terms one of which is enough where no word of the chest stands
    sure: frozenset[tuple[str, ...]]  # terms one of which is enough
    chest: frozenset[str]
    titles: dict[tuple[str, ...], Kind]


def scope_of(report: str) -> Scope:
    """Tells what kind of text a report is.

    Args:
        report: The text; an empty one is of the kind `empty`.

    Returns:
        Scope: the kind, and which sentences were understood.

    Example:
        >>> scope_of("Small left effusion. Colourless ideas sleep furiously.").kind
        'chest x-ray'
        >>> scope_of("Derrame pleural izquierdo, sin neumotórax.").looks
        'Spanish'
    """
    lexicon = load()
    tokens = tokenize_report(report, lexicon)
    scan = Scan(report, tokens)
    for sentence, parsed in read_sentences(report, tokens, lexicon):
        scan.add(sentence, parsed)
    return scan.scope()


def pack_for(scope: Scope) -> str:
    """The pack that reads reports of this kind, as they look when they are read as chest X-ray reports."""
    return _pack_of_kind().get(scope.kind, DEFAULT_PACK)


@per_lexicon
def _pack_of_kind() -> dict[Kind, str]:
    return {pack.kind: name for name, pack in reversed([*all_packs().items()])}


@per_lexicon
def readable_kinds(modality: str) -> frozenset[Kind]:
    """Which kinds of text a metric of this modality, the title of a pack, can read; nothing: it compares any text."""
    named = pack_titled(modality)
    return frozenset({"empty", *(pack.kind for pack in chain(named.name))} if named else ())


def reads(modality: str, kind: Kind) -> bool:
    """Whether a metric of this modality can read this kind of text."""
    readable = readable_kinds(modality)
    return not readable or kind in readable


def out_of_scope(scope: Scope, modality: str) -> str:
    """Returns why a text cannot be read by a metric of this modality, in words; "" if it can."""
    if reads(modality, scope.kind):
        return ""
    if scope.kind == "unread":
        return "says nothing that could be read"
    return f"looks {'like ' * (scope.kind != 'language')}{scope.looks or 'a chest X-ray report'}"


@in_its_pack
def unread_spans(reference: Reading, candidate: Reading) -> list[Span]:
    """The unread sentences of a candidate that neither stand in the reference nor are made of its words."""
    if not candidate.scope.unread:
        return []
    known = {token.word for token in tokenize_report(reference.text, load())}
    return [
        span
        for span, words in zip(candidate.scope.unread, candidate.scope.words, strict=True)
        if candidate.text[span.start : span.end] not in reference.text and not (words and words <= known)
    ]


class Scan:
    """Collects what is understood of a text, sentence by sentence, while somebody reads it."""

    def __init__(self, report: str, tokens: Sequence[Token]) -> None:
        self._report, self._tokens = report, tokens
        self._knowledge = _knowledge()
        self._statements: list[Span] = []
        self._unread: list[Span] = []
        self._words: list[frozenset[str]] = []
        self._advised: set[int] = set()  # tokens of advice: "CT angiography with contrast is recommended"

    def add(self, sentence: Sentence, parsed: Parsed) -> None:
        """Sorts one sentence: it says something, or is unread, or is neither (a heading, a technique, a number)."""
        sense = parsed.once(_sense)
        if sense.advises:
            self._advised.update(range(sentence.first, sentence.last))
        if sense.says or sense.unread is not None:
            span = Span(self._tokens[sentence.first].start, self._tokens[sentence.last - 1].end)
            if sense.unread is None:
                self._statements.append(span)
            else:
                self._unread.append(span)
                self._words.append(sense.unread)

    def scope(self) -> Scope:
        """Returns the verdict on the whole text."""
        kind, looks = self._kind()
        return Scope(kind, looks, tuple(self._statements), tuple(self._unread), tuple(self._words))

    def _kind(self) -> tuple[Kind, str]:
        if not any(character.isalnum() for character in self._report):
            return "empty", ""
        language = _other_script(self._report) or _other_language(self._report, self._knowledge)
        if language:
            return "language", language
        words = [token.word for token in self._tokens]
        if self._advised:
            words = [word for index, word in enumerate(words) if index not in self._advised]
        other = _other_report(words, len(self._statements), self._knowledge)
        if other:
            return other
        if len(self._unread) >= UNREAD_SHARE * len(self._statements):
            return "unread", ""
        return self._knowledge.own[-1], ""


class _Sense(NamedTuple):
    """What is understood of a sentence: whether it advises, whether it says something, its unread words if unread."""

    advises: bool
    says: bool
    unread: frozenset[str] | None


def _sense(parsed: Parsed) -> _Sense:
    knowledge, items = _knowledge(), parsed.items
    unknown, known = _count(items, knowledge)
    says = _says(items, parsed.mentions, parsed.lexicon)
    understood = says or any(not _REPORTS.isdisjoint(item.senses) for item in items)
    unread = len(unknown) > (2 * known + 1 if understood else known) or _is_salad(parsed.tokens, knowledge)
    advises = True in ["recommendation" in item.senses for item in items]
    return _Sense(advises, says, frozenset(unknown) if unread else None)


def _is_salad(tokens: Sequence[Token], knowledge: _Knowledge) -> bool:
    """Tells whether words stand side by side that English does not put there, too often for a slip."""
    words = [token.word for token in tokens] + ["."]
    pairs = [*pairwise(words)]
    n_broken = sum(map(knowledge.broken.__contains__, pairs))
    if True in map(eq, words, words[1:]):
        n_broken += sum(
            first == then and first.isalpha() and _REMOVED not in first
            for first, then in pairs
            if (first, then) not in knowledge.broken
        )
    return n_broken >= BROKEN and n_broken * BROKEN_SHARE >= len(words)


def _says(items: Sequence[Item], mentions: Sequence[Mention], lexicon: Lexicon) -> bool:
    """Tells whether a sentence speaks of the patient: a finding, a normal statement, a change, or only "normal"."""
    if any(mention.denies or lexicon.concepts[mention.concept].group != TECHNIQUE for mention in mentions):
        return True
    return any("change" in item.senses or "normal" in item.senses.get("quality", ()) for item in items)


def _count(items: Sequence[Item], knowledge: _Knowledge) -> tuple[list[str], int]:
    """Returns the words that are not understood, and how many of a report's own words there are."""
    unknown: list[str] = []
    known = 0
    for item in items:
        if item.senses:
            known += not item.senses.keys() <= _CUES
        elif item.word.isalpha() and len(item.word) > 1 and _REMOVED not in item.word:
            if item.word in knowledge.vocabulary:
                known += 1
            elif item.word not in knowledge.grammar:
                unknown.append(item.word)
    return unknown, known


def _other_script(report: str) -> str:
    """Returns the script of most letters that are not Latin, "" if those are few."""
    if report.isascii():
        return ""
    letters = [character for character in report if character.isalpha() and not character.isascii()]
    names = Counter(unicodedata.name(character, "").split(" ")[0] for character in letters)
    others = {name: n for name, n in names.items() if name != "LATIN"}
    n_letters = sum(map(str.isalpha, report))
    if not others or sum(others.values()) < OTHER_SCRIPT * n_letters:
        return ""
    name = max(others, key=lambda name: others[name])
    return _knowledge().scripts.get(name, f"{name.title()} script")


def _other_language(report: str, knowledge: _Knowledge) -> str:
    """Returns the language whose words outnumber the English ones, "" if none does."""
    letters = _LETTERS.findall(report.lower())
    if knowledge.foreign.isdisjoint(letters):
        return ""
    words = Counter(letters)
    english = sum(n for word, n in words.items() if word in knowledge.grammar)
    hits = {
        language: sum(n for word, n in words.items() if word in own) for language, own in knowledge.languages.items()
    }
    language = max(hits, key=lambda name: hits[name])
    needed = SOME_WORDS if english else FEW_WORDS
    return language if hits[language] >= needed and hits[language] > english else ""


def _other_report(words: Sequence[str], n_statements: int, knowledge: _Knowledge) -> tuple[Kind, str] | None:
    """Returns another part of the body, or another modality, that the terms of a text speak of.

    A CT report of the chest may name more of the abdomen than of the chest, so that its own words come first; those of
    a kind that a pack reads come before it where they are more.
    """
    titled = _title(words, knowledge)
    if titled:
        return None if titled in knowledge.own else (titled, "a CT report" if titled == CT else titled)
    cues = _cues(words, knowledge)
    counts = {kind: len(terms) for kind, terms in cues.items()}
    counts = {kind: n + (CUES - 1) * (not knowledge.sure.isdisjoint(cues[kind])) for kind, n in counts.items()}
    if knowledge.chest.isdisjoint(words):
        counts = {kind: n + (CUES - 1) * (not knowledge.decisive.isdisjoint(cues[kind])) for kind, n in counts.items()}
    own = max(counts.get(kind, 0) for kind in knowledge.own)
    if own >= CUES and knowledge.own[-1] != XRAY:
        return None

    def speaks_of(kind: Kind) -> bool:
        return counts[kind] >= CUES and counts[kind] > own and 2 * counts[kind] > n_statements

    others = sorted((kind for kind in knowledge.elsewhere if kind not in knowledge.own), key=lambda kind: -counts[kind])
    packed = next((kind for kind in others if kind in knowledge.packed), None)
    if packed and speaks_of(packed) and counts[packed] > counts[CT]:
        return packed, packed
    for kind, looks in ((CT, "a CT report"), (XRAY, "a chest X-ray report")):
        if kind not in knowledge.own and counts[kind] >= CUES and counts[kind] > own:
            return kind, looks
    if others and speaks_of(others[0]):
        return (others[0] if others[0] in knowledge.packed else "elsewhere"), others[0]
    return None


def _title(words: Sequence[str], knowledge: _Knowledge) -> Kind | None:
    """Returns the kind that a text names first of all: "CT chest.", "EXAM: CT head without contrast"."""
    first = next((i for i, word in enumerate(words) if word not in _HEADS), 0)
    for n in range(min(_LONGEST_TITLE, len(words) - first), 0, -1):
        kind = knowledge.titles.get(tuple(words[first : first + n]))
        if kind and (first + n == len(words) or words[first + n] in _BEHIND_TITLES):
            return kind
    return None


def _cues(words: Sequence[str], knowledge: _Knowledge) -> dict[Kind, set[tuple[str, ...]]]:
    """Returns the different terms of each kind that stand in a text, the longest at each place."""
    cues: dict[Kind, set[tuple[str, ...]]] = {kind: set() for kind in knowledge.kinds}
    if knowledge.terms.keys().isdisjoint(words):
        return cues
    end = 0
    for i, word in enumerate(words):
        if word in knowledge.terms and i >= end:
            for term, kind in knowledge.terms[word]:
                if tuple(words[i : i + len(term)]) == term:
                    cues[kind].add(term)
                    end = i + len(term)
                    break
    return cues


@per_lexicon
def _knowledge() -> _Knowledge:
    lexicon = load()
    tables, vocabulary = load_file("scope"), load_file("vocabulary")

    def plain(terms: Iterable[Any]) -> set[str]:
        return {word for term in terms for word in words_of(str(term), lexicon.words)}

    def by_phrase(table: Mapping[Kind, Iterable[str]]) -> dict[tuple[str, ...], Kind]:
        return {tuple(words_of(term, lexicon.words)): kind for kind, listed in table.items() for term in listed}

    grammar = plain(vocabulary["grammar"])
    own = plain(word for kind in ("report", "clinical", "description", "anatomy") for word in vocabulary[kind])
    english = grammar | own | lexicon.terms_words
    terms_of: dict[Kind, list[str]] = {**tables["elsewhere"], **tables["modality"]}
    for kind, more in (*tables["decisive"].items(), *tables["sure"].items()):
        terms_of[kind] = [*terms_of.get(kind, ()), *more]
    terms: dict[str, list[tuple[tuple[str, ...], Kind]]] = {}
    for kind, listed in terms_of.items():
        for term in listed:
            words = tuple(words_of(term, lexicon.words))
            terms.setdefault(words[0], []).append((words, kind))
    for entries in terms.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    languages = {name: frozenset(words) - english for name, words in tables["languages"].items()}
    return _Knowledge(
        grammar=frozenset(grammar),
        vocabulary=frozenset(own | lexicon.terms_words),
        foreign=frozenset().union(*languages.values()),
        languages=languages,
        scripts=tables["scripts"],
        decisive=frozenset(by_phrase(tables["decisive"])),
        sure=frozenset(by_phrase(tables["sure"])),
        chest=frozenset(plain(tables["chest"])),
        titles=by_phrase(tables["titles"]),
        broken=frozenset(pair for row in tables["broken"] for pair in product(row["first"], row["then"])),
        own=tuple(pack.kind for pack in chain(pack_in_use())),
        packed=frozenset(pack.kind for pack in all_packs().values()),
        kinds=tuple(terms_of),
        elsewhere=tuple(tables["elsewhere"]),
        terms=terms,
    )


# Senses that any English text has: "no", "is", "in" tell nothing of a chest.
_CUES = frozenset(
    {
        "negation_before",
        "negation_after",
        "negation_verb",
        "not_negation",
        "clause_end",
        "item_break",
        "location_preposition",
        "versus",
        "possible_before",
        "possible_after",
        "probable_after",
        "preferred_to",
        "probable_before",
        "count",
    }
)
