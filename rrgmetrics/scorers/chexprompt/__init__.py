"""CheXprompt: clinically significant and insignificant errors of six types, counted by a judge.

Zambrano Chaves et al. 2025, Nature Communications; code microsoft/chexprompt 8cfddec. The score is the number of
errors, the headline their sum; the code computes none, and the papers report the total or the significant ones.

Differs from the authors: their prompt quotes reports that may not be passed on, so the question and its examples are
our own, in the form they ask for. The default parser accepts words before and after both lines, and takes a list that
breaks off for what it is. `parser=strict` reads replies as their code does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rrgmetrics.backends.compared_pairs import Compared
from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.base import Prompt
from rrgmetrics.judges.protocols.counts import Errors, add, compared_errors, whole
from rrgmetrics.judges.protocols.replies import FULL_WIDTH, NUMBERS, answer_of, short
from rrgmetrics.judges.protocols.templates import Prompts
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.judged import JudgeScorer
from rrgmetrics.specs import keys_of

PROMPTS = Prompts("rrgmetrics.scorers.chexprompt")
TYPES = "ABCDEF"
HEADERS = (
    "Number of clinically significant errors by type:",
    "Number of clinically insignificant errors by type:",
)
MAX_TOKENS = 256


@dataclass(frozen=True)
class ChexpromptVerdict:
    """The significant and insignificant errors; None where a strict parser could not read them."""

    significant: Errors | None
    insignificant: Errors | None

    def to_dict(self) -> dict[str, object]:
        """Returns a JSON object."""
        kinds = {"significant": self.significant, "insignificant": self.insignificant}
        return {name: errors.to_dict() if errors else None for name, errors in kinds.items()}


@dataclass(frozen=True)
class ChexpromptProtocol:
    """The protocol of CheXprompt, in our words; `parser` is "tolerant" or "strict"."""

    parser: str = "tolerant"
    name: str = "chexprompt"
    version: int = 1
    paper: str = ""

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the checksum of the prompt."""
        return {"prompt": PROMPTS.digits("system", "question")}

    def prompts(self, pair: Pair) -> tuple[Prompt, ...]:
        """Returns the one prompt."""
        text = PROMPTS.fill("question", reference=pair.reference.strip(), candidate=pair.candidate.strip())
        return (Prompt(PROMPTS.conversation(text), f"chexprompt@{self.version}", max_tokens=MAX_TOKENS),)

    def follow_up(self, pair: Pair, replies: Sequence[str]) -> tuple[Prompt, ...]:
        """Returns no further prompt."""
        return ()

    def verdict(self, pair: Pair, replies: Sequence[str]) -> ChexpromptVerdict:
        """Reads both lines; raises VerdictError if one is not there or cannot be read."""
        if self.parser == "strict":
            return ChexpromptVerdict(*(_strict_errors(counts) for counts in strict(replies[0])))
        return ChexpromptVerdict(*(Errors(counts) for counts in tolerant(replies[0])))

    def written(self, verdict: ChexpromptVerdict) -> str:
        """Returns the reply that is read as this verdict: the two lines that the prompt asks for."""
        both = verdict.significant, verdict.insignificant
        return "\n".join(f"{head} {_listed(errors)}" for head, errors in zip(HEADERS, both, strict=True))

    def from_comparison(self, pair: Pair, compared: Compared) -> ChexpromptVerdict:
        """Returns the reader's errors as a verdict."""
        return ChexpromptVerdict(
            compared_errors(compared.comparison, significant=True),
            compared_errors(compared.comparison, significant=False),
        )


def _listed(errors: Errors | None) -> str:
    counts = errors.counts if errors else (0,) * len(TYPES)
    return f"[{', '.join(f'({letter}, {count})' for letter, count in zip(TYPES, counts, strict=True))}]"


def strict(reply: str) -> tuple[dict[str, int] | None, dict[str, int] | None]:
    """Counts by letter as the authors' code finds them, significant and insignificant; None where it gives up.

    Its ways are kept: the last of several headers counts; a header that no blank follows becomes part of its list's
    first letter, which then counts no error; what stands behind a second comma is not read.
    """
    significant, insignificant = HEADERS
    if significant not in reply or insignificant not in reply:
        return None, None
    text = reply.partition("Explanation")[0]
    before = text.split(f"\n{insignificant}")
    return _strict_counts(before[0].split(f"{significant} ")[-1]), _strict_counts(before[-1])


def _strict_counts(text: str) -> dict[str, int] | None:
    counts = {}
    try:
        for entry in re.sub(r"[()\[\]]", "", text.replace("),", "::")).strip().split("::"):
            letter, number, *_ = entry.split(",")
            counts[letter.strip()] = whole(number)
    except ValueError:
        return None
    return counts


def _strict_errors(counts: dict[str, int] | None) -> Errors | None:
    return None if counts is None else Errors(tuple(counts.get(letter, 0) for letter in TYPES))


