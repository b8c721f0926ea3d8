r"""Pages: page ends with their numbers and running heads, and double spacing, "There is no\n\nPage 1 of 2\n\feffusion".

A page may end within a sentence, and so may a line of a page that is double-spaced. Such a page has a blank line below
each line, and no line that continues in the next had room for its first word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from rrgmetrics.reports.cleaning.control import OPEN
from rrgmetrics.reports.cleaning.edits import Edit, Step

_NUMBER = re.compile(r"(?:.{0,80}\s)?page\s{0,3}\d{1,3}\s{0,3}(?:of|/)\s{0,3}\d{1,3}|page\s{0,3}\d{1,3}", re.IGNORECASE)
_FOOT = re.compile(r"[-–—]? ?\d{1,3} ?[-–—]?")  # a page number, if the page ends below it
_PATIENT = re.compile(r"(?:name|mrn|dob|accession|patient(?: id)?): ?[^.]*\Z", re.IGNORECASE)
_LINE = re.compile(r"[^\s\f](?:[^\n\f]*[^\s\f])?")
_ENDS = frozenset(".:;!?")
_NARROWEST = 40  # characters of a page


def _page_ends(text: str) -> Iterator[Edit]:
    """Finds what is between the last line of a page and the first of the next, and below the last page."""
    lines = list(_LINE.finditer(text))
    title = lines[0][0].split() if lines else []
    end, is_cut = 0, False
    for number, line in enumerate(lines):
        is_above = "\f" in text[lines[number - 1].end() : line.start()] if number else False
        is_below = "\f" in text[line.end() : lines[number + 1].start()] if number + 1 < len(lines) else False
        is_head = is_above and (line[0].split() == title or _PATIENT.search(line[0]))
        if is_head or _NUMBER.fullmatch(line[0]) or (is_below and _FOOT.fullmatch(line[0])):
            is_cut = True
            continue
        if is_cut or is_above:
            goes_on = end and text[end - 1] not in _ENDS
            yield Edit(end, line.start(), "\n" if goes_on else "\n\n" if end else "", int(is_cut))
        end, is_cut = line.end(), False
    if is_cut:
        yield Edit(end, len(text), "")


def _double_spacing(text: str) -> Iterator[Edit]:
    """Finds the blank lines of a page that is double-spaced, and those behind a word that no statement ends with."""
    lines = list(_LINE.finditer(text))
    gaps = [(a, b, text[a.end() : b.start()].count("\n") == 2) for a, b in pairwise(lines)]
    goes_on = [(a, b) for a, b, is_blank in gaps if is_blank and b[0][0].islower() and a[0][-1] not in _ENDS]
    width = max((len(line[0]) for line in lines), default=0)
    is_wrapped = width >= _NARROWEST and sum(is_blank for *_, is_blank in gaps) * 2 > len(gaps)
    is_spaced = is_wrapped and all(len(a[0]) + 1 + len(b[0].split()[0]) > width for a, b in goes_on)
    for a, b in [(a, b) for a, b, is_blank in gaps if is_blank] if is_spaced and goes_on else goes_on:
        if is_spaced or a[0].split()[-1].lower() in OPEN:
            yield Edit(a.end(), b.start(), "\n", 0)


PAGES = (Step("page end", ("\f", "age", "AGE"), _page_ends, re.compile(r"\f|page\s{0,3}\d", re.IGNORECASE)),)
SPACED = (Step("", "\n", _double_spacing, re.compile(r"[^\s.:;!?][^\S\n]*\n[^\S\n]*\n[^\S\n]*[a-z]")),)
