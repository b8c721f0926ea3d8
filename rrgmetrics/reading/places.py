"""Do two places agree? The one place for laterality and zones."""

from __future__ import annotations

from collections.abc import Set
from typing import Protocol

from rrgmetrics.reading.lexicon import Concept, Lexicon, per_lexicon
from rrgmetrics.reading.model import Finding


class Placed(Protocol):
    """What has a side and zones, as a finding."""

    @property
    def side(self) -> str | None:
        """The side; None if it is not stated."""

    @property
    def zones(self) -> frozenset[str]:
        """The zones; empty if none is stated."""


def near(a: Set[str], b: Set[str], lexicon: Lexicon) -> bool:
    """Whether two sets of zones may be one place; an unstated place agrees with all."""
    if not a or not b or a & b or not lexicon.everywhere.isdisjoint(a | b):
        return True
    for x in a:
        zone = lexicon.zones[x]
        if zone.inside in b or zone.near & b:
            return True
    return any(lexicon.zones[y].inside in a or lexicon.zones[y].near & a for y in b)


def named_at(concept: str, zones: frozenset[str], lexicon: Lexicon) -> str:
    """Returns what a finding is called at its place: a mass in the mediastinum is a mediastinal mass."""
    named = {_named_in(concept, zone, lexicon) for zone in zones}
    return concept if concept in named else min(named, default=concept)


def named_as(concept: str, picture: str, lexicon: Lexicon) -> str:
    """Returns what a finding is called as a kind of a picture: "lesion of L1, suggesting METASTASIS" is one of bone."""
    return _kinds_of_pictures(lexicon).get((concept, picture), concept)


@per_lexicon
def _kinds_of_pictures(lexicon: Lexicon) -> dict[tuple[str, str], str]:
    """The names of findings at a place, by finding and by the picture that they are a kind of."""
    return {
        (concept, picture): name
        for (concept, _), name in lexicon.findings_in.items()
        if concept in lexicon.roles["anywhere"]
        for picture in lexicon.concepts[name].ancestors
    }


def _named_in(concept: str, zone: str, lexicon: Lexicon) -> str:
    around = (lexicon.findings_in.get((concept, place)) for place in (zone, lexicon.zones[zone].inside) if place)
    return next((name for name in around if name), concept)


def beside(a: frozenset[str], b: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether two sets of zones that are not near one another are neighbours all the same."""
    return any(y in lexicon.zones[x].beside or x in lexicon.zones[y].beside for x in a for y in b)


def in_two_organs(a: frozenset[str], b: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether two sets of zones lie in two organs: the lower lobe and the mediastinum are not one place."""
    one, other = ({lexicon.organ_of.get(zone) for zone in zones} for zones in (a, b))
    known = bool(one and other) and None not in one | other
    return known and one.isdisjoint(other) and not near(a, b, lexicon) and not beside(a, b, lexicon)


def same_side(a: str | None, b: str | None) -> bool:
    """Whether two sides agree; an unstated side agrees with all."""
    return a is None or b is None or a == b


def at_one_place(a: Placed, b: Placed, lexicon: Lexicon) -> bool:
    """Whether two may lie at one place: neither their sides nor their zones contradict one another."""
    return same_side(a.side, b.side) and near(a.zones, b.zones, lexicon)


def is_astray(device: Finding, concept: Concept) -> bool:
    """Whether a device ends where it must not."""
    off_level = concept.expected_levels and device.levels and device.levels.isdisjoint(concept.expected_levels)
    return bool(off_level or not device.tip.isdisjoint(concept.wrong_tip))
