"""What the headings of `sections.yaml` stand for."""

from __future__ import annotations

import re
from itertools import product


def heading_forms(heading: str) -> list[str]:
    """Returns what a heading of `sections.yaml` stands for: "(this|the|) exam" is three headings.

    Example:
        >>> heading_forms("reason for (this|the|) exam")
        ['reason for this exam', 'reason for the exam', 'reason for exam']
    """
    parts = re.split(r"\(([^()]*)\)", heading)
    options = [part.split("|") if number % 2 else [part] for number, part in enumerate(parts)]
    return [" ".join("".join(chosen).split()) for chosen in product(*options)]
