"""Two readings → matched findings and errors.

The findings of both reports are matched one to one by an optimal assignment (Hungarian algorithm) under a graded
similarity of concept and place; what is left over is a false (A) or a missing (B) finding, unless the other report
says the same in other words or names its cause. The attributes of matched findings are compared: location and device
position give C; severity, measurement, certainty, descriptor, over- and underinterpretation give D; temporal gives E
(a comparison that the reference does not make) or F (a change that the candidate leaves out). What a candidate pays for
besides its findings is in ``penalties``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rrgmetrics.reader.engine import read, related
from rrgmetrics.reader.lexicon import Lexicon, load
from rrgmetrics.reader.model import (
    SIGNIFICANT,
    Attribute,
    Comparison,
    ErrorCategory,
    Finding,
    FindingError,
    Link,
    Match,
    Reading,
    Unit,
)
from rrgmetrics.reader.penalties import penalties
from rrgmetrics.reader.places import near, same_side
from rrgmetrics.reader.scope import CHEST_XRAY, out_of_scope
from rrgmetrics.reader.significance import significance
from rrgmetrics.reports import Context, parse_context

# Similarity of concepts, of places, and what still counts as the same finding.
SAME, INTERCHANGEABLE, PARENT, GRANDPARENT = 1.0, 0.9, 0.8, 0.7
OPPOSITE_SIDE, ONE_OF_BOTH_SIDES, DISTANT_ZONE = 0.55, 0.75, 0.85
MATCH = 0.5  # below: two different findings
TIE_BREAK = 1e-4  # for each attribute that agrees
COVERED = 0.7  # above: a left-over finding is said by the other report in other words
# Steps of severity (lexicon/attributes.yaml) that differ by more than observer variation, and that matter.
SEVERITY_STEPS, SEVERITY_SIGNIFICANT_STEPS = 2, 3
# Measurement thresholds of the CRIMSON rubric (arXiv 2603.06183): nodules, masses; and of tube depth.
SMALL_NODULE_MM, SMALL_NODULE_DIFFERENCE_MM, NODULE_DIFFERENCE_MM = 6.0, 2.0, 4.0
MASS_MM, MASS_RELATIVE_DIFFERENCE = 30.0, 0.2
READING_ERROR_MM, READING_ERROR = 0.5, 0.05  # what rounding alone makes of one measurement
TUBE_DIFFERENCE_MM, TUBE_SIGNIFICANT_MM = 10.0, 20.0
# Steps along the path of a device (lexicon/attributes.yaml, tip_sites) that change its position, and that matter.
TIP_STEPS, TIP_SIGNIFICANT_STEPS = 2, 3


def compare(reference: Reading, candidate: Reading, context: Context | Mapping[str, Any] | None = None) -> Comparison:
    """Compare a candidate's reading with the reference's.

    Args:
        reference: reading of the radiologist's report.
        candidate: reading of the machine's report.
        context: ``age``, ``sex`` and ``indication`` of the patient, which decide how much a finding matters; or None.

    Returns:
        Comparison: matches, errors, and counts per category; no errors for two readings of one text.

    Example:
        >>> from rrgmetrics.reader import read
        >>> comparison = compare(read("Mild cardiomegaly. Clear lungs."), read("Normal heart. Right apical mass."))
        >>> for error in comparison.errors:
        ...     print(error.category.letter, error.sentence)
        A Only the candidate reports: right apical mass; the reference denies it.
        B Only the reference reports: mild cardiomegaly; the candidate denies it.
    """
    lexicon = load()
    known = context if isinstance(context, Context) else parse_context(context)
    refs, cands = units(reference, lexicon), units(candidate, lexicon)
    pairs = _assign(refs, cands, lexicon)
    errors: list[FindingError] = []
    links = [Link(r, c) for r, c, _ in pairs]
    matched_refs, matched_cands = {r for r, _, _ in pairs}, {c for _, c, _ in pairs}
    for c, unit in enumerate(cands):
        if c not in matched_cands and not _nearly(unit, reference):
            same = _in_other_words(unit, refs, lexicon)
            if same is None:
                errors.append(_left_over(unit, reference, ErrorCategory.FALSE_FINDING, known, lexicon))
            else:
                links.append(Link(same, c, other_words=True))
    for r, unit in enumerate(refs):
        if r not in matched_refs and not _nearly(unit, candidate):
            same = _in_other_words(unit, cands, lexicon)
            if same is None:
                errors.append(_left_over(unit, candidate, ErrorCategory.MISSING_FINDING, known, lexicon))
            else:
                links.append(Link(r, same, other_words=True))
    for r, c, _ in pairs:
        errors.extend(attribute_errors(refs[r], cands[c], lexicon))
    paid = tuple(penalties(reference, candidate, known))
    errors.extend(paid)
    counts = Counter(e.category for e in errors)
    return Comparison(
        matches=tuple(Match(refs[r].head, cands[c].head, s) for r, c, s in pairs),
        errors=tuple(errors),
        agreed_normals=_agreed_normals(reference, candidate),
        counts={category: counts[category] for category in ErrorCategory},
        references=tuple(refs),
        candidates=tuple(cands),
        links=tuple(links),
        penalties=paid,
        out_of_scope=out_of_scope(reference.scope, CHEST_XRAY),
    )


def explain(reference: str, candidate: str, context: Context | Mapping[str, Any] | None = None) -> Comparison:
    """Read two reports and return what differs, in words and with the evidence in either text.

    Args:
        reference: the radiologist's report.
        candidate: the machine's report.
        context: ``age``, ``sex`` and ``indication`` of the patient, or None.

    Returns:
        Comparison: ``errors``, each with its category, one plain sentence and the spans of both texts it rests on.

    Example:
        >>> for error in explain("Small right effusion.", "Small left effusion.").errors:
        ...     print(error.category.letter, error.sentence)
        C Reference: small right pleural effusion; candidate: small left pleural effusion.
    """
    return compare(read(reference), read(candidate), context)


def units(reading: Reading, lexicon: Lexicon) -> list[Unit]:
    """Return the observations of a reading that count, in the order of the text."""
    groups: dict[int, list[Finding]] = {}
    for finding in reading.findings:
        stated = finding.assertion != "absent" and finding.certainty != "not_excluded"
        if stated and lexicon.concepts[finding.concept].counts:
            groups.setdefault(finding.observation, []).append(finding)
    found = []
    for group in groups.values():
        sides = {f.side for f in group if f.side}
        side = next(iter(sides)) if len(sides) == 1 else ("bilateral" if sides else None)
        readings = _committed(group, lexicon)
        head = max(readings, key=lambda f: f.certainty == "definite")
        found.append(Unit(head, readings, side, frozenset().union(*(f.zones for f in group))))
    return found


def _committed(group: list[Finding], lexicon: Lexicon) -> tuple[Finding, ...]:
    """Leave out a describing word that its interpretation replaces ("opacity, consistent with an effusion")."""
    kept = [
        f
        for f in group
        if not any(
            f.concept in lexicon.roles["replaceable"]
            and g.certainty in ("definite", "probable")
            and not related(f.concept, g.concept, lexicon)
            for g in group
        )
    ]
    return tuple(kept or group)


def concept_similarity(a: str, b: str, lexicon: Lexicon) -> float:
    """Return how far two concepts name one picture, 0 to 1."""
    if a == b:
        return SAME
    ca, cb = lexicon.concepts[a], lexicon.concepts[b]
    if b in ca.same_as or a in cb.same_as:
        return INTERCHANGEABLE
    if b in ca.ancestors[:1] or a in cb.ancestors[:1]:
        return PARENT
    if b in ca.ancestors or a in cb.ancestors:
        return GRANDPARENT
    return 0.0


def place_similarity(a: Unit, b: Unit, lexicon: Lexicon) -> float:
    """Return how far two places agree, 0 to 1; a place that is not stated agrees with all."""
    return _side_similarity(a.side, b.side) * (1.0 if near(a.zones, b.zones, lexicon) else DISTANT_ZONE)


def _side_similarity(a: str | None, b: str | None) -> float:
    if same_side(a, b):
        return 1.0
    return ONE_OF_BOTH_SIDES if "bilateral" in (a, b) else OPPOSITE_SIDE


def similarity(a: Unit, b: Unit, lexicon: Lexicon) -> float:
    """Return how far two observations are the same, 0 to 1."""
    concept = max(concept_similarity(x.concept, y.concept, lexicon) for x in a.readings for y in b.readings)
    return concept * place_similarity(a, b, lexicon) if concept else 0.0


def _assign(refs: list[Unit], cands: list[Unit], lexicon: Lexicon) -> list[tuple[int, int, float]]:
    """Return the matched (reference, candidate, similarity) with the greatest sum of similarities."""
    if not refs or not cands:
        return []
    scores = [[similarity(r, c, lexicon) for c in cands] for r in refs]
    gains = [
        [s + TIE_BREAK * _agreement(r, c) if s >= MATCH else 0.0 for c, s in zip(cands, row, strict=True)]
        for r, row in zip(refs, scores, strict=True)
    ]
    if not any(gain for row in gains for gain in row):
        return []
    from scipy.optimize import linear_sum_assignment  # costs 0.2 s to import: not before it is needed

    rows, columns = linear_sum_assignment(gains, maximize=True)
    return [(int(r), int(c), scores[r][c]) for r, c in zip(rows, columns, strict=True) if scores[r][c] >= MATCH]


def _agreement(a: Unit, b: Unit) -> int:
    """Return how many attributes agree; it decides between matches that are otherwise alike."""
    x, y = a.head, b.head
    return sum(
        (
            a.side == b.side,
            a.zones == b.zones,
            x.concept == y.concept,
            x.severity == y.severity,
            x.measurements_mm == y.measurements_mm,
            x.change == y.change,
            x.tip == y.tip,
            x.route == y.route,
        )
    )


def _nearly(unit: Unit, other: Reading) -> bool:
    """Tell whether the other report calls borderline what is borderline here ("upper normal")."""
    return unit.head.severity == 0 and any(f.concept == unit.head.concept and f.severity == 0 for f in other.findings)


def _in_other_words(unit: Unit, others: list[Unit], lexicon: Lexicon) -> int | None:
    """Return which of the other report's observations says the same, or is what the finding is a sign of."""
    stated = {f.concept: i for i, u in enumerate(others) for f in u.readings}
    causes = [lexicon.concepts[f.concept].sign_of & stated.keys() for f in unit.readings]
    if all(causes):
        return min(stated[concept] for concept in causes[0])
    named = replace(unit, readings=(unit.head,))
    scores = [similarity(named, other, lexicon) for other in others]
    best = max(scores, default=0.0)
    return scores.index(best) if best >= COVERED else None


