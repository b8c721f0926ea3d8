"""FineRadScore: the corrections that a report needs, line by line, and how much each matters.

Huang et al. 2024 (arXiv 2405.20613); code rajpurkarlab/FineRadScore 3f5e1dc, which makes corrections and no score.
The headline is ours, said so on the card: the sum of the severities, 1 (not actionable) to 4 (emergent), over all
corrections.

Differs from the authors: the question and its examples are our own words; corrections are asked for as a list, because
in their JSON object all lines to be inserted have the key "None", and of those only the last survives. A reply in
their form is read too, every "None" of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rrgmetrics.backends.compared_pairs import Compared
from rrgmetrics.comparing import FindingError
from rrgmetrics.comparing.significance import significance
from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.base import Prompt
from rrgmetrics.judges.protocols.counts import CATEGORIES, category_of
from rrgmetrics.judges.protocols.loose_json import Pairs, plain
from rrgmetrics.judges.protocols.replies import NONE, answer_of, denies, read_json, short, texts
from rrgmetrics.judges.protocols.templates import Prompts
from rrgmetrics.reading import Finding
from rrgmetrics.reading.lexicon import Lexicon, lexicon_of
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.judged import JudgeScorer
from rrgmetrics.specs import keys_of

PROMPTS = Prompts("rrgmetrics.scorers.fineradscore")
SEVERITIES = ("Not actionable", "Actionable nonurgent error", "Urgent error", "Emergent error")  # 1 to 4
LABELS = (
    "False prediction of finding",
    "Omission of finding",
    "Incorrect location/position of finding",
    "Incorrect severity of finding",
    "Mention of comparison that is not present in the reference",
    "Omission of comparison describing a change from a previous study",
)
# What CRIMSON's classes come to; "urgent" there means immediate intervention.
SEVERITY_OF = {"urgent": 4, "actionable_not_urgent": 2, "not_actionable_not_urgent": 1, "benign_expected": 1}
MAX_TOKENS = 2048
SCHEMA = {
    "type": "object",
    "properties": {
        "corrections": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "line": {"type": ["integer", "null"]},
                    "correction": {"type": "string"},
                    "severity": {"enum": list(SEVERITIES)},
                    "categories": {"type": "array", "items": {"enum": list(LABELS)}},
                    "comment": {"type": "string"},
                },
                "required": ["line", "correction", "severity", "categories", "comment"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["corrections"],
    "additionalProperties": False,
}


class Correction(NamedTuple):
    """A line to change: `line` None is inserted; severity 1 to 4; categories A to F as 0 to 5."""

    line: int | None
    text: str
    severity: int
    categories: tuple[int, ...]
    comment: str = ""


@dataclass(frozen=True)
class FineradscoreVerdict:
    """The corrections that a judge asks for."""

    corrections: tuple[Correction, ...]

    @property
    def score(self) -> int:
        """The sum of the severities."""
        return sum(correction.severity for correction in self.corrections)

    @property
    def worst(self) -> int:
        """The greatest severity, 0 without a correction."""
        return max((correction.severity for correction in self.corrections), default=0)

    def to_dict(self) -> dict[str, object]:
        """Returns a JSON object."""
        corrections = [
            correction._asdict()
            | {
                "severity": SEVERITIES[correction.severity - 1],
                "categories": [CATEGORIES[index].value for index in correction.categories],
            }
            for correction in self.corrections
        ]
        return {"score": self.score, "corrections": corrections}


@dataclass(frozen=True)
class FineradscoreProtocol:
    """The protocol of FineRadScore, in our words."""

    name: str = "fineradscore"
    version: int = 1
    paper: str = ""

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the checksum of the prompt."""
        return {"prompt": PROMPTS.digits("system", "question")}

    def prompts(self, pair: Pair) -> tuple[Prompt, ...]:
        """Returns the one prompt."""
        text = PROMPTS.fill("question", candidate=numbered(pair.candidate), reference=pair.reference.strip())
        return (Prompt(PROMPTS.conversation(text), f"fineradscore@{self.version}", SCHEMA, MAX_TOKENS),)

    def follow_up(self, pair: Pair, replies: Sequence[str]) -> tuple[Prompt, ...]:
        """Returns no further prompt."""
        return ()

    def verdict(self, pair: Pair, replies: Sequence[str]) -> FineradscoreVerdict:
        """Reads the corrections; raises VerdictError for one without line, severity or text."""
        return FineradscoreVerdict(read_corrections(replies[0]))

    def from_comparison(self, pair: Pair, compared: Compared) -> FineradscoreVerdict:
        """The reader's errors, each a correction of the candidate's sentence that it stands in.

        What is left out of one finding is one correction, half as severe as a wrong place or description would be.
        """
        starts = [line.start() for line in re.finditer(r"\S[^.\n]*", pair.candidate)]
        comparison = compared.comparison
        lexicon = lexicon_of(comparison)
        vague = {id(error.reference): error for error in reversed(comparison.errors) if error.is_left_out}
        errors = (*comparison.whole.errors, *reversed(vague.values()))
        return FineradscoreVerdict(tuple(_correction(error, pair, starts, lexicon) for error in errors))


