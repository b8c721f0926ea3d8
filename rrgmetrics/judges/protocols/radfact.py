"""RadFact: which phrases of each report follow from the other report, in a judge's eyes (its text part).

Bannur et al. 2024 (MAIRA-2, arXiv 2406.04449); code microsoft/RadFact 72463ac. Both reports are split into phrases;
each phrase is held against the other report. Logical precision is the share of the candidate's phrases that are
entailed, recall that of the reference's, F1 = 2PR/(P+R) of the corpus means. Arithmetic: `radfact_scores`.

Differs from the authors: questions and examples are our own words, JSON in and out; a reply that cannot be read leaves
the pair unscored (theirs counts an unreadable entailment as not entailed); F1 is 0, not an error, for P = R = 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rrgmetrics.backends.comparison import Compared
from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.base import Message, Prompt
from rrgmetrics.judges.protocols.radfact_scores import best_match
from rrgmetrics.judges.protocols.replies import Pairs, read_json, short, texts
from rrgmetrics.judges.protocols.statements import normal_statements
from rrgmetrics.judges.protocols.templates import digits, fill
from rrgmetrics.reader import Reading
from rrgmetrics.reader.model import Unit
from rrgmetrics.reader.penalties import silent
from rrgmetrics.reports import Pair

TEMPLATES = ("radfact_system", "radfact_phrases", "radfact_entailment")
STATUSES = ("entailment", "not_entailment", "contradiction", "neutral")
SAME_PHRASE = 0.8  # similarity from which a copied phrase counts as the report's
MAX_TOKENS = 1024
REST = "The rest is normal."  # the phrase that stands for all normal statements of a report
MAX_PHRASES, MAX_CHARACTERS = 300, 1_000  # of a report, of a phrase; beyond, a model has lost itself in a loop
_TEXTS = {"type": "array", "items": {"type": "string"}}
PHRASES_SCHEMA = {
    "type": "object",
    "properties": {"phrases": _TEXTS},
    "required": ["phrases"],
    "additionalProperties": False,
}
ENTAILMENT_SCHEMA = {
    "type": "object",
    "properties": {"evidence": _TEXTS, "status": {"enum": list(STATUSES[:2])}},
    "required": ["evidence", "status"],
    "additionalProperties": False,
}


class Phrase(NamedTuple):
    """A phrase of one report, whether it follows from the other, and from what."""

    text: str
    entailed: bool
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class RadfactVerdict:
    """The phrases of both reports, each with its entailment."""

    candidate: tuple[Phrase, ...]
    reference: tuple[Phrase, ...]

    def to_dict(self) -> dict[str, Any]:
        """Returns a JSON object."""
        sides = {"candidate": self.candidate, "reference": self.reference}
        return {
            side: [phrase._asdict() | {"evidence": list(phrase.evidence)} for phrase in phrases]
            for side, phrases in sides.items()
        }


@dataclass(frozen=True)
class Radfact:
    """The protocol of RadFact, in our words: phrases first, then each of them against the other report's."""

    name: str = "radfact"
    version: int = 1
    paper: str = ""

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the checksum of the prompts."""
        return {"prompt": digits(*TEMPLATES)}

    def prompts(self, pair: Pair) -> tuple[Prompt, ...]:
        """Returns a prompt for each report that is not empty: what are its phrases?"""
        return tuple(
            self._prompt(fill("radfact_phrases", report=text.strip()), PHRASES_SCHEMA)
            for text in (pair.candidate, pair.reference)
            if text.strip()
        )

    def follow_up(self, pair: Pair, replies: Sequence[str]) -> tuple[Prompt, ...]:
        """Returns a prompt for each phrase: does it follow from the other report's? None where the other has none."""
        candidate, reference = self._phrases(pair, replies)
        questions = [(phrase, reference) for phrase in candidate if reference]
        questions += [(phrase, candidate) for phrase in reference if candidate]
        return tuple(
            self._prompt(
                fill("radfact_entailment", report=json.dumps(other, ensure_ascii=False), phrase=phrase),
                ENTAILMENT_SCHEMA,
            )
            for phrase, other in questions
        )

    def verdict(self, pair: Pair, replies: Sequence[str]) -> RadfactVerdict:
        """Reads every entailment; raises VerdictError for one that cannot be read."""
        candidate, reference = self._phrases(pair, replies)
        if not candidate or not reference:
            return RadfactVerdict(*(tuple(Phrase(text, False) for text in side) for side in (candidate, reference)))
        judged = iter(replies[len(self.prompts(pair)) :])
        return RadfactVerdict(
            tuple(_entailment(text, reference, next(judged)) for text in candidate),
            tuple(_entailment(text, candidate, next(judged)) for text in reference),
        )

    def from_comparison(self, pair: Pair, compared: Compared) -> RadfactVerdict:
        """Returns phrases: the findings, the denials of the other's findings, and one that the rest is normal.

        A finding follows from its like without a wrong attribute. Normal statements are one phrase however many there
        are, so that repeating them earns nothing; one that the other report contradicts is a phrase of its own.
        """
        comparison = compared.comparison
        wrong = {(error.reference, error.candidate) for error in comparison.errors if error.attribute}
        links = [
            (comparison.references[link.reference].head, comparison.candidates[link.candidate].head)
            for link in comparison.links
        ]
        kept = [link for link in links if link not in wrong]
        followed = {id(candidate) for _, candidate in kept}, {id(reference) for reference, _ in kept}
        paid = tuple(Phrase(error.sentence, False) for error in comparison.penalties if error.candidate_spans)
        return RadfactVerdict(
            paid + _read_phrases(compared.candidate, compared.reference, comparison.candidates, followed[0]),
            _read_phrases(compared.reference, compared.candidate, comparison.references, followed[1]),
        )

    def _prompt(self, text: str, schema: Mapping[str, Any]) -> Prompt:
        messages = (Message("system", fill("radfact_system").strip()), Message("user", text.rstrip()))
        return Prompt(messages, f"radfact@{self.version}", schema, MAX_TOKENS)

    def _phrases(self, pair: Pair, replies: Sequence[str]) -> list[tuple[str, ...]]:
        """Phrases of the candidate and of the reference."""
        remaining = iter(replies)
        return [read_phrases(next(remaining)) if text.strip() else () for text in (pair.candidate, pair.reference)]


