r"""Headings and their answers: "Pneumothorax:\n- None", "Effusion: (-)", "Edema: 0" are one statement each."""

from __future__ import annotations

import re

from rrgmetrics.cleaning.edits import Step, replacing

_NONE = r"\(-\)|\[-\]|-|–|—|0|false|n|n/a|n\.a\.|na|not applicable|nil(?: seen)?|neg|[✗✘∅Ø☐]"
_THERE = r"\(\+\)|\[\+\]|\[x\]|\+|1|true|y|pos|[✓✔☑☒]"
_SHORT = rf"[:=][ \t]*(?:(?P<none>{_NONE})|(?:{_THERE}))(?=[ \t]*(?:[.;,](?!\d)|\n|\Z))"
_HEAD = re.compile(r"([A-Za-z]+)\)?[ \t]{0,3}\Z")
# What is counted, graded or dated, so that a number behind it is no answer.
_COUNTS = frozenset(
    "rads score category grade stage class views view number count images series age type level size date time mrn id"
    " comparison technique indication history exam examination procedure recommendation recommendations".split()
)
_SEEN = "seen|present|identified|applicable|visualized|visualised|detected|evident|noted|visible"
_BARE = (
    rf"(?:none(?: (?:{_SEEN}))?|not (?:{_SEEN})|no(?: evidence)?|nil|absent|negative|neg|n/?a|false|\(-\)|-|0)"
    r"(?=[ \t]*[.;,]?[ \t]*(?:\n|\Z))"
)
_ITEM = r"(?:[-*•+–][ \t]+|\d{1,2}[.)][ \t]+)"
DENIED_BELOW = re.compile(rf"\n\s{{0,8}}{_ITEM}?(?=(?i:{_BARE}))")
_HEADED = r"(?![A-Za-z ,/&()-]{1,50}:)"  # what follows is no heading itself
_BELOW = rf":[ \t]*\n\s*(?:{_ITEM}|(?<=\n)[ \t]*)(?=[A-Za-z(]){_HEADED}"
_SECTIONS = frozenset(
    "findings finding impression impressions conclusion conclusions report opinion summary assessment diagnosis"
    " observations result results comparison technique history indication exam examination recommendation".split()
)


def _head(match: re.Match[str]) -> str:
    """The last word of the heading before a match."""
    head = _HEAD.search(match.string, max(0, match.start() - 24), match.start())
    return head[1].lower() if head else ""


def _answer(match: re.Match[str]) -> str | None:
    head = _head(match)
    if not head or head in _COUNTS:
        return None
    return ": none" if match["none"] else ": present"


def _joined(match: re.Match[str]) -> str | None:
    """Joins a heading with what lies below it, if that is a list or lies beyond a blank line."""
    head, below = _head(match), match[0][1:]
    return ": " if head and head not in _SECTIONS and (below.count("\n") > 1 or not below.isspace()) else None


_END = r"(?=[ \t]*(?:[.;,]|\n|\Z))"
ANSWERS = (
    Step(
        "heading",
        replacing(rf"(?<=[A-Za-z)])(?:[ \t]*:)?[ \t]*{DENIED_BELOW.pattern}", ": "),
        DENIED_BELOW,
    ),
    Step("heading", replacing(_BELOW, _joined), ("\n",)),
    Step("short answer", replacing(_SHORT, _answer, re.IGNORECASE), (":", "=")),
    Step("short answer", replacing(rf"(?<=[A-Za-z])[ \t](?:\(-\)|\[-\]){_END}", ": none"), ("(-)", "[-]")),
    Step("short answer", replacing(rf"(?<=[A-Za-z])[ \t](?:\(\+\)|\[\+\]){_END}", ": present"), ("(+)", "[+]")),
    Step("short answer", replacing(r"(?:(?<![^\n])|(?<=[,;.] ))\(-\)[ \t]*(?=[A-Za-z])", "no "), ("(-)",)),
)
