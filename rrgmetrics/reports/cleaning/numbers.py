r"""Numbers that a tokenizer split: "4. 5 cm", "1 . 2 x 0 . 8 cm", "4,5 cm"; sizes in words and with fractions.

A point between two numbers may also end a sentence ("fractures of ribs 3 and 4. 5 mm nodule") or an item's number
("1. 2 cm nodule"). It is a decimal point if a unit follows the second number, and the first neither counts items nor
numbers something. Before a unit, "seven", "one point five" and "1½" are 7, 1.5 and 1.5, and "8 ± 1" is 8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning.edits import Edit, Step, replacing

_UNIT = r"(?:mms?|cms?|millimet(?:er|re)s?|centimet(?:er|re)s?)\b"
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


_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_VALUES = {word: n for n, word in enumerate([*_ONES, "seventeen", "eighteen", "nineteen"])} | _TENS
_WORD = "|".join(sorted(_VALUES, key=len, reverse=True))
_DIGITS = "|".join(_ONES[:10])
_NUMBER = (
    rf"(?:(?P<tens>{'|'.join(_TENS)})[ -])?(?P<whole>{_WORD}|\d+)"
    rf"(?: point(?P<part>(?: (?:{_DIGITS}|\d+))+)| and (?:a|one)[ -](?P<half>half))?"
)
_PLAIN = re.sub(r"\?P<\w+>", "?:", _NUMBER)
_SIZE = rf"\b(?:{_PLAIN}-? (?:by|x|to|or) ){{0,2}}{_PLAIN}(?=[ -]{_UNIT})"
_FRACTIONS = {"½": ".5", "¼": ".25", "¾": ".75", "1/2": ".5", "1/4": ".25", "3/4": ".75"}
_MIXED = rf"(?<![\d./])(?:(?P<whole>\d{{1,2}})[ -]?)?(?P<part>[½¼¾]|(?<!\d)(?:[13]/4|1/2))(?=[ -]?{_UNIT})"
_SPELLED = re.compile(r"[mMcC](?<=[A-Za-z][ -].)(?:[mM]\b|[iI][lL][lL][iI]|[eE][nN][tT][iI])|[pP][oO][iI][nN][tT] \d")


def _value(word: str) -> int:
    return int(word) if word.isdigit() else _VALUES[word.lower()]


def _in_digits(match: re.Match[str]) -> str:
    """Returns a number in digits: "one point five" is 1.5."""
    whole = str(_value(match["whole"]) + (_value(match["tens"]) if match["tens"] else 0))
    part = "".join(str(_value(word)) for word in (match["part"] or "").split()) or "5" * bool(match["half"])
    return f"{whole}.{part}" if part else whole


def _sizes_in_words(match: re.Match[str]) -> str:
    return re.sub(_NUMBER, _in_digits, match[0], flags=re.IGNORECASE)


def _mixed(match: re.Match[str]) -> str:
    return f"{match['whole'] or 0}{_FRACTIONS[match['part']]}"


_TOLERANCE = r" ?(?:±|\+/?-) ?\d+(?:\.\d+)?"
_SIZED_TOLERANCE = rf"{_TOLERANCE}(?: ?{_UNIT})?"  # "8 mm ± 1 mm"
_TOLERANCES = ("±", "+/-", "+-")
_UNIT_MARKS = ("mm", "cm", "MM", "CM", "illim", "entim", "ILLIM", "ENTIM")
NUMBERS = (
    replacing("", "\n", rf"(?i)(?<=\d)(?P<cut>[ \t]*\n[ \t]*)(?={_UNIT})", " "),
    replacing("", _UNIT_MARKS, rf"(?i){_SIZE}", _sizes_in_words, where=_SPELLED),
    replacing("", ("½", "¼", "¾", "/2", "/4"), rf"(?i){_MIXED}", _mixed),
    replacing("", (".",), r"(?i)\bdiam?\.(?= ?\d)", "diameter", where=re.compile(r"\.(?<=[mMaA]\.) ?\d")),
    replacing("", _TOLERANCES, rf"(?i)\d(?P<cut>{_TOLERANCE})(?= ?(?:{_UNIT}|%|(?:x|×|by) *\d))"),
    replacing("", _TOLERANCES, rf"(?i)\d ?-?{_UNIT}(?P<cut> ?\({_SIZED_TOLERANCE} ?\)|{_SIZED_TOLERANCE})"),
    Step("split number", (" .", ". "), _split_numbers, re.compile(r"\d(?: +\.|\. +\d)")),
    replacing("decimal comma", "·", r"(?<=\d)·(?=\d)", "."),
    replacing("decimal comma", ",", rf"(?i){_COMMA}", ".", where=re.compile(r",\d")),
)
