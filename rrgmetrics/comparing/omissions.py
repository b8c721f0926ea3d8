"""What the reference gives of a finding and the candidate leaves out: "pleural effusion" for "large left effusion".

Whoever reads the candidate has to guess: a side is guessed wrong half of the time. So what is left out costs a part of
what a wrong one costs (`left_out` in `lexicon/*/rubric.yaml`), and a report gains nothing by saying less. All that is
left out of one finding's place, or of its description, costs less than one wrong place or description.

What the reference leaves out is not asked for. What is implied is given: the middle lobe is on the right, a finding of
4 mm is small, rib 4 is a place, a new fracture is acute.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from rrgmetrics.comparing.decisions import decided
from rrgmetrics.comparing.device_positions import position
from rrgmetrics.comparing.model import Attribute, ErrorCategory, FindingError, Link, Unit
from rrgmetrics.comparing.wording import phrase
from rrgmetrics.reading.lexicon import Lexicon, per_lexicon
from rrgmetrics.reading.lexicon.rules import LeftOutRow
from rrgmetrics.reading.model import Detail, Reading
from rrgmetrics.reading.similarity import concept_similarity

MOST = 0.75  # of one wrong place or description, for all that is left out of it
SEVERE = 5  # steps of severity from which on it is more than moderate

_NAMES: dict[Detail, tuple[Attribute, str]] = {
    "side": ("location", "side"),
    "both_sides": ("location", "sides"),
    "zone": ("location", "place"),
    "level": ("location", "level"),
    "tip": ("device_position", "position"),
    "malposition": ("device_position", "wrong position"),
    "severity": ("severity", "degree"),
    "severe": ("severity", "degree"),
    "size": ("measurement", "size"),
    "number": ("descriptor", "number"),
    "acuity": ("descriptor", "age"),
}
_OF_A_PLACE: frozenset[Attribute] = frozenset({"location", "device_position"})


class LeftOutDetail(NamedTuple):
    """A detail that is left out, and which part of a wrong one it costs."""

    detail: Detail
    part: float


def left_out_errors(
    references: Sequence[Unit],
    candidates: Sequence[Unit],
    links: Sequence[Link],
    wrong: Collection[tuple[int, ErrorCategory]],
    candidate: Reading,
    lexicon: Lexicon,
) -> Iterator[FindingError]:
    """Yields what the candidate leaves out of the findings that both reports have.

    Args:
        references: The reference's observations.
        candidates: The candidate's.
        links: Which of them show the same.
        wrong: The observations of the reference (their number) and the categories in which something is wrong: a wrong
            side and no zone is one wrong place.
        candidate: The candidate's reading.
        lexicon: The lexicon in use.

    Yields:
        FindingError: C for a place, D for a description, with a `part` below 1.
    """
    for r, ref in enumerate(references):
        shown = [candidates[link.candidate] for link in links if link.reference == r]
        same = [cand for cand in shown if _is_named_alike(ref, cand, lexicon)]
        if not same:
            continue
        left: dict[ErrorCategory, float] = {}
        for detail, part in sorted(left_out(ref, same, candidate, lexicon), key=lambda each: -each.part):
            attribute, name = _NAMES[detail]
            of_place = attribute in _OF_A_PLACE
            category = ErrorCategory.INCORRECT_LOCATION if of_place else ErrorCategory.INCORRECT_SEVERITY
            before = left.get(category, 0.0)
            left[category] = min(before + part, MOST)
            if left[category] > before and (ref.head.observation, category) not in wrong:
                error = FindingError(
                    category=category,
                    significant=True,  # whatever the guess, it may be treated otherwise
                    sentence=f"{name.capitalize()} left out: {phrase(ref, lexicon)} → {phrase(same[0], lexicon)}.",
                    attribute=attribute,
                    reference=ref.head,
                    candidate=same[0].head,
                    reference_spans=ref.spans,
                    candidate_spans=same[0].spans,
                    part=round(left[category] - before, 6),
                )
                yield decided(error, left_out_errors, row=_row_of(lexicon, detail, ref.head.concept))


def _is_named_alike(ref: Unit, cand: Unit, lexicon: Lexicon) -> bool:
    """Whether two observations are of one name or kind: an effusion is not described by its blunted angle."""
    return any(concept_similarity(x.concept, y.concept, lexicon) for x in ref.readings for y in cand.readings)


def left_out(ref: Unit, cands: Sequence[Unit], candidate: Reading, lexicon: Lexicon) -> Iterator[LeftOutDetail]:
    """Yields what the reference gives of an observation, and none of the candidate's that show the same does."""
    for detail in _given(ref, lexicon):
        part = part_of(lexicon, detail, ref.head.concept)
        given = any(
            _gives(cand, detail, candidate, lexicon) or _is_beside(ref, cand, detail, candidate) for cand in cands
        )
        if part and not given:
            yield LeftOutDetail(detail, part)


