"""RadFact: which phrases of each report follow from the other report, in a judge's eyes (its text part).

Bannur et al. 2024 (MAIRA-2, arXiv 2406.04449); code microsoft/RadFact 72463ac. Both reports are split into phrases;
each phrase is held against the other report. Logical precision is the share of the candidate's phrases that are
entailed, the mean over the candidates that have a phrase; recall that of the references'; corpus F1 is 2PR/(P+R) of
these means. A pair's own F1 is that of its shares, 0 if one of its reports has no phrase. Arithmetic: `scores`.

Differs from the authors: questions and examples are our own words, JSON in and out; a reply that cannot be read leaves
the pair unscored (theirs counts an unreadable entailment as not entailed); F1 is 0, not an error, for P = R = 0.

Reports of CT are asked about in words of their own, as RadEval's `radfact_ct` does (e0a3909). `negatives=drop` is its
RadFact+: one more question for each report leaves out what is absent or normal, and a pair of two reports without a
finding is unscored. `parser=strict` reads its replies as theirs does (`published`). Theirs also asks about the phrases
of a report whose counterpart has none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from rrgmetrics.backends.compared_pairs import Compared
from rrgmetrics.comparing.model import Unit
from rrgmetrics.comparing.penalties import silent
from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.base import Prompt
from rrgmetrics.judges.protocols.loose_json import Pairs, plain
from rrgmetrics.judges.protocols.replies import answer_of, listed, read_json, short, texts
from rrgmetrics.judges.protocols.statements import normal_statements
from rrgmetrics.judges.protocols.templates import Prompts
from rrgmetrics.reading import Reading
from rrgmetrics.reading.lexicon import DEFAULT_PACK
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array
from rrgmetrics.scorers.judged import JudgeScorer, KnownMean
from rrgmetrics.scorers.radfact.published import (
    published_entailment,
    published_phrases,
    published_positives,
)
from rrgmetrics.scorers.radfact.scores import JudgedPhrase, best_match, normalise, shares
from rrgmetrics.specs import keys_of

PROMPTS = Prompts("rrgmetrics.scorers.radfact")
POSITIVES = "positives"
STATUSES = dict.fromkeys(("entailment", "entailed", "yes", "true"), True) | dict.fromkeys(
    ("notentailment", "notentailed", "nonentailment", "noentailment", "contradiction", "neutral", "no", "false"), False
)
FIELD = re.compile(r"^[ \t*_#]*(status|evidence|phrase)[*_]*[ \t]*:[*_]*", re.IGNORECASE | re.MULTILINE)
SAME_PHRASE = 0.8  # similarity from which a copied phrase counts as the report's
MAX_TOKENS = 1024
REST = "The rest is normal."  # the phrase that stands for all normal statements of a report
MAX_PHRASES, MAX_CHARACTERS = 300, 1_000  # of a report, of a phrase; beyond, a model has lost itself in a loop
CLAUSE = re.compile(r"[.;:\n]+|, | and ")  # ends one phrase, or nearly
_TEXTS = {"type": "array", "items": {"type": "string"}}
PHRASES_SCHEMA = {
    "type": "object",
    "properties": {"phrases": _TEXTS},
    "required": ["phrases"],
    "additionalProperties": False,
}
ENTAILMENT_SCHEMA = {
    "type": "object",
    "properties": {"evidence": _TEXTS, "status": {"enum": ["entailment", "not_entailment"]}},
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
    """The phrases of both reports, each with its entailment; `positives`: without what is absent or normal."""

    candidate: tuple[Phrase, ...]
    reference: tuple[Phrase, ...]
    positives: bool = False

    def to_dict(self) -> dict[str, object]:
        """Returns a JSON object."""
        sides = {"candidate": self.candidate, "reference": self.reference}
        return {
            side: [phrase._asdict() | {"evidence": list(phrase.evidence)} for phrase in phrases]
            for side, phrases in sides.items()
        }


@dataclass(frozen=True)
class RadfactProtocol:
    """The protocol of RadFact, in our words: phrases first, then each of them against the other report's.

    Attributes:
        negatives: "drop" leaves out phrases that say that something is absent or normal, by one more question.
        parser: "strict" reads replies as RadEval does.
    """

    negatives: Literal["keep", "drop"] = "keep"
    parser: Literal["tolerant", "strict"] = "tolerant"
    name: str = "radfact"
    version: int = 1
    paper: str = ""
    pack: str = DEFAULT_PACK

    def for_pack(self, pack: str) -> RadfactProtocol:
        """Returns the protocol that asks about reports of another kind."""
        return replace(self, pack=pack)

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the checksum of the prompts."""
        names = ("system", PROMPTS.of_pack("phrases", self.pack), PROMPTS.of_pack("entailment", self.pack))
        return {"prompt": PROMPTS.digits(*names, *((POSITIVES,) if self.negatives == "drop" else ()))}

    def prompts(self, pair: Pair) -> tuple[Prompt, ...]:
        """Returns a prompt for each report that is not empty: what are its phrases?"""
        return tuple(
            self._prompt(PROMPTS.fill(PROMPTS.of_pack("phrases", self.pack), report=text.strip()), PHRASES_SCHEMA)
            for text in (pair.candidate, pair.reference)
            if text.strip()
        )

    def follow_up(self, pair: Pair, replies: Sequence[str]) -> tuple[Prompt, ...]:
        """Returns a prompt for each phrase: does it follow from the other report's? None where the other has none.

        With `negatives=drop` there comes a prompt for each report before: which of its phrases are left?
        """
        first, phrases = self._first(pair, replies)
        if self.negatives == "drop":
            filters = tuple(
                self._prompt(PROMPTS.fill(POSITIVES, phrases=json.dumps(side, ensure_ascii=False)), PHRASES_SCHEMA)
                for side in phrases
                if side
            )
            if len(replies) == first:
                return filters
            first, phrases = first + len(filters), self._positives(phrases, replies[first:])
        if len(replies) > first:
            return ()
        candidate, reference = phrases
        questions = [(phrase, reference) for phrase in candidate if reference]
        questions += [(phrase, candidate) for phrase in reference if candidate]
        return tuple(
            self._prompt(
                PROMPTS.fill(
                    PROMPTS.of_pack("entailment", self.pack),
                    report=json.dumps(other, ensure_ascii=False),
                    phrase=phrase,
                ),
                ENTAILMENT_SCHEMA,
            )
            for phrase, other in questions
        )

    def likely_replies(self, pair: Pair) -> tuple[str, ...]:
        """Returns replies to all but the last questions, with the clauses of the reports as phrases, for a bill."""
        clauses = [
            [part.strip() for part in CLAUSE.split(text) if part.strip()] for text in (pair.candidate, pair.reference)
        ]
        phrases = tuple(json.dumps({"phrases": side[:MAX_PHRASES]}, ensure_ascii=False) for side in clauses if side)
        return phrases * 2 if self.negatives == "drop" else phrases

    def verdict(self, pair: Pair, replies: Sequence[str]) -> RadfactVerdict:
        """Reads every entailment; raises VerdictError for one that cannot be read."""
        first, phrases = self._first(pair, replies)
        drops = self.negatives == "drop"
        if drops:
            n_filters = sum(map(bool, phrases))
            first, phrases = first + n_filters, self._positives(phrases, replies[first:])
        candidate, reference = phrases
        if not candidate or not reference:
            alone = [tuple(Phrase(text, False) for text in side) for side in phrases]
            return RadfactVerdict(alone[0], alone[1], drops)
        judged = iter(replies[first:])
        return RadfactVerdict(
            tuple(self._entailment(text, reference, next(judged)) for text in candidate),
            tuple(self._entailment(text, candidate, next(judged)) for text in reference),
            drops,
        )

    def from_comparison(self, pair: Pair, compared: Compared) -> RadfactVerdict:
        """Returns phrases: the findings, the denials of the other's findings, and one that the rest is normal.

        A finding follows from its like without a wrong attribute; one of the reference does not follow from a vaguer
        one ("left effusion" from "effusion"), though the vaguer follows from it. Normal statements are one phrase
        however many there are, so that repeating them earns nothing; one that the other report contradicts is a phrase
        of its own.
        """
        comparison = compared.comparison
        wrong = {(error.reference, error.candidate) for error in comparison.whole.errors if error.attribute}
        vague = {id(error.reference) for error in comparison.errors if error.is_left_out}
        links = [
            (comparison.references[link.reference].head, comparison.candidates[link.candidate].head)
            for link in comparison.links
        ]
        kept = [link for link in links if link not in wrong]
        followed = {id(candidate) for _, candidate in kept}, {id(reference) for reference, _ in kept} - vague
        paid = tuple(Phrase(error.sentence, False) for error in comparison.penalties if error.candidate_spans)
        sides = (
            paid + _read_phrases(compared.candidate, compared.reference, comparison.candidates, followed[0]),
            _read_phrases(compared.reference, compared.candidate, comparison.references, followed[1]),
        )
        if self.negatives == "keep":
            return RadfactVerdict(*sides)
        n_found = len(paid) + len(comparison.candidates), len(comparison.references)
        return RadfactVerdict(sides[0][: n_found[0]], sides[1][: n_found[1]], positives=True)

    def _prompt(self, text: str, schema: Mapping[str, Any]) -> Prompt:
        return Prompt(PROMPTS.conversation(text), f"radfact@{self.version}", schema, MAX_TOKENS)

    def _first(self, pair: Pair, replies: Sequence[str]) -> tuple[int, list[tuple[str, ...]]]:
        """The number of replies to the first questions, and the phrases of the candidate and of the reference."""
        remaining = iter(replies)
        reading = published_phrases if self.parser == "strict" else read_phrases
        texts = (pair.candidate, pair.reference)
        phrases = [reading(next(remaining)) if text.strip() else () for text in texts]
        return sum(bool(text.strip()) for text in texts), phrases

    def _positives(self, phrases: Sequence[tuple[str, ...]], replies: Sequence[str]) -> list[tuple[str, ...]]:
        """What is left of the phrases of both reports."""
        remaining = iter(replies)
        if self.parser == "strict":
            return [published_positives(next(remaining), side) if side else () for side in phrases]
        return [read_positives(next(remaining), side) if side else () for side in phrases]

    def _entailment(self, phrase: str, other: Sequence[str], reply: str) -> Phrase:
        if self.parser == "strict":
            return Phrase(phrase, *published_entailment(reply))
        return read_entailment(phrase, other, reply)


