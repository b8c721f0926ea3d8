"""Graphs in a file, in the JSON in which RadGraph is published: recorded from a backend, or given instead of one.

A file is one object: a key of any kind → `{"text", "entities", "data_source"}`. A report is found by its words: as they
stand, or as one of the RadGraph models or the reader would cut them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rrgmetrics.backends.radgraph.words import WORDS
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.labels.graph import WORD, Graph

FIRST, BETWEEN, LAST = b"{\n", b",\n", b"\n}\n"


@dataclass(frozen=True)
class GraphFile:
    """A backend that takes the graphs of texts from a file.

    Attributes:
        path: The file.
        sha256: Of its bytes; "" if there is none yet.
        graphs: By text.
        sources: What made the graphs, as far as the file says.
    """

    path: Path
    sha256: str
    graphs: Mapping[str, Graph]
    sources: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> GraphFile:
        """Reads a file; raises InputError for anything but graphs, or two different ones of one text."""
        path = path.expanduser()
        try:
            content = path.read_bytes()
            stored = json.loads(content)
        except (OSError, ValueError) as error:
            raise InputError(f"{path} cannot be read as graphs: {error}") from error
        if not isinstance(stored, Mapping) or not stored:
            raise InputError(f'{path} contains no graphs; expected {{"0": {{"text": ..., "entities": ...}}, ...}}.')
        graphs: dict[str, Graph] = {}
        for key, value in stored.items():
            graph = Graph.from_json(value, f"{path}, {key!r}")
            if graphs.setdefault(graph.text, graph) != graph:
                raise InputError(f"{path}, {key!r} is a second, different graph of the same text; keep one of them.")
        sources = {str(value["data_source"]) for value in stored.values() if value.get("data_source")}
        return cls(path, hashlib.sha256(content).hexdigest(), graphs, tuple(sorted(sources)))

    @property
    def key(self) -> str:
        """The identity: the file's content."""
        return f"graphs:{self.sha256}"

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the file's content and the model that made it."""
        recorded = {"recorded_from": "+".join(self.sources)} if self.sources else {}
        return {"graphs": f"{self.path.name}@sha256:{self.sha256[:8]}"} | recorded

    def annotate(self, texts: Sequence[str]) -> list[Graph | None]:
        """Returns the graph of each text, or None where the file has none, which leaves the pair unscored.

        Raises:
            BackendError: The file has no graph of any of the texts.
        """
        graphs = [self.find(text) for text in texts]
        if texts and all(graph is None for graph in graphs):
            raise BackendError(
                f"{self.path} has no graph of any of these reports; the first of them begins with {texts[0][:40]!r}."
            )
        return graphs

    def find(self, text: str) -> Graph | None:
        """Returns the graph of a text; for a text without words one without entities."""
        if not text.strip():
            return Graph("", ())
        return next((self.graphs[form] for form in _forms(text) if form in self.graphs), None)


def _forms(text: str) -> Iterator[str]:
    """A report's words, joined by spaces, as each of the tokenizers cuts them."""
    yield text
    yield " ".join(text.split())
    yield from (" ".join(cut(text)) for cut in WORDS.values())
    yield " ".join(WORD.findall(text))


@dataclass
class Recording:
    """A backend that also writes the graphs of another to a file, and asks it for no graph that the file has.

    Attributes:
        backend: Makes the graphs.
        file: What has been recorded.
    """

    backend: Any
    file: GraphFile

    @classmethod
    def to(cls, path: Path, backend: Any) -> Recording:
        """Records into a new file, or goes on with one that this backend wrote.

        Raises:
            InputError: The file holds graphs from elsewhere, or its folder does not exist.
        """
        path = path.expanduser()
        if not path.exists():
            if not path.parent.is_dir():
                raise InputError(f"{path} cannot be written: there is no folder {path.parent}.")
            return cls(backend, GraphFile(path, "", {}, ()))
        file = GraphFile.read(path)
        if file.sources != (source(backend),):
            raise InputError(
                f"{path} contains graphs from {' and '.join(file.sources) or 'elsewhere'}, not from "
                f"{source(backend)}; name another file."
            )
        return cls(backend, file)

    @property
    def key(self) -> str:
        """The identity: the backend and the file."""
        return f"{self.backend.key}:{self.file.path}"

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts of the recorded backend."""
        facts: Mapping[str, str] = self.backend.facts
        return facts

    def annotate(self, texts: Sequence[str]) -> list[Graph]:
        """Returns the graph of each text, which is written to the file first."""
        known = {text: self.file.find(text) for text in texts}
        unknown = [text for text, graph in known.items() if graph is None]
        new = dict(zip(unknown, self.backend.annotate(unknown) if unknown else (), strict=True))
        graphs = dict(self.file.graphs)
        added = {graph.text: graph for graph in new.values() if graph.text and graph.text not in graphs}
        _append(self.file.path, added.values(), len(graphs), source(self.backend))
        self.file = GraphFile(self.file.path, self.file.sha256, graphs | added, self.file.sources)
        return [known[text] or new[text] for text in texts]


def source(backend: Any) -> str:
    """Returns what made a graph, for the field `data_source`."""
    return "|".join(f"{key}:{value}" for key, value in backend.facts.items())


def _append(path: Path, graphs: Any, n_before: int, made_by: str) -> None:
    """Adds graphs to a file, which is whole JSON before and after."""
    rows = [
        f"{json.dumps(str(n_before + i))}: {json.dumps(graph.as_json() | {'data_source': made_by})}".encode()
        for i, graph in enumerate(graphs)
    ]
    if not rows:
        return
    if not path.exists():
        path.write_bytes(FIRST + LAST)
    with path.open("r+b") as file:
        file.seek(-len(LAST), 2)
        file.write((BETWEEN if n_before else b"") + BETWEEN.join(rows) + LAST)
