"""Ways to put a candidate beside a reference: the five of the GREEN paper, sentences of two reports, paraphrase.

GREEN (Ostmeier et al. 2024, arXiv 2405.03595) pairs reports at random, removes or shuffles sentences, takes a report
generator's outputs, takes the nearest report by BERTScore, and permutes RadGraph's entities. Differs from the authors:
`nearest` goes by the mean token vector of the bundled encoder, and `permuted` has the edits of `perturb`, found and
judged by the reader. `nearest_bertscore` and `permuted_radgraph` do what the authors did.

A candidate is drawn from the reference's own part of the data (train, validation, test), so no report of one part is
seen in another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rrgmetrics.labels.graph import Graph
from rrgmetrics.reading import Reading
from rrgmetrics.synthesis.edits.entities import permute
from rrgmetrics.synthesis.edits.paraphrase import paraphrase
from rrgmetrics.synthesis.edits.perturb import inject
from rrgmetrics.synthesis.edits.sentences import ended, reorder, rewrite, slots, without
from rrgmetrics.synthesis.likeness import Likeness, by_mean_vector
from rrgmetrics.synthesis.pairs import N_CATEGORIES, Counts, Report, Split
from rrgmetrics.synthesis.readings import reading_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOTHING: Counts = (0,) * N_CATEGORIES
N_NEAREST = 8  # neighbours kept a report; one of them is drawn
NEAREST_AMONG = 20_000  # reports that are compared, so that the encoder (some 15 ms a report) is done in minutes
BERTSCORE_AMONG = 4_000  # that are compared by BERTScore, which takes up to 0.3 ms a pair
BLOCK = 256  # references at a time


class Candidate(NamedTuple):
    """What stands beside a reference: the text, its style if known, the errors put in if they were counted."""

    text: str
    style: str = ""
    injected: Counts | None = None


@dataclass
class Pool:
    """The reports that pairs are made from.

    Attributes:
        reports: The collection.
        splits: The part of the data of each.
        outputs: A report generator's outputs by study.
        neighbours: Indices of the nearest reports by report, `(n_reports, N_NEAREST)`, -1 where there is none.
        nearest: The same by BERTScore.
        graphs: The RadGraph of a report, by its text; None where it has none.
    """

    reports: Sequence[Report]
    splits: Sequence[Split]
    outputs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    neighbours: NDArray[np.int32] | None = None
    nearest: NDArray[np.int32] | None = None
    graphs: Mapping[str, Graph | None] = field(default_factory=dict)

    @cached_property
    def members(self) -> dict[str, list[int]]:
        """The numbers of the reports of each part."""
        members: dict[str, list[int]] = {}
        for index, split in enumerate(self.splits):
            members.setdefault(split, []).append(index)
        return members

    def another(self, index: int, rng: Random) -> Report | None:
        """Returns a report of the same part with another text; None if three draws find none."""
        mine = self.reports[index].text
        drawn = (self.reports[rng.choice(self.members[self.splits[index]])] for _ in range(3))
        return next((report for report in drawn if report.text != mine), None)


Way = Callable[[Pool, int, Random, int], Candidate | None]


def random_report(pool: Pool, index: int, rng: Random, turn: int) -> Candidate | None:
    """Takes the report of another study."""
    other = pool.another(index, rng)
    return Candidate(other.text, other.style) if other else None


def removed(pool: Pool, index: int, rng: Random, turn: int) -> Candidate | None:
    """Takes the same report without some of its sentences, at least one and at most two thirds."""
    report = pool.reports[index]
    here = slots(report.text)
    if len(here) < 2:
        return None
    text = without(report.text, rng.sample(here, rng.randint(1, max(1, 2 * len(here) // 3))))
    return Candidate(text, report.style)


def shuffled(pool: Pool, index: int, rng: Random, turn: int) -> Candidate | None:
    """Takes the same sentences in another order within each section."""
    report = pool.reports[index]
    text = reorder(report.text, rng)
    return Candidate(text, report.style, NOTHING) if text.split() != report.text.split() else None


def removed_shuffled(pool: Pool, index: int, rng: Random, turn: int) -> Candidate | None:
    """Takes the same report without some of its sentences and the rest in another order, as GREEN's one way does."""
    left = removed(pool, index, rng, turn)
    if left is None:
        return None
    text = reorder(left.text, rng)
    return Candidate(text, left.style)


