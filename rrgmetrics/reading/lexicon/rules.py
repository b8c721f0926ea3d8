"""What the rows of rubric.yaml, context.yaml and context_rules.yaml hold once they are read; the files explain it."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from rrgmetrics.reading.model import Assertion, Detail, Significance

# What the rules of context_rules.yaml may say; that file explains it.
STAGES = tuple("clauses advice judgements outlook cues resolution appositions joints marks hedges".split())
HEDGES = tuple("not_excluded possible suspected probable definite".split())
OPENED = tuple("absent absent_once hypothetical assessed resolved".split())
JUDGED = tuple("dropped stays normal".split())
JOINED = tuple("comma and versus with link".split())
EFFECTS = (*OPENED, *HEDGES, *JUDGED, *JOINED, "none", "skip", "end", "statement", "verb")
REACHES = tuple("clause list subject joint verb statement last".split())
PREDICATES = tuple(  # of reading/clause.py
    (
        "asks_for_device changes_verb denies_subject device_next ends_denied_list finding_ahead "
        "has_findings is_before_scope is_beside_finding is_due is_fresh is_hedge_used "
        "is_history is_made is_named is_pair is_patient looks_back names_next new_statement opens_readings "
        "operation_ahead or_other_quality proves shares_change"
    ).split()
)

_From = TypedDict("_From", {"from": list[Significance]}, total=False)  # no name that a class body could have


class SignificanceRule(_From, total=False):
    """A rule of context.yaml: it gives findings another class where all that it asks for holds."""

    concepts: list[str]
    significance: Significance
    why: str
    severity_at_most: int
    severity_at_least: int
    acuity: list[str]
    change: list[str]
    unless_change: list[str]
    known: bool
    tip: list[str]
    morphology: list[str]
    position: list[str]
    zones: list[str]
    assertion: Assertion
    age_at_least: float
    age_below: float
    size_mm_below: float
    size_mm_at_least: float
    indication: list[str]
    unless_indication: list[str]


class Precision(TypedDict):
    """Whether it matters that one report names what the other only describes."""

    matters: Literal["always", "class", "never"]
    unless: frozenset[str]  # kinds of indication in which both words mean the same


class Explained(TypedDict):
    """Diagnoses and what shows them."""

    diagnosis: list[str]
    shown_by: list[str]


class Threshold(TypedDict):
    """Sizes at which the treatment of concepts changes."""

    concepts: list[str]
    mm: list[float]
    beyond: float
    why: str


class Opposed(TypedDict):
    """Descriptions that cannot both be true."""

    one: list[str]
    other: list[str]


class Abbreviation(TypedDict):
    """Letters that stand for two things."""

    letters: str
    of: list[str]
    means: list[str]
    beside: list[str]
    unless: list[str]
    taken_out: bool  # whether they do too where what they name is gone


class LeftOutRow(TypedDict, total=False):
    """Which part of a wrong finding a detail costs that is left out."""

    what: Detail
    part: float
    why: str
    concepts: list[str]
    files: list[str]


# A name that is left out or added; `class` is no name that a class body could have.
Named = TypedDict(
    "Named",
    {
        "diagnosis": list[str],
        "shown_by": list[str],
        "class": Significance,
        "why": str,
        "added": NotRequired[Significance],
        "shown": NotRequired[Significance],
    },
)


class Rubric(TypedDict, total=False):
    """The tables of rubric.yaml; those of precision by the two concepts."""

    precision: dict[tuple[str, str], Precision]
    harmless: list[Significance]
    diagnoses: list[str]
    named: list[Named]
    explains: list[Explained]
    thresholds: list[Threshold]
    opposed: list[Opposed]
    scales: list[list[str]]
    abbreviations: list[Abbreviation]
    tells_side: list[str]
    left_out: list[LeftOutRow]
