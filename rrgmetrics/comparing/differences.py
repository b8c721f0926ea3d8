"""What two reports say differently of one finding: its place, severity, size, age, interpretation, change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from rrgmetrics.comparing.decisions import decided, excused
from rrgmetrics.comparing.device_positions import device_error, position
from rrgmetrics.comparing.device_sums import is_sum
from rrgmetrics.comparing.model import DOUBT, INNUMERABLE, SIGNIFICANT, Attribute, ErrorCategory, FindingError, Unit
from rrgmetrics.comparing.wording import difference
from rrgmetrics.reading.dates import told_of_the_study
from rrgmetrics.reading.device_moves import MOVES, is_support_device
from rrgmetrics.reading.levels import number_of, touch
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.lexicon.rules import Opposed, Threshold
from rrgmetrics.reading.model import Finding, Reading
from rrgmetrics.reading.places import at_one_place, beside, near, same_side
from rrgmetrics.reading.similarity import INTERCHANGEABLE, concept_similarity, related

# Steps of severity (lexicon/*/attributes.yaml) that differ by more than observer variation, and that matter.
SEVERITY_STEPS, SEVERITY_SIGNIFICANT_STEPS = 2, 3
SHARE_RATIO, SHARE_POINTS = 2.0, 10.0  # of two estimates in per cent: beyond observer variation if both are reached
GROWING = ("new", "worse")  # what is new or grows is worked up or treated; what shrinks is being treated already
# Measurement thresholds of the CRIMSON rubric (arXiv 2603.06183): nodules, masses; and of tube depth.
SMALL_NODULE_MM, SMALL_NODULE_DIFFERENCE_MM, NODULE_DIFFERENCE_MM = 6.0, 2.0, 4.0
MASS_MM, MASS_RELATIVE_DIFFERENCE = 30.0, 0.2
READING_ERROR_MM, READING_ERROR = 0.5, 0.05  # what rounding alone makes of one measurement
_FEW = 3  # findings that differ in number from innumerable ones
TUBE_DIFFERENCE_MM, TUBE_SIGNIFICANT_MM = 10.0, 20.0


class Wrong(NamedTuple):
    """A wrong attribute, whether that matters, the function that found it, and the row of the rubric that it used.

    `name` is what of the attribute is wrong, where several things can be: the "age" or the "number" of a descriptor.
    """

    attribute: Attribute
    matters: bool
    step: Callable[..., object]
    row: Opposed | Threshold | None = None
    name: str = ""


def attribute_errors(ref: Unit, cand: Unit, lexicon: Lexicon) -> list[FindingError]:
    """Returns what is wrong in the attributes of two matched observations, at most one error for each attribute.

    What the candidate leaves out is not wrong, and is priced in `left_out`; a change that it leaves out is an error.
    """
    device = lexicon.concepts[ref.head.concept].is_device
    wrong: list[Wrong] = []
    size = _measurement_error(ref, cand, lexicon)
    place = _location_error(ref, cand, lexicon)
    tip = [error for error in (device_error(ref, cand, lexicon), size) if error is not None] if device else []
    if tip:
        wrong.append(
            Wrong("device_position", any((*tip, place)), device_error)
        )  # a wrong side, tip and depth are one wrong place
    elif place is not None:
        wrong.append(Wrong("location", place, _location_error))
    if (device or place is None) and _number_differs(ref.head, cand.head, lexicon):
        wrong.append(Wrong("descriptor", True, _number_differs, name="number"))
    steps = severity_steps(ref, cand)
    measured = size if not device else None
    if steps >= SEVERITY_STEPS:  # "small, 1 cm" and "large, 4 cm" differ once, in words and in figures
        wrong.append(Wrong("severity", steps >= SEVERITY_SIGNIFICANT_STEPS or bool(measured), severity_steps))
    elif measured is not None:
        wrong.append(Wrong("measurement", measured, _measurement_error, _threshold(ref, lexicon)))
    if {acute(ref, lexicon), acute(cand, lexicon)} == {True, False}:
        wrong.append(Wrong("descriptor", True, acute, name="age"))
    elif (row := _opposing(ref, cand, lexicon)) is not None:
        wrong.append(Wrong("descriptor", lexicon.concepts[ref.head.concept].significance in SIGNIFICANT, opposed, row))
    if related(ref.head.concept, cand.head.concept, lexicon):
        wrong.extend(_doubts(ref, cand, lexicon))
    if not opposed(ref, cand, lexicon):
        readings = _interpretation_errors(ref, cand, lexicon)
        if device and readings and (position(ref.head, lexicon) == "bad") != (position(cand.head, lexicon) == "bad"):
            readings = [Wrong("device_position", True, position)] * (
                not tip
            )  # a "slipped gastric band" is one at a wrong place
        wrong.extend(readings)
    errors = _one_degree([_attribute_error(ref, cand, each, lexicon) for each in wrong])
    courses = _temporal_errors(ref, cand, lexicon)
    if any(error.attribute == "device_position" for error in errors) and {_course(ref), _course(cand)} <= {
        None,
        *MOVES,
    }:
        courses = [error for error in courses if not excused(error, attribute_errors, "how a device moved")]
    return errors + courses


def _one_degree(errors: list[FindingError]) -> list[FindingError]:
    """Leaves out all but the gravest of what is wrong with a finding besides its place."""
    degrees = [error for error in errors if error.attribute not in ("location", "device_position")]
    if len(degrees) < 2:
        return errors
    gravest = max(degrees, key=lambda error: error.significant)
    return [error for error in errors if error not in degrees or error == gravest or not excused(error, _one_degree)]


def _attribute_error(
    ref: Unit, cand: Unit, wrong: Wrong, lexicon: Lexicon, category: ErrorCategory | None = None
) -> FindingError:
    attribute = wrong.attribute
    if category is None:
        place = attribute in ("location", "device_position")
        category = ErrorCategory.INCORRECT_LOCATION if place else ErrorCategory.INCORRECT_SEVERITY
    error = FindingError(
        category=category,
        significant=wrong.matters,
        sentence=f"{difference(ref, cand, attribute, lexicon, wrong.name)}.",
        attribute=attribute,
        reference=ref.head,
        candidate=cand.head,
        reference_spans=ref.spans,
        candidate_spans=cand.spans,
    )
    return decided(error, wrong.step, row=wrong.row)


def _location_error(ref: Unit, cand: Unit, lexicon: Lexicon) -> bool | None:
    """Returns whether a wrong place matters; None if the places agree.

    A place added to none is no error, and one that is left out is a part of one (`left_out`).
    """
    if ref.side and cand.side and ref.side != cand.side:
        return "bilateral" not in (ref.side, cand.side)
    if ref.side == cand.side == "bilateral" and {ref.head.worse_side, cand.head.worse_side} == {"left", "right"}:
        return False
    levels = ref.head.levels, cand.head.levels
    if all(levels):
        if touch(*levels, lexicon):
            return False if _one_is_another(*levels, lexicon) else None
        return not touch(*levels, lexicon, reach=1)
    return None if near(ref.zones, cand.zones, lexicon) else not beside(ref.zones, cand.zones, lexicon)


def _one_is_another(a: frozenset[str], b: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether one of as many bones is another one: "ribs 2, 3 and 5" against "2, 3 and 6"."""
    if len(a) != len(b):
        return False
    return any(not touch(frozenset({x}), other, lexicon) for one, other in ((a, b), (b, a)) for x in one)


