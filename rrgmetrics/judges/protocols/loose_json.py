"""JSON as judges write it: a parser that knows whether it is in an object or in a list, and loses no item of either.

What it forgives: text, fences and comments around and between; single and curly quotes, keys without quotes, Python's
words for true, false and null; stray strings in objects, missing and trailing commas, quotes and backslashes that are
not escaped, line breaks in strings. What it does not: a value that ends too early, in which items may be missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

DEEPEST = 50  # levels of nesting
MOST_BROKEN, MOST_VALUES = 20, 500  # values that are read in a text
NOTES = (
    "text around the object",
    "key without an opening quote",
    "trailing comma",
    "missing comma",
    "stray string",
    "quote or backslash that is not escaped",
    "a key twice",
)
_SPACE = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)(?:\s*(?:mm|cm)\b|(?![\w.]))")
_WORD = re.compile(r"[A-Za-z_]\w*")
_BARE_KEY = re.compile(r"([A-Za-z_]\w*)\"?(?=\s*:)")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CLOSING = {'"': '"', "'": "'", "\u201c": '\u201d\u201c"', "\u201d": '\u201d\u201c"', "\u2018": "\u2019'"}
_STRAIGHT = {0x201C: '"', 0x201D: '"'}
_UNTIL = {closing: re.compile(rf"[^\\{closing}]+") for closing in _CLOSING.values()}
# After a quote that closes a string: the end, a bracket, a colon, or the start of the next key or value, with its comma
# or, between quotes, without.
_CLOSES = re.compile(
    r"\s*(?:$|```|[\]}:]|//|/\*|,\s*(?:[\"'\u201c\u2018\[{\]}\d-]|//|/\*|(?:true|false|null|True|False|None)\b"
    r"|[A-Za-z_]\w*\"?\s*:)|\s+[\"']\w)"
)
_START = r"[{\[]\s*(?:[\[{\"'\u201c\u2018}\]]|//|/\*|#)|\{\s*[A-Za-z_]\w*\"?\s*:"
_OBJECT_START = re.compile(_START.replace(r"[{\[]", r"\{", 1))
_ANY_START = re.compile(_START)


class Pairs(list[tuple[str, Any]]):
    """An object's members in order; a key that stands twice is there twice."""

    def get(self, key: str, default: Any = None) -> Any:
        """The first value of a key, in whatever spelling: "matched_findings", "Matched Findings", "matchedFindings"."""
        wanted = plain(key)
        return next((value for name, value in self if plain(name) == wanted), default)

    def has(self, key: str) -> bool:
        """Whether there is a member of this name, in whatever spelling."""
        wanted = plain(key)
        return any(plain(name) == wanted for name, _ in self)


def plain(key: str) -> str:
    """The letters and digits of a key, in small letters."""
    return re.sub(r"[\W_]+", "", key).lower()


def plain_json(value: Any) -> Any:
    """A value with dictionaries for its objects; of a key that stands twice the first counts."""
    if isinstance(value, Pairs):
        return {key: plain_json(member) for key, member in reversed(value)}
    return [plain_json(item) for item in value] if isinstance(value, list) else value


class UnreadableError(Exception):
    """No value can be read; the message says why, and `at` at which character, if one begins."""

    def __init__(self, message: str, at: int = 0) -> None:
        super().__init__(message)
        self.at = at


class Found(NamedTuple):
    """A value in a text, or why there is none at its start."""

    start: int
    end: int
    value: Any
    notes: frozenset[str]
    error: UnreadableError | None = None


def values(text: str, *, with_lists: bool) -> Iterator[Found]:
    """Reads the objects of a text, and the lists where these are asked for, that are in no other one.

    Where a value cannot be read, the next one is looked for inside it.
    """
    start = _ANY_START if with_lists else _OBJECT_START
    match = start.search(text)
    n_broken = n_values = 0
    while match and n_broken < MOST_BROKEN and n_values < MOST_VALUES:
        parser = _Parser(text, match.start())
        try:
            value = parser.value(0)
        except UnreadableError as error:
            yield Found(match.start(), match.start() + 1, None, frozenset(), error)
            match = start.search(text, match.start() + 1)
            n_broken += 1
            continue
        n_values += 1
        yield Found(match.start(), parser.at, value, frozenset(parser.notes))
        match = start.search(text, parser.at)


