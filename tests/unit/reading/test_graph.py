"""The reader's graph beside the graphs that RadGraph's guidelines give (graphs.yaml), and what holds of every graph."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rrgmetrics.labels.graph import Graph, build_graph
from rrgmetrics.reading import read

LABELS = {"anatomy": "ANAT-DP", "present": "OBS-DP", "uncertain": "OBS-U", "absent": "OBS-DA"}
ROWS = yaml.safe_load((Path(__file__).parent / "graphs.yaml").read_text(encoding="utf-8"))
FLOORS = {"entities": 0.99, "relations": 0.98}  # F1; before the graph was one of words: 0.15 and 0.09 (first 81 rows)


class Parts(NamedTuple):
    """(words, label) of the entities; (words, relation, words) of the relations."""

    entities: set[tuple[str, ...]]
    relations: set[tuple[str, ...]]


def expected(row: dict[str, str]) -> Parts:
    """What a row of the table says."""
    entities: set[tuple[str, ...]] = set()
    relations: set[tuple[str, ...]] = set()
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
    pairs = list(zip(words, graph.entities, strict=True))
    arrows = {(word, to.kind, words[to.entity]) for word, entity in pairs for to in entity.relations}
    return Parts({(word, entity.label) for word, entity in pairs}, set(arrows))


@pytest.mark.parametrize("kind", Parts._fields)
def test_the_table(kind: str) -> None:
    """F1 of all sentences together, and every sentence with most of its graph."""
    counts: Counter[str] = Counter()
    poor = {}
    for row in ROWS:
        right, ours = (
            getattr(parts, kind) for parts in (expected(row["graph"]), found(build_graph(read(row["report"]))))
        )
        counts.update(right=len(right & ours), all=len(right) + len(ours))
        if len(right ^ ours) > 3:
            poor[row["report"]] = right ^ ours
    assert poor == {}
    assert 2 * counts["right"] / counts["all"] >= FLOORS[kind]


def test_the_table_is_large_enough() -> None:
    assert len(ROWS) >= 120
    assert len({row["report"] for row in ROWS}) == len(ROWS)


@given(st.lists(st.sampled_from([row["report"] for row in ROWS]), max_size=4), st.text(max_size=20))
def test_every_graph_is_of_one_piece(reports: list[str], text: str) -> None:
    """Entities are words of the report in their order, and arrows lead from entity to entity, none to itself."""
    graph = build_graph(read(" ".join([*reports, text])))
    words = graph.text.split(" ")
    assert list(graph.entities) == sorted(graph.entities, key=lambda entity: entity.start)
    for i, entity in enumerate(graph.entities):
        assert entity.tokens == " ".join(words[entity.start : entity.end + 1])
        assert entity.label in LABELS.values()
        for kind, to in entity.relations:
            assert kind in ("modify", "located_at", "suggestive_of")
            assert to != i
            assert to in range(len(graph.entities))


@pytest.mark.parametrize("joint", [" ", "\n", "\n\n"])
def test_a_sentence_has_the_same_graph_in_a_report(joint: str) -> None:
    first, second = "Small left effusion.", "The heart is enlarged."
    alone = [found(build_graph(read(text))) for text in (first, second)]
    together = found(build_graph(read(first + joint + second)))
    assert together == Parts(alone[0].entities | alone[1].entities, alone[0].relations | alone[1].relations)


def test_sections_without_observations_give_none() -> None:
    report = "INDICATION: cough, fever\nTECHNIQUE: PA and lateral views\nCOMPARISON: none\nFINDINGS: Clear lungs."
    assert [entity.tokens for entity in build_graph(read(report)).entities] == ["Clear", "lungs"]