def _number_differs(ref: Finding, cand: Finding, lexicon: Lexicon) -> bool:
    """Whether two findings differ in number: of bones, nodules, drains."""
    if ref.concept in lexicon.roles["tipped"]:
        a, b = ref.count, cand.count  # "UAC at T6-T7" is one
    else:
        a, b = (number_of(finding.levels, finding.count, lexicon) for finding in (ref, cand))
    if a is None or b is None:
        return any(INNUMERABLE in one.morphology and 0 < (n or 0) <= _FEW for one, n in ((ref, b), (cand, a)))
    return a != b


def acute(unit: Unit, lexicon: Lexicon) -> bool | None:
    """Returns whether a finding is called acute or old, None if neither."""
    acuity = next((finding.acuity for finding in unit.readings if finding.acuity), None)
    return acuity not in lexicon.old if acuity else None


def doubted(ref: Unit, cand: Unit, lexicon: Lexicon) -> bool:
    """Whether one report states what the other only considers.

    Of a word that may mean anything its readings tell: "pneumonia" beside "opacity, possibly pneumonia". And what both
    take one picture for: "ground glass, possibly pneumonitis" beside "ground glass diagnostic of pneumonitis".
    """
    both = [(x, y) for x in ref.readings for y in cand.readings if x.concept == y.concept]
    vague = {ref.head.concept, cand.head.concept} & lexicon.roles["anything"]
    of_both = [(x, y) for x, y in both if x is not ref.head and y is not cand.head]
    same = both if both and vague else [(ref.head, cand.head), *of_both]
    unsettled = _undetermined(ref, cand, lexicon) or _undetermined(cand, ref, lexicon)
    return unsettled or any(
        {x.certainty, y.certainty} & DOUBT and "definite" in (x.certainty, y.certainty) for x, y in same
    )


