"""A report in the making: its sentences, observations and words, and where each stands."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

from rrgmetrics.comparing.model import Unit
from rrgmetrics.comparing.observations import units
from rrgmetrics.reading import Finding, Reading, Span
from rrgmetrics.reading.lexicon import lexicon_of
from rrgmetrics.reading.pipeline import find_items
from rrgmetrics.reading.tokens import Token
from rrgmetrics.synthesis.edits.sentences import Slot, slots
from rrgmetrics.synthesis.readings import tokens_of

Donors = Callable[[Random], Reading | None]  # the reading of another report
Edit = Callable[["Page", Random, Donors], str | None]  # the new text; None where the report offers nothing to edit


@dataclass
class Page:
    """A text in the making, with everything edits ask of it."""

    text: str
    reading: Reading

    @cached_property
    def units(self) -> list[Unit]:
        """The observations that count."""
        return units(self.reading, lexicon_of(self.reading))

    @cached_property
    def slots(self) -> list[Slot]:
        """Its sentences."""
        return slots(self.text, self.reading.pack)

    @cached_property
    def tokens(self) -> list[Token]:
        """Its words."""
        return tokens_of(self.text, self.reading.pack)

    def slot_of(self, span: Span) -> Slot | None:
        """Returns the sentence a span stands in."""
        return next((slot for slot in self.slots if slot.start <= span.start and span.end <= slot.end), None)

    def slots_of(self, unit: Unit) -> list[Slot]:
        """Returns the sentences an observation stands in, in order."""
        return sorted({slot for span in unit.spans if (slot := self.slot_of(span))})

    def findings_in(self, slot: Slot) -> list[Finding]:
        """Returns the findings read in a sentence, present or absent."""
        return [
            finding
            for finding in self.reading.findings
            if any(slot.start <= span.start and span.end <= slot.end for span in finding.spans)
        ]

    def is_alone(self, unit: Unit, slot: Slot) -> bool:
        """Whether a sentence speaks of nothing but one observation."""
        here = self.findings_in(slot)
        return all(f.assertion != "absent" and f.observation == unit.head.observation for f in here)

    def items(self, unit: Unit, sense: str) -> Iterator[tuple[int, int, Any]]:
        """Yields where, within the words of an observation, the lexicon sees a sense; and its value."""
        starts = [token.start for token in self.tokens]
        for span in set(unit.spans):
            first, last = bisect_left(starts, span.start), bisect_left(starts, span.end)
            for item in find_items(self.tokens, first, last, lexicon_of(self.reading)):
                senses: Mapping[str, Any] = item.senses
                if sense in senses:
                    yield self.tokens[item.first].start, self.tokens[item.last - 1].end, senses[sense]


def on_a_finding(edit: Callable[[Page, Unit, Random], str | None]) -> Edit:
    """Makes an edit of one observation an edit of a page: the observation is drawn."""

    def edit_page(page: Page, rng: Random, donors: Donors) -> str | None:
        return edit(page, rng.choice(page.units), rng) if page.units else None

    return edit_page