def _left_over(unit: Unit, other: Reading, category: ErrorCategory, context: Context, lexicon: Lexicon) -> FindingError:
    """Return the error for a finding that only one report has."""
    level = significance(unit.head, context, lexicon)
    denial = _denial(unit, other, lexicon)
    false = category is ErrorCategory.FALSE_FINDING
    who, whom = ("candidate", "reference") if false else ("reference", "candidate")
    said = f"Only the {who} reports: {phrase(unit, lexicon)}"
    spans = denial.spans if denial else ()
    return FindingError(
        category=category,
        significant=level in SIGNIFICANT,
        sentence=f"{said}; the {whom} denies it." if denial else f"{said}.",
        reference=denial if false else unit.head,
        candidate=unit.head if false else denial,
        reference_spans=spans if false else unit.spans,
        candidate_spans=unit.spans if false else spans,
        significance=level,
        contradicts=denial is not None,
    )


def _denial(unit: Unit, other: Reading, lexicon: Lexicon) -> Finding | None:
    """Return the statement of the other report that denies an observation."""
    for finding in other.findings:
        if finding.assertion == "absent":
            for mine in unit.readings:
                names = {mine.concept, *lexicon.concepts[mine.concept].ancestors}
                if (
                    finding.concept in names
                    and same_side(unit.side, finding.side)
                    and near(unit.zones, finding.zones, lexicon)
                ):
                    return finding
    return None