def read_phrases(reply: str) -> tuple[str, ...]:
    """Reads phrases in our form, {"phrases": [...]}, or in the authors', {"sentence_list": [{"new": [...]}]}.

    A list alone, of JSON or of Markdown, is read too.
    """
    answer = listed(answer_of(reply)) or read_json(reply, _lists_phrases, _is_phrase)[0]
    sentences = answer.get("sentence_list") if isinstance(answer, Pairs) else None
    if isinstance(sentences, list) and all(isinstance(sentence, Pairs) for sentence in sentences):
        phrases = tuple(phrase for sentence in sentences for phrase in texts(sentence.get("new"), "new"))
    else:
        phrases = texts(answer.get("phrases") if isinstance(answer, Pairs) else list(answer), "phrases")
    if len(phrases) > MAX_PHRASES or any(len(phrase) > MAX_CHARACTERS for phrase in phrases):
        raise VerdictError(f"The reply has {len(phrases)} phrases, or phrases that are too long: {short(reply)!r}.")
    return phrases


def _lists_phrases(value: Any) -> bool:
    return isinstance(value, Pairs) and (value.has("phrases") or value.has("sentence_list"))


def _is_phrase(value: Any) -> bool:
    return isinstance(value, str)


def read_positives(reply: str, phrases: Sequence[str]) -> tuple[str, ...]:
    """Reads which of a report's phrases are left.

    Raises:
        VerdictError: There is no list of them, or one is none of the report's.
    """
    kept = read_phrases(reply)
    places = [best_match(phrase, phrases) for phrase in kept]
    for phrase, best in zip(kept, places, strict=True):
        if best.similarity < SAME_PHRASE or normalise(phrase).startswith(normalise(phrases[best.place]) + " "):
            raise VerdictError(f"{short(phrase)!r} is not a phrase of the report.")
    return tuple(phrases[place] for place in sorted({best.place for best in places}))


