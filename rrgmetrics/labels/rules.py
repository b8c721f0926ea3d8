"""Rules that say which label of a published label set a finding means; kept as data (`srr.yaml`, `ct.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rrgmetrics.comparing.significance import position_of
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.model import Finding, Reading

CONDITIONS = ("morphology", "zones", "sides", "acuity", "position", "words", "normal", "explained_by")
PATHOLOGICAL_NODE_MM = 10.0  # short axis from which on a node is enlarged


class Rule(NamedTuple):
    """One row of a table.

    Attributes:
        labels: What it gives, by kind (`leaf`, `upper`, `label`, `status`).
        conditions: What the finding must have, by attribute: one of the values.
    """

    labels: Mapping[str, str]
    conditions: Mapping[str, tuple[str, ...]]


RulesByConcept = Mapping[str, Sequence[Rule]]


def index_rules(rows: Sequence[Mapping[str, Any]], lexicon: Lexicon) -> RulesByConcept:
    """Returns for each concept the rules that name it or a concept above it, in the order of the table."""
    indexed: dict[str, list[Rule]] = {key: [] for key in lexicon.concepts}
    for row in rows:
        rule = Rule(
            {key: value for key, value in row.items() if key != "concepts" and key not in CONDITIONS},
            {key: tuple(row[key]) for key in CONDITIONS if key in row},
        )
        named = set(row["concepts"])
        for key, concept in lexicon.concepts.items():
            if not named.isdisjoint((key, *concept.ancestors)):
                indexed[key].append(rule)
    return indexed


def find_rule(finding: Finding, reading: Reading, rules: RulesByConcept, lexicon: Lexicon) -> Rule | None:
    """Returns the first rule that fits a finding of a reading."""
    for rule in rules.get(finding.concept, ()):
        if all(_fits(key, values, finding, reading, lexicon) for key, values in rule.conditions.items()):
            return rule
    return None


def _fits(key: str, values: tuple[str, ...], finding: Finding, reading: Reading, lexicon: Lexicon) -> bool:
    if key == "words":
        words = reading.evidence(finding).lower()
        return any(value in words for value in values)
    if key == "normal":
        largest = max(finding.measurements_mm, default=0.0)
        return finding.assertion == "absent" and largest > 0 and (finding.normal or largest < PATHOLOGICAL_NODE_MM)
    if key == "explained_by":
        others = {each.concept for each in reading.findings if each.observation == finding.observation}
        others.discard(finding.concept)
        named = [not {other, *lexicon.concepts[other].ancestors}.isdisjoint(values) for other in others]
        return bool(named) and all(named)
    has = {
        "morphology": finding.morphology,
        "zones": finding.zones,
        "sides": {finding.side},
        "acuity": {finding.acuity},
        "position": {position_of(finding, lexicon)},
    }[key]
    return not has.isdisjoint(values)
