r"""Cleans report texts, with a mapping to the original characters.

Reports come from tokenizers, chat models, web pages, templates and spreadsheets. `clean` removes control tokens, a
model's reasoning, HTML and Markdown, normalises lists, tables and headings with short answers, and repairs numbers that
decoding has split. A text that needs no change is returned unchanged.

`STEPS` lists the steps in their order: removal of markup comes before layout.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby

from rrgmetrics.reports.cleaning.answers import ANSWERS, HEADED_LISTS, MARKED_ANSWERS
from rrgmetrics.reports.cleaning.boxes import BOXES, PICKED
from rrgmetrics.reports.cleaning.codes import CODES
from rrgmetrics.reports.cleaning.control import CONTROL_TOKENS, first_control_token
from rrgmetrics.reports.cleaning.dictation import DICTATION
from rrgmetrics.reports.cleaning.edits import Places, Step, apply
from rrgmetrics.reports.cleaning.fields import FIELDS
from rrgmetrics.reports.cleaning.headings import HEADINGS
from rrgmetrics.reports.cleaning.letters import ENTITIES, LETTERS
from rrgmetrics.reports.cleaning.lists import LISTS
from rrgmetrics.reports.cleaning.markup import MARKDOWN, TAGS
from rrgmetrics.reports.cleaning.numbers import NUMBERS
from rrgmetrics.reports.cleaning.questions import QUESTIONS
from rrgmetrics.reports.cleaning.records import RECORDS
from rrgmetrics.reports.cleaning.sides import SIDES
from rrgmetrics.reports.cleaning.signs import SIGNS
from rrgmetrics.reports.cleaning.stops import STOPS
from rrgmetrics.reports.cleaning.tables import BAR_ROWS, TABLES

__all__ = ["STEPS", "CleanText", "clean", "first_control_token"]

STEPS: tuple[Step, ...] = (
    *ENTITIES,
    *LETTERS,
    *CONTROL_TOKENS,
    *CODES,
    *FIELDS,
    *TAGS,
    *PICKED,
    *MARKDOWN,
    *BAR_ROWS,
    *DICTATION,
    *HEADINGS,
    *BOXES,
    *NUMBERS,
    *STOPS,
    *SIGNS,
    *QUESTIONS,
    *RECORDS,
    *TABLES,
    *MARKED_ANSWERS,
    *SIDES,
    *HEADED_LISTS,
    *LISTS,
    *ANSWERS,
)


@dataclass(frozen=True, slots=True)
class CleanText:
    """A text that was cleaned.

    Attributes:
        text: Clean statements.
        offsets: For each of its characters where the given characters that it came from begin and end; None: the text
            is the one that was given.
        removed: How many things of each kind were taken out or rewritten, by the kind's name in the singular.
    """

    text: str
    offsets: Places | None = None
    removed: Mapping[str, int] = field(default_factory=dict)

    def given(self, start: int, end: int) -> tuple[int, int]:
        """Where in the given text the characters `[start, end)` begin and end.

        Example:
            >>> clean("Small&nbsp;effusion</s>").given(6, 14)
            (11, 19)
        """
        if self.offsets is None or start >= end:
            return start, end
        return self.offsets[start][0], self.offsets[end - 1][1]

    def in_place(self, given: str) -> str:
        """The given text with spaces for what was removed; what is left keeps its place, unless it has grown.

        Example:
            >>> clean("No&nbsp;edema</s>").in_place("No&nbsp;edema</s>")
            'No      edema    '
        """
        if self.offsets is None:
            return given
        written = [" "] * len(given)
        at = 0
        for (start, end), group in groupby(self.offsets):
            n = len(list(group))
            written[start:end] = self.text[at : at + n].ljust(end - start) if n <= end - start else given[start:end]
            at += n
        return "".join(written)


def clean(text: str) -> CleanText:
    r"""Turns a text as it comes into clean statements.

    Args:
        text: A report with whatever is around it; any string.

    Returns:
        CleanText: The text, where its characters came from, and what was removed.

    Example:
        >>> clean("<|im_start|>assistant\nSmall left effusion.<|im_end|>").text
        'Small left effusion.'
        >>> clean("1) No pneumothorax 2) Pneumonia").text
        '- No pneumothorax\n- Pneumonia'
        >>> clean("et tube tip 4. 5 cm above the carina<|eot_id|>").removed
        {'control token': 1, 'split number': 1}
    """
    cleaned, places = text, None
    removed: Counter[str] = Counter()
    for step in STEPS:
        if step.is_needed(cleaned):
            cleaned, places, n = apply(step.edits(cleaned), cleaned, places)
            if n and step.kind:
                removed[step.kind] += n
    return CleanText(cleaned, places, dict(removed)) if places is not None else CleanText(text)
