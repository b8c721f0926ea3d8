"""What a report says, as data: findings with their attributes, readings, errors, comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal, NamedTuple

from rrgmetrics.english import counted
from rrgmetrics.notebook import drawn
from rrgmetrics.reader.trace_text import trace_text

Assertion = Literal["present", "absent", "uncertain"]
Certainty = Literal["definite", "probable", "suspected", "possible", "not_excluded"]
Kind = str  # "empty", "language", "elsewhere", "unread", or the kind of a pack's reports
Significance = Literal["urgent", "actionable_not_urgent", "not_actionable_not_urgent", "benign_expected"]
Attribute = Literal[
    "location",
    "device_position",
    "severity",
    "measurement",
    "certainty",
    "descriptor",
    "overinterpretation",
    "underinterpretation",
    "temporal",
]
Detail = Literal[  # what a report may give of a finding, or leave out
    "side",
    "both_sides",
    "zone",
    "level",
    "number",
    "severity",
    "severe",
    "size",
    "acuity",
    "tip",
    "malposition",
]

SIGNIFICANT: frozenset[str] = frozenset({"urgent", "actionable_not_urgent"})


BESIDES = -2  # `Finding.observation` of what a report denies besides what it names: "otherwise normal"


class ErrorCategory(StrEnum):
    """The six kinds of error of ReXVal and CREPE, A to F."""

    FALSE_FINDING = "false_finding"
    MISSING_FINDING = "missing_finding"
    INCORRECT_LOCATION = "incorrect_location"
    INCORRECT_SEVERITY = "incorrect_severity"
    FALSE_COMPARISON = "false_comparison"
    MISSING_COMPARISON = "missing_comparison"

    @property
    def letter(self) -> str:
        """The letter A to F used in the literature."""
        return "ABCDEF"[list(ErrorCategory).index(self)]


class Span(NamedTuple):
    """Characters `[start, end)` of the report as it was given."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scope:
    """What kind of text a report is, and which of its sentences were understood.

    Attributes:
        kind: The kind of the pack's reports if nothing speaks against it (`chest x-ray`); `empty` without a word; that
            of another pack's; else why the text cannot be read: `language`, `elsewhere` (another report), `unread`.
        looks: The kind in words: "Spanish", "a brain report".
        statements: Characters of the sentences that say something.
        unread: Characters of the sentences that were not understood.
        words: For each unread sentence the words that were not understood.
    """

    kind: Kind
    looks: str = ""
    statements: tuple[Span, ...] = ()
    unread: tuple[Span, ...] = ()
    words: tuple[frozenset[str], ...] = ()

    @property
    def silent(self) -> bool:
        """Whether no sentence says anything; an empty text is silent."""
        return not self.statements


@dataclass(frozen=True, slots=True)
class Finding:
    """One observation, present, absent or uncertain, with everything the report says of it.

    A present finding is definite, `probable` ("likely") or `suspected` ("suspected", "probable", "A or B": the
    comparison treats it as probable, CheXpert's rules as uncertain), an uncertain one `possible` or `not_excluded`.
    `severity` is a step on the scale of `attributes.yaml` (0 borderline to 7 massive), `measurements_mm` are in
    mm, `levels` are ribs and vertebrae ("rib 4", "T12"), `worse_side` is where a bilateral finding is worse. Findings
    with the same `observation` are one picture described twice ("opacity, likely pneumonia", "atelectasis or
    scarring"). `normal` marks what a normal statement denies ("the lungs are clear" denies an opacity), `background` an
    operation that is told of the patient ("day 6 after left pneumonectomy"), which counts only where both have it.
    """

    concept: str
    assertion: Assertion
    certainty: Certainty = "definite"
    side: str | None = None
    worse_side: str | None = None
    zones: frozenset[str] = frozenset()
    levels: frozenset[str] = frozenset()
    severity: int | None = None
    measurements_mm: tuple[float, ...] = ()
    count: int | None = None
    acuity: str | None = None
    change: str | None = None
    morphology: frozenset[str] = frozenset()
    tip: frozenset[str] = frozenset()
    route: str | None = None
    position: str | None = None
    observation: int = 0
    section: str = "findings"
    sentence: int = 0
    normal: bool = False
    background: bool = False
    spans: tuple[Span, ...] = ()


