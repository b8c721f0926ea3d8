"""What was done to a device since the last film: it was advanced, withdrawn, exchanged, repositioned or taken out.

A device grows neither better nor worse: "2 cm above the carina, previously 5 cm" is advanced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rrgmetrics.reading.lexicon import Lexicon, per_lexicon
from rrgmetrics.reading.tokens import Item

if TYPE_CHECKING:
    from rrgmetrics.reading.items import Mention

ADVANCED, WITHDRAWN, EXCHANGED, REPOSITIONED = "advanced", "withdrawn", "exchanged", "repositioned"
MOVES = frozenset({ADVANCED, WITHDRAWN, EXCHANGED, REPOSITIONED})
MOVED_MM = 5.0  # by less than this two depths of one device do not differ

_TOLD = frozenset({"concept", "position", "change"})  # senses of words that say something else
_REACH = 10  # items from a device to the word that says what was done to it
_OF_DEVICE = frozenset({"side", "location_preposition", "route", "count", "change"})
_NEAR = 3  # items in which a verb is advised or denied
_ENDS = frozenset({"tip", "end", "terminate", "lie", "now", "by", "back", "slightly"})  # it is still there
_PLACE = frozenset({"tip", "measure", "zone", "level", "severity"})
_BELOW = frozenset({"below", "beyond", "past", "distal", "inferior", "beneath", "caudal"})
_SIDED = 2  # items from a length to what it is above or below
_NOT = frozenset({"not", "never"})
_ADVISED = frozenset({"be", "need", "needs", "require", "recommend", "suggest", "consider", "advise", "please", "for"})
_BETTER = frozenset(  # advice by which a device is to be moved; "may be withdrawn" leaves it to the reader
    {"should", "could", "must", "need", "needed", "require", "required", "recommend", "recommended", "suggest"}
    | {"suggested", "consider", "considered", "advise", "advised", "please"}
)
_ADVICE = 4  # items from the advice to the word for the move, or from that word to "is advised"
_DENYING = _NOT | {"no", "without"}


def is_support_device(concept: str, lexicon: Lexicon) -> bool:
    """Whether a concept is a line, tube or other device, or the sum of them; what surgery has left is none."""
    return concept in lexicon.roles["device_sum"] or not lexicon.roles["device_sum"].isdisjoint(
        lexicon.concepts[concept].ancestors
    )


def read_device_moves(items: list[Item], lexicon: Lexicon) -> None:
    """Takes a word that says what was done to a device for its change, in place: "the ETT has been ADVANCED".

    What is only advised ("should be advanced") has not been done. A device that was "withdrawn" without another word is
    out; one that was withdrawn by 2 cm, slightly, or to a place, is not.
    """
    moves = _moves(lexicon)
    told = [(i, item, moves[item.word]) for i, item in enumerate(items) if item.word in moves]
    for i, item, move in told:
        if not _TOLD.isdisjoint(item.senses) or _is_advised(items, i, lexicon):
            continue
        device = _device_of(items, i, lexicon)
        if device is None:
            continue
        if not _NOT.isdisjoint(each.word for each in items[max(0, i - _NEAR) : i]):
            move = "stable"
        elif _is_whole(item, lexicon) and not _is_left(items, device, i):
            move = "resolved"
        items[i] = item.saying({"change": move})


def read_moves_to_come(items: list[Item], lexicon: Lexicon) -> None:
    """Takes advice to move a device for a wrong position, in place: "recommend RETRACTION by 2 cm"."""
    moves = _moves_to_come(lexicon)
    for i, item in enumerate(items):
        if item.word in moves and _TOLD.isdisjoint(item.senses) and _is_to_come(items, i):
            items[i] = item.saying({"position": "bad"})


def is_move_to_come(item: Item, lexicon: Lexicon) -> bool:
    """Whether a word advises to move a device, as `read_moves_to_come` left it."""
    return item.senses.keys() == {"position"} and item.word in _moves_to_come(lexicon)


@per_lexicon
def _moves_to_come(lexicon: Lexicon) -> frozenset[str]:
    """Returns the words for a move that may be advised."""
    small = lexicon.small
    return small.advancing | small.retracting | small.repositioning | small.to_be_moved


def _is_to_come(items: Sequence[Item], i: int) -> bool:
    """Whether the move at `i` is advised and not denied."""
    before, behind = items[max(0, i - _ADVICE) : i], items[i + 1 : i + 1 + _ADVICE]
    words = {each.word for each in before}
    if "severity" in items[i].senses and not (before and before[-1].word == "be"):
        return False  # "consider ADVANCED disease"
    if not _DENYING.isdisjoint(words) or any("negation_before" in each.senses for each in before):
        return False
    if not _BETTER.isdisjoint(words):
        return True
    after = [each.word for each in behind]
    return any(be in ("is", "are") and not _BETTER.isdisjoint(after[k:]) for k, be in enumerate(after))


@per_lexicon
def _moves(lexicon: Lexicon) -> dict[str, str]:
    """Returns what each word for it says that was done to a device."""
    small = lexicon.small
    return {
        **dict.fromkeys(small.advancing, ADVANCED),
        **dict.fromkeys(small.retracting, WITHDRAWN),
        **dict.fromkeys(small.swapping, EXCHANGED),
        **dict.fromkeys(small.repositioning, REPOSITIONED),
    }


def _is_whole(item: Item, lexicon: Lexicon) -> bool:
    """Whether a word says by itself that a device is out: "withdrawn", but not "pulled back"."""
    alone = item.last - item.first == 1 or "resolved_before" in item.senses
    return alone and item.word in lexicon.small.withdrawn_whole


def _is_advised(items: Sequence[Item], i: int, lexicon: Lexicon) -> bool:
    """Whether what a word at `i` says is to be done, and was not."""
    before = {each.word for each in items[max(0, i - _NEAR) : i]}
    if not before.isdisjoint(lexicon.small.modal - {"to"} | _ADVISED):
        return True
    return any("recommendation" in each.senses for each in items)


def _device_of(items: Sequence[Item], i: int, lexicon: Lexicon) -> int | None:
    """Returns the item of the device that the word at `i` is said of: the one before, or the one that it leads to."""
    for k in range(i - 1, max(-1, i - _REACH), -1):
        since = k == i - 1 and items[k].word == "since"  # "the tube, SINCE pulled back, ..."
        if ("clause_end" in items[k].senses and not since) or items[k].word == ";":
            break
        concept = items[k].senses.get("concept")
        if concept is not None:
            return k if is_support_device(concept, lexicon) else None
    for k in range(i + 1, min(len(items), i + 1 + _NEAR + 1)):
        concept = items[k].senses.get("concept")
        if concept is not None:
            return k if is_support_device(concept, lexicon) else None
        if not items[k].senses.keys() <= {"location_preposition", "side", "route", "count"} or not items[k].senses:
            break
    return None


def _is_left(items: Sequence[Item], device: int, i: int) -> bool:
    """Whether a device that was withdrawn is still there: "withdrawn by 2 cm", "withdrawn, tip in the SVC"."""
    around = list(items[device + 1 : i])
    for each in items[max(i, device) + 1 :]:
        if "concept" in each.senses:
            break
        around.append(each)
    return any(each.word in _ENDS or each.word.isdigit() or not _PLACE.isdisjoint(each.senses) for each in around)


def is_only_dated(mention: Mention, items: Sequence[Item], lexicon: Lexicon) -> bool:
    """Whether the removal of a device only states a time: "no pneumothorax AFTER REMOVAL OF the drain"."""
    if mention.change != "resolved" or not is_support_device(mention.concept, lexicon):
        return False
    for item in reversed(items[max(0, mention.first - _REACH) : mention.first]):
        if item.word in lexicon.small.settings:
            return True
        if "resolved_before" not in item.senses and not item.senses.keys() <= _OF_DEVICE:
            break
    return False


def are_below(items: Sequence[Item]) -> list[bool]:
    """Returns for each length whether it is stated below a landmark: "1 cm BELOW the carina, previously 2 cm above"."""
    told = [i for i, item in enumerate(items) if "measure" in item.senses]
    below: list[bool] = []
    for i in told:
        words = {item.word for item in items[i + 1 : i + 1 + _SIDED]}
        said = not words.isdisjoint(_BELOW)
        below.append(said or ("above" not in words and bool(below) and below[0]))
    return below