def mixed(pool: Pool, index: int, rng: Random, turn: int) -> Candidate | None:
    """Takes about half of the report's sentences, each of the others replaced by one of another report."""
    report = pool.reports[index]
    other = pool.another(index, rng)
    here = slots(report.text)
    there = [other.text[slot.start : slot.end] for slot in slots(other.text)] if other else []
    if len(here) < 2 or not there:
        return None
    replaced = rng.sample(here, max(1, len(here) // 2))
    drawn = rng.sample(there, min(len(there), len(replaced)))
    new = dict.fromkeys(replaced, "") | dict(zip(replaced, map(ended, drawn), strict=False))
    return Candidate(rewrite(report.text, new), report.style)


def generated(pool: Pool, index: int, rng: Random, turn: int) -> Candidate | None:
    """Takes what a report generator wrote for the study; its first output at the first turn, and so on."""
    outputs = pool.outputs.get(pool.reports[index].study_id, ())
    return Candidate(outputs[turn]) if turn < len(outputs) else None


def nearest(pool: Pool, index: int, rng: Random, turn: int) -> Candidate | None:
    """Takes one of the reports most alike."""
    if pool.neighbours is None:
        return None
    there = [int(other) for other in pool.neighbours[index] if other >= 0]
    other = pool.reports[rng.choice(there)] if there else None
    return Candidate(other.text, other.style) if other else None


def nearest_bertscore(pool: Pool, index: int, rng: Random, turn: int) -> Candidate | None:
    """Takes the report of the greatest BERTScore; at the second turn the one of the next, and so on."""
    there = [] if pool.nearest is None else [int(other) for other in pool.nearest[index] if other >= 0]
    other = pool.reports[there[turn]] if turn < len(there) else None
    return Candidate(other.text, other.style) if other else None


def permuted(pool: Pool, index: int, rng: Random, turn: int) -> Candidate | None:
    """Takes the same report with errors put in: presence, place, severity, size, certainty, comparisons."""
    report = pool.reports[index]

    def donor(rng: Random) -> Reading | None:
        other = pool.another(index, rng)
        return reading_of(other.text) if other else None

    changed = inject(reading_of(report.text), donor, rng)
    return Candidate(changed[0], report.style, changed[1]) if changed else None


def permuted_radgraph(pool: Pool, index: int, rng: Random, turn: int) -> Candidate | None:
    """Takes the same report with entities of its RadGraph permuted: presence, severity, size, place."""
    report = pool.reports[index]
    graph = pool.graphs.get(report.text)
    changed = permute(report.text, graph, rng) if graph else None
    return Candidate(changed[0], report.style, changed[1]) if changed else None


def paraphrased(pool: Pool, index: int, rng: Random, turn: int) -> Candidate | None:
    """Takes the same report in other words, without an error."""
    report = pool.reports[index]
    text = paraphrase(reading_of(report.text), rng)
    return Candidate(text, report.style, NOTHING) if text else None


WAYS: dict[str, Way] = {
    "random": random_report,
    "removed": removed,
    "shuffled": shuffled,
    "removed_shuffled": removed_shuffled,
    "mixed": mixed,
    "generated": generated,
    "nearest": nearest,
    "nearest_bertscore": nearest_bertscore,
    "permuted": permuted,
    "permuted_radgraph": permuted_radgraph,
    "paraphrased": paraphrased,
}


def find_neighbours(
    texts: Sequence[str], splits: Sequence[Split], among: Sequence[int], likeness: Likeness = by_mean_vector
) -> NDArray[np.int32]:
    """Returns the nearest reports of some reports among themselves, within their part of the data.

    Args:
        texts: All reports.
        splits: The part of each.
        among: Indices of the reports that are compared.
        likeness: How alike they are.

    Returns:
        Indices `(n_reports, N_NEAREST)`, nearest first, -1 where there is none; equal texts are no neighbours.
    """
    neighbours = np.full((len(texts), N_NEAREST), -1, dtype=np.int32)
    for split in sorted(set(splits)):
        mine = [i for i in among if splits[i] == split]
        first = {texts[i]: i for i in reversed(mine)}
        if len(first) < 2:
            continue
        similarities, pool = likeness(list(first)), np.array(list(first.values()), dtype=np.int32)
        place = {text: at for at, text in enumerate(first)}
        for start in range(0, len(mine), BLOCK):
            block = mine[start : start + BLOCK]
            own = [place[texts[i]] for i in block]
            neighbours[block] = _nearest(similarities(own), own, pool)
    return neighbours


def _nearest(similarity: NDArray[np.float32], own: Sequence[int], pool: NDArray[np.int32]) -> NDArray[np.int32]:
    """Returns the reports of the greatest similarities of each row, nearest first, its own left out."""
    similarity[np.arange(len(own)), own] = -np.inf
    n = min(N_NEAREST, len(pool) - 1)
    best = np.argpartition(-similarity, n - 1, axis=1)[:, :n]
    order = np.argsort(-np.take_along_axis(similarity, best, axis=1), axis=1, kind="stable")
    neighbours = np.full((len(own), N_NEAREST), -1, dtype=np.int32)
    neighbours[:, :n] = pool[np.take_along_axis(best, order, axis=1)]
    return neighbours
