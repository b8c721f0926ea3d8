"""Which comparatives set one place against another, or one thing against another, and no two studies.

"Opacities, worse on the right" and "bilateral effusions, the left larger" tell of one film; "a larger effusion than
before" tells of two.
"""

from __future__ import annotations

from rrgmetrics.reader.items import Item
from rrgmetrics.reader.lexicon import Lexicon, SmallWords

NEAR = 4  # items between a word of change and the verb or the place that belongs to it


def compares_no_dates(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Tells whether a word of change compares no two studies."""
    if items[i].word not in lexicon.small.comparatives:
        return False
    return (
        _of_two_places(items, i, lexicon) or _of_another_word(items, i, lexicon) or _of_other_things(items, i, lexicon)
    )


def _of_other_things(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Tells whether a comparative only describes a thing that is no finding: "one bullet and SMALLER fragments"."""
    small = lexicon.small
    if items[i].last - items[i].first > 1 or i + 1 == len(items) or items[i].word in ("more", "less"):
        return False
    thing = items[i + 1]
    known = small.after_nouns | small.joints | small.verbs | small.dates | small.after_nouns | small.definite
    return not thing.senses and thing.word.isalpha() and thing.word not in known


def _of_two_places(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Tells whether a comparative sets one place against another: "worse at the bases", "a smaller one on the left"."""
    small = lexicon.small
    if i and items[i - 1].word in small.indefinite:
        return True
    attributive = i and items[i - 1].word == "the" and i + 1 < len(items) and "concept" in items[i + 1].senses
    if attributive and items[i].word == "more":
        return all(item.word not in small.dates for item in items)  # "the MORE CONFLUENT opacity"
    if _of_one_of_both(items, i, small):
        return True
    if i and items[i - 1].word == "the" and any("side" in item.senses for item in items[:i]):
        return i + 1 == len(items) or items[i + 1].word in small.closing | {"of"}  # "the right being the LARGER"
    if _of_one_side(items, i, lexicon):
        return True
    if [item.word for item in items[i + 1 : i + 2]] == ["than"] and "measure" in items[
        min(i + 2, len(items) - 1)
    ].senses:
        return True  # "none is LARGER than 8 mm"
    placed = False
    for item in items[i + 1 : i + 1 + NEAR]:
        if "asymmetry" in item.senses:
            return True
        if placed and item.senses.keys() & {"side", "zone", "structure"}:
            return not any(_is_date(item, small) for item in items)
        placed = placed or item.word in small.placing
        if not placed:
            return False
    return False


def _of_one_side(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Tells whether one of two sides has more: "bilateral effusions, LEFT a little LARGER"."""
    small, k = lexicon.small, i - 1
    while k >= 0 and (items[k].word.endswith("ly") or items[k].word in small.indefinite | small.degrees):
        k -= 1
    if k < 1 or items[k].senses.get("side") not in ("left", "right") or len(items[k].senses) > 1:
        return False
    first = k - (items[k - 1].word in small.definite)
    parts = (part for item in items[:first] for part in (item.senses, *item.senses.get("inside", ())))
    both = any(part.get("side") == "bilateral" for part in parts)
    dated = any(item.word in small.dates or "earlier_study" in item.senses for item in items[i + 1 : i + 4])
    return both and not dated and items[first - 1].word in small.closing


def _is_date(item: Item, small: SmallWords) -> bool:
    return item.word in small.dates or "earlier_study" in item.senses


def _of_one_of_both(items: list[Item], i: int, small: SmallWords) -> bool:
    """Tells whether a comparative sets one side against the other: "bilateral effusions, and THE LEFT IS LARGER"."""
    parts = (part for item in items[:i] for part in (item.senses, *item.senses.get("inside", ())))
    sides = list(dict.fromkeys(part["side"] for part in parts if "side" in part))
    if len(sides) != 2 or sides[0] != "bilateral":
        return False
    return not any(_is_date(item, small) or ("change" in item.senses and item is not items[i]) for item in items)


def _of_another_word(items: list[Item], i: int, lexicon: Lexicon) -> bool:
    """Tells whether a bare "more" or "less" says nothing of its own: "less likely", but "the effusion is less"."""
    alone = items[i].word in ("more", "less") and items[i].last - items[i].first == 1
    then = items[i + 1] if i + 1 < len(items) else None
    if not alone or then is None or then.word in lexicon.small.separators:
        return False
    if "concept" in then.senses and not any(item.word == "than" for item in items):
        starts = i == 0 and items[i].word == "less"
        return not starts and any(item.senses.keys() & {"side", "zone"} for item in items)  # "more edema on the left"
    if then.senses.keys() & {"earlier_study", "clause_end"}:
        return False
    return not _than_a_date(items[i + 1 :], lexicon)


def _than_a_date(items: list[Item], lexicon: Lexicon) -> bool:
    """Tells whether a comparative goes on to a date: "more free gas THAN ON DAY 2"."""
    than = next((i for i, item in enumerate(items) if item.word == "than"), len(items))
    behind = items[than + 1 : than + 1 + NEAR]
    if behind and behind[0].word == "on" and not any(item.senses.keys() & {"side", "zone"} for item in behind):
        return True  # "less fluid THAN ON the 3rd of May"
    return any(
        item.word in lexicon.small.dates or item.word in lexicon.small.uncounted or "earlier_study" in item.senses
        for item in items[than : than + 1 + NEAR]
    )
