"""The trace of a comparison as plain text: a block for each observation and error, a line for each step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from rrgmetrics.comparing.error_words import weight_words

if TYPE_CHECKING:
    from rrgmetrics.comparing.model import ComparisonTrace, Decision, FindingError


class Block(NamedTuple):
    """A title, and the steps below it."""

    title: str
    decisions: tuple[Decision, ...]


def trace_text(trace: ComparisonTrace) -> str:
    """A block for each observation, for each error, and for what is no error, as plain text."""
    shown = ("\n".join([title, *(f"  {decision_text(each)}" for each in steps)]) for title, steps in blocks(trace))
    return "\n\n".join(shown) or "There is nothing to compare."


def blocks(trace: ComparisonTrace) -> Iterator[Block]:
    """Yields what a trace shows, in order."""
    for report, _, words, decisions in trace.units:
        yield Block(f"{report}: {words}", decisions)
    for error, decisions in trace.errors:
        yield Block(f"{_kind(error)}: {error.sentence}", decisions)
    for words, decisions in trace.uncounted:
        yield Block(f"no error: {words}", decisions)


def decision_text(decision: Decision) -> str:
    """A step in a line: similarity.assign (rrgmetrics/comparing/similarity.py:48): matched with ..."""
    name, place, what, source = decision
    return f"{name} ({', '.join(filter(None, (place, source)))}): {what}"


def _kind(error: FindingError) -> str:
    return f"error {error.category.letter}, {weight_words(error.significant, error.part)}"
