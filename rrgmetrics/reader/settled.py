"""What is settled after the walk through a sentence: devices in place, and findings that are only feigned."""

from __future__ import annotations

from rrgmetrics.reader.items import Item, Mention
from rrgmetrics.reader.lexicon import Lexicon

_OF_FEIGNED = frozenset({"side", "zone", "probable_before", "severity", "item_break"})


def settle_device(mention: Mention, items: list[Item], lexicon: Lexicon) -> None:
    """Keeps a device of which only a fault or the sight of its tip is denied, in place."""
    if mention.whole_of is not None:  # "the leads are not broken": they are there
        mention.dropped = mention.dropped or mention.whole_of.assertion != "absent"
    device = not mention.denies and lexicon.concepts[mention.concept].is_device
    if device and mention.change == "resolved" and _has_left_its_place(mention, items):
        mention.assertion, mention.change = "present", None
    if device and mention.assertion == "absent" and mention.change is None and _is_of_tip(mention, items):
        mention.assertion = "present"  # "the tip of the PICC is not seen"


def _has_left_its_place(mention: Mention, items: list[Item]) -> bool:
    """Tells whether a device is not where it was, in place: "the lead is NO LONGER IN the ventricle"."""
    gone = next((i for i in range(mention.last, len(items)) if items[i].senses.get("change") == "resolved"), None)
    if gone is None or items[gone].word != "no":
        return False
    place = next((i for i in range(gone + 1, len(items)) if "location_preposition" not in items[i].senses), None)
    if place is None or place == gone + 1 or "tip" not in items[place].senses:
        return False
    items[gone], items[place] = items[gone].saying({"position": "bad"}), items[place].saying({})
    return True


def settle_past(mention: Mention, items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
    """Takes what was and is denied now for gone, in place: "the PREVIOUSLY enlarged heart is now normal"."""
    ahead = {item.word for item in items[max(0, mention.first - 2) : mention.at + 1]}
    then = not mention.denies and mention.assertion == "present" and not ahead.isdisjoint(lexicon.small.bygone)
    if then and any(mention.concept in other.denies and other.first >= mention.first for other in mentions):
        mention.assertion, mention.change = "absent", "resolved"


def explain_away(i: int, items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
    """Drops what the item at `i` only feigns: "the apparent nodule IS the nipple", "is DUE TO the projection"."""
    feigned = next((mention for mention in reversed(mentions) if mention.last <= i), None)
    if feigned is None or feigned.concept not in lexicon.roles["feigned"] or feigned.assertion == "uncertain":
        return
    small, identified = lexicon.small, False
    articles = small.definite | small.indefinite
    between = [item for item in items[feigned.last : i] if item.word not in articles]
    if [item.word for item in between[:2]] == [",", "which"]:
        between = between[2:]  # "the mediastinum is wide, WHICH is due to the projection"
    caused = any(item.word in small.causing for item in between)
    vague = feigned.concept in lexicon.roles["describing"] or items[i - 1].word in small.indefinite  # no list
    named = vague and bool(between) and between[-1].word == ","
    for item in between[:-1] if named else between:
        if item.word in small.identifying:
            identified = True
            continue
        parted = item.word in small.list_joints or "clause_end" in item.senses or "possible_before" in item.senses
        hedge = {"probable_after"} if caused else set()  # "is LIKELY due to rotation"
        other = item.word not in small.leading_to and bool(item.senses.keys() - _OF_FEIGNED - hedge)
        if other if identified else parted:
            return
    feigned.dropped = feigned.dropped or identified or named  # "densities at both bases, THE NIPPLES"


def _is_of_tip(mention: Mention, items: list[Item]) -> bool:
    """Tells whether what is denied behind a device is denied of its tip."""
    around = items[max(0, mention.first - 5) : mention.first] + items[mention.last : mention.last + 2]
    if not any(item.word == "tip" for item in around):
        return False
    return not any("negation_before" in item.senses for item in items[: mention.first])
