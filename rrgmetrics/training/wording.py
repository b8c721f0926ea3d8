"""The words of ``wording.yaml``, and patterns that find them."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Any


@cache
def wording() -> dict[str, Any]:
    """Return the content of ``wording.yaml``."""
    import yaml

    content: dict[str, Any] = yaml.safe_load(resources.files(__package__).joinpath("wording.yaml").read_text("utf-8"))
    return content


@cache
def pattern(table: str) -> re.Pattern[str]:
    """Return what finds the words of one table, whole words only, the longest first."""
    rows = wording()[table]
    words = rows if isinstance(rows, dict) else {word for row in rows for word in row}
    longest = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})\b", re.IGNORECASE)
