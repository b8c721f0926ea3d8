r"""Headings and their answers: "Pneumothorax:\n- None", "Effusion: (-)", "Edema - no" are one statement each.

So is a list under a denial: "Negative for:\n- effusion\n- edema" is "Negative for: effusion; edema". Each item of a
list under another name is said of that: "Aorta:\n- tortuous\n- calcified" is "Aorta: tortuous\nAorta: calcified".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning.edits import Edit, Step, replacing
from rrgmetrics.reports.cleaning.headings import heading_names

_NONE = r"\(-\)|\[-\]|-|–|—|0|false|n|n/a|n\.a\.|na|not applicable|nil(?: seen)?|neg|[✗✘∅Ø☐]"
_THERE = r"\(\+\)|\[\+\]|\[x\]|\+|1|true|y|pos|[✓✔☑☒]"
_SHORT = rf"[:=][ \t]*(?:(?P<none>{_NONE})|(?:{_THERE}))(?=[ \t]*(?:[.;,](?!\d)|\n|\Z))"
_HEAD = re.compile(r"([A-Za-z]+)\)?[ \t]{0,3}\Z")
# What is counted, graded or dated, so that a number behind it is no answer.
COUNTS = frozenset(
    "rads score category grade stage class views view number count images series age type level size date time mrn id"
    " comparison technique indication history exam examination procedure recommendation recommendations".split()
)
_SEEN = "seen|present|identified|applicable|visualized|visualised|detected|evident|noted|visible"
_BARE = (
    rf"(?:none(?: (?:{_SEEN}))?|not (?:{_SEEN})|no(?: evidence)?|nil|absent|negative|neg|n/?a|false|\(-\)|-|0)"
    r"(?=[ \t]*(?:[.;,][ \t]*)?(?:\n|\Z))"
)
_ITEM = r"(?:[-*•+–][ \t]+|\d{1,2}[.)][ \t]+)"
DENIED_BELOW = re.compile(rf"\n\s{{0,8}}{_ITEM}?(?=(?i:{_BARE}))")
_HEADED = r"(?![A-Za-z ,/&()-]{1,50}:)"  # what follows is no heading itself
_BELOW = rf":[ \t]*\n\s*(?:{_ITEM}|(?<=\n)[ \t]*)(?=[A-Za-z(]){_HEADED}"
SECTIONS = frozenset(
    "findings finding impression impressions conclusion conclusions report opinion summary assessment diagnosis"
    " observations result results comparison technique history indication exam examination recommendation".split()
)


def _head(match: re.Match[str]) -> str:
    """The last word of the heading before a match."""
    head = _HEAD.search(match.string, max(0, match.start() - 24), match.start())
    return head[1].lower() if head else ""


def _answer(match: re.Match[str]) -> str | None:
    head = _head(match)
    if not head or head in COUNTS:
        return None
    return ": none" if match["none"] else ": present"


def _joined(match: re.Match[str]) -> str | None:
    """Joins a heading with what lies below it, if that is a list or lies beyond a blank line."""
    head, below = _head(match), match[0][1:]
    return ": " if head and head not in SECTIONS and (below.count("\n") > 1 or not below.isspace()) else None


_DENIED_HEAD = re.compile(
    r"(?:^|(?<=[.!?;] ))[^\n:.;]{0,60}\b(?:no|not|none|nothing|negatives?|absent|without|excluded|out|free)\b"
    rf"[^\n:.;]{{0,60}}:(?P<gap>[ \t]*\n\s*)(?P<mark>{_ITEM})?(?=[A-Za-z(])",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT_ITEM = re.compile(rf"[.;,]?[ \t]*\n[ \t]*{_ITEM}(?=[A-Za-z(]){_HEADED}")
_NEXT_LINE = re.compile(rf"[;,]?[ \t]*\n[ \t]*(?=[A-Za-z(]){_HEADED}(?![^\n]*[.!?][ \t]*(?:\n|\Z))")
_REST = re.compile(r"[^\n.;!?]*(?:;(?=[^\n]))?[^\n.;!?]*")


def _denied_lists(text: str) -> Iterator[Edit]:
    """Finds the line ends between the items of a list under a denial."""
    at = 0
    for head in _DENIED_HEAD.finditer(text):
        if head.start() < at:
            continue
        yield Edit(head.start("gap"), head.end(), " ")
        at = head.end()
        following = _NEXT_ITEM if head["mark"] else _NEXT_LINE
        while rest := _REST.match(text, at):
            joint = following.match(text, rest.end())
            if joint is None:
                break
            yield Edit(*joint.span(), "; ")
            at = joint.end()


_LIST_HEAD = re.compile(
    r"^[ \t]*(?P<name>[A-Za-z][A-Za-z/-]*(?: [A-Za-z/-]+){0,3})"
    rf"(?P<gap>[ \t]*:[ \t]*\n\s*{_ITEM})(?=[A-Za-z(\d]){_HEADED}",
    re.MULTILINE,
)
NO_NAME = re.compile(  # what denies, and words that lead to a list
    r"\b(?:no|not|none|nothing|negatives?|absent|without|excluded|out|free|with|to|for|since|from|following|are|is|as)\b",
    re.IGNORECASE,
)
_MARK = re.compile(  # of the next item, behind the lines that the one before goes on in
    rf"(?:\n(?!\s*{_ITEM})[ \t]*{_HEADED}(?:(?<=[ \t])(?=\S)|(?=[a-z]))[^\n]*){{0,5}}"
    rf"\n[ \t]*(?P<mark>{_ITEM})(?=[A-Za-z(\d])(?P<bare>{_HEADED})?"
)


def _headed_lists(text: str) -> Iterator[Edit]:
    r"""Finds the marks of the items below a name, which each item is said of: "Nodules:\n- RUL 12 mm\n- LLL 7 mm"."""
    at = 0
    for head in _LIST_HEAD.finditer(text):
        name = head["name"]
        if head.start() < at or not is_name(name):
            continue
        yield Edit(*head.span("gap"), ": ")
        at = head.end()
        while mark := _MARK.match(text, _line_end(text, at)):
            if mark["bare"] is not None:
                yield Edit(*mark.span("mark"), f"{name}: ")
            at = mark.end()


def is_name(heading: str) -> bool:
    """Whether a heading names what its items are said of: no section, number or denial."""
    words = {heading.lower(), heading.split()[-1].lower()}
    return not (NO_NAME.search(heading) or words & (SECTIONS | COUNTS | heading_names().keys()))


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


_END = r"(?=[ \t]*(?:[.;,]|\n|\Z))"
_NO = rf"no|n|absent|none|negative|neg|nil|not (?:{_SEEN})"
_YES = r"yes|y|present|positive|pos|seen"
_PARTING = r"(?:[ \t]+[-–—]+[ \t]*|[ \t]*(?:\.{2,}|…)[ \t]*| *\t[ \t]*|[ \t]*=[ \t]*)"
_NAME = r"(?!no\b|not\b|and\b|or\b|there\b)[A-Za-z]+(?:[ /-][A-Za-z]+){0,5}"
_LABEL = rf"(?:^|(?<=[.;,] ))(?:[-*•][ \t])?{_NAME}"
_QUESTION = re.compile(
    rf"(?:^|(?<=[.;,] ))(?:[-*•][ \t])?(?P<asked>(?:(?:is|are) there (?:an? |any )?|any )?){_NAME}(?P<mark>\?[ \t]+)"
    r"(?=(?:no|yes|n|y)\b[ \t]*(?:[.;,]|\n|\Z))",
    re.IGNORECASE | re.MULTILINE,
)
_ANSWERED = rf"{_NAME}[ \t]+(?:no|yes)"
_ROW = re.compile(
    rf"(?:^|(?<=[.!?] ))(?:[-*•][ \t])?{_ANSWERED}(?:[,;][ \t]*{_ANSWERED})*(?=[ \t]*(?:\.|\n|\Z))",
    re.IGNORECASE | re.MULTILINE,
)
_UNMARKED = re.compile(
    r"\b(?P<last>[A-Za-z]+)(?P<gap>[ \t]+)(?=(?:no|yes)[ \t]*(?:[,;.\n]|\Z))", re.IGNORECASE
)  # the last word of a name, and what parts it from the answer
_LEADING = frozenset(  # words whose "no" belongs to what follows on the next line: "with no⏎effusion"
    "left right and or but with of in is are was were be has have had show shows showing shown demonstrate "
    "demonstrates demonstrating reveal reveals revealing see seen there".split()
)
IN_BRACKETS = re.compile(rf"[(\[](?:(?P<none>{_NO})|(?:{_YES}))[)\]]", re.IGNORECASE)
UNMARKED = re.compile(r"[ ,?-](?:no|yes)[ \t]*(?:[.;,\n]|\Z)|\by(?:es)?/no?\b|\.{3}|\. \. |…|>> ?[a-z]", re.IGNORECASE)
_ARROW = (  # between a name and what is said of it, where it compares no sides and no sizes
    r"(?:^|(?<=[.;] ))[ \t]*(?:[-*•][ \t]+)?(?!(?:no|not|there)\b)"
    r"[A-Za-z][A-Za-z/-]*(?: [A-Za-z/-]+){0,4}(?<!left)(?<!right)(?<!\bl)(?<!\br)"
    r"(?P<cut>[ \t]*>>[ \t]*(?=[A-Za-z])|[ \t]+>[ \t]+(?-i:(?=[A-Z][a-z]|no\b)))(?!(?:left|right|l|r)\b)"
)
_LEADER = (  # of four or more dots between a name and what is said of it
    r"^[ \t]*(?:[-*•][ \t]+)?(?!(?:[^\n.]* )?(?:no|not|there|is|are|was|were|has|have|with)\b)"
    r"[A-Za-z][A-Za-z/-]*(?: [A-Za-z/-]+){0,4}"
    r"(?P<cut>[ \t]+(?:\.{4,}|(?:\. ){4,})[ \t]*|\.{4,}(?=[^\s.])|\.{6,}[ \t]*)(?=[^\s.])(?![^\n]*\.{4})"
)


def _questions(text: str) -> Iterator[Edit]:
    """Finds questions with their answers: "Effusion? No."."""
    for match in _QUESTION.finditer(text):
        yield Edit(*match.span("asked"), "", 0)
        yield Edit(*match.span("mark"), ": ")


def _unmarked(text: str) -> Iterator[Edit]:
    """Finds rows of answers without a mark: "Effusion no, edema yes"."""
    for row in _ROW.finditer(text):
        for match in _UNMARKED.finditer(text, *row.span()):
            if match["last"].lower() not in _LEADING:
                yield Edit(*match.span("gap"), ": ")


def _bracketed(match: re.Match[str]) -> str:
    return ": none" if match["none"] else ": present"


MARKED_ANSWERS = (  # before lists are looked for: "Edema - no" is no row of items
    Step(
        "short answer",
        replacing(r"(?:(?<![ \t])[ \t]+)?\(?\b(?:Y/N|yes/no)\b\)?(?=[ \t]*[:=?-])", "", re.IGNORECASE),
        ("/N", "/n"),
    ),
    Step(
        "short answer",
        replacing(rf"(?<=[A-Za-z)])[ \t]*{IN_BRACKETS.pattern}{_END}", _bracketed, re.IGNORECASE),
        IN_BRACKETS,
    ),
    Step(
        "short answer",
        replacing(rf"(?<=[A-Za-z)]){_PARTING}(?=(?:{_NO}|{_YES}){_END})", ": ", re.IGNORECASE),
        (" -", " –", " —", "..", "…", "\t", "="),
    ),
    Step("short answer", replacing(_LEADER, ": ", re.IGNORECASE | re.MULTILINE), ("....", ". . . .")),
    Step("short answer", replacing(_ARROW, ": ", re.IGNORECASE | re.MULTILINE), (" > ", ">> ")),
    Step("short answer", _questions, ("?",)),
    Step(
        "short answer",
        replacing(rf"{_LABEL}(?P<cut>,)(?=(?:no|yes|absent|present)[ \t]*$)", ": ", re.IGNORECASE | re.MULTILINE),
        (",",),
    ),
    Step("short answer", _unmarked, UNMARKED),
)
HEADED_LISTS = (Step("heading", _headed_lists, (":\n", ": \n", ":\t\n")),)  # while the marks are as they were written
ANSWERS = (
    Step(
        "heading",
        replacing(rf"(?<=[A-Za-z)])(?:[ \t]*:)?[ \t]*{DENIED_BELOW.pattern}", ": "),
        DENIED_BELOW,
    ),
    Step("heading", _denied_lists, (":",)),
    Step("heading", replacing(_BELOW, _joined), ("\n",)),
    Step("short answer", replacing(_SHORT, _answer, re.IGNORECASE), (":", "=")),
    Step("short answer", replacing(rf"(?<=[A-Za-z])[ \t](?:\(-\)|\[-\]){_END}", ": none"), ("(-)", "[-]")),
    Step("short answer", replacing(rf"(?<=[A-Za-z])[ \t](?:\(\+\)|\[\+\]){_END}", ": present"), ("(+)", "[+]")),
    Step("short answer", replacing(r"(?:(?<![^\n])|(?<=[,;.] ))\(-\)[ \t]*(?=[A-Za-z])", "no "), ("(-)",)),
)