def read_entailment(phrase: str, other: Sequence[str], reply: str) -> Phrase:
    """Reads whether a phrase follows from the other report's, and from which of them.

    Raises:
        VerdictError: There is no status, or the evidence is none of the other report's.
    """
    fields = _fields(answer_of(reply))
    answer = fields or read_json(reply, _has_status)[0]
    stated = answer.get("status", answer.get("entailed"))
    status = STATUSES.get(plain(str(stated)))
    if status is None:
        raise VerdictError(
            f"The status of {short(phrase)!r} is {stated!r}; it must be 'entailment' or 'not_entailment'."
        )
    evidence = texts(answer.get("evidence"), "evidence")
    if fields and status and not evidence:
        raise VerdictError(f"{short(phrase)!r} is entailed, and the evidence is cut off: {short(reply)!r}.")
    if not status or not evidence:  # without evidence the authors count it as not entailed, too
        return Phrase(phrase, False, evidence)
    for cited in evidence:
        if len(cited) > MAX_CHARACTERS or best_match(cited, other).similarity < SAME_PHRASE:
            raise VerdictError(f"The evidence {short(cited)!r} is not a phrase of the other report.")
    return Phrase(phrase, True, tuple(other[best_match(cited, other).place] for cited in evidence))


def _has_status(value: Any) -> bool:
    return isinstance(value, Pairs) and (value.has("status") or value.has("entailed"))


