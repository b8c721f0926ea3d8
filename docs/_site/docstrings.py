"""Docstrings as the reference shows them: `Example:` is a section of examples, as in `Examples:`."""

from __future__ import annotations

import re
from typing import Any

import griffe


class Examples(griffe.Extension):  # type: ignore[misc]
    """Names the section as griffe does."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Changes one heading of an object's docstring."""
        if obj.docstring:
            obj.docstring.value = re.sub(r"^( *)Example:$", r"\1Examples:", obj.docstring.value, flags=re.MULTILINE)
