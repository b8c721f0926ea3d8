"""A report as entities and relations, the shape that RadGraph (Jain et al. 2021) gave it.

An entity is a word of the report with a label, a relation leads from one entity to another. `build_graph` makes such a
graph of a reading; `Graph.as_json` and `Graph.from_json` know the form in which RadGraph is published, so that graphs
from anywhere can be read.

As in RadGraph, entities are the words as they stand in the report, mostly one word each: "small left pleural effusion"
is `small` (OBS-DP, modify `effusion`), `left` (ANAT-DP, modify `pleural`), `pleural` (ANAT-DP) and `effusion` (OBS-DP,
located_at `pleural`). What is normal stands there too: "the lungs are clear" is `lungs` and `clear` (OBS-DP, located_at
`lungs`), and what is denied keeps its words (`effusion`, OBS-DA). Verbs, articles, negations, hedges, views and dates
are none. Words joined by a hyphen, sizes and ranges of severity are one entity ("2 . 5 cm", "mild to moderate").

Which words are entities: `rrgmetrics.labels.graph_words`; their relations: `rrgmetrics.labels.graph_arrows`.
"""

from __future__ import annotations

import bisect
import re
from typing import Any, NamedTuple

from rrgmetrics.errors import InputError
from rrgmetrics.labels.graph_arrows import entities_of, relate
from rrgmetrics.labels.graph_words import clause_of
from rrgmetrics.reading.lexicon import Lexicon, lexicon_of
from rrgmetrics.reading.model import Reading
from rrgmetrics.reading.parsed import Parsed, read_sentences
from rrgmetrics.reading.typing_errors import tokenize_report
from rrgmetrics.reports.cleaning import clean

WORD = re.compile(r"\w+|[^\w\s]")


class Relation(NamedTuple):
    """An arrow to another entity: `modify`, `located_at` or `suggestive_of`, and the index of that entity."""

    kind: str
    entity: int


class Entity(NamedTuple):
    """A few words of a report and what they are.

    Attributes:
        tokens: The words, joined by spaces.
        label: RadGraph's `ANAT-DP`, `OBS-DP`, `OBS-U`, `OBS-DA`, or RadGraph-XL's longer names.
        start: Index of its first word among the words of the report.
        end: Index of its last word.
        relations: Arrows that leave it.
    """

    tokens: str
    label: str
    start: int
    end: int
    relations: tuple[Relation, ...] = ()


class Graph(NamedTuple):
    """The words of a report, joined by spaces, and its entities in their order."""

    text: str
    entities: tuple[Entity, ...]

    def as_json(self) -> dict[str, object]:
        """The graph as RadGraph publishes it; entities are numbered from "1"."""
        return {
            "text": self.text,
            "entities": {
                str(number): {
                    "tokens": entity.tokens,
                    "label": entity.label,
                    "start_ix": entity.start,
                    "end_ix": entity.end,
                    "relations": [[kind, str(index + 1)] for kind, index in entity.relations],
                }
                for number, entity in enumerate(self.entities, 1)
            },
        }

    @classmethod
    def from_json(cls, graph: Any, where: str = "graph") -> Graph:
        """The inverse of `as_json`; raises InputError, which names `where`, for anything else."""
        try:
            numbers = {number: index for index, number in enumerate(graph["entities"])}
            entities = tuple(
                Entity(
                    _word(entity["tokens"]),
                    _word(entity["label"]),
                    int(entity["start_ix"]),
                    int(entity["end_ix"]),
                    tuple(Relation(_word(kind), numbers[number]) for kind, number in entity["relations"]),
                )
                for entity in graph["entities"].values()
            )
            return cls(_word(graph["text"]), entities)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{where} is not a graph as RadGraph publishes them ({type(error).__name__}: {error}); expected "
                '{"text": ..., "entities": {"1": {"tokens", "label", "start_ix", "end_ix", "relations"}}}.'
            ) from error


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value


def build_graph(reading: Reading) -> Graph:
    """The graph of a reading.

    Args:
        reading: From `rrgmetrics.reading.read`.

    Returns:
        Graph: The entities in the order of the text. Sections without observations (indication, comparison, technique)
        give none, nor do sentences about people. A report in which nothing is found gives a graph without entities.

    Example:
        >>> from rrgmetrics.reading import read
        >>> graph = build_graph(read("Small left effusion. No edema."))
        >>> [(entity.tokens, entity.label) for entity in graph.entities]
        [('Small', 'OBS-DP'), ('left', 'ANAT-DP'), ('effusion', 'OBS-DP'), ('edema', 'OBS-DA')]
        >>> graph.entities[2].relations
        (Relation(kind='located_at', entity=1),)
    """
    return build_graph_of_text(reading.text, lexicon_of(reading))


def build_graph_of_text(report: str, lexicon: Lexicon) -> Graph:
    """Returns the graph of a report that nothing else reads; `build_graph` of its reading is the same."""
    text = clean(report).text
    words = [match.span() for match in WORD.finditer(text)]
    starts = [start for start, _ in words]
    written = [text[start:end] for start, end in words]
    tokens = tokenize_report(text, lexicon)
    entities: list[Entity] = []
    for sentence, parsed in read_sentences(text, tokens, lexicon):
        before, offset = len(entities), tokens[sentence.first].start
        for node in parsed.once(_nodes):
            first = bisect.bisect_right(starts, offset + node.start) - 1
            last = bisect.bisect_left(starts, offset + node.end) - 1
            relations = tuple([Relation(kind, before + to) for kind, to in node.arrows])
            entities.append(Entity(" ".join(written[first : last + 1]), node.label, first, last, relations))
    return Graph(" ".join(written), tuple(entities))


class _Node(NamedTuple):
    """An entity of a sentence by itself: its characters, its label, and the nodes its arrows lead to."""

    start: int
    end: int
    label: str
    arrows: list[tuple[str, int]]


def _nodes(parsed: Parsed) -> list[_Node]:
    clause = clause_of(parsed)
    relate(clause)
    nodes = entities_of(clause)
    index = {id(node): i for i, node in enumerate(nodes)}
    tokens, start = parsed.tokens, parsed.start
    return [
        _Node(
            tokens[node.first].start - start,
            tokens[node.last - 1].end - start,
            node.label,
            [(kind, index[id(to)]) for kind, to in node.arrows.values()],
        )
        for node in nodes
    ]
