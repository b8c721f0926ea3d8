"""Normal statements of a report ("the lungs are clear"), and whether they hold beside the other report.

Silence about a finding means that it is not there, so a report need not repeat what the other denies: a statement
holds unless the other report affirms, or only suspects, what it denies. Repeating normal statements then earns
nothing, and denying what is there costs. Beside a report without any statement none holds.
"""

from __future__ import annotations

from collections.abc import Collection

from rrgmetrics.backends.compared_pairs import Compared
from rrgmetrics.comparing.penalties import silent
from rrgmetrics.reading import Finding, Reading
from rrgmetrics.reading.lexicon import lexicon_of
from rrgmetrics.reading.places import near, same_side


def normal_statements(reading: Reading, other: Reading) -> dict[str, bool]:
    """Returns, by normal statement in the words of the report, whether it holds beside the other report."""
    lexicon = lexicon_of(other)
    own = {finding.concept for finding in reading.abnormal}  # "opacity at the base, the lungs are otherwise clear"
    named = [finding for finding in other.abnormal if finding.concept not in own]
    mute = silent(other)

    def holds(denial: Finding) -> bool:
        return not mute and not any(
            denial.concept in (finding.concept, *lexicon.concepts[finding.concept].ancestors)
            and same_side(finding.side, denial.side)
            and near(finding.zones, denial.zones, lexicon)
            for finding in named
        )

    statements: dict[str, bool] = {}
    for finding in reading.findings:
        if finding.assertion == "absent":
            words = reading.evidence(finding) if finding.normal else f"no {reading.evidence(finding)}"
            statements[words] = holds(finding) and statements.get(words, True)
    return statements


def matched_words(compared: Compared, without: Collection[str] = ()) -> tuple[str, ...]:
    """What the candidate has of the reference, in its words: each finding, and what is normal as one if all holds.

    Args:
        compared: The comparison.
        without: Concepts that are no finding to match.
    """
    reference, comparison = compared.reference, compared.comparison
    heads = [comparison.references[index].head for index in sorted({link.reference for link in comparison.links})]
    matched = [reference.evidence(head) for head in heads if head.concept not in without]
    statements = normal_statements(reference, compared.candidate)
    if statements and all(statements.values()):
        matched.append("; ".join(statements))
    return tuple(matched)
