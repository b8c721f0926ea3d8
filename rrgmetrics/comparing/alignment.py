"""Two readings → which observations show the same.

Observations are matched one to one by an optimal assignment (Hungarian algorithm) under a graded similarity of concept
and place. What is left over may yet be said by the other report in other words, or be a sign of a cause that it names.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

from rrgmetrics.comparing.decisions import decided, excused, unrecorded
from rrgmetrics.comparing.denials import by_name, denials
from rrgmetrics.comparing.device_positions import other_route
from rrgmetrics.comparing.device_sums import is_summed_up
from rrgmetrics.comparing.model import Link, Unit
from rrgmetrics.comparing.observations import units
from rrgmetrics.comparing.similarity import MATCH, assign, similarity
from rrgmetrics.reading.levels import of_two_ages
from rrgmetrics.reading.lexicon import Lexicon, lexicon_of
from rrgmetrics.reading.model import Finding, Reading
from rrgmetrics.reading.places import beside, near, same_side
from rrgmetrics.reading.similarity import of_two_sizes, related

COVERED = 0.75  # above: a left-over observation is said by the other report in other words


class Counterparts(NamedTuple):
    """Which observations of two readings show the same.

    Attributes:
        references: Observations of the reference that count.
        candidates: Those of the candidate.
        pairs: Matched observations (indices) and their similarity.
        links: These, and those that say the same in other words.
        missing: What only the reference has.
        false: What only the candidate has.
    """

    references: list[Unit]
    candidates: list[Unit]
    pairs: list[tuple[int, int, float]]
    links: list[Link]
    missing: list[Unit]
    false: list[Unit]

    def numbers(self) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
        """Returns the counterparts of each of the reference's observations, and of the candidate's, by `observation`.

        Example:
            >>> from rrgmetrics.reading import read
            >>> set_beside(read("Cardiomegaly. Left effusion."), read("Right mass. Enlarged heart.")).numbers()
            ({1: set(), 0: {1}}, {0: set(), 1: {0}})
        """
        of_reference = {unit.head.observation: set[int]() for unit in self.missing}
        of_candidate = {unit.head.observation: set[int]() for unit in self.false}
        for link in self.links:
            r = self.references[link.reference].head.observation
            c = self.candidates[link.candidate].head.observation
            of_reference.setdefault(r, set()).add(c)
            of_candidate.setdefault(c, set()).add(r)
        return of_reference, of_candidate


def set_beside(reference: Reading, candidate: Reading) -> Counterparts:
    """Finds which observations of two readings by one pack show the same."""
    lexicon = lexicon_of(reference)
    refs = units(reference, lexicon, partial(_alone, candidate, lexicon))
    cands = units(candidate, lexicon, partial(_alone, reference, lexicon))
    refs, cands = _in_parts(refs, cands, lexicon), _in_parts(cands, refs, lexicon)
    refs, cands = _marked(refs, cands, candidate, lexicon), _marked(cands, refs, reference, lexicon)
    pairs = assign(refs, cands, lexicon)
    of_cands, false = _unmatched(cands, {c: r for r, c, _ in pairs}, refs, reference, lexicon)
    of_refs, missing = _unmatched(refs, {r: c for r, c, _ in pairs}, cands, candidate, lexicon)
    links = [Link(r, c) for r, c, _ in pairs]
    links += [Link(r, c, other_words=True) for c, r in of_cands]
    links += [Link(r, c, other_words=True) for r, c in of_refs]
    return Counterparts(refs, cands, pairs, links, missing, false)


def _alone(reading: Reading, lexicon: Lexicon) -> list[Unit]:
    """Returns the observations of a reading, whatever the other report has."""
    with unrecorded():
        return units(reading, lexicon)


def _in_parts(mine: list[Unit], others: list[Unit], lexicon: Lexicon) -> list[Unit]:
    """Takes a finding of two parts for two where the other report names one: a hydropneumothorax beside an effusion.

    The other report's exact name of a part holds for both: the fluid of a hydropneumothorax may be a hemothorax.
    """
    theirs = {finding.concept for unit in others for finding in unit.readings}
    return [part for unit in mine for part in _parts(unit, theirs, lexicon)]


def _parts(unit: Unit, theirs: set[str], lexicon: Lexicon) -> list[Unit]:
    parts = lexicon.concepts[unit.head.concept].parts
    if unit.head.concept in theirs or not any(related(part, concept, lexicon) for part in parts for concept in theirs):
        return [unit]
    heads = [replace(unit.head, concept=_exact(part, theirs, lexicon)) for part in parts]
    return [decided(replace(unit, head=head, readings=(head, *unit.readings[1:])), _in_parts) for head in heads]


def _exact(part: str, theirs: set[str], lexicon: Lexicon) -> str:
    if part in theirs:
        return part
    return next((concept for concept in sorted(theirs) if part in lexicon.concepts[concept].ancestors), part)


def _marked(mine: list[Unit], others: list[Unit], other: Reading, lexicon: Lexicon) -> list[Unit]:
    """Marks what the other report denies by its name and does not show: "congestion WITHOUT EDEMA"."""
    denied = denials(other, lexicon)
    shown = set().union(*(_names(finding, lexicon) for unit in others for finding in unit.readings))

    def is_denied(finding: Finding) -> bool:
        return any(by_name(finding, _names(finding, lexicon) - shown, denied, lexicon))

    return [replace(unit, denied=True) if all(map(is_denied, unit.readings)) else unit for unit in mine]


def _names(finding: Finding, lexicon: Lexicon) -> set[str]:
    return {finding.concept, *lexicon.concepts[finding.concept].ancestors}


def _unmatched(
    mine: list[Unit], matched: dict[int, int], others: list[Unit], other: Reading, lexicon: Lexicon
) -> tuple[list[tuple[int, int]], list[Unit]]:
    """Returns which unmatched observations say the same as one of the other report, and which have no counterpart."""
    linked, alone = list[tuple[int, int]](), list[Unit]()
    sides = {j: mine[i].side for i, j in matched.items()}
    for i, unit in enumerate(mine):
        if i not in matched and not (_nearly(unit, other) and excused(unit, _nearly)):
            half = {j for j, each in enumerate(others) if _is_half_matched(each, sides.get(j), unit)}
            same = _in_other_words(unit, others, half, lexicon)
            if same is not None:
                linked.append((i, same))
            elif not (
                (_is_background(unit, other, lexicon) and excused(unit, _is_background))
                or (is_summed_up(unit, other, lexicon) and excused(unit, is_summed_up))
            ):
                alone.append(unit)
    return linked, alone


def _is_half_matched(other: Unit, side: str | None, unit: Unit) -> bool:
    """Whether what lies on both sides is matched on one, and may be the same on the other: "BIBASILAR opacities"."""
    return other.side == "bilateral" and {side, unit.side} == {"left", "right"}


def _nearly(unit: Unit, other: Reading) -> bool:
    """Whether the other report calls borderline what is borderline here ("upper normal")."""
    borderline = {finding.concept for finding in other.findings if finding.severity == 0}
    return unit.head.severity == 0 and unit.head.concept in borderline


def _is_background(unit: Unit, other: Reading, lexicon: Lexicon) -> bool:
    """Whether an observation is background: an operation in its own report, an illness in the other."""
    own = all(finding.background for finding in unit.readings)
    return own or any(related(unit.head.concept, illness, lexicon) for illness in other.history)


def _in_other_words(unit: Unit, others: list[Unit], half: set[int], lexicon: Lexicon) -> int | None:
    """Returns which of the other report's observations says the same, or is what the finding is a sign of.

    Of those that are matched on the other side (`half`, indices), the rest needs no more than any match.
    """
    others = [replace(each, side=unit.side) if j in half else each for j, each in enumerate(others)]
    if unit.denied:
        return None
    directed = unit.head.concept in lexicon.roles["directed"]
    stated = {
        finding.concept: i
        for i, other in enumerate(others)
        if directed or same_side(unit.side, other.side) or "bilateral" in (unit.side, other.side)
        for finding in other.readings
    }
    causes = [lexicon.concepts[finding.concept].sign_of & stated.keys() for finding in unit.readings]
    if all(causes):
        decided(unit, _in_other_words, "a sign of its counterpart")
        return min(stated[concept] for concept in causes[0])
    named_as = next((i for i, other in enumerate(others) if _is_picture_of(unit, other, lexicon)), None)
    if named_as is not None:
        decided(unit, _is_picture_of)
        return named_as
    named = replace(unit, readings=(unit.head,))
    apart = [
        other_route(unit, other)
        or _is_fault_of(unit, other, lexicon)
        or of_two_ages(unit.head, other.head, lexicon)
        or of_two_sizes(unit.head, other.head, lexicon)
        or not _neighbours(unit, other, lexicon)
        or _is_focal_beside(unit, other, lexicon)
        for other in others
    ]
    scores = [0.0 if a else similarity(named, other, lexicon) for a, other in zip(apart, others, strict=True)]
    scores = [score if score >= (MATCH if j in half else COVERED) else 0.0 for j, score in enumerate(scores)]
    best = max(scores, default=0.0)
    if not best:
        return None
    decided(unit, _in_other_words, "its counterpart has a like name and place")
    return scores.index(best)


def _is_picture_of(unit: Unit, other: Unit, lexicon: Lexicon) -> bool:
    """Whether an observation only describes what the other names: "an OPACITY with volume loss", a collapse."""
    described = unit.head.concept in lexicon.concepts[other.head.concept].ancestors
    vague = unit.head.concept in lexicon.roles["replaceable"] and not unit.head.measurements_mm
    placed = bool(unit.zones) and unit.side == other.side and bool(unit.zones & other.zones)
    return described and vague and placed


def _neighbours(unit: Unit, other: Unit, lexicon: Lexicon) -> bool:
    """Whether two observations may lie at one place: an opacity of the upper lobe is none behind the heart.

    Of lesions that are counted one by one each is in its own lobe, not beside it.
    """
    spread = unit.head.concept not in lexicon.roles["one_by_one"]
    return near(unit.zones, other.zones, lexicon) or (spread and beside(unit.zones, other.zones, lexicon))


def _is_fault_of(unit: Unit, other: Unit, lexicon: Lexicon) -> bool:
    """Whether one of two devices is what has become of the other: a broken lead is no pacemaker in place."""
    a, b = (lexicon.concepts[each.head.concept] for each in (unit, other))
    whole = b.key in a.ancestors or b.key in a.same_as
    return a.is_device and whole and a.significance == "urgent" != b.significance


def _is_focal_beside(unit: Unit, other: Unit, lexicon: Lexicon) -> bool:
    """Whether an observation lies in one lobe and the other is all over the lungs: "edema. LINGULAR opacity"."""
    focal = unit.side in ("left", "right") and bool(unit.zones) and lexicon.everywhere.isdisjoint(unit.zones)
    return focal and not other.zones and other.head.concept in lexicon.roles["diffuse"]