def _undetermined(one: Unit, other: Unit, lexicon: Lexicon) -> bool:
    """Whether one report leaves open what the other is sure of: "lesion, possibly metastatic", "metastasis"."""
    shared = {y.concept for y in other.readings if y.certainty != "definite"}
    doubts = [x.concept for x in one.readings if x is not one.head and x.certainty in DOUBT and x.concept not in shared]
    stated = [x.concept for x in one.readings if x.certainty not in DOUBT]
    left_open = any("indeterminate" in x.morphology for x in one.readings)
    if one.head.concept in lexicon.roles["shadow"] and not left_open:
        return False  # "airspace opacity concerning for pneumonia" is one
    for sure in (y.concept for y in other.readings if y.certainty == "definite"):
        names = (sure, *lexicon.concepts[sure].ancestors)
        if any(sure in (x, *lexicon.concepts[x].ancestors) for x in stated):
            continue
        diagnosis = any(each in lexicon.rubric["diagnoses"] for each in names)
        if not diagnosis or lexicon.concepts[sure].significance not in SIGNIFICANT:
            continue
        if left_open or any(x in names or sure in lexicon.concepts[x].ancestors for x in doubts):
            return True
        narrower = one.head.concept in names
        if narrower and any({x, sure} <= set(row["diagnosis"]) for x in doubts for row in lexicon.rubric["explains"]):
            return True  # "metastasis" of a bone is a bone metastasis
    return False


def _doubts(ref: Unit, cand: Unit, lexicon: Lexicon) -> list[Wrong]:
    """Returns a wrong certainty; a doubt about what nobody acts on is none."""
    levels = {lexicon.concepts[finding.concept].significance for finding in ref.readings}
    return [Wrong("certainty", True, _doubts)] if doubted(ref, cand, lexicon) and levels & SIGNIFICANT else []


def opposed(ref: Unit, cand: Unit, lexicon: Lexicon) -> bool:
    """Whether two descriptions of one finding exclude each other (`lexicon/*/rubric.yaml`)."""
    return _opposing(ref, cand, lexicon) is not None


def _opposing(ref: Unit, cand: Unit, lexicon: Lexicon) -> Opposed | None:
    """Returns the row of the rubric by which two descriptions exclude each other."""
    a, b = (_gravest(unit, lexicon) for unit in (ref, cand))
    opposing = (
        row
        for row in lexicon.rubric["opposed"]
        for x, y in ((row["one"], row["other"]), (row["other"], row["one"]))
        if not a.isdisjoint(x) and not b.isdisjoint(y) and b.isdisjoint(x)
    )
    return next(opposing, None)


def _gravest(unit: Unit, lexicon: Lexicon) -> frozenset[str]:
    """Returns how a finding is described; of several steps of one scale ("BI-RADS 2, BI-RADS 4") the last counts."""
    told = frozenset().union(*(finding.morphology for finding in unit.readings))
    for scale in lexicon.rubric["scales"]:
        told = told.difference([step for step in scale if step in told][:-1])
    return told


