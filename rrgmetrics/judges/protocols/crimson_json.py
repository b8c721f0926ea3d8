"""JSON as judges write it: `published` reads it as the authors of CRIMSON do, `tolerant` without losing anything.

The authors repair a reply with regular expressions over its whole text. One of them, meant for a stray string in an
object, also removes items of lists ("P2" of ["P1", "P2", "P3"]): a false finding that is never counted. `tolerant` is a
parser that knows whether it stands in an object or in a list. What it forgives: text and fences around the object, a
missing opening quote of a key, stray strings in objects, trailing commas, quotes and backslashes that are not escaped,
curly quotes, line breaks in strings, a key that comes twice (lists are joined, else the first value stays). What it
does not: a reply that ends too early, in which findings may be missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.protocols.replies import between_braces

LONGEST = 100_000  # characters; the longest reply that was asked for has 8192 tokens
DEEPEST = 50  # levels of nesting
MOST_OBJECTS = 50  # `{` at which an object is looked for
MOST_QUOTES = 50  # repaired one after the other, as by the authors
NEAR = 5  # characters before an error in which the authors look for its quote

_HYBRID = re.compile(r'\[\s*""\s*:\s*\[')  # ["": [ for [
_UNOPENED = re.compile(r'([\]}"0-9]\s*,\s*|{\s*)([a-zA-Z_][a-zA-Z0-9_]*")')
_STRAY = (re.compile(r',\s*"[^"]*"\s*(?=\s*[,}])(?!\s*:)'), re.compile(r'(?<=\{)\s*"[^"]*"\s*,\s*(?=")'))
_BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrtu])')


PARTS = frozenset({"reference_findings", "predicted_findings", "matched_findings", "errors"})


def published(text: str) -> Any:
    """Reads a reply as `crimson-score` 0.2.0 does; raises VerdictError where that raises, or for one without end."""
    _check_length(text)
    text = text.translate({0x201C: '\\"', 0x201D: '\\"', 0x2018: "\\'", 0x2019: "\\'"})
    text = re.sub(r'\[""\s*:\s*\[', "[", text)
    text = _UNOPENED.sub(r'\1"\2', text)
    without_strays = _STRAY[1].sub("", _STRAY[0].sub("", text))
    escaped = _BAD_ESCAPE.sub(r"\\\\", text)
    for attempt in (text, without_strays, escaped):
        try:
            return _first_keys(attempt)
        except json.JSONDecodeError:
            continue
    for attempt in (text, escaped):
        for _ in range(MOST_QUOTES):
            try:
                return _first_keys(attempt)
            except json.JSONDecodeError as error:
                quote = _stray_quote(attempt, error.pos)
                if quote is None:
                    break
                attempt = attempt[:quote] + "\\" + attempt[quote:]
    raise VerdictError(f"The reply is not JSON that the authors' code can read: {_shown(text)}")


def published_ct(text: str) -> Any:
    """Reads a reply as RadEval's `hoppr_crimson_ct` does: from the first brace to the last, closed where it is cut off.

    Raises:
        VerdictError: Where theirs raises; a part is missing.
    """
    cut = between_braces(text)
    try:
        evaluation = published(cut)
    except VerdictError:
        evaluation = published(cut + _closing(cut))
    if not isinstance(evaluation, dict) or not isinstance(evaluation.get("errors"), dict):
        raise VerdictError(f"The reply is no evaluation: {_shown(text)}")
    if missing := PARTS.difference(evaluation):
        raise VerdictError(f"The reply lacks {', '.join(sorted(missing))}: {_shown(text)}")
    return evaluation


def _closing(text: str) -> str:
    """The brackets that a text leaves open."""
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    opened: list[str] = []
    for bracket in re.findall(r"[\[\]{}]", outside):
        if bracket in "[{":
            opened.append("]" if bracket == "[" else "}")
        elif opened:
            opened.pop()
    return "".join(reversed(opened))


def _first_keys(text: str) -> Any:
    def first(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key, value in pairs:
            members.setdefault(key, value)
        return members

    try:
        return json.loads(text, object_pairs_hook=first)
    except RecursionError:
        raise VerdictError(f"The reply is nested without end: {_shown(text)}") from None


def _stray_quote(text: str, at: int) -> int | None:
    """Finds the quote that ended a string too early."""
    for place in range(min(at, len(text) - 1), max(-1, at - NEAR - 1), -1):
        if text[place] == '"' and text[max(place - 1, 0)] != "\\" and not _is_structural(text, place):
            return place
    return None


def _is_structural(text: str, at: int) -> bool:
    """Returns whether a quote looks like JSON's own by the characters that touch it, as the authors look at them."""
    before, after = text[max(at - 1, 0) : at], text[at + 1 : at + 2]
    if before in tuple(":[{") or after in tuple(":]}"):
        return True
    if before == ",":
        closed = text[max(at - 2, 0) : at - 1]
        return closed.isdigit() or closed in tuple('"]}')
    opened = text[at + 2 : at + 3]
    return after == "," and (opened.isdigit() or opened in tuple('"[{'))


