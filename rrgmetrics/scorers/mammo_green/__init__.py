"""MammoGREEN: matched findings / (matched findings + significant errors) of mammograms, as a judge counts them.

After RadEval's `mammo_green` (e0a3909, MIT), itself after Mammo-FM (arXiv 2512.00198). With m matched findings and s
significant errors of six kinds the score is m / (m + s).

Differs from the authors: the question is in our own words and asks for findings and errors in words, not for counts;
two reports without anything to compare are unscored, where theirs give 0, the worst value; a comparison is an error
only where the reference makes none, so that a copy of the reference has no error; more than one wrong BI-RADS category
counts as one. `parser=strict` asks for counts, and reads and scores replies as theirs does; a reply that cannot be read
leaves a pair unscored and does not end the run.

Bundled: as GREEN's, with the reader's errors sorted into the six kinds, for mammograms; a reference of another kind is
unscored. The assessment and the density are no findings to match, as in the question: only where there is no other
does an assessment that agrees count as the one match of two negative reports. A category that differs is an error. One
that is left out is a missing recommendation where something is to be done (0, 3 to 6); one that the reference does not
give, a density that only one report gives, and a density on the same side of B and C are insignificant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from rrgmetrics.backends.compared_pairs import Compared
from rrgmetrics.comparing import ErrorCategory, FindingError
from rrgmetrics.comparing.penalties import silent
from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.base import Message, Prompt
from rrgmetrics.judges.protocols.loose_json import Pairs, plain
from rrgmetrics.judges.protocols.replies import NONE, NUMBERS, between_braces, has_keys, read_json, short, texts
from rrgmetrics.judges.protocols.statements import matched_words
from rrgmetrics.judges.protocols.templates import Prompts
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.judged import JudgeScorer
from rrgmetrics.specs import keys_of

PROMPTS = Prompts("rrgmetrics.scorers.mammo_green")
KINDS = (
    "false_finding",
    "missing_finding",
    "mischaracterization",
    "wrong_location_laterality",
    "incorrect_birads",
    "incorrect_breast_density",
)
ONCE = "incorrect_birads"  # one error at most
KIND_OF_CONCEPT = {"birads": "incorrect_birads", "breast_density": "incorrect_breast_density"}
DENSE = frozenset({"density_c", "density_d"})  # in which a cancer may be hidden
MAX_TOKENS = 8192
MAX_COUNT = 1000
OPEN_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*(?:```|\Z)", re.DOTALL)  # theirs need not end
PLAIN_KINDS = frozenset(map(plain, KINDS))
VAGUE = re.compile(
    r"(?:several|many|multiple|a few|few|some|various|unknown|unclear|all)\b"
    r"|[~<>]?\s*\d{1,4}\s*(?:[-\u2013]\s*\d|\+|or\b|to\b)"
)
KIND_OF = {  # the reader's categories; a missing comparison is no significant error
    ErrorCategory.FALSE_FINDING: "false_finding",
    ErrorCategory.MISSING_FINDING: "missing_finding",
    ErrorCategory.INCORRECT_LOCATION: "wrong_location_laterality",
    ErrorCategory.INCORRECT_SEVERITY: "mischaracterization",
    ErrorCategory.FALSE_COMPARISON: "false_finding",
}
_TEXTS = {"type": "array", "items": {"type": "string"}}


def _object(**members: Any) -> dict[str, object]:
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


SCHEMA = _object(
    matched_findings=_TEXTS, significant_errors=_object(**dict.fromkeys(KINDS, _TEXTS)), insignificant_errors=_TEXTS
)


class Counted(NamedTuple):
    """A number of findings or errors, and the words for them where there are any."""

    number: int = 0
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, words: Sequence[str]) -> Counted:
        """What was listed."""
        return cls(len(words), tuple(words))

    def to_dict(self) -> dict[str, object]:
        """Returns a JSON object."""
        return {"count": self.number, "errors": list(self.words)}


@dataclass(frozen=True)
class MammoVerdict:
    """What a judge matched, and the errors of each kind.

    Attributes:
        matched: Matched findings.
        significant: Errors by kind, in the order of `KINDS`.
        insignificant: Errors that change nothing.
        nothing: The score where there is neither a match nor a significant error.
    """

    matched: Counted
    significant: Mapping[str, Counted]
    insignificant: Counted = field(default_factory=Counted)
    nothing: float = float("nan")

    @property
    def n_significant(self) -> int:
        """Significant errors of all kinds."""
        return sum(counted.number for counted in self.significant.values())

    @property
    def score(self) -> float:
        """The score, 0 to 1; NaN for nothing to compare."""
        total = self.matched.number + self.n_significant
        return self.matched.number / total if total else self.nothing

    def to_dict(self) -> dict[str, object]:
        """Returns a JSON object; kinds without an error are left out."""
        return {
            "score": self.score,
            "significant": {kind: one.to_dict() for kind, one in self.significant.items() if one.number},
            "insignificant": {"": self.insignificant.to_dict()} if self.insignificant.number else {},
            "n_matched": self.matched.number,
            "matched": list(self.matched.words),
        }


@dataclass(frozen=True)
class MammoGreenProtocol:
    """The protocol; `parser` is "tolerant" (lists of words) or "strict" (counts, as RadEval's)."""

    parser: Literal["tolerant", "strict"] = "tolerant"
    name: str = "mammo_green"
    version: int = 1
    paper: str = ""

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the checksum of the prompt."""
        return {"prompt": PROMPTS.digits("system", self._form)}

    @property
    def _form(self) -> str:
        return "counts" if self.parser == "strict" else "lists"

    def prompts(self, pair: Pair) -> tuple[Prompt, ...]:
        """Returns the one prompt."""
        system = PROMPTS.fill("system", form=PROMPTS.fill(self._form).strip()).strip()
        user = f"REFERENCE_REPORT:\n{pair.reference}\n\nGENERATED_REPORT:\n{pair.candidate}"
        schema = None if self.parser == "strict" else SCHEMA
        messages = (Message("system", system), Message("user", user))
        return (Prompt(messages, f"{self.name}@{self.version}", schema, MAX_TOKENS),)

    def follow_up(self, pair: Pair, replies: Sequence[str]) -> tuple[Prompt, ...]:
        """Returns no further prompt."""
        return ()

    def verdict(self, pair: Pair, replies: Sequence[str]) -> MammoVerdict:
        """Reads the reply; raises VerdictError for one that cannot be read, or that finds nothing to compare."""
        if self.parser == "strict":
            return strict(replies[0])
        verdict = tolerant(replies[0])
        if not verdict.matched.number and not verdict.n_significant:
            raise VerdictError("The judge found nothing to compare in these reports.")
        return verdict

    def from_comparison(self, pair: Pair, compared: Compared) -> MammoVerdict:
        """Returns the reader's matches and errors as a verdict."""
        comparison = compared.comparison
        matched = matched_words(compared, KIND_OF_CONCEPT) or matched_words(compared)
        words: dict[str, list[str]] = {kind: [] for kind in KINDS}
        insignificant: list[str] = []
        compares, mute = False, silent(compared.candidate)  # a report that says nothing misses all
        for error in comparison.errors:
            kind = kind_of(error)
            if kind is None or error.is_left_out or not (mute or _matters(error)):
                insignificant.append(error.sentence)
            elif error.category is not ErrorCategory.FALSE_COMPARISON or not compares:
                words[kind].append(error.sentence)
                compares = compares or error.category is ErrorCategory.FALSE_COMPARISON
        words[ONCE] = words[ONCE][:1]
        significant = {kind: Counted.of(errors) for kind, errors in words.items()}
        return MammoVerdict(Counted.of(matched), significant, Counted.of(insignificant))


def kind_of(error: FindingError) -> str | None:
    """The kind of an error of the reader; None for one that is never significant."""
    said = [finding.concept for finding in (error.reference, error.candidate) if finding is not None]
    if error.attribute and said and said[0] in KIND_OF_CONCEPT:
        return KIND_OF_CONCEPT[said[0]]
    return KIND_OF.get(error.category)


def _matters(error: FindingError) -> bool:
    """Whether an error of the reader is significant here."""
    ref, cand = error.reference, error.candidate
    if cand is not None and ref is None and cand.concept in KIND_OF_CONCEPT:
        return False
    if ref is not None and cand is not None and ref.concept == cand.concept == "breast_density":
        return ref.morphology.isdisjoint(DENSE) != cand.morphology.isdisjoint(DENSE)
    return error.significant


# --- reading


def tolerant(reply: str) -> MammoVerdict:
    """Reads lists of words, or counts; raises VerdictError where a part is missing or is neither.

    Example:
        >>> kinds = ", ".join(f'"{kind}": []' for kind in KINDS)
        >>> reply = f'{{"matched_findings": ["Cyst"], "significant_errors": {{{kinds}}}, "insignificant_errors": 2}}'
        >>> verdict = tolerant(reply)
        >>> verdict.score, verdict.insignificant.number
        (1.0, 2)
    """
    answer, _ = read_json(reply, has_keys("significant_errors"))
    errors = answer.get("significant_errors")
    if not isinstance(errors, Pairs):
        raise VerdictError(f"The reply has no object 'significant_errors': {short(reply)!r}.")
    if unknown := sorted(kind for kind, _ in errors if plain(kind) not in PLAIN_KINDS):
        raise VerdictError(f"The reply has errors of the kind {unknown[0]!r}; kinds are {', '.join(KINDS)}.")
    significant = {kind: Counted() if errors.get(kind) is None else _counted(errors, kind) for kind in KINDS}
    if significant[ONCE].number > 1:
        significant[ONCE] = Counted(1, significant[ONCE].words[:1])
    is_null = answer.has("insignificant_errors") and answer.get("insignificant_errors") is None
    insignificant = Counted() if is_null else _counted(answer, "insignificant_errors")
    return MammoVerdict(_counted(answer, "matched_findings"), significant, insignificant)


def _counted(members: Pairs, key: str) -> Counted:
    value = members.get(key)
    if isinstance(value, bool) or value is None:
        raise VerdictError(f"The reply lacks {key}.")
    if isinstance(value, Pairs) and value.has("count"):
        return _counted(value, "count")
    if isinstance(value, str):
        word = value.strip().lower()
        if VAGUE.match(word):
            raise VerdictError(f"The reply counts {value!r} of {key}.")
        number = NUMBERS.get(word, int(word) if re.fullmatch(r"\d{1,4}", word) else None)
        value = [part for part in value.split(";") if not NONE.fullmatch(part)] if number is None else number
    if isinstance(value, int | float):
        if not float(value).is_integer() or not 0 <= value <= MAX_COUNT:
            raise VerdictError(f"The reply counts {value} of {key}.")
        return Counted(int(value))
    return Counted.of(texts(value, key))


def strict(reply: str) -> MammoVerdict:
    """Reads counts as RadEval does; raises VerdictError where that raises."""
    try:
        answer = json.loads(between_braces(reply, OPEN_FENCE))
        errors = answer["significant_errors"]
        if set(errors) != set(KINDS):
            raise VerdictError(f"The reply has other kinds of errors: {', '.join(sorted(errors))}.")
        counts = dict(zip(KINDS, _wholes(errors[kind] for kind in KINDS), strict=True))
        matched, insignificant = _wholes((answer["matched_findings"], answer["insignificant_errors"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, VerdictError):
            raise
        raise VerdictError(f"The reply has no counts ({type(error).__name__}): {short(reply)!r}.") from None
    significant = {kind: Counted(count) for kind, count in counts.items()}
    return MammoVerdict(Counted(matched), significant, Counted(insignificant), nothing=0.0)


def _wholes(values: Any) -> Iterator[int]:
    for value in values:
        number = float(value)
        if not number.is_integer() or number < 0:
            raise VerdictError(f"{value!r} is not a count.")
        yield int(number)


@dataclass(frozen=True)
class MammoGreen(JudgeScorer):
    """MammoGREEN by the engine that `config` names; `engine` holds that engine's options."""

    keys = keys_of("mammo_green")

    parser: Literal["tolerant", "strict"] = "tolerant"

    @property
    def protocol(self) -> MammoGreenProtocol:
        """The protocol: the prompt, and the parser of the reply."""
        return MammoGreenProtocol(self.parser)

    @staticmethod
    def row(verdict: MammoVerdict) -> list[float]:
        """Returns the values of a verdict in the order of the keys."""
        significant = [verdict.significant[kind].number for kind in KINDS]
        everything = sum(significant) + verdict.insignificant.number
        return [verdict.score, sum(significant), everything, verdict.matched.number, *significant]
