r"""Cleans report texts, with a mapping to the original characters.

Reports come from tokenizers, chat models, web pages, templates and spreadsheets. `clean` removes control tokens, a
model's reasoning, HTML and Markdown, normalises lists, tables and headings with short answers, and repairs numbers that
decoding has split. A text that needs no change is returned unchanged.

`STEPS` lists the steps in their order: removal of markup comes before layout.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby

from rrgmetrics.reports.cleaning.answers import (
    ANSWERS,
    DENIED_BELOW,
    HEADED_LISTS,
    IN_BRACKETS,
    MARKED_ANSWERS,
    UNMARKED,
)
from rrgmetrics.reports.cleaning.boxes import BOXES, NEEDS
from rrgmetrics.reports.cleaning.codes import CODES, SIGNATURE
from rrgmetrics.reports.cleaning.codes import NEEDS as NAMED
from rrgmetrics.reports.cleaning.control import CONTROL_TOKENS, ROLE_NAMES, first_control_token
from rrgmetrics.reports.cleaning.dictation import BRACKETED, DICTATED, DICTATION
from rrgmetrics.reports.cleaning.edits import Places, Step, apply
from rrgmetrics.reports.cleaning.fields import FIELDS
from rrgmetrics.reports.cleaning.headings import HEADED, HEADINGS, ORGAN_ALONE
from rrgmetrics.reports.cleaning.letters import ENTITIES, LETTERS, SLASHED
from rrgmetrics.reports.cleaning.lists import LISTS, SLASH
from rrgmetrics.reports.cleaning.markup import MARKUP
from rrgmetrics.reports.cleaning.numbers import NUMBERS, WRITTEN_OUT
from rrgmetrics.reports.cleaning.questions import ANSWERED, QUESTIONS
from rrgmetrics.reports.cleaning.rows import ROW, ROWS
from rrgmetrics.reports.cleaning.sides import SIDED, SIDES
from rrgmetrics.reports.cleaning.signs import PLUS, SIGNED, SIGNS
from rrgmetrics.reports.cleaning.stops import COMMA, STOPS

__all__ = ["STEPS", "CleanText", "clean", "first_control_token"]

STEPS: tuple[Step, ...] = (
    *ENTITIES,
    *LETTERS,
    *CONTROL_TOKENS,
    *CODES,
    *FIELDS,
    *MARKUP,
    *DICTATION,
    *HEADINGS,
    *BOXES,
    *NUMBERS,
    *STOPS,
    *SIGNS,
    *QUESTIONS,
    *ROWS,
    *MARKED_ANSWERS,
    *SIDES,
    *HEADED_LISTS,
    *LISTS,
    *ANSWERS,
)
# What an ASCII text must hold for any step to have work; each pattern begins with what one look at a character decides.
_MARKS = (
    *"<&[{\\*|`\t=#@\x7f\r\v\f_",
    *NAMED,
    *(" - ", " / ", " + ", " > ", "->", "--", " //", " n'", " n’", "b)", "B)", "ii)", "ii.", " b. ", "(-)", "(+)"),
)
_SUSPECT = (
    re.compile(r"[0-9](?: +[.,]|\. +[0-9]|, ?[0-9]|[):]| ?-| [A-Z])"),
    re.compile(r":[ \t]*(?:\n|[-+(01]|(?:n|n/?a|nil|not applicable|f|false|t|true|y|neg|pos)\b)", re.IGNORECASE),
    re.compile(r"\n[ \t]*[\n=~>+-]"),
    re.compile(r"\?[ \t]+[ny]\b", re.IGNORECASE),
    DENIED_BELOW,
    IN_BRACKETS,
    UNMARKED,
    NEEDS,
    re.compile(rf"\A\s*(?:[-+>]|{ROLE_NAMES})", re.IGNORECASE),
    COMMA,
    SLASHED,
    SIGNED,
    PLUS,
    SLASH,
    ANSWERED,
    BRACKETED,
    DICTATED,
    WRITTEN_OUT,
    HEADED,
    ORGAN_ALONE,
    SIDED,
    SIGNATURE,
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
    if not _has_work(text):
        return CleanText(text)
    cleaned, places = text, None
    removed: Counter[str] = Counter()
    for step in STEPS:
        if step.is_needed(cleaned):
            cleaned, places, n = apply(step.edits(cleaned), cleaned, places)
            if n and step.kind:
                removed[step.kind] += n
    return CleanText(cleaned, places, dict(removed)) if places is not None else CleanText(text)


def _has_work(text: str) -> bool:
    """Tells whether a text holds anything that a step may look at."""
    for mark in _MARKS:  # a generator takes three times as long here
        if mark in text:
            return True
    if "\n" in text and ROW.search(text):  # a table has several lines
        return True
    return not text.isascii() or any(pattern.search(text) for pattern in _SUSPECT)