def severity_steps(ref: Unit, cand: Unit) -> int:
    """Returns the steps between two stated severities, 0 if one is not stated; two per cents of one step can differ."""
    a = next((finding.severity for finding in ref.readings if finding.severity is not None), None)
    b = next((finding.severity for finding in cand.readings if finding.severity is not None), None)
    steps = abs(a - b) if a is not None and b is not None else 0
    return max(steps, SEVERITY_STEPS) if _shares_differ(ref, cand) else steps


def _shares_differ(ref: Unit, cand: Unit) -> bool:
    """Whether both state a per cent, and one is at least twice the other: "pneumothorax of 15%", "of 5%"."""
    stated = [next((f.per_cent for f in unit.readings if f.per_cent is not None), None) for unit in (ref, cand)]
    shares = sorted(share for share in stated if share is not None)
    return len(shares) == 2 and shares[1] >= max(SHARE_RATIO * shares[0], shares[0] + SHARE_POINTS)


def _measurement_error(ref: Unit, cand: Unit, lexicon: Lexicon) -> bool | None:
    """Returns whether two sizes differ by more than the thresholds; None if they agree or one is missing."""
    concept = lexicon.concepts[ref.head.concept]
    a = max((n for finding in ref.readings for n in finding.measurements_mm), default=None)
    b = max((n for finding in cand.readings for n in finding.measurements_mm), default=None)
    if a is None or b is None or a == b:
        return None
    apart = abs(a - b)
    if concept.is_device:
        return apart > TUBE_SIGNIFICANT_MM if apart > TUBE_DIFFERENCE_MM else None
    if apart <= max(READING_ERROR_MM, READING_ERROR * a):
        return None
    if (row := _threshold(ref, lexicon)) is not None:
        return apart > row["beyond"] and any((a >= mm) != (b >= mm) for mm in row["mm"])
    if a >= MASS_MM:
        return apart / a > MASS_RELATIVE_DIFFERENCE or b < MASS_MM
    limit = SMALL_NODULE_DIFFERENCE_MM if a < SMALL_NODULE_MM else NODULE_DIFFERENCE_MM
    return apart > limit


def _threshold(ref: Unit, lexicon: Lexicon) -> Threshold | None:
    """Returns the row of the rubric with the sizes at which a finding is treated otherwise."""
    concept = lexicon.concepts[ref.head.concept]
    names = {concept.key, *concept.ancestors}
    return next((row for row in lexicon.rubric["thresholds"] if not names.isdisjoint(row["concepts"])), None)


def _interpretation_errors(ref: Unit, cand: Unit, lexicon: Lexicon) -> list[Wrong]:
    """Returns over- and underinterpretation: one report commits to what the other only describes."""
    if is_sum(ref.head, lexicon) != is_sum(cand.head, lexicon):
        return []  # "support devices" for a pacemaker
    pairs = [(x.concept, y.concept) for x in ref.readings for y in cand.readings]
    if {concept for pair in pairs for concept in pair} <= lexicon.roles["shadow"]:
        return []  # "opacity" for "consolidation"
    if is_otherwise_named(ref, cand, lexicon):
        return [Wrong("overinterpretation", True, is_otherwise_named)]
    if any(concept_similarity(x, y, lexicon) >= INTERCHANGEABLE for x, y in pairs):
        return []
    a, b = lexicon.concepts[ref.head.concept], lexicon.concepts[cand.head.concept]
    rows = [lexicon.rubric["precision"].get(each) for each in ((a.key, b.key), (b.key, a.key))]
    matters = (a.significance in SIGNIFICANT) != (b.significance in SIGNIFICANT) or (a.condition != b.condition)
    matters = matters or any(row and row["matters"] == "always" and not row["unless"] for row in rows)
    if a.key in b.ancestors:
        return [Wrong("overinterpretation", matters, _interpretation_errors)]
    if b.key in a.ancestors:
        return [Wrong("underinterpretation", matters, _interpretation_errors)]
    rivals = b.key in a.rivals or a.key in b.rivals
    return [Wrong("descriptor", matters, _interpretation_errors)] if rivals else []


