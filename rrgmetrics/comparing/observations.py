"""A reading → its observations that count: findings of one picture, signs of a cause told with it left out."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from rrgmetrics.comparing.decisions import excused
from rrgmetrics.comparing.device_sums import mark_own
from rrgmetrics.comparing.model import DOUBT, Unit
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.model import Finding, Reading
from rrgmetrics.reading.places import near, same_side
from rrgmetrics.reading.similarity import related

Shown = Callable[[], Collection[Unit]]
MOVING = frozenset({"new", "worse", "better"})  # changes that a picture shares with what it is


def units(reading: Reading, lexicon: Lexicon, shown: Shown = tuple) -> list[Unit]:
    """Returns the observations of a reading that count, in the order of the text.

    `shown` gives those of the other report, and is called for signs only: one of its own there is one here.
    """
    groups: dict[int, list[Finding]] = {}
    for finding in reading.findings:
        if is_observation(finding, lexicon):
            groups.setdefault(finding.observation, []).append(finding)
    observations = []
    for group in _without_signs(list(groups.values()), shown, lexicon):
        placed = [finding for finding in group if finding.concept not in lexicon.roles["directed"]] or group
        sides = {finding.side for finding in placed if finding.side}
        side = next(iter(sides)) if len(sides) == 1 else ("bilateral" if sides else None)
        readings = _committed(group, lexicon)
        head = max(readings, key=lambda finding: finding.certainty == "definite")
        if not head.tip and any(finding.tip for finding in readings):
            head = replace(
                head, tip=frozenset().union(*(finding.tip for finding in readings))
            )  # "a disc, likely a coin"
        observations.append(Unit(head, readings, side, frozenset().union(*(finding.zones for finding in group))))
    return mark_own(_with_their_parts(observations, lexicon), lexicon)


def is_observation(finding: Finding, lexicon: Lexicon) -> bool:
    """Whether a finding is compared: it is of a concept that counts, and neither denied nor "not excluded"."""
    stated = finding.assertion != "absent" and finding.certainty != "not_excluded"
    return stated and lexicon.concepts[finding.concept].counts


def _with_their_parts(observations: list[Unit], lexicon: Lexicon) -> list[Unit]:
    """Takes a device and a part of it that has left its place for one: "a pacemaker with a DISPLACED LEAD"."""
    astray = [unit for unit in observations if unit.head.concept in lexicon.roles["astray"]]

    def is_whole_of(unit: Unit, part: Unit) -> bool:
        concept = lexicon.concepts[part.head.concept]
        names = {*concept.ancestors, *concept.same_as}
        return unit is not part and unit.head.concept in names and same_side(unit.side, part.side)

    wholes = [unit for unit in observations if any(is_whole_of(unit, part) for part in astray)]
    sides = {id(part): next((unit.side for unit in wholes if is_whole_of(unit, part)), None) for part in astray}
    return [
        replace(unit, side=unit.side or sides.get(id(unit))) if id(unit) in sides else unit
        for unit in observations
        if not any(unit is whole and excused(unit, _with_their_parts) for whole in wholes)
    ]


def _without_signs(groups: list[list[Finding]], shown: Shown, lexicon: Lexicon) -> list[list[Finding]]:
    """Leaves out what a sentence tells together with its cause: an effusion WITH A BLUNTED ANGLE is one observation.

    A sign stays one of its own if it is `shown` beside its cause by the other report.
    """
    by_sentence: dict[int, list[Finding]] = {}
    for group in groups:
        for finding in group:
            by_sentence.setdefault(finding.sentence, []).append(finding)

    def is_sign(finding: Finding) -> bool:
        causes = lexicon.concepts[finding.concept].sign_of
        return (
            finding.concept not in lexicon.roles["apart"]
            and any(
                other.concept in causes
                and other.certainty not in DOUBT  # "shift, CONCERNING FOR TENSION"
                and not (
                    finding.side and finding.zones and not other.side and not other.zones
                )  # "a bulla at the LEFT APEX"
                and (finding.concept in lexicon.roles["directed"] or same_side(finding.side, other.side))
                and near(finding.zones, other.zones, lexicon)
                for other in by_sentence[finding.sentence]
            )
            and not _is_among(finding, shown(), lexicon)
        )

    signs = [finding for group in groups if all(map(is_sign, group)) for finding in group]
    for sign in signs:
        excused(sign, _without_signs)
    return [_as_their_signs(group, signs, lexicon) for group in groups if not all(map(is_sign, group))]


def _is_among(finding: Finding, others: Collection[Unit], lexicon: Lexicon) -> bool:
    """Whether another report has a finding and a cause of it as two observations, at that place."""
    causes = lexicon.concepts[finding.concept].sign_of
    return any(unit.head.concept in causes for unit in others) and any(
        finding.concept == unit.head.concept and finding.side == unit.side and near(finding.zones, unit.zones, lexicon)
        for unit in others
    )


def _as_their_signs(group: list[Finding], signs: list[Finding], lexicon: Lexicon) -> list[Finding]:
    """Returns findings with the change and side told of their signs: "NEW opacification, in keeping with collapse"."""
    if not signs:
        return group
    of = {(sign.sentence, cause): sign for sign in signs for cause in lexicon.concepts[sign.concept].sign_of}
    return [_as_its_sign(finding, of.get((finding.sentence, finding.concept)), lexicon) for finding in group]


def _as_its_sign(finding: Finding, sign: Finding | None, lexicon: Lexicon) -> Finding:
    if sign is None or lexicon.concepts[finding.concept].is_device:
        return finding
    change = sign.change if sign.change in MOVING else None
    return replace(finding, change=finding.change or change, side=finding.side or sign.side)


def _committed(group: list[Finding], lexicon: Lexicon) -> tuple[Finding, ...]:
    """Leaves out a describing word that its interpretation replaces ("opacity, consistent with an effusion")."""
    told = next((finding.change for finding in group if finding.change in MOVING), None)
    replaced = [
        finding
        for finding in group
        if any(
            finding.concept in lexicon.roles["replaceable"]
            and other.certainty in ("definite", "probable", "suspected")
            and not related(finding.concept, other.concept, lexicon)
            for other in group
        )
    ]
    if len(replaced) < len(group):
        group = [finding for finding in group if not (finding in replaced and excused(finding, _committed))]
    return tuple(replace(finding, change=told) if told and not finding.change else finding for finding in group)
