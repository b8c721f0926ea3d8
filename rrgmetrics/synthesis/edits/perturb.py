"""Errors put into a report on purpose: one finding at a time, in the six categories A to F.

The reader says where a finding stands; an edit changes the words there; the reader says whether the new text has
exactly one error more, of the category that was meant. What fails that test is not used, so the words may be tried
freely (`phrases/edits.yaml`). The fifth way of the GREEN paper (arXiv 2405.03595) permutes RadGraph's entities instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from rrgmetrics.comparing import ErrorCategory, ReportComparison, compare
from rrgmetrics.reading import Reading
from rrgmetrics.synthesis.edits.attributes import (
    bad_position,
    compared,
    forget_change,
    hedge,
    other_change,
    other_level,
    other_severity,
    other_side,
    other_size,
    other_tip,
    other_zone,
)
from rrgmetrics.synthesis.edits.page import Donors, Edit, Page, on_a_finding
from rrgmetrics.synthesis.edits.presence import add, affirm, deny, remove
from rrgmetrics.synthesis.pairs import N_CATEGORIES, Counts
from rrgmetrics.synthesis.readings import reading_of

A, B, C, D, E, F = range(N_CATEGORIES)
NUMBER_WEIGHTS = (34, 26, 18, 12, 6, 4)  # how often a report gets 1, 2, ... edits
ATTEMPTS = 10  # edits tried for each one wanted


class Kind(NamedTuple):
    """One way of doing wrong.

    Attributes:
        category: What it adds an error to.
        weight: How often it is tried.
        edit: Changes the text.
        unseen: Whether the reader does not count it; nothing else may change then.
        of_a_finding: Whether it needs a finding that the report states.
    """

    category: int
    weight: int
    edit: Edit
    unseen: bool = False
    of_a_finding: bool = True


KINDS = {
    "add": Kind(A, 14, add, of_a_finding=False),
    "affirm": Kind(A, 6, affirm, of_a_finding=False),
    "remove": Kind(B, 18, on_a_finding(remove)),
    "deny": Kind(B, 12, on_a_finding(deny)),
    "side": Kind(C, 18, on_a_finding(other_side)),
    "zone": Kind(C, 14, on_a_finding(other_zone)),
    "level": Kind(C, 14, on_a_finding(other_level)),
    "tip": Kind(C, 20, on_a_finding(other_tip)),
    "position": Kind(C, 30, on_a_finding(bad_position)),
    "severity": Kind(D, 26, on_a_finding(other_severity)),
    "size": Kind(D, 24, on_a_finding(other_size)),
    "certainty": Kind(D, 12, on_a_finding(hedge), unseen=True),
    "compared": Kind(E, 8, on_a_finding(compared)),
    "change": Kind(E, 16, on_a_finding(other_change)),
    "forget": Kind(F, 30, on_a_finding(forget_change)),
}


def inject(reading: Reading, donors: Donors, rng: Random, n_edits: int | None = None) -> tuple[str, Counts] | None:
    """Puts errors into a report.

    Args:
        reading: Of the report.
        donors: Gives the reading of another report, a finding of which may be added; None if there is none.
        rng: Decides what is edited, and how.
        n_edits: Edits wanted; None draws 1 to 6. A report may offer fewer.

    Returns:
        The new text and the number of errors put in for each category A to F; None if no edit succeeded.

    Example:
        >>> from rrgmetrics.reading import read
        >>> text, injected = inject(read("Small left pleural effusion. Clear lungs."), lambda rng: None, Random(0), 1)
        >>> sum(injected)
        1
    """
    made = list(injections(reading, donors, rng, n_edits))
    return made[-1] if made else None


def injections(
    reading: Reading, donors: Donors, rng: Random, n_edits: int | None = None, *, with_unseen: bool = True
) -> Iterator[tuple[str, Counts]]:
    """Yields the report after each error that `inject` puts in: the text so far, and the errors so far.

    Args:
        reading: As in `inject`.
        donors: As in `inject`.
        rng: As in `inject`.
        n_edits: As in `inject`.
        with_unseen: Whether hedges are put in too; an error that would undo one, which nobody would see, is not made.
    """
    page, counts, unseen = Page(reading.text, reading), [0] * N_CATEGORIES, 0
    hedged: Counter[str] = Counter()
    drawn = rng.choices(range(1, len(NUMBER_WEIGHTS) + 1), NUMBER_WEIGHTS)[0]
    wanted = n_edits or min(drawn, 1 + len(page.units))  # findings made up for a normal report would drown the rest
    done = 0
    kinds = [
        kind for kind in KINDS.values() if (page.units or not kind.of_a_finding) and (with_unseen or not kind.unseen)
    ]
    for kind in rng.choices(kinds, [kind.weight for kind in kinds], k=wanted * ATTEMPTS):
        text = kind.edit(page, rng, donors)
        if not text or text == page.text:
            continue
        candidate = reading_of(text)
        seen = _counts(compare(reading, candidate))
        seen[D] += unseen + kind.unseen
        doubted = _doubted(candidate)
        more = doubted - _doubted(page.reading)
        if _rose(counts, seen, kind.category) and hedged <= doubted and (more or not kind.unseen):
            page, counts, unseen = Page(text, candidate), seen, unseen + kind.unseen
            hedged |= Counter({concept: doubted[concept] for concept in more if kind.unseen})
            done += 1
            yield page.text, tuple(counts)
        if done == wanted:
            return


def is_one_error(reading: Reading, text: str, category: int, *, unseen: bool = False) -> bool:
    """Whether the reader sees errors of one category in a text, and no other; no error at all if `unseen`.

    Args:
        reading: Of the report that the text was made from.
        text: The edited report.
        category: The category that is meant, A to F as 0 to 5.
        unseen: Whether it is an error that the reader does not count.
    """
    if not text.strip() or text == reading.text:
        return False
    seen = _counts(compare(reading, reading_of(text)))
    seen[category] += unseen
    return _rose([0] * N_CATEGORIES, seen, category)


def _counts(comparison: ReportComparison) -> list[int]:
    return [comparison.counts[category] for category in ErrorCategory]


def _doubted(reading: Reading) -> Counter[str]:
    """Counts the findings of each concept that a report is not certain of."""
    return Counter(f.concept for f in reading.findings if f.assertion != "absent" and f.certainty != "definite")


def _rose(before: list[int], after: list[int], category: int) -> bool:
    """Whether one category has more errors, and no other has changed."""
    return all(
        (new > old) if c == category else new == old for c, (old, new) in enumerate(zip(before, after, strict=True))
    )
