r"""Numbers that a tokenizer split: "4. 5 cm", "1 . 2 x 0 . 8 cm", "4,5 cm".

A point between two numbers may also end a sentence ("fractures of ribs 3 and 4. 5 mm nodule") or an item's number
("1. 2 cm nodule"). It is a decimal point if a unit follows the second number, and the first neither counts items nor
numbers something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning.edits import Edit, Step, replacing

_UNIT = r"(?:mm|cm|millimet(?:er|re)s?|centimet(?:er|re)s?)\b"
_SPLIT = re.compile(
    r"(?P<whole>\d(?<![\d./:]\d)\d?)(?P<point> +\. *|\. +)(?P<part>\d{1,2})(?![\d/:])"
    rf"(?P<sized>(?=[ -]{{0,3}}{_UNIT}| *(?:x|×|by|to|-|and) *\d))?",
    re.IGNORECASE,
)
_COMMA = rf"\d(?P<cut>,)(?=\d{{1,2}}(?:[ -]{{0,3}}{_UNIT}| *(?:x|×|by|to|-) *\d))"
# Words before a number that names something, so that a point behind it ends a sentence.
_NUMBERED = re.compile(
    r"(?:\b(?:ribs?|levels?|segments?|stations?|zones?|views?|images?|series|slices?|day|pod|numbers?|no|lead|type"
    r"|grade|stage|class|category|vertebrae?|bodies|phase|page|score|rads)[ #]+|\b[tlcsd] ?)"
    r"(?:\d{1,2}(?:st|nd|rd|th)?[ ,&-]{1,3}(?:(?:and|to|through|or) )?[tlcsd]?)*\Z|[/-]\Z",
    re.IGNORECASE,
)
_OPENS = re.compile(r"(?:\A|\n|[.;:!?])\s*(?:[-*•(]\s*)?\Z")
_BEFORE = 48  # characters that are looked at before a number
_ITEM = re.compile(r"(?:\A|[\n.;:!?])[^\S\n]*(\d{1,2}) ?[.)] ")


def _split_numbers(text: str) -> Iterator[Edit]:
    """Finds decimal points with a space beside them."""
    items: set[int] | None = None
    for match in _SPLIT.finditer(text):
        before = text[max(0, match.start() - _BEFORE) : match.start()]
        number = int(match["whole"])
        if _NUMBERED.search(before) or (match["sized"] is None and match["whole"] != "0"):
            continue
        if match["whole"] != "0" and _OPENS.search(before):
            items = {int(item) for item in _ITEM.findall(text)} if items is None else items
            if number + 1 in items or (number > 1 and number - 1 in items):
                continue
        yield Edit(*match.span("point"), ".")


NUMBERS = (
    Step("split number", _split_numbers, (" .", ". ")),
    Step("decimal comma", replacing(r"(?<=\d)·(?=\d)", "."), ("·",)),
    Step("decimal comma", replacing(_COMMA, ".", re.IGNORECASE), (",",)),
)