_LINES = (  # as asked for; shortened
    re.compile(r"clinically\s+(in)?significant\s+errors\s+by\s+type[ \t*_`]*(?::|$)", re.IGNORECASE | re.MULTILINE),
    re.compile(
        r"^[ \t\"'*#{_\d.,}-]{0,20}(?:number of )?(?:clinically[ _])?(in)?significant(?:[ _]errors)?"
        r"(?:[ _]by[ _]type)?[ *_\"'`]{0,10}(?::|$)|\"clinically_(in)?significant_errors\"\s*:",
        re.IGNORECASE | re.MULTILINE,
    ),
)
_COUNT = rf"(\d{{1,3}}|none|{'|'.join(NUMBERS)})"
_ENTRY = re.compile(
    rf"[\"'(\[{{\s,;*|`\u2022\u201c\u2018-]{{0,30}}\b([A-Za-z])(?=[\W\d_])[\"'\s*)\u201d\u2019|]{{0,8}}"
    rf"(?:\([^()\n]{{1,60}}\)|[:.,][ \t]*[A-Z][A-Za-z /'-]{{2,60}})?[\s*]{{0,8}}[,:=.|]?[\"'\s*|\u201c]{{0,8}}"
    rf"{_COUNT}\b(?!\s*\.\s*\d|[-\u2013]\d)(?:[ \t]+errors?\b)?"
    rf"(?:[ \t]*\([^()\n]{{1,200}}\))?[\"')\]}}\s*|`\u201d]{{0,20}}[,;]?",
    re.IGNORECASE,
)
_BARE = re.compile(r"[\s`*]*[\[(]((?:\s{0,3}\d{1,3}\s{0,3},){5}\s{0,3}\d{1,3})\s{0,3}[\])]")  # A to F, in this order
_HEADED = re.compile(
    r"\s*\|((?:[ \t]*[A-F][ \t]*\|){6})[ \t]*\n(?:[-:| \t]*\n)?[ \t]*\|((?:[ \t]*\d{1,3}[ \t]*\|){6})", re.IGNORECASE
)
_TABLE_HEAD = re.compile(r"\s*\|[^\n]{0,100}[a-z]{3}[^\n]{0,100}\|[ \t]*\n[-:| \t]*\n", re.IGNORECASE)
_NOTHING = re.compile(r"[\s*`]*(?:none|n/?a|\[\]|no (?:clinically \w+ )?errors?|0)[\s.*`]*$", re.IGNORECASE)


def tolerant(reply: str) -> list[tuple[int, ...]]:
    """Counts A to F `(6,)` of the significant and of the insignificant errors, whatever stands around the lines.

    Raises:
        VerdictError: A line is missing or stands twice with other numbers, names another type, or breaks off.
    """
    text = answer_of(reply).translate(FULL_WIDTH)
    heads = next((found for line in _LINES if (found := list(line.finditer(text)))), [])
    ends = [*(head.start() for head in heads[1:]), len(text)]
    variants: dict[bool, set[tuple[int, ...]]] = {False: set(), True: set()}
    for head, end in zip(heads, ends, strict=False):
        body = re.sub(r"\n[ \t*#>\d.-]{0,20}Number of\s*$", "", text[head.end() : end])
        variants[any(head.groups())].add(_counts(body))
    for insignificant, counts in variants.items():
        if len(counts) != 1:
            problem = "no line" if not counts else "several different lines"
            raise VerdictError(f"The reply has {problem} {HEADERS[insignificant]!r}: {short(reply)!r}.")
    return [next(iter(variants[key])) for key in (False, True)]


def _counts(text: str) -> tuple[int, ...]:
    if _NOTHING.match(text):
        return (0,) * len(TYPES)
    if bare := _BARE.match(text):
        return tuple(map(int, re.findall(r"\d+", bare[1])))
    if headed := _HEADED.match(text):
        pairs = zip(re.findall(r"[A-F]", headed[1].upper()), re.findall(r"\d+", headed[2]), strict=True)
        text = ", ".join(f"({letter}, {number})" for letter, number in pairs)
    counts: dict[str, int] = {}
    position = table.end() if (table := _TABLE_HEAD.match(text)) else 0
    while entry := _ENTRY.match(text, position):
        letter, number = entry[1].upper(), _number(entry[2])
        if letter not in TYPES or counts.get(letter, number) != number:
            raise VerdictError(f"The counts name {letter!r} in a way that cannot be read: {short(text)!r}.")
        counts[letter] = number
        position = entry.end()
    read = text[:position]
    opened, closed = (sum(map(read.count, brackets)) for brackets in ("([{", ")]}"))
    is_closed = opened == closed and re.match(r"[\s`*]*(?:[\[{]|\(\s*\()", read)  # a list that ends
    is_whole = is_closed or len(counts) == len(TYPES)
    if not counts or not is_whole or re.match(r"\s*[(\[]|\s*[A-Z]\b\s*,", text[position:]):
        raise VerdictError(f"The counts cannot be read to their end: {short(text)!r}.")
    return tuple(counts.get(letter, 0) for letter in TYPES)


def _number(count: str) -> int:
    word = count.lower()
    return 0 if word == "none" else NUMBERS[word] if word in NUMBERS else int(word)


KEYS = keys_of("chexprompt")


@dataclass(frozen=True)
class Chexprompt(JudgeScorer):
    """CheXprompt by the engine that `config` names; `engine` holds that engine's options."""

    keys = KEYS

    parser: str = "tolerant"

    @property
    def protocol(self) -> ChexpromptProtocol:
        """The protocol: the prompts, and the parser of the replies."""
        return ChexpromptProtocol(self.parser)

    @staticmethod
    def row(verdict: ChexpromptVerdict) -> list[float]:
        """Returns the values of a verdict in the order of `KEYS`."""
        if verdict.significant is None or verdict.insignificant is None:
            return [np.nan] * len(KEYS)
        significant = verdict.significant.counts
        everything = add(significant, verdict.insignificant.counts)
        return [sum(everything), sum(significant), *everything, *significant]
