"""Lines: which of them end a statement without a full stop.

A line of a report ends where a statement does ("Small effusion⏎No pneumothorax⏎Heart normal"), or where the page is
full. In the first case the next line begins with a capital, and its first word would have had room. Text is wrapped if
a line begins with a small letter, or if a sentence ends within one. Where all lines begin with small letters, those end
statements if any of them had room for the first word of the next.
"""

from __future__ import annotations

import re
from itertools import pairwise

_INSIDE = re.compile(r"[A-Za-z)]{3}\. +[A-Za-z]")  # the end of a sentence within a line
_SIZE = re.compile(  # of a finding: "6 mm nodule", but "tube⏎4 cm above the carina"
    r"\d+(?:\.\d+)? ?(?:mm|cm) (?=[a-z])"
    r"(?!above|below|from|in|into|at|to|of|or|and|x|by|proximal|distal|beyond|off|long|deep|wide)",
    re.IGNORECASE,
)
_PAGE = 60  # characters; where no line is as long, no page was full
_GOES_ON = frozenset(".,;:!?-–—/(&")  # an end that needs no other, or that is none
_OPEN = frozenset(  # words that no statement ends with
    "a an the and or nor of in on at to with without from for by no is are was were has have than versus vs as may be "
    "not this these measuring measures about approximately".split()
)
_PART = re.compile(r"\bthe (?:lower|upper|mid|middle|distal|proximal|anterior|posterior)$", re.IGNORECASE)  # of what?
_LEANING = frozenset(  # words that no statement begins with
    "and or nor of in on at to with without from for by is are was were has have than versus vs as but which that who "
    "while although though likely measuring".split()
)


def statement_ends(text: str) -> list[int]:
    r"""Returns where the line ends stand that end a statement, in order.

    Example:
        >>> statement_ends("Small left effusion\nNo pneumothorax"), statement_ends("A small left\neffusion.")
        ([19], [])
    """
    lines = text.split("\n")
    width = max(map(len, lines))
    wrapped = bool(_INSIDE.search(text)) or any(line.lstrip()[:1].islower() for line in lines[1:])
    small = _are_small(lines, width)
    ends, end = [], -1
    for line, after in pairwise(lines):
        end += len(line) + 1
        if after.lstrip().startswith("|"):
            ends.append(end)  # a row of a table
        elif small and after[:1].islower():
            if _may_end(line.rstrip(), after.capitalize()) and after.split()[0] not in _LEANING:
                ends.append(end)
        elif _may_end(line.rstrip(), after.lstrip()):
            first = after.split()[0]
            room = (width < _PAGE and not wrapped) or len(line.rstrip()) + 1 + len(first) <= width
            capitals = first[0].isdigit() or (len(first) > 1 and not first[1:].islower())  # "SVC", or all is so
            if (room and not wrapped) if capitals else (room or not wrapped):
                ends.append(end)
    return ends


def _are_small(lines: list[str], width: int) -> bool:
    """Tells whether statements stand on lines that all begin with small letters, of which one ends before its time."""
    written = [line for line in lines if line.strip() and not line.rstrip().endswith(":")]
    if not all(line[0].islower() or line[0].isdigit() for line in written) or any(map(_INSIDE.search, written)):
        return False
    return any(
        after.strip() and len(line.rstrip()) + 1 + len(after.split()[0]) <= width for line, after in pairwise(written)
    )


def _may_end(line: str, after: str) -> bool:
    """Tells whether a statement may end with a line, and the next begin with the one after it."""
    begins = after[:1].isupper() or _SIZE.match(after)
    if not line or not begins or line[-1] in _GOES_ON:
        return False
    return line.split()[-1].lower() not in _OPEN and not _PART.search(line)