def attribute_errors(ref: Unit, cand: Unit, lexicon: Lexicon) -> list[FindingError]:
    """Return the errors in the attributes of two matched observations, at most one for each attribute."""
    device = lexicon.concepts[ref.head.concept].is_device
    found: list[tuple[Attribute, bool]] = []
    place = _location_error(ref, cand, lexicon)
    if place is not None:
        found.append(("location", place))
    if device:
        tip = _device_error(ref, cand, lexicon)
        if tip is not None:
            found.append(("device_position", tip))
    steps = _severity_steps(ref, cand)
    if steps >= SEVERITY_STEPS:
        found.append(("severity", steps >= SEVERITY_SIGNIFICANT_STEPS))
    if (
        _acute(ref, lexicon) is not None
        and _acute(cand, lexicon) is not None
        and _acute(ref, lexicon) != _acute(cand, lexicon)
    ):
        found.append(("descriptor", True))
    size = _measurement_error(ref, cand, device)
    if size is not None:
        found.append(("measurement", size))
    found.extend(_interpretation_errors(ref, cand, lexicon))
    errors = [_attribute_error(ref, cand, attribute, matters, lexicon) for attribute, matters in found]
    return errors + _temporal_errors(ref, cand, lexicon)


def _attribute_error(
    ref: Unit, cand: Unit, attribute: Attribute, matters: bool, lexicon: Lexicon, category: ErrorCategory | None = None
) -> FindingError:
    if category is None:
        place = attribute in ("location", "device_position")
        category = ErrorCategory.INCORRECT_LOCATION if place else ErrorCategory.INCORRECT_SEVERITY
    return FindingError(
        category=category,
        significant=matters,
        sentence=f"Reference: {phrase(ref, lexicon)}; candidate: {phrase(cand, lexicon)}.",
        attribute=attribute,
        reference=ref.head,
        candidate=cand.head,
        reference_spans=ref.spans,
        candidate_spans=cand.spans,
    )