def is_otherwise_named(ref: Unit, cand: Unit, lexicon: Lexicon) -> bool:
    """Whether two reports state different diagnoses for one picture: "likely METASTASES", "likely GRANULOMAS"."""
    mine, theirs = (diagnoses(unit, lexicon) for unit in (ref, cand))
    if any(related(x.concept, y.concept, lexicon) for x in mine for y in theirs):
        return False
    return all(any(x.certainty not in DOUBT for x in named) for named in (mine, theirs))


def diagnoses(unit: Unit, lexicon: Lexicon) -> list[Finding]:
    """Returns the findings of an observation that are diagnoses (`lexicon/*/rubric.yaml`)."""
    named = lexicon.rubric["diagnoses"]
    return [x for x in unit.readings if not {x.concept, *lexicon.concepts[x.concept].ancestors}.isdisjoint(named)]


def _temporal_errors(ref: Unit, cand: Unit, lexicon: Lexicon) -> list[FindingError]:
    """Returns F if the candidate leaves out or reverses a change, E if it reports one that the reference does not.

    A change that only one report has matters if the finding grows; of an urgent finding every change matters.
    """
    a, b = _course(ref), _course(cand)
    if a == b:
        return []
    matters = is_turned(ref, cand) or (a or b) in GROWING
    category = ErrorCategory.MISSING_COMPARISON if a else ErrorCategory.FALSE_COMPARISON
    return [_attribute_error(ref, cand, Wrong("temporal", matters, _temporal_errors), lexicon, category)]


def is_turned(ref: Unit, cand: Unit) -> bool:
    """Whether the candidate reports another change than the reference, or calls stable what has grown."""
    a, b = _course(ref), _course(cand)
    called_old = a in GROWING and any(finding.change == "stable" for finding in cand.readings)
    return bool(a) and a != b and (bool(b) or called_old)


def _course(unit: Unit) -> str | None:
    """Returns what has become of a finding; None if nothing, or nothing is said."""
    return next((finding.change for finding in unit.readings if finding.change not in (None, "stable")), None)


def certainty_errors(ref: Unit, cand: Unit, lexicon: Lexicon) -> list[FindingError]:
    """Returns D if one report states what the other only cannot exclude."""
    return [_attribute_error(ref, cand, each, lexicon) for each in _doubts(ref, cand, lexicon)]


def suspicion_errors(ref: Unit, cand: Unit, texts: tuple[Reading, Reading], lexicon: Lexicon) -> list[FindingError]:
    """Returns D if only one report suspects what is acted on at once: "wide mediastinum, concerning for DISSECTION"."""
    reference, candidate = texts
    if _suspects_alone(ref, candidate, lexicon):
        wrong = Wrong("underinterpretation", True, suspicion_errors)
    elif _suspects_alone(cand, reference, lexicon):
        wrong = Wrong("overinterpretation", True, suspicion_errors)
    else:
        return []
    return [_attribute_error(ref, cand, wrong, lexicon)]


def _suspects_alone(unit: Unit, other: Reading, lexicon: Lexicon) -> bool:
    """Whether an observation may be an emergency that the other report does not name, not even to deny it."""
    suspected = {x.concept for x in unit.readings if x is not unit.head} & lexicon.roles["emergency"]
    return any(not any(related(concept, f.concept, lexicon) for f in other.findings) for concept in suspected)


def comparison_errors(reference: Reading, candidate: Reading, lexicon: Lexicon) -> list[FindingError]:
    """Returns the errors of comparison that are not about one finding that both reports show.

    E for a finding that only the candidate calls resolved; E once for a candidate that calls anything unchanged, or
    compares with an earlier study in general, where the reference nowhere compares; F for a finding that the reference
    calls resolved and the candidate does not speak of.
    """
    errors = [
        _resolved_error(finding, ErrorCategory.FALSE_COMPARISON, lexicon)
        for finding in _resolved_alone(candidate, reference, lexicon)
    ]
    if candidate.scope.statements:
        missing = _resolved_alone(reference, candidate, lexicon)
        errors += [_resolved_error(finding, ErrorCategory.MISSING_COMPARISON, lexicon) for finding in missing]
    errors.extend(_study_errors(reference, candidate))
    told = told_of_the_study(candidate, reference, lexicon)
    if told and not reference.compared and not any(finding.change for finding in reference.findings):
        error = FindingError(
            category=ErrorCategory.FALSE_COMPARISON,
            significant=False,
            sentence="Only the candidate compares with an earlier study.",
            attribute="temporal",
            candidate_spans=tuple(told),
        )
        errors.append(decided(error, comparison_errors, "nothing in the reference compares"))
    return errors


