"""Replies in the form that GREEN asks for."""

from __future__ import annotations

from collections.abc import Mapping

from rrgmetrics.scorers.green.parsers import INSIGNIFICANT, LABELS, SIGNIFICANT

NONE_FOUND: Mapping[str, str] = {}


def green_reply(
    significant: Mapping[str, str] = NONE_FOUND,
    insignificant: Mapping[str, str] = NONE_FOUND,
    matched: str = "1. One",
    explanation: str = "Invented.",
) -> str:
    """A whole reply; errors by letter, such as `{"a": "1. One"}`, the others are 0."""
    sections = (SIGNIFICANT, significant), (INSIGNIFICANT, insignificant)
    lines = [
        f"[{title}]:\n" + "".join(f"{label}: {errors.get(label[1], '0')}.\n" for label in LABELS)
        for title, errors in sections
    ]
    return "".join([f"[Explanation]: {explanation}\n", *lines, f"[Matched Findings]:\n{matched}"])
