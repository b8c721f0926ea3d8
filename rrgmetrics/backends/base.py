"""A backend annotates texts, or pairs of them, for scorers.

Scorers whose backends have the same key share what was read. A composed backend makes its annotations of those of its
parts, so that a text that many metrics read is read once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from rrgmetrics.reports import Pair, distinct_texts

AnyBackend = TypeVar("AnyBackend")


class Backend(Protocol):
    """Reads texts. Two scorers whose backends have the same key share the annotations."""

    @property
    def key(self) -> str:
        """The identity of the backend: its annotation of a text depends on nothing else."""

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts that the signature must name: model, revision, checksum, library version."""

    def annotate(self, texts: Sequence[str]) -> Sequence[Any]:
        """Returns one annotation for each text, in order. `texts` are distinct."""


@runtime_checkable
class PairBackend(Protocol):
    """Reads a reference and a candidate together; `pair_stats` then gets annotations by `Pair` instead of by text."""

    @property
    def key(self) -> str:
        """The identity of the backend: its annotation of a pair depends on nothing else."""

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts that the signature must name: model, revision, checksum, library version."""

    def annotate_pairs(self, pairs: Sequence[Pair]) -> Sequence[Any]:
        """Returns one annotation for each pair, in order. `pairs` are distinct."""


@runtime_checkable
class Composed(Backend, Protocol):
    """A backend that makes its annotations from those of its parts, each of which reads a text once for all metrics."""

    @property
    def parts(self) -> Mapping[str, Backend]:
        """The backends that read the texts, by name."""

    def compose(self, readings: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
        """Returns one annotation for each text, made from each part's annotation of it, by the part's name."""


@runtime_checkable
class ComposedPairs(PairBackend, Protocol):
    """A composed backend of pairs: the parts read the texts or the pairs, each distinct one once for all metrics."""

    @property
    def parts(self) -> Mapping[str, Backend | PairBackend]:
        """The backends that read the texts or the pairs, by name."""

    def compose_pairs(self, pairs: Sequence[Pair], readings: Mapping[str, Mapping[Any, Any]]) -> Sequence[Any]:
        """Returns one annotation for each pair, in order, from those of each part by text or pair, by its name."""


@runtime_checkable
class SupportsLookahead(PairBackend, Protocol):
    """A backend that waits for replies: with many pairs at hand, one slow reply does not hold up the next block."""

    @property
    def lookahead(self) -> int:
        """The number of pairs that the backend prefers to be given at a time."""


@runtime_checkable
class SupportsPacks(Protocol):
    """A backend that reads with a pack of the reader's lexicon, or asks about reports of its kind."""

    def for_pack(self, pack: str) -> Self:
        """Returns the same backend for another pack; its key is another one."""


def for_pack(backend: AnyBackend, pack: str) -> AnyBackend:
    """Returns a backend that reads with a pack, where it reads with one at all."""
    return backend.for_pack(pack) if isinstance(backend, SupportsPacks) else backend


def read_parts(backend: Composed, texts: Sequence[str]) -> Sequence[Any]:
    """Annotates texts with a composed backend whose parts are shared with no other backend."""
    readings: list[dict[str, Any]] = [{} for _ in texts]
    for name, part in backend.parts.items():
        for reading, annotation in zip(readings, part.annotate(texts), strict=True):
            reading[name] = annotation
    return backend.compose(readings)


def read_pair_parts(backend: ComposedPairs, pairs: Sequence[Pair]) -> Sequence[Any]:
    """Annotates pairs with a composed backend whose parts are shared with no other backend."""
    texts = distinct_texts(pairs)
    readings: dict[str, dict[Any, Any]] = {
        name: dict(zip(pairs, part.annotate_pairs(pairs), strict=True))
        if isinstance(part, PairBackend)
        else dict(zip(texts, part.annotate(texts), strict=True))
        for name, part in backend.parts.items()
    }
    return backend.compose_pairs(pairs, readings)
