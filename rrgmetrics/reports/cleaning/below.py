r"""Headings and what is below them: "Pneumothorax:\n- None", "Negative for:\n- effusion\n- edema", "RIGHT LUNG: ...".

A list under a denial is one statement, "Negative for: effusion; edema". Each item of a list under another name is said
of that, "Aorta:\n- tortuous\n- calcified" is "Aorta: tortuous\nAorta: calcified"; so is each of "Nodules: 1) A 2) B".
Each sentence behind a heading of one side gets the heading, each named item below it the side, unless it names a side
or a part of the body that has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning.edits import Edit, Step, replacing
from rrgmetrics.reports.cleaning.words import SECTIONS, SEEN, is_name, last_word

_BARE = (
    rf"(?:none(?: (?:{SEEN}))?|not (?:{SEEN})|no(?: evidence)?|nil|absent|negative|neg|n/?a|false|\(-\)|-|0)"
    r"(?=[ \t]*(?:[.;,][ \t]*)?(?:\n|\Z))"
)
_ITEM = r"(?:[-*•+–][ \t]+|\d{1,2}[.)][ \t]+)"
_DENIED_BELOW = rf"\n\s{{0,8}}{_ITEM}?(?=(?i:{_BARE}))"
_HEADED = r"(?![A-Za-z ,/&()-]{1,50}:)"  # what follows is no heading itself
_BELOW = rf":[ \t]*\n\s*(?:{_ITEM}|(?<=\n)[ \t]*)(?=[A-Za-z(]){_HEADED}"


def _joined(match: re.Match[str]) -> str | None:
    """Joins a heading with what lies below it, if that is a list or lies beyond a blank line."""
    head, below = last_word(match.string, match.start()), match[0][1:]
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
    r"(?:^[ \t]*(?:[-*•][ \t]+)?|[.;:][ \t]+)(?P<name>[A-Za-z][A-Za-z/-]*(?: [A-Za-z/-]+){0,3})"
    rf"(?P<gap>[ \t]*:[ \t]*\n\s*{_ITEM})(?=[A-Za-z(\d]){_HEADED}",
    re.MULTILINE,
)
_MARK = re.compile(  # of the next item, behind the lines that the one before goes on in
    rf"(?:\n(?!\s*{_ITEM})[ \t]*{_HEADED}(?:(?<=[ \t])(?=\S)|(?=[a-z]))[^\n]*){{0,5}}"
    rf"\n[ \t]*(?P<mark>{_ITEM})(?=[A-Za-z(\d])(?P<bare>{_HEADED})?"
)


def _headed_lists(text: str) -> Iterator[Edit]:
    r"""Finds the marks of the items below a name that each of them describes: "Nodules:\n- RUL 12 mm\n- LLL 7 mm"."""
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
            elif text[mark.end() : _line_end(text, mark.end())].rstrip().endswith(":"):
                break  # a name with a list of its own
            at = mark.end()


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


_HEADING = re.compile(
    r"^[ \t]*(?:[-*•][ \t]+)?(?P<heading>(?P<side>right|left)(?: (?:lung|hemithorax|haemithorax|chest|side|pleura))?)"
    r"[ \t]*:(?P<line>[^\n]*)(?P<items>(?:\n[ \t]*[-*•][ \t]+[^\n]+)*)",
    re.IGNORECASE | re.MULTILINE,
)
_SIDED = re.compile(
    r"^[ \t]*(?:[-*•][ \t]+)?(?:right|left)(?: [a-z]+)?[ \t]*:(?:[^\n]*\. [A-Z]|[ \t]*\n[ \t]*[-*•])",
    re.IGNORECASE | re.MULTILINE,
)
_SENTENCE = re.compile(r"(?<=[.;] )[A-Z][^.;\n]*")
_NAMED = re.compile(r"(?<=\n)[ \t]*[-*•][ \t]+(?P<item>[A-Za-z][A-Za-z ]*:[^\n]*)")
_APART = re.compile(
    r"\b(?:right|left|both|bilateral\w*|heart|cardi\w+|mediastin\w+|trachea\w*|aort\w+|spine|spinal|vertebra\w*|tubes?"
    r"|lines?|catheters?|tip|bones?|abdom\w+|impression|conclusion)\b",
    re.IGNORECASE,
)


def _sides(text: str) -> Iterator[Edit]:
    """Finds the sentences behind a heading of one side, and the named items below it."""
    for match in _HEADING.finditer(text):
        for sentence in _SENTENCE.finditer(text, *match.span("line")):
            if not _APART.search(sentence[0]):
                yield Edit(sentence.start(), sentence.start(), f"{match['heading']}: ")
        for item in _NAMED.finditer(text, *match.span("items")):
            if not _APART.search(item["item"]):
                yield Edit(item.start("item"), item.start("item"), f"{match['side'].capitalize()} ")


_AT_LINE_END = re.compile(r":[ \t]*\n")
SIDED = (Step("heading", ":", _sides, _SIDED),)
HEADED_LISTS = (Step("heading", "\n", _headed_lists, _AT_LINE_END),)  # while the marks are as they were written
BELOW = (
    replacing("heading", "\n", rf"(?<=[A-Za-z)])(?:[ \t]*:)?[ \t]*{_DENIED_BELOW}", ": "),
    Step("heading", "\n", _denied_lists, _AT_LINE_END),
    replacing("heading", "\n", _BELOW, _joined),
)
