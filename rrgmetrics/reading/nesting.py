"""What is inside what: words inside a mention that are its own, and findings that are there round denied ones.

One structure may be said to be two things, and each of them may have a place of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from rrgmetrics.reading.ellipsis import is_joint
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import SmallWords

_FORMER = frozenset({"previous", "prior", "former", "earlier"})
_BESIDE = frozenset({"side", "zone", "structure", "severity", "morphology", "location_preposition", "earlier_study"})


def own_items(
    items: list[Item], mention: Mention, group: list[Mention], before: list[Item], small: SmallWords
) -> list[Item]:
    """Returns the items of a mention and those directly before it, without what is said of another of its group."""
    turn = _other_side_from(items, mention)
    if turn is None:
        return [*before, *_inside(items, mention, group, small)]
    of_other = [
        item.without("side") if "side" in item.senses else item for item in [*before, *items[mention.first : turn]]
    ]
    return [*of_other, *items[turn : mention.last]]


def _inside(items: list[Item], mention: Mention, group: list[Mention], small: SmallWords) -> list[Item]:
    """Returns the items of a mention, with a place that belongs to the quality before or after it where it does.

    "The trachea is displaced TO THE RIGHT and narrowed": the displacement has a side, the narrowing has none.
    """
    inner = [each for each in group if each.at in range(mention.first + 1, mention.last - 1) and each is not mention]
    after = [each for each in group if each.first == mention.first and each.at > mention.at]
    own = items[mention.first : mention.last]
    if inner:
        lo = max(each.at for each in inner) + 1
        hi = next((i for i in range(lo, mention.at) if is_joint(items[i], small)), lo)
        shared, own = items[mention.first : lo], items[hi : mention.last]
        if any("severity" in item.senses for item in own):  # "a moderate amount of blood and A LITTLE air"
            shared = [item.without("severity") if "severity" in item.senses else item for item in shared]
        own = [*shared, *own]
    if after:
        hi = min(each.at for each in after)
        hi = next((i for i in range(mention.last, hi) if is_joint(items[i], small)), mention.last)
        own = [*own, *items[mention.last : hi]]
    return own


def _other_side_from(items: list[Item], mention: Mention) -> int | None:
    """Returns where a mention turns to the other side of its structure: "right angle clear, | LEFT BLUNTED"."""
    if mention.at < mention.first + 3 or not any("quality" in i.senses for i in items[mention.first : mention.at - 1]):
        return None
    for k in range(mention.at - 1, mention.first, -1):
        if items[k].senses.get("side") in ("left", "right"):
            start = k - (items[k - 1].word == "the")
            joined = items[start - 1].word in (",", ";", "and", "but", "while", "whereas")
            told = any("quality" in item.senses for item in items[mention.first : start])
            return start if joined and told else None
    return None


def is_known(pre: Sequence[Item]) -> bool:
    """Whether a finding is called that of an earlier study: "PREVIOUSLY seen nodule", "the FORMER effusion"."""
    if any(item.word == "previously" and "earlier_study" in item.senses for item in pre):
        return True
    beside = takewhile(lambda item: item.senses.keys() <= _BESIDE, reversed(pre))
    return any(item.word in _FORMER or (item.word == "the" and "earlier_study" in item.senses) for item in beside)
