"""What numbers in a sentence mean: sizes, also of an earlier study, cardiothoracic ratios, lengths that are advised."""

from __future__ import annotations

from rrgmetrics.reader.lexicon import Lexicon, Senses
from rrgmetrics.reader.tokens import Item, Token

_LARGEST_HEART = 0.5  # of the chest's width, in adults; what a larger share means in a child is for the report to say


def measure(tokens: list[Token], i: int, last: int, lexicon: Lexicon) -> tuple[int, tuple[float, ...]] | None:
    """Reads "3", "3 x 4", "3 to 4" followed by a unit at `i`; returns the index after it and the numbers in mm."""
    numbers: list[float] = []
    while i < last and len(numbers) < 3 and tokens[i].word[0].isdigit():
        numbers.append(float(tokens[i].word))
        unit = lexicon.units.get(tokens[i + 1].word) if i + 1 < last else None
        step = i + 2 if unit else i + 1
        if step < last - 1 and tokens[step].word in lexicon.times and tokens[step + 1].word[0].isdigit():
            i = step + 1
            continue
        return (step, tuple(n * unit for n in numbers)) if unit else None
    return None


def earlier(tokens: list[Token], i: int, items: list[Item], lexicon: Lexicon) -> tuple[int, tuple[float, ...]] | None:
    """Reads a bare number of an earlier study in the unit of the one before it: "8 mm, WAS 5"."""
    if not items or not (items[-1].word in lexicon.small.earlier or items[-1].word in lexicon.small.size_links):
        return None
    now = next((item for item in reversed(items) if "measure" in item.senses), None)
    if now is None:
        return None
    unit = next(
        (lexicon.units[token.word] for token in tokens[now.first : now.last] if token.word in lexicon.units), None
    )
    return (i + 1, (float(tokens[i].word) * unit,)) if unit else None


def ratio(tokens: list[Token], i: int, last: int, items: list[Item], lexicon: Lexicon) -> tuple[int, Senses]:
    """Reads the number behind "cardiothoracic ratio", "0.58", "58" or "17/29": above a half the heart is enlarged."""
    named = next((item for item in reversed(items[-4:]) if "structure" in item.senses), None)
    if named is None or named.word not in lexicon.small.ratios:
        return i + 1, {}
    share, end = float(tokens[i].word), i + 1
    if i + 2 < last and tokens[i + 1].word == "/" and tokens[i + 2].word[0].isdigit():
        share, end = share / max(1.0, float(tokens[i + 2].word)), i + 3
    share = share if share < 1 else share / 100
    share += 0.01 if any(item.word in lexicon.small.above for item in items[-3:]) else 0
    return end, {"quality": ("enlarged" if share > _LARGEST_HEART else "normal",)} if 0.3 <= share < 1 else {}


def weigh(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """Takes "almost gone" for better, and the length from sizes that are advised or supposed: "withdraw BY 2 CM"."""
    asked = False
    for i, item in enumerate(items):
        asked = asked or "hypothetical" in item.senses
        if item.senses.get("change") == "resolved" and _before(items, i, lexicon.small.adverbs) in lexicon.small.almost:
            items[i] = Item(item.first, item.last, {**item.senses, "change": "better"}, item.word)
        elif item.word in lexicon.small.onward and 0 < i < len(items) - 1 and _is_course(items, i):
            kind = "measure" if "measure" in items[i - 1].senses else "severity"
            was = items[i - 1].senses[kind]
            items[i - 1].senses = {"before": (kind, max(was) if kind == "measure" else was)}
        elif "measure" in item.senses and (asked or _advised(items, i, lexicon)):
            items[i] = Item(item.first, item.last, {}, item.word)
    return items


def _is_course(items: list[Item], i: int) -> bool:
    """Tells whether what is was: "from small TO large", "has gone from 8 TO 12 mm", "moderate → large"."""
    kinds = items[i - 1].senses.keys() & items[i + 1].senses.keys() & {"severity", "measure"}
    started = i > 1 and (items[i - 2].word == "from" or "nothing" in items[i - 2].senses)
    return bool(kinds) and (started or items[i].word == "→")


def _before(items: list[Item], i: int, passed: frozenset[str]) -> str:
    """Returns the word before item `i` that is none of those passed over; "" if there is none."""
    return next((item.word for item in items[i - 1 :: -1] if item.word not in passed), "") if i else ""


def _advised(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Tells whether a length is that by which a device is to be moved."""
    small = lexicon.small
    after = next((item.word for item in items[i + 1 : i + 4] if item.word not in small.by_how_much), "")
    return after in small.moving or _before(items, i, small.by_how_much) in small.moving
