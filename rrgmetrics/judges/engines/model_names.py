"""Whether the model that an answer names is the one that was asked.

Servers name a model in several ways. The following are the same model: another case (`Llama-3` and `llama-3`), a name
with and without its owner, a path of a file or of the Hub's cache, the packing of weights in a GGUF file, the tag
`:latest`, and a version by date or number where the other name has none (`gpt-4o` and `gpt-4o-2024-08-06`). Two
owners, two versions, and whatever else follows a name make two models: `gpt-4o` and `gpt-4o-mini`.

An alias that a server gives cannot be known; whoever uses one says what the server calls itself (`answers_as`). And a
server may call itself anything: this finds mistakes and fallbacks of gateways, and no fraud.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_IN_CACHE = re.compile(r"(?:^|[/\\])models--([^/\\]+)--([^/\\]+)(?:[/\\]|$)")  # the Hub's cache: owner and name
_FILE = re.compile(r"\.(?:gguf|safetensors|bin)$")
_PACKING = re.compile(r"[-_.](?:i?q\d\w*|b?f16|f32|mxfp4\w*)$")  # of a GGUF file
_VERSION = re.compile(  # a date, its month and day or year and month, or three digits
    r"[-@:](latest|(?:(?:preview|exp)-)?(?:\d{4}-\d\d-\d\d|\d{8}|\d\d-\d\d|\d{3,4}))$"
)


class _Name(NamedTuple):
    owner: str
    base: str
    version: str


def is_same_model(asked: str, answered: str) -> bool:
    """Whether both names are of one model.

    Example:
        >>> is_same_model("gpt-4o", "gpt-4o-2024-08-06"), is_same_model("gpt-4o", "gpt-4o-mini")
        (True, False)
        >>> is_same_model("org/Model-7B", "/models/model-7b.Q4_K_M.gguf")
        True
    """
    if asked == answered:
        return True
    first, second = _parse(asked), _parse(answered)
    return first.base == second.base and all(
        not one or not other or one == other for one, other in zip(first[::2], second[::2], strict=True)
    )


def _parse(text: str) -> _Name:
    """The parts of a name; "" for an owner or a version that it does not state."""
    name = text.strip().casefold()
    if found := _IN_CACHE.search(name):
        owner, name = found.groups()
    else:
        *folders, name = re.split(r"[/\\]", name)
        owner = folders[0] if len(folders) == 1 and folders[0] not in ("", ".", "models") else ""
    if file := _FILE.search(name):
        name = _PACKING.sub("", name[: file.start()])
    version = ""
    if found := _VERSION.search(name):
        name, version = name[: found.start()], found[1].replace("latest", "")
    return _Name(owner, name, version)
