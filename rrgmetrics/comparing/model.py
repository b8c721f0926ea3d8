"""What differs between two readings, as data: observations, errors, comparisons."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal, NamedTuple

from rrgmetrics.comparing.error_words import left_out_words
from rrgmetrics.comparing.trace_text import trace_text
from rrgmetrics.reading.model import Finding, Significance, Span
from rrgmetrics.utils.notebook import drawn
from rrgmetrics.utils.text_format import counted

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

INNUMERABLE = "innumerable"  # the description of findings that nobody counts
DOUBT = frozenset({"possible", "not_excluded"})  # certainties of what is only considered
INTERPRETED = frozenset({"overinterpretation", "underinterpretation", "certainty"})  # what a picture is taken for
SIGNIFICANT: frozenset[str] = frozenset({"urgent", "actionable_not_urgent"})


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

    @property
    def words(self) -> str:
        """The kind as pages and tables name it."""
        words = self.value.replace("_", " ").replace("incorrect", "wrong")
        return "missing or wrong comparison" if self is ErrorCategory.MISSING_COMPARISON else words


@dataclass(frozen=True, slots=True)
class Unit:
    """One observation: the finding it is named by, and every reading the report offers for it.

    `own` marks a device that another report's sum ("all lines") does not stand for, `denied` a finding that the other
    report denies by its name, and does not show.
    """

    head: Finding
    readings: tuple[Finding, ...]
    side: str | None
    zones: frozenset[str]
    own: bool = False
    denied: bool = False

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

    def to_dict(self) -> dict[str, object]:
        """Returns the error as JSON has it; spans are `[start, end]` in the (normalised) texts."""
        return {
            "category": self.category.value,
            "attribute": self.attribute,
            "significant": self.significant,
            "part": self.part,
            "sentence": self.sentence,
            "reference_spans": [list(span) for span in self.reference_spans],
            "candidate_spans": [list(span) for span in self.candidate_spans],
        }

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


Report = Literal["reference", "candidate"]


class Decision(NamedTuple):
    """What one step of a comparison decided.

    Attributes:
        name: The function: "similarity.assign".
        place: Its file and line.
        what: What it decided, or what it does.
        source: The file and line of the row of the lexicon that it used; "" if none.
    """

    name: str
    place: str
    what: str
    source: str = ""


class TracedUnit(NamedTuple):
    """An observation in words, with the steps that found its counterpart, or none."""

    report: Report
    unit: Unit
    words: str
    decisions: tuple[Decision, ...]


class TracedError(NamedTuple):
    """An error with the steps that made it, and that decided whether it is significant."""

    error: FindingError
    decisions: tuple[Decision, ...]


class Uncounted(NamedTuple):
    """What one report alone has, in words, with the step for which it is no error."""

    words: str
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class ComparisonTrace:
    """How two readings were compared: counterparts, errors, and what is no error though the reports differ.

    `print(trace)` shows a block for each, and a line for each step.
    """

    units: tuple[TracedUnit, ...]
    errors: tuple[TracedError, ...]
    uncounted: tuple[Uncounted, ...]

    def __str__(self) -> str:
        return trace_text(self)


@dataclass(frozen=True, slots=True, repr=False)
class ReportComparison:
    """The differences between two readings.

    `errors` are those that a radiologist would count and, with a `part` below 1, what the candidate leaves out of
    findings that it has. `counts`, `total` and `significant` are numbers of the former, `counts` by category A to
    F; `cost` weighs both; of a pair that is out of scope `counts` is empty and the others are NaN. `agreed_normals`
    are concepts both reports deny. `references` and `candidates` are the observations that count, `links` says
    which of them show the same. `penalties` are the errors that are not about these observations: contradictions,
    hedges, unread sentences, silence.
    `out_of_scope` says in words why the reference cannot be read with `pack`, "" if it can; `unread_candidate` why the
    candidate cannot, which counts as an empty report where that is worse.
    `texts` are the reference and the candidate, where `explain` made it of texts; notebooks show them with the errors.
    `trace` tells how it was compared, if `compare` was asked for it.
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
    unread_candidate: str = ""
    pack: str = "chest_xray"
    texts: tuple[str, str] = field(default=("", ""), compare=False)
    folder: str = field(default="", compare=False)
    trace: ComparisonTrace | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        if self.out_of_scope:
            return f"ReportComparison(not scored: the reference {self.out_of_scope})"
        found = ", ".join(f"{category.letter} {count}" for category, count in self.counts.items() if count)
        said = f": {found}; {self.significant} significant" if found else ""
        vague = left_out_words([(error.part, error.significant) for error in self.errors])
        return f"ReportComparison({counted(len(self.whole.errors), 'error')}{said}{vague})"

    def _repr_html_(self) -> str:
        """Both reports with the errors marked, and the errors in words, for a notebook."""
        return drawn(self)

    @property
    def total(self) -> float:
        """Number of errors, all categories; NaN of a pair that is out of scope."""
        return math.nan if self.out_of_scope else len(self.whole.errors)

    @property
    def significant(self) -> float:
        """Number of clinically significant errors; NaN of a pair that is out of scope."""
        return math.nan if self.out_of_scope else sum(error.significant for error in self.whole.errors)

    def cost(self, category: ErrorCategory | None = None, *, significant: bool | None = None) -> float:
        """Returns what errors and left-out attributes add up to, each by its `part`; NaN of a pair out of scope.

        Args:
            category: Of this category alone; None: of all.
            significant: Of the significant alone, or of the others; None: of both.
        """
        if self.out_of_scope:
            return math.nan
        parts = (
            error.part
            for error in self.errors
            if category in (None, error.category) and significant in (None, error.significant)
        )
        return round(sum(parts), 6)

    @property
    def whole(self) -> ReportComparison:
        """The comparison without what is left out of findings that both have: the errors that radiologists count."""
        return replace(self, errors=tuple(error for error in self.errors if not error.is_left_out))
