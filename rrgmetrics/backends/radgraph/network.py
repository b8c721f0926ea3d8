"""DyGIE++ (Wadden et al. 2019) as RadGraph uses it: words of reports in, entities and relations out, in batches.

A report of n words is one sentence; each run of up to W words is a span (i, j). With x_i the mean of the encoder's
states over the pieces of word i, a span is g = [x_i; x_j; w_(j-i)], where w is an embedding of the width.

- Entities: FF(g) gives a score for each label, 0 stands for none, the highest wins. Spans may overlap.
- Relations: of the ⌈n/2⌉ spans with the highest mention score m(g), for each pair
  s(a, b) = FF([g_a; g_b; g_a ∘ g_b]) + m(g_a) + m(g_b) for each label, 0 stands for none, the highest wins.

What is equal to the authors' code, and faster: reports of like length share a pass of the encoder; the first layer of a
network on spans is a sum of a part of x_i, one of x_j and one of w, so it is computed for words and not for spans; and
only pairs of entities are scored, because a relation that ends elsewhere is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rrgmetrics.backends.bert import batches
from rrgmetrics.backends.radgraph.words import WORDS, radgraph_xl_words
from rrgmetrics.labels.graph import Entity, Graph, Relation

if TYPE_CHECKING:
    from torch import Tensor

PAIR_FLOATS = 8_000_000  # of products of spans that are held at a time

Weights = Mapping[str, "Tensor"]


@dataclass(frozen=True)
class RadgraphSettings:
    """The settings of a RadGraph model, from its config.

    Attributes:
        dataset: Which of `WORDS` cuts the reports.
        entity_labels: Labels of spans; the first is "" for none.
        relation_labels: Labels of pairs of spans; none is not among them.
        max_span_width: Words of the longest span.
        spans_per_word: Share of spans, in spans a word, between which relations are sought.
        max_length: Pieces that the encoder reads at a time, those that open and close included.
        framed: Whether pieces open and close a text. Where the tokenizer is of transformers' generic class (as that of
            `modern-radgraph-xl`), the authors' package on transformers 4 leaves them out but counts them, and so takes
            for each piece the state of the next one. Here too, up to `max_length` pieces.
    """

    dataset: str
    entity_labels: tuple[str, ...]
    relation_labels: tuple[str, ...]
    max_span_width: int = 8
    spans_per_word: float = 0.5
    max_length: int = 512
    framed: bool = True


class Pieces(NamedTuple):
    """Cuts words into the encoder's pieces; the special tokens `opening` and `closing` stand around every text."""

    cut: Callable[[Sequence[str]], list[list[int]]]
    opening: list[int]
    closing: list[int]


class Report(NamedTuple):
    """The words of a report, and for each of them the ids of its pieces."""

    words: list[str]
    pieces: list[list[int]]

    def segments(self, length: int) -> list[list[int]]:
        """Returns all ids in parts of at most `length`; the authors cut inside of words too."""
        ids = [piece for word in self.pieces for piece in word]
        return [ids[start : start + length] for start in range(0, len(ids), length)] or [[]]


class Spans(NamedTuple):
    """The first and last word of each span, counted over all reports of a batch, and each report's number of spans."""

    first: Tensor
    last: Tensor
    counts: list[int]


