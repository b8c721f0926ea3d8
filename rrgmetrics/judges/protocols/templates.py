"""Prompts are data files beside this one; a report is put into them as it is, whatever braces it holds."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from importlib.resources import files

FIELD = re.compile(r"\{(\w+)\}")


@lru_cache
def template(name: str) -> str:
    """The text of `prompts/<name>.txt`."""
    return (files("rrgmetrics.judges.protocols") / "prompts" / f"{name}.txt").read_text(encoding="utf-8")


def of_pack(name: str, pack: str) -> str:
    """The template for reports of a pack: `<name>_ct` of CT where there is one, else `<name>`."""
    ct = f"{name}_ct"
    return ct if is_ct(pack) and ct in _names() else name


def is_ct(pack: str) -> bool:
    """Whether a pack reads CT: its name ends so."""
    return pack.endswith("_ct")


@lru_cache
def _names() -> frozenset[str]:
    folder = files("rrgmetrics.judges.protocols") / "prompts"
    return frozenset(file.name.removesuffix(".txt") for file in folder.iterdir())


def fill(name: str, **fields: str) -> str:
    """The template with its fields; anything else in braces stays as it is."""
    return FIELD.sub(lambda match: fields.get(match[1], match[0]), template(name))


def digits(*names: str) -> str:
    """The first eight digits of the checksum of templates, for signatures."""
    return hashlib.sha256("\0".join(map(template, names)).encode()).hexdigest()[:8]
