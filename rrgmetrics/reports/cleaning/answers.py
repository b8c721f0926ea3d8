r"""Headings and their answers: "Pneumothorax:\n- None", "Effusion: (-)", "Edema - no" are one statement each.

So is a list under a denial: "Negative for:\n- effusion\n- edema" is "Negative for: effusion; edema". Each item of a
list under another name is said of that: "Aorta:\n- tortuous\n- calcified" is "Aorta: tortuous\nAorta: calcified".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning.edits import Edit, Step, replacing
from rrgmetrics.reports.cleaning.words import COUNTS, SECTIONS, is_name

_NONE = r"\(-\)|\[-\]|-|–|—|0|false|n|n/a|n\.a\.|na|not applicable|nil(?: seen)?|neg|[✗✘∅Ø☐]"
_THERE = r"\(\+\)|\[\+\]|\[x\]|\+|1|true|y|pos|[✓✔☑☒]"
_SHORT = rf"[:=][ \t]*(?:(?P<none>{_NONE})|(?:{_THERE}))(?=[ \t]*(?:[.;,](?!\d)|\n|\Z))"
_HEAD = re.compile(r"([A-Za-z]+)\)?[ \t]{0,3}\Z")
_SEEN = "seen|present|identified|applicable|visualized|visualised|detected|evident|noted|visible"
_BARE = (
    rf"(?:none(?: (?:{_SEEN}))?|not (?:{_SEEN})|no(?: evidence)?|nil|absent|negative|neg|n/?a|false|\(-\)|-|0)"
    r"(?=[ \t]*(?:[.;,][ \t]*)?(?:\n|\Z))"
)
_ITEM = r"(?:[-*•+–][ \t]+|\d{1,2}[.)][ \t]+)"
_DENIED_BELOW = rf"\n\s{{0,8}}{_ITEM}?(?=(?i:{_BARE}))"
_HEADED = r"(?![A-Za-z ,/&()-]{1,50}:)"  # what follows is no heading itself
_BELOW = rf":[ \t]*\n\s*(?:{_ITEM}|(?<=\n)[ \t]*)(?=[A-Za-z(]){_HEADED}"


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


_OFFERED = r"(?i)(?:(?<![ \t])[ \t]+)?\(?\b(?:Y/N|yes/no)\b\)?(?=[ \t]*[:=?-])"
_IN_BRACKETS = rf"[(\[](?:(?P<none>{_NO})|(?:{_YES}))[)\]]"
_COMMA = rf"(?im){_LABEL}(?P<cut>,)(?=(?:no|yes|absent|present)[ \t]*$)"
_LAST_ANSWER = re.compile(r"[nNyY](?:[oO](?<=[ \t]..)|[eE][sS](?<=[ \t]...))[ \t]*(?:[,;.\n]|\Z)")
MARKED_ANSWERS = (  # before lists are looked for: "Edema - no" is no row of items
    replacing("short answer", ("/N", "/n"), _OFFERED),
    replacing("short answer", "([", rf"(?i)(?<=[A-Za-z)])[ \t]*{_IN_BRACKETS}{_END}", _bracketed),
    replacing(
        "short answer",
        (" -", " –", " —", "..", "…", "\t", "="),
        rf"(?i)(?<=[A-Za-z)]){_PARTING}(?=(?:{_NO}|{_YES}){_END})",
        ": ",
    ),
    replacing("short answer", ("....", ". . . ."), rf"(?im){_LEADER}", ": "),
    replacing("short answer", (" > ", ">> "), rf"(?im){_ARROW}", ": "),
    Step("short answer", "?", _questions),
    replacing("short answer", ",", _COMMA, ": ", where=re.compile(r",(?:no|yes|absent|present)[ \t]*(?:\n|\Z)", re.I)),
    Step("short answer", (), _unmarked, _LAST_ANSWER),
)
HEADED_LISTS = (Step("heading", (":\n", ": \n", ":\t\n"), _headed_lists),)  # while the marks are as they were written
ANSWERS = (
    replacing(
        "heading", "\n", rf"(?<=[A-Za-z)])(?:[ \t]*:)?[ \t]*{_DENIED_BELOW}", ": ", where=re.compile(_DENIED_BELOW)
    ),
    Step("heading", "\n", _denied_lists, re.compile(r":[ \t]*\n")),
    replacing("heading", "\n", _BELOW, _joined),
    replacing("short answer", ":=", rf"(?i){_SHORT}", _answer),
    replacing("short answer", ("(-)", "[-]"), rf"(?<=[A-Za-z])[ \t](?:\(-\)|\[-\]){_END}", ": none"),
    replacing("short answer", ("(+)", "[+]"), rf"(?<=[A-Za-z])[ \t](?:\(\+\)|\[\+\]){_END}", ": present"),
    replacing("short answer", ("(-)",), r"(?:(?<![^\n])|(?<=[,;.] ))\(-\)[ \t]*(?=[A-Za-z])", "no "),
)