def numbered(report: str) -> str:
    """Numbers the lines of a report as the authors do: "[0] Heart size is normal. [1] No effusion."."""
    lines = re.split(r"(?<!\d)\.(?!\d|$) ", report)
    for blank in ("", " "):
        if blank in lines:
            lines.remove(blank)
    clean = ((line.strip().replace('"', "") + ".").replace("..", ".") for line in lines)
    return " ".join(f"[{index}] {line}" for index, line in enumerate(clean))


def read_corrections(reply: str) -> tuple[Correction, ...]:
    """Reads corrections in our form, {"corrections": [...]}, or in the authors', {"0": {...}, "None": {...}}.

    Raises:
        VerdictError: A correction lacks a member, or its line or severity is none of those asked for.
    """
    text = answer_of(reply)
    if re.fullmatch(r"\W*\{\s*\}\W*", text) or denies(text, "corrections?|errors?|changes?"):
        return ()
    answer, _ = read_json(reply, _is_answer, _is_correction)
    if isinstance(answer, Pairs) and not answer.has("corrections"):
        return tuple(_read(entry, key) for key, entry in answer)
    entries = answer.get("corrections") if isinstance(answer, Pairs) else answer
    if isinstance(entries, str) and NONE.fullmatch(entries):
        return ()
    if isinstance(entries, str | Pairs) or not isinstance(entries, list | None):
        raise VerdictError(f"The corrections are not a list: {short(str(entries))!r}.")
    return tuple(_read(entry, _line(entry)) for entry in entries or ())


def _is_answer(value: Any) -> bool:
    if not isinstance(value, Pairs) or _is_correction(value):
        return False
    return value.has("corrections") or (bool(value) and all(_is_correction(entry) for _, entry in value))


def _is_correction(value: Any) -> bool:
    return isinstance(value, Pairs) and any(map(value.has, ("severity", "clinical severity")))


def _line(entry: Any) -> Any:
    if not isinstance(entry, Pairs):
        return None
    line = _member(entry, "line", "line number")
    return re.sub(r"^\s*line\s+", "", line, flags=re.IGNORECASE) if isinstance(line, str) else line


def _read(entry: Any, line: Any) -> Correction:
    if not isinstance(entry, Pairs):
        raise VerdictError(f"A correction is not a JSON object: {short(str(entry))!r}.")
    number = re.fullmatch(r"\[?(\d{1,4})(?:\.0)?\]?", str(line).strip())
    if not number and not (NONE.fullmatch(str(line)) or re.match(r"insert|new\b", str(line).lower())):
        raise VerdictError(f"A correction's line is {line!r}; it must be a number or null.")
    text = _member(entry, "correction", "corrections")
    severity = plain(str(_member(entry, "severity", "clinical severity"))).removesuffix("error")
    rank = next((i for i, name in enumerate(SEVERITIES, 1) if severity == plain(name).removesuffix("error")), None)
    if rank is None:
        raise VerdictError(f"A correction's severity is {severity!r}; it must be one of {', '.join(SEVERITIES)}.")
    named = texts(_member(entry, "categories", "category", "error category", "error categories"), "categories")
    kinds = tuple(index for index in map(category_of, named) if index is not None)
    comment = str(entry.get("comment", entry.get("comments")) or "")
    return Correction(int(number[1]) if number else None, str(text), rank, tuple(dict.fromkeys(kinds)), comment)


def _member(entry: Pairs, *names: str) -> Any:
    for name in names:
        if entry.has(name):
            return entry.get(name)
    raise VerdictError(f"A correction has no {names[0]!r}: {short(str(dict(entry)))!r}.")


def _correction(error: FindingError, pair: Pair, starts: Sequence[int], lexicon: Lexicon) -> Correction:
    """The reader's error as a correction, at the line of its first word in the candidate."""
    finding = error.reference or error.candidate
    line = None
    if error.candidate_spans and (error.candidate is not None or error.reference is None):
        first = min(span.start for span in error.candidate_spans)
        line = max((index for index, start in enumerate(starts) if start <= first), default=0)
    category = CATEGORIES.index(error.category)
    return Correction(line, "", _severity(error, finding, pair, lexicon), (category,), error.sentence)


def _severity(error: FindingError, finding: Finding | None, pair: Pair, lexicon: Lexicon) -> int:
    """Returns the severity: 1 for an insignificant error, else that of the finding in question, at least 2.

    What is left out is half as severe.
    """
    if not error.significant:
        return 1
    level = error.significance or (significance(finding, pair.context, lexicon) if finding else "actionable_not_urgent")
    severity = max(2, SEVERITY_OF[level])
    return severity // 2 if error.is_left_out else severity


KEYS = keys_of("fineradscore")


@dataclass(frozen=True)
class Fineradscore(JudgeScorer):
    """FineRadScore by the engine that `config` names; `engine` holds that engine's options."""

    keys = KEYS

    @property
    def protocol(self) -> FineradscoreProtocol:
        """The protocol: the prompts, and the parser of the replies."""
        return FineradscoreProtocol()

    @staticmethod
    def row(verdict: FineradscoreVerdict) -> list[float]:
        """Returns the values of a verdict in the order of `KEYS`."""
        kinds = [index for correction in verdict.corrections for index in correction.categories]
        counts = [kinds.count(index) for index in range(len(CATEGORIES))]
        return [verdict.score, len(verdict.corrections), verdict.worst, *counts]