def read_phrases(reply: str) -> tuple[str, ...]:
    """Reads phrases in our form, {"phrases": [...]}, or in the authors', {"sentence_list": [{"new": [...]}]}."""
    answer = read_json(reply)
    sentences = answer.get("sentence_list")
    if isinstance(sentences, list) and all(isinstance(sentence, Pairs) for sentence in sentences):
        phrases = tuple(phrase for sentence in sentences for phrase in texts(sentence.get("new"), "new"))
    elif any(key == "phrases" for key, _ in answer):
        phrases = texts(answer.get("phrases"), "phrases")
    else:
        raise VerdictError(f"The reply has no list 'phrases': {short(reply)!r}.")
    if len(phrases) > MAX_PHRASES or any(len(phrase) > MAX_CHARACTERS for phrase in phrases):
        raise VerdictError(f"The reply has {len(phrases)} phrases, or endless ones: {short(reply)!r}.")
    return phrases


def _entailment(phrase: str, other: Sequence[str], reply: str) -> Phrase:
    answer = read_json(reply)
    status = str(answer.get("status")).strip().lower()
    if status not in STATUSES:
        raise VerdictError(
            f"The status of {short(phrase)!r} is {status!r}; it must be one of {', '.join(STATUSES[:2])}."
        )
    evidence = texts(answer.get("evidence"), "evidence")
    if status != "entailment" or not evidence:  # without evidence the authors count it as not entailed, too
        return Phrase(phrase, False, evidence)
    for cited in evidence:
        if len(cited) > MAX_CHARACTERS or best_match(cited, other).similarity < SAME_PHRASE:
            raise VerdictError(f"The evidence {short(cited)!r} is no phrase of the other report.")
    return Phrase(phrase, True, tuple(other[best_match(cited, other).place] for cited in evidence))


def _read_phrases(reading: Reading, other: Reading, units: Sequence[Unit], followed: set[int]) -> tuple[Phrase, ...]:
    """The findings of a reading, its normal statements that the other contradicts, and one phrase for the rest."""
    if silent(reading):
        return ()
    findings = [Phrase(reading.evidence(unit.head), id(unit.head) in followed) for unit in units]
    denied = [Phrase(words, False) for words, stands in normal_statements(reading, other).items() if not stands]
    return (*findings, *denied, Phrase(REST, not silent(other) and not denied))
