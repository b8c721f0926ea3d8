"""A reading → the labels of SRR-BERT (Delbrouck et al. 2025, ACL): 54 leaves or 24 upper labels, and No Finding.

A report has a label if any of its findings means it (`lexicon/*/srr.yaml`); with statuses it is Present, Uncertain or
Absent, and may be more than one of them, as the union over sentences makes it in the published metric. An upper label
holds what stands directly under it. What a normal statement denies without naming it ("the lungs are clear" denies an
opacity) gives no label. No Finding: the report denies something, and nothing is present or uncertain.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from rrgmetrics.labels.rules import RulesByConcept, find_rule, index_rules
from rrgmetrics.reading.lexicon import Lexicon, lexicon_of, load, load_file, per_lexicon
from rrgmetrics.reading.model import Finding, Reading

Level = Literal["leaves", "upper"]
STATUSES = ("Present", "Uncertain", "Absent")
NO_FINDING = "No Finding"


class SrrTable(NamedTuple):
    """What `lexicon/*/srr.yaml` says.

    Attributes:
        names: Level → labels without statuses and without No Finding, in the order of the published heads.
        no_finding: Level → place of No Finding among the heads without statuses.
        above: Leaf → the upper label it stands under.
        rules: Concept → its rules.
        groups: File of concepts → upper label of what no rule fits.
    """

    names: dict[Level, tuple[str, ...]]
    no_finding: dict[Level, int]
    above: dict[str, str]
    rules: RulesByConcept
    groups: dict[str, str]


@per_lexicon
def load_srr(lexicon: Lexicon) -> SrrTable:
    """The table of a lexicon."""
    table: dict[str, Any] = load_file("srr", lexicon.key)
    return SrrTable(
        names={"leaves": tuple(table["leaves"]), "upper": tuple(table["uppers"])},
        no_finding={"leaves": table["no_finding"]["leaves"], "upper": table["no_finding"]["uppers"]},
        above=table["leaves"],
        rules=index_rules(table["rules"], lexicon),
        groups=table["groups"],
    )


def label_names(level: Level, statuses: bool) -> tuple[str, ...]:
    """Returns the labels in the order of the published checkpoint's heads.

    Example:
        >>> [len(label_names(level, statuses)) for level in ("leaves", "upper") for statuses in (True, False)]
        [163, 55, 73, 25]
    """
    table = load_srr(load())
    names = table.names[level]
    if statuses:
        return (*(f"{name} ({status})" for status in STATUSES for name in names), NO_FINDING)
    place = table.no_finding[level]
    return (*names[:place], NO_FINDING, *names[place:])


def srr_labels(reading: Reading, level: Level, statuses: bool) -> frozenset[str]:
    """Returns the labels of a report; without statuses those that are present or uncertain. None for an empty report.

    Example:
        >>> from rrgmetrics.reading import read
        >>> sorted(srr_labels(read("Possible pneumonia. No effusion."), "leaves", True))
        ['Pneumonia (Uncertain)', 'Simple pleural effusion (Absent)']
        >>> sorted(srr_labels(read("Small pneumothorax."), "upper", False))
        ['Pneumothorax']
    """
    lexicon = lexicon_of(reading)
    concepts = lexicon.concepts
    counted = [finding for finding in reading.findings if concepts[finding.concept].counts]
    labels = {label for finding in counted if not finding.normal for label in _labels(finding, reading, level, lexicon)}
    denied = any(finding.assertion == "absent" for finding in reading.findings)
    if denied and all(finding.assertion == "absent" for finding in counted):
        labels.add((NO_FINDING, ""))
    if statuses:
        return frozenset(f"{name} ({status})" if status else name for name, status in labels)
    return frozenset(name for name, status in labels if status != "Absent")


def _labels(finding: Finding, reading: Reading, level: Level, lexicon: Lexicon) -> list[tuple[str, str]]:
    """Returns the labels of one finding, each with its status."""
    table = load_srr(lexicon)
    rule = find_rule(finding, reading, table.rules, lexicon)
    given = rule.labels if rule else {}
    leaf, status = given.get("leaf"), finding.assertion.capitalize()
    if level == "leaves":
        return [(leaf, given.get("status", status).capitalize())] if leaf else []
    upper = table.above[leaf] if leaf else given.get("upper", table.groups.get(lexicon.concepts[finding.concept].group))
    return [(upper, status)] if upper else []
