"""The phrases of generated reports and edits, as YAML files."""

from __future__ import annotations

from hashlib import sha256
from importlib import resources
from typing import Any


def load_phrases(name: str) -> Any:
    """Returns one file of this folder as plain dictionaries and lists."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(_content(name), Loader=loader)


def phrases_sha256(name: str) -> str:
    """Returns the checksum of one file of this folder."""
    return sha256(_content(name)).hexdigest()


def _content(name: str) -> bytes:
    return resources.files(__package__).joinpath(f"{name}.yaml").read_bytes()
