r"""Headings of one side: "RIGHT LUNG: Consolidation. Effusion." speaks of the right in each of its sentences and items.

Each sentence behind the first gets the heading, each item below its side, unless it names a side, or a part of the body
that has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning.edits import Edit, Step

_HEADING = re.compile(
    r"^[ \t]*(?:[-*•][ \t]+)?(?P<heading>(?P<side>right|left)(?: (?:lung|hemithorax|haemithorax|chest|side|pleura))?)"
    r"[ \t]*:(?P<line>[^\n]*)(?P<items>(?:\n[ \t]*[-*•][ \t]+[^\n]+)*)",
    re.IGNORECASE | re.MULTILINE,
)
_SIDED = re.compile(r"\b(?:right|left)(?: [a-z]+)?[ \t]*:(?:[^\n]*\. [A-Z]|[ \t]*\n[ \t]*[-*•])", re.IGNORECASE)
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


SIDES = (Step("heading", ":", _sides, _SIDED),)
