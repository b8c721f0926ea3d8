"""Normal statements of a report ("the lungs are clear"), and whether the other report agrees."""

from __future__ import annotations

from rrgmetrics.reader import Reading
from rrgmetrics.reader.lexicon import load


def normal_statements(reading: Reading, other: Reading) -> dict[str, bool]:
    """Each normal statement in the words of the report → whether the other denies all that it denies."""
    concepts = load().concepts
    denied = {finding.concept for finding in other.findings if finding.assertion == "absent"}
    statements: dict[str, bool] = {}
    for finding in reading.findings:
        if finding.assertion == "absent":
            words = reading.evidence(finding) if finding.normal else f"no {reading.evidence(finding)}"
            agrees = finding.concept in denied or not denied.isdisjoint(concepts[finding.concept].ancestors)
            statements[words] = agrees and statements.get(words, True)
    return statements
