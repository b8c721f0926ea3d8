"""RadGraph F1 (Delbrouck et al. 2022, Findings of EMNLP) and the RadGraph score of RadCliQ (Yu et al. 2023, Patterns).

Two reports become graphs of entities e (tokens, label) with relations r(e, e'). Of each graph a set V is made, and
F1 = 2 |V ∩ V̂| / (|V| + |V̂|):

- simple (RG_E): (tokens, label) of every entity;
- partial (RG_ER, what papers report): the same, with a mark on the entities from which a relation leaves;
- complete (RG_ER-bar): (tokens, label) of an entity without a relation, else (tokens, label, relation, tokens of e')
  for each of its relations;
- RadCliQ: the mean of the simple F1 and the F1 of the relations ((tokens, label), (tokens, label)', relation).

Sets, so what is said twice counts once. An empty report and a graph without entities score 0, also against another.

Configurations: `default` the reader's graph of the report's words (`rrgmetrics.labels.graph`); `paper` RadGraph-XL and
`radgraph` RadGraph, the authors' weights on our batched inference; a folder, an archive or a Hub id of such weights;
`package` the authors' package (`package:radgraph`, `package:<folder>`); `graphs:FILE` graphs from a file, as
`record=FILE` writes them.

Differs from the authors: `lowercase` says whether case counts. The package's 0.1.18, like RadEval, compares words as
written (`lowercase=no`: "Effusion" is not "effusion", but for the words of relations in `complete`); their repository
ignores case since May 2026, which is the default here. RadCliQ's own code compares as written, and has its model read
the word "None" for an empty report, which here has no entities. EchoGraph's own words, which a slip keeps the package
from, are used.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rrgmetrics.backends.base import Backend
from rrgmetrics.backends.bert import pick_device
from rrgmetrics.backends.radgraph import load_backend
from rrgmetrics.backends.radgraph.files import GraphFile, Recording
from rrgmetrics.backends.radgraph.package import load_package
from rrgmetrics.backends.reader import ReaderGraphs, reader_backend
from rrgmetrics.labels.graph import Entity, Graph
from rrgmetrics.reading.lexicon import checksum
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array, Mean, Runtime, of_pairs
from rrgmetrics.specs import keys_of

GRAPH = "words@1"  # how the bundled graph is made, for the signature
MODELS = {"paper": "radgraph-xl", "radgraph": "radgraph"}  # the authors name no revision


class GraphScores(NamedTuple):
    """The F1 between two graphs, 0 to 1, higher is better; `radcliq` is the mean of `simple` and `relation`."""

    simple: float
    partial: float
    complete: float
    relation: float

    @property
    def radcliq(self) -> float:
        """The RadGraph score inside RadCliQ; 0.5 for equal graphs without a relation, as the authors have it."""
        return (self.simple + self.relation) / 2


KEYS = keys_of("radgraph_f1")


@dataclass(frozen=True)
class RadgraphF1:
    """RadGraph F1 with the options of the spec."""

    config: str = "default"
    lowercase: bool = True
    record: str = ""
    explain: bool = False

    @property
    def reduction(self) -> Mean:
        """The means over pairs."""
        return Mean(KEYS)

    def backend(self, runtime: Runtime) -> Backend:
        """The backend of the graphs; by default the reader, whose readings other metrics share."""
        graphs = self._graphs(runtime)
        return Recording.to(Path(self.record), graphs) if self.record else graphs

    def _graphs(self, runtime: Runtime) -> Backend:
        kind, _, where = self.config.partition(":")
        if self.config == "default":  # the signature names how its graphs are made, and of which words
            return ReaderGraphs(reader_backend(graph=GRAPH, graph_sha256=checksum("graph")))
        if kind == "graphs":
            return GraphFile.read(Path(where or "."))  # "." is named as what it is, a folder
        if kind == "package":
            return load_package(where or MODELS["paper"], device=pick_device(runtime.device))
        name = MODELS.get(self.config, self.config)
        return load_backend(name, device=runtime.device, batch_size=runtime.batch_size)

    def pair_stats(
        self,
        pairs: Sequence[Pair],
        annotations: Mapping[str, Graph | None],
        statistics: None = None,
    ) -> Array:
        """Scores `(n_pairs, 7)` in the order of `KEYS`; NaN where a graph is missing."""
        rows = [self._row(*both) for both in of_pairs(pairs, annotations)]
        return np.array(rows, dtype=np.float64).reshape(-1, len(KEYS))

    def details(self, pairs: Sequence[Pair], annotations: Mapping[str, Graph | None]) -> Mapping[str, Sequence[Any]]:
        """Returns, with `explain`, the entities and relations of both reports of each pair, and which of them match."""
        if not self.explain:
            return {}
        told = [_told(*both, lowercase=self.lowercase) for both in of_pairs(pairs, annotations)]
        return {"radgraph_f1_explained": told}

    def _row(self, reference: Graph | None, candidate: Graph | None) -> tuple[float, ...]:
        if reference is None or candidate is None:
            return (math.nan,) * len(KEYS)
        scores = compare_graphs(reference, candidate, lowercase=self.lowercase)
        return (scores.partial, *scores[:3], scores.radcliq, scores.simple, scores.relation)


def compare_graphs(reference: Graph, candidate: Graph, *, lowercase: bool = True) -> GraphScores:
    """Returns the four F1 of two graphs.

    Args:
        reference: Graph of the radiologist's report.
        candidate: Graph of the other report.
        lowercase: Whether "Effusion" and "effusion" are one word; False as radgraph 0.1.18 and RadEval have it.

    Example:
        >>> from rrgmetrics.reading import read
        >>> from rrgmetrics.labels.graph import build_graph
        >>> graphs = [build_graph(read(text)) for text in ("Small left effusion.", "Left effusion.")]
        >>> round(compare_graphs(*graphs).simple, 2)
        0.8
    """
    sets = zip(graph_sets(reference, lowercase), graph_sets(candidate, lowercase), strict=True)
    return GraphScores(*(_f1(ours, theirs) for ours, theirs in sets))


def _told(reference: Graph | None, candidate: Graph | None, *, lowercase: bool) -> dict[str, object] | None:
    """Both graphs as JSON has them, with whether the other report has each entity and relation."""
    if reference is None or candidate is None:
        return None
    sets = [graph_sets(graph, lowercase) for graph in (reference, candidate)]
    names = ("reference", "candidate")
    return {
        name: [_entity(entity, graph, other, lowercase) for entity in graph.entities]
        for name, graph, other in zip(names, (reference, candidate), reversed(sets), strict=True)
    }


def _entity(entity: Entity, graph: Graph, other: tuple[set[Hashable], ...], lowercase: bool) -> dict[str, object]:
    def name_of(each: Entity) -> tuple[str, str]:
        return (each.tokens.lower() if lowercase else each.tokens, each.label)

    simple, _, _, relations = other
    name = name_of(entity)
    return {
        "words": entity.tokens,
        "label": entity.label,
        "in_both": name in simple,
        "relations": [
            {
                "kind": kind,
                "to": graph.entities[place].tokens,
                "in_both": (name, name_of(graph.entities[place]), kind) in relations,
            }
            for kind, place in entity.relations
        ],
    }


def _f1(ours: set[Hashable], theirs: set[Hashable]) -> float:
    total = len(ours) + len(theirs)
    return 2 * len(ours & theirs) / total if total else 0.0


def graph_sets(graph: Graph, lowercase: bool) -> tuple[set[Hashable], ...]:
    """The sets of simple, partial, complete and of RadCliQ's relations."""
    named = [(entity.tokens.lower() if lowercase else entity.tokens, entity.label) for entity in graph.entities]
    simple: set[Hashable] = set(named)
    partial: set[Hashable] = set()
    complete: set[Hashable] = set()
    relations: set[Hashable] = set()
    for entity, name in zip(graph.entities, named, strict=True):
        partial.add((*name, True) if entity.relations else name)
        if not entity.relations:
            complete.add(name)
        for kind, place in entity.relations:
            relations.add((name, named[place], kind))
            complete.add((entity.tokens.lower(), entity.label, kind, graph.entities[place].tokens.lower()))
    return simple, partial, complete, relations
