"""What a comparison means for the patient: every finding in its class, every difference graded, with reasons.

The rubric of CRIMSON (arXiv 2603.06183) without its LLM. A finding's class of significance comes from its concept and
from the patient's age and indication (`lexicon/*/context.yaml`). A difference in an attribute of a matched finding is
significant if it could change treatment: the other side; an attribute that would put the finding into another class;
sizes, severities and tips further apart than readers differ; a word vaguer or more exact than the picture allows
(`lexicon/*/rubric.yaml`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from rrgmetrics.comparing.device_positions import position
from rrgmetrics.comparing.differences import acute, attribute_errors, diagnoses, doubted, is_turned, opposed
from rrgmetrics.comparing.graded_findings import Graded, graded, graded_claim, regraded
from rrgmetrics.comparing.model import INTERPRETED, SIGNIFICANT, Attribute, ErrorCategory, Link, ReportComparison, Unit
from rrgmetrics.comparing.significance import harm, indication_kinds, position_of
from rrgmetrics.reading.lexicon import Lexicon, lexicon_of
from rrgmetrics.reading.model import Significance
from rrgmetrics.reading.places import at_one_place, near
from rrgmetrics.reading.similarity import related
from rrgmetrics.reports import Context

READERS_DIFFER_MM = 1.0  # two readers of one nodule
ONE_SIDED_CHANGE = 0.5  # what a change that only one report has weighs of one that the candidate turns round


class Difference(NamedTuple):
    """What two reports say differently of a matched finding (indices), and why that matters or not.

    `part` is below 1 for what the candidate leaves out, and for a change that only one report has: which part of a
    wrong one that costs.
    """

    reference: int
    candidate: int
    attribute: Attribute
    significant: bool
    why: str
    part: float = 1


@dataclass(frozen=True, slots=True)
class Appraisal:
    """Both reports' observations, which of them match (`links`), and what differs.

    `missing` and `false` are the indices of those that only one report has.
    """

    references: tuple[Graded, ...]
    candidates: tuple[Graded, ...]
    links: tuple[tuple[int, int], ...]
    missing: tuple[int, ...]
    false: tuple[int, ...]
    differences: tuple[Difference, ...]


def appraise(comparison: ReportComparison, context: Context) -> Appraisal:
    """Grades a comparison in the patient's context.

    Args:
        comparison: Of the reference's reading with the candidate's.
        context: age, sex and indication of the patient, as far as they are known.

    Returns:
        Appraisal: every reference observation is matched or missing, every candidate's matched or false; what the other
            report denies by its name is missing or false.

    Example:
        >>> from rrgmetrics.comparing import compare
        >>> from rrgmetrics.reading import read
        >>> comparison = compare(read("Large left pneumothorax. Old rib fracture."), read("Left lung lucency."))
        >>> appraisal = appraise(comparison, Context())
        >>> [(finding.words, finding.significance) for finding in appraisal.references]
        [('large left pneumothorax', 'urgent'), ('rib fracture', 'benign_expected')]
        >>> appraisal.missing, [difference.attribute for difference in appraisal.differences]
        ((1,), ['underinterpretation'])
    """
    lexicon = lexicon_of(comparison)
    refs = tuple(graded(unit, context, lexicon) for unit in comparison.references)
    cands = tuple(
        graded_claim(unit, [comparison.references[r] for r, k, _ in comparison.links if k == c], context, lexicon)
        for c, unit in enumerate(comparison.candidates)
    )
    grader = _Grader(refs, cands, [], context, lexicon)
    links = [link for link in comparison.links if not grader.apart(link)]
    matched = {(link.reference, link.candidate) for link in links}
    grader.links.extend(links := links + _vague_links(refs, cands, links, lexicon))
    linked = dict.fromkeys((link.reference, link.candidate) for link in links)
    differences = tuple(difference for link in links for difference in grader.differences(link))
    missing = tuple(r for r, ref in enumerate(refs) if ref.unit.denied or all(r != pair[0] for pair in linked))
    false = tuple(c for c, cand in enumerate(cands) if cand.unit.denied or all(c != pair[1] for pair in linked))
    return Appraisal(
        references=regraded(refs, missing, cands, tuple(c for _, c in linked), "class", lexicon),
        candidates=regraded(cands, false, refs, tuple(r for r, _ in linked), "added", lexicon),
        links=tuple(linked),
        missing=missing,
        false=false,
        differences=(
            *differences,
            *_denied(comparison, matched, differences),
            *_left_out(comparison, matched, differences),
        ),
    )


def _denied(
    comparison: ReportComparison, matched: Collection[tuple[int, int]], differences: Sequence[Difference]
) -> Iterator[Difference]:
    """Yields what one report takes a picture for, and the other, which shows the picture too, denies."""
    wrong = {(d.reference, d.candidate) for d in differences if d.significant and d.attribute in INTERPRETED}
    for error in comparison.errors:
        if error.contradicts and error.attribute is None and error not in comparison.penalties:
            false = error.category is ErrorCategory.FALSE_FINDING
            named = error.candidate if false else error.reference
            for r, c in sorted({*matched} - wrong):
                unit = comparison.candidates[c] if false else comparison.references[r]
                if named is not None and unit.head.observation == named.observation and not unit.denied:
                    attribute: Attribute = "overinterpretation" if false else "underinterpretation"
                    yield Difference(r, c, attribute, error.significant, "the other report denies it")
                    break


def _left_out(
    comparison: ReportComparison, matched: Collection[tuple[int, int]], differences: Sequence[Difference]
) -> Iterator[Difference]:
    """Yields what the candidate leaves out of what matches, unless the rubric finds something of the kind wrong."""
    both = comparison.references, comparison.candidates
    refs, cands = ({unit.head.observation: i for i, unit in enumerate(units)} for units in both)
    wrong = {(each.reference, _is_of_place(each.attribute)) for each in differences if each.attribute != "temporal"}
    for error in comparison.errors:
        if error.is_left_out and error.attribute and error.reference and error.candidate:
            r, c = refs[error.reference.observation], cands[error.candidate.observation]
            if (r, c) in matched and (r, _is_of_place(error.attribute)) not in wrong:
                why = error.sentence.partition(":")[0].lower()
                yield Difference(r, c, error.attribute, error.significant, why, error.part)


def _is_of_place(attribute: Attribute) -> bool:
    return attribute in ("location", "device_position")


def _vague_links(
    refs: tuple[Graded, ...], cands: tuple[Graded, ...], links: list[Link], lexicon: Lexicon
) -> list[Link]:
    """Links what is left over where one report names at one place what the other describes ("lucency").

    What only describes once more what the other report names, and both agree on, adds to that match ("prominent
    markings" beside the edema).
    """
    free_refs = [r for r in range(len(refs)) if all(link.reference != r for link in links)]
    free_cands = [c for c in range(len(cands)) if all(link.candidate != c for link in links)]
    vague: list[Link] = []

    def fits(r: int, c: int) -> _Row | None:
        a, b = refs[r].unit, cands[c].unit
        if a.denied or b.denied:
            return None
        one_place = at_one_place(a, b, lexicon)
        if _turned(refs[r], cands[c], lexicon) or _turned(cands[c], refs[r], lexicon):
            return None
        return _row(a.head.concept, b.head.concept, lexicon) if one_place else None

    for r in list(free_refs):
        c = next((c for c in free_cands if fits(r, c)), None)
        if c is not None:
            vague.append(Link(r, c))
            free_refs.remove(r)
            free_cands.remove(c)
    for link in links:
        for r in [r for r in free_refs if (row := fits(r, link.candidate)) and row.over]:
            vague.append(Link(r, link.candidate, other_words=True))
            free_refs.remove(r)
        for c in [c for c in free_cands if (row := fits(link.reference, c)) and not row.over]:
            vague.append(Link(link.reference, c, other_words=True))
            free_cands.remove(c)
    return vague


@dataclass(frozen=True, slots=True)
class _Grader:
    """Grades the differences of linked observations."""

    refs: tuple[Graded, ...]
    cands: tuple[Graded, ...]
    links: list[Link]
    context: Context
    lexicon: Lexicon

    def apart(self, link: Link) -> bool:
        """Whether two linked observations are two findings after all.

        A device called malpositioned by one report and well positioned by the other: the danger is denied. Words that
        are not interchangeable, for pictures at two places: an opacity at the apex is no atelectasis at the base. A
        normal variant or an artefact that the other report makes a disease of. What is old and harmless, and the
        candidate makes fresh.
        """
        ref, cand = self.refs[link.reference], self.cands[link.candidate]
        heads = (ref.unit.head, cand.unit.head)
        positions = {position_of(head, self.lexicon) or position(head, self.lexicon) for head in heads}
        told = all(head.position for head in heads) or heads[0].tip.isdisjoint(heads[1].tip)
        if positions == {"good", "bad"} and told:
            return ref.matters or cand.matters
        if _turned(ref, cand, self.lexicon) or _turned(cand, ref, self.lexicon):
            return True
        a, b = ref.unit, cand.unit
        if acute(a, self.lexicon) is False and acute(b, self.lexicon) and cand.matters and not ref.matters:
            return True
        elsewhere = {a.side, b.side} == {"left", "right"} or not near(a.zones, b.zones, self.lexicon)
        return elsewhere and self.wording(ref, cand) is not None

    def differences(self, link: Link) -> Iterator[Difference]:
        """Yields the differences of one link, at most one for each attribute."""
        ref, cand = self.refs[link.reference], self.cands[link.candidate]
        if ref.unit.denied or cand.unit.denied:
            return
        said = self._said_elsewhere(link)
        grades = [] if said else [self.wording(ref, cand)]
        if not link.other_words:
            errors = attribute_errors(ref.unit, cand.unit, self.lexicon)
            stated = {error.attribute: error.significant for error in errors if error.attribute}
            if "measurement" in stated:
                grades.clear()  # the sizes say what tells a nodule from a mass
            against = self.opposed(ref, cand)
            if against:
                stated.pop("descriptor", None)
            grades += [self.graded(link, attribute, matters) for attribute, matters in stated.items()]
            grades += [self.certainty(ref, cand), against]
            if stated.keys().isdisjoint(("device_position", "measurement")):
                grades.append(self.malposition(ref, cand))
        if not said:
            grades.append(self.misnamed(ref, cand))
        for each in filter(None, grades):
            if each.attribute == "temporal" and not is_turned(ref.unit, cand.unit):
                one_sided = each._replace(why=_why_one_sided(ref.unit))
                yield Difference(link.reference, link.candidate, *one_sided, part=ONE_SIDED_CHANGE)
            else:
                yield Difference(link.reference, link.candidate, *each)

    def _said_elsewhere(self, link: Link) -> bool:
        """Whether both reports also agree on one of the two in one word, so that this one only adds to it."""
        return link.other_words and any(
            not other.other_words and (other.reference == link.reference or other.candidate == link.candidate)
            for other in self.links
        )

    def wording(self, ref: Graded, cand: Graded) -> _Grade | None:
        """Returns over- or underinterpretation; None if any two of the words they offer are interchangeable."""
        grades = [self.words(ref, x.concept, cand, y.concept) for x in ref.unit.readings for y in cand.unit.readings]
        related = [grade for grade in grades if grade is not _UNRELATED]
        if not related or None in related:
            return None
        return min((grade for grade in related if grade), key=lambda grade: grade.significant)

    def words(self, ref: Graded, x: str, cand: Graded, y: str) -> _Grade | None:
        """Returns how the candidate's concept `y` stands to the reference's `x`; None if they say the same."""
        if x == y or (x in self.lexicon.roles["device_sum"]) != (y in self.lexicon.roles["device_sum"]):
            return None
        one, other = self.lexicon.concepts[x], self.lexicon.concepts[y]
        new_class = _differ(ref.significance, cand.significance)
        row = _row(x, y, self.lexicon)
        if row:
            over = row.over
            kinds = indication_kinds(self.lexicon, self.context.indication)
            if row.matters == "never" or not kinds.isdisjoint(row.unless):
                return None
            if self.shown(*((self.refs, ref, y) if over else (self.cands, cand, x))):
                return None
            matters = row.matters == "always" or new_class
        elif y in one.same_as or x in other.same_as:
            return None
        elif x in other.ancestors or y in one.ancestors:
            over = x in other.ancestors
            matters = new_class or one.condition != other.condition
        else:
            return _UNRELATED
        how = f"{other.name} says {'more' if over else 'less'} than {one.name}"
        why = "would lead to other steps" if matters else "would lead to the same steps"
        return _Grade("overinterpretation" if over else "underinterpretation", matters, f"{how}, which {why}")

    def shown(self, report: tuple[Graded, ...], vague: Graded, concept: str) -> bool:
        """Whether a report shows elsewhere what the exacter word names: a pneumothorax with shift is tension."""
        signs = (finding.concept for each in report if each is not vague for finding in each.unit.readings)
        return any(concept in self.lexicon.concepts[sign].sign_of for sign in signs)

    def graded(self, link: Link, attribute: Attribute, matters: bool) -> _Grade | None:
        """Returns an attribute error of the comparison, graded; None if it is none here."""
        ref, cand = self.refs[link.reference], self.cands[link.candidate]
        if attribute in ("overinterpretation", "underinterpretation", "certainty"):
            return None  # see wording, certainty
        if attribute == "location":
            return self.location(link, matters)
        if attribute == "measurement" and abs(_largest(ref) - _largest(cand)) <= READERS_DIFFER_MM:
            return None
        changes = _SUBSTITUTED.get(attribute)
        if changes and not matters:
            value = next(
                (getattr(finding, changes) for finding in cand.unit.readings if getattr(finding, changes)), None
            )
            matters = value is not None and self.changes_class(ref, **{changes: value})
        return _Grade(attribute, matters, _WHY[attribute][matters])

    def location(self, link: Link, matters: bool) -> _Grade | None:
        """Returns a wrong place; both sides may be said by two observations of one report."""
        ref, cand = self.refs[link.reference], self.cands[link.candidate]
        if not matters and "bilateral" in (ref.unit.side, cand.unit.side):
            sides = {"ref": self._sides(link, "reference"), "cand": self._sides(link, "candidate")}
            if sides["ref"] == sides["cand"]:
                return None
            return _Grade("location", ref.matters, "one side of two" + _NOT_MANAGED[ref.matters])
        return _Grade("location", matters, _WHY["location"][matters])

    def _sides(self, link: Link, report: str) -> set[str]:
        """Returns the sides one report gives to what is linked with either end of a link."""
        graded = self.refs if report == "reference" else self.cands
        sides: set[str] = set()
        for other in self.links:
            if other.reference == link.reference or other.candidate == link.candidate:
                side = graded[getattr(other, report)].unit.side
                sides |= {"left", "right"} if side == "bilateral" else {side or ""}
        return sides

    def certainty(self, ref: Graded, cand: Graded) -> _Grade | None:
        """Returns a finding that one report states and the other only considers."""
        if not doubted(ref.unit, cand.unit, self.lexicon):
            return None
        matters = ref.matters or self.changes_class(ref, assertion=cand.unit.head.assertion)
        return _Grade("certainty", matters, _WHY["certainty"][matters])

    def misnamed(self, ref: Graded, cand: Graded) -> _Grade | None:
        """Returns another diagnosis for the picture that both reports describe.

        What the reference names in the sentence that describes the picture may be meant for it too.
        """
        sentence = ref.unit.head.sentence
        beside = (each for each in self.refs if each.unit.head.sentence == sentence)
        mine = self._diagnoses(ref) or {name: None for each in beside for name in self._diagnoses(each)}
        theirs = self._diagnoses(cand)
        if not mine or not theirs or any(related(x, y, self.lexicon) for x in mine for y in theirs):
            return None
        one, other = (self.lexicon.concepts[next(iter(names))].name for names in (mine, theirs))
        return _Grade("overinterpretation", True, f"{other} instead of {one}, which would lead to other steps")

    def _diagnoses(self, graded: Graded) -> dict[str, None]:
        """Returns the diagnoses among the readings of an observation, in their order."""
        return dict.fromkeys(finding.concept for finding in diagnoses(graded.unit, self.lexicon))

    def opposed(self, ref: Graded, cand: Graded) -> _Grade | None:
        """Returns two descriptions that exclude each other."""
        if not opposed(ref.unit, cand.unit, self.lexicon):
            return None
        return _Grade("descriptor", ref.matters, _WHY["descriptor"][ref.matters])

    def malposition(self, ref: Graded, cand: Graded) -> _Grade | None:
        """Returns a malposition that only one report tells of, while the other is silent about the position."""
        one, other = (position_of(graded.unit.head, self.lexicon) for graded in (ref, cand))
        if (one == "bad") == (other == "bad") or ref.unit.head.tip & cand.unit.head.tip:
            return None
        return _Grade("device_position", True, "only one report mentions the malposition")

    def changes_class(self, ref: Graded, **values: Any) -> bool:
        """Whether the reference's finding with another value of an attribute would be of another class."""
        changed = harm(replace(ref.unit.head, **values), self.context, self.lexicon)
        return _differ(ref.significance, changed.significance)


def _largest(graded: Graded) -> float:
    return max((mm for finding in graded.unit.readings for mm in finding.measurements_mm), default=0.0)


def _turned(one: Graded, other: Graded, lexicon: Lexicon) -> bool:
    """Whether one is harmless and the other a disease that says more than a vague word for it would."""
    harmless, disease = one.unit.head.concept, other.unit.head.concept
    if one.significance not in lexicon.rubric["harmless"] or not other.matters:
        return False
    if not {each.concept for each in one.unit.readings}.isdisjoint(each.concept for each in other.unit.readings):
        return False  # both name it: "an air-fluid level, a hernia" and "a hernia, unchanged"
    return disease not in lexicon.concepts[harmless].ancestors and _row(harmless, disease, lexicon) is None


class _Grade(NamedTuple):
    attribute: Attribute
    significant: bool
    why: str


_UNRELATED = _Grade("descriptor", False, "")
_SUBSTITUTED = {"severity": "severity", "measurement": "measurements_mm", "descriptor": "acuity"}
_NOT_MANAGED = {True: ", which would change the treatment", False: ", which would not change the treatment"}
_WHY: dict[str, dict[bool, str]] = {
    attribute: {matters: words + _NOT_MANAGED[matters] for matters in (True, False)}
    for attribute, words in {
        "location": "another place",
        "device_position": "another position",
        "severity": "another severity",
        "measurement": "another size",
        "certainty": "another certainty",
        "descriptor": "another description",
        "temporal": "another course",
    }.items()
}


def _why_one_sided(reference: Unit) -> str:
    """Says which report has a change that the other one does not report."""
    has_change = any(reading.change not in (None, "stable") for reading in reference.readings)
    return "change left out" if has_change else "only the candidate reports a change"


def _differ(a: Significance, b: Significance) -> bool:
    """Whether two classes call for different actions: none, some, at once."""
    return (a in SIGNIFICANT, a == "urgent") != (b in SIGNIFICANT, b == "urgent")


class _Row(NamedTuple):
    """Whether the wording of two concepts matters, and whether the candidate's is the exacter one (`over`)."""

    over: bool
    matters: Literal["always", "class", "never"]
    unless: frozenset[str]


def _row(x: str, y: str, lexicon: Lexicon) -> _Row | None:
    """Returns the row of the rubric for the reference's concept `x` and the candidate's `y`, the nearest first."""
    for precise, vague, over in ((x, y, False), (y, x, True)):
        for name in (precise, *lexicon.concepts[precise].ancestors):
            row = lexicon.rubric["precision"].get((name, vague))
            if row and name != vague:
                return _Row(over, row["matters"], row["unless"])
    return None
