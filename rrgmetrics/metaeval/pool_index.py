"""Indexes of a pool of reports: the report that a metric ranks best, without scoring the query against all of them.

An index reads each report of the pool once and keeps what the metric compares. For a query it gives every report's
bound, which no score exceeds, in one pass. The metric itself then scores the reports in the order of their bounds,
until no bound is above the best score. So what is found is what scoring all pairs finds, equal scores included; the
index only leaves out reports that cannot win.

| metric | what is kept of a report | bound |
|---|---|---|
| `bleu`, any order | its n-grams, a repeated one with the number of the repetition | the score |
| `radgraph_f1`, any key | the sets of entities and relations that the key compares | the score |
| `chexbert_f1` | its labels; equal rows of labels are kept once | the score without unread sentences |
| `semb_score` | its vector, in 32 bits | the cosine and the error of rounding |

The number of elements in common comes from postings, the list of the reports that hold each element. Clipped counts of
n-grams are such a number, too: the second "no" of a report is an element of its own.

Memory: 4 bytes for each element of each report (12 while the lists are made), and the distinct elements: of 100,000
generated reports of 39 words about 60 MB for BLEU-2 and 15 MB for the two sets of RadCliQ's RadGraph F1; 42 bytes a
report for labels, and 4 bytes for each number of a vector.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Hashable, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends import tokens
from rrgmetrics.scorers.base import Array, Scorer
from rrgmetrics.scorers.bleu import ORDER, Bleu
from rrgmetrics.scorers.chexbert_f1 import ChexbertF1, LabelTable
from rrgmetrics.scorers.radgraph_f1 import RadgraphF1, graph_sets
from rrgmetrics.scorers.semb_score import SembScore

ROUNDING = 2.0**-23  # of a 32-bit product, a dimension


class PoolIndex(Protocol):
    """What an index does."""

    @property
    def slack(self) -> float:
        """How far float arithmetic may leave a bound below the score."""

    def add(self, annotations: Sequence[Any]) -> None:
        """Adds reports, as the metric's backend annotates them."""

    def bounds(self, reference: Any) -> Array:
        """The bound of each report `(n_reports,)`; NaN where a report cannot be scored."""


class Postings:
    """The reports that hold each element, to count how many elements of a query each report holds."""

    def __init__(self) -> None:
        self._columns: dict[Hashable, int] = {}
        self._elements = array("i")
        self._sizes = array("i")

    def add(self, elements: Collection[Hashable]) -> None:
        """Adds a report by its elements, each once."""
        columns = self._columns
        self._elements.extend([columns.setdefault(element, len(columns)) for element in elements])
        self._sizes.append(len(elements))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of elements of each report; nothing can be added any more."""
        return np.array(self._sizes, dtype=np.int64)

    @cached_property
    def _lists(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The reports of all elements, one element after another, and where each begins."""
        from scipy.sparse import csr_matrix

        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        held = np.frombuffer(self._elements, dtype=np.intc) if len(self._elements) else np.zeros(0, np.intc)
        shape = len(self.sizes), len(self._columns)
        by_element = csr_matrix((np.ones(len(held), dtype=np.bool_), held, starts), shape=shape).tocsc()
        self._elements = array("i")
        return by_element.indices, by_element.indptr

    def shared(self, elements: Collection[Hashable]) -> NDArray[np.int64]:
        """How many of the elements each report holds `(n_reports,)`."""
        n_reports = len(self.sizes)
        reports, begins = self._lists
        known = [column for element in elements if (column := self._columns.get(element)) is not None]
        if not known:
            return np.zeros(n_reports, dtype=np.int64)
        lists = np.concatenate([reports[begins[column] : begins[column + 1]] for column in known])
        return np.bincount(lists, minlength=n_reports)


class BleuIndex:
    """BLEU of one order: exact but for the last digit, which depends on how many pairs are computed together."""

    slack = 1e-12

    def __init__(self, scorer: Bleu, key: str, order: int) -> None:
        self._reduction, self._key, self._order = scorer.reduction, key, order
        self._postings = [Postings() for _ in range(order)]
        self._lengths = array("i")

    def add(self, annotations: Sequence[tokens.Ngrams]) -> None:
        """Adds reports by their n-grams."""
        for ngrams in annotations:
            for postings, elements in zip(self._postings, self._elements(ngrams), strict=True):
                postings.add(elements)
            self._lengths.append(ngrams.length)

    def bounds(self, reference: tokens.Ngrams) -> Array:
        """The score of each report."""
        lengths = np.array(self._lengths, dtype=np.float64)
        stats = np.zeros((len(lengths), 2 * ORDER + 2))
        for order, (postings, elements) in enumerate(zip(self._postings, self._elements(reference), strict=True)):
            stats[:, order] = postings.shared(elements)
        for order in range(ORDER):
            stats[:, ORDER + order] = np.maximum(0, lengths - order)
        stats[:, -2], stats[:, -1] = lengths, reference.length
        return self._reduction.per_pair(stats)[self._key]

    def _elements(self, ngrams: tokens.Ngrams) -> list[list[Hashable]]:
        """By order its n-grams, and those that are repeated with their number."""
        elements: list[list[Hashable]] = [[] for _ in range(self._order)]
        for ngram, count in ngrams.counts.items():
            if len(ngram) <= self._order:
                own = elements[len(ngram) - 1]
                own.append(ngram)
                own.extend((ngram, number) for number in range(1, count))
        return elements


