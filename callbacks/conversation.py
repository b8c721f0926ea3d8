"""Conversations, as TRL and processors of images have them: lists of turns, each with a `role` and a `content`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def content_text(turn: Mapping[str, Any]) -> str:
    """Returns the text of a turn, whose content may be a text or a list of parts (images and texts)."""
    content = turn.get("content")
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if part.get("type") == "text")
    return content or ""


def answer_of(turns: Any) -> str | None:
    """Returns the text of the assistant's turn at the end of a conversation; None for anything else.

    Example:
        >>> answer_of([{"role": "user", "content": "Describe"}, {"role": "assistant", "content": "Clear lungs."}])
        'Clear lungs.'
    """
    last = turns[-1] if isinstance(turns, list | tuple) and turns else None
    return content_text(last) if isinstance(last, Mapping) and last.get("role") == "assistant" else None