class Compared(NamedTuple):
    """A sentence that compares with an earlier study.

    Attributes:
        kind: The kind of change; "earlier" if it says no more than that there is such a study, and "named" if it says
            nothing else ("Comparison is made with the film of Monday.").
        span: Its words.
        study: Whether the change is that of all that was named before ("Overall worse."), or nothing has changed.
        organ: What the organ would not have if it were normal, where an organ alone is called stable ("The heart is
            stable.") and no earlier study is named; None elsewhere.
    """

    kind: str
    span: Span
    study: bool = False
    organ: tuple[str, ...] | None = None


class Step(NamedTuple):
    """One step of a reading that set a field of a finding, or what words mean.

    Attributes:
        field: The field; "words" for a meaning of words.
        old: Its value before.
        new: Its value after.
        words: The cue: the words of the report for which it was set; "" if there are none.
        name: The function that set it: "attributes.since".
        place: Its file and line.
        source: The file and line of the lexicon that lists the words; "" if none does.
    """

    field: str
    old: object
    new: object
    words: str
    name: str
    place: str
    source: str = ""


class Traced(NamedTuple):
    """A finding with the steps that set its fields, in the order in which they were taken."""

    finding: Finding
    steps: tuple[Step, ...]


class LeftOut(NamedTuple):
    """Words that gave no finding: why, and the steps that were taken."""

    span: Span
    why: str
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """How a report was read: what set each field of each finding, and why other words gave none.

    `print(trace)` shows a block for each finding, and a line for each step.
    """

    text: str
    findings: tuple[Traced, ...]
    left_out: tuple[LeftOut, ...]
    out_of_scope: str = ""

    def __str__(self) -> str:
        return trace_text(self)


@dataclass(frozen=True, slots=True)
class Reading:
    """All findings of one report, in the order of the text, with the text they were read from and its scope.

    `compared` are the sentences that compare with an earlier study, also those that name no finding. `pack` and
    `folder` (the user's, "" for none) are what it was read with, `told` are the illnesses that it tells of the
    patient, and not as what the film shows. `removed` counts what was cleaned away before reading, by kind ("control
    token", `rrgmetrics.cleaning`). `trace` tells how it was read, if `read` was asked for it.
    """

    text: str
    findings: tuple[Finding, ...]
    scope: Scope
    compared: tuple[Compared, ...] = ()
    pack: str = "chest_xray"
    told: tuple[Finding, ...] = ()
    removed: Mapping[str, int] = field(default_factory=dict, compare=False)
    trace: Trace | None = field(default=None, compare=False, repr=False)
    folder: str = field(default="", compare=False, repr=False)

    @property
    def abnormal(self) -> tuple[Finding, ...]:
        """The findings that are present or uncertain."""
        return tuple(finding for finding in self.findings if finding.assertion != "absent")

    @property
    def history(self) -> frozenset[str]:
        """The concepts of the illnesses that are told of the patient."""
        return frozenset(finding.concept for finding in self.told)

    def evidence(self, finding: Finding) -> str:
        """Returns the words of the report a finding was read from, joined by an ellipsis.

        >>> from rrgmetrics.reader import read
        >>> reading = read("Heart size is mildly enlarged.")
        >>> reading.evidence(reading.abnormal[0])
        'Heart size is mildly enlarged'
        """
        return " … ".join(self.text[s.start : s.end] for s in finding.spans)


@dataclass(frozen=True, slots=True)
class Unit:
    """One observation: the finding it is named by, and every reading the report offers for it.

    `own` marks a device that another report's sum ("all lines") does not stand for.
    """

    head: Finding
    readings: tuple[Finding, ...]
    side: str | None
    zones: frozenset[str]
    own: bool = False

    @property
    def spans(self) -> tuple[Span, ...]:
        """The evidence of all readings."""
        return tuple(s for finding in self.readings for s in finding.spans)


