"""How far two concepts are the same."""

from __future__ import annotations

from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.model import Finding

# Similarity of concepts.
SAME, INTERCHANGEABLE, PARENT, GRANDPARENT = 1.0, 0.9, 0.8, 0.7
OTHER_SIZE = 0.7  # share of a size below which another size is that of another lesion


def related(a: str, b: str, lexicon: Lexicon) -> bool:
    """Whether two concepts can name one picture: parent and child, or interchangeable."""
    ca, cb = lexicon.concepts[a], lexicon.concepts[b]
    return a == b or b in ca.ancestors or a in cb.ancestors or b in ca.same_as or a in cb.same_as


def of_two_sizes(a: Finding, b: Finding, lexicon: Lexicon) -> bool:
    """Whether two findings of one name are two lesions: "a 2 cm nodule at the apex. A nodule of 8 mm."."""
    if lexicon.concepts[a.concept].group not in lexicon.groups["one_picture"]:
        return False
    sizes = [max(each.measurements_mm, default=0.0) for each in (a, b)]
    listed = a.sentence == b.sentence and a.zones and b.zones and a.zones.isdisjoint(b.zones)  # "hilar 12, axillary 11"
    return all(sizes) and bool(listed or min(sizes) < OTHER_SIZE * max(sizes))


def concept_similarity(a: str, b: str, lexicon: Lexicon) -> float:
    """Returns how far two concepts name one picture, 0 to 1."""
    if a == b:
        return SAME
    ca, cb = lexicon.concepts[a], lexicon.concepts[b]
    if b in ca.same_as or a in cb.same_as:
        return INTERCHANGEABLE
    sums = lexicon.roles["device_sum"]
    if not sums.isdisjoint({a, b}) and not sums.isdisjoint((*ca.ancestors, *cb.ancestors)):
        return PARENT
    if b in ca.ancestors[:1] or a in cb.ancestors[:1]:
        return PARENT
    if b in ca.ancestors or a in cb.ancestors or b in ca.rivals or a in cb.rivals:
        return GRANDPARENT
    if {a, b} & lexicon.roles["anything"] and (ca.parent in cb.same_as or cb.parent in ca.same_as):
        return GRANDPARENT  # "density", which is any opacity, and a kind of opacity
    return 0.0
