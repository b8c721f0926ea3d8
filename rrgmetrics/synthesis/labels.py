"""Who counts the errors of a pair: the reader, whoever put them in, or an LLM judge.

A pair that cannot be labelled is left out and counted; it never gets a 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from rrgmetrics.comparing import ReportComparison, compare
from rrgmetrics.judges.base import JudgeProtocol, Unscored
from rrgmetrics.judges.engines.named import parse_engine
from rrgmetrics.judges.judge import Judge, judge_for
from rrgmetrics.reading.lexicon import checksum
from rrgmetrics.reports import Pair
from rrgmetrics.synthesis.pairs import CANDIDATE, CATEGORIES, REFERENCE, Draft, Evidence, Label
from rrgmetrics.synthesis.readings import reading_of

READER, INJECTED = "reader", "injected"
CREPE = "crepe@"  # before an engine: CREPE's question instead of GREEN's


class Labeller(Protocol):
    """Counts errors."""

    @property
    def source(self) -> str:
        """Who counts, as the rows say it."""

    @property
    def version(self) -> str:
        """What a label depends on besides the pair: the lexicon's or the prompt's checksum."""

    def label(self, drafts: Sequence[Draft]) -> list[Label | None]:
        """Returns the label of each pair, None where there is none."""


@dataclass(frozen=True)
class ReaderLabels:
    """The reader's comparison of both reports, without the patient's age or indication.

    Attributes:
        source: As the rows say it.
        penalties: Whether what a candidate pays for besides its findings counts (`rrgmetrics.comparing.penalties`).
    """

    source: str = READER
    penalties: bool = True

    @property
    def version(self) -> str:
        """The checksum of the lexicon."""
        return f"lexicon:{checksum()[:8]}" + ("" if self.penalties else " without penalties")

    def label(self, drafts: Sequence[Draft]) -> list[Label | None]:
        """Returns the reader's errors, with the words they rest on."""
        compared = (compare(reading_of(draft.reference), reading_of(draft.candidate)) for draft in drafts)
        return [label_of(comparison, penalties=self.penalties) for comparison in compared]


@dataclass(frozen=True)
class InjectedLabels:
    """The errors that were put in on purpose; pairs found, not made, have none.

    What was put in has no significance of its own: as many errors of a category are significant as the reader says,
    but not more than were put in. The evidence is the reader's.
    """

    source: str = INJECTED

    @property
    def version(self) -> str:
        """The checksum of the lexicon, whose significance is used."""
        return ReaderLabels().version

    def label(self, drafts: Sequence[Draft]) -> list[Label | None]:
        """Returns the injected counts."""
        known = [draft for draft in drafts if draft.injected is not None]
        read = iter(ReaderLabels().label(known))
        return [None if draft.injected is None else self._label(draft.injected, next(read)) for draft in drafts]

    @staticmethod
    def _label(injected: Sequence[int], read: Label | None) -> Label:
        significant = [0.0] * len(injected) if read is None else list(read.significant)
        matters = tuple(min(float(n), s) for n, s in zip(injected, significant, strict=True))
        others = tuple(n - s for n, s in zip(injected, matters, strict=True))
        evidence = () if read is None else tuple(piece for piece in read.evidence if injected[piece.category])
        return Label(matters, others, evidence)


@dataclass(frozen=True)
class JudgeLabels:
    """A judge's counts in GREEN's format. A judge gives words, no places: these labels have no evidence."""

    judge: Judge
    source: str = field(init=False)
    version: str = field(init=False)

    def __post_init__(self) -> None:
        protocol: Any = self.judge.protocol
        object.__setattr__(self, "source", f"{protocol.name}|{self.judge.engine.identity}")
        wording = "" if protocol.template == protocol.name else f"wording:{protocol.template}|"
        object.__setattr__(self, "version", f"{wording}prompt:{protocol.facts['prompt']}|parser:{protocol.parser}")

    def label(self, drafts: Sequence[Draft]) -> list[Label | None]:
        """Returns the verdicts; None where there is no reply, or it lacks a section."""
        verdicts = self.judge.annotate_pairs([Pair(draft.reference, draft.candidate) for draft in drafts])
        return [_judged(verdict) for verdict in verdicts]


def _judged(verdict: Any) -> Label | None:
    if isinstance(verdict, Unscored) or verdict.insignificant is None:
        return None
    return Label(tuple(map(float, verdict.significant.counts)), tuple(map(float, verdict.insignificant.counts)))


def labeller_for(name: str, *, device: str | None = None, progress: bool = True, penalties: bool = True) -> Labeller:
    """Returns who counts.

    Args:
        name: `reader`, `injected`, or a judge by GREEN's protocol: `replies:<file>`, `openai:<model>`, `hf:<id>`,
            `vllm:<id>`, with options (`openai:my-model?base_url=http://127.0.0.1:8000/v1`). Behind `crepe@` it is asked
            with the question of CREPE's authors: `crepe@openai:<model>?temperature=1&top_p=0.95` labels as they did.
        device: Of a local judge.
        progress: Whether a judge shows a bar.
        penalties: Whether the reader counts penalties too.

    Raises:
        InputError: There is nobody of that name, or an option that cannot be used.
        BackendError: A judge's model or file is not there.
        MissingExtraError: The engine's package is not installed.
    """
    if name == READER:
        return ReaderLabels(penalties=penalties)
    if name == INJECTED:
        return InjectedLabels()
    template = "crepe_labels" if name.startswith(CREPE) else "green"
    name = name.removeprefix(CREPE)
    request = parse_engine(name, "--labels")
    protocol = _green(str(request.others["parser"]), template)
    judge = judge_for(protocol, request.config, request.options, device=device, progress=progress)
    assert isinstance(judge, Judge)  # the reader is none of the engines
    return JudgeLabels(judge)


def _green(parser: str, template: str) -> JudgeProtocol:
    from rrgmetrics.scorers.green import GreenProtocol

    return GreenProtocol(parser=parser, template=template)


def label_of(comparison: ReportComparison, *, penalties: bool = True) -> Label:
    """Returns a comparison as a label, with or without what is no error of a finding.

    >>> from rrgmetrics.comparing import explain
    >>> label_of(explain(candidate="Small right effusion.", reference="Small left effusion.")).significant
    (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    """
    counts = {True: [0.0] * len(CATEGORIES), False: [0.0] * len(CATEGORIES)}
    evidence = []
    found = comparison.whole.errors  # what is left out is no error that raters count
    errors = found if penalties else found[: -len(comparison.penalties) or None]
    for number, error in enumerate(errors):
        category = CATEGORIES.index(error.category)
        counts[error.significant][category] += 1
        for text, spans in ((REFERENCE, error.reference_spans), (CANDIDATE, error.candidate_spans)):
            evidence += [Evidence(category, number, text, span.start, span.end) for span in spans]
    return Label(tuple(counts[True]), tuple(counts[False]), tuple(evidence))
