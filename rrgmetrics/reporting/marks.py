"""The model of a marked report: phrases with their kind, remarks in words, and how a text is split to show them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from rrgmetrics.comparing import ReportComparison
from rrgmetrics.comparing.error_words import left_out_words, weight_words
from rrgmetrics.reading.lexicon.packs import AUTO
from rrgmetrics.reading.model import Span
from rrgmetrics.reporting.kinds import KINDS, UNLETTERED
from rrgmetrics.scoring.scope_filter import known
from rrgmetrics.utils.text_format import counted


class Mark(NamedTuple):
    """A phrase to mark.

    Attributes:
        spans: Where it stands: one or several stretches of the text.
        kind: A key of `KINDS`.
        amount: Its share of a count, where the metric says so.
        whose: Whose error it is, where several candidates stand beside one reference.
    """

    spans: tuple[Span, ...]
    kind: str
    amount: float | None = None
    whose: str = ""

    @property
    def label(self) -> str:
        """The kind with its letter: `C wrong location`."""
        return f"{KINDS[self.kind].letter} {KINDS[self.kind].title}"


SIGNIFICANT = "significant: could change what is done for the patient, by fixed rules"  # policy `management`
_SENTENCE_END = re.compile(r"[.;!?:]\s|\n")
_UNIT = re.compile(r"\s?%")
_CLOSING = re.compile(r"[^()\n]{0,40}\)")
_DIFFERENCE = re.compile(r"(?<=, )[a-z][a-z ]*: [^→]+ → .*?(?= \([^()]*\)\.$|\.(?: |$))|^[A-Z][a-z ]* left out(?=:)")


class Remark(NamedTuple):
    """One error, or another remark, in words.

    Attributes:
        kind: A key of `KINDS`, or "".
        sentence: The remark.
        significant: Whether it matters clinically; None where nobody says.
        part: 1 for an error, less for what the candidate leaves out of a finding that it has.
    """

    kind: str
    sentence: str
    significant: bool | None = None
    part: float = 1

    @property
    def left_out(self) -> bool:
        """Whether it tells what the candidate leaves out of a finding that it has: a part of an error."""
        return self.part < 1

    @property
    def weight(self) -> str:
        """How much it counts, in words."""
        return weight_words(self.significant, self.part)

    @property
    def short_weight(self) -> str:
        """The same in less room; "" for a whole error that is not significant."""
        return self.weight if self.significant or self.left_out else ""

    @property
    def parts(self) -> tuple[str, str, str]:
        """The sentence as what comes before the attribute that differs, the attribute with both values, and the rest.

        >>> Remark("incorrect_severity", "Left effusion, size: small → large.").parts
        ('Left effusion, ', 'size: small → large', '.')
        """
        found = _DIFFERENCE.search(self.sentence)
        start, end = found.span() if found else (len(self.sentence), len(self.sentence))
        return self.sentence[:start], self.sentence[start:end], self.sentence[end:]


@dataclass(frozen=True)
class Explanation:
    """What is to be shown of a pair.

    Attributes:
        reference: Marks in the reference.
        candidate: Marks in the candidate.
        remarks: The errors in words.
        note: Where the marks come from, in a sentence.
        out_of_scope: Why the reference cannot be read, as `ReportComparison.out_of_scope` says it; "" if it can.
        rest: Whatever else the metric said, as JSON has it; None if all of it is shown.
    """

    reference: tuple[Mark, ...] = ()
    candidate: tuple[Mark, ...] = ()
    remarks: tuple[Remark, ...] = ()
    note: str = ""
    out_of_scope: str = ""
    rest: Any = None

    @classmethod
    def of(cls, comparison: ReportComparison) -> Explanation:
        """The reader's errors, with the phrases that each rests on."""
        if why := comparison.out_of_scope:
            return cls(note=f"The bundled reader supports {known(AUTO)}.", out_of_scope=why)
        errors = comparison.errors
        worse = ", so that it gets the worse of its own score and that of an empty report"
        effect = worse if comparison.candidates else " and counts as an empty report"
        return cls(
            reference=tuple(Mark(e.reference_spans, e.category.value) for e in errors if e.reference_spans),
            candidate=tuple(Mark(e.candidate_spans, e.category.value) for e in errors if e.candidate_spans),
            remarks=tuple(Remark(e.category.value, e.sentence, e.significant, e.part) for e in errors),
            note=f"The candidate {comparison.unread_candidate}{effect}." if comparison.unread_candidate else "",
        )

    def beside(self, above: Explanation) -> Explanation:
        """This explanation below another one: without the remarks, if they are the same in the same words."""
        if not self.remarks or {one.sentence for one in self.remarks} != {one.sentence for one in above.remarks}:
            return self
        return replace(self, remarks=(), note=" ".join(filter(None, (self.note, "Its errors are those above."))))

    @property
    def summary(self) -> str:
        """How many errors there are, in words."""
        if self.out_of_scope:
            return f"not scored, the reference {self.out_of_scope}"
        if not self.remarks:
            return "no error"
        errors = [remark for remark in self.remarks if not remark.left_out]
        n_significant = sum(remark.significant is True for remark in errors)
        vague = left_out_words([(remark.part, remark.significant is True) for remark in self.remarks])
        return f"{counted(len(errors), 'error')}, {n_significant} significant{vague}"


