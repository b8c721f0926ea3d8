"""What is verified of the published checkpoints: by a public page, by their authors' code only, or by neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

Basis = Literal["page", "code", "unverified"]
BASES: Mapping[Basis, str] = {
    "page": "shown on a public page",
    "code": "according to the authors' code only",
    "unverified": "unverified",
}
PROPERTIES = ("files", "sizes", "revision", "checksums", "config", "tokenizer", "weights", "use", "licence")


@dataclass(frozen=True)
class Verified:
    """What is verified of a checkpoint; each of `PROPERTIES` is in one of the three mappings.

    Attributes:
        checkpoint: The repository, with the file where it is one.
        source: Address of the public page; "" if none was read.
        files: Names that the page lists.
        page: What a public page shows, by property.
        code: What the authors' code says, by property.
        unverified: What is assumed, by property; "" where nothing is.
    """

    checkpoint: str
    source: str = ""
    files: Sequence[str] = ()
    page: Mapping[str, str] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)
    unverified: Mapping[str, str] = field(default_factory=dict)

    def of(self, basis: Basis) -> Mapping[str, str]:
        """Returns the properties that are verified in one way, in the order of `PROPERTIES`."""
        known: Mapping[str, str] = getattr(self, basis)
        return {name: known[name] for name in PROPERTIES if name in known}

    def basis(self, name: str) -> Basis:
        """Returns how a property is verified."""
        return next(basis for basis in BASES if name in self.of(basis))

    @property
    def sentence(self) -> str:
        """All properties by how they are verified, in one sentence.

        Example:
            >>> print(Verified("a/b", page={"files": "one"}, code={"config": "bert"}).sentence)
            a/b: files (shown on a public page); config (according to the authors' code only).
        """
        parts = [f"{', '.join(self.of(basis))} ({words})" for basis, words in BASES.items() if self.of(basis)]
        return f"{self.checkpoint}: {'; '.join(parts)}."


@lru_cache(maxsize=1)
def verified() -> Mapping[str, Verified]:
    """Reads `verified.yaml`, by checkpoint."""
    import yaml

    rows = yaml.safe_load((Path(__file__).parent / "verified.yaml").read_text(encoding="utf-8"))
    return {row["checkpoint"]: Verified(**row) for row in rows}