@dataclass(frozen=True)
class RadgraphNetwork:
    """A checkpoint in memory, with its forward pass.

    Attributes:
        identity: How the signature names the weights.
        settings: Labels and sizes.
        pieces: The encoder's tokenizer.
        encode: Padded ids and mask `(B, T)` → states `(B, T, d)`.
        weights: `span_width.weight`, and networks `entity`, `mention`, `relation` (`.0`, `.1`, ..., `.out`).
        device: Where it runs.
    """

    identity: str
    settings: RadgraphSettings
    pieces: Pieces
    encode: Callable[[Tensor, Tensor], Tensor]
    weights: Weights
    device: str

    def read(self, texts: Sequence[str], batch_size: int | None = None) -> list[Graph]:
        """Returns the graph of each text; one without words has a graph without entities."""
        cut = WORDS.get(self.settings.dataset, radgraph_xl_words)
        words = [cut(text) for text in texts]
        pieces = iter(self.pieces.cut([word for report in words for word in report]))
        reports = [Report(report, [next(pieces) for _ in report]) for report in words]
        graphs = [Graph("", ()) for _ in texts]
        written = [index for index, report in enumerate(reports) if report.words]
        lengths = [sum(map(len, reports[index].pieces)) for index in written]
        for batch in batches(lengths, self.device, batch_size):
            places = [written[i] for i in batch]
            for place, graph in zip(places, self._read([reports[place] for place in places]), strict=True):
                graphs[place] = graph
        return graphs

    def _read(self, reports: Sequence[Report]) -> Iterator[Graph]:
        import torch

        with torch.inference_mode():
            words = self._words(reports)
            spans = _spans([len(report.words) for report in reports], self.settings.max_span_width, self.device)
            entities = self._score(words, spans, "entity")
            labels = torch.cat([entities.new_zeros(len(entities), 1), entities], dim=1).argmax(dim=1)
            mentions = self._score(words, spans, "mention")[:, 0]
            start = offset = 0
            for report, count in zip(reports, spans.counts, strict=True):
                own = slice(start, start + count)
                edges = self._relations(words, spans, mentions, labels, own, len(report.words))
                yield self._graph(report.words, spans, labels, own, offset, edges)
                start, offset = start + count, offset + len(report.words)

    def _words(self, reports: Sequence[Report]) -> Tensor:
        """Vectors of all words of all reports `(n_words, d)`; a word without pieces is 0."""
        import torch

        opening, closing = (self.pieces.opening, self.pieces.closing) if self.settings.framed else ([], [])
        budget = self.settings.max_length - len(opening) - len(closing)
        segments = [segment for report in reports for segment in report.segments(budget)]
        longest = max(map(len, segments)) + len(opening) + len(closing)
        rows = [opening + segment + closing for segment in segments]
        ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows], device=self.device)
        lengths = torch.tensor([len(row) for row in rows], device=self.device)
        places = torch.arange(longest, device=self.device)
        mask = places < lengths[:, None]
        states = self.encode(ids, mask.long())
        own = states[(places >= len(opening)) & (places < lengths[:, None] - len(closing))]
        sizes = torch.tensor([len(word) for report in reports for word in report.pieces], device=self.device)
        word_of = torch.arange(len(sizes), device=self.device).repeat_interleave(sizes)
        if not self.settings.framed:
            n_pieces = torch.tensor([sum(map(len, report.pieces)) for report in reports], device=self.device)
            report_of = torch.arange(len(reports), device=self.device).repeat_interleave(n_pieces)
            followed = (report_of[1:] == report_of[:-1]).nonzero()[:, 0]
            own, word_of = own[followed + 1], word_of[followed]
        counts = own.new_zeros(len(sizes)).index_add_(0, word_of, own.new_ones(len(own)))
        sums = own.new_zeros(len(sizes), own.shape[1]).index_add_(0, word_of, own)
        return sums / counts.clamp(min=1)[:, None]

    def _score(self, words: Tensor, spans: Spans, name: str) -> Tensor:
        """Scores `(n_spans, n_labels)` of the network `name`, its first layer taken apart."""
        width = words.shape[1]
        first, bias = self.weights[f"{name}.0.weight"], self.weights[f"{name}.0.bias"]
        starts, ends = words @ first[:, :width].T, words @ first[:, width : 2 * width].T
        widths = self.weights["span_width.weight"] @ first[:, 2 * width :].T + bias
        hidden = starts[spans.first] + ends[spans.last] + widths[spans.last - spans.first]
        return _rest(self.weights, name, hidden)

    def _relations(
        self, words: Tensor, spans: Spans, mentions: Tensor, labels: Tensor, own: slice, n_words: int
    ) -> list[tuple[int, int, str]]:
        """Relations between the entities of one report: indices of the two spans in the batch, and the label."""
        import torch

        n_kept = min(max(math.ceil(n_words * self.settings.spans_per_word), 1), own.stop - own.start)
        kept = mentions[own].topk(n_kept).indices.sort().values + own.start
        kept = kept[labels[kept] > 0]
        if not len(kept) or not self.settings.relation_labels:
            return []
        first, last = spans.first[kept], spans.last[kept]
        vectors = torch.cat([words[first], words[last], self.weights["span_width.weight"][last - first]], dim=1)
        scores = self._score_pairs(vectors) + mentions[kept][:, None, None] + mentions[kept][None, :, None]
        best, label = scores.max(dim=2)
        pairs = (best > 0).nonzero().tolist()
        places = kept.tolist()
        return [(places[a], places[b], self.settings.relation_labels[label[a, b]]) for a, b in pairs]

    def _score_pairs(self, vectors: Tensor) -> Tensor:
        """FF([g_a; g_b; g_a ∘ g_b]) for all pairs of spans `(k, D)` → `(k, k, n_labels)`."""
        import torch

        n_spans, width = vectors.shape
        first, bias = self.weights["relation.0.weight"], self.weights["relation.0.bias"]
        subjects, objects = vectors @ first[:, :width].T + bias, vectors @ first[:, width : 2 * width].T
        rows = max(1, PAIR_FLOATS // (n_spans * width))
        products = [
            (vectors[start : start + rows, None] * vectors) @ first[:, 2 * width :].T
            for start in range(0, n_spans, rows)
        ]
        return _rest(self.weights, "relation", subjects[:, None] + objects + torch.cat(products))

    def _graph(
        self,
        words: list[str],
        spans: Spans,
        labels: Tensor,
        own: slice,
        offset: int,
        edges: Sequence[tuple[int, int, str]],
    ) -> Graph:
        """The graph of one report; `offset` is the number of words before it in the batch."""
        places = labels[own].nonzero()[:, 0] + own.start
        index = {place: i for i, place in enumerate(places.tolist())}
        relations: list[list[Relation]] = [[] for _ in index]
        for subject, object_, kind in edges:
            relations[index[subject]].append(Relation(kind, index[object_]))
        columns = (spans.first[places] - offset, spans.last[places] - offset, labels[places])
        entities = [
            Entity(" ".join(words[first : last + 1]), self.settings.entity_labels[label], first, last, tuple(to))
            for first, last, label, to in zip(*(column.tolist() for column in columns), relations, strict=True)
        ]
        return Graph(" ".join(words), tuple(entities))


def _rest(weights: Weights, name: str, hidden: Tensor) -> Tensor:
    """Applies what follows the first layer of a network."""
    from torch.nn.functional import linear

    hidden, layer = hidden.relu(), 1
    while f"{name}.{layer}.weight" in weights:
        hidden = linear(hidden, weights[f"{name}.{layer}.weight"], weights[f"{name}.{layer}.bias"]).relu()
        layer += 1
    return linear(hidden, weights[f"{name}.out.weight"], weights[f"{name}.out.bias"])


def _spans(lengths: Sequence[int], max_width: int, device: str) -> Spans:
    """Lists all spans of reports of these lengths, by first word and then by last word."""
    import torch

    n_words = sum(lengths)
    first = torch.arange(n_words, device=device)[:, None].expand(-1, max_width)
    last = first + torch.arange(max_width, device=device)
    sizes = torch.tensor(lengths, device=device)
    ends = sizes.cumsum(0).repeat_interleave(sizes)
    inside = last < ends[:, None]
    counts = [sum(min(max_width, length - i) for i in range(length)) for length in lengths]
    return Spans(first[inside], last[inside], counts)
