"""What a report says, as data: findings with their attributes, and readings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from rrgmetrics.reading.trace_text import trace_text

Assertion = Literal["present", "absent", "uncertain"]
Certainty = Literal["definite", "probable", "suspected", "possible", "not_excluded"]
Kind = str  # "empty", "language", "elsewhere", "unread", or the kind of a pack's reports
Significance = Literal["urgent", "actionable_not_urgent", "not_actionable_not_urgent", "benign_expected"]
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

BESIDES = -2  # `Finding.observation` of what a report denies besides what it names: "otherwise normal"


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
    `severity` is a step on the scale of `attributes.yaml` (0 borderline to 7 massive), `per_cent` the number that it
    was read from ("pneumothorax of 15%"), `measurements_mm` are in mm, `levels` are ribs and vertebrae ("rib 4",
    "T12"), `worse_side` is where a bilateral finding is worse. Findings with the same `observation` are one picture
    described twice ("opacity, likely pneumonia", "atelectasis or scarring"). `normal` marks what a normal statement
    denies ("the lungs are clear" denies an opacity), `background` an operation that is stated of the patient ("day 6
    after left pneumonectomy"), which counts only where both have it.
    """

    concept: str
    assertion: Assertion
    certainty: Certainty = "definite"
    side: str | None = None
    worse_side: str | None = None
    zones: frozenset[str] = frozenset()
    levels: frozenset[str] = frozenset()
    severity: int | None = None
    per_cent: float | None = None
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


class Held(NamedTuple):
    """What words did to the state of a finding ("absent").

    Attributes:
        words: The words of the report.
        effect: "opened it": without them the finding would be there, or "did not end it"; 'was read as "doubled"' for a
            word that was taken for a typing error.
        name: The predicate or the context rule that did not end it; with its other answer the finding would be there.
        place: Its file and line.
        source: The file and line of the lexicon that lists the words.
    """

    words: str
    effect: str
    name: str = ""
    place: str = ""
    source: str = ""


class Step(NamedTuple):
    """One step of a reading that set a field of a finding, or what words mean.

    Attributes:
        field: The field; "words" for a meaning of words.
        old: Its value before.
        new: Its value after.
        words: The cue: the words of the report for which it was set; "" if there are none.
        name: The function or the context rule that set it: "attributes.since", "rule absent.before".
        place: Its file and line.
        source: The file and line of the lexicon that lists the words; "" if none does.
        held: If a state set the field: what opened the state, and what could have ended it and did not.
    """

    field: str
    old: object
    new: object
    words: str
    name: str
    place: str
    source: str = ""
    held: tuple[Held, ...] = ()


class Traced(NamedTuple):
    """A finding with the steps that set its fields, in the order in which they were taken."""

    finding: Finding
    steps: tuple[Step, ...]


class LeftOut(NamedTuple):
    """Words that gave no finding: why, and the steps that were taken."""

    span: Span
    why: str
    steps: tuple[Step, ...] = ()


class Unused(NamedTuple):
    """Words of a sentence that is read, which no step used.

    Attributes:
        span: The words.
        means: What the lexicon says of them, and the steps that look for such words; none if they are no term.
        near: Terms of the lexicon that hold one of the words, what they mean, and their file and line.
        source: The file and line of the lexicon that lists the words; "" if none does.
    """

    span: Span
    means: tuple[str, ...]
    near: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """How a report was read: what set each field of each finding, and why other words gave none.

    `print(trace)` shows a block for each finding, and a line for each step; then, for each sentence in `unused`, the
    words that no step used.
    """

    text: str
    findings: tuple[Traced, ...]
    left_out: tuple[LeftOut, ...]
    out_of_scope: str = ""
    unused: tuple[tuple[Span, tuple[Unused, ...]], ...] = ()

    def __str__(self) -> str:
        return trace_text(self)


@dataclass(frozen=True, slots=True)
class Reading:
    """All findings of one report, in the order of the text, with the text they were read from and its scope.

    `compared` are the sentences that compare with an earlier study, also those that name no finding. `pack` and
    `folder` (the user's, "" for none) are what it was read with, `told` are the illnesses that it tells of the
    patient, and not as what the film shows. `removed` counts what was cleaned away before reading, by kind ("control
    token", `rrgmetrics.reports.cleaning`). `trace` tells how it was read, if `read` was asked for it.
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
        """The concepts of the illnesses that the patient is stated to have."""
        return frozenset(finding.concept for finding in self.told)

    def evidence(self, finding: Finding) -> str:
        """Returns the words of the report a finding was read from, joined by an ellipsis.

        >>> from rrgmetrics.reading import read
        >>> reading = read("Heart size is mildly enlarged.")
        >>> reading.evidence(reading.abnormal[0])
        'Heart size is mildly enlarged'
        """
        return " … ".join(self.text[s.start : s.end] for s in finding.spans)
