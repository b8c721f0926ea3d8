"""The reader's graph beside the graphs that RadGraph's guidelines give (graphs.yaml), and what holds of every graph."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from rrgmetrics.reader import read
from rrgmetrics.reader.graph import Graph, build_graph

LABELS = {"anatomy": "ANAT-DP", "present": "OBS-DP", "uncertain": "OBS-U", "absent": "OBS-DA"}
ROWS = yaml.safe_load((Path(__file__).parent / "graphs.yaml").read_text(encoding="utf-8"))


class Parts(NamedTuple):
    """(words, label) of the entities; (words, relation, words) of the relations."""

    entities: set[tuple[str, str]]
    relations: set[tuple[str, str, str]]


def expected(row: dict[str, str]) -> Parts:
    """What a row of the table says."""
    entities, relations = set(), set()
    for words, said in row.items():
        label, _, arrows = said.partition(" ")
        entities.add((words, LABELS[label]))
        for arrow in filter(None, arrows.split("; ")):
            kind, _, to = arrow.partition(" ")
            relations.add((words, kind, to))
    assert {to for _, _, to in relations} <= set(row), row
    return Parts(entities, relations)


def found(graph: Graph) -> Parts:
    """The same of a graph."""
    words = [entity.tokens.lower() for entity in graph.entities]
    entities = {(word, entity.label) for word, entity in zip(words, graph.entities, strict=True)}
    arrows = (
        (word, to.kind, words[to.entity]) for word, e in zip(words, graph.entities, strict=True) for to in e.relations
    )
    return Parts(entities, set(arrows))


def f1(counts: Counter[str], kind: str) -> float:
    """F1 of all sentences together."""
    return 2 * counts[f"{kind} right"] / (counts[f"{kind} found"] + counts[f"{kind} expected"])


def measure(show: bool = False) -> Counter[str]:
    """How many entities and relations of the table are found, expected, and right."""
    counts: Counter[str] = Counter()
    for row in ROWS:
        right, ours = expected(row["graph"]), found(build_graph(read(row["report"])))
        for kind, a, b in zip(Parts._fields, right, ours, strict=True):
            counts.update({f"{kind} right": len(a & b), f"{kind} found": len(b), f"{kind} expected": len(a)})
            if show and a != b:
                print(row["report"], "| missing", sorted(a - b), "| extra", sorted(b - a))
    return counts


if __name__ == "__main__":
    import sys

    c = measure("-v" in sys.argv)
    print({k: round(f1(c, k), 3) for k in Parts._fields}, dict(c))
