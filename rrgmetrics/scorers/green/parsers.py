"""Reads GREEN's replies: `strict` as the authors' code does, `tolerant` as a careful reader would.

Both are pure functions. The authors' parser changes its own category names while it works and then scores differently
(2/5 becomes 1 for one reply); neither parser here keeps a state.

`tolerant` first writes a reply in the form that was asked for (`as_asked`): tables, JSON, and counts in other shapes.
Only marks change there, and where a count is written; what a reply does not count is counted only where it is a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.protocols.counts import CATEGORIES, NO_WORDS, Errors, category_of, whole
from rrgmetrics.judges.protocols.loose_json import Pairs
from rrgmetrics.judges.protocols.replies import FULL_WIDTH, NONE, NUMBERS, answer_of, has_keys, read_json, short

SECTIONS = ("Clinically Significant Errors", "Clinically Insignificant Errors", "Matched Findings")
LABEL_START = r"(?:False|Missing|Misidentif|Misassess|Mention|Omi|Wrong|Incorrect)"
TAG = re.compile(r"</?(?:b|strong|i|em|u|p|h\d|li|ul|ol)>|(<br ?/?>)", re.IGNORECASE)
_NUMBER = rf"(\d{{1,3}}|{'|'.join(NUMBERS)})"
_ENDS = (  # of a count, which is neither a size nor a range
    r"(?![/\d]|\.\d|[-\u2013]?[ \t]?(?:\d|[cm]m\b))"
    r"(?=[*_ \t]*(?:[.;:,)(\u2013\n-]|errors?\b|(?:matched )?findings?\b|$))"
)
_MARK = r"^[ \t>*_\u2022+#-]*(?:\(?[a-f1-6]\)|[a-f1-6]\.(?!\d))"
# The line of a category up to its count: "(a) False report of a finding in the candidate".
_HEAD = rf"(?P<head>(?:{_MARK}|^[ \t>*_\u2022+#-]*(?={LABEL_START}))[^\n:=|\d\[]{{0,100}}?)[*_ \t]*"
_BEFORE = r"(?:(?:the )?(?:count|number|total)(?: of errors)?[*_]*(?: is|:)[*_ \t]*)?"
HEAD_COUNTS = (  # in brackets, code marks or words; behind a dash or "="; in brackets before the colon
    re.compile(rf"{_HEAD}:[*_ \t]*{_BEFORE}[(\[`]{_NUMBER}[)\]`][*_]*", re.IGNORECASE | re.MULTILINE),
    re.compile(rf"{_HEAD}:[*_ \t]*{_BEFORE}{_NUMBER}{_ENDS}", re.IGNORECASE | re.MULTILINE),
    re.compile(rf"{_HEAD}[ \t](?:->|[-=\u2013\u2014\u2192])[*_ \t]+{_NUMBER}{_ENDS}", re.IGNORECASE | re.MULTILINE),
    re.compile(rf"{_HEAD}\({_NUMBER}\)[*_ \t]*:?", re.IGNORECASE | re.MULTILINE),
    re.compile(
        rf"{_HEAD}:[*_ \t]*\n[ \t]*[-*\u2022][*_ \t]*(?:count|number)[*_ \t]*:[*_ \t]*{_NUMBER}{_ENDS}",
        re.IGNORECASE | re.MULTILINE,
    ),
)
NO_COUNT = re.compile(rf"{_HEAD}:[*_ \t]*[-\u2013\u2014][ \t]*$", re.IGNORECASE | re.MULTILINE)
LETTER_COUNT = re.compile(rf"\(?\b([a-f])\)?(?:[ \t]*:)?[ \t]*{_NUMBER}\b{_ENDS}", re.IGNORECASE)
LETTERED = re.compile(r"^[ \t>*_\u2022+#-]*\(?[a-f]\)", re.IGNORECASE | re.MULTILINE)
LISTED_ITEM = re.compile(r"^[ \t]*(?:[-*\u2022+]|\(?(\d{1,2}|[ivx]{1,4})[.)])[ \t]+\S")
INLINE_MARK = re.compile(r"\((\d{1,2})\)(?=\s)|(?:^|(?<=[;,.:]\s))[ \t*_]*(\d{1,2})[.)](?=[*_]*\s)", re.MULTILINE)
FIRST_COUNT = re.compile(rf"^[(\[`]?{_NUMBER}[)\]`]?{_ENDS}", re.IGNORECASE)
ROW = re.compile(r"^[ \t]*\|(.+)\|[ \t]*$", re.MULTILINE)


def as_asked(reply: str) -> str:
    """Returns a reply in the form that was asked for.

    Example:
        >>> as_asked("(a) False report of a finding in the candidate: **(two)** Mass; clip")
        '(a) False report of a finding in the candidate: 2. Mass; clip'
    """
    text = answer_of(reply).translate(FULL_WIDTH)
    text = TAG.sub(lambda tag: "\n" if tag[1] else "", text)
    text = _from_json(text) or text
    text = "\n".join(_rows(text)) if ROW.search(text) else text
    text = "\n".join(map(_split_letters, text.split("\n")))
    for pattern in HEAD_COUNTS:
        text = pattern.sub(_count_behind, text)
    return _count_lists(NO_COUNT.sub(r"\g<head>: 0.", text))


def _digits(number: str) -> str:
    return str(NUMBERS.get(number.lower(), number))


def _count_behind(found: re.Match[str]) -> str:
    """The category with its count in the place that was asked for; a (1) that a (2) follows is no count."""
    line_end = found.string.find("\n", found.end())
    rest = found.string[found.end() : line_end if line_end >= 0 else None]
    bracket = found[0].rstrip("*_: \t")[-1:]
    if found[2] == "1" and bracket in ")]" and re.search(r"[(\[]2[)\]]", rest):
        return found[0]
    stop = "" if re.match(r"[*_ \t]*[.;,]|[*_ \t]*(?:errors?|findings?)\b", rest) else "."
    return f"{found['head'].rstrip('*_ ')}: {_digits(found[2])}{stop}"


def _split_letters(line: str) -> str:
    """A line of letters and counts alone, "(a): 0, (b): 1", as one line for each letter."""
    found = list(LETTER_COUNT.finditer(line))
    lone = len(found) == 1 and re.fullmatch(r"[ \t>*_\u2022+-]*", line[: found[0].start()])
    if not found or not (lone or len(found) > 2) or re.search(r"\([a-f]\) ?[a-z]{3}", line, re.IGNORECASE):
        return line
    ends = [*(one.start() for one in found[1:]), len(line)]
    return "\n".join(
        f"({one[1].lower()}) {_digits(one[2])}{line[one.end() : end].rstrip(', ;')}"
        for one, end in zip(found, ends, strict=True)
    )


def _rows(text: str) -> Iterator[str]:
    """The lines of a text, those of a table as categories with their counts."""
    heads: list[str] = []
    second: list[str] = []
    for line in text.split("\n"):
        row = ROW.match(line)
        cells = [cell.strip(" *_`") for cell in row[1].split("|")] if row else []
        number = _digits(cells[1]) if len(cells) > 1 else ""
        if not row:
            if second:
                yield from ("", f"[{SECTIONS[1]}]:", *second, "")
                second = []
            heads = []
            yield line
        elif not heads:
            heads = cells
            if _has_both(heads):
                yield f"[{SECTIONS[0]}]:"
        elif number.isdigit() and not (_has_both(heads) and len(cells) < 3):
            marked = cells[0] if not re.fullmatch(r"\(?[a-f]\)?", cells[0]) else f"({cells[0].strip('()')})"
            if _has_both(heads):
                second.append(f"{marked}: {_digits(cells[2])}.")
                cells = cells[:2]
            words = "; ".join(cell for cell in cells[2:] if not NONE.fullmatch(cell))
            yield f"{marked}: {number}. {words}" if len(marked) > 3 else f"{marked} {number}. {words}"
        elif not re.fullmatch(r"[-: |]*", row[1]):
            yield line
    if second:
        yield from ("", f"[{SECTIONS[1]}]:", *second)


def _has_both(heads: list[str]) -> bool:
    """Whether the second and third columns are the significant and the insignificant errors."""
    names = [head.lower() for head in heads[1:3]]
    return len(names) == 2 and "insignificant" in names[1] and "significant" in names[0] and "ins" not in names[0]


def _from_json(text: str) -> str:
    """A reply in JSON as one in the form that was asked for; "" for any other."""
    if "{" not in text or re.search(rf"\[{SECTIONS[0]}\]", text, re.IGNORECASE):
        return ""
    try:
        answer, _ = read_json(text, has_keys(SECTIONS[0], SECTIONS[2]))
    except VerdictError:
        return ""
    parts = []
    for title in SECTIONS:
        value = answer.get(title)
        if isinstance(value, Pairs):
            parts.append(f"[{title}]:\n" + "\n".join(f"{label}: {_number_of(inner)}" for label, inner in value))
        elif answer.has(title):
            parts.append(f"[{title}]:\n{_number_of(value)}")
    return "\n\n".join(parts)


def _number_of(value: Any) -> str:
    if isinstance(value, Pairs):
        return _number_of(value.get("count", value.get("number")))
    if isinstance(value, list):
        return f"{len(value)}. " + "; ".join(map(str, value))
    return f"{value}."


def _count_lists(text: str) -> str:
    """Counts the lists under categories that have no count, or whose first item is behind the colon."""
    if len(LETTERED.findall(text)) < 2:
        return text
    lines = text.split("\n")
    for index, line in enumerate(lines):
        head = re.fullmatch(rf"{_HEAD}:[*_ \t]*(?P<first>1[.)][ \t]+\S.*|\(1\)[ \t].*)?", line, re.IGNORECASE)
        if head is None:
            continue
        items = _items(lines, index + 1)
        first = head["first"] or ""
        if first:
            n = _listed_in("\n".join((first, *items)))
            if n > 1:
                lines[index] = f"{head['head']}: {n}. {first}"
        elif items and not any(re.search(r":[*_ \t]*\d", item) for item in items):
            lines[index] = f"{head['head']}: {0 if NONE.fullmatch(items[0]) else len(items)}."
        elif index + 1 < len(lines) and NONE.fullmatch(lines[index + 1]) and lines[index + 1].strip():
            lines[index] = f"{head['head']}: 0."
            lines[index + 1] = ""
    return "\n".join(lines)


def counted_first(text: str) -> str:
    """A list of findings whose count, in brackets, in words or not at all, is written as was asked for.

    Example:
        >>> counted_first("Two: heart; lungs"), counted_first("(1) Heart; (2) lungs")
        ('2: heart; lungs', '2. (1) Heart; (2) lungs')
    """
    n = _listed_in(text)
    if n > 1:
        return f"{n}. {text}"
    return FIRST_COUNT.sub(lambda found: _digits(found[1]) + ("." if found[0][0] in "([" else ""), text)


def _listed_in(text: str) -> int:
    """The length of a list whose marks are 1, 2, 3 and so on from its beginning; 0 for any other text."""
    marks = INLINE_MARK.findall(text)
    numbers = [int(one or other) for one, other in marks]
    return len(numbers) if numbers == list(range(1, len(numbers) + 1)) and INLINE_MARK.match(text) else 0


def _items(lines: list[str], start: int) -> list[str]:
    """The items of the list that begins at a line; () if anything else stands in it."""
    items: list[str] = []
    margin = None
    for line in lines[start:]:
        if not line.strip():
            continue
        if LETTERED.match(line) or not LISTED_ITEM.match(line):
            break
        indent = len(line) - len(line.lstrip())
        margin = indent if margin is None else margin
        if indent == margin:
            items.append(line)
    return items


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


@dataclass(frozen=True)
class GreenVerdict:
    """The errors and matched findings that a judge counted.

    Attributes:
        significant: Clinically significant errors.
        insignificant: The others; None where the reply does not say.
        n_matched: Number of matched findings.
        matched: Their words, where the judge listed them.
        explanation: The judge's reasons.
        notes: What the parser had to interpret.
    """

    significant: Errors
    insignificant: Errors | None
    n_matched: int
    matched: tuple[str, ...] = ()
    explanation: str = ""
    notes: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """The score GREEN, 0 to 1."""
        return self.n_matched / (self.n_matched + self.significant.total) if self.n_matched else 0.0

    def to_dict(self) -> dict[str, object]:
        """Returns a JSON object."""
        return {
            "score": self.score,
            "significant": self.significant.to_dict(),
            "insignificant": self.insignificant.to_dict() if self.insignificant else None,
            "n_matched": self.n_matched,
            "matched": list(self.matched),
            "explanation": self.explanation,
            "notes": list(self.notes),
        }


# --- strict: Stanford-AIMI/GREEN d72c195, green_score/green.py and utils.py; tests/parity holds their numbers ---


def strict(reply: str) -> GreenVerdict:
    """Reads a reply exactly as the authors do: what is not found counts 0, and a lost section scores 1."""
    text = strict_clean(reply)
    matched = tuple(word.strip() for word in strict_matched_words(text) if word.strip())
    significant, insignificant = (_strict_errors(text, title) for title in (SIGNIFICANT, INSIGNIFICANT))
    return GreenVerdict(significant, insignificant, strict_matched(text), matched)


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

_TITLE = r"(explanation|(?:clinically\s+)?(?:in)?significant\s+errors|matched\s+findings)"
HEADER = re.compile(
    rf"\[\s*{_TITLE}\s*\][ \t*_:]*"
    rf"|^[ \t#>*_]{{0,20}}(?:\d[.)])?[ \t#>*_]{{0,20}}{_TITLE}(?:[ \t]*\(\d{{1,3}}\))?[ \t*_]*(?::[ \t*_]*|$)",
    re.IGNORECASE | re.MULTILINE,
)
PLACEHOLDER = re.compile(r"<\s*(?:error type|the number of|explanation|finding 1)", re.IGNORECASE)
_LABEL_START = r"(?:False|Missing|Misidentif|Misassess|Mention|Omi)"
ITEM = re.compile(
    rf"^[ \t>*_•+-]*\(?([a-f1-6])(?:\)|\.(?!\d))[ \t*_]*(?=\S)|\(([a-f1-6])\)[ \t*_]*(?={_LABEL_START})"
    rf"|^[ \t>*_•+-]*(?={_LABEL_START}|[a-z][^\n\d:]{{2,90}}:[ \t*_]*\d{{1,3}}[ \t*_]*(?:[.;]|$))",
    re.IGNORECASE | re.MULTILINE,
)
_AFTER_COUNT = r"[.;:,()–\n\t-]|errors?\b|(?:matched )?findings?\b|$"
COUNT = re.compile(rf"[\s*_]*(\d{{1,3}})(?![\d/])(?!\.\d)(?![-–]?[ \t]?(?:\d|[cm]m\b))(?=[\s*_]*(?:{_AFTER_COUNT}))")
# What ends the section where nothing follows it: its last category, or that there is no error.
LAST_CATEGORY = re.compile(
    r"\(?\bf\)|^\W*6[.)]|^\W*Omi[^\n]*:|^\W*(?:none|no|n/a|nil|there (?:are|were) no|zero|0)\b",
    re.IGNORECASE | re.MULTILINE,
)
TOTAL = re.compile(r"\A\W{0,9}(?:total|count)\b[^\n:]{0,30}:[ \t*_]*\d{1,3}[ \t*_.]*\n", re.IGNORECASE)
LATER_COUNT = re.compile(r"[^\n]*?:[ \t]*(\d{1,3})\.(?!\d)")
NOTHING = re.compile(
    r"[\s*_([-]*(?:none|nil|n/a|not applicable|zero|there (?:are|were) no|"
    r"no (?:clinically )?(?:(?:in)?significant )?(?:matched |matching )?(?:errors?|findings?))\b",
    re.IGNORECASE,
)
LIST_NUMBER = re.compile(r"(?:^[ \t>*_•+-]*\(?|(?<=[\s;:,.])\()([a-z]|\d{1,2})[.)](?=[ \t*_])", re.MULTILINE)
LIST_BULLET = re.compile(r"^[ \t>]*[-•*+](?=[ \t])", re.MULTILINE)
LISTED = re.compile(r"^[ \t]*(?:(\d{1,3})[.)]|[-*•])[ \t]+(\S.*)$", re.MULTILINE)


def tolerant(reply: str) -> GreenVerdict:
    """Reads a reply in any of the forms that judges write.

    Headers may be bold, of any case or without brackets; categories may be renumbered (their words then decide), stand
    on one line or be left out (0); a section runs to the next header. A list under or behind a counted category holds
    that category's errors; where it is not as long as the count, the count is taken and a note says so.

    The insignificant errors do not enter the score: where they cannot be read they are None, and a note says why.

    Raises:
        VerdictError: Another section is missing, said twice in two ways, or holds no counts; says which.
    """
    sections = _sections(as_asked(reply))
    notes: list[str] = []
    if list(sections)[-1:] == [SIGNIFICANT.lower()] and not LAST_CATEGORY.search(sections[SIGNIFICANT.lower()][-1]):
        raise VerdictError(f"[{SIGNIFICANT}] ends the reply, which may be cut off, before its last category.")
    significant = _section_errors(sections, SIGNIFICANT, notes)
    n_matched, matched = _only([_matched(body) for body in _bodies(sections, MATCHED)], MATCHED)
    try:
        insignificant = _section_errors(sections, INSIGNIFICANT, notes)
    except VerdictError as error:
        insignificant = None
        notes.append(str(error))
    explanation = " ".join(sections.get("explanation", [""])[0].split())
    return GreenVerdict(significant, insignificant, n_matched, matched, explanation, tuple(dict.fromkeys(notes)))


def _section_errors(sections: dict[str, list[str]], title: str, notes: list[str]) -> Errors:
    return _only([_errors(body, title, notes) for body in _bodies(sections, title)], title)


def _sections(text: str) -> dict[str, list[str]]:
    """Returns bodies by title in small letters; the empty form that some models repeat is left out."""
    headers = list(HEADER.finditer(text))
    ends = [*(header.start() for header in headers[1:]), len(text)]
    sections: dict[str, list[str]] = {}
    for header, end in zip(headers, ends, strict=False):
        body = re.sub(r"^[\s_]*(?:\*\*+|\*(?!\s))?\s*", "", text[header.end() : end].replace("```", "")).rstrip(
            " \t\n*_"
        )
        title = " ".join((header[1] or header[2]).lower().split())
        if not PLACEHOLDER.search(body):
            sections.setdefault(f"clinically {title}" if title.startswith(("sig", "insig")) else title, []).append(body)
    return sections


def _bodies(sections: dict[str, list[str]], title: str) -> list[str]:
    if title.lower() not in sections:
        raise VerdictError(f"The reply has no section [{title}]; it may be cut off, or not follow the form.")
    return sections[title.lower()]


def _only(readings: list[Reading], title: str) -> Reading:
    if any(reading != readings[0] for reading in readings):
        raise VerdictError(f"The reply has several sections [{title}] that differ.")
    return readings[0]


class _Line(NamedTuple):
    """What may be the line of a category, or one error of the list under it."""

    mark: str
    is_bulleted: bool
    named: int | None  # the category that the words before the colon name
    is_published: bool  # these words are the label that the prompt asks for
    number: int | None  # of errors
    start: int
    end: int  # of the label and the count

    @property
    def kind(self) -> str:
        """How the line is marked: "letter", "digit", "bullet" or "none"."""
        if self.mark:
            return "digit" if self.mark.isdigit() else "letter"
        return "bullet" if self.is_bulleted else "none"

    @property
    def ordinal(self) -> int:
        """The place of the mark, from 1."""
        return int(self.mark) if self.mark.isdigit() else "abcdef".index(self.mark) + 1


def _errors(body: str, title: str, notes: list[str]) -> Errors:
    body = TOTAL.sub("", body)
    starts = list(ITEM.finditer(body))
    if not starts:
        if NOTHING.match(body) or body.rstrip(". ") == "0":
            return Errors((0,) * len(CATEGORIES))
        raise VerdictError(f"[{title}] contains no category and no 'None': {short(body)!r}.")
    ends = [start.start() for start in starts[1:]] + [len(body)]
    lines = [_line(start, body[start.end() : end]) for start, end in zip(starts, ends, strict=True)]
    heads = _heads(lines, body, title)
    counts, words = [0] * len(CATEGORIES), list(NO_WORDS)
    seen = set()
    for head, end in zip(heads, [head.start for head in heads[1:]] + [len(body)], strict=True):
        entry = _error_item(head, body[head.end : end], title, notes)
        if entry not in seen:  # a model that loops writes a line again
            seen.add(entry)
            index, count, errors = entry
            counts[index] += count
            words[index] += errors
    return Errors(tuple(counts), tuple(words))


def _line(start: re.Match[str], text: str) -> _Line:
    label, colon, rest = text.partition(":")
    named = category_of(label) if colon and not re.search(r"\d", label) else None
    content = rest if colon and not COUNT.match(text) else text
    offset = start.end() + len(text) - len(content)
    counted = COUNT.match(content) or LATER_COUNT.match(content)
    count = int(counted[1]) if counted else 0 if NOTHING.match(content) else None
    is_published = any(" ".join(label.lower().split()).strip("*_ ") == known[4:].lower() for known in LABELS)
    mark = (start[1] or start[2] or "").lower()
    is_bulleted = bool(LIST_BULLET.match(start[0]))
    return _Line(
        mark, is_bulleted, named, is_published, count, start.start(), offset + (counted.end() if counted else 0)
    )


def _heads(lines: list[_Line], body: str, title: str) -> list[_Line]:
    """The lines of categories; the others are errors that a counted category lists.

    Categories are marked in one way, that of the first with a name and a count; lines with other marks are errors.
    """
    names = [line for line in lines if line.named is not None and line.number is not None]
    kind = (names or lines)[0].kind
    heads: list[_Line] = []
    listed = 0  # errors that lines under the last head count
    for line in lines:
        if heads and _is_listed(line, heads[-1], body, kind, bool(names)):
            listed += line.number or 0
            if listed > (heads[-1].number or 0):
                raise VerdictError(f"[{title}] lists more errors than it counts: {short(body[heads[-1].start :])!r}.")
            continue
        if heads and heads[-1].number and line.kind != kind and not line.is_published:
            raise VerdictError(f"[{title}] counts another category in a list: {short(body[line.start :])!r}.")
        if line.number is None:
            raise VerdictError(f"[{title}] has a line without a count: {short(body[line.start :])!r}.")
        heads.append(line)
        listed = 0
    return heads


def _is_listed(line: _Line, head: _Line, body: str, kind: str, has_names: bool) -> bool:
    """Whether a line is an error in the list of `head`, not a category of its own."""
    if not head.number or line.is_published:
        return False
    if line.kind != kind:
        return line.number is None or line.named in (None, head.named)
    if line.named is not None and (line.number is not None or not line.mark):  # a category; refused without a count
        return False
    if not line.mark:
        return line.number is None
    # A list with the marks of the categories begins anew at 1 or a: "(b) Missing: 2.\n(a) Effusion\n(b) Mass".
    own = [mark for mark in LIST_NUMBER.findall(body, head.end, line.start) if mark.isdigit() == line.mark.isdigit()]
    return has_names and line.ordinal == len(own) + 1


def _error_item(line: _Line, content: str, title: str, notes: list[str]) -> tuple[int, int, tuple[str, ...]]:
    """The category, the count and the words of one category."""
    marked = (line.ordinal - 1) if line.mark else None
    index = marked if line.named is None else line.named
    if index is None:
        raise VerdictError(f"[{title}] has a line of no known category: {short(content)!r}.")
    if marked is not None and line.named not in (None, marked):
        notes.append(f"[{title}] marks {LABELS[line.named or 0][4:]!r} as ({line.mark}); its words count.")
    count = line.number or 0
    if not count:
        return index, 0, ()
    words, is_list = _error_words(content)
    if is_list and len(words) != count:
        notes.append(f"[{title}] counts {count} and lists {len(words)} at {LABELS[index][4:]!r}; the count is taken.")
    return index, count, words


def _error_words(content: str) -> tuple[tuple[str, ...], bool]:
    """The words of a category's errors, and whether a list with numbers, letters or bullets holds them."""
    for marks in (LIST_NUMBER, LIST_BULLET):
        found = list(marks.finditer(content))
        if found:
            ends = [mark.start() for mark in found[1:]] + [len(content)]
            parts = (_split(content[mark.end() : end]) for mark, end in zip(found, ends, strict=True))
            return tuple("; ".join(part) for part in parts if part), True
    return _split(content), False


def _matched(body: str) -> tuple[int, tuple[str, ...]]:
    body = counted_first(body)
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
