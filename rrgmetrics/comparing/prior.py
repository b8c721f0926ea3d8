"""What the report before supports of a candidate's comparisons.

A reference need not compare, and a candidate that does has made a comparison up (E) as far as the two reports tell.
Where the report of the study before is known (`Context.prior`), a comparison that follows from it and from the
reference is none that was made up: it is left out of what the candidate claims. A finding that the reference compares
itself stays as it is.

    new        the prior report does not have the finding
    stable     it has the finding, and neither degree nor size differs from the reference's
    worse      its degree or size is below that of the reference
    better     its degree or size is above that of the reference
    resolved   it has the finding, and the reference has it not
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rrgmetrics.comparing.decisions import excused
from rrgmetrics.reading.engine import read_with
from rrgmetrics.reading.lexicon import Lexicon, lexicon_of
from rrgmetrics.reading.model import Finding, Reading
from rrgmetrics.reading.places import at_one_place
from rrgmetrics.reading.similarity import related


def without_supported(reference: Reading, candidate: Reading, prior: str) -> Reading:
    """Returns a candidate's reading without the comparisons that the report before supports.

    Args:
        reference: Reading of the radiologist's report.
        candidate: Reading of the machine's report, with the same pack.
        prior: The report before; "": none is known.
    """
    lexicon = lexicon_of(reference)
    before = read_with(lexicon, prior) if prior.strip() else None
    if before is None or before.scope.silent:
        return candidate
    findings = tuple(
        replace(finding, change=None)
        if _is_supported(finding, reference, before, lexicon) and excused(finding, without_supported)
        else finding
        for finding in candidate.findings
    )
    compared = candidate.compared
    if not _compares(reference):
        left = {finding.change for finding in findings}
        settled = {finding.change for finding in candidate.findings} - left
        no_change = _is_unchanged(reference, before, lexicon)
        supported = {"earlier", "named", *settled, *(("stable",) if no_change and "stable" not in left else ())}
        compared = tuple(each for each in compared if each.kind not in supported or each.organ is not None)
    return replace(candidate, findings=findings, compared=compared)


def _compares(reading: Reading) -> bool:
    return bool(reading.compared) or any(finding.change for finding in reading.findings)


def _is_supported(finding: Finding, reference: Reading, before: Reading, lexicon: Lexicon) -> bool:
    if not finding.change:
        return False
    now, earlier = (_shown(finding, reading.abnormal, lexicon) for reading in (reference, before))
    spoken = _shown(finding, reference.findings, lexicon)
    if any(other.change for other in spoken):
        return False
    if finding.change == "new":
        return not earlier
    if finding.change == "resolved":
        return bool(earlier) and not now
    if not earlier:
        return False
    steps = {"stable": 0, "worse": 1, "better": -1}
    course = _course(earlier, now or [finding])
    if course is None:
        return finding.change == "stable"
    return course == steps.get(finding.change)


def _shown(finding: Finding, others: Sequence[Finding], lexicon: Lexicon) -> list[Finding]:
    """Those of a report's findings that show the same at the same place."""
    return [
        other
        for other in others
        if related(other.concept, finding.concept, lexicon) and at_one_place(other, finding, lexicon)
    ]


def _course(earlier: Sequence[Finding], now: Sequence[Finding]) -> int | None:
    """Whether a finding is more (1), less (−1) or the same (0) in degree or size; None where both do not say."""
    for measure in (_size, _degree):
        before, after = measure(earlier), measure(now)
        if before is not None and after is not None:
            return (after > before) - (after < before)
    return None


def _size(findings: Sequence[Finding]) -> float | None:
    return max((size for finding in findings for size in finding.measurements_mm), default=None)


def _degree(findings: Sequence[Finding]) -> float | None:
    return max((finding.severity for finding in findings if finding.severity is not None), default=None)


def _is_unchanged(reference: Reading, before: Reading, lexicon: Lexicon) -> bool:
    """Whether both reports have the same findings, none of another degree or size."""
    for one, other in ((reference, before), (before, reference)):
        for finding in one.abnormal:
            same = _shown(finding, other.abnormal, lexicon)
            if not same or _course([finding], same):
                return False
    return True
