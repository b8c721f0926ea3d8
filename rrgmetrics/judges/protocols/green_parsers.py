"""Reads GREEN's replies: `strict` as the authors' code does, `tolerant` as a careful reader would.

Both are pure functions. The authors' parser changes its own category names while it works and then scores differently
(2/5 becomes 1 for one reply); neither parser here keeps a state.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeVar

from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.protocols.counts import CATEGORIES, NO_WORDS, Errors, category_of, whole
from rrgmetrics.judges.protocols.replies import short

SIGNIFICANT, INSIGNIFICANT, MATCHED = TITLES = (
    "Clinically Significant Errors",
    "Clinically Insignificant Errors",
    "Matched Findings",
)
LABELS = (
    "(a) False report of a finding in the candidate",
    "(b) Missing a finding present in the reference",
    "(c) Misidentification of a finding's anatomic location/position",
    "(d) Misassessment of the severity of a finding",
    "(e) Mentioning a comparison that isn't in the reference",
    "(f) Omitting a comparison detailing a change from a prior study",
)
Reading = TypeVar("Reading")
TEMPLATE_START = "[Explanation]:\n    <Explanation>\n"  # of the form in the prompt


class Parsed(NamedTuple):
    """The content of a reply; the fields are those of GreenVerdict."""

    significant: Errors
    insignificant: Errors | None
    n_matched: int
    matched: tuple[str, ...] = ()
    explanation: str = ""
    notes: tuple[str, ...] = ()


# --- strict: Stanford-AIMI/GREEN d72c195, green_score/green.py and utils.py; tests/parity holds their numbers ---


def strict(reply: str) -> Parsed:
    """Reads a reply exactly as the authors do: what is not found counts 0, and a lost section scores 1."""
    text = strict_clean(reply)
    matched = tuple(word.strip() for word in strict_matched_words(text) if word.strip())
    return Parsed(_strict_errors(text, SIGNIFICANT), _strict_errors(text, INSIGNIFICANT), strict_matched(text), matched)


def strict_clean(text: str) -> str:
    """The authors' `clean_responses`: what follows the answer's "[Explanation]:"."""
    if "[Explanation]:" in text:
        text = text.rpartition("<|assistant|>")[2] if "<|assistant|>" in text else text
        text = text.split("[Explanation]:")[1 if TEMPLATE_START in text else -1]
    text = text.rpartition("<|assistant|>")[2] if "<|assistant|>" in text else text
    return text.replace("</s>", "").replace("<unk>", "")


def strict_counts(text: str, title: str) -> tuple[int, ...]:
    """Errors A to F of a section `(6,)`."""
    counts = [0] * len(CATEGORIES)
    for index, line in _strict_lines(_strict_body(text, title)):
        number = re.search(r"(?<=: )\b\d+\b(?=\.)", line)
        if number:
            counts[index] = whole(number[0])
    return tuple(counts)


def strict_words(text: str, title: str) -> tuple[tuple[str, ...], ...]:
    """The errors' words by category, blank ones too, as the authors' `parse_error_sentences` cuts them.

    Differs from the authors: their code wants the whole label of a category, and gives `['']` for a list that follows
    its count in one line; here such words are cut too. No score depends on them.
    """
    words = list(NO_WORDS)
    for index, line in _strict_lines(_strict_body(text, title)):
        words[index] = tuple(line.rsplit(":", 1)[-1].split(".", 1)[-1].split(";"))
    return tuple(words)


def strict_matched(text: str) -> int:
    """The number of matched findings."""
    body = _strict_body(text, MATCHED)
    number = None if body.startswith("No") else re.search(r"^\b\d+\b(?=\.)", body)
    return whole(number[0]) if number else 0


def strict_matched_words(text: str) -> list[str]:
    """The words of the matched findings."""
    return _strict_body(text, MATCHED).rsplit(":", 1)[-1].split(".", 1)[-1].split(";")


def _strict_errors(text: str, title: str) -> Errors:
    words = tuple(tuple(w.strip() for w in row if w.strip()) for row in strict_words(text, title))
    return Errors(strict_counts(text, title), words)


def _strict_body(text: str, title: str) -> str:
    match = re.search(rf"\[{title}\]:\s*(.*?)(?:\n\s*\n|\Z)", text, re.DOTALL)
    return match[1] if match else ""


def _strict_lines(body: str) -> list[tuple[int, str]]:
    """Sorts the lines by category; the marks (1) to (6) count where no line begins with a letter."""
    if body.startswith("No"):
        return []
    lines = sorted(re.findall(r"\([a-f]\) .*", body)) or sorted(re.findall(r"\([1-6]\) .*", body))
    return [(("abcdef" if line[1].isalpha() else "123456").index(line[1]), line) for line in lines]


# --- tolerant ---

_TITLE = r"(explanation|clinically\s+significant\s+errors|clinically\s+insignificant\s+errors|matched\s+findings)"
HEADER = re.compile(
    rf"\[\s*{_TITLE}\s*\][ \t*_:]*|^[ \t#>*_]{{0,20}}(?:\d[.)])?[ \t#>*_]{{0,20}}{_TITLE}[ \t*_]*(?::[ \t*_]*|$)",
    re.IGNORECASE | re.MULTILINE,
)
PLACEHOLDER = re.compile(r"<\s*(?:error type|the number of|explanation|finding 1)", re.IGNORECASE)
_LABEL_START = r"(?:False|Missing|Misidentif|Misassess|Mention|Omi)"
ITEM = re.compile(
    rf"^[ \t>*_•+-]*\(?([a-f1-6])[.)][ \t*_]*(?=\S)|\(([a-f1-6])\)[ \t*_]*(?={_LABEL_START})"
    rf"|^[ \t>*_•+-]*(?={_LABEL_START})",
    re.IGNORECASE | re.MULTILINE,
)
COUNT = re.compile(r"[\s*_]*(\d{1,3})(?![\d/])(?!\.\d)(?=[\s*_]*(?:[.;:,)–\n-]|errors?\b|(?:matched )?findings?\b|$))")
LATER_COUNT = re.compile(r":\s*(\d{1,3})\.(?!\d)")
NOTHING = re.compile(
    r"[\s*_]*(?:none|nil|n/a|not applicable|zero|there (?:are|were) no|"
    r"no (?:clinically )?(?:(?:in)?significant )?(?:matched |matching )?(?:errors?|findings?))\b",
    re.IGNORECASE,
)
LISTED = re.compile(r"^[ \t]*(?:(\d{1,3})[.)]|[-*•])[ \t]+(\S.*)$", re.MULTILINE)


def tolerant(reply: str) -> Parsed:
    """Reads a reply in any of the forms that judges write.

    Headers may be bold, of any case or without brackets; categories may be renumbered (their words then decide), stand
    on one line or be left out (0); a section runs to the next header.

    The insignificant errors do not enter the score: where they cannot be read they are None, and a note says why.

    Raises:
        VerdictError: Another section is missing, said twice in two ways, or holds no counts; says which.
    """
    sections = _sections(reply.replace("\r\n", "\n"))
    notes: list[str] = []
    significant = _section_errors(sections, SIGNIFICANT, notes)
    n_matched, matched = _only([_matched(body) for body in _bodies(sections, MATCHED)], MATCHED)
    try:
        insignificant = _section_errors(sections, INSIGNIFICANT, notes)
    except VerdictError as error:
        insignificant = None
        notes.append(str(error))
    explanation = " ".join(sections.get("explanation", [""])[0].split())
    return Parsed(significant, insignificant, n_matched, matched, explanation, tuple(dict.fromkeys(notes)))


def _section_errors(sections: dict[str, list[str]], title: str, notes: list[str]) -> Errors:
    return _only([_errors(body, title, notes) for body in _bodies(sections, title)], title)


def _sections(text: str) -> dict[str, list[str]]:
    """Returns bodies by title in small letters; the empty form that some models repeat is left out."""
    headers = list(HEADER.finditer(text))
    ends = [*(header.start() for header in headers[1:]), len(text)]
    sections: dict[str, list[str]] = {}
    for header, end in zip(headers, ends, strict=False):
        body = text[header.end() : end].replace("```", "").replace("</s>", "").strip(" \t\n*_")
        if not PLACEHOLDER.search(body):
            sections.setdefault(" ".join((header[1] or header[2]).lower().split()), []).append(body)
    return sections


def _bodies(sections: dict[str, list[str]], title: str) -> list[str]:
    if title.lower() not in sections:
        raise VerdictError(f"The reply has no section [{title}]; it may be cut off, or not follow the form.")
    return sections[title.lower()]


def _only(readings: list[Reading], title: str) -> Reading:
    if any(reading != readings[0] for reading in readings):
        raise VerdictError(f"The reply has several sections [{title}] that differ.")
    return readings[0]


def _errors(body: str, title: str, notes: list[str]) -> Errors:
    items = list(ITEM.finditer(body))
    if not items:
        if NOTHING.match(body) or body.rstrip(". ") == "0":
            return Errors((0,) * len(CATEGORIES))
        raise VerdictError(f"[{title}] holds no category and no 'None': {short(body)!r}.")
    ends = [item.start() for item in items[1:]] + [len(body)]
    counts, words = [0] * len(CATEGORIES), list(NO_WORDS)
    seen = set()
    for item, end in zip(items, ends, strict=True):
        entry = _error_item(item[1] or item[2], body[item.end() : end], title, notes)
        if entry not in seen:  # a model that loops writes a line again
            seen.add(entry)
            index, count, errors = entry
            counts[index] += count
            words[index] += errors
    return Errors(tuple(counts), tuple(words))


def _error_item(mark: str | None, text: str, title: str, notes: list[str]) -> tuple[int, int, tuple[str, ...]]:
    """Reads the category, the count and the words of one item."""
    label, colon, rest = text.partition(":")
    named = category_of(label) if colon and not re.search(r"\d", label) else None
    marked = None if mark is None else "abcdef123456".index(mark.lower()) % len(CATEGORIES)
    index = marked if named is None else named
    if index is None:
        raise VerdictError(f"[{title}] has a line of no known category: {short(text)!r}.")
    if marked is not None and named not in (None, marked):
        notes.append(f"[{title}] marks {LABELS[named or 0][4:]!r} as ({mark}); its words count.")
    content = rest if colon and not COUNT.match(text) else text
    count = COUNT.match(content) or LATER_COUNT.search(content)
    if count:
        return index, int(count[1]), _split(content[count.end() :])
    if NOTHING.match(content):
        return index, 0, ()
    raise VerdictError(f"[{title}] has a line without a count: {short(text)!r}.")


def _matched(body: str) -> tuple[int, tuple[str, ...]]:
    listed = LISTED.findall(body)
    numbers = [int(number) for number, _ in listed if number]
    findings = tuple(words.strip() for _, words in listed)
    if len(listed) > 1 and numbers == list(range(1, len(listed) + 1)):
        return len(listed), findings
    count = COUNT.match(body) or re.match(r"[^\d\n]{0,80}:" + COUNT.pattern, body)
    if count:
        return int(count[1]), _split(body[count.end() :])
    if NOTHING.match(body):
        return 0, ()
    if listed and not numbers:
        return len(listed), findings
    raise VerdictError(f"[{MATCHED}] does not begin with a number: {short(body)!r}.")


def _split(text: str) -> tuple[str, ...]:
    parts = (" ".join(part.split()).strip(" .*_-–:,)") for part in text.split(";"))
    return tuple(part for part in parts if part and part.lower() not in ("error", "errors", "finding", "findings"))
