"""Text → tokens → sentences. Every step is linear in the length of the text.

A token is the lower-case singular of a word and the characters it came from, so that findings can point back into the
report.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from rrgmetrics.reading.line_breaks import statement_ends
from rrgmetrics.reading.senses import Senses, without

# One alternative per kind; none can match the same characters in two ways, so the scan cannot backtrack. Each begins
# with what one look at a character decides: a group or a look behind there would cost a third of the time.
_LETTER = r"[A-Za-z\u00C0-\u00D6\u00D9-\u00F6\u00F9-\u024F]"  # "Ø" is "no"
_TOKEN = re.compile(
    r"[xX*](?P<by>(?= ?\d)(?:(?<=\d[xX*])|(?<=[cCmM][mM][xX*]))|(?<=\d \*)(?= \d))"  # "16x11 mm", "16mm*11mm"
    r"|[cCmM][mM](?=[xX] ?\d)"  # "16mmx11mm"
    r"|-(?P<to>(?<=\d-)(?=\d+(?:\.\d+)? ?(?i:mm|cm)\b))"  # "2-3 cm"
    r"|-[fF][rR][eE][eE](?P<free>\b)"  # "effusion-free"
    r"|[wW]/[oO](?P<lacking>\b)|[wW]/(?P<joined>(?![oO]))"  # "W/O CHANGE", "W/ EFFUSION"
    r"|[cC]\.?[fF]\.?(?P<against>(?= ?(?:\d|(?i:(?:prev|prior|last|old|earlier|yest)[a-z.]{0,9})\b)))"  # "CF 3/5"
    r"|[A-Za-z](?:\.[A-Za-z](?![A-Za-z0-9]))+\.?(?P<initials>(?<![eEiIaApP]\.[gGeEmM])(?<![eEiIaApP]\.[gGeEmM]\.))"
    r"|[rR][tT](?P<radiotherapy>(?<=[pP][oO][sS][tT][ -][rR][tT])(?![A-Za-z.]))"  # "POST-RT FIBROSIS"
    rf"|{_LETTER}+\d{{0,2}}|\d+(?:\.\d+)?|_+"  # a word has no group; before others: it is the most frequent
    r"|\n(?P<gap>[ \t\r]*\n)|\n(?P<bullet>[ \t]*(?:[*•#]|-(?=[ \t])|\d{1,2}[.)](?=[ \t])"
    r"|(?=[A-Za-z]+(?: [A-Za-z]+){0,4} ?:)))"  # "FINDINGS:"
    r"|\?(?P<query>(?<![^\s(]\?)(?= ?[A-Za-z#]))"  # "?pneumonia", "?# 5th rib"
    r"|#(?P<fracture>(?<=[A-Za-z0-9] #)(?=s?(?:[ .,;)]|$))"  # "6th rib #", "ribs 9, 10 #"
    r"|(?<![\n#]#)(?=s? ?(?i:left|right|lt|rt|l|r|of|neck|shaft|sternum|clavicle|scapula|humerus|ribs?|[tlr]\d\d?"
    r"|(?:mid|middle|distal|proximal|medial|lateral|outer|inner|upper|lower|anterior|posterior|surgical|spine|body"
    r"|collarbone|old|healed|healing|acute|new|displaced|undisplaced|multiple|comminuted|spinous|transverse"
    r"|manubrium|glenoid|coracoid|acromion|greater|humeral|scapular|clavicular|sternal|dislocation)(?! ?:)"
    r"|\d\d?(?:st|nd|rd|th|(?: ?[-,&] ?\d\d?)+)? (?:(?:left|right|lt|rt|l|r) )?ribs?(?! f))\b))"  # "#5-9 ribs"
    r"|(?:-(?<!--)-*>|=>|→)(?P<arrow>)"  # from the first of many dashes alone
    r"|[.,;:!?/—–()\[\]](?P<mark>)"
    r"|[•●▪◦‣](?P<item>)"
    r"|[<>≤≥]{1,2}(?P<bound>(?=[ ]?(?:\d|(?i:l|r|left|right)\b)))"  # "< 1 cm", "R > L"
    r"|[Ø∅](?P<none>(?= ?[A-Za-z]))"  # "Ø PTX"
    r"|%(?P<percent>)"
    r"|↑+(?P<more>)|↓+(?P<less>)"  # "effusion ↑"
    r"|&(?P<both>)|\+(?P<plus>(?<= \+)(?= [A-Za-z0-9(])|(?<=\d\+)(?=\d))",  # "ribs 9 & 10", "ribs 4+5"
    re.ASCII,
)
_MARKS = {
    "gap": "¶",
    "bullet": "¶",
    "item": "¶",
    "query": "query",
    "fracture": "fracture",
    "arrow": "→",
    "by": "x",
    "none": "no",
    "to": "to",
    "free": "-free",
    "percent": "percent",
    "joined": "with",
    "lacking": "without",
    "against": "compared",
    "more": "increased",
    "less": "decreased",
    "both": "and",
    "plus": "and",
    "radiotherapy": "radiotherapy",
}
_APOSTROPHES = frozenset({"'", "’"})
_AFTER_APOSTROPHES = frozenset("sStT")  # what these are depends on what is before them
_SUBJECTS = frozenset({"there", "it", "that", "here", "what"})
_CONTRACTED = frozenset(  # verbs as they are before "n't"
    "is are was were has have had does do did could would should might must wo".split()
)
ENDS = frozenset({".", "!", "?", "¶"})
ARTICLES = frozenset({"a", "an", "the"})
BEFORE_NEW_NOUN = frozenset(  # words behind which an article begins a noun phrase of its own: "has an increased size"
    {"is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "and", "or", "but"}
)
RUNNING = frozenset({"comparison", "indication", "technique"})
FINDINGS = "findings"
ORGAN = "organs"  # a heading that only names what the findings below it are in
NAMED = "named"  # a heading that names what its sentence is about, and belongs to it
_ONE_LINE = "comparison"  # a section of one line, also below the findings
_SHORTER = frozenset({("hilum", len("hila"))})  # plurals that are no longer than their singular
_HEADING, _IN_BRACKETS = 7, 6  # words
LONGEST_SENTENCE = 400  # a longer one is read in pieces, so that time stays linear for texts without full stops

_SHORTENED = frozenset(
    "rt lt r l ref req bilat ant post lat sup inf mod min prob poss susp incl esp resp pt".split()
)  # words that are written with a full stop
_OPENERS = ("", ".", ":", "\n")  # what a statement begins behind
_UNITS = frozenset({"cm", "mm"})
_CAPITAL = re.compile(r"(?:\A|[.:\n]\s{0,8})(?!XX)[A-Z]")  # statements begin with one; "XXXX" hides a word
_NAMED = re.compile(r"\b(?:dr|prof|mr|mrs|ms|by)[.:]? (?:[a-z]\. )?\Z", re.IGNORECASE)  # what a name follows
_HAS = frozenset({"has", "have", "had"})
_WAS = frozenset({"was", "were", "been", "being"})


class Token(NamedTuple):
    """A word in its dictionary form with its place in the text."""

    word: str
    start: int
    end: int

    @property
    def is_plural(self) -> bool:
        """Whether it is longer than its dictionary form: "lungs", and the verb "shows"; or one of a few plurals."""
        length = self.end - self.start
        return length > len(self.word) or (self.word, length) in _SHORTER


class BrokenWord(Token):
    """A word that the end of a line has broken in two; `letters` is how many are written."""

    letters: int

    @classmethod
    def of(cls, word: str, start: int, end: int, letters: int) -> BrokenWord:
        """Makes a word of both parts."""
        made = cls(word, start, end)
        made.letters = letters
        return made

    @property
    def is_plural(self) -> bool:
        """Whether more letters are written than its dictionary form has."""
        return self.letters > len(self.word) or (self.word, self.letters) in _SHORTER


class Item:
    """Tokens `[first, last)` of the report with what the lexicon says of them; plain words have no senses."""

    __slots__ = ("first", "last", "senses", "word")

    def __init__(self, first: int, last: int, senses: Senses, word: str) -> None:
        self.first, self.last, self.senses, self.word = first, last, senses, word

    def saying(self, senses: Senses) -> Item:
        """The same words with other senses."""
        return Item(self.first, self.last, senses, self.word)

    def without(self, kind: str) -> Item:
        """Returns the item without one of its senses."""
        return self.saying(without(self.senses, kind))


class Sentence(NamedTuple):
    """Tokens `[first, last)` of the report, and the section they are in."""

    first: int
    last: int
    section: str


class _Heading(NamedTuple):
    """A section heading: its section, whether that is read, the token behind it, and whether it names an organ."""

    section: str
    read: bool
    behind: int
    of_organ: bool = False


@lru_cache(maxsize=16384)
def singular(word: str) -> str:
    """Returns the singular of a lower-case English word; good enough for matching, applied to lexicon and text alike.

    >>> [singular(w) for w in ("effusions", "opacities", "masses", "diaphragmatic", "base", "atelectasis")]
    ['effusion', 'opacity', 'mass', 'diaphragmatic', 'base', 'atelectasis']
    """
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is", "as")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1]


def tokenize(text: str, spellings: Mapping[str, str], known: dict[str, str] | None = None) -> list[Token]:
    """Splits a clean text (`rrgmetrics.reports.cleaning`) into tokens. Hyphens and line ends are spaces.

    The mark `¶` stands for a blank line, a list bullet, the end of a line before a topic ("FINDINGS:"), and the end of
    one that ends a statement without a full stop. `known` keeps what words as they are written become, for the next
    text with the same spellings.
    """
    tokens: list[Token] = []
    append = tokens.append
    known = {} if known is None else known
    for m in _TOKEN.finditer(text):
        kind, (start, end) = m.lastgroup, m.span()
        if kind is None:
            written = m[0]
            word = known.get(written, "")
            if word:
                append(Token(word, start, end))
                continue
            word = written.lower() if written.isascii() else _without_accents(written.lower())
            if word in ("s", "t") and text[start - 1 : start] in _APOSTROPHES:
                if word == "s" and not (tokens and tokens[-1].word in _SUBJECTS and tokens[-1].end == start - 1):
                    continue  # "Hampton's hump"
                if word == "s":
                    word = "is"  # "THERE'S no effusion"
                elif tokens and tokens[-1].end == start - 1:
                    word = _split_contraction(tokens)
            if word[0] == "_":
                word = "xxxx"
            plain = spellings.get(word) or singular(word)
            if written not in _AFTER_APOSTROPHES:
                known[written] = plain
            append(Token(plain, start, end))
        elif kind == "initials":
            word = m[0].replace(".", "").lower()
            append(Token(spellings.get(word, word), start, end))
            if m[0].endswith(".") and not text[end : end + 2].lstrip(" ")[:1].islower():
                append(Token(".", end - 1, end))  # "tip in the S.V.C. No pneumothorax", but "C.P. angle"
        elif m[0] != "." or not tokens or not _is_cut_short(text, tokens[-1], start):
            append(Token(_MARKS.get(kind) or m[0], start, end))
    ends = [Token("¶", end, end + 1) for end in statement_ends(text)] if "\n" in text else []
    if ends:
        tokens = sorted([*tokens, *ends], key=lambda token: token.start)
    return tokens


def _without_accents(word: str) -> str:
    """Returns a word in the letters of English: "sjögren" is "sjogren"."""
    return "".join(char for char in unicodedata.normalize("NFKD", word) if char.isascii()) or word


def _is_cut_short(text: str, before: Token, stop: int) -> bool:
    """Whether a full stop belongs to the word before it: "Rt. effusion", "no evid. of edema", "4 cm. above"."""
    written = text[before.start : before.end].lower()
    behind = text[stop + 1 : stop + 3].lstrip(" ")[:1]
    if before.end != stop or not behind.isalnum():
        return False
    if len(written) == 1 and _NAMED.search(text, max(0, before.start - 8), before.start):
        return True  # "Dr. S. Kumar"
    if written in _SHORTENED:
        return behind.islower() or text[max(0, before.start - 3) : before.start].rstrip(" ")[-1:] in _OPENERS
    cut = before.word in _UNITS or (len(written) + 1 < len(before.word) and before.word.startswith(written))
    return cut and behind.islower() and _CAPITAL.search(text) is not None


def _split_contraction(tokens: list[Token]) -> str:
    """Returns the word for the "t" of "isn't"; the verb before it gets its own form, in place."""
    verb = tokens[-1].word
    if verb == "can":
        return "not"
    if not verb.endswith("n") or verb[:-1] not in _CONTRACTED:
        return "t"
    verb = verb[:-1]
    tokens[-1] = tokens[-1]._replace(word="will" if verb == "wo" else singular(verb))
    return "not"


def sentences(
    text: str,
    tokens: list[Token],
    headings: Mapping[str, tuple[str, bool]],
    abbreviations: frozenset[str],
    inline: Collection[int] = (),
    searched: Collection[str] = (),
) -> list[Sentence]:
    """Splits tokens into sentences, each with its section; those of sections that are not read are left out.

    "Comparison: 5/12. Small effusion." is a report: where no section follows, a line of comparison, technique or
    indication is one sentence long, of comparison also below the findings. `headings` maps a heading (its tokens joined
    by spaces) to its section and whether the section is read; a full stop behind one of the `abbreviations` ends no
    sentence; `inline` are the indices of tokens at which a section begins in the middle of a line; sections of the
    kinds `searched` are not left out.
    """
    pieces: list[Sentence] = []
    skipped: list[Sentence] = []  # of the last section
    unheaded: list[Sentence] = []  # behind the first sentence of a section before one that closes the report
    section, read, first, n, headed = FINDINGS, True, 0, len(tokens), False
    i = opened = 0
    while i < n:
        if i == first:
            heading = _heading(tokens, i, headings, read=read)
            if heading is not None:
                if _runs_on(section, headed=headed) and heading.section == "impression":
                    pieces.extend(skipped[1:])  # "Technique: CT. Acute embolus in ... Conclusion: ..."
                elif heading.behind == i and section == _ONE_LINE:
                    pieces.extend(skipped[1:])  # "Comparison: CT of May. No cavity. Heart: normal."
                elif heading.of_organ and _runs_on(section, headed=headed):
                    pieces.extend(_below_first_line(skipped, tokens, text))  # "Clinical: fall ¶ Fracture. Heart: small"
                elif heading.section in searched and _runs_on(section, headed=headed):
                    unheaded = skipped[1:]  # "Indication: cough. Small effusion. Signed: ..."
                section, read, i = heading.section, heading.read, heading.behind
                unheaded = [] if read else unheaded
                bare = section in RUNNING and len(pieces) == opened  # "Findings: Comparison: 5/12. Small effusion."
                first, headed, skipped = i, read or (headed and not bare), []
                opened = len(pieces) if read else opened
                continue
        opens = i in inline and i > first
        ends = tokens[i].word in ENDS or (section == _ONE_LINE and tokens[i].word == ";")
        if opens or (ends and not _is_abbreviation(tokens, i, abbreviations)):
            if not read and section not in searched:
                skipped.extend(_pieces(first, i, FINDINGS))
            else:
                pieces.extend(_pieces(first, i + (tokens[i].word == "?"), section))  # "consolidation?" is doubtful
            first = i + (not opens)
        i += not opens
    if read or section in searched:
        pieces.extend(_pieces(first, n, section))
    elif _runs_on(section, headed=headed):
        pieces.extend([*skipped, *_pieces(first, n, FINDINGS)][1:])
    return sorted([*pieces, *unheaded]) if unheaded else pieces


def _runs_on(section: str, *, headed: bool) -> bool:
    """Whether the report continues behind the first sentence of a section that is not read."""
    return section == _ONE_LINE or (section in RUNNING and not headed)


def _below_first_line(skipped: list[Sentence], tokens: list[Token], text: str) -> list[Sentence]:
    """Returns the sentences from the second one on that begins a line."""
    lines = (k for k in range(1, len(skipped)) if _begins_line(skipped[k].first, tokens, text))
    return skipped[next(lines, len(skipped)) :]


def _begins_line(first: int, tokens: list[Token], text: str) -> bool:
    return tokens[first - 1].word == "¶" or "\n" in text[tokens[first - 1].end : tokens[first].start]


def inline_headings(text: str, tokens: list[Token], headings: frozenset[str]) -> set[int]:
    """Returns the indices of the tokens at which a heading begins, wherever in a line: "2 views FINDINGS: clear"."""
    starts: set[int] = set()
    for colon, token in enumerate(tokens):
        if token.word == ":":
            for first in range(max(0, colon - _HEADING), colon):
                known = " ".join(token.word for token in tokens[first:colon]) in headings
                if known and text[tokens[first].start].isupper():
                    starts.add(first)
                    break
    return starts


def _pieces(first: int, last: int, section: str) -> Iterator[Sentence]:
    for start in range(first, last, LONGEST_SENTENCE):
        yield Sentence(start, min(last, start + LONGEST_SENTENCE), section)


def _is_abbreviation(tokens: list[Token], i: int, abbreviations: frozenset[str]) -> bool:
    """Whether the full stop at `i` belongs to an abbreviation ("vs.", "Dr.")."""
    before = tokens[i - 1] if i else None
    return bool(before and tokens[i].word == "." and before.end == tokens[i].start and before.word in abbreviations)


def _heading(tokens: list[Token], i: int, headings: Mapping[str, tuple[str, bool]], *, read: bool) -> _Heading | None:
    """Returns the section heading that starts at `i`.

    "AORTA: no dissection" starts a section only behind one that is not read, and is part of its first sentence.
    """
    end = 0
    for k in range(i + 1, min(i + _HEADING + _IN_BRACKETS, len(tokens))):
        word = tokens[k].word
        if word == "(" and not end:
            end = k  # "Reason for exam (entered by technologist):"
        elif word == ":":
            name = " ".join(token.word for token in tokens[i : end or k])
            known = headings.get(name) or _in_two_languages(name, headings)
            if known and known[0] == NAMED:
                return None if read else _Heading(FINDINGS, read=True, behind=i, of_organ=True)
            if known and known[0] == ORGAN:
                return _Heading(FINDINGS, read=True, behind=k + 1, of_organ=True)
            return known and _Heading(*known, behind=k + 1)
        elif word in ENDS or (k > i + _HEADING and not end):
            break
    return None


def _in_two_languages(name: str, headings: Mapping[str, tuple[str, bool]]) -> tuple[str, bool] | None:
    """Returns the section of a heading beside its name in another language: "Befund/Findings"."""
    parts = name.split(" / ")
    known = [headings[part] for part in parts if part in headings]
    others = [part for part in parts if part not in headings]
    return known[0] if known and not any(" " in part for part in others) else None


def leaves(before: str, after: Sequence[str]) -> bool:
    """Whether "left" between these words is no side: "a swab was LEFT in the abdomen", "LEFT behind"."""
    if before in _HAS and list(after[:1]) in (["a"], ["an"], ["only"]):
        return True  # "the pneumonia has LEFT a scar"
    stays = list(after[:1]) == ["behind"] or list(after[:2]) in (["in", "situ"], ["in", "place"])
    return stays or (before in _WAS and list(after[:1]) in (["in"], ["inside"], ["within"], []))
