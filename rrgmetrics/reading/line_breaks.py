"""Lines: which of them end a statement without a full stop.

A line of a report ends where a statement does ("Small effusion⏎No pneumothorax⏎Heart normal"), or where the page is
full. In the first case the next line begins with a capital, and its first word would have had room. Text is wrapped if
a line begins with a small letter, or if a sentence ends within one. Where all lines begin with small letters, those end
statements if any of them had room for the first word of the next. Where all is in capitals, a line goes on in the
next up to a full stop, unless it had room for the first word of the next or that begins a statement ("NO", "THERE").
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
_HEADED = re.compile(r"[ \t]*(?:[-*•]|\d{1,2}[.)]|[A-Z][A-Z /-]{0,40}:)")  # an item or a heading
_OPEN = frozenset(  # words that no statement ends with
    "a an the and or nor of in on at to with without from for by no is are was were has have than versus vs as may be "
    "not this these measuring measures about approximately".split()
)
_PART = re.compile(r"\bthe (?:lower|upper|mid|middle|distal|proximal|anterior|posterior)$", re.IGNORECASE)  # of what?
_LEANING = frozenset(  # words that no statement begins with
    "and or nor of in on at to with without from for by is are was were has have than versus vs as but which that who "
    "while although though likely measuring".split()
)
_BEGINNING = frozenset("no there the this both heart lungs lung".split())  # words that begin a statement
_DESCRIBING = frozenset(  # words that need another behind them where nothing else is on their line
    "tiny trace minimal small mild moderate large severe left right bilateral upper middle lower lobe basal apical "
    "pleural acute chronic new old stable".split()
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
    stopped = _before_a_full_stop(lines) if _is_in_capitals(text) else frozenset()
    ends, end = [], -1
    for number, (line, after) in enumerate(pairwise(lines)):
        end += len(line) + 1
        if after.lstrip().startswith("|"):
            ends.append(end)  # a row of a table
        elif small and after[:1].islower():
            if _may_end(line.rstrip(), after.capitalize()) and after.split()[0] not in _LEANING:
                ends.append(end)
        elif _may_end(line.rstrip(), after.lstrip()):
            first = after.split()[0]
            if number in stopped and _goes_on(line, first, width):
                continue
            room = (width < _PAGE and not wrapped) or len(line.rstrip()) + 1 + len(first) <= width
            capitals = first[0].isdigit() or (len(first) > 1 and not first[1:].islower())  # "SVC", or all is so
            if (room and not wrapped) if capitals else (room or not wrapped):
                ends.append(end)
    return ends


def _are_small(lines: list[str], width: int) -> bool:
    """Whether statements are on lines that all begin with small letters, of which one ends before its time."""
    written = [line for line in lines if line.strip() and not line.rstrip().endswith(":")]
    if not all(line[0].islower() or line[0].isdigit() for line in written) or any(map(_INSIDE.search, written)):
        return False
    return any(
        after.strip() and len(line.rstrip()) + 1 + len(after.split()[0]) <= width for line, after in pairwise(written)
    )


def _may_end(line: str, after: str) -> bool:
    """Whether a statement may end with a line, and the next begin with the one after it."""
    begins = after[:1].isupper() or _SIZE.match(after)
    if not line or not begins or line[-1] in _GOES_ON:
        return False
    return line.split()[-1].lower() not in _OPEN and not _PART.search(line)


def _is_in_capitals(text: str) -> bool:
    """Whether a text is in capitals, but for units and the like."""
    return sum(map(str.islower, text)) * 10 < sum(map(str.isupper, text))


def _before_a_full_stop(lines: list[str]) -> frozenset[int]:
    """Returns the numbers of the lines that end without a full stop, below which one of the same paragraph has one."""
    stopped, follows = set(), False
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number].rstrip()
        if line and line[-1].isalnum():
            if follows:
                stopped.add(number)
        else:
            follows = line.endswith(".") or (line.endswith("-") and follows)
        if _HEADED.match(line):
            follows = False
    return frozenset(stopped)


def _goes_on(line: str, first: str, width: int) -> bool:
    """Whether a line in capitals continues with the first word of the next one."""
    words = line.lower().split()
    if _DESCRIBING.issuperset(words):
        return True
    return first.lower() not in _BEGINNING and len(line.rstrip()) + 1 + len(first) > width
