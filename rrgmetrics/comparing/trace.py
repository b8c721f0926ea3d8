"""How two readings were compared, in words: the counterpart of each observation, and the steps behind each error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from rrgmetrics.comparing.alignment import set_beside
from rrgmetrics.comparing.decisions import Decisions, Recorded, Thing, decision
from rrgmetrics.comparing.differences import STEPS
from rrgmetrics.comparing.model import (
    ComparisonTrace,
    Decision,
    FindingError,
    Report,
    ReportComparison,
    TracedError,
    TracedUnit,
    Uncounted,
    Unit,
)
from rrgmetrics.comparing.observations import is_observation
from rrgmetrics.comparing.omissions import left_out
from rrgmetrics.comparing.policies import at_stake
from rrgmetrics.comparing.significance import level, rule_of
from rrgmetrics.comparing.similarity import MATCH, assign, place_similarity, similarity
from rrgmetrics.comparing.wording import ARROW, NOT_GIVEN, differing, phrase
from rrgmetrics.reading.lexicon import Lexicon, lexicon_of, per_lexicon
from rrgmetrics.reading.lexicon.terms import Source
from rrgmetrics.reading.model import Finding, Reading
from rrgmetrics.reading.similarity import concept_similarity
from rrgmetrics.reading.trace_text import title_of
from rrgmetrics.reports import Context

_ONCE = frozenset({"overinterpretation", "underinterpretation", "descriptor"})  # attributes that share their words


def make_trace(
    comparison: ReportComparison, decisions: Decisions, readings: tuple[Reading, Reading], context: Context
) -> ComparisonTrace:
    """Returns the trace of a comparison from what was recorded of it.

    Args:
        comparison: Of the two readings.
        decisions: What its steps decided.
        readings: The reference's, and the candidate's as it claims them.
        context: The patient's.
    """
    made = _Tracer(comparison, decisions, *readings, context, lexicon_of(comparison))
    return ComparisonTrace(
        units=(*made.units("reference"), *made.units("candidate")),
        errors=tuple(TracedError(error, tuple(dict.fromkeys(made.behind(error)))) for error in comparison.errors),
        uncounted=(*made.excused(), *made.denied()),
    )


class _Tracer(NamedTuple):
    """What a trace is made from."""

    comparison: ReportComparison
    decisions: Decisions
    reference: Reading
    candidate: Reading
    context: Context
    lexicon: Lexicon

    def units(self, report: Report) -> Iterator[TracedUnit]:
        """Yields the observations of a report with their counterparts, or why they have none."""
        both = self.comparison.references, self.comparison.candidates
        own, theirs = (0, 1) if report == "reference" else (1, 0)  # places in `both`, and in a link
        mine, others = both[own], both[theirs]
        taken = {link[theirs] for link in self.comparison.links if not link.other_words}
        for i, unit in enumerate(mine):
            steps = self._steps(unit)
            linked = [link for link in self.comparison.links if link[own] == i]
            for link in linked:
                other = others[link[theirs]]
                if link.other_words:
                    steps.append(decision(set_beside, f"says the same as {self._words(other)}"))
                else:
                    steps.append(decision(assign, f"matched with {self._words(other)}: {self._likeness(unit, other)}"))
                    if report == "reference":
                        steps += self._agreeing(unit, other)
            if not linked:
                steps.append(self._nearest(unit, others, taken))
            yield TracedUnit(report, unit, self._words(unit), tuple(steps))

    def _words(self, unit: Unit) -> str:
        return phrase(unit, self.lexicon)

    def _likeness(self, a: Unit, b: Unit) -> str:
        """How far two observations are the same: "pneumonia, consolidation 0.80, place 1.00, likeness 0.80"."""
        pairs = [(x.concept, y.concept) for x in a.readings for y in b.readings]
        x, y = max(pairs, key=lambda pair: concept_similarity(pair[0], pair[1], self.lexicon))
        name = "same concept" if x == y else f"{x} and {y} {concept_similarity(x, y, self.lexicon):.2f}"
        whole = similarity(a, b, self.lexicon)
        return f"{name}, place {place_similarity(a, b, self.lexicon):.2f}, likeness {whole:.2f}"

    def _nearest(self, unit: Unit, others: Sequence[Unit], taken: Set[int]) -> Decision:
        """Why an observation has no counterpart."""
        scores = [
            max(concept_similarity(x.concept, y.concept, self.lexicon) for x in unit.readings for y in other.readings)
            for other in others
        ]
        near = max(range(len(others)), key=lambda i: (similarity(unit, others[i], self.lexicon), scores[i]), default=0)
        if not any(scores):
            return decision(assign, "no counterpart: the other report has no observation of a like name")
        if similarity(unit, others[near], self.lexicon) >= MATCH and near in taken:
            why = "which is the counterpart of another"
        else:
            why = f"a counterpart has a likeness of {MATCH}"
        like = self._likeness(unit, others[near])
        return decision(assign, f"no counterpart: the nearest is {self._words(others[near])} ({like}), {why}")

    def _agreeing(self, ref: Unit, cand: Unit) -> Iterator[Decision]:
        """Yields what the reports say differently of a matched finding, and which step counts it as no error."""
        things = [*self.comparison.errors, *self.decisions.excused]
        found = {
            "descriptor" if thing.attribute in _ONCE else thing.attribute
            for thing in things
            if isinstance(thing, FindingError)
            and (thing.reference and thing.reference.observation, thing.candidate and thing.candidate.observation)
            == (ref.head.observation, cand.head.observation)
        }
        if "device_position" in found:
            found |= {"location", "measurement"}  # a wrong side, tip and depth are one wrong place
        for attribute, name, a, b in differing(ref, cand, self.lexicon):
            step = STEPS.get(name) if attribute == "descriptor" else STEPS.get(attribute)
            if step is not None and attribute not in found:
                step = left_out if a and not b and attribute != "temporal" else step
                yield decision(step, f"no error: {name} {a or NOT_GIVEN} {ARROW} {b or NOT_GIVEN}")

    def behind(self, error: FindingError) -> Iterator[Decision]:
        """Yields the steps that made an error, and the row that gives its finding its class."""
        yield from self._steps(error)
        levels = [(finding, level(finding, self.context, self.lexicon)) for finding in at_stake(error, self.lexicon)]
        if error.significance not in {found.significance for _, found in levels}:
            return  # a step above gave it its class
        for finding, found in levels:
            rule = rule_of(finding, self.context, self.lexicon)
            place = self._row(rule) if rule else _concepts(self.lexicon).get(finding.concept, "")
            why = f": {found.why}" if found.why else ""
            yield decision(level, f"{finding.concept} is {found.significance}{why}", place)

    def excused(self) -> Iterator[Uncounted]:
        """Yields what steps left out, with these steps."""
        units = [*self.comparison.references, *self.comparison.candidates]
        for thing in self.decisions.excused:
            if not any(thing is unit for unit in units):  # their own blocks tell of them
                yield Uncounted(self._title(thing), tuple(self._steps(thing)))

    def denied(self) -> Iterator[Uncounted]:
        """Yields what one report alone denies or cannot exclude, unless an error is about it."""
        told = {id(finding) for error in self.comparison.errors for finding in (error.reference, error.candidate)}
        for finding in (*self.reference.findings, *self.candidate.findings):
            one = is_observation(finding, self.lexicon) or finding.concept in self.comparison.agreed_normals
            if not one and id(finding) not in told:
                yield Uncounted(
                    self._title(finding),
                    (decision(is_observation, "not counted: one report alone denies it or cannot exclude it"),),
                )

    def _title(self, thing: Thing) -> str:
        if isinstance(thing, FindingError):
            return thing.sentence
        finding = thing.head if isinstance(thing, Unit) else thing
        reading, report = next(
            ((reading, report) for reading, report in self._reports() if self._is_of(finding, reading)),
            (self.candidate, "candidate"),
        )
        return f'{report} "{reading.evidence(finding)}", {title_of(finding)}'

    def _reports(self) -> tuple[tuple[Reading, Report], tuple[Reading, Report]]:
        return (self.reference, "reference"), (self.candidate, "candidate")

    @staticmethod
    def _is_of(finding: Finding, reading: Reading) -> bool:
        """Whether a finding, or what a step made of it, is of a reading."""
        key = finding.concept, finding.spans
        return any(key == (other.concept, other.spans) for other in (*reading.findings, *reading.told))

    def _steps(self, thing: Thing) -> list[Decision]:
        """The steps that decided on a thing, with what each decided; the last one of what is left out says why."""
        steps = self.decisions.of(thing)
        left_out = any(thing is each for each in self.decisions.excused)
        return [self._placed(each, thing, left_out and each is steps[-1]) for each in steps]

    def _placed(self, recorded: Recorded, thing: Thing, is_excuse: bool) -> Decision:
        said = recorded.what or (self._outcome(thing) if isinstance(thing, FindingError) else "")
        if is_excuse and not recorded.what:
            said = f"not counted: {decision(recorded.step).what}"
        return decision(recorded.step, said, self._row(recorded.row))

    def _outcome(self, error: FindingError) -> str:
        """Which findings an error is about, and what came of them: '"left mass" paired with "right mass": error C'."""
        found = zip((error.reference, error.candidate), self._reports(), strict=True)
        words = [f'"{reading.evidence(finding)}"' for finding, (reading, _) in found if finding is not None]
        if len(words) < 2:
            return f"{f'no pair for {words[0]}: ' if words else ''}error {error.category.letter}"
        joined = "against" if error.contradicts else "paired with"
        return f"{words[0]} {joined} {words[1]}: error {error.category.letter}"

    def _row(self, row: Mapping[str, Any] | None) -> str:
        """The file and line of a row of the lexicon."""
        return next((place for other, place in _rows(self.lexicon) if other == row), "") if row else ""


@per_lexicon
def _rows(lexicon: Lexicon) -> tuple[tuple[object, str], ...]:
    """The rows of rubric.yaml and context.yaml with their file and line, those of later layers first."""
    return tuple(
        (row, _place(source, node))
        for source in reversed(_sources(lexicon))
        if source.name in ("rubric", "context")
        for key, nodes in source.node.value
        if isinstance(rows := source.content[key.value], list)
        for row, node in zip(rows, nodes.value, strict=True)
    )


@per_lexicon
def _concepts(lexicon: Lexicon) -> dict[str, str]:
    """The file and line of each concept, where its significance is."""
    return {
        key.value: _place(source, key)
        for source in _sources(lexicon)
        if source.holds_concepts
        for key, _ in source.node.value
        if "significance" in source.content[key.value]
    }


@per_lexicon
def _sources(lexicon: Lexicon) -> list[Source]:
    from rrgmetrics.reading.lexicon.checking import sources

    return sources(lexicon.key)


def _place(source: Source, node: Any) -> str:
    return f"{'/'.join(source.path.parts[-2:])}:{node.start_mark.line + 1}"
