"""The suite: what becomes of each report by each kind of change (`kinds`).

Errors are put in where the reader finds a finding, and stand if the reader sees errors of the category that is meant
and no other; of a hedge, which it does not count, no change at all. So whatever rests on the reader sees them by
construction. A kind that a report offers nothing for is counted, and no pair is made of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import NamedTuple

from rrgmetrics.comparing.model import Unit
from rrgmetrics.comparing.significance import significance
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.stress.kinds import ALONE, KINDS, OTHER, kinds_of
from rrgmetrics.metaeval.tricks import added, evaded, standalone
from rrgmetrics.reading import Reading
from rrgmetrics.reading.lexicon import load
from rrgmetrics.reading.scope import CHEST_CT, out_of_scope
from rrgmetrics.reports import Context, check_report
from rrgmetrics.synthesis.edits import attributes, grades, negation, perturb, presence, style
from rrgmetrics.synthesis.edits.evasions import hide
from rrgmetrics.synthesis.edits.page import Page
from rrgmetrics.synthesis.edits.paraphrase import paraphrase
from rrgmetrics.synthesis.edits.sentences import reorder
from rrgmetrics.synthesis.edits.words import edit_words
from rrgmetrics.synthesis.readings import reading_of
from rrgmetrics.utils.progress import watched

N_REPORTS = 300
PER_KIND = 100
MOST_ERRORS = 4
HONEST = 2  # errors of the report that tricks are played on
TRIES = 6
GRADES = {"urgent": "urgent", "actionable_not_urgent": "actionable"}  # of clinical significance; all others are minor


class Case(NamedTuple):
    """A changed report: of which report, by which kind, and the text."""

    report: int
    kind: str
    candidate: str


@dataclass(frozen=True)
class Suite:
    """Reports and what became of them.

    Attributes:
        reports: The reports; each is the reference of its cases.
        cases: The changed reports.
        tried: By kind, the reports that it was tried on.
        source: Where the reports come from, for people.
        seed: Of the draws.
        by_reader: Whether the reader made the errors, so that it sees them by construction.
    """

    reports: tuple[str, ...]
    cases: tuple[Case, ...]
    tried: Mapping[str, int]
    source: str
    seed: int
    by_reader: bool = True

    @cached_property
    def applied(self) -> Mapping[str, int]:
        """By kind, the reports that it changed."""
        made = Counter(case.kind for case in self.cases)
        return {kind: made[kind] for kind in KINDS}

    def without(self, kind: str) -> int:
        """The reports that offer nothing for a kind."""
        return self.tried[kind] - self.applied[kind]

    @cached_property
    def honest(self) -> Mapping[int, str]:
        """By report, the kind of the text that tricks are played on."""
        kinds = {(case.report, case.kind) for case in self.cases}
        made = ((i, next((k for k in _HONEST if (i, k) in kinds), "")) for i in range(len(self.reports)))
        return {index: kind for index, kind in made if kind}


_HONEST = [f"errors_{n}" for n in range(HONEST, 0, -1)]


@dataclass
class Source:
    """A report of a collection, that is to be changed."""

    texts: Sequence[str]
    index: int
    seed: int
    page: Page = field(init=False)

    def __post_init__(self) -> None:
        self.page = Page(self.text, reading_of(self.text))

    @property
    def text(self) -> str:
        """The report."""
        return self.texts[self.index]

    def another(self, rng: Random) -> str | None:
        """Draws one of the other reports; None where there is no other."""
        if len(self.texts) < 2:
            return None
        drawn = rng.choice(range(len(self.texts) - 1))
        return self.texts[drawn + (drawn >= self.index)]

    @cached_property
    def is_readable(self) -> bool:
        """Whether it is an English report of the chest."""
        return not out_of_scope(self.page.reading.scope, CHEST_CT)

    def donors(self, rng: Random) -> Reading | None:
        """Returns the reading of another report, a finding of which may be added."""
        text = self.another(rng)
        return None if text is None else reading_of(text)

    @cached_property
    def errors(self) -> list[str]:
        """The report with one error, with two, and so on."""
        rng = Random(f"{self.seed} number {self.text}")
        made = perturb.injections(self.page.reading, self.donors, rng, MOST_ERRORS, with_unseen=False)
        return [text for text, _ in made]

    @property
    def honest(self) -> str | None:
        """The report with errors that tricks are played on."""
        return self.errors[min(HONEST, len(self.errors)) - 1] if self.errors else None

    def units(self, rng: Random) -> list[Unit]:
        """Some of the findings, in a drawn order."""
        return rng.sample(self.page.units, min(TRIES, len(self.page.units)))

    def is_error(self, kind: str, text: str | None) -> bool:
        """Whether a text holds the error that is meant, and no other."""
        category = "ABCDEF".index(KINDS[kind].letter)
        return bool(text) and perturb.is_one_error(self.page.reading, text or "", category, unseen=kind == "certainty")


Made = Mapping[str, str | None]
Maker = Callable[[Source, Random], Made]
OfAFinding = Callable[[Page, Unit, Random], str | None]


def build_suite(
    reports: Sequence[str], *, source: str = "", per_kind: int = PER_KIND, seed: int = 0, progress: bool = False
) -> Suite:
    """Changes reports in every way.

    Args:
        reports: The reports.
        source: Where they come from, for people.
        per_kind: Pairs made of each kind at most, from the first reports that offer something for it; 0: no limit.
        seed: Of the draws.
        progress: Whether to show a bar.

    Raises:
        InputError: No report or what is none, a negative number, or reports that offer nothing for any error.
    """
    if isinstance(reports, str):
        raise InputError("reports is one text; pass a list of reports.")
    for index, report in enumerate(reports):
        check_report(report, f"reports[{index}]")
    texts = tuple(text.strip() for text in reports)
    if not any(texts):
        raise InputError("There are no reports to change; pass at least one that is not empty.")
    if per_kind < 0:
        raise InputError(f"per_kind is {per_kind}; pass a number of pairs, or 0 for no limit.")
    sources = [Source(texts, index, seed) for index in range(len(texts))]
    tried, cases = Counter[str](), list[Case]()
    for name, (kinds, make) in watched(MAKERS.items(), "changing reports", "kinds", shown=progress):
        full = Counter[str]()
        for index, each in enumerate(sources):
            wanted = [kind for kind in kinds if not per_kind or full[kind] < per_kind]
            if not wanted:
                break
            made = make(each, Random(f"{seed} {name} {each.text}")) if each.is_readable else {}
            tried.update(wanted)
            new = {kind: text for kind in wanted if (text := made.get(kind)) is not None and text != each.text}
            full.update(new.keys())
            cases += [Case(index, kind, text) for kind, text in new.items()]
    for case in _missing_honest(sources, cases):
        cases.append(case)
        tried[case.kind] += 1
    suite = Suite(texts, tuple(cases), {kind: tried[kind] for kind in KINDS}, source, seed)
    if not any(suite.applied[kind] for kind in kinds_of("error")):
        raise InputError(
            f"No error can be inserted into any of the {len(texts):,} reports; the suite changes English chest "
            "reports that state or negate findings."
        )
    return suite


def _missing_honest(sources: Sequence[Source], cases: Sequence[Case]) -> list[Case]:
    """The honest reports that tricks are played on and that are no cases yet."""
    there = {(case.report, case.kind) for case in cases}
    tricked = sorted({case.report for case in cases if KINDS[case.kind].group == "trick"})
    wanted = [(index, f"errors_{min(HONEST, len(sources[index].errors))}") for index in tricked]
    return [Case(index, kind, sources[index].honest or "") for index, kind in wanted if (index, kind) not in there]


# --- makers: what becomes of one report, by kind


def _numbers(source: Source, rng: Random) -> Made:
    return {f"errors_{n}": text for n, text in enumerate(source.errors, 1)}


def _false(source: Source, rng: Random) -> Made:
    """One finding made up of each grade."""
    made: dict[str, str] = {}
    additions = edit_words()["additions"]
    for addition in rng.sample(additions, len(additions)):
        kind = f"false_{GRADES.get(load().concepts[addition['concept']].significance, 'minor')}"
        text = None if kind in made else presence.state(source.page, addition, rng)
        if text and source.is_error(kind, text):
            made[kind] = text
    return made


def _hidden(source: Source, rng: Random) -> Made:
    """A false finding where the report ends or begins, under a heading that findings do not stand under."""
    if "pneumothorax" in {unit.head.concept for unit in source.page.units}:
        return {}
    return {"hidden_front": hide(source.text, rng, in_front=True), "hidden_end": hide(source.text, rng, in_front=False)}


def _missing(source: Source, rng: Random) -> Made:
    """One finding left out of each grade."""
    made: dict[str, str] = {}
    for unit in source.units(rng):
        kind = f"missing_{GRADES.get(significance(unit.head, Context(), load()), 'minor')}"
        text = None if kind in made else presence.remove(source.page, unit, rng)
        if text and source.is_error(kind, text):
            made[kind] = text
    return made


def _one(kind: str, edit: OfAFinding) -> Maker:
    """Makes one error of a finding."""

    def make(source: Source, rng: Random) -> Made:
        texts = (edit(source.page, unit, rng) for unit in source.units(rng))
        return {kind: next((text for text in texts if source.is_error(kind, text)), None)}

    return make


def _graded(kind: str, edit: Callable[[Page, Unit, Random], list[str]]) -> Maker:
    """Makes an error of a finding, and a graver one of the same."""
    kinds = (kind, f"{kind}_far")

    def make(source: Source, rng: Random) -> Made:
        best: dict[str, str] = {}
        for unit in source.units(rng):
            found = dict(zip(kinds, edit(source.page, unit, rng), strict=False))
            found = {each: text for each, text in found.items() if source.is_error(each, text)}
            best = max(best, found, key=len)
            if len(best) == len(kinds):
                break
        return best

    return make


def _whole(kind: str, edit: Callable[[Source, Random], str | None]) -> tuple[tuple[str], Maker]:
    """Makes another text of a whole report."""
    return (kind,), lambda source, rng: {kind: edit(source, rng)}


def _tricks(source: Source, rng: Random) -> Made:
    """What can be added to the honest report, or done to it."""
    if source.honest is None:
        return {}
    honest = Page(source.honest, reading_of(source.honest))
    return {
        **added(source.honest, rng),
        **evaded(source.honest, rng),
        "contradiction": style.contradict(honest, rng),
        "hedged": _other_than(source.honest, style.hedge_all(source.honest)),
    }


def _alone(source: Source, rng: Random) -> Made:
    """What is said without looking at an image, where it misses more than the honest report has errors."""
    if len(source.page.units) <= HONEST or source.honest is None:
        return {}
    alone = standalone()
    return {"empty": "", "template": alone["normal template"], "nonsense": alone["babble"]}


def _other(source: Source, rng: Random) -> str | None:
    """Another patient's report."""
    drawn = (source.another(rng) for _ in range(TRIES))
    return next((text for text in drawn if text and text != source.text), None)