def _location_error(ref: Unit, cand: Unit, lexicon: Lexicon) -> bool | None:
    """Return whether a wrong place matters; None if the places agree. A place added to none is no error."""
    if ref.side and cand.side and ref.side != cand.side:
        return "bilateral" not in (ref.side, cand.side)
    if not near(ref.zones, cand.zones, lexicon):
        return True
    return None


def _device_error(ref: Unit, cand: Unit, lexicon: Lexicon) -> bool | None:
    """Return whether a wrong device position matters; None if the positions agree."""
    a, b = ref.head, cand.head
    if {position(a, lexicon), position(b, lexicon)} == {"good", "bad"}:
        return True
    if a.route and b.route and a.route != b.route and "chest_wall" not in (a.route, b.route):
        return False
    steps = max(_tip_steps(a.tip, b.tip, lexicon), _tip_steps(b.tip, a.tip, lexicon))
    return steps >= TIP_SIGNIFICANT_STEPS if steps >= TIP_STEPS else None


def position(device: Finding, lexicon: Lexicon) -> str | None:
    """Return whether a device lies well, as stated or as its depth above the carina tells."""
    depths = lexicon.concepts[device.concept].carina_cm
    if device.position is None and depths:
        return "good" if any(depths[0] <= mm / 10 <= depths[-1] for mm in device.measurements_mm) else None
    return device.position


def _acute(unit: Unit, lexicon: Lexicon) -> bool | None:
    """Return whether a finding is called acute or old, None if neither."""
    acuity = next((f.acuity for f in unit.readings if f.acuity), None)
    return acuity not in lexicon.old if acuity else None


def _tip_steps(a: frozenset[str], b: frozenset[str], lexicon: Lexicon) -> int:
    """Return how far the tip of ``a`` that fits ``b`` least lies from the tips of ``b`` on the same path."""
    worst = 0
    for x in a:
        path, order, x_wide = lexicon.tips[x]
        distances = [
            max(0, abs(order - y_order) - x_wide - y_wide)  # "the SVC" is all of it
            for y_path, y_order, y_wide in (lexicon.tips[y] for y in b)
            if y_path == path
        ]
        worst = max(worst, min(distances, default=0))
    return worst


def _severity_steps(ref: Unit, cand: Unit) -> int:
    """Return the steps between two stated severities, 0 if one is not stated."""
    a = next((f.severity for f in ref.readings if f.severity is not None), None)
    b = next((f.severity for f in cand.readings if f.severity is not None), None)
    return abs(a - b) if a is not None and b is not None else 0


