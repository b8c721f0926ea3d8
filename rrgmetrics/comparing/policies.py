"""Which errors are clinically significant: radiologists follow one of two policies, and each is a rule here.

`management`: an error is significant if it could change what is done for the patient. The finding is urgent or
actionable in the patient's context (`lexicon/*/context.yaml`), and the difference is more than wording and observer
variation: a severity, size or age that is treated otherwise; a course turned round, not one left out, for then the
finding itself is still acted on, unless it is urgent. A wrong side always is. `report`: every error is significant,
unless its finding is benign or expected, or the difference is one of wording. The radiologists of RadPref call about
half of all errors significant, as under the first; the one of RadEval's expert data 86%, as under the second.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

from rrgmetrics.comparing.claims import without_excuse
from rrgmetrics.comparing.decisions import became, decision
from rrgmetrics.comparing.model import SIGNIFICANT, Attribute, FindingError, ReportComparison, TracedError
from rrgmetrics.comparing.significance import significance
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.model import Finding, Significance
from rrgmetrics.reports import Context

Policy = Literal["management", "report"]
MANAGEMENT: Policy = "management"  # the default
_CLASSES: tuple[Significance, ...] = get_args(Significance)  # the gravest first
# Differences that may be of wording alone, or within what two readers differ by: the comparison says which.
_BY_ITSELF: frozenset[Attribute] = frozenset({"location", "device_position"})
_WORDING: frozenset[Attribute] = frozenset({"overinterpretation", "underinterpretation", "measurement", "certainty"})


def in_class(error: FindingError, context: Context, lexicon: Lexicon) -> FindingError:
    """Returns a difference of a matched finding with the class of its finding, significant under `management`.

    The class is the graver of the two that the reports' findings have.
    """
    findings = at_stake(error, lexicon)
    if error.attribute is None or not findings:
        return error
    levels = [significance(finding, context, lexicon) for finding in findings]
    level = min(levels, key=_CLASSES.index)
    if error.attribute in _BY_ITSELF:
        matters = error.significant and level != "benign_expected" and not _another_rib(error, findings)
    elif error.attribute == "temporal":
        matters = level == "urgent" or (level in SIGNIFICANT and error.significant)
    else:
        matters = level in SIGNIFICANT and (error.significant or len({*levels}) > 1)
    what = "the difference matters by itself" if error.significant else "the difference alone does not matter"
    return became(error, replace(error, significance=level, significant=matters), in_class, what)


def at_stake(error: FindingError, lexicon: Lexicon) -> list[Finding]:
    """Returns the findings of an error whose class decides whether it is significant: what one report shows."""
    ref, cand = error.reference, error.candidate
    claimed = cand and without_excuse(cand, [ref] if ref and error.attribute else [], lexicon)
    return [finding for finding in (ref, claimed) if finding and finding.assertion != "absent"]


def _another_rib(error: FindingError, findings: list[Finding]) -> bool:
    """Whether only the numbers of broken ribs differ, which changes nothing."""
    sides = {finding.side for finding in findings} - {None}
    return error.attribute == "location" and findings[0].concept == "rib_fracture" and len(sides) < 2


def is_significant(error: FindingError, policy: Policy) -> bool:
    """Whether an error of a comparison is significant under a policy."""
    unsaid = error.attribute is None and error.reference is not None and error.reference.assertion == "absent"
    if policy == MANAGEMENT or error.attribute in _WORDING or (unsaid and error.candidate is None):
        return error.significant
    return error.significance != "benign_expected"


def under(comparison: ReportComparison, policy: Policy) -> ReportComparison:
    """Returns a comparison whose errors are significant or not under a policy.

    Example:
        >>> from rrgmetrics.comparing import compare
        >>> from rrgmetrics.reading import read
        >>> comparison = compare(read("Left basal atelectasis."), read("Clear lungs."))
        >>> comparison.significant, under(comparison, "report").significant
        (0, 1)
    """
    if policy == MANAGEMENT:
        return comparison
    errors = tuple(replace(error, significant=is_significant(error, policy)) for error in comparison.errors)
    trace = comparison.trace
    if trace:
        ruled = zip(errors, trace.errors, strict=True)
        step = decision(is_significant, f"policy {policy}")
        trace = replace(trace, errors=tuple(TracedError(error, (*made.decisions, step)) for error, made in ruled))
    return replace(comparison, errors=errors, trace=trace)