class RadgraphIndex:
    """A key of RadGraph F1: exact, for both compute the same ratio of two whole numbers."""

    slack = 0.0

    def __init__(self, scorer: RadgraphF1, parts: Sequence[int]) -> None:
        self._lowercase, self._parts = scorer.lowercase, parts
        self._postings = [Postings() for _ in parts]
        self._unscored = array("b")

    def add(self, annotations: Sequence[Any]) -> None:
        """Adds reports by their graphs."""
        for graph in annotations:
            self._unscored.append(graph is None)
            for postings, elements in zip(self._postings, self._sets(graph), strict=True):
                postings.add(elements)

    def bounds(self, reference: Any) -> Array:
        """The score of each report."""
        scores = []
        for postings, elements in zip(self._postings, self._sets(reference), strict=True):
            total = postings.sizes + len(elements)
            found = np.zeros(len(total))
            scores.append(np.divide(2 * postings.shared(elements), total, out=found, where=total > 0))
        unscored = np.array(self._unscored, dtype=np.bool_) | (reference is None)
        return np.where(unscored, np.nan, sum(scores) / len(scores))

    def _sets(self, graph: Any) -> list[set[Hashable]]:
        if graph is None:
            return [set() for _ in self._parts]
        sets = graph_sets(graph, self._lowercase)
        return [sets[part] for part in self._parts]


class ChexbertIndex:
    """CheXbert F1: a bound, for it does not count the sentences that nobody could read."""

    slack = 0.0

    def __init__(self, scorer: ChexbertF1, key: str) -> None:
        self._scorer, self._key = scorer, key
        self._tables: list[LabelTable] = []

    def add(self, annotations: Sequence[Any]) -> None:
        """Adds reports by their labels."""
        self._tables.append(self._scorer.label_table(annotations))

    @cached_property
    def _distinct(self) -> tuple[LabelTable, NDArray[np.intp]]:
        """The different rows of labels, and which of them each report has."""
        parts = [np.concatenate(part) for part in zip(*self._tables, strict=True)]
        width = parts[0].shape[1]
        rows, which = np.unique(np.hstack(parts), axis=0, return_inverse=True)
        return LabelTable(*(rows[:, place * width : (place + 1) * width] for place in range(3))), which.ravel()

    def bounds(self, reference: Any) -> Array:
        """The score of each report without its unread sentences."""
        table, which = self._distinct
        own = self._scorer.label_table([reference])
        repeated = LabelTable(*(np.repeat(part, len(table.has), axis=0) for part in own))
        stats = self._scorer.stats_of_labels(repeated, table)
        return self._scorer.reduction.per_pair(stats)[self._key][which]


class VectorIndex:
    """The cosine of two vectors: a product of matrices in 32 bits, and the largest error that it can have."""

    def __init__(self, scorer: SembScore) -> None:
        self._scorer = scorer
        self._blocks: list[NDArray[np.float32]] = []

    @property
    def slack(self) -> float:
        """The error of as many products as a vector has numbers."""
        return 2 * ROUNDING * (int(self._blocks[0].shape[1]) + 4)

    def add(self, annotations: Sequence[Any]) -> None:
        """Adds reports by their vectors."""
        self._blocks.append(np.stack([self._unit(each) for each in annotations]))

    def bounds(self, reference: Any) -> Array:
        """The cosine with each report, in 32 bits."""
        unit = self._unit(reference)
        return np.concatenate([block @ unit for block in self._blocks]).astype(np.float64)

    def _unit(self, annotation: Any) -> NDArray[np.float32]:
        vector = self._scorer.vector_of(annotation)
        length = float(np.linalg.norm(vector))
        return (vector / length if length else vector).astype(np.float32)


RADGRAPH_PARTS = {  # the sets of `graph_sets` that a key compares
    "radgraph_f1": (1,),
    "radgraph_f1_simple": (0,),
    "radgraph_f1_partial": (1,),
    "radgraph_f1_complete": (2,),
    "radgraph_f1_radcliq": (0, 3),
    "radgraph_f1_entity": (0,),
    "radgraph_f1_relation": (3,),
}
BLEU_ORDERS = {"bleu_1": 1, "bleu_2": 2, "bleu_3": 3, "bleu": 4}


def index_of(scorer: Scorer, key: str) -> PoolIndex | None:
    """Returns an empty index for a key of a metric; None where each pair must be scored."""
    if isinstance(scorer, Bleu) and key in BLEU_ORDERS:
        return BleuIndex(scorer, key, BLEU_ORDERS[key])
    if isinstance(scorer, RadgraphF1) and key in RADGRAPH_PARTS:
        return RadgraphIndex(scorer, RADGRAPH_PARTS[key])
    # Of other keys of labels an empty report may score more than the candidate that the gate replaces by it.
    if isinstance(scorer, ChexbertF1) and key == "chexbert_f1":
        return ChexbertIndex(scorer, key)
    if isinstance(scorer, SembScore):
        return VectorIndex(scorer)
    return None
