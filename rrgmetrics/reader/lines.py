"""Lines that end a statement although no full stop stands there: "Small effusion⏎No pneumothorax⏎Heart normal".

A line of a report ends where a statement does, or where the page is full. In the first case the next line begins with a
capital, and its first word would have had room. Text is wrapped if a line begins with a small letter, or if a sentence
ends within one.
"""

from __future__ import annotations

import re

_PAGE = 60  # characters; where no line is as long, no page was full
_GOES_ON = frozenset(".,;:!?-–—/(&")  # an end that needs no other, or that is none
_OPEN = frozenset(  # words that no statement ends with
    "a an the and or nor of in on at to with without from for by no is are was were has have than versus vs as may be "
    "not this these".split()
)
_INSIDE = re.compile(r"[A-Za-z)]{3}\. +[A-Z]")  # the end of a sentence within a line


def statement_ends(text: str) -> list[int]:
    """Returns where the line ends stand that end a statement, in order.

    Example:
        >>> statement_ends("Small left effusion\\nNo pneumothorax")
        [19]
        >>> statement_ends("There is a small left\\neffusion.")
        []
    """
    lines = text.split("\n")
    width = max(map(len, lines))
    wrapped = bool(_INSIDE.search(text)) or any(line.lstrip()[:1].islower() for line in lines[1:])
    ends, end = [], -1
    for line, after in zip(lines, lines[1:], strict=False):
        end += len(line) + 1
        line, after = line.rstrip(), after.lstrip()
        if _may_end(line, after):
            first = after.split()[0]
            is_name = len(first) > 1 and not first[1:].islower()  # in running text "SVC"; or all is in capitals
            room = (width < _PAGE and not wrapped) or len(line) + 1 + len(first) <= width
            if (room or not wrapped) if not is_name else (room and not wrapped):
                ends.append(end)
    return ends


def _may_end(line: str, after: str) -> bool:
    """Tells whether a statement may end with a line, and the next begin with the one after it."""
    return bool(line) and line[-1] not in _GOES_ON and after[:1].isupper() and line.split()[-1].lower() not in _OPEN