def _fields(text: str) -> Pairs | None:
    """The fields of a reply in the authors' form, YAML, or in Markdown; a denial may be the status alone."""
    if "{" in text:
        return None
    found = list(FIELD.finditer(text))
    if not any(field[1].lower() == "status" for field in found):
        return Pairs([("status", text)]) if STATUSES.get(plain(text)) is False else None
    fields = Pairs()
    for field, end in zip(found, [*(field.start() for field in found[1:]), len(text)], strict=True):
        body = text[field.end() : end].strip(" \n*`[]")
        bullets = re.findall(r"^[ \t]*[-*\u2022][ \t]+(\S.*)$", body, re.MULTILINE)
        fields.append((field[1], bullets or body))
    return fields


def _read_phrases(reading: Reading, other: Reading, units: Sequence[Unit], followed: set[int]) -> tuple[Phrase, ...]:
    """The findings of a reading, its normal statements that the other contradicts, and one phrase for the rest."""
    if silent(reading):
        return ()
    findings = [Phrase(reading.evidence(unit.head), id(unit.head) in followed) for unit in units]
    denied = [Phrase(words, False) for words, stands in normal_statements(reading, other).items() if not stands]
    return (*findings, *denied, Phrase(REST, not silent(other) and not denied))


KEYS = keys_of("radfact")


@dataclass(frozen=True)
class F1OfMeans(KnownMean):
    """The reduction of RadFact: the means of precision and recall, and their F1."""

    def corpus(self, sums: Array, n: Array) -> dict[str, Array]:
        """The mean precision and recall over reports with a phrase, NaN without any; their F1, where NaN counts 0."""
        _, precision, recall = super().corpus(sums, n).values()
        f1 = np.where(np.asarray(n) > 0, _f1(np.nan_to_num(precision), np.nan_to_num(recall)), np.nan)
        return dict(zip(KEYS, (f1, precision, recall), strict=True))


@dataclass(frozen=True)
class Radfact(JudgeScorer):
    """RadFact by the engine that `config` names; `engine` holds that engine's options."""

    keys = KEYS

    negatives: Literal["keep", "drop"] = "keep"
    parser: Literal["tolerant", "strict"] = "tolerant"

    @property
    def protocol(self) -> RadfactProtocol:
        """The protocol: the prompts, and the parser of the replies."""
        return RadfactProtocol(self.negatives, self.parser)

    @property
    def reduction(self) -> F1OfMeans:
        """The F1 of the mean shares."""
        return F1OfMeans(KEYS)

    @staticmethod
    def row(verdict: RadfactVerdict) -> list[float]:
        """Returns the values of a verdict in the order of `KEYS`; of two reports without a finding all are NaN."""
        if verdict.positives and not verdict.candidate and not verdict.reference:
            return [np.nan] * len(KEYS)
        fractions = (
            shares([JudgedPhrase(phrase.entailed) for phrase in phrases]).logical if phrases else np.nan
            for phrases in (verdict.candidate, verdict.reference)
        )
        return with_f1(*fractions)


def with_f1(precision: float, recall: float) -> list[float]:
    """Returns a pair's values in the order of `KEYS`; a share is NaN where the report has no phrase (0 in F1)."""
    return [float(_f1(np.nan_to_num(precision), np.nan_to_num(recall))), precision, recall]


def _f1(precision: Array, recall: Array) -> Array:
    """The harmonic mean; 0 for two zeros."""
    total = precision + recall
    return np.where(total == 0, 0.0, 2 * precision * recall / np.where(total == 0, 1.0, total))
