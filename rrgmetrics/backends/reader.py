"""The reader as a backend, which every metric that reads findings shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rrgmetrics.labels.graph import Graph, build_graph, build_graph_of_text
from rrgmetrics.reading import Reader, Reading, read
from rrgmetrics.reading.lexicon import AUTO, DEFAULT_PACK, checksum, key_in_use
from rrgmetrics.reading.scope import pack_for

MOST = 20_000  # readings, some 10 kB each


class Readings:
    """Readings by text and pack, each made once: what is shown of a score needs no text to be read again.

    Pass one to `Metrics.keeping`, which fills it while it scores, and to what shows the scores. It holds `MOST` of
    them; what does not fit in is read when it is asked for.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Reading] = {}

    def keep(self, annotations: Iterable[Any]) -> None:
        """Keeps those annotations that are readings."""
        for each in annotations:
            if isinstance(each, Reading) and len(self._kept) < MOST:
                self._kept.setdefault((each.text, each.pack), each)

    def recall(self, pack: str, texts: Iterable[str]) -> dict[str, Reading]:
        """Returns those of the texts that are kept as read with a pack."""
        return {text: self._kept[text, pack] for text in texts if (text, pack) in self._kept}

    def read(self, text: str, pack: str = AUTO) -> Reading:
        """Returns the reading of a text with a pack; AUTO: with that of its kind of report."""
        if pack == AUTO:
            reading = self.read(text, DEFAULT_PACK)
            pack = pack_for(reading.scope)
            return reading if pack == DEFAULT_PACK else self.read(text, pack)
        if (text, pack) not in self._kept:
            reading = read(text, pack)
            self.keep((reading,))
            return reading
        return self._kept[text, pack]


@dataclass(frozen=True)
class ReaderBackend:
    """A backend that annotates texts with their readings, with the user's folder in use.

    Attributes:
        pack: What it reads with.
        tables: Checksums, by their name in the signature, of further tables that a metric reads findings with.
    """

    pack: str = DEFAULT_PACK
    tables: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The identity: what was read with another pack, or another lexicon, is something else."""
        pack, folder = key_in_use(self.pack)
        return f"reader:{pack}:{folder}"

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the checksums of the lexicon and of the tables."""
        checksums = {"lexicon_sha256": checksum(key=key_in_use(self.pack)), **self.tables}
        return {name: digest[:8] for name, digest in checksums.items()}

    def for_pack(self, pack: str) -> ReaderBackend:
        """Returns the backend that reads with another pack."""
        return replace(self, pack=pack)

    def annotate(self, texts: Sequence[str]) -> list[Reading]:
        """Reads each text."""
        return list(map(Reader(self.pack).read, texts))


def reader_backend(**tables: str) -> ReaderBackend:
    """Returns the backend that annotates texts with their readings.

    Args:
        tables: As in `ReaderBackend`.

    Example:
        >>> reader_backend(labels_sha256="0123456789").facts["labels_sha256"]
        '01234567'
    """
    return ReaderBackend(tables=tables)


@dataclass(frozen=True)
class ReaderGraphs:
    """A `Composed` backend: graphs, each made once of the reading that all metrics share.

    Attributes:
        reader: Gives the readings.
    """

    reader: ReaderBackend

    @property
    def key(self) -> str:
        """The identity: the reader's, with what is made of it."""
        return f"{self.reader.key}:graph"

    @property
    def facts(self) -> Mapping[str, str]:
        """The reader's."""
        return self.reader.facts

    def for_pack(self, pack: str) -> ReaderGraphs:
        """Returns the backend that reads with another pack."""
        return ReaderGraphs(self.reader.for_pack(pack))

    @property
    def parts(self) -> Mapping[str, ReaderBackend]:
        """The reader."""
        return {"reader": self.reader}

    def compose(self, readings: Sequence[Mapping[str, Reading]]) -> list[Graph]:
        """Returns the graphs of readings."""
        return [build_graph(parts["reader"]) for parts in readings]

    def annotate(self, texts: Sequence[str]) -> Sequence[Graph]:
        """Returns the graphs of texts that no other backend reads. A graph needs no findings, so none are read."""
        lexicon = Reader(self.reader.pack).lexicon
        return [build_graph_of_text(text, lexicon) for text in texts]