class _Parser:
    """A JSON parser that forgives, in one pass from ``at``."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at
        self.notes: set[str] = set()

    def value(self, depth: int) -> Any:
        """Reads one value."""
        if depth > DEEPEST:
            raise UnreadableError(f"it is nested deeper than {DEEPEST} levels", self.at)
        here = self._peek()
        if here == "{":
            return self._object(depth)
        if here == "[":
            return self._list(depth)
        if here in _CLOSING:
            return self._string()
        number = _NUMBER.match(self.text, self.at)
        if number:
            self.at = number.end()
            if number[0] != number[1]:  # with a unit, it is a text
                return number[0]
            return json.loads(re.sub(r"^(-?)0+(?=[0-9])", r"\1", number[1]))
        word = _WORD.match(self.text, self.at)
        if word and word[0] in _WORDS:
            self.at = word.end()
            return _WORDS[word[0]]
        raise UnreadableError(f"{here!r} at character {self.at} starts no value", self.at)

    def _peek(self) -> str:
        """Returns the next character that is neither white space nor in a comment; an unfinished text has none."""
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        if self.at >= len(self.text) or self.text.startswith("```", self.at):
            raise UnreadableError("it ends too early", len(self.text))
        return self.text[self.at]

    def _object(self, depth: int) -> Pairs:
        members = Pairs()
        start = self.at = self.at + 1
        while self._next("}", self.at == start):
            key = self._key()
            if self._peek() != ":":
                self.notes.add("stray string")
                continue
            self.at += 1
            members.append((key, self.value(depth + 1)))
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
        if self._peek() in _CLOSING:
            return self._string()
        word = _BARE_KEY.match(self.text, self.at)
        if word is None:
            raise UnreadableError(f"{self.text[self.at]!r} at character {self.at} starts no key", self.at)
        self.at = word.end()
        self.notes.add("key without an opening quote")
        return word[1]

    def _string(self) -> str:
        closing = _CLOSING[self.text[self.at]]
        self.at += 1
        pieces: list[str] = []
        while True:
            piece = _UNTIL[closing].match(self.text, self.at)
            if piece:
                pieces.append(piece[0])
                self.at = piece.end()
            if self.at >= len(self.text):
                raise UnreadableError("it ends too early", len(self.text))
            if self.text[self.at] == "\\":
                pieces.append(self._escape())
            elif _CLOSES.match(self.text, self.at + 1):
                self.at += 1
                return "".join(pieces).translate(_STRAIGHT)
            else:
                self.notes.add("quote or backslash that is not escaped")
                pieces.append(self.text[self.at])
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


def find(text: str, is_answer: Callable[[Any], bool], is_item: Callable[[Any], bool] | None = None) -> Found:
    """Finds the answer in a text: the last value that is one, or that holds one.

    A judge that thinks aloud drafts first. Behind an answer, no other one may be broken or cut off.

    Args:
        text: The text.
        is_answer: Whether a value is an answer.
        is_item: Whether a value is an item of an answer; a list of such, or several of them, is an answer, too.

    Raises:
        UnreadableError: There is no answer, or a last one that cannot be read.
    """
    answer: Found | None = None
    items: list[Found] = []
    first_problem: UnreadableError | None = None
    broken_at = len(text) + 1
    for found in values(text, with_lists=is_item is not None):
        if found.error is not None:
            first_problem = first_problem or found.error
            broken_at = min(broken_at, found.start)
            if answer and _OBJECT_START.match(text, found.start):
                raise found.error
            continue
        is_whole = found.start < broken_at  # what is in a broken value is only a part of the answer
        inner = next(_answers(found.value, is_answer), None)
        if inner is not None:
            answer = found._replace(value=inner)
        elif is_item and is_whole and isinstance(found.value, list) and not isinstance(found.value, Pairs):
            if found.value and all(map(is_item, found.value)):
                answer = found
        elif is_item and is_whole and is_item(found.value):
            items.append(found)
    if answer is None and items and first_problem is None:
        notes = frozenset[str]().union(*(item.notes for item in items))
        answer = Found(items[0].start, items[-1].end, [item.value for item in items], notes)
    if answer is None:
        raise first_problem or UnreadableError("it contains no object")
    return answer


def _answers(value: Any, is_answer: Callable[[Any], bool], depth: int = 2) -> Iterator[Any]:
    """The answers that a value is or holds, the last one first."""
    if is_answer(value):
        yield value
    elif depth and isinstance(value, list):
        inside = [member for _, member in value] if isinstance(value, Pairs) else value
        for member in reversed(inside):
            yield from _answers(member, is_answer, depth - 1)
