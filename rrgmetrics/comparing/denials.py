"""What a report denies by its name: "no effusion"; not "no large effusion", nor what a normal organ implies."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.model import BESIDES, Finding, Reading
from rrgmetrics.reading.places import at_one_place


def denials(reading: Reading, lexicon: Lexicon) -> dict[str, list[Finding]]:
    """Returns what a report denies outright, by concept.

    A denial that says more denies less: "no large pneumothorax", "no new effusion", "no acute fracture".
    """
    denied: dict[str, list[Finding]] = {}
    for finding in reading.findings:
        loose = finding.observation == BESIDES or (finding.normal and finding.concept in lexicon.roles["otherwise"])
        if finding.assertion == "absent" and not loose and not _narrow(finding):
            denied.setdefault(finding.concept, []).append(finding)
    return denied


def _narrow(denial: Finding) -> bool:
    return any(
        (
            denial.severity is not None,
            denial.acuity,
            denial.change,
            denial.morphology,
            denial.measurements_mm,
            denial.count,
            denial.tip,
            denial.position,
        )
    )


def by_name(
    finding: Finding, names: Collection[str], denied: Mapping[str, Sequence[Finding]], lexicon: Lexicon
) -> Iterator[Finding]:
    """Yields what denies a finding at its place under one of these names; not what a normal organ implies.

    Args:
        finding: Of one report.
        names: Concepts.
        denied: What the other report denies (`denials`).
        lexicon: The lexicon in use.
    """
    for name in names:
        for denial in denied.get(name, ()):
            if not denial.normal and at_one_place(finding, denial, lexicon):
                yield denial
