"""The prompts of a metric, in `prompts.txt` of its folder.

A line `===== name =====` begins a prompt; the words before the first say where the prompts are from. A report is put
into a prompt as it is, whatever braces it holds.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from rrgmetrics.judges.base import Message

FIELD = re.compile(r"\{(\w+)\}")
HEADING = re.compile(r"^===== (\w+) =====\n", re.MULTILINE)


@dataclass(frozen=True)
class Prompts:
    """The prompts in the folder of a package."""

    package: str

    def fill(self, name: str, **fields: str) -> str:
        """Returns a prompt with its fields; anything else in braces stays as it is."""
        return FIELD.sub(lambda match: fields.get(match[1], match[0]), _prompts(self.package)[name])

    def conversation(self, question: str) -> tuple[Message, Message]:
        """Returns the prompt `system` and a question after it."""
        return Message("system", self.fill("system").strip()), Message("user", question.rstrip())

    def digits(self, *names: str) -> str:
        """Returns the first eight digits of the checksum of prompts, for signatures."""
        return hashlib.sha256("\0".join(map(_prompts(self.package).__getitem__, names)).encode()).hexdigest()[:8]

    def of_pack(self, name: str, pack: str) -> str:
        """Returns the name of the prompt for reports of a pack: `<name>_ct` of CT where there is one, else `<name>`."""
        ct = f"{name}_ct"
        return ct if is_ct(pack) and ct in _prompts(self.package) else name


def is_ct(pack: str) -> bool:
    """Whether a pack reads CT: its name ends so."""
    return pack.endswith("_ct")


@lru_cache
def _prompts(package: str) -> Mapping[str, str]:
    """The prompts of a package by name."""
    _, *parts = HEADING.split((files(package) / "prompts.txt").read_text(encoding="utf-8"))
    return dict(zip(parts[::2], parts[1::2], strict=True))
