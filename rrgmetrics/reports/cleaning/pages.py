r"""Pages of a print-out: "Page 1 of 2", what heads a page behind a form feed, and double spacing.

A blank line ends a statement, unless the statement continues behind it: "There is no evidence of\n\npneumothorax." In
such a text blank lines are line ends, except behind a full stop or a colon.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning.edits import Edit, Step, replacing

_PAGE_NUMBER = r"page[ \t]{1,4}\d{1,2}[ \t]{1,4}(?:of|/)[ \t]{1,4}\d{1,2}|-[ \t]?\d{1,2}[ \t]?-"
_FOOT = rf"(?im)^[ \t]*(?:printed\b[^\n]{{0,80}})?(?:{_PAGE_NUMBER})[ \t]*$"
_HEAD = re.compile(r"(?:name|mrn|dob|accession|patient(?: id)?|page)(?::| \d)", re.IGNORECASE)
_BLANK = re.compile(r"(?<=[\w,)])[ \t]*\n[ \t]*\n\s*(?=\S)")
_BEFORE_SMALL = re.compile(r"[a-z,][ \t]*\n[ \t]*\n\s*(?=[a-z])")
_LINE = re.compile(r"[^\n]*")
_INSIDE = re.compile(r"[a-z]{3}\. +[A-Z]")  # the end of a sentence within a line
_OPEN = re.compile(r"(?:,|\b(?:an?|the|and|or|nor|of|in|on|at|to|with|without|for|by|no|is|are))\Z")


def _page_head(match: re.Match[str]) -> str | None:
    """Drops the first line of a page if it names the patient or the page."""
    return "" if _HEAD.search(match["cut"]) and "." not in match["cut"] else None


def _continues(text: str, blank: re.Match[str]) -> bool:
    """Whether a statement continues behind a blank line: a sentence ends within a line, or the words need another."""
    before = text[text.rfind("\n", 0, blank.start()) + 1 : blank.start() + 1]
    behind = _LINE.match(text, blank.end())
    return any(map(_INSIDE.search, (before, behind[0] if behind else ""))) or _OPEN.search(before) is not None


def _double_spaced(text: str) -> Iterator[Edit]:
    """Finds the blank lines that no statement ends at in a text with double spacing."""
    if any(_continues(text, blank) for blank in _BEFORE_SMALL.finditer(text)):
        for blank in _BLANK.finditer(text):
            yield Edit(*blank.span(), "\n")


PAGES = (
    replacing("page head", "\f", r"\f\s{0,9}(?P<cut>[^\n]+)", _page_head),
    replacing("page number", ("Page", "PAGE", "page", "\n-", "\n -"), _FOOT),
)
SPACING = (Step("", "\n", _double_spaced, _BEFORE_SMALL),)
