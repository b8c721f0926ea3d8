"""Reads the answers in judges' replies, whatever is around them: thoughts, fences, greetings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rrgmetrics.errors import VerdictError
from rrgmetrics.judges.protocols.loose_json import NOTES, Pairs, UnreadableError, find

FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>|<\|channel\|>final<\|message\|>", re.IGNORECASE)
THOUGHT_START = re.compile(r"<(?:think|thinking|thought|reasoning)>|<\|channel\|>analysis", re.IGNORECASE)
TOKEN = re.compile(r"<\|[a-z_]{2,20}\|>|</?s>|<(?:start|end)_of_turn>|\ufeff")  # of chat templates
NONE = re.compile(r"\W*(?:none|nil|null|n/?a|not applicable|no errors?)?\W*", re.IGNORECASE)
FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3002: ".", 0x3001: ","}
NUMBERS = {word: number for number, word in enumerate("zero one two three four five six seven eight nine ten".split())}
TEXT_KEYS = ("text", "phrase", "finding", "error", "description", "sentence")
ELLIPSES = ("...", "\u2026")


def answer_of(reply: str) -> str:
    """Returns a reply without the thoughts before the answer, and without tokens of chat templates.

    Raises:
        VerdictError: The reply ends before its thoughts do.

    Example:
        >>> answer_of("<think>One or two?</think>Two.<|im_end|>")
        'Two.'
    """
    text = THOUGHT_END.split(reply)[-1]
    if THOUGHT_START.search(text):
        raise VerdictError(f"The reply ends within its reasoning: {short(reply)!r}.")
    return TOKEN.sub("", text).replace("\r\n", "\n")


def read_json(
    reply: str,
    is_answer: Callable[[Any], bool],
    is_item: Callable[[Any], bool] | None = None,
    name: str = "JSON object that is an answer",
) -> tuple[Any, tuple[str, ...]]:
    """Reads the JSON of a reply.

    Args:
        reply: The reply.
        is_answer: Whether a value is the answer; the last one counts, alone or inside another value.
        is_item: Whether a value is an item of an answer; a list of such is an answer, too.
        name: What is looked for, for messages.

    Returns:
        The answer, its objects as `Pairs`, and what had to be forgiven.

    Raises:
        VerdictError: There is none, as in a refusal, or it is broken or cut off.
    """
    text = answer_of(reply)
    try:
        found = find(text, is_answer, is_item)
    except UnreadableError as error:
        if unescaped := _unescaped(text):
            return read_json(unescaped, is_answer, is_item, name)
        what = "The reply's JSON is broken or cut off" if error.at else f"The reply has no {name}"
        raise VerdictError(f"{what} ({error}): {short(reply)!r}.") from None
    around = {"text around the object"} if text[: found.start].strip() or text[found.end :].strip() else set()
    return found.value, tuple(note for note in NOTES if note in found.notes | around)


def _unescaped(text: str) -> str:
    """A reply that is JSON written as a text, or with its quotes escaped, as that JSON; "" for any other."""
    text = re.sub(r"^```\w*", "", text.strip()).lstrip(' \n"')
    if not re.match(r"(?:[{\[]|\s|\\n){1,20}\\\"", text):
        return ""
    return re.sub(r"\\(.)", lambda escape: {"n": "\n", "t": "\t"}.get(escape[1], escape[1]), text).strip().strip('"')


def has_keys(*keys: str) -> Callable[[Any], bool]:
    """A test of whether a value is an object with these keys, in whatever spelling."""
    return lambda value: isinstance(value, Pairs) and all(map(value.has, keys))


def between_braces(reply: str, fence: re.Pattern[str] = FENCE) -> str:
    """What is from the first brace to the last; "" without a brace.

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
    """Reads a list of texts without blanks; None is an empty one, and so is a list of the word "None".

    Raises:
        VerdictError: It is anything else, or the "..." of the form that was asked for.
    """
    items = [] if value is None else [value] if isinstance(value, str) else value
    if isinstance(items, Pairs) or not isinstance(items, list):
        raise VerdictError(f"{where} is not a list of texts: {short(str(value))!r}.")
    words = tuple(stripped for item in items if (stripped := _text(item, where).strip()))
    if any(word in ELLIPSES for word in words):
        raise VerdictError(f"{where} contains the unfilled form from the prompt.")
    return () if len(words) == 1 and NONE.fullmatch(words[0]) else words


def _text(item: Any, where: str) -> str:
    if isinstance(item, Pairs):
        item = next((item.get(key) for key in TEXT_KEYS if item.has(key)), None)
    if not isinstance(item, str):
        raise VerdictError(f"{where} is not a list of texts: {short(str(item))!r}.")
    return item


def listed(text: str) -> tuple[str, ...]:
    """The items of a bulleted or numbered list that is the whole text, but for lines that announce it with a colon."""
    lines = [line for line in text.replace("```", "").split("\n") if line.strip()]
    items = [re.match(r"\s*(?:[-*\u2022+]|\d{1,3}[.)])\s+(\S.*)", line) for line in lines]
    if not all(item or line.rstrip("* ").endswith(":") for item, line in zip(items, lines, strict=True)):
        return ()
    return tuple(item[1].strip().strip('"') for item in items if item)


def denies(reply: str, nouns: str) -> bool:
    """Whether a reply is one sentence that denies what is asked for: "No nodules are described."."""
    return bool(re.fullmatch(rf"\s*(?:there (?:are|is) )?no (?:{nouns})\b[^.\n]{{0,60}}\.?\s*", reply, re.IGNORECASE))


def short(text: str) -> str:
    """The beginning of a text on one line, for messages."""
    line = " ".join(text[:200].split())
    return line if len(line) <= 60 else line[:57] + "..."