def _other_than(text: str, new: str) -> str | None:
    return new if new != text else None


MAKERS: Mapping[str, tuple[tuple[str, ...], Maker]] = {
    "numbers": (tuple(f"errors_{n}" for n in range(1, MOST_ERRORS + 1)), _numbers),
    "false": (("false_urgent", "false_actionable", "false_minor"), _false),
    "hidden": (("hidden_front", "hidden_end"), _hidden),
    "missing": (("missing_urgent", "missing_actionable", "missing_minor"), _missing),
    "negation_lost": _whole("negation_lost", lambda source, rng: negation.lose_negation(source.page, rng)),
    "negation_added": _whole("negation_added", lambda source, rng: negation.add_negation(source.page, rng)),
    "side": (("side",), _one("side", attributes.other_side)),
    "zone": (("zone",), _one("zone", attributes.other_zone)),
    "tip": (("tip", "tip_far"), _graded("tip", grades.tips)),
    "position": (("position",), _one("position", attributes.bad_position)),
    "severity": (("severity", "severity_far"), _graded("severity", grades.severities)),
    "size": (("size", "size_far"), _graded("size", grades.sizes)),
    "certainty": (("certainty",), _one("certainty", attributes.hedge)),
    "compared": (("compared",), _one("compared", attributes.compared)),
    "change": (("change",), _one("change", attributes.other_change)),
    "forgotten": (("forgotten",), _one("forgotten", attributes.forget_change)),
    "paraphrase": _whole("paraphrase", lambda source, rng: paraphrase(source.page.reading, rng)),
    "order": _whole("order", lambda source, rng: reorder(source.text, rng)),
    "abbreviations": _whole("abbreviations", lambda source, rng: style.abbreviate(source.text)),
    "typing": _whole("typing", lambda source, rng: style.mistype(source.text, rng)),
    "normal": _whole("normal", lambda source, rng: style.add_normal(source.page, rng)),
    "terse": _whole("terse", lambda source, rng: style.make_terse(source.text)),
    "narrative": _whole("narrative", lambda source, rng: style.make_narrative(source.page, rng)),
    "tricks": (tuple(name for name in kinds_of("trick") if name not in ALONE), _tricks),
    "alone": (ALONE, _alone),
    OTHER: _whole(OTHER, _other),
}
