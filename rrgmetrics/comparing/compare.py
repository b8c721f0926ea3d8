"""Two readings → matched findings and errors.

Of the observations of both reports (`observations`) those that show the same are set beside each other
(`counterparts`); what is left over is a false (A) or a missing (B) finding. The attributes of matched findings are
compared: location and device position give C; severity, measurement, certainty, descriptor, over- and
underinterpretation give D; temporal gives E (a comparison that the reference does not make) or F (a change that the
candidate leaves out). What the candidate leaves out of a finding that it has is a part of an error (`left_out`). What
it pays for besides its findings is in `penalties`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from rrgmetrics.comparing.alignment import set_beside
from rrgmetrics.comparing.claims import as_claimed, without_excuse
from rrgmetrics.comparing.decisions import became, decided, excused, record
from rrgmetrics.comparing.denials import by_name, denials
from rrgmetrics.comparing.differences import (
    attribute_errors,
    certainty_errors,
    changed_in_picture,
    comparison_errors,
    denied_change,
    named_as_well,
    severity_steps,
    suspicion_errors,
    told_beside,
    told_of_all,
)
from rrgmetrics.comparing.model import (
    INTERPRETED,
    SIGNIFICANT,
    ErrorCategory,
    FindingError,
    Match,
    ReportComparison,
    Unit,
)
from rrgmetrics.comparing.omissions import left_out_errors
from rrgmetrics.comparing.penalties import penalties
from rrgmetrics.comparing.policies import MANAGEMENT, Policy, in_class, under
from rrgmetrics.comparing.significance import significance
from rrgmetrics.comparing.wording import ARROW, heart_ratio, measured, phrase_with_words
from rrgmetrics.errors import InputError
from rrgmetrics.reading.engine import read_with
from rrgmetrics.reading.lexicon import AUTO, Lexicon, all_packs, lexicon_of
from rrgmetrics.reading.model import Finding, Reading
from rrgmetrics.reading.places import near, same_side
from rrgmetrics.reading.reader import Reader
from rrgmetrics.reading.scope import out_of_scope
from rrgmetrics.reading.similarity import related
from rrgmetrics.reports import Context, check_report, parse_context
from rrgmetrics.utils.text_format import capitalized

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")
_WITH = re.compile(r"[\s,]*with\s+(?:\w+\s+){0,3}", re.IGNORECASE)  # between a finding and what goes with it


def compare(
    reference: Reading,
    candidate: Reading,
    context: Context | Mapping[str, Any] | None = None,
    *,
    trace: bool = False,
) -> ReportComparison:
    """Compares a candidate's reading with the reference's.

    Args:
        reference: Reading of the radiologist's report.
        candidate: Reading of the machine's report; it is read anew if it was read with another pack.
        context: `age`, `sex` and `indication` of the patient, which decide how much a finding matters; or None.
        trace: Also record what each step decided: `print(comparison.trace)`.

    Returns:
        ReportComparison: matches, errors, and counts per category; no errors for two readings of one text.

    Example:
        >>> from rrgmetrics.reading import read
        >>> comparison = compare(read("Mild cardiomegaly. Clear lungs."), read("Normal heart. Right apical mass."))
        >>> for error in comparison.errors:
        ...     print(error.category.letter, error.sentence)
        A Only the candidate reports: right apical mass; the reference denies it.
        B Only the reference reports: mild cardiomegaly; the candidate denies it.
    """
    lexicon = lexicon_of(reference)
    candidate = _read_alike(candidate, lexicon)
    known = context if isinstance(context, Context) else parse_context(context)
    if not trace:
        return _compare(reference, as_claimed(reference, candidate, known), known, lexicon)
    from rrgmetrics.comparing.trace import make_trace

    with record() as decisions:
        claimed = as_claimed(reference, candidate, known)
        comparison = _compare(reference, claimed, known, lexicon)
    return replace(comparison, trace=make_trace(comparison, decisions, (reference, claimed), known))


def compare_as_scored(
    reference: Reading,
    candidate: Reading,
    context: Context | Mapping[str, Any] | None = None,
    *,
    trace: bool = False,
) -> ReportComparison:
    """Compares as metrics score: a candidate of another kind counts as an empty report where that is worse.

    Args:
        reference: As in `compare`.
        candidate: As in `compare`.
        context: As in `compare`.
        trace: As in `compare`.

    Returns:
        ReportComparison: `unread_candidate` gives the reason if the candidate is of another kind.

    Example:
        >>> from rrgmetrics.reading import read
        >>> comparison = compare_as_scored(read("Mild cardiomegaly."), read("Corazón de tamaño normal."))
        >>> comparison.unread_candidate, [error.sentence for error in comparison.errors]
        ('looks Spanish', ['Only the reference reports: mild cardiomegaly.'])
    """
    lexicon = lexicon_of(reference)
    candidate = _read_alike(candidate, lexicon)
    comparison = compare(reference, candidate, context, trace=trace)
    why = out_of_scope(candidate.scope, all_packs(reference.folder)[reference.pack].title)
    if comparison.out_of_scope or not why:
        return comparison
    silent = compare(reference, read_with(lexicon, ""), context, trace=trace)
    return replace(silent if silent.cost() > comparison.cost() else comparison, unread_candidate=why)


def _read_alike(candidate: Reading, lexicon: Lexicon) -> Reading:
    """Returns a candidate's reading by the reference's pack."""
    return candidate if (candidate.pack, candidate.folder) == lexicon.key else read_with(lexicon, candidate.text)


def _compare(reference: Reading, candidate: Reading, known: Context, lexicon: Lexicon) -> ReportComparison:
    """Compares two readings by one pack, the candidate's as it claims them."""
    refs, cands, pairs, links, missing, false = set_beside(reference, candidate)
    texts = reference, candidate
    errors: list[FindingError] = []
    for unit in false:
        doubt = _not_excluded(unit, reference, lexicon)
        left_over = _left_over(unit, texts, ErrorCategory.FALSE_FINDING, known, lexicon)
        errors.extend(_doubtful(unit, certainty_errors(doubt, unit, lexicon)) if doubt else [left_over])
    for unit in missing:
        doubt = _not_excluded(unit, candidate, lexicon)
        left_over = _left_over(unit, texts, ErrorCategory.MISSING_FINDING, known, lexicon)
        errors.extend(_doubtful(unit, certainty_errors(unit, doubt, lexicon)) if doubt else [left_over])
    refs_of, cands_of = defaultdict[int, list[Unit]](list), defaultdict[int, list[Unit]](list)
    for link in links:
        refs_of[link.candidate].append(refs[link.reference])
        cands_of[link.reference].append(cands[link.candidate])
    for r, c, _ in pairs:
        ref = _with_other_side(refs[r], refs_of[c], cands[c], lexicon)
        cand = _with_other_side(cands[c], cands_of[r], refs[r], lexicon)
        denied = [
            decided(_left_over(unit, texts, category, known, lexicon), _named_though_denied)
            for one, shown, other, category in (
                (cand, ref, reference, ErrorCategory.FALSE_FINDING),
                (ref, cand, candidate, ErrorCategory.MISSING_FINDING),
            )
            for unit in _named_though_denied(one, shown, other, lexicon)
        ]
        errors.extend(
            error
            for error in attribute_errors(ref, cand, lexicon)
            if not (denied and error.attribute in INTERPRETED and excused(error, _named_though_denied))
            and not (told_of_all(error, reference, candidate) and excused(error, told_of_all))
            and not (named_as_well(error, reference, candidate, lexicon) and excused(error, named_as_well))
        )
        errors.extend(denied)
        errors.extend(suspicion_errors(ref, cand, texts, lexicon))
    spoiled = {(error.reference.observation, error.category) for error in errors if error.reference and error.attribute}
    vague = list(left_out_errors(refs, cands, links, spoiled, candidate, lexicon))
    errors = [
        error
        for error in errors
        if not (told_beside(error, reference, candidate) and excused(error, told_beside))
        and not (changed_in_picture(error, reference, candidate, lexicon) and excused(error, changed_in_picture))
    ]
    errors = [_turned(error, lexicon) for error in errors]
    errors.extend(comparison_errors(reference, candidate, lexicon))
    if not any(error.attribute == "temporal" for error in errors):
        errors.extend(denied_change(reference, candidate, missing))
    errors = [
        in_class(error, known, lexicon)
        for error in (*_one_wrong_side(_told_once(errors, reference, candidate), reference, candidate), *vague)
    ]
    paid = tuple(penalties(reference, candidate, known))
    errors.extend(paid)
    counts = Counter(error.category for error in errors if not error.is_left_out)
    return ReportComparison(
        matches=tuple(Match(refs[r].head, cands[c].head, s) for r, c, s in pairs),
        errors=tuple(errors),
        agreed_normals=_agreed_normals(reference, candidate),
        counts={category: counts[category] for category in ErrorCategory},
        references=tuple(refs),
        candidates=tuple(cands),
        links=tuple(links),
        penalties=paid,
        out_of_scope=out_of_scope(reference.scope, all_packs(reference.folder)[reference.pack].title),
        pack=reference.pack,
        folder=reference.folder,
    )


