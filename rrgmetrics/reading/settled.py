"""What is settled after a sentence is read: devices in place, and findings that are only feigned."""

from __future__ import annotations

import re

from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon

_NAME = 5  # items from a preposition to the device that it leads to
_FAULTS = frozenset({"dislodged", "broken"})  # qualities of a device that does not lie well
_OF_FEIGNED = frozenset({"side", "zone", "probable_before", "severity", "item_break"})
_ONLY = frozenset({"only", "mere", "residual", "some", "tiny"})
_PARTS = frozenset({"tip", "lead", "side", "hole", "port"})  # of a device, that may be out of sight
_DESCRIBING = frozenset({"side", "zone", "severity", "morphology", "count", "quality", "acuity", "several", "measure"})
WAS = ("which", "having", "had")  # first words of it, besides those of `bygone`
_WAS = re.compile(r"(?:which (?:was|were)|(?:having|had) been|previously|formerly)(?: \w+ly)?$")


def settle_devices(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
    """Settles each device, and what a finding that is present only feigns, in place."""
    for mention in mentions:
        _settle_device(mention, items, lexicon)
        if mention.concept in lexicon.roles["feigns"] and mention.assertion == "present":
            _explain_away(mention.first, items, mentions, lexicon)


def explain_feigned(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
    """Drops findings that a word says to be feigned, in place."""
    for i, item in enumerate(items):
        if "feigning" in item.senses:
            _explain_away(i, items, mentions, lexicon)


def _settle_device(mention: Mention, items: list[Item], lexicon: Lexicon) -> None:
    """Keeps a device of which only a fault or the sight of its tip is denied, in place."""
    if mention.whole_of is not None:  # "the leads are not broken": they are there
        mention.dropped = mention.dropped or mention.whole_of.assertion != "absent"
    device = not mention.denies and lexicon.concepts[mention.concept].is_device
    if device and mention.assertion == "present" and _is_exchanged(mention, items, lexicon):
        mention.assertion, mention.change = "absent", "resolved"
    denied = device and mention.assertion == "absent" and mention.change is None
    if denied and (_is_of_tip(mention, items) or _is_of_position(mention, items, lexicon)):
        mention.assertion = "present"  # "the tip of the PICC is not seen", "no kink in the PICC"


def _is_exchanged(mention: Mention, items: list[Item], lexicon: Lexicon) -> bool:
    """Whether another device has come in the place of one: "exchange OF THE SHEATH FOR a Swan-Ganz catheter"."""
    small = lexicon.small
    of = next((i for i in range(mention.first - 1, 0, -1) if items[i].word == "of"), 0)
    if mention.first - of > _NAME or items[of - 1].word not in small.exchanging:
        return False
    for i in range(mention.last, min(len(items), mention.last + _NAME)):
        if items[i].word in small.exchanged_for:
            return any(_is_device(item, lexicon) for item in items[i + 1 : i + 1 + _NAME])
        if items[i].word in small.list_joints or "clause_end" in items[i].senses:
            return False
    return False


def _is_device(item: Item, lexicon: Lexicon) -> bool:
    concept = item.senses.get("concept")
    return concept is not None and lexicon.concepts[concept].is_device


def settle_past(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
    """Resolves what was there and is said to be normal now, in place: "the PREVIOUSLY collapsed lobe is aerated"."""
    for mention in mentions:
        ahead = {item.word for item in items[max(0, mention.first - 2) : mention.at + 1]}
        was = _WAS.search(" ".join(item.word for item in items[mention.first : mention.at])) is not None
        past = was or not ahead.isdisjoint(lexicon.small.bygone)
        if past and not mention.denies and mention.assertion == "present":
            names = {mention.concept, *lexicon.concepts[mention.concept].ancestors}
            normal = [other for other in mentions if not names.isdisjoint(other.denies)]
            if any(other.last > mention.last or (was and other.first == mention.first) for other in normal):
                mention.assertion, mention.change = "absent", "resolved"


def _describes(item: Item, lexicon: Lexicon) -> bool:
    """Whether an item only describes the finding behind it, or is an article."""
    describes = bool(item.senses) and item.senses.keys() <= _DESCRIBING
    return describes or item.word in lexicon.small.indefinite | lexicon.small.definite | _ONLY


def _explain_away(i: int, items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
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


def _is_of_position(mention: Mention, items: list[Item], lexicon: Lexicon) -> bool:
    """Whether what is denied before a device is that it lies badly: "no MALPOSITION OF the tube"."""
    led, k = False, mention.first - 1
    while k >= 0 and items[k].senses.keys() <= {"location_preposition", "side"} and items[k].word not in (",", ";"):
        led = led or items[k].word in lexicon.small.places
        k -= 1
    if not led or k < 0:
        return False
    return "position" in items[k].senses or not _FAULTS.isdisjoint(items[k].senses.get("quality", ()))


def _is_of_tip(mention: Mention, items: list[Item]) -> bool:
    """Whether what is denied behind a device is denied of its tip."""
    around = items[max(0, mention.first - 5) : mention.first] + items[mention.last : mention.last + 2]
    if _PARTS.isdisjoint(item.word for item in around):
        return False
    return not any("negation_before" in item.senses for item in items[: mention.first])
