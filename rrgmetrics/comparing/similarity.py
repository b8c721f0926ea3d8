"""How far two observations are the same: their names, their places, and the best assignment of all."""

from __future__ import annotations

from rrgmetrics.comparing.assignment import best_assignment
from rrgmetrics.comparing.model import Unit
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.places import in_two_organs, near, same_side
from rrgmetrics.reading.similarity import SAME, concept_similarity

# Similarity of places, and what still counts as the same finding.
OPPOSITE_SIDE, MIRRORED, ONE_OF_BOTH_SIDES, DISTANT_ZONE = 0.62, 0.7, 0.75, 0.85
MATCH = 0.52  # below: two different findings; one name at another place on the other side is one
SAME_NAME = 0.2  # gain of a match of one concept: two bullae on either side rather than bulla and emphysema
TIE_BREAK = 1e-4  # for each attribute that agrees


def place_similarity(a: Unit, b: Unit, lexicon: Lexicon) -> float:
    """Returns how far two places agree, 0 to 1; a place that is not stated agrees with all.

    A device at a wrong place may be in another organ: a chest tube against the mediastinum.
    """
    if in_two_organs(a.zones, b.zones, lexicon) and not lexicon.concepts[a.head.concept].is_device:
        return 0.0
    return _side_similarity(a, b, lexicon) * (1.0 if near(a.zones, b.zones, lexicon) else DISTANT_ZONE)


def _side_similarity(a: Unit, b: Unit, lexicon: Lexicon) -> float:
    if same_side(a.side, b.side):
        return 1.0
    if "bilateral" in (a.side, b.side):
        return ONE_OF_BOTH_SIDES
    one, other = ({zone for zone in unit.zones if not lexicon.zones[zone].side} for unit in (a, b))
    return MIRRORED if one == other else OPPOSITE_SIDE  # "right basal pneumonia", "left basal consolidation"


def similarity(a: Unit, b: Unit, lexicon: Lexicon) -> float:
    """Returns how far two observations are the same, 0 to 1."""
    if (a.own or b.own) and not lexicon.roles["device_sum"].isdisjoint({a.head.concept, b.head.concept}):
        return 0.0
    concept = max(concept_similarity(x.concept, y.concept, lexicon) for x in a.readings for y in b.readings)
    if concept < SAME and {a.side, b.side} == {"left", "right"} and lexicon.concepts[a.head.concept].is_device:
        return 0.0  # a line of another kind on the other side is another line
    return concept * place_similarity(a, b, lexicon) if concept else 0.0


def assign(refs: list[Unit], cands: list[Unit], lexicon: Lexicon) -> list[tuple[int, int, float]]:
    """Returns the matched (reference, candidate, similarity) with the greatest sum of similarities."""
    if not refs or not cands:
        return []
    scores = _scores(refs, cands, lexicon)
    gains = [{c: s + _agreement(r, cands[c]) for c, s in row.items()} for r, row in zip(refs, scores, strict=True)]
    matched = _unrivalled(gains)
    if matched is None:
        matched = best_assignment([[row.get(c, 0.0) for c in range(len(cands))] for row in gains])
    return [(r, c, scores[r][c]) for r, c in matched if c in scores[r]]


def _scores(refs: list[Unit], cands: list[Unit], lexicon: Lexicon) -> list[dict[int, float]]:
    """How far each observation of the reference and the candidate's that can be the same as it are the same."""
    named: dict[str, list[int]] = {}
    for c, unit in enumerate(cands):
        for concept in () if unit.denied else {finding.concept for finding in unit.readings}:
            named.setdefault(concept, []).append(c)
    like: dict[str, list[int]] = {}  # a report of hundreds of observations has few that one of them can be
    rows = []
    for unit in refs:
        for concept in {finding.concept for finding in unit.readings} - like.keys():
            names = [name for name in named if concept_similarity(concept, name, lexicon)]
            like[concept] = [c for name in names for c in named[name]]
        possible = sorted({c for finding in unit.readings for c in like[finding.concept]} if not unit.denied else ())
        row = {c: similarity(unit, cands[c], lexicon) for c in possible}
        rows.append({c: score for c, score in row.items() if score >= MATCH})
    return rows


def _unrivalled(gains: list[dict[int, float]]) -> list[tuple[int, int]] | None:
    """The best assignment where each row has one greatest gain and no two have it in one column; None elsewhere."""
    best: dict[int, int] = {}
    for r, row in enumerate(gains):
        if row:
            most = max(row.values())
            c, *others = (c for c, gain in row.items() if gain == most)
            if c in best or others:
                return None
            best[c] = r
    return [(r, c) for c, r in best.items()]


def _agreement(a: Unit, b: Unit) -> float:
    """Returns what a match gains by one name and by attributes that agree, which decides between like matches."""
    x, y = a.head, b.head
    named = SAME_NAME if x.concept == y.concept else 0.0
    return named + TIE_BREAK * sum(
        (
            a.side == b.side,
            a.zones == b.zones,
            bool(x.levels & y.levels) or x.levels == y.levels,
            x.severity == y.severity,
            x.measurements_mm == y.measurements_mm,
            x.change == y.change,
            x.tip == y.tip,
            x.route == y.route,
        )
    )