def tolerant(text: str, expected: Sequence[str] = ()) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Reads the object of a reply and loses no item of it.

    Args:
        text: The reply.
        expected: Keys by which the object is known; of several such objects the last one counts (a judge that thinks
            aloud drafts first).

    Returns:
        The object, and what had to be forgiven.

    Raises:
        VerdictError: There is no such object, or it ends too early.

    Example:
        >>> tolerant('Here it is: {"false_findings": ["P1", "P2", "P3"], "x", "y": 1,}')
        ({'false_findings': ['P1', 'P2', 'P3'], 'y': 1}, ('text around the object', 'trailing comma', 'stray string'))
    """
    _check_length(text)
    text = _HYBRID.sub("[", text)
    last: tuple[int, int, dict[str, Any], set[str]] | None = None
    problem = "there is no object in it"
    start = text.find("{")
    for _ in range(MOST_OBJECTS):
        if start < 0:
            break
        parser = _Parser(text, start)
        try:
            value = parser.value(0)
        except _UnreadableError as error:
            if last is None:
                problem = str(error)
            start = text.find("{", start + 1)
            continue
        if all(key in value for key in expected):
            last = (start, parser.at, value, parser.notes)
        start = text.find("{", parser.at)
    if last is None:
        raise VerdictError(f"The reply holds no evaluation ({problem}): {_shown(text)}")
    begin, end, value, notes = last
    if text[:begin].strip() or text[end:].strip():
        notes.add("text around the object")
    return value, tuple(note for note in _NOTES if note in notes)


_NOTES = (
    "text around the object",
    "key without an opening quote",
    "trailing comma",
    "missing comma",
    "stray string",
    "quote or backslash that is not escaped",
    "a key twice",
)
_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_PLAIN = re.compile(r'[^"\\\u201c\u201d]+')
_QUOTES = '"\u201c\u201d'
# After a quote that closes a string: the end, a bracket, a colon, or a comma and the start of the next key or value.
_CLOSES = re.compile(r'\s*(?:$|[\]}:]|,\s*(?:["\u201c\[{\]}\d-]|(?:true|false|null)\b|[A-Za-z_]\w*"\s*:))')


class _UnreadableError(Exception):
    """No value can be read here; the message says why."""


class _Parser:
    """A JSON parser that forgives, in one pass from ``at``."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at
        self.notes: set[str] = set()

    def value(self, depth: int) -> Any:
        """Reads one value."""
        if depth > DEEPEST:
            raise _UnreadableError(f"it is nested deeper than {DEEPEST} levels")
        here = self._peek()
        if here == "{":
            return self._object(depth)
        if here == "[":
            return self._list(depth)
        if here in _QUOTES:
            return self._string()
        number = _NUMBER.match(self.text, self.at)
        if number:
            self.at = number.end()
            return json.loads(number[0])
        word = _WORD.match(self.text, self.at)
        if word and word[0] in _WORDS:
            self.at = word.end()
            return _WORDS[word[0]]
        raise _UnreadableError(f"{here!r} at character {self.at} starts no value")

    def _peek(self) -> str:
        """Returns the next character that is not white space; an unfinished text has none."""
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        if self.at >= len(self.text):
            raise _UnreadableError("it ends too early")
        return self.text[self.at]

    def _object(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        start = self.at = self.at + 1
        while self._next("}", self.at == start):
            key = self._key()
            if self._peek() != ":":
                self.notes.add("stray string")
                continue
            self.at += 1
            self._keep(members, key, self.value(depth + 1))
        return members

    def _list(self, depth: int) -> list[Any]:
        items: list[Any] = []
        start = self.at = self.at + 1
        while self._next("]", self.at == start):
            items.append(self.value(depth + 1))
        return items

    def _next(self, end: str, first: bool) -> bool:
        """Steps over the comma before the next item; returns False after the closing bracket."""
        commas = 0
        while self._peek() == ",":
            self.at += 1
            commas += 1
        if self._peek() == end:
            self.at += 1
            if commas:
                self.notes.add("trailing comma")
            return False
        if not commas and not first:
            self.notes.add("missing comma")
        return True

    def _key(self) -> str:
        if self._peek() in _QUOTES:
            return self._string()
        word = _WORD.match(self.text, self.at)
        if word is None:
            raise _UnreadableError(f"{self.text[self.at]!r} at character {self.at} starts no key")
        self.at = word.end()
        if self.text[self.at : self.at + 1] == '"':
            self.at += 1
        self.notes.add("key without an opening quote")
        return word[0]

    def _keep(self, members: dict[str, Any], key: str, value: Any) -> None:
        """Adds a key; of one that comes twice the items are joined, of anything else the first stays."""
        if key not in members:
            members[key] = value
            return
        self.notes.add("a key twice")
        if isinstance(members[key], list) and isinstance(value, list):
            members[key] += [item for item in value if item not in members[key]]

    def _string(self) -> str:
        self.at += 1
        pieces: list[str] = []
        while True:
            plain = _PLAIN.match(self.text, self.at)
            if plain:
                pieces.append(plain[0])
                self.at = plain.end()
            if self.at >= len(self.text):
                raise _UnreadableError("it ends too early")
            if self.text[self.at] == "\\":
                pieces.append(self._escape())
            elif _CLOSES.match(self.text, self.at + 1):
                self.at += 1
                return "".join(pieces)
            else:
                self.notes.add("quote or backslash that is not escaped")
                pieces.append('"')
                self.at += 1

    def _escape(self) -> str:
        """Returns what a backslash stands for; itself where it starts no escape."""
        letter = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if letter in _ESCAPES and letter:
            return _ESCAPES[letter]
        code = self.text[self.at : self.at + 4]
        if letter == "u" and re.fullmatch(r"[0-9A-Fa-f]{4}", code):
            self.at += 4
            return json.loads(f'"\\u{code}"', strict=False)  # type: ignore[no-any-return]
        self.notes.add("quote or backslash that is not escaped")
        return "\\" + letter


def _check_length(text: str) -> None:
    if len(text) > LONGEST:
        raise VerdictError(f"The reply has {len(text):,} characters, more than {LONGEST:,}: {_shown(text)}")


def _shown(text: str) -> str:
    """The start of a reply, for a message."""
    text = " ".join(text[:1000].split())
    return text if len(text) <= 80 else text[:77] + "..."
