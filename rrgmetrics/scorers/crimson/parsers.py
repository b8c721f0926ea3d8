"""JSON as judges write it: `published` reads it as the authors of CRIMSON do, `tolerant` without losing anything.

The authors repair a reply with regular expressions over its whole text. One of them, meant for a stray string in an
object, also removes items of lists ("P2" of ["P1", "P2", "P3"]): a false finding that is never counted. `tolerant`
reads with the parser of `loose_json`; of a key that comes twice lists are joined, else the first value stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.protocols.loose_json import NOTES, Pairs, plain
from rrgmetrics.judges.protocols.replies import between_braces, has_keys, read_json
from rrgmetrics.scorers.crimson.score import tally

LONGEST = 100_000  # characters; the longest reply that was asked for has 8192 tokens
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

    Differs from the authors: a reply that is cut off never scores 1; theirs closes `"errors": {` and finds no error.

    Raises:
        VerdictError: Where theirs raises; a part is missing; it is cut off, and the rest has no error.
    """
    cut = between_braces(text)
    is_closed = True
    try:
        evaluation = published(cut)
    except VerdictError:
        evaluation, is_closed = published(cut + _closing(cut)), False
    if not isinstance(evaluation, dict) or not isinstance(evaluation.get("errors"), dict):
        raise VerdictError(f"The reply is not an evaluation: {_shown(text)}")
    if missing := PARTS.difference(evaluation):
        raise VerdictError(f"The reply lacks {', '.join(sorted(missing))}: {_shown(text)}")
    if not is_closed and _is_perfect(evaluation):
        raise VerdictError(f"The reply is cut off, and the rest has no error: {_shown(text)}")
    return evaluation


def _is_perfect(evaluation: dict[str, Any]) -> bool:
    try:
        return tally(evaluation).score == 1
    except (AttributeError, KeyError, TypeError):
        return False


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
        raise VerdictError(f"The reply is nested too deeply: {_shown(text)}") from None


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
    found, notes = read_json(_HYBRID.sub("[", text), has_keys(*expected))
    forgiven = set(notes)
    value = _joined(found, forgiven)
    if expected:
        names = {plain(key): key for key in expected}
        value = {names.get(plain(key), key): member for key, member in value.items()}
    return value, tuple(note for note in NOTES if note in forgiven)


def _joined(value: Any, notes: set[str]) -> Any:
    """Objects as dictionaries; of lists that a key has twice the items are joined, of anything else the first stays."""
    if not isinstance(value, Pairs):
        return [_joined(item, notes) for item in value] if isinstance(value, list) else value
    members: dict[str, Any] = {}
    for key, item in value:
        member = _joined(item, notes)
        if key not in members:
            members[key] = member
            continue
        notes.add("a key twice")
        if isinstance(members[key], list) and isinstance(member, list):
            members[key] += [one for one in member if one not in members[key]]
    return members


def _check_length(text: str) -> None:
    if len(text) > LONGEST:
        raise VerdictError(f"The reply has {len(text):,} characters, more than {LONGEST:,}: {_shown(text)}")


def _shown(text: str) -> str:
    """The start of a reply, for a message."""
    text = " ".join(text[:1000].split())
    return text if len(text) <= 80 else text[:77] + "..."