class Link(NamedTuple):
    """The reference's observation and the candidate's (indices) that show the same; `other_words`: not one to one."""

    reference: int
    candidate: int
    other_words: bool = False


@dataclass(frozen=True, slots=True)
class FindingError:
    """One difference between reference and candidate, with its evidence in either text.

    `part` is 1 for an error, and less for what the candidate leaves out of a finding that it has ("effusion" for "left
    effusion"): which part of a wrong one that costs. Radiologists count the former, and seldom the latter.
    """

    category: ErrorCategory
    significant: bool
    sentence: str
    attribute: Attribute | None = None
    reference: Finding | None = None
    candidate: Finding | None = None
    reference_spans: tuple[Span, ...] = ()
    candidate_spans: tuple[Span, ...] = ()
    significance: Significance | None = None
    contradicts: bool = False
    part: float = 1

    @property
    def is_left_out(self) -> bool:
        """Whether the candidate gives too little, and nothing wrong."""
        return self.part < 1


@dataclass(frozen=True, slots=True)
class Match:
    """A finding of the reference with the candidate's finding that says the same, and how well (0 to 1)."""

    reference: Finding
    candidate: Finding
    similarity: float


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """The differences between two readings.

    `errors` are those that a radiologist would count and, with a `part` below 1, what the candidate leaves out of
    findings that it has. `counts`, `total` and `significant` are numbers of the former, `counts` by category A to F;
    `cost` weighs both. `agreed_normals` are concepts both reports deny. `references`
    and `candidates` are the observations that count, `links` says which of them show the same. `penalties` are
    the errors that are not about these observations: contradictions, hedges, unread sentences, silence.
    `out_of_scope` says in words why the reference cannot be read with `pack`, "" if it can.
    `texts` are the reference and the candidate, where `explain` made it of texts; notebooks show them with the errors.
    """

    matches: tuple[Match, ...]
    errors: tuple[FindingError, ...]
    agreed_normals: tuple[str, ...] = ()
    counts: Mapping[ErrorCategory, int] = field(default_factory=dict)
    references: tuple[Unit, ...] = ()
    candidates: tuple[Unit, ...] = ()
    links: tuple[Link, ...] = ()
    penalties: tuple[FindingError, ...] = ()
    out_of_scope: str = ""
    pack: str = "chest_xray"
    texts: tuple[str, str] = field(default=("", ""), compare=False)
    folder: str = field(default="", compare=False)

    def __repr__(self) -> str:
        if self.out_of_scope:
            return f"Comparison(unscored: the reference {self.out_of_scope})"
        found = ", ".join(f"{category.letter} {count}" for category, count in self.counts.items() if count)
        said = f": {found}; {self.significant} significant" if found else ""
        left_out = sum(error.is_left_out for error in self.errors)
        vague = f"; {counted(left_out, 'attribute')} left out" if left_out else ""
        return f"Comparison({counted(self.total, 'error')}{said}{vague})"

    def _repr_html_(self) -> str:
        """Both reports with the errors marked, and the errors in words, for a notebook."""
        return drawn(self)

    @property
    def total(self) -> int:
        """Number of errors, all categories."""
        return sum(not error.is_left_out for error in self.errors)

    @property
    def significant(self) -> int:
        """Number of clinically significant errors."""
        return sum(error.significant and not error.is_left_out for error in self.errors)

    def cost(self, category: ErrorCategory | None = None, *, significant: bool | None = None) -> float:
        """Returns what errors and left-out attributes add up to, each by its `part`.

        Args:
            category: Of this category alone; None: of all.
            significant: Of the significant alone, or of the others; None: of both.
        """
        parts = (
            error.part
            for error in self.errors
            if category in (None, error.category) and significant in (None, error.significant)
        )
        return round(sum(parts), 6)

    @property
    def whole(self) -> Comparison:
        """The comparison without what is left out of findings that both have: the errors that radiologists count."""
        return replace(self, errors=tuple(error for error in self.errors if not error.is_left_out))
