"""How much of a text the reader understands, and whether the text is one that it can read at all.

What is not understood must never count as "nothing to report". So each sentence of a report either **says something**
(a finding, a normal statement, a change, a technique, advice), or is **unread**: most of its words stand neither in the
lexicon nor in the vocabulary of reports. A sentence that no rule reads says something, too, if most of its words are
known, it names the chest, an organ or the film, and has a word of normality ("the thorax is of ordinary aspect");
babble, other languages and bare titles have none of these, and are silence. A text is out of scope if it is written in
another language, if its terms belong to another part of the body or to another modality, or if most of what it says is
unread. Which kind of report it is also says with which pack it is read (`pack_for`).

The check looks at words and terms only (`lexicon/*/scope.yaml`, `lexicon/*/vocabulary.yaml`); it needs no findings and
no model, so that metrics which do not read findings (CREPE, encoders) share it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product, takewhile
from operator import eq
from typing import Any, NamedTuple

from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import (
    DEFAULT_PACK,
    TECHNIQUE,
    Lexicon,
    all_packs,
    kept_until_use,
    lexicon_of,
    load,
    load_file,
    pack_titled,
    per_lexicon,
)
from rrgmetrics.reading.lexicon.build import words_of
from rrgmetrics.reading.lexicon.packs import chain
from rrgmetrics.reading.model import Kind, Reading, Scope, Span
from rrgmetrics.reading.normality import calls_normal
from rrgmetrics.reading.parsed import Parsed, read_sentences
from rrgmetrics.reading.tokens import Sentence, Token
from rrgmetrics.reading.typing_errors import tokenize_report
from rrgmetrics.reports.cleaning import CleanText, clean
from rrgmetrics.reports.missing import says_nothing

CHEST_XRAY, CHEST_CT = "chest X-ray reports in English", "chest CT reports in English"  # titles of packs
XRAY, CT = "chest x-ray", "chest ct"

UNREAD_SHARE = 2  # unread sentences for each that says something, from which on a text is not understood
FEW_WORDS = 2  # foreign words that make a text foreign, if it has no English one
SOME_WORDS = 3  # and if it has fewer English ones
OTHER_SCRIPT = 0.3  # share of letters beyond Latin script
BROKEN, BROKEN_SHARE = 2, 10  # pairs of words that do not go together: at least so many, and one in so many words
USUAL, SURE, WEAK = 2, 4, 1  # weights of the terms of another part of the body or modality
TITLE = 8  # weight of a title that names another part of the body
NEEDED = 4  # weight from which on a text is of another kind
_LONGEST_TITLE = 8  # words
_LABELS = frozenset(
    {
        "exam",
        "examination",
        "study",
        "procedure",
        "modality",
        "technique",
        "title",
        "description",
        "type",
        "performed",
        "report",
    }
)
_HEADS = _LABELS | {":", "¶", "unenhanced"}
_LONGEST_HEADING = 2  # words before its colon
FILM = "a chest X-ray report"
_OF_CHEST = frozenset({"an MRI report", "an ultrasound report", FILM})  # their titles name the chest
_BEHIND_TITLES = frozenset({".", "¶", ":", ",", ";", "-", "and", "with", "without", "report", "protocol", "contrast"})
_BEHIND_CHEST_TITLES = frozenset({"was", "for", "following", "after", "show", "demonstrate"})
_LETTERS = re.compile(r"[^\W\d_]+")
_REPORTS = frozenset({"communication", "recommendation", "hypothetical", "hypothetical_after", "nothing"})  # no finding
_NORMAL = frozenset({"normal", "clear"})
_ITEM_MARKS = frozenset({"¶", "-", "1", "."})
_NOTHING = frozenset({"none", "nil"})
_DEVICES = frozenset({"bare_line", "bare_tube", "device"})  # structures that are no part of the body
_LONGEST_NAME = 6  # words
_REMOVED = "xxxx"  # a word that was taken out of the report, as Open-i marks it


class _Cue(NamedTuple):
    """What a term says of the kind of a report: its weight, and that in a report without a word of the chest."""

    kind: Kind
    weight: int
    alone: int


class _Knowledge(NamedTuple):
    """The tables of this module, ready for use."""

    grammar: frozenset[str]
    vocabulary: frozenset[str]
    foreign: frozenset[str]  # the words of all languages
    languages: dict[str, frozenset[str]]
    denying: frozenset[str]  # foreign words that deny
    scripts: dict[str, str]
    broken: frozenset[tuple[str, str]]  # a word and one that does not follow it
    own: tuple[Kind, ...]  # the kind of the pack's reports, behind those of the packs that it extends
    packed: frozenset[Kind]  # kinds that a pack reads
    kinds: tuple[Kind, ...]
    elsewhere: tuple[Kind, ...]  # those that are not of the chest
    terms: dict[str, dict[str, list[tuple[tuple[str, ...], list[_Cue]]]]]  # first word → second, "" → the longest first
    chest: frozenset[str]
    titles: dict[tuple[str, ...], Kind]
    title_words: frozenset[str]  # that may be in a title
    examinations: frozenset[str]  # words for an examination
    ct: frozenset[tuple[str, ...]]  # names of a CT, of no part of the body
    ct_names: frozenset[str]  # words for a CT
    film_names: frozenset[str]  # words for a film
    chest_names: frozenset[str]  # words for the chest in a title
    parts: dict[str, Kind]  # of the body


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
    lexicon, given = load(), clean(report)
    tokens = tokenize_report(given.text, lexicon)
    scan = Scan(given.text, tokens, lexicon)
    for sentence, parsed in read_sentences(given.text, tokens, lexicon):
        scan.add(sentence, parsed)
    return scope_as_given(scan.scope(), given)


def scope_as_given(scope: Scope, given: CleanText) -> Scope:
    """Returns the scope of a cleaned text with the characters of the text that was given."""
    if given.offsets is None:
        return scope
    return replace(scope, statements=given_spans(scope.statements, given), unread=given_spans(scope.unread, given))


def given_spans(spans: Iterable[Span], given: CleanText) -> tuple[Span, ...]:
    """Returns spans of a cleaned text as those of the text that was given."""
    return tuple(Span(*given.given(*span)) for span in spans)


def pack_for(scope: Scope, folder: str | None = None) -> str:
    """The pack that reads reports of this kind, as they look when they are read as chest X-ray reports."""
    packs = all_packs(folder).items()
    return next((name for name, pack in packs if pack.kind == scope.kind), DEFAULT_PACK)


@kept_until_use
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
        return "has no readable statement"
    return f"looks {'like ' * (scope.kind != 'language')}{scope.looks or FILM}"


def unread_spans(reference: Reading, candidate: Reading) -> list[Span]:
    """The unread sentences of a candidate that neither are in the reference nor are made of its words."""
    if not candidate.scope.unread:
        return []
    known = {token.word for token in tokenize_report(clean(reference.text).text, lexicon_of(reference))}
    return [
        span
        for span, words in zip(candidate.scope.unread, candidate.scope.words, strict=True)
        if candidate.text[span.start : span.end] not in reference.text and not (words and words <= known)
    ]


class Scan:
    """Collects what is understood of a text, sentence by sentence, while somebody reads it."""

    def __init__(self, report: str, tokens: Sequence[Token], lexicon: Lexicon) -> None:
        self._report, self._tokens = report, tokens
        self._knowledge = _knowledge(lexicon)
        self._statements: list[Span] = []
        self._unread: list[Span] = []
        self._words: list[frozenset[str]] = []
        self._advised: set[int] = set()  # tokens of advice: "CT angiography with contrast is recommended"
        self._begins = 0  # where the report does, behind headings, which may be in two languages
        self._in_front: int | None = None  # unread sentences before the first heading, if none there is a statement

    def add(self, sentence: Sentence, parsed: Parsed) -> None:
        """Sorts one sentence: it says something, or is unread, or is neither (a heading, a technique, a number)."""
        if self._in_front is None and self._is_headed(sentence.first):
            self._in_front = 0 if self._statements else len(self._unread)
            self._begins = self._tokens[sentence.first].start if not self._statements and not self._unread else 0
        sense = parsed.once(_sense)
        if sense.unread is not None and says_nothing(self._text_of(sentence)):
            return  # "FINDINGS: nan"
        if not sense.says and self._answers_heading(sentence):
            sense = sense._replace(says=True, unread=None)
        if sense.advises:
            self._advised.update(range(sentence.first, sentence.last))
        if sense.says or sense.unread is not None:
            span = Span(self._tokens[sentence.first].start, self._tokens[sentence.last - 1].end)
            if sense.unread is None:
                self._statements.append(span)
            else:
                self._unread.append(span)
                self._words.append(sense.unread)

    def _text_of(self, sentence: Sentence) -> str:
        return self._report[self._tokens[sentence.first].start : self._tokens[sentence.last - 1].end]

    def _is_headed(self, first: int) -> bool:
        """Whether a heading is before a sentence, or before the mark of its item."""
        colon = next((k for k in reversed(range(first)) if self._tokens[k].word not in _ITEM_MARKS), -1)
        return colon > 0 and self._tokens[colon].word == ":"

    def _answers_heading(self, sentence: Sentence) -> bool:
        """Whether a sentence is the only word behind a heading: "FINDINGS: None."."""
        first = sentence.first
        alone = sentence.last == first + 1 and first >= 2 and self._tokens[first - 1].word == ":"
        return alone and self._tokens[first].word in _NOTHING

    def scope(self) -> Scope:
        """Returns the verdict on the whole text."""
        kind, looks = self._kind()
        n = self._in_front or 0  # what a log or a note has above "FINDINGS:" is no part of the report
        return Scope(kind, looks, tuple(self._statements), tuple(self._unread[n:]), tuple(self._words[n:]))

    def _kind(self) -> tuple[Kind, str]:
        if not any(character.isalnum() for character in self._report):
            return "empty", ""
        text = self._report[self._begins :]
        language = _other_script(text, self._knowledge) or _other_language(text, self._knowledge)
        if language:
            return "language", language
        words = [token.word for token in self._tokens]
        titled = _title(words, self._knowledge)  # "Follow-up CT chest." is no advice here
        if self._advised:
            words = [word for index, word in enumerate(words) if index not in self._advised]
        other = _other_report(words, titled, len(self._statements), self._knowledge)
        if other:
            return other
        if len(self._unread) - (self._in_front or 0) >= UNREAD_SHARE * len(self._statements):
            return "unread", ""
        return self._knowledge.own[-1], ""


class _Sense(NamedTuple):
    """What is understood of a sentence: whether it advises, whether it says something, its unread words if unread."""

    advises: bool
    says: bool
    unread: frozenset[str] | None


def _sense(parsed: Parsed) -> _Sense:
    knowledge, items = _knowledge(parsed.lexicon), parsed.items
    unknown, known = _count(items, knowledge)
    says = _says(items, parsed.mentions, parsed.lexicon)
    says = says or (len(unknown) <= known and calls_normal(items, knowledge.chest, parsed.lexicon))
    understood = says or any(not _REPORTS.isdisjoint(item.senses) for item in items)
    unread = len(unknown) > (2 * known + 1 if understood else known) or _is_salad(parsed.tokens, knowledge)
    unread = unread and not _is_name(parsed)
    advises = True in ["recommendation" in item.senses for item in items]
    return _Sense(advises, says, frozenset(unknown) if unread else None)


def _is_name(parsed: Parsed) -> bool:
    """Whether a sentence is written as names are: "John Smith, MD", but "Colourless ideas" and "JOHN SMITH"."""
    words = [word for word in _LETTERS.findall(parsed.text) if len(word) > 1]
    return 1 < len(words) <= _LONGEST_NAME and all(word[0].isupper() for word in words) and not parsed.text.isupper()


def _is_salad(tokens: Sequence[Token], knowledge: _Knowledge) -> bool:
    """Whether words are side by side that English does not put there, too often for a slip."""
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
    """Whether a sentence speaks of the patient: a finding, a normal statement, a change, or only "normal"."""
    if any(mention.denies or lexicon.concepts[mention.concept].group != TECHNIQUE for mention in mentions):
        return True
    if any("change" in item.senses or not _NORMAL.isdisjoint(item.senses.get("quality", ())) for item in items):
        return True
    denies = any("negation_before" in item.senses for item in items)
    return denies and any(not _DEVICES.isdisjoint(item.senses.get("structure", ())) for item in items)


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


def _other_script(report: str, knowledge: _Knowledge) -> str:
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
    return knowledge.scripts.get(name, f"{name.title()} script")


def _other_language(report: str, knowledge: _Knowledge) -> str:
    """Returns the language whose words outnumber the English ones, "" if none does."""
    letters = _LETTERS.findall(report.lower())
    if knowledge.foreign.isdisjoint(letters):
        return ""
    words = Counter(letters)
    english = sum(n for word, n in words.items() if word in knowledge.grammar)
    hits = {
        language: sum(n * (1 + (word in knowledge.denying)) for word, n in words.items() if word in own)
        for language, own in knowledge.languages.items()
    }
    language = max(hits, key=lambda name: hits[name])
    needed = SOME_WORDS if english else FEW_WORDS
    return language if hits[language] >= needed and hits[language] > english else ""


def _other_report(
    words: Sequence[str], titled: Kind | None, n_statements: int, knowledge: _Knowledge
) -> tuple[Kind, str] | None:
    """Returns another part of the body, or another modality, that the terms of a text speak of.

    A CT report of the chest may name more of the abdomen than of the chest, so that its own words come first; those of
    a kind that a pack reads come before it where they weigh more.
    """
    if titled in knowledge.packed:
        return None if titled in knowledge.own else (titled, "a CT report" if titled == CT else titled)
    if titled in _OF_CHEST:
        return None if titled == FILM and knowledge.own[-1] == XRAY else ("elsewhere", titled)
    of_chest = USUAL * len(knowledge.chest.intersection(words))
    weights = _weights(words, knowledge, alone=not of_chest)
    if titled:
        weights[titled] += TITLE
    elif _is_ct(words, knowledge):
        weights[CT] += NEEDED
    elif sum(weights.values()) < NEEDED:
        return None
    own = max(weights.get(kind, 0) for kind in knowledge.own)
    if own >= NEEDED and knowledge.own[-1] != XRAY:
        return None
    others = sorted(
        (kind for kind in knowledge.elsewhere if kind not in knowledge.own), key=lambda kind: -weights[kind]
    )
    packed = next((kind for kind in others if kind in knowledge.packed), None)
    if packed and packed == others[0] and weights[packed] > max(own, n_statements, weights[CT], NEEDED - 1):
        return packed, packed
    elsewhere = sum(weights[kind] for kind in others)
    for kind, looks in ((CT, "a CT report"), (XRAY, FILM)):
        is_other = kind not in knowledge.own and weights[kind] >= NEEDED and weights[kind] > own
        is_of_chest = of_chest or elsewhere < NEEDED  # "liver lesion. Gallstones." may be any CT's, but for the chest
        if is_other and is_of_chest and weights[kind] + of_chest >= elsewhere:
            return kind, looks
    if elsewhere >= NEEDED and elsewhere > max(own + of_chest, n_statements):
        return ("elsewhere", others[0])
    return None


def _title(words: Sequence[str], knowledge: _Knowledge) -> Kind | None:
    """Returns the kind that a title names first of all, or behind a label: "CT chest.", "EXAM: CT head"."""
    kinds = (_named_at(first, words, knowledge) for first in _openings(words))
    return next(filter(None, kinds), None)


def _named_at(first: int, words: Sequence[str], knowledge: _Knowledge) -> Kind | None:
    """Returns the kind that the title at a word names."""

    def ends(behind: int) -> bool:
        ahead = words[behind : behind + 1 + _LONGEST_HEADING]
        return not ahead or ahead[0] in _BEHIND_TITLES or ":" in ahead

    for n in range(min(_LONGEST_TITLE, len(words) - first), 0, -1):
        kind = knowledge.titles.get(tuple(words[first : first + n]))
        if kind and ends(first + n):
            return kind
    title = [*takewhile(knowledge.title_words.__contains__, words[first : first + _LONGEST_TITLE])]
    named = None if knowledge.chest_names.isdisjoint(title) else _modality(title, knowledge)
    if named:
        behind = first + len(title)
        return named if ends(behind) or title[-1] in _BEHIND_TITLES or words[behind] in _BEHIND_CHEST_TITLES else None
    if ends(first + len(title)) and not knowledge.examinations.isdisjoint(title) and knowledge.chest.isdisjoint(title):
        return next((knowledge.parts[word] for word in title if word in knowledge.parts), None)
    return None


def _modality(title: Sequence[str], knowledge: _Knowledge) -> Kind | None:
    """Returns the modality that a title of the chest names."""
    if not knowledge.ct_names.isdisjoint(title):
        return CT
    is_film = not knowledge.film_names.isdisjoint(title) and knowledge.parts.keys().isdisjoint(title)
    return FILM if is_film else None


def _is_ct(words: Sequence[str], knowledge: _Knowledge) -> bool:
    """Whether a title names a CT, and no part of the body: "CT: small effusion"."""

    def named_at(first: int) -> bool:
        ends = (n for n, word in enumerate(words[first : first + _LONGEST_TITLE], first) if word in (":", ".", "¶"))
        return tuple(words[first : next(ends, first)]) in knowledge.ct

    return any(map(named_at, _openings(words)))


def _opening(words: Sequence[str], first: int = 0) -> int:
    """Returns where a text begins behind words as "EXAM:"."""
    return next((i for i in range(first, len(words)) if words[i] not in _HEADS), first)


def _openings(words: Sequence[str]) -> Iterator[int]:
    """Yields where a title may be: first of all, and behind a label such as "EXAM:"."""
    yield _opening(words)
    if not _LABELS.isdisjoint(words):
        yield from (
            _opening(words, i + 1) for i, (one, then) in enumerate(pairwise(words)) if one in _LABELS and then == ":"
        )


def _weights(words: Sequence[str], knowledge: _Knowledge, *, alone: bool) -> dict[Kind, int]:
    """Returns how much the different terms of a text weigh for each kind, the longest term at each place.

    Args:
        words: Of the text.
        knowledge: The terms.
        alone: Whether the text holds no word of the chest.
    """
    weights = dict.fromkeys(knowledge.kinds, 0)
    seen: set[tuple[str, ...]] = set()
    end = 0
    keys = ["0" if word[0].isdigit() else word for word in words]
    terms = knowledge.terms
    firsts = [i for i, key in enumerate(keys) if key in terms]
    keys.append("")
    for i in firsts:
        if i < end:
            continue
        listed = terms[keys[i]]
        for term, cues in (*listed.get(keys[i + 1], ()), *listed.get("", ())):
            if _is_at(term, words, i):
                end = i + len(term)
                for cue in cues if term not in seen else ():
                    weights[cue.kind] += cue.alone if alone else cue.weight
                seen.add(term)
                break
    return weights


def _key(word: str) -> str:
    """Returns a word as terms are looked up by it: "0" for any number."""
    return "0" if word[0].isdigit() else word


def _is_at(term: tuple[str, ...], words: Sequence[str], i: int) -> bool:
    """Whether a text has a term at a place; "0" in a term is any number."""
    found = words[i : i + len(term)]
    return len(found) == len(term) and all(
        own == word or (own == "0" and word[0].isdigit()) for own, word in zip(term, found, strict=True)
    )


@per_lexicon
def _knowledge(lexicon: Lexicon) -> _Knowledge:
    packs = all_packs(lexicon.key.folder)
    tables, vocabulary = load_file("scope", lexicon.key), load_file("vocabulary", lexicon.key)

    def plain(terms: Iterable[Any]) -> set[str]:
        return {word for term in terms for word in words_of(str(term), lexicon.words)}

    def by_phrase(table: Mapping[Kind, Iterable[str]]) -> dict[tuple[str, ...], Kind]:
        return {tuple(words_of(term, lexicon.words)): kind for kind, listed in table.items() for term in listed}

    grammar = plain(vocabulary["grammar"])
    own = plain(word for kind in ("report", "clinical", "description", "anatomy") for word in vocabulary[kind])
    english = grammar | own | lexicon.terms_words
    cues: dict[tuple[str, ...], list[_Cue]] = {}
    for table, weight, alone in (
        ("sure", SURE, SURE),
        ("decisive", USUAL, SURE),
        ("elsewhere", USUAL, USUAL),
        ("modality", USUAL, USUAL),
        ("weak", WEAK, WEAK),
        ("shared", 0, USUAL),
    ):
        for kind, listed in tables[table].items():
            for words in dict.fromkeys(tuple(words_of(term, lexicon.words)) for term in listed):
                if kind not in (cue.kind for cue in cues.get(words, ())):
                    cues.setdefault(words, []).append(_Cue(kind, weight, alone))
    terms: dict[str, dict[str, list[tuple[tuple[str, ...], list[_Cue]]]]] = {}
    for words in sorted(cues, key=lambda words: (words[0] == "0", -len(words))):
        first, second = _key(words[0]), _key(words[1]) if len(words) > 1 else ""
        terms.setdefault(first, {}).setdefault(second, []).append((words, cues[words]))
    titles = tables["examinations"]
    parts = {word: kind for kind, listed in titles["parts"].items() for word in plain(listed)}
    examinations = plain(titles["names"])
    ct_names, film_names, chest_names = (frozenset(plain(titles[f"{name}_names"])) for name in ("ct", "film", "chest"))
    denying = tables["denying"]
    languages = {
        name: frozenset((*words, *denying.get(name, ()))) - english for name, words in tables["languages"].items()
    }
    return _Knowledge(
        grammar=frozenset(grammar),
        vocabulary=frozenset(own | lexicon.terms_words),
        foreign=frozenset().union(*languages.values()),
        languages=languages,
        denying=frozenset().union(*denying.values()),
        scripts=tables["scripts"],
        chest=frozenset(plain(tables["chest"])),
        titles=by_phrase(tables["titles"]),
        title_words=frozenset({*examinations, *parts, *ct_names, *film_names, *chest_names, *plain(titles["words"])}),
        examinations=frozenset(examinations),
        ct=frozenset(tuple(words_of(term, lexicon.words)) for term in titles["ct"]),
        ct_names=ct_names,
        film_names=film_names,
        chest_names=chest_names,
        parts=parts,
        broken=frozenset(pair for row in tables["broken"] for pair in product(row["first"], row["then"])),
        own=tuple(pack.kind for pack in chain(lexicon.key.pack, packs)),
        packed=frozenset(pack.kind for pack in packs.values()),
        kinds=tuple(dict.fromkeys(cue.kind for listed in cues.values() for cue in listed)),
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
