"""What a candidate's report claims, without what it says to excuse itself.

Which illness is history is for the reference and the request to say. A candidate that tells of one which neither knows
("Pneumonia follow-up.", "Day 2 after CABG.") claims it as it claims any other finding. And it is no smaller mistake to
make up an old fracture than to make up a fracture.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from rrgmetrics.comparing.decisions import excused
from rrgmetrics.comparing.prior import without_supported
from rrgmetrics.comparing.significance import known_concepts
from rrgmetrics.reading.lexicon import Lexicon, lexicon_of
from rrgmetrics.reading.model import Finding, Reading
from rrgmetrics.reading.similarity import related
from rrgmetrics.reports import Context
from rrgmetrics.reports.text import split_sections

EASED = frozenset({"stable", "better"})  # changes that make a finding matter less


def as_claimed(reference: Reading, candidate: Reading, context: Context) -> Reading:
    """Returns a candidate's reading in which it claims what it tells of the patient by itself.

    Its history is a finding unless the reference, its indication or the request tells of that too, or the candidate
    itself says what the film shows of it ("Pneumonia follow-up. No pneumonia."). It is nothing then, and no excuse.

    Args:
        reference: Reading of the radiologist's report.
        candidate: Reading of the machine's report.
        context: What the request knows of the patient counts as history; the report before supports comparisons.

    Returns:
        Reading: without any history.
    """
    if context.prior and candidate.pack == reference.pack:
        candidate = without_supported(reference, candidate, context.prior)
    operations = any(finding.background for finding in candidate.findings)
    if (not candidate.told and not operations) or candidate.pack != reference.pack:
        return candidate
    lexicon = lexicon_of(reference)
    asked = split_sections(reference.text).indication
    known = reference.history | known_concepts(lexicon, context.indication) | known_concepts(lexicon, asked)
    shown = {finding.concept for finding in candidate.findings if not finding.normal}

    def is_among(finding: Finding, concepts: Collection[str]) -> bool:
        return any(related(finding.concept, concept, lexicon) for concept in concepts)

    findings = [
        replace(finding, background=finding.background and (finding.assertion == "absent" or is_among(finding, known)))
        for finding in candidate.findings
    ]
    number = max((finding.observation for finding in findings), default=0) + 1
    claimed = [
        finding
        for finding in candidate.told
        if not (is_among(finding, known | shown) and excused(finding, as_claimed, "both know of it, or it is shown"))
    ]
    findings += [replace(finding, observation=number + i) for i, finding in enumerate(claimed)]
    return replace(candidate, findings=tuple(findings), told=())


def without_excuse(finding: Finding, shown: Iterable[Finding], lexicon: Lexicon) -> Finding:
    """Returns a candidate's finding without the age and the change that make it matter less.

    Args:
        finding: Of the candidate.
        shown: The reference's that show the same; what they say too stays.
        lexicon: The lexicon in use.
    """
    told = list(shown)
    old = finding.acuity in lexicon.old and all(other.acuity not in lexicon.old for other in told)
    eased = finding.change in EASED and all(other.change not in EASED for other in told)
    if not old and not eased:
        return finding
    return replace(finding, acuity=None if old else finding.acuity, change=None if eased else finding.change)
