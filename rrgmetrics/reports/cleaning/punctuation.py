r"""Punctuation: marks that were dictated as words ("no effusion period", "new line"), and commas for full stops.

A period may also be one of time ("over a period of two years", "in the postoperative period"), a new line a catheter
("new line in the SVC", "after new line placement"), a colon a part of the bowel.
A line without a full stop within it and with two or more commas before a capital letter is a row of sentences, "Heart
size is normal, The lungs are clear, No edema"; one such comma may be before a name ("cardiomegaly, Kerley B lines").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from rrgmetrics.reports.cleaning.edits import Edit, Step, replacing
from rrgmetrics.reports.cleaning.headings import any_heading

_DICTATED = re.compile(
    r"[ \n](?:period|full stop|comma|semicolon|colon|next (?:line|paragraph)|new (?:line|paragraph)|slash)\b(?!-)",
    re.IGNORECASE,
)
_MARKS = {"period": ".", "full stop": ".", "comma": ",", "semicolon": ";", "colon": ":", "slash": "/"}
_NEAR = 40  # characters that are looked at on either side
_A_TIME = (
    r"a|an|the|this|that|same|each|any|whole|entire|intervening|recent"
    r"|(?:a|an|the|this|that|for|over) (?:[a-z]+ )?(?:short|long|brief|prolonged|extended|limited)"
    r"|latency|interval|(?<!at this )(?<!at the present )time|(?:the|a) (?:follow[ -]?up|observation|treatment)"
    r"|(?:\d+|two|three|four|five|six|several|few)[ -](?:hour|day|week|month|year)s?"
    r"|(?:during|throughout|month|year) (?:[a-z-]+ ){0,2}[a-z-]+"
    r"|(?:peri|post|pre|neo)[ -]?(?:operative|op|partum|natal|procedural|transplant)"
)
_A_CATHETER = (
    "a|an|the|no|this|one|another|or|and|after|following|post|with|for|of|via|right|left|central|venous|arterial"
    "|jugular|subclavian|femoral|picc|ij|rij|lij"
)
_ITS_PLACE = (
    "in|on|at|to|into|over|from|with|via|through|and|or|tips?|placement|placed|insertion|inserted|position|is|has|was"
    "|ends|terminates|projects|overlies|lies|crosses|enters|extends|courses|present|seen"
)
_BEFORE_NO_MARK = {  # what is before a word that is no mark
    "period": re.compile(rf"\b(?:{_A_TIME})[ -]\Z", re.IGNORECASE),
    "comma": re.compile(r"\b(?:a|the) \Z", re.IGNORECASE),
    "next line": re.compile(r"\b(?:on|the) \Z", re.IGNORECASE),
    "new line": re.compile(rf"(?:\b(?:{_A_CATHETER}) |(?:\A|[.:;!?\n])[^\S\n]*)\Z", re.IGNORECASE),
}
_BEHIND_NO_MARK = {  # and behind it
    "period": re.compile(r" (?:of|between|since)\b", re.IGNORECASE),
    "comma": re.compile(r" (?:sign|shaped)\b", re.IGNORECASE),
    "slash": re.compile(r"(?! \w)| (?:wound|injur|lacerat|cut)", re.IGNORECASE),
    "new line": re.compile(rf"\s{{0,{_NEAR}}}(?:[.,;:)]|\Z)| (?:{_ITS_PLACE})\b", re.IGNORECASE),
}


@cache
def _before_colon() -> re.Pattern[str]:
    return re.compile(rf"(?:\A|[.\n] *|(?:period|line|paragraph) )(?:{any_heading()}) \Z", re.IGNORECASE)


def _is_mark(word: str, before: str, behind: str) -> bool:
    if word == "colon":
        return _before_colon().search(before) is not None
    is_other = word in _BEFORE_NO_MARK and _BEFORE_NO_MARK[word].search(before) is not None
    return not is_other and not (word in _BEHIND_NO_MARK and _BEHIND_NO_MARK[word].match(behind))


def _dictated(text: str) -> Iterator[Edit]:
    """Finds dictated marks, each with the space before it."""
    for match in _DICTATED.finditer(text):
        start, end = match.start() + 1, match.end()
        before, word = text[max(0, start - _NEAR) : start], match[0][1:].lower()
        if _is_mark(word, before, text[end : end + _NEAR]):
            yield Edit(start - len(before) + len(before.rstrip(" ")), end + (word == "slash"), _MARKS.get(word, "\n\n"))


_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_COMMA = re.compile(rf",(?=[ \t]+(?!(?:{_MONTHS})[a-z]*\b)(?:[A-Z][a-z]|A ))")
_STOP = re.compile(r"[.;!?][ \t]+\S")
_LINE = re.compile(r"[^\n]+")


def _spliced(text: str) -> Iterator[Edit]:
    """Finds the commas that replace full stops."""
    for line in _LINE.finditer(text):
        commas = [] if _STOP.search(line[0]) else list(_COMMA.finditer(line[0]))
        for comma in commas if len(commas) > 1 else ():
            at = line.start() + comma.start()
            yield Edit(at, at + 1, ".")


_COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SPOKEN_NUMBER = re.compile(
    rf"(?:\A|(?<=[.:;] )|(?<=\n))(?:next )?(?:number|item|point) (?P<n>{'|'.join(_COUNTED)}|\d{{1,2}})\b[,.:)]? (?=\S)",
    re.IGNORECASE,
)


def _spoken_numbers(text: str) -> Iterator[Edit]:
    """Finds the numbers of a dictated list, which count from one: "number one no edema. next number two ..."."""
    expected = 1
    for match in _SPOKEN_NUMBER.finditer(text):
        n = int(match["n"]) if match["n"].isdigit() else _COUNTED.index(match["n"].lower()) + 1
        if n in (1, expected):
            yield Edit(*match.span(), "\n- ")
            expected = n + 1


_BRACKETED = r"(?i)[\[{<(] ?(?:new|next) (?:line|para(?:graph)?) ?[\])}>]"
PUNCTUATION = (
    replacing("dictated mark", "[{<(", _BRACKETED, "\n\n"),
    replacing("dictated mark", (" paren",), r"(?i)\bopen paren(?:thesis)? ", "("),
    replacing("dictated mark", (" paren",), r"(?i) close paren(?:thesis)?\b", ")"),
    Step("dictated mark", (), _dictated, _DICTATED),
    Step("list marker", (), _spoken_numbers, _SPOKEN_NUMBER),
    Step("comma for a full stop", ",", _spliced, _COMMA),
)
