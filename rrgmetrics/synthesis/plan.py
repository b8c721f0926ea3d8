"""What a file of pairs is to hold: reports, ways of pairing, how many pairs of each, who labels, what is held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any, Literal

from rrgmetrics.errors import InputError
from rrgmetrics.specs.names import parse_name
from rrgmetrics.synthesis.labels import INJECTED, READER, Labeller
from rrgmetrics.synthesis.likeness import BERTSCORE, by_bertscore
from rrgmetrics.synthesis.pairing import BERTSCORE_AMONG, NEAREST_AMONG
from rrgmetrics.synthesis.pairs import identity, split_of
from rrgmetrics.synthesis.phrases import phrases_sha256
from rrgmetrics.synthesis.sources import Collection
from rrgmetrics.synthesis.written import KINDS, Writer
from rrgmetrics.version import VERSION

COMPOSED = "composed"  # pairs that our generator makes whole
# GREEN takes a fifth of each: random, removed or shuffled, generated, nearest, permuted.
WEIGHTS = {
    "random": 2.0,
    "removed": 1.0,
    "shuffled": 1.0,
    "generated": 2.0,
    "nearest": 2.0,
    "permuted": 2.0,
    "paraphrased": 1.0,
    COMPOSED: 4.0,
}
NAMED_ONLY = {
    "removed_shuffled": 1.0,
    "mixed": 1.0,
    "nearest_bertscore": 1.0,
    "permuted_radgraph": 1.0,
    **dict.fromkeys(KINDS, 1.0),
}  # ways that only `ways` takes, with their weights there
# Named sets of ways. GREEN's 100,000 pairs: 20,000 by each of its five heuristics.
PLANS: Mapping[str, Mapping[str, float]] = {
    "green-paper": {
        "random": 1.0,
        "removed_shuffled": 1.0,
        "generated": 1.0,
        "nearest_bertscore": 1.0,
        "permuted_radgraph": 1.0,
    },
    # CRIMSON's candidates: a generator's, random and similar reports, and those that a language model has changed.
    "crimson-paper": {
        "generated": 1.0,
        "random": 1.0,
        "nearest": 1.0,
        "written_edited": 1.0,
        "written_added": 1.0,
        "written_removed": 1.0,
    },
}
AMONG = {"nearest": NEAREST_AMONG, "nearest_bertscore": BERTSCORE_AMONG}  # reports that are compared
RADGRAPH = "radgraph_f1"  # the reader's graphs; @radgraph and @paper are the authors' models
SHARD_SIZE = 2_000  # pairs
EACH: Literal["each"] = "each"  # in place of a number of pairs: one candidate of each report and way
HELD_OUT = (0.1, 0.1)  # validation, test


@dataclass(frozen=True)
class Plan:
    """Everything a run's pairs depend on.

    Attributes:
        collection: The reports.
        counts: Pairs wanted by way.
        outputs: A report generator's outputs by study.
        labels: Who counts the errors (`labeller_for`).
        seed: Of the run.
        held_out: Shares of validation and test.
        shard_size: Pairs a shard.
        distractors: The share of texts that get words from outside the lexicon (`edits.distractors`).
        hands: The share of texts that another hand rewrites (`edits.hands`).
        affirmed: Whether the rows hold only what the texts affirm, as the bundled CREPE reads them.
        writer: The engine that writes candidates (`writer_for`), for the ways of `written.KINDS`.
        bertscore: The BERTScore of the way `nearest_bertscore`.
        radgraph: Whose graphs the way `permuted_radgraph` permutes: a RadGraph F1.
    """

    collection: Collection
    counts: Mapping[str, int]
    outputs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    labels: str = READER
    seed: int = 0
    held_out: tuple[float, float] = HELD_OUT
    shard_size: int = SHARD_SIZE
    distractors: float = 0.0
    hands: float = 0.0
    affirmed: bool = False
    writer: str = ""
    bertscore: str = BERTSCORE
    radgraph: str = RADGRAPH

    @cached_property
    def n_shards(self) -> int:
        """The number of shards."""
        return -(-sum(self.counts.values()) // self.shard_size)

    @cached_property
    def splits(self) -> list[Any]:
        """The part of the data of each report."""
        return [split_of(report.text, self.held_out) for report in self.collection.reports]

    def order(self, way: str) -> list[int]:
        """Returns the references of a way, in the order in which they take their turns: the same for all ways."""
        reports = self.collection.reports
        order = list(range(len(reports)))
        Random(self.seed).shuffle(order)
        if way == "generated":
            return [i for i in order if reports[i].study_id in self.outputs]
        return order[: AMONG.get(way)]

    def numbers(self, way: str, shard: int) -> range:
        """Returns the numbers of the pairs of a way that a shard holds."""
        n = self.counts[way]
        return range(n * shard // self.n_shards, n * (shard + 1) // self.n_shards)

    def facts(self, labeller: Labeller, writer: Writer | None = None) -> dict[str, object]:
        """Returns what stands in the file's metadata; runs of equal facts make equal files."""
        outputs = [part for study, reports in sorted(self.outputs.items()) for part in (study, *reports)]
        return {
            "rrgmetrics": VERSION,
            "source": self.collection.name,
            "source_sha256": self.collection.sha256,
            "n_reports": len(self.collection.reports),
            "outputs_sha256": identity(outputs) if outputs else "",
            "wanted": dict(self.counts),
            "label_source": labeller.source,
            "label_version": labeller.version,
            "wording_sha256": phrases_sha256("edits")[:8],
            "seed": self.seed,
            "held_out": list(self.held_out),
            "shard_size": self.shard_size,
            "distractors": self.distractors,
            "hands": self.hands,
            "affirmed": self.affirmed,
            **({"radgraph": self.radgraph} if self.counts.get("permuted_radgraph") else {}),
            **({"bertscore": self.bertscore} if self.counts.get("nearest_bertscore") else {}),
            **(writer.facts if writer else {}),
        }