def _with_named_reports(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Makes a call without the arguments' names an InputError, which says how to name them."""

    @wraps(function)
    def called(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        if args:
            raise InputError(
                "explain takes the reports by name, as their order matters: explain(reference=..., candidate=...), "
                "the radiologist's report and the machine's."
            )
        return function(*args, **kwargs)

    return called


@_with_named_reports
def explain(
    *,
    candidate: str,
    reference: str,
    context: Context | Mapping[str, Any] | None = None,
    policy: Policy = MANAGEMENT,
    modality: str = AUTO,
    trace: bool = False,
) -> ReportComparison:
    """Compares two reports and returns the errors, described in words and with their evidence in both texts.

    Args:
        candidate: The machine's report.
        reference: The radiologist's report.
        context: `age`, `sex` and `indication` of the patient, or None.
        policy: Which errors are significant: those that could change management (`management`), or all except those of
            benign findings and of wording (`report`).
        modality: The kind of both reports: `chest_xray`, `chest_ct`, ...; `auto`: the kind of the reference.
        trace: As in `compare`.

    Returns:
        ReportComparison: `errors`, each with its category, a one-sentence description and its evidence spans in both
        texts. A notebook shows both reports with the errors in colour. If the kind of the reference is not supported,
        `out_of_scope` gives the reason and there are no errors. If that of the candidate is not, `unread_candidate`
        gives the reason, and the candidate counts as an empty report where that is worse.

    Raises:
        InputError: An invalid report or context.

    Example:
        >>> for error in explain(candidate="Small left effusion.", reference="Small right effusion.").errors:
        ...     print(error.category.letter, error.sentence)
        C Pleural effusion, side: right → left.
    """
    check_report(candidate, "candidate")
    check_report(reference, "reference")
    first = Reader(modality).read(reference)
    comparison = compare_as_scored(first, read_with(lexicon_of(first), candidate), context, trace=trace)
    if why := comparison.out_of_scope:  # half of such a text is read, and nothing can be said of it
        return ReportComparison((), (), out_of_scope=why, pack=comparison.pack, texts=(reference, candidate))
    return under(replace(comparison, texts=(reference, candidate)), policy)


def _not_excluded(unit: Unit, other: Reading, lexicon: Lexicon) -> Unit | None:
    """Returns the observation that the other report only cannot exclude."""
    for finding in other.findings:
        if finding.certainty == "not_excluded" and finding.assertion != "absent":
            doubt = Unit(finding, (finding,), finding.side, finding.zones)
            if related(unit.head.concept, finding.concept, lexicon) and same_side(unit.side, finding.side):
                return doubt
    return None


def _doubtful(unit: Unit, errors: list[FindingError]) -> list[FindingError]:
    """Returns the errors of certainty of an observation that the other report cannot exclude; none excuses it."""
    if not errors:
        excused(unit, _not_excluded)
    return [decided(error, _not_excluded) for error in errors]


def _with_other_side(unit: Unit, linked: list[Unit], other: Unit, lexicon: Lexicon) -> Unit:
    """Returns an observation as bilateral if the one on the other side shows the same: "right and left effusions".

    It is as severe as the one of its sides that fits the other report's least, or where that one's is worse.
    """
    beside = [each for each in linked if each.head.concept not in lexicon.roles["directed"]]
    if other.side in ("left", "right") or not {"left", "right"} <= {each.side for each in beside}:
        return unit
    worse = [each for each in beside if each.side == other.head.worse_side]
    told = [each for each in worse or beside if each.head.severity is not None]
    step = max(told, key=lambda each: severity_steps(other, each), default=unit).head.severity
    readings = tuple(replace(finding, severity=step) for finding in unit.readings)
    zones = unit.zones.union(*(each.zones for each in beside))
    return replace(unit, head=replace(unit.head, severity=step), readings=readings, side="bilateral", zones=zones)


def _left_over(
    unit: Unit, texts: tuple[Reading, Reading], category: ErrorCategory, context: Context, lexicon: Lexicon
) -> FindingError:
    """Returns the error for a finding that only one of `texts` has, the reference or the candidate."""
    false = category is ErrorCategory.FALSE_FINDING
    other, own = texts if false else texts[::-1]
    denial = _denial(unit, other, lexicon)
    head = without_excuse(unit.head, (), lexicon) if false else unit.head
    level = significance(head, context, lexicon)
    who, whom = ("candidate", "reference") if false else ("reference", "candidate")
    spans = denial.spans if denial else ()
    difference = f"Only the {who} reports: {phrase_with_words(unit, own.text, lexicon)}"
    sized = denial is not None and bool(denial.measurements_mm and unit.head.measurements_mm)
    said = f"; the {whom} denies it" if denial else ""
    if denial and sized:
        said = f"; the {whom} measures {measured([min(denial.measurements_mm)], denial.concept, lexicon)}"
    ratios = [heart_ratio(own.text, unit.spans), heart_ratio(other.text, spans)][:: -1 if false else 1]
    if all(ratios):
        said += f"; cardiothoracic ratio: {f' {ARROW} '.join(ratios)}"
    error = FindingError(
        category=ErrorCategory.INCORRECT_SEVERITY if sized else category,  # "a node of 15 mm" against "of 8 mm"
        attribute="measurement" if sized else None,
        significant=level in SIGNIFICANT,
        sentence=f"{difference}{said}.",
        reference=denial if false else unit.head,
        candidate=unit.head if false else denial,
        reference_spans=spans if false else unit.spans,
        candidate_spans=unit.spans if false else spans,
        significance=level,
        contradicts=denial is not None,
    )
    return decided(error, _denial if denial else _left_over)


def _denial(unit: Unit, other: Reading, lexicon: Lexicon) -> Finding | None:
    """Returns the statement of the other report that denies an observation."""
    for finding in other.findings:
        if finding.assertion == "absent":
            for mine in unit.readings:
                names = {mine.concept, *lexicon.concepts[mine.concept].ancestors}
                if (
                    finding.concept in names
                    and (finding.side == "bilateral" or same_side(unit.side, finding.side))  # "none on either side"
                    and near(unit.zones, finding.zones, lexicon)
                ):
                    return finding
    return None


def _named_though_denied(unit: Unit, shown: Unit, other: Reading, lexicon: Lexicon) -> list[Unit]:
    """Returns what a report says a picture is where the other, which shows the picture, denies just that.

    "Basal opacity, likely PNEUMONIA" against "basal opacity. No pneumonia". What both name is agreed, and so is a doubt
    that the other turns down in the sentence of the picture: "atelectasis rather than pneumonia".
    """
    if len(unit.readings) == 1:
        return []
    agreed = {x.concept for x in (*shown.readings, *other.findings) if x.assertion != "absent"}
    agreed |= lexicon.roles["replaceable"]
    sentences = {finding.sentence for finding in shown.readings}
    denied = denials(other, lexicon)

    def is_denied(finding: Finding) -> bool:
        by = by_name(finding, {finding.concept} - agreed, denied, lexicon)
        return any(finding.assertion == "present" or denial.sentence not in sentences for denial in by)

    named = [finding for finding in unit.readings if is_denied(finding)]
    return [replace(unit, head=x, readings=(x,)) for x in named] if len(named) < len(unit.readings) else []


def _turned(error: FindingError, lexicon: Lexicon) -> FindingError:
    """Takes what the reference calls resolved, and the candidate unchanged or worse, for a course turned: F, no A."""
    gone, there = error.reference, error.candidate
    if error.category is not ErrorCategory.FALSE_FINDING or gone is None or there is None:
        return error
    if gone.change != "resolved" or there.change not in ("stable", "worse"):
        return error
    finding = lexicon.concepts[there.concept].name
    sentence = f"{capitalized(finding)}, change: {gone.change} {ARROW} {there.change}."
    turned = replace(error, category=ErrorCategory.MISSING_COMPARISON, attribute="temporal", sentence=sentence)
    return became(error, turned, _turned)


def _told_once(errors: list[FindingError], one: Reading, two: Reading) -> list[FindingError]:
    """Leaves out what is said again of the other side: "EFFUSIONS BIGGER, moderate right, small left" is one change."""
    kept: dict[object, FindingError] = {}
    for number, error in enumerate(errors):
        false = error.category is ErrorCategory.FALSE_COMPARISON
        told = error.candidate if false else error.reference
        key: object = number
        if error.attribute == "temporal" and told is not None:
            key = (error.category, told.sentence, told.concept, told.change)
        if kept.setdefault(key, error) is not error:
            excused(error, _told_once)
    return [
        error
        for error in kept.values()
        if not any(_accompanies(error, other, one, two) and excused(error, _accompanies) for other in kept.values())
    ]


def _accompanies(error: FindingError, other: FindingError, reference: Reading, candidate: Reading) -> bool:
    """Whether two findings share one change: "bronchiectasis WITH MUCUS PLUGGING has progressed" is one."""
    if error is other or error.category is not other.category or {error.attribute, other.attribute} != {"temporal"}:
        return False
    false = error.category is ErrorCategory.FALSE_COMPARISON
    told, before = (each.candidate if false else each.reference for each in (error, other))
    if told is None or before is None or told.change != before.change:
        return False
    text = (candidate if false else reference).text
    return any(_WITH.fullmatch(text[a.end : b.start]) for a in before.spans for b in told.spans if a.end < b.start)


def _one_wrong_side(errors: list[FindingError], reference: Reading, candidate: Reading) -> list[FindingError]:
    """Leaves out a wrong side that follows from another one.

    That of a sign with its cause, of what shifts with what shifts too, of "ADJACENT atelectasis" with its effusion.
    """
    lexicon = lexicon_of(reference)
    wrong = [error for error in errors if error.attribute == "location"]
    following = []
    for i, error in enumerate(wrong):
        beside = all(
            finding is not None and _lies_beside(finding, reading, lexicon)
            for finding, reading in ((error.reference, reference), (error.candidate, candidate))
        )
        if any(_moves_with(error, wrong[j], j < i, beside, lexicon) for j in range(len(wrong))):
            following.append(error)
    return [error for error in errors if not (error in following and excused(error, _one_wrong_side))]


def _lies_beside(finding: Finding, reading: Reading, lexicon: Lexicon) -> bool:
    """Whether a finding is said to lie where the one before it does: "right effusion with ADJACENT atelectasis"."""
    before = reading.text[: finding.spans[0].start].lower().split()
    return not lexicon.small.associated.isdisjoint(before[-2:])


def _moves_with(error: FindingError, other: FindingError, before: bool, beside: bool, lexicon: Lexicon) -> bool:
    """Whether another error puts a finding's cause, or what it shifts with or lies beside, on the same wrong side."""
    a, b, x, y = error.reference, other.reference, error.candidate, other.candidate
    if a is None or b is None or x is None or y is None or a.concept == b.concept or a.side == x.side:
        return False
    together = (a.sentence, a.side, x.sentence, x.side) == (b.sentence, b.side, y.sentence, y.side)
    shift = before and {a.concept, b.concept} <= lexicon.roles["directed"]
    return together and (shift or (before and beside) or b.concept in lexicon.concepts[a.concept].sign_of)


def _agreed_normals(reference: Reading, candidate: Reading) -> tuple[str, ...]:
    """Returns the concepts that both reports deny."""
    mine, theirs = (
        dict.fromkeys(finding.concept for finding in reading.findings if finding.assertion == "absent")
        for reading in (reference, candidate)
    )
    return tuple(concept for concept in mine if concept in theirs)
