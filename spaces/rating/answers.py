"""What a rater says of one item, checked: errors with the wrong words and a rating, or a choice of two candidates."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.errors import InputError
from rrgmetrics.spaces.rating.conventions import CONFIDENCE, RATING

LETTERS = "".join(category.letter for category in ErrorCategory)
MAX_ERRORS, MAX_MARKS = 99, 20
Text = Literal["reference", "candidate"]
TEXTS: tuple[Text, ...] = ("reference", "candidate")
EQUAL = "equal"


class Mark(NamedTuple):
    """Words of a report: characters `[start, end)`, by Unicode code points."""

    text: Text
    start: int
    end: int


class Error(NamedTuple):
    """One error: its letter A to F, whether it matters, and the words that are wrong."""

    letter: str
    significant: bool
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Judged:
    """What a rater says of one candidate.

    Attributes:
        errors: In the order in which they were counted.
        rating: From 1 to 5; None: not yet.
    """

    errors: tuple[Error, ...] = ()
    rating: int | None = None

    def count(self, letter: str, significant: bool) -> int:
        """The number of errors of a kind."""
        return Counter((error.letter, error.significant) for error in self.errors)[letter, significant]

    def missing(self, ask: Collection[str]) -> list[str]:
        """What is to be answered still."""
        return ["a rating"] if "rating" in ask and self.rating is None else []


@dataclass(frozen=True)
class Preferred:
    """What a rater says of two candidates.

    Attributes:
        choice: The better candidate, or "equal"; "": not yet. By its digit on a page, by its number in the database.
        confidence: From 1 to 10; None: not yet.
    """

    choice: str = ""
    confidence: int | None = None

    def missing(self, ask: Collection[str]) -> list[str]:
        """What is to be answered still."""
        return [*([] if self.choice else ["a choice"]), *([] if self.confidence else ["a confidence"])]


Answer = Judged | Preferred


def dump(answer: Answer) -> str:
    """An answer as JSON."""
    return json.dumps(asdict(answer))


def load(content: str) -> Answer:
    """The inverse of `dump`."""
    value = json.loads(content)
    if "choice" in value:
        return Preferred(**value)
    errors = (
        Error(letter, significant, tuple(Mark(*mark) for mark in marks))
        for letter, significant, marks in value["errors"]
    )
    return Judged(tuple(errors), value["rating"])


def read_judged(value: Any, ask: Collection[str], texts: Mapping[str, str]) -> Judged:
    """What a page sends of a candidate.

    Args:
        value: `{"errors": [[letter, significant, [[text, start, end], ...]], ...], "rating": 3}`.
        ask: What the project asks.
        texts: The two reports, which marks are checked by.

    Raises:
        InputError: It is something else.
    """
    _check(isinstance(value, dict) and set(value) <= {"errors", "rating"}, "an answer", value)
    errors, rating = value.get("errors", []), value.get("rating")
    _check(isinstance(errors, list) and len(errors) <= MAX_ERRORS, f"a list of at most {MAX_ERRORS} errors", "more")
    _check("errors" in ask or not errors, "an empty list; this project does not ask for errors", errors)
    _check(rating is None or (_is_whole(rating, RATING) and "rating" in ask), "a rating from 1 to 5", rating)
    return Judged(tuple(_error(error, texts) for error in errors), rating)


def read_preferred(value: Any, choices: Sequence[str]) -> Preferred:
    """What a page sends of two candidates.

    Args:
        value: `{"choice": ..., "confidence": 1 to 10}`.
        choices: What may be chosen.

    Raises:
        InputError: It is something else.
    """
    _check(isinstance(value, dict) and set(value) <= {"choice", "confidence"}, "a preference", value)
    choice, confidence = value.get("choice", ""), value.get("confidence")
    _check(isinstance(choice, str) and choice in ("", *choices), f"one of {', '.join(choices)}", choice)
    _check(confidence is None or _is_whole(confidence, CONFIDENCE), "a confidence from 1 to 10", confidence)
    return Preferred(choice, confidence)


def _error(value: Any, texts: Mapping[str, str]) -> Error:
    _check(isinstance(value, list) and len(value) == 3, "an error", value)
    letter, significant, marks = value
    _check(isinstance(letter, str) and len(letter) == 1 and letter in LETTERS, "a letter from A to F", letter)
    _check(isinstance(significant, bool), "true or false", significant)
    _check(isinstance(marks, list) and len(marks) <= MAX_MARKS, f"a list of at most {MAX_MARKS} marks", marks)
    return Error(letter, significant, tuple(_mark(mark, texts) for mark in marks))


def _mark(value: Any, texts: Mapping[str, str]) -> Mark:
    _check(isinstance(value, list) and len(value) == 3 and value[0] in TEXTS, "a mark", value)
    text, start, end = value
    length = len(texts[text])
    _check(_is_whole(start, range(length)) and _is_whole(end, range(start + 1, length + 1)), "words of it", value)
    return Mark(text, start, end)


def _is_whole(value: Any, known: Collection[int]) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value in known


def _check(holds: bool, wanted: str, value: Any) -> None:
    if not holds:
        raise InputError(f"{str(value)[:80]!r} is not {wanted}.")
