"""Patterns: several terms of a YAML file in one line."""

from __future__ import annotations

import re
from itertools import product

_ALTERNATIVES = re.compile(r"\(([^()|]*(?:\|[^()|]*)+)\)")


def terms_of(pattern: str) -> list[str]:
    """Returns the terms that a pattern means; an alternative without words leaves its place empty.

    Example:
        >>> terms_of("(hazy|dense) base"), terms_of("reason for (this|the|) exam")
        (['hazy base', 'dense base'], ['reason for this exam', 'reason for the exam', 'reason for exam'])
    """
    if "|" not in pattern:
        return [pattern]
    parts = _ALTERNATIVES.split(pattern)
    options = [part.split("|") if number % 2 else [part] for number, part in enumerate(parts)]
    return [" ".join("".join(chosen).split()) for chosen in product(*options)]
