r"""Cleans report texts, with a mapping to the original characters.

Reports come from tokenizers, chat models, web pages, templates and spreadsheets. `clean` removes control tokens, a
model's reasoning, HTML and Markdown, normalises lists, tables and headings with short answers, and repairs numbers that
decoding has split. A text that needs no change is returned unchanged.

`STEPS` lists the steps in their order: removal of markup comes before layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby

from rrgmetrics.reports.cleaning import (
    answers,
    below,
    boxes,
    codes,
    control,
    fields,
    frames,
    headings,
    letters,
    lists,
    markup,
    numbers,
    pages,
    punctuation,
    records,
    tables,
)
from rrgmetrics.reports.cleaning.control import first_control_token
from rrgmetrics.reports.cleaning.edits import Places, Step, apply

__all__ = ["STEPS", "CleanText", "clean", "first_control_token"]

STEPS: tuple[Step, ...] = (
    *tables.REPORT_ROWS,
    *frames.FRAMES,
    *pages.PAGES,
    *markup.SOURCES,
    *letters.LETTERS,
    *markup.BOXES,
    *control.CONTROL_TOKENS,
    *codes.CODES,
    *markup.DECLARATIONS,
    *fields.FIELDS,
    *markup.TAGS,
    *boxes.PICKED,
    *markup.MARKDOWN,
    *pages.SPACED,
    *punctuation.PUNCTUATION,
    *tables.TABLES,
    *records.RECORDS,
    *headings.HEADINGS,
    *boxes.BOXES,
    *numbers.NUMBERS,
    *answers.SIGNS,
    *answers.MARKED_ANSWERS,
    *below.SIDED,
    *lists.COUNTED,
    *below.HEADED_LISTS,
    *lists.LISTS,
    *below.BELOW,
    *answers.ANSWERS,
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
    removed: dict[str, int] = {}
    for step in STEPS:
        if step.is_needed(cleaned):
            cleaned, places, n = apply(step.edits(cleaned), cleaned, places)
            if n and step.kind:
                removed[step.kind] = removed.get(step.kind, 0) + n
    return CleanText(cleaned, places, removed) if places is not None else CleanText(text)