def parse_ways(texts: Sequence[str]) -> dict[str, float]:
    """Reads ways of pairing as the command line has them; without a weight a way has that of `WEIGHTS`.

    Args:
        texts: Ways with or without weights; or the name of one of `PLANS`, alone.

    Raises:
        InputError: A way that stands twice or does not exist, or a weight that is no number.

    Example:
        >>> parse_ways(["random", "permuted:5"])
        {'random': 2.0, 'permuted': 5.0}
        >>> set(parse_ways(["green-paper"]).values())
        {1.0}
    """
    if len(texts) == 1 and texts[0] in PLANS:
        return dict(PLANS[texts[0]])
    ways: dict[str, float] = {}
    for way, colon, weight in (text.partition(":") for text in texts):
        _check_way(way)
        if way in ways:
            raise InputError(f"The way {way!r} is given twice.")
        try:
            ways[way] = float(weight) if colon else {**WEIGHTS, **NAMED_ONLY}[way]
        except ValueError:
            raise InputError(f"The weight {weight!r} of the way {way} is not a number; write {way}:2.") from None
    return ways


def _check_way(way: str) -> None:
    if way in PLANS:
        raise InputError(f"{way!r} is a preset of several ways; name it alone.")
    if way not in {**WEIGHTS, **NAMED_ONLY}:
        there = ", ".join([*WEIGHTS, *NAMED_ONLY])
        raise InputError(f"There is no way of pairing {way!r}; there are: {there}; or {', '.join(PLANS)}.")


def parse_pairs(text: str) -> int | Literal["each"]:
    """Reads a number of pairs, or `each`, which asks every way for one candidate of each report.

    Raises:
        InputError: It is neither.
    """
    if text == EACH:
        return EACH
    if not (text.isascii() and text.isdigit()):
        raise InputError(f"--pairs is {text!r}; write a number, or each (one candidate of each report and way).")
    return int(text)


def count_pairs(
    collection: Collection,
    outputs: Mapping[str, Any],
    ways: Mapping[str, float] | None,
    n_pairs: int | Literal["each"],
) -> dict[str, int]:
    """Returns the pairs wanted by way, in proportion to the weights; with "each" one of each report, whatever they are.

    Raises:
        InputError: A way that does not exist or lacks what it needs, a weight that is none, or too few pairs.
    """
    possible = {
        way: weight
        for way, weight in WEIGHTS.items()
        if (way != "generated" or outputs) and (way != COMPOSED or collection.is_generated)
    }
    weights = dict(possible if ways is None else ways)
    for way, weight in weights.items():
        _check_way(way)
        if way not in {**possible, **NAMED_ONLY}:
            need = "a report generator's outputs (--generated)" if way == "generated" else "the source generator:<n>"
            raise InputError(f"The way {way!r} needs {need}.")
        if not 0 < weight < float("inf"):
            raise InputError(f"The way {way!r} has the weight {weight:g}; give a number above 0, or leave it out.")
    if n_pairs == EACH:
        n_reports = len(collection.reports)
        with_output = sum(report.study_id in outputs for report in collection.reports)
        return {
            way: with_output if way == "generated" else min(n_reports, AMONG.get(way, n_reports)) for way in weights
        }
    if n_pairs < len(weights) or not weights:
        raise InputError(f"{n_pairs} pairs are too few for {len(weights)} ways; request more pairs.")
    total, done, counts = sum(weights.values()), 0.0, dict[str, int]()
    for way, weight in weights.items():  # rounded sums, not rounded parts: they add up
        counts[way] = round(n_pairs * (done + weight) / total) - round(n_pairs * done / total)
        done += weight
    return counts


def check_plan(plan: Plan, n_jobs: int) -> None:
    """Checks what can be checked before any work.

    Raises:
        InputError: Something in the plan cannot be used.
    """
    if n_jobs < 1 or plan.shard_size < 1:
        raise InputError("The number of processes and the number of pairs in a shard must be at least 1.")
    if n_jobs > 1 and plan.labels not in (READER, INJECTED):
        raise InputError("One process requests the labels of a judge (its engine works in parallel); leave --jobs out.")
    written = [way for way in plan.counts if way in KINDS]
    if bool(plan.writer) != bool(written):
        ways = ", ".join(written or KINDS)
        raise InputError(f"The ways {ways} and --writer ENGINE (writer=) must be given together, or neither.")
    if n_jobs > 1 and plan.writer:
        raise InputError("One process requests the candidates of a model; leave --jobs out.")
    by_bertscore(plan.bertscore)
    if parse_name(plan.radgraph).spec.name != RADGRAPH:
        raise InputError(
            f"{plan.radgraph!r} is not a RadGraph F1; pass radgraph_f1@radgraph, radgraph_f1@graphs:FILE, ..."
        )
    if not 0 <= plan.distractors <= 1:
        raise InputError(f"The share of texts with distractors is {plan.distractors}; it must be between 0 and 1.")
    if not 0 <= plan.hands <= 1:
        raise InputError(f"The share of texts in another writing style is {plan.hands}; it must be between 0 and 1.")
    if min(plan.held_out) < 0 or sum(plan.held_out) >= 1:
        raise InputError(
            f"The held-out shares {plan.held_out} must not be negative, and must leave pairs for training."
        )
    known = {report.study_id for report in plan.collection.reports}
    if plan.counts.get("generated") and known.isdisjoint(plan.outputs):
        raise InputError(
            f"None of the {len(plan.outputs):,} studies in the generator's outputs is among the {len(known):,} of "
            f"{plan.collection.name}; they are joined by study_id."
        )
