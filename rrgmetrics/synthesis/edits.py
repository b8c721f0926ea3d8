"""The words of ``edits.yaml``, and patterns that find them."""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import Any

FILE = "edits.yaml"


@cache
def wording() -> dict[str, Any]:
    """Return the content of ``edits.yaml``."""
    import yaml

    content: dict[str, Any] = yaml.safe_load(resources.files(__package__).joinpath(FILE).read_text("utf-8"))
    return content


@cache
def wording_sha256() -> str:
    """Return the checksum of ``edits.yaml``."""
    return sha256(resources.files(__package__).joinpath(FILE).read_bytes()).hexdigest()


@cache
def pattern(table: str) -> re.Pattern[str]:
    """Return what finds the words of one table, whole words only, the longest first."""
    rows = wording()[table]
    words = rows if isinstance(rows, dict) else {word for row in rows for word in row}
    longest = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})\b", re.IGNORECASE)