def _measurement_error(ref: Unit, cand: Unit, device: bool) -> bool | None:
    """Return whether two sizes differ by more than the thresholds; None if they agree or one is missing."""
    a = max((n for f in ref.readings for n in f.measurements_mm), default=None)
    b = max((n for f in cand.readings for n in f.measurements_mm), default=None)
    if a is None or b is None or a == b:
        return None
    difference = abs(a - b)
    if device:
        return difference > TUBE_SIGNIFICANT_MM if difference > TUBE_DIFFERENCE_MM else None
    if difference <= max(READING_ERROR_MM, READING_ERROR * a):
        return None
    if a >= MASS_MM:
        return difference / a > MASS_RELATIVE_DIFFERENCE or b < MASS_MM
    limit = SMALL_NODULE_DIFFERENCE_MM if a < SMALL_NODULE_MM else NODULE_DIFFERENCE_MM
    return difference > limit


def _interpretation_errors(ref: Unit, cand: Unit, lexicon: Lexicon) -> list[tuple[Attribute, bool]]:
    """Return over- and underinterpretation: one report commits to what the other only describes."""
    pairs = [(x.concept, y.concept) for x in ref.readings for y in cand.readings]
    if any(concept_similarity(x, y, lexicon) >= INTERCHANGEABLE for x, y in pairs):
        return []
    a, b = lexicon.concepts[ref.head.concept], lexicon.concepts[cand.head.concept]
    matters = (a.significance in SIGNIFICANT) != (b.significance in SIGNIFICANT) or (a.condition != b.condition)
    if a.key in b.ancestors:
        return [("overinterpretation", matters)]
    if b.key in a.ancestors:
        return [("underinterpretation", matters)]
    return []


def _temporal_errors(ref: Unit, cand: Unit, lexicon: Lexicon) -> list[FindingError]:
    """Return E if the candidate makes a comparison the reference does not, F if it leaves a change out."""
    a = next((f.change for f in ref.readings if f.change), None)
    b = next((f.change for f in cand.readings if f.change), None)
    if b and b != a and not (a is None and b == "stable"):
        opposed = a is not None and "stable" not in (a, b)
        return [_attribute_error(ref, cand, "temporal", opposed, lexicon, ErrorCategory.FALSE_COMPARISON)]
    if a and a != "stable" and b is None:
        return [_attribute_error(ref, cand, "temporal", False, lexicon, ErrorCategory.MISSING_COMPARISON)]
    return []


def _agreed_normals(reference: Reading, candidate: Reading) -> tuple[str, ...]:
    """Return the concepts that both reports deny."""
    other = {f.concept for f in candidate.findings if f.assertion == "absent"}
    return tuple(dict.fromkeys(f.concept for f in reference.findings if f.assertion == "absent" and f.concept in other))


def phrase(unit: Unit, lexicon: Lexicon) -> str:
    """Return an observation in words: "small right upper lobe nodule (4 mm)"."""
    head = unit.head
    words = []
    if head.assertion == "uncertain":
        words.append("possible")
    words.append(_severity_word(unit, lexicon))
    if unit.side:
        words.append(unit.side)
    name = " or ".join(dict.fromkeys(lexicon.concepts[f.concept].name for f in unit.readings))
    zones = (lexicon.zones[zone].name for zone in sorted(unit.zones))
    words.extend(z for z in zones if z not in name)
    words.append(name)
    if head.route:
        words.append(f"({head.route.replace('_', ' ')})")
    if head.tip:
        words.append("with tip in " + ", ".join(t.replace("_", " ") for t in sorted(head.tip)))
    if head.position:
        words.append(f"({lexicon.position_names[head.position]})")
    if head.measurements_mm:
        words.append("(" + " x ".join(f"{n:g}" for n in head.measurements_mm) + " mm)")
    if head.change:
        words.append(f"({head.change})")
    return " ".join(w for w in words if w)


def _severity_word(unit: Unit, lexicon: Lexicon) -> str:
    step = next((f.severity for f in unit.readings if f.severity is not None), None)
    if step is None:
        return ""
    if unit.head.concept in lexicon.roles["sized"] and step in lexicon.size_names:
        return lexicon.size_names[step]
    return next((key.replace("_", " ") for key, value in lexicon.severity.items() if value == step), "")