def part_of(lexicon: Lexicon, detail: Detail, concept: str) -> float:
    """Returns which part of a wrong one a detail costs that is left out of a finding; 0 for what nobody asks for."""
    row = _row_of(lexicon, detail, concept)
    return row["part"] if row else 0.0


@per_lexicon
def _row_of(lexicon: Lexicon, detail: Detail, concept: str) -> LeftOutRow | None:
    """Returns the row of `left_out` for a detail of a finding: the last that fits."""
    found = lexicon.concepts[concept]
    last = None
    for row in lexicon.rubric.get("left_out", ()):
        everywhere = "concepts" not in row and "files" not in row
        named = not {concept, *found.ancestors}.isdisjoint(row.get("concepts", ()))
        if row["what"] == detail and (everywhere or named or found.group in row.get("files", ())):
            last = row
    return last


def _given(ref: Unit, lexicon: Lexicon) -> Iterator[Detail]:
    """Yields the details that a report gives of an observation."""
    head = ref.head
    if lexicon.concepts[head.concept].is_device and (malposed := _is_placed(ref, lexicon)):
        yield malposed
    if ref.side:
        yield "both_sides" if ref.side == "bilateral" else "side"
    if ref.zones - lexicon.everywhere:
        yield "zone"
    if _names_bones(head.levels, lexicon):
        yield "level"
    elif head.count is not None and head.count > 1:
        yield "number"
    severity = _severity(ref)
    if severity is not None:
        yield "severe" if severity >= SEVERE else "severity"
    if _is_measured(ref):
        yield "size"
    if any(finding.acuity for finding in ref.readings):
        yield "acuity"


def _is_placed(device: Unit, lexicon: Lexicon) -> Detail | None:
    """Returns whether a report says where a device ends, or that it lies ill; "in place" says neither."""
    head = device.head
    depth = lexicon.concepts[head.concept].carina_cm and head.measurements_mm
    if position(head, lexicon) == "bad":
        return "malposition"
    return "tip" if head.tip or depth else None


def _severity(unit: Unit) -> int | None:
    return next((finding.severity for finding in unit.readings if finding.severity is not None), None)


def _names_bones(levels: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether levels are single bones: "T8", not "mid thoracic"."""
    return any(lexicon.levels[level][0] == lexicon.levels[level][1] for level in levels)


def _is_measured(unit: Unit) -> bool:
    return any(finding.measurements_mm for finding in unit.readings)


def _gives(cand: Unit, detail: Detail, candidate: Reading, lexicon: Lexicon) -> bool:
    """Whether the candidate gives a detail of an observation, or implies it."""
    head = cand.head
    if detail == "side":
        told = cand.zones.intersection(lexicon.rubric.get("tells_side", ()))
        return bool(cand.side or told) or any(lexicon.zones[zone].side for zone in cand.zones)
    if detail == "both_sides":
        return bool(cand.side or cand.zones & lexicon.everywhere) or _is_plural(cand, candidate, lexicon)
    if detail == "zone":
        return bool(cand.zones or head.levels)
    if detail in ("severity", "severe"):
        return _severity(cand) is not None or _is_measured(cand)
    if detail == "size":
        return _is_measured(cand)
    if detail == "acuity":
        return any(finding.acuity or finding.change in ("new", "stable") for finding in cand.readings)
    if detail in ("level", "number"):
        return head.count is not None or _names_bones(head.levels, lexicon)
    if detail == "malposition" and position(head, lexicon):
        return True
    return bool(head.tip or head.position or head.measurements_mm or head.levels or cand.zones)


def _is_beside(ref: Unit, cand: Unit, detail: Detail, candidate: Reading) -> bool:
    """Whether another finding of the sentence is at that place: "bruise and TEAR OF THE LEFT LOWER LOBE"."""
    beside = [f for f in candidate.findings if f.sentence == cand.head.sentence and f.assertion != "absent"]
    if detail in ("side", "both_sides"):
        return any(f.side == ref.side for f in beside)
    return detail == "zone" and any(f.zones & ref.zones for f in beside)


def _is_plural(cand: Unit, candidate: Reading, lexicon: Lexicon) -> bool:
    """Whether a finding that each side has one of is named in the plural: "pleural EFFUSIONS" are two."""
    one_each = lexicon.concepts[cand.head.concept].group in lexicon.groups["one_each"]
    return one_each and candidate.evidence(cand.head).rstrip(" .,;:").endswith("s")
