"""Reads JSON from replies: alone, in a Markdown fence, or with words around it."""

from __future__ import annotations

import json
import re
from typing import Any

from rrgmetrics.errors import VerdictError

OBJECT = re.compile(r'\{\s*["}]')
FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
MAX_OBJECTS = 200  # of one reply


class Pairs(list[tuple[str, Any]]):
    """An object's members in order; a key that stands twice is there twice (JSON's readers keep the last)."""

    def get(self, key: str, default: Any = None) -> Any:
        """The first value of a key."""
        return next((value for name, value in self if name == key), default)


def read_json(reply: str) -> Pairs:
    """Reads the largest JSON object of a reply.

    Raises:
        VerdictError: There is none, as in a refusal, or it is cut off.
    """
    decoder = json.JSONDecoder(object_pairs_hook=Pairs)
    objects: list[tuple[int, Pairs]] = []
    start = OBJECT.search(reply)
    while start and len(objects) < MAX_OBJECTS:
        try:
            value, end = decoder.raw_decode(reply, start.start())
        except (ValueError, RecursionError):
            if not objects:  # what lies inside a broken object is only a part of the answer
                raise VerdictError(f"The reply's JSON is broken or cut off: {short(reply)!r}.") from None
            break
        objects.append((end - start.start(), value))
        start = OBJECT.search(reply, end)
    if not objects:
        raise VerdictError(f"The reply holds no JSON object: {short(reply)!r}.")
    return max(objects, key=lambda entry: entry[0])[1]


def between_braces(reply: str, fence: re.Pattern[str] = FENCE) -> str:
    """What stands from the first brace to the last; "" without a brace.

    It is looked for in a Markdown fence if there is one, as RadEval's parsers look for JSON; commas before the end of
    an object or a list are left out.

    Example:
        >>> between_braces('So: {"a": [1,],} Done.')
        '{"a": [1]}'
    """
    found = fence.search(reply)
    inside = found[1] if found else reply
    return re.sub(r",\s*([}\]])", r"\1", inside[inside.find("{") : inside.rfind("}") + 1])


def texts(value: Any, where: str) -> tuple[str, ...]:
    """Reads a list of strings without blanks; None is an empty one. Raises VerdictError for anything else."""
    items = [] if value is None else [value] if isinstance(value, str) else value
    if isinstance(items, Pairs) or not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise VerdictError(f"{where} is not a list of texts: {short(str(value))!r}.")
    return tuple(item.strip() for item in items if item.strip())


def short(text: str) -> str:
    """The beginning of a text on one line, for messages."""
    line = " ".join(text[:200].split())
    return line if len(line) <= 60 else line[:57] + "..."
