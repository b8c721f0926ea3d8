"""What a candidate report pays for besides its findings: contradictions, hedges, unread sentences, silence.

Matching findings alone can be gamed: a report may say both that there is a pneumothorax and that there is none, name
every disease as one that "cannot be excluded", or say nothing that anybody can read. Each of these is an error here,
and costs nothing where the reference does the same.

Silence about a finding means that it is not there, in a report; it does so for what a report denies, too, so that
repeating normal statements earns nothing. But where nothing is reported at all, silence means nothing: every sentence
of the reference is then missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rrgmetrics.comparing.claims import without_excuse
from rrgmetrics.comparing.decisions import decided
from rrgmetrics.comparing.denials import denials
from rrgmetrics.comparing.model import SIGNIFICANT, ErrorCategory, FindingError
from rrgmetrics.comparing.significance import significance
from rrgmetrics.reading.lexicon import Lexicon, lexicon_of
from rrgmetrics.reading.model import Finding, Reading, Span
from rrgmetrics.reading.places import at_one_place
from rrgmetrics.reading.scope import unread_spans
from rrgmetrics.reading.similarity import related
from rrgmetrics.reports import Context

QUOTED = 60  # characters of a sentence in an error's words


class Contradiction(NamedTuple):
    """A finding that one report both affirms and denies."""

    affirmed: Finding
    denied: Finding


def penalties(reference: Reading, candidate: Reading, context: Context) -> Iterator[FindingError]:
    """Yields the errors of a candidate that are not about single findings.

    Args:
        reference: Reading of the radiologist's report.
        candidate: Reading of the machine's report.
        context: age, sex and indication of the patient, as far as they are known.

    Yields:
        FindingError: A for what contradicts, hedges or cannot be read, B for what a silent report leaves unsaid.
    """
    lexicon = lexicon_of(reference)
    for error in _contradictory(reference, candidate, context, lexicon):
        yield decided(error, _contradictory)
    for error in _hedged(reference, candidate, lexicon):
        yield decided(error, _hedged)
    for error in _unread(reference, candidate):
        yield decided(error, _unread)
    if silent(candidate) and not silent(reference):
        for error in _unsaid(reference):
            yield decided(error, _unsaid)


def silent(reading: Reading) -> bool:
    """Whether no sentence of a report that can be understood says anything of the patient."""
    return reading.scope.silent


def contradictions(reading: Reading, lexicon: Lexicon) -> list[Contradiction]:
    """Returns what a report both affirms and denies, of the same concept at the same place.

    A denial that is narrower than the finding contradicts nothing: "no large pneumothorax", "no new effusion", "no
    acute fracture", "not on the left"; neither does one of what is borderline.
    """
    denied = denials(reading, lexicon)
    contradicting = []
    for finding in reading.findings:
        if finding.assertion == "present" and finding.severity != 0 and lexicon.concepts[finding.concept].counts:
            against = [other for other in denied.get(finding.concept, ()) if at_one_place(finding, other, lexicon)]
            contradicting += [Contradiction(finding, other) for other in against[:1]]
    return contradicting


def _contradictory(
    reference: Reading, candidate: Reading, context: Context, lexicon: Lexicon
) -> Iterator[FindingError]:
    """What both reports state and the candidate denies as well; what only it states is a false finding already."""
    own = contradictions(candidate, lexicon)
    if not own:
        return
    theirs = {contradiction.affirmed.concept for contradiction in contradictions(reference, lexicon)}
    stated = {finding.concept: finding for finding in reversed(reference.abnormal)}
    for affirmed, denied in own:
        if affirmed.concept in theirs or affirmed.concept not in stated:
            continue
        level = significance(without_excuse(affirmed, (), lexicon), context, lexicon)
        yield FindingError(
            category=ErrorCategory.MISSING_FINDING,
            significant=level in SIGNIFICANT,
            sentence=f"The candidate both reports and denies {lexicon.concepts[affirmed.concept].name}.",
            reference=stated[affirmed.concept],
            candidate=affirmed,
            candidate_spans=(*affirmed.spans, *denied.spans),
            significance=level,
            contradicts=True,
        )


def _hedged(reference: Reading, candidate: Reading, lexicon: Lexicon) -> Iterator[FindingError]:
    """What "cannot be excluded" though neither report shows anything that it could be: more images would follow."""
    hedges = [hedge for hedge in candidate.abnormal if hedge.certainty == "not_excluded"]
    if not hedges:
        return
    shown = [finding for finding in (*candidate.abnormal, *reference.abnormal) if finding.certainty != "not_excluded"]
    raised = {finding.concept for finding in reference.abnormal}
    pictures = {finding.observation for finding in candidate.abnormal if finding.certainty != "not_excluded"}
    for hedge in {hedge.concept: hedge for hedge in hedges}.values():
        concept = lexicon.concepts[hedge.concept]
        explains = any(
            related(hedge.concept, finding.concept, lexicon) or finding.concept in concept.sign_of for finding in shown
        )
        if concept.counts and hedge.concept not in raised and hedge.observation not in pictures and not explains:
            matters = concept.significance in SIGNIFICANT
            yield FindingError(
                category=ErrorCategory.FALSE_FINDING,
                significant=matters,
                sentence=(
                    f"Only the candidate calls {concept.name} possible, and no finding of either report suggests it."
                ),
                candidate=hedge,
                candidate_spans=hedge.spans,
                significance="actionable_not_urgent" if matters else "not_actionable_not_urgent",
            )


def _unread(reference: Reading, candidate: Reading) -> Iterator[FindingError]:
    """Sentences of the candidate that cannot be read."""
    for span in unread_spans(reference, candidate):
        yield FindingError(
            category=ErrorCategory.FALSE_FINDING,
            significant=True,
            sentence=f"The candidate has an unreadable sentence: {_quoted(candidate, span)}.",
            candidate_spans=(span,),
            significance="actionable_not_urgent",
        )


def _unsaid(reference: Reading) -> Iterator[FindingError]:
    """Sentences of the reference that only deny, each once: its findings are missing already."""
    stated = {finding.sentence for finding in reference.abnormal}
    denied = {finding.sentence: finding for finding in reversed(reference.findings) if finding.sentence not in stated}
    for finding in reversed(denied.values()):
        start = finding.spans[0].start
        around = (span for span in reference.scope.statements if span.start <= start < span.end)
        said = next(around, finding.spans[0])  # with the "no", which the finding's own words lack
        yield FindingError(
            category=ErrorCategory.MISSING_FINDING,
            significant=False,
            sentence=f"The candidate has no statement; the reference: {_quoted(reference, said)}.",
            reference=finding,
            reference_spans=finding.spans,
            significance="not_actionable_not_urgent",
        )


def _quoted(reading: Reading, span: Span) -> str:
    words = " ".join(reading.text[span.start : span.end].split()).rstrip(".")
    return f"“{words if len(words) <= QUOTED else words[: QUOTED - 1] + '…'}”"