def denied_change(reference: Reading, candidate: Reading, missing: Sequence[Unit]) -> list[FindingError]:
    """Returns E for a candidate that says that nothing has changed, and leaves out a finding that has.

    Of a finding that the candidate has, the change that it denies is one that it leaves out (F).
    """
    said = [compared for compared in candidate.compared if compared.study and compared.kind == "stable"]
    also = any(compared.study and compared.kind == "stable" for compared in reference.compared)
    changed = [unit for unit in missing if _course(unit)]
    if not said or also or not changed:
        return []
    error = FindingError(
        category=ErrorCategory.FALSE_COMPARISON,
        significant=False,
        sentence="The candidate says that nothing has changed; the reference reports a change.",
        attribute="temporal",
        reference_spans=changed[0].spans,
        candidate_spans=tuple(compared.span for compared in said),
    )
    return [decided(error, denied_change)]


def told_of_all(error: FindingError, reference: Reading, candidate: Reading) -> bool:
    """Whether one report states for all findings ("Overall worse.") what the other states for one."""
    if error.category is ErrorCategory.FALSE_COMPARISON:
        reading, finding = reference, error.candidate
    elif error.category is ErrorCategory.MISSING_COMPARISON:
        reading, finding = candidate, error.reference
    else:
        return False
    return finding is not None and any(each.study and each.kind == finding.change for each in reading.compared)


def told_beside(error: FindingError, reference: Reading, candidate: Reading) -> bool:
    """Whether the other report has a change of two findings in one sentence with only one of them.

    "New opacification with volume loss" against "opacification with volume loss, new" leaves out no change.
    """
    sides = _change_and_silence(error, reference, candidate)
    if sides is None:
        return False
    (changed, one), (silent, other) = sides
    if silent.change is not None or changed.change is None:
        return False
    beside = {
        f.concept
        for f in one.findings
        if f.sentence == changed.sentence and f.change == changed.change and f != changed
    }
    return any(
        f.concept in beside and f.sentence == silent.sentence and f.change == changed.change for f in other.findings
    )


def changed_in_picture(error: FindingError, reference: Reading, candidate: Reading, lexicon: Lexicon) -> bool:
    """Whether the other report states the change of another name for the picture, a sign of it or what it is a sign of.

    "Fibrosis, increased, with traction bronchiectasis" against "fibrosis; traction bronchiectasis has increased".
    """
    sides = _change_and_silence(error, reference, candidate)
    if sides is None:
        return False
    (changed, one), (silent, other) = sides
    course = next((f.change for f in _of_observation(changed, one) if f.change not in (None, "stable")), None)
    if course is None or any(f.change for f in _of_observation(silent, other)):
        return False
    return any(
        f.change == course
        and f.assertion != "absent"
        and _is_of_picture(f.concept, changed.concept, lexicon)
        and at_one_place(f, changed, lexicon)
        for f in other.findings
    )


def named_as_well(error: FindingError, reference: Reading, candidate: Reading, lexicon: Lexicon) -> bool:
    """Whether a report that gives a picture a more general name has the special one too: "UIP: honeycombing, lines"."""
    under = error.attribute == "underinterpretation"
    special, general = (error.reference, error.candidate) if under else (error.candidate, error.reference)
    if special is None or general is None or not (under or error.attribute == "overinterpretation"):
        return False
    if general.concept not in lexicon.concepts[special.concept].ancestors:
        return False
    other = candidate if under else reference
    return any(
        f.concept == special.concept and f.assertion == "present" and at_one_place(f, special, lexicon)
        for f in other.findings
    )


def _change_and_silence(
    error: FindingError, reference: Reading, candidate: Reading
) -> tuple[tuple[Finding, Reading], tuple[Finding, Reading]] | None:
    """Returns the finding with a change and the one without it, each in its report; None for other errors."""
    if error.attribute != "temporal" or error.reference is None or error.candidate is None:
        return None
    ref, cand = (error.reference, reference), (error.candidate, candidate)
    return (ref, cand) if error.category is ErrorCategory.MISSING_COMPARISON else (cand, ref)


