"""The reader as a backend, which every metric that reads findings shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rrgmetrics.backends.base import read_parts
from rrgmetrics.backends.tokens import TextFunction
from rrgmetrics.reader import Reading, read
from rrgmetrics.reader.graph import Graph, build_graph
from rrgmetrics.reader.lexicon import checksum, folder_in_use


def reader_backend(**tables: str) -> TextFunction:
    """Returns the backend that annotates texts with their readings.

    Args:
        tables: Checksums, by their name in the signature, of further tables that a metric reads findings with.

    Example:
        >>> reader_backend(labels_sha256="0123456789").facts["labels_sha256"]
        '01234567'
    """
    checksums = {"lexicon_sha256": checksum(), **tables}
    key = "reader" + folder_in_use()  # what was read with another lexicon is something else
    return TextFunction(key, read, {name: digest[:8] for name, digest in checksums.items()})


@dataclass(frozen=True)
class ReaderGraphs:
    """A `Composed` backend: graphs, each made once of the reading that all metrics share.

    Attributes:
        reader: Gives the readings.
    """

    reader: TextFunction

    @property
    def key(self) -> str:
        """The identity: the reader's, with what is made of it."""
        return f"{self.reader.key}:graph"

    @property
    def facts(self) -> Mapping[str, str]:
        """The reader's."""
        return self.reader.facts

    @property
    def parts(self) -> Mapping[str, TextFunction]:
        """The reader."""
        return {"reader": self.reader}

    def compose(self, readings: Sequence[Mapping[str, Reading]]) -> list[Graph]:
        """Returns the graphs of readings."""
        return [build_graph(parts["reader"]) for parts in readings]

    def annotate(self, texts: Sequence[str]) -> Sequence[Graph]:
        """Returns the graphs of texts that no other backend reads."""
        return read_parts(self, texts)
