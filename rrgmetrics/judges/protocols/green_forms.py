"""Writes replies to GREEN's question in the form that was asked for: tables, JSON, and counts in other shapes.

Only marks change, and where a count is written; what a reply does not count is counted only where it is a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.protocols.loose_json import Pairs
from rrgmetrics.judges.protocols.replies import NONE, NUMBERS, answer_of, has_keys, read_json

SECTIONS = ("Clinically Significant Errors", "Clinically Insignificant Errors", "Matched Findings")
LABEL_START = r"(?:False|Missing|Misidentif|Misassess|Mention|Omi|Wrong|Incorrect)"
FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3002: ".", 0x3001: ","}
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