class Marking(Protocol):
    """Anything that marks stretches of a text."""

    @property
    def spans(self) -> tuple[Span, ...]:
        """The stretches."""


AnyMark = TypeVar("AnyMark", bound=Marking)


@dataclass(frozen=True)
class Piece(Generic[AnyMark]):
    """A stretch of text in which no mark starts or ends.

    Attributes:
        text: The stretch.
        over: The marks that cover it.
        ending: Those of them that end with it: with their last stretch, or the last one of a sentence.
    """

    text: str
    over: tuple[AnyMark, ...]
    ending: tuple[AnyMark, ...]


def letters(piece: Piece[Mark]) -> str:
    """The letters of the marks that end with a piece, each once; marks that have none behind the words are left out."""
    own = (KINDS[mark.kind].letter for mark in piece.ending if mark.kind not in UNLETTERED)
    return " ".join(dict.fromkeys(own))


def pieces(text: str, marks: Sequence[AnyMark]) -> Iterator[Piece[AnyMark]]:
    """Cuts a text wherever a mark starts or ends; what lies beyond its end is not there.

    A mark that ends within a number or a bracket reaches to its end: "(5" to "(5% of the hemithorax)".

    Args:
        text: A report.
        marks: Phrases of it; each piece has them in this order.

    Example:
        >>> marks = [Mark((Span(0, 4),), "incorrect_location"), Mark((Span(0, 12),), "matched")]
        >>> [(piece.text, len(piece.over), len(piece.ending)) for piece in pieces("Left effusion.", marks)]
        [('Left', 2, 1), (' effusio', 1, 1), ('n.', 0, 0)]
        >>> [piece.text for piece in pieces("Stenosis (40% or so).", [Mark((Span(0, 12),), "incorrect_severity")])]
        ['Stenosis (40% or so)', '.']
    """
    stretches = [tuple(whole(text, span) for span in mark.spans) for mark in marks]
    cuts = {0, len(text)} | {min(end, len(text)) for spans in stretches for span in spans for end in span}
    ends = [_ends(text, spans) for spans in stretches]
    for start, end in itertools.pairwise(sorted(cuts)):
        over = [index for index, spans in enumerate(stretches) if any(s.start < end and s.end > start for s in spans)]
        ending = [index for index in over if end in ends[index]]
        yield Piece(text[start:end], tuple(marks[index] for index in over), tuple(marks[index] for index in ending))


def whole(text: str, span: Span) -> Span:
    """A stretch with the unit of its last number and the end of a bracket that it opens.

    Example:
        >>> whole("Pneumothorax (5% of the hemithorax).", Span(0, 15))
        Span(start=0, end=35)
    """
    end = span.end
    if unit := _UNIT.match(text, end):
        end = unit.end()
    stretch = text[span.start : end]
    if stretch.count("(") > stretch.count(")") and (closing := _CLOSING.match(text, end)):
        end = closing.end()
    return Span(span.start, end)


def _ends(text: str, spans: Sequence[Span]) -> set[int]:
    """Where a mark ends: a finding that is named in several sentences ends in each."""
    ends = {min(spans[-1].end, len(text))} if spans else set()
    for one, following in itertools.pairwise(spans):
        if _SENTENCE_END.search(text, one.end, following.start + 1):
            ends.add(min(one.end, len(text)))
    return ends
