r"""A label and its answer, however they are written: "Effusion - no", "Edema? Yes.", "PTX (-)", "-ve for PTX".

Each becomes "Effusion: no". A sentence that answers a question takes its place: "Q: Is there edema? A: Mild edema.".
A dash at a word is a sign at the end of a statement, of the text, and of an item before another one with a sign. At the
end of the text a hyphen behind several words may be what a model was cut off at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning.edits import Edit, Step, replacing
from rrgmetrics.reports.cleaning.words import COUNTS, SEEN, last_word

_DASH = "[-–—−]"
_END = r"(?=[ \t]*(?:[.;,]|\n|\Z))"
_NO = rf"no|n|absent|none|negative|neg|nil|not (?:{SEEN})"
_YES = r"yes|y|present|positive|pos|seen"

# Signs for yes and no
_SIGN = (
    rf"(?:(?P<plus>\+)|{_DASH})ve\b|(?<![A-Za-z0-9])(?:(?P<apart>\+)|{_DASH}) ve\b"
    r"|\b(?:neg|(?P<short>pos))\.(?= ?for\b)"
)
_IS_SIGN = re.compile(r"[-–—−+.] ?(?:[vV][eE]|[fF][oO][rR])\b")
_ITEM_WITH_SIGN = r"[^,.;\n]{1,60}[-–—−+][ \t]*(?:[,.;\n]|\Z)"
_AT_WORD = rf"{_DASH}(?<=[A-Za-z].)(?=[ \t]*+(?:[.;]|,{_ITEM_WITH_SIGN}|\n[ \t]*(?=[A-Z]){_ITEM_WITH_SIGN}|\s*\Z))"
_ENDING = rf"(?m)(?:^|(?<=[.;,] ))[A-Za-z]+(?:(?:[ /][A-Za-z]+){{1,3}}(?!-\s*\Z))?(?P<cut>{_AT_WORD})"
_ITEM = re.compile(r"[ \t.]*(?P<item>(?P<before>[-–+]?)(?:[^,;\n]*[^,;\n \t.])?)[ \t.]*(?=[,;\n]|\Z)")
_BOTH = re.compile(r"(?=.*\+)(?=.*[-–])[-–+]+")
_PARAGRAPH = re.compile(r"[^\n]+(?:\n[ \t]*[^\n]+)*")
_PLUS = re.compile(r"(?:\A|[\n,;])[ \t]*\+ ?[A-Za-z]|[A-Za-z] \+[ \t]*(?:[,;\n]|\Z)")


def _spelled(match: re.Match[str]) -> str:
    """Returns the word for a sign, apart from a word that it is written at."""
    gap = " " if match.string[: match.start()][-1:].isalnum() else ""
    return gap + ("positive" if match.lastgroup else "negative")


def _plus_and_minus(text: str) -> Iterator[Edit]:
    """Finds the signs of lists in which each item has one: "+ cardiomegaly, - PTX", "cardiomegaly +, PTX -"."""
    for paragraph in _PARAGRAPH.finditer(text):
        found = (item.span("item") for item in _ITEM.finditer(text, *paragraph.span()) if item["item"])
        items = [(start, end, text[start:end]) for start, end in found]
        before, behind = ("".join(item[place] for _, _, item in items) for place in (0, -1))
        if _BOTH.fullmatch(before) and all(item[1:].strip() for *_, item in items):
            for start, end, item in items:
                yield Edit(start, end - len(item[1:].lstrip()), "" if item[0] == "+" else "no ")
        elif _BOTH.fullmatch(behind) and all(item[:-1].strip() for *_, item in items):
            for start, end, item in items:
                yield Edit(start + len(item[:-1].rstrip()), end, ": present" if item[-1] == "+" else ": none")


SIGNS = (
    replacing("short answer", "-–—−+.", rf"(?i){_SIGN}", _spelled, where=_IS_SIGN),
    Step("short answer", "+", _plus_and_minus, _PLUS),
    replacing("short answer", "–—−", r"(?<=[(\[])[–—−](?=[)\]])", "-"),
    replacing("short answer", "-–—−", _ENDING, ": none", where=re.compile(_AT_WORD)),
)

# What parts a label from its answer
_NAME = r"(?!no\b|not\b|and\b|or\b|there\b)[A-Za-z]+(?:[ /-][A-Za-z]+){0,5}"
_WORDS = r"[A-Za-z][A-Za-z/-]*(?: [A-Za-z/-]+){0,4}"
_PARTING = r"(?:[ \t]+[-–—]+[ \t]*|[ \t]*(?:\.{2,}|…)[ \t]*| *\t[ \t]*|[ \t]*=[ \t]*)"
_ARROW = (  # between a name and its description, where it compares no sides and no sizes
    rf"(?:^|(?<=[.;] ))[ \t]*(?:[-*•][ \t]+)?(?!(?:no|not|there)\b){_WORDS}(?<!left)(?<!right)(?<!\bl)(?<!\br)"
    r"(?P<cut>[ \t]*>>[ \t]*(?=[A-Za-z])|[ \t]+>[ \t]+(?-i:(?=[A-Z][a-z]|no\b)))(?!(?:left|right|l|r)\b)"
)
_LEADER = (  # of four or more dots between a name and its description
    rf"^[ \t]*+(?:[-*•][ \t]++)?(?!(?:[^\n.]* )?(?:no|not|there|is|are|was|were|has|have|with)\b){_WORDS}"
    r"(?P<cut>[ \t]+(?:\.{4,}|(?:\. ){4,})[ \t]*|\.{4,}(?=[^\s.])|\.{6,}[ \t]*)(?=[^\s.])(?![^\n]*\.{4})"
)
_QUESTION = re.compile(
    r"(?:^|(?<=[.;,!?] ))[ \t]*+(?:[-*•][ \t])?(?P<asked>(?:(?:Q|Question) ?\d{0,2}[.:)][ \t]*+)?)"
    r"(?P<there>(?:(?:is|are) (?:there (?:an? |any )?|the )|any )?)(?P<name>[^?\n.:;]{1,80})"
    r"(?P<mark>\?\s{0,4}(?P<labelled>(?:A|Ans|Answer) ?\d{0,2}[.:)](?=\s))?[ \t]*)"
    rf"(?P<short>(?=(?:{_NO}|{_YES}){_END}))?",
    re.IGNORECASE | re.MULTILINE,
)
_ASKED = re.compile(rf"(?:.*, )?{_NAME}\Z", re.IGNORECASE)
_UNMARKED_ANSWER = rf"{_NAME}[ \t]+(?:no|yes)"
_UNMARKED_ROW = re.compile(
    rf"(?:^|(?<=[.!?] ))(?:[-*•][ \t])?{_UNMARKED_ANSWER}(?:[,;][ \t]*{_UNMARKED_ANSWER})*(?=[ \t]*(?:\.|\n|\Z))",
    re.IGNORECASE | re.MULTILINE,
)
_UNMARKED = re.compile(  # the last word of a name, and what parts it from the answer
    r"\b(?P<last>[A-Za-z]+)(?P<gap>[ \t]+)(?=(?:no|yes)[ \t]*(?:[,;.\n]|\Z))", re.IGNORECASE
)
_LAST_ANSWER = re.compile(r"[nNyY](?:[oO](?<=[ \t]..)|[eE][sS](?<=[ \t]...))[ \t]*(?:[,;.\n]|\Z)")
_LEADING = frozenset(  # words whose "no" belongs to what follows on the next line: "with no⏎effusion"
    "left right and or but with of in is are was were be has have had show shows showing shown demonstrate "
    "demonstrates demonstrating reveal reveals revealing see seen there".split()
)


def _questions(text: str) -> Iterator[Edit]:
    """Finds questions with their answers: "Effusion? No.", "Q: Any edema? A: Mild edema."."""
    for match in _QUESTION.finditer(text):
        if match["labelled"] and match["short"] is None:
            yield Edit(match.start("asked"), match.end("mark"), "")
        elif match["short"] is not None and (
            match["labelled"] or (match["mark"] != "?" and _ASKED.match(match["name"]))
        ):
            yield Edit(match.start("asked"), match.start("name"), "", 0)
            yield Edit(*match.span("mark"), ": ")


def _unmarked(text: str) -> Iterator[Edit]:
    """Finds rows of answers without a mark: "Effusion no, edema yes"."""
    for row in _UNMARKED_ROW.finditer(text):
        for match in _UNMARKED.finditer(text, *row.span()):
            if match["last"].lower() not in _LEADING:
                yield Edit(*match.span("gap"), ": ")


def _written(match: re.Match[str]) -> str:
    return ": none" if match["none"] else ": present"


_OFFERED = r"(?i)(?:(?<![ \t])[ \t]+)?\(?\b(?:Y/N|yes/no)\b\)?(?=[ \t]*[:=?-])"
_IN_BRACKETS = rf"(?i)(?<=[A-Za-z)])[ \t]*[(\[](?:(?P<none>{_NO})|(?:{_YES}))[)\]]{_END}"
_PARTED = (" -", " –", " —", "..", "…", "\t", "=")
_COMMA = rf"(?im)(?:^|(?<=[.;,] ))(?:[-*•][ \t])?{_NAME}(?P<cut>,)(?=(?:no|yes|absent|present)[ \t]*$)"
_BEHIND_COMMA = re.compile(r",(?:no|yes|absent|present)[ \t]*(?:\n|\Z)", re.IGNORECASE)
MARKED_ANSWERS = (  # before lists are looked for: "Edema - no" is no row of items
    Step("short answer", "?", _questions),
    replacing("short answer", ("/N", "/n"), _OFFERED),
    replacing("short answer", "([", _IN_BRACKETS, _written),
    replacing("short answer", _PARTED, rf"(?i)(?<=[A-Za-z)]){_PARTING}(?=(?:{_NO}|{_YES}){_END})", ": "),
    replacing("short answer", ("....", ". . . ."), rf"(?im){_LEADER}", ": "),
    replacing("short answer", ">", rf"(?im){_ARROW}", ": "),
    replacing("short answer", ",", _COMMA, ": ", where=_BEHIND_COMMA),
    Step("short answer", (), _unmarked, _LAST_ANSWER),
)

# Signs for answers behind a label
_NONE = r"\(-\)|\[-\]|-|–|—|0|false|n|n/a|n\.a\.|na|not applicable|nil(?: seen)?|neg|[✗✘∅Ø☐]"
_THERE = r"\(\+\)|\[\+\]|\[x\]|\+|1|true|y|pos|[✓✔☑☒]"
_NUMBER = r"(?<=[01])\.[ \t]+(?![A-Za-z /-]{1,40}[:=])\S"  # of an item: "IMPRESSION: 1. Clear lungs.", no answer
_SHORT = rf"(?i)[:=][ \t]*(?:(?P<none>{_NONE})|(?:{_THERE}))(?!{_NUMBER})(?=[ \t]*(?:[.;,](?!\d)|\n|\Z))"
_BRACKETED_SIGN = rf"(?<=[A-Za-z])[ \t](?:(?P<none>\(-\)|\[-\])|\(\+\)|\[\+\]){_END}"


def _answer(match: re.Match[str]) -> str | None:
    label = last_word(match.string, match.start())
    return _written(match) if label and label not in COUNTS else None


ANSWERS = (
    replacing("short answer", ":=", _SHORT, _answer),
    replacing("short answer", "([", _BRACKETED_SIGN, _written),
    replacing("short answer", "(", r"(?:(?<![^\n])|(?<=[,;.] ))\(-\)[ \t]*(?=[A-Za-z])", "no "),
)
