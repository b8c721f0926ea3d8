"""What is at stake with each finding of a report, and how the other report changes that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from rrgmetrics.comparing.claims import without_excuse
from rrgmetrics.comparing.model import SIGNIFICANT, Unit
from rrgmetrics.comparing.significance import harm
from rrgmetrics.comparing.wording import phrase
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.model import Significance
from rrgmetrics.reading.places import at_one_place
from rrgmetrics.reports import Context

SEVERE = 4  # steps of severity from which on a sign is more than a sign
OFFERED: Significance = "not_actionable_not_urgent"  # what is merely considered


class Graded(NamedTuple):
    """An observation of one report, in words, in its class of significance; `why` says the reason."""

    unit: Unit
    words: str
    significance: Significance
    why: str

    @property
    def matters(self) -> bool:
        """Whether it is urgent or actionable."""
        return self.significance in SIGNIFICANT


def graded(unit: Unit, context: Context, lexicon: Lexicon) -> Graded:
    """Returns an observation in words, with what is at stake for the patient."""
    return Graded(unit, phrase(unit, lexicon), *harm(unit.head, context, lexicon))


def graded_claim(unit: Unit, shown: Sequence[Unit], context: Context, lexicon: Lexicon) -> Graded:
    """Returns a candidate's observation in words, with what is at stake without what it says to excuse itself.

    Args:
        unit: The candidate's observation.
        shown: Those of the reference that show the same; without any, "slight" makes it no smaller claim than benign.
        context: The patient's.
        lexicon: The lexicon in use.
    """
    head = without_excuse(unit.head, (finding for other in shown for finding in other.readings), lexicon)
    level = harm(head, context, lexicon)
    if not shown and level.significance == "benign_expected":
        level = harm(replace(head, severity=None), context, lexicon)
    return Graded(unit, phrase(unit, lexicon), *level)


def regraded(
    own: tuple[Graded, ...],
    alone: tuple[int, ...],
    other: tuple[Graded, ...],
    shared: tuple[int, ...],
    key: Literal["class", "added"],
    lexicon: Lexicon,
) -> tuple[Graded, ...]:
    """Regrades what only one report has, for what both have (`named` in `lexicon/*/rubric.yaml`).

    A diagnosis that only names the pictures both describe; a picture that only shows the diagnosis both name; and, of
    the candidate's, a diagnosis that it merely considers for what both describe.

    Args:
        own: The report's observations.
        alone: Which of them (indices) only this report has.
        other: The other report's observations.
        shared: Which of those are matched.
        key: Which class of a row a diagnosis gets: `class` where the reference has it, `added` where the candidate.
        lexicon: The lexicon in use.

    Returns:
        tuple[Graded, ...]: `own`, in their order.
    """
    matched = [each for i, each in enumerate(own) if i not in alone]
    mine, theirs = (_names(units, lexicon) for units in (matched, [other[i] for i in shared]))
    result = list(own)
    for i in alone:
        each, head = own[i], own[i].unit.head
        beside = _names((m for m in matched if at_one_place(m.unit, each.unit, lexicon)), lexicon) & theirs
        slight = (head.severity or 0) < SEVERE and head.change not in ("new", "worse")
        names = {head.concept, *lexicon.concepts[head.concept].ancestors}
        for row in lexicon.rubric["named"]:
            if key in row and not names.isdisjoint(row["diagnosis"]) and not mine.isdisjoint(row["shown_by"]):
                result[i] = each._replace(significance=row[key], why=row["why"])
                break
            if (
                "shown" in row
                and slight
                and head.concept in row["shown_by"]
                and not beside.isdisjoint(row["diagnosis"])
            ):
                result[i] = each._replace(significance=row["shown"], why="shows what both reports name")
                break
        else:
            if key == "added" and _offered(each, matched, lexicon):
                result[i] = each._replace(significance=OFFERED, why="only considered, for what both describe")
    return tuple(result)


def _names(units: Iterable[Graded], lexicon: Lexicon) -> set[str]:
    """Returns the concepts of observations, with all that is above them."""
    return {
        name
        for each in units
        for finding in each.unit.readings
        for name in (finding.concept, *lexicon.concepts[finding.concept].ancestors)
    }


def _offered(each: Graded, matched: Iterable[Graded], lexicon: Lexicon) -> bool:
    """Whether an observation is a mere possibility beside a matched one that matters, at its place."""
    return (
        each.matters
        and all(finding.assertion == "uncertain" for finding in each.unit.readings)
        and any(found.matters and at_one_place(found.unit, each.unit, lexicon) for found in matched)
    )