def _of_observation(finding: Finding, reading: Reading) -> list[Finding]:
    return [each for each in reading.findings if each.observation == finding.observation]


def _is_of_picture(a: str, b: str, lexicon: Lexicon) -> bool:
    """Whether two names are of one picture, or one is a sign of the other; lesions are counted one by one."""
    one, other = lexicon.concepts[a], lexicon.concepts[b]
    if one.is_device or other.is_device:
        return False
    if a in other.sign_of or b in one.sign_of:
        return True
    if not lexicon.roles["one_by_one"].isdisjoint({a, b}):
        return a != b and related(a, b, lexicon)
    return related(a, b, lexicon) or not set(one.ancestors).isdisjoint(other.ancestors)


def _study_errors(reference: Reading, candidate: Reading) -> list[FindingError]:
    """Returns F or E for a change of all that was named ("Overall worse.") that the other report tells of nothing."""
    for one, other, category in (
        (reference, candidate, ErrorCategory.MISSING_COMPARISON),
        (candidate, reference, ErrorCategory.FALSE_COMPARISON),
    ):
        told = {compared.kind for compared in other.compared} | {finding.change for finding in other.findings}
        for compared in one.compared:
            if compared.study and compared.kind not in {"stable", *told}:
                false = category is ErrorCategory.FALSE_COMPARISON
                who = "candidate" if false else "reference"
                error = FindingError(
                    category=category,
                    significant=False,
                    sentence=f"Only the {who} says that all is {compared.kind}.",
                    attribute="temporal",
                    reference_spans=() if false else (compared.span,),
                    candidate_spans=(compared.span,) if false else (),
                )
                return [decided(error, _study_errors)]
    return []


def _resolved_alone(one: Reading, other: Reading, lexicon: Lexicon) -> list[Finding]:
    """Returns what one report calls resolved, and the other neither shows nor calls resolved."""
    told = [
        each
        for each in other.findings
        if each.assertion != "absent"
        or each.change in ("resolved", "stable")
        or is_support_device(each.concept, lexicon)  # "no endotracheal tube" is there no more
    ]
    alone: list[Finding] = []
    for finding in one.findings:
        if (
            finding.assertion == "absent"
            and finding.change == "resolved"
            and not finding.background
            and lexicon.concepts[finding.concept].counts
            and _can_be_gone(finding.concept, lexicon)
            and not any(
                related(finding.concept, x.concept, lexicon)
                and (x.assertion == "absent" or is_sum(x, lexicon) <= is_sum(finding, lexicon))
                and (same_side(finding.side, x.side) or x.change == finding.change)
                for x in (*told, *alone)
            )
        ):
            alone.append(finding)
    return alone


def _can_be_gone(concept: str, lexicon: Lexicon) -> bool:
    """Whether a film shows that something has gone: a finding, a line or tube, but not what surgery has left."""
    return not lexicon.concepts[concept].is_device or is_support_device(concept, lexicon)


def _resolved_error(finding: Finding, category: ErrorCategory, lexicon: Lexicon) -> FindingError:
    false = category is ErrorCategory.FALSE_COMPARISON
    who = "candidate" if false else "reference"
    error = FindingError(
        category=category,
        significant=False,
        sentence=f"Only the {who} says that {lexicon.concepts[finding.concept].name} has resolved.",
        attribute="temporal",
        reference=None if false else finding,
        candidate=finding if false else None,
        reference_spans=() if false else finding.spans,
        candidate_spans=finding.spans if false else (),
    )
    return decided(error, _resolved_alone)


# By an attribute, or by a part of a description: the function that decides whether two reports differ in it.
STEPS: Mapping[str, Callable[..., object]] = {
    "location": _location_error,
    "device_position": device_error,
    "severity": severity_steps,
    "measurement": _measurement_error,
    "certainty": _doubts,
    "number": _number_differs,
    "age": acute,
    "description": opposed,
    "interpretation": _interpretation_errors,
    "temporal": _temporal_errors,
}
