"""Runs the metrics: computes the statistics of each pair for each metric, then makes one Result for each metric.

All metrics process the pairs together, in blocks. Equal pairs are scored once. A backend reads each distinct text (or
pair) once for all metrics that share it, and its annotation is released after the last use. Apart from the texts and a
few numbers for each pair, memory does not grow with the number of pairs.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Container, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from rrgmetrics.backends.base import Backend, Composed, ComposedPairs, PairBackend, SupportsLookahead, for_pack
from rrgmetrics.backends.reader import ReaderBackend, Readings
from rrgmetrics.reading import read
from rrgmetrics.reading.lexicon import AUTO
from rrgmetrics.reading.scope import pack_for
from rrgmetrics.reports import Pair, distinct_texts
from rrgmetrics.reports.missing import FACT, Missing
from rrgmetrics.reports.text import Normaliser
from rrgmetrics.scorers import aggregate
from rrgmetrics.scorers.base import (
    Array,
    Bars,
    Scorer,
    SupportsDetails,
    SupportsNotes,
    SupportsReferenceStatistics,
)
from rrgmetrics.scorers.frequencies import Frequencies
from rrgmetrics.scoring import signature
from rrgmetrics.scoring.packs import details_of, facts_of, pack_of, warn_of_packs
from rrgmetrics.scoring.results import Result
from rrgmetrics.scoring.scope_filter import Gate, modality_of, open_gate, warn_of_scopes
from rrgmetrics.specs.names import MetricName
from rrgmetrics.utils.progress import Progress

BLOCK = 512  # distinct pairs; large enough to batch by length, small enough to hold their token vectors


@dataclass(frozen=True)
class Job:
    """A metric that is ready to run."""

    name: MetricName
    scorer: Scorer
    backend: Backend | PairBackend
    normaliser: Normaliser
    bars: Bars = field(default_factory=Bars)
    missing: Missing = "unscored"

    @property
    def modality(self) -> str:
        """The modality that the metric reads; "" for any text."""
        return modality_of(self.name)

    @property
    def kind(self) -> Kind:
        """What it shares with the jobs that run with it."""
        return Kind(self.normaliser, self.modality, pack_of(self.name), self.missing)

    @property
    def facts(self) -> Mapping[str, str]:
        """What the signature says of its backend, and of missing references if these are scored."""
        return {**self.backend.facts, **({FACT: self.missing} if self.missing == "empty" else {})}

    def reference_statistics(self, references: Iterable[str]) -> Frequencies | None:
        """The reference statistics that the scores depend on, or None."""
        if not isinstance(self.scorer, SupportsReferenceStatistics):
            return None
        scored = (text for text in references if text.strip() or self.kind.scores_missing)
        read: Iterable[str] = map(self.normaliser.reference, scored)
        if self.normaliser.lacks and not self.kind.scores_missing:
            read = filter(None, read)
        return self.scorer.reference_statistics(read, self.backend)


class Kind(NamedTuple):
    """What jobs have in common that process the pairs together.

    Attributes:
        normaliser: What they apply to both texts first.
        modality: The kind of report that they read; "" for any text.
        pack: What they read it with; AUTO: that of each reference's kind of report.
        missing: What becomes of missing references.
    """

    normaliser: Normaliser
    modality: str
    pack: str
    missing: Missing = "unscored"

    @property
    def scores_missing(self) -> bool:
        """Whether pairs with a missing reference are scored, as with an empty one."""
        return self.missing == "empty"


@dataclass(frozen=True)
class Step:
    """A block of one call's distinct pairs, and the jobs that score them.

    Attributes:
        call: Index of the call.
        pairs: As they were given.
        kind: What the jobs have in common.
        jobs: The jobs.
    """

    call: int
    pairs: list[Pair]
    kind: Kind
    jobs: list[Job]

    @cached_property
    def normalised(self) -> list[Pair]:
        """The normalised pairs, as the backends read them."""
        return normalise(self.pairs, self.kind.normaliser)


@dataclass
class Collected:
    """The statistics and details that a job has gathered of one call.

    Attributes:
        stats: Of each block.
        details: By key, of all blocks.
    """

    stats: list[Array] = field(default_factory=list)
    details: dict[str, list[Any]] = field(default_factory=dict)


class Memory:
    """Remembers the annotations of the latest references, for calls that score other candidates against them.

    Args:
        size: References to keep for each backend.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._kept: dict[str, OrderedDict[str, Any]] = {}

    def recall(self, key: str, texts: Sequence[str]) -> dict[str, object]:
        """Returns the annotations that the backend of this key gave to some of the texts."""
        kept = self._kept.get(key, OrderedDict())
        recalled = {text: kept[text] for text in texts if text in kept}
        for text in recalled:
            kept.move_to_end(text)
        return recalled

    def keep(self, key: str, references: Sequence[str], annotations: Mapping[str, Any]) -> None:
        """Keeps the annotations of the references, and drops older ones beyond the size."""
        kept = self._kept.setdefault(key, OrderedDict())
        kept.update((text, annotations[text]) for text in references)
        while len(kept) > max(self.size, len(references)):
            kept.popitem(last=False)


def run(
    jobs: Sequence[Job],
    calls: Sequence[Sequence[Pair]],
    *,
    block: int | None = None,
    announce: bool = True,
    statistics: Sequence[Frequencies | None] = (),
    memory: Memory,
    readings: Readings | None = None,
) -> Generator[Progress, None, list[list[Result]]]:
    """Scores several lists of pairs with every job.

    Args:
        jobs: Metrics that are ready to run.
        calls: Lists of pairs.
        block: Distinct pairs between two words of progress; None: BLOCK.
        announce: Whether to warn of pairs that are out of scope.
        statistics: Of references that are in other calls too, in the order of the jobs; None: those of each call.
        memory: Of references that earlier calls have read.
        readings: Keeps what the reader reads, for what shows the scores; None: nothing is kept.

    Yields:
        How far it is, after each metric of each block.

    Returns:
        Results by call, in the order of the jobs.
    """
    steps = list(_steps(jobs, [list(dict.fromkeys(pairs)) for pairs in calls], block or BLOCK))
    given = dict(zip(map(id, jobs), statistics, strict=False))
    frequencies = {
        (call, id(job)): given.get(id(job)) or job.reference_statistics(pair.reference for pair in pairs)
        for call, pairs in enumerate(calls)
        for job in jobs
    }
    collected = {key: Collected() for key in frequencies}
    blocks: dict[tuple[int, Kind], list[Gate]] = {}  # of the jobs that share steps
    annotations = Annotations(steps, memory, readings)
    done, total = 0, sum(len(step.pairs) * len(step.jobs) for step in steps)
    of = Counter({id(job): 0 for job in jobs})
    for step in steps:
        of.update({id(job): len(step.pairs) for job in step.jobs})
    for index, step in enumerate(steps):
        for part in annotations.parts(index):
            began = perf_counter()
            gate = _gate(part, annotations)
            pairs = normalise(gate.pairs, step.kind.normaliser)
            blocks.setdefault((step.call, step.kind), []).append(gate)
            for job in step.jobs:
                key = step.call, id(job)
                read = annotations.read(for_pack(job.backend, part.kind.pack), pairs, index)
                _score(job, pairs, read, frequencies[key], collected[key])
                done, ended = done + len(part.pairs), perf_counter()
                yield Progress(done, total, str(job.name), len(part.pairs), of[id(job)], ended - began)
                began = perf_counter()
        annotations.forget(index)
    gates = {key: Gate.joined(of_call, calls[key[0]]) for key, of_call in blocks.items()}
    if announce:
        warn_of_scopes((job.name, gate.reasons) for job in jobs for gate in _gates_of(job, gates))
    results = [
        [_result(job, gates[call, job.kind], collected[call, id(job)], given.get(id(job))) for job in jobs]
        for call in range(len(calls))
    ]
    if announce:
        warn_of_packs(
            (job.name, result.scored_modalities) for own in results for job, result in zip(jobs, own, strict=True)
        )
    return results


def _score(job: Job, pairs: list[Pair], read: Mapping[Any, Any], frequencies: Any, collected: Collected) -> None:
    """Adds the statistics and details of some pairs."""
    collected.stats.append(job.scorer.pair_stats(pairs, read, frequencies))
    if isinstance(job.scorer, SupportsDetails):
        for name, values in job.scorer.details(pairs, read).items():
            collected.details.setdefault(name, []).extend(values)


def normalise(pairs: Sequence[Pair], normaliser: Normaliser) -> list[Pair]:
    """Normalises both texts of each pair; a pair that does not change stays the same object."""
    texts = {text: normaliser.apply(text) for text in distinct_texts(pairs)}
    references = texts
    if normaliser.of_reference:
        references = {text: normaliser.reference(text) for text in {pair.reference for pair in pairs}}
    return [
        pair
        if references[pair.reference] == pair.reference and texts[pair.candidate] == pair.candidate
        else pair._replace(reference=references[pair.reference], candidate=texts[pair.candidate])
        for pair in pairs
    ]


def as_read(job: Job, pairs: Sequence[Pair]) -> list[tuple[Pair, str]]:
    """Returns the pairs that a job reads, normalised, each with its pack; none with a missing reference."""
    scored = [pair for pair in pairs if pair.reference.strip() or job.kind.scores_missing]
    pack = job.kind.pack
    packs = [pack_for(read(pair.reference).scope) if pack == AUTO else pack for pair in scored]
    read_pairs = zip(normalise(scored, job.normaliser), packs, strict=True)
    return [each for each in read_pairs if each[0].reference.strip() or job.kind.scores_missing]


def unscored_references(job: Job, references: Sequence[str]) -> tuple[str, ...]:
    """Returns why a job leaves pairs with these references unscored, before it scores any; "" if it does not."""
    pairs = [Pair(text, text) for text in references]
    annotations = Annotations(steps := list(_steps([job], [list(dict.fromkeys(pairs))], BLOCK)), Memory(0))
    gates = []
    for index in range(len(steps)):
        gates += [_gate(part, annotations) for part in annotations.parts(index)]
        annotations.forget(index)
    return Gate.joined(gates, pairs).reasons


def _steps(jobs: Sequence[Job], calls: Sequence[Sequence[Pair]], block: int) -> Iterator[Step]:
    """Blocks of pairs for all jobs that share a normaliser and read the same kind of text.

    Normalisers and calls take turns at each block: the uses of a text are near each other, and memory stays flat.
    """
    groups: dict[Kind, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.kind, []).append(job)
    for start in range(0, max(map(len, calls)), block):
        for kind, members in groups.items():
            for call, pairs in enumerate(calls):
                if start < len(pairs):
                    yield Step(call, list(pairs[start : start + block]), kind, members)


def _gate(step: Step, annotations: Annotations) -> Gate:
    """Makes the gate of a part of a block from the reader's readings, which metrics that read findings share."""
    kind, texts = step.kind, distinct_texts(step.pairs)
    lacks = kind.normaliser.lacks and not kind.scores_missing
    lacking = {given: kind.normaliser.lacks for given, own in _references(step) if not own.strip()} if lacks else {}
    if not kind.modality:
        return open_gate(step.pairs, "", {}, kind.pack, missing=kind.scores_missing, lacking=lacking)
    given_and_left = zip(step.pairs, step.normalised, strict=True)
    left = dict(_references(step)) | {given.candidate: normal.candidate for given, normal in given_and_left}
    readings = annotations.read_texts(ReaderBackend(kind.pack), list(dict.fromkeys((*texts, *left.values()))))
    scopes = {text: readings[text].scope for text in texts}
    of_left = {text: readings[rest].scope for text, rest in left.items()}
    removed = {text: readings[text].removed for text in texts}
    return open_gate(
        step.pairs,
        kind.modality,
        scopes,
        kind.pack,
        left=of_left,
        missing=kind.scores_missing,
        removed=removed,
        lacking=lacking,
    )


def _references(step: Step) -> Iterator[tuple[str, str]]:
    """Each reference as it was given and as it is read."""
    return ((given.reference, own.reference) for given, own in zip(step.pairs, step.normalised, strict=True))


class Annotations:
    """The annotations of the texts (or pairs) that are still needed."""

    def __init__(self, steps: Sequence[Step], memory: Memory, readings: Readings | None = None) -> None:
        self._steps = steps
        self._readings = readings
        self._memory = memory
        self._ending = last_uses(steps)
        self._references = (
            {pair.reference for step in steps for pair in (*step.pairs, *step.normalised)} if memory.size else set()
        )
        self._by_backend: dict[str, dict[Any, Any]] = {}
        self._parts: dict[int, list[Step]] = {}

    def parts(self, index: int) -> list[Step]:
        """Returns the pairs of the step `index` by the pack that each is read with, that of its reference."""
        if index not in self._parts:
            step = self._steps[index]
            self._parts[index] = [step] if step.kind.pack != AUTO else self._by_pack(step)
        return self._parts[index]

    def _by_pack(self, step: Step) -> list[Step]:
        references = list(dict.fromkeys(pair.reference for pair in step.pairs))
        readings = self.read_texts(ReaderBackend(), references)
        by_pack: dict[str, list[Pair]] = {}
        for pair in step.pairs:
            by_pack.setdefault(pack_for(readings[pair.reference].scope), []).append(pair)
        return [replace(step, pairs=pairs, kind=step.kind._replace(pack=pack)) for pack, pairs in by_pack.items()]

    def read(self, backend: Backend | PairBackend, pairs: Sequence[Pair], index: int) -> Mapping[Any, Any]:
        """Returns the annotations, by text or by pair, of at least the pairs of the step `index`."""
        if isinstance(backend, PairBackend):
            known = self._by_backend.setdefault(backend.key, {})
            new = [pair for pair in dict.fromkeys(pairs) if pair not in known]
            if new and isinstance(backend, SupportsLookahead):
                new = self._ahead(backend, index, known)
            known.update(zip(new, self._of_pairs(backend, new, index) if new else (), strict=True))
            return known
        return self.read_texts(backend, distinct_texts(pairs))

    def read_texts(self, backend: Backend, texts: Sequence[str]) -> Mapping[str, Any]:
        """Returns the annotations by text of at least these; those of references are kept in memory."""
        key = backend.key
        known = self._by_backend.setdefault(key, {})
        new = [text for text in texts if text not in known]
        if self._memory.size:
            known.update(self._memory.recall(key, new))
        if self._readings is not None and isinstance(backend, ReaderBackend):
            known.update(self._readings.recall(backend.pack, new))
        new = [text for text in new if text not in known]
        if new:
            known.update(zip(new, self._of_texts(backend, new), strict=True))
        if self._readings is not None:
            self._readings.keep(known[text] for text in texts)
        if new and self._memory.size:
            self._memory.keep(key, [text for text in new if text in self._references], known)
        return known

    def _of_texts(self, backend: Backend, texts: Sequence[str]) -> Sequence[Any]:
        """Returns one annotation for each text, of a composed backend from those of its parts."""
        if not isinstance(backend, Composed):
            return backend.annotate(texts)
        parts = {name: self.read_texts(part, texts) for name, part in backend.parts.items()}
        return backend.compose([{name: read[text] for name, read in parts.items()} for text in texts])

    def _of_pairs(self, backend: PairBackend, pairs: Sequence[Pair], index: int) -> Sequence[Any]:
        """Returns one annotation for each pair, of a composed backend from those of its parts."""
        if not isinstance(backend, ComposedPairs):
            return backend.annotate_pairs(pairs)
        parts = {name: self.read(part, pairs, index) for name, part in backend.parts.items()}
        return backend.compose_pairs(pairs, parts)

    def _ahead(self, backend: SupportsLookahead, index: int, known: Container[Pair]) -> list[Pair]:
        """The distinct pairs of this and of the next steps that the backend has not seen, as many as it wants.

        All are read with the pack of the backend.
        """
        pairs: dict[Pair, None] = {}
        for number, step in enumerate(islice(self._steps, index, None), index):
            if step.kind.pack == AUTO or any(job.backend.key == backend.key for job in step.jobs):
                for part in self.parts(number):
                    if any(for_pack(job.backend, part.kind.pack).key == backend.key for job in step.jobs):
                        scored = (
                            pair for pair in part.normalised if pair.reference.strip() or part.kind.scores_missing
                        )
                        pairs.update((pair, None) for pair in scored if pair not in known)
            if len(pairs) >= backend.lookahead:
                break
        return list(pairs)

    def forget(self, index: int) -> None:
        """Drops the texts and pairs that no step after `index` needs."""
        for item in self._ending.pop(index, ()):
            for known in self._by_backend.values():
                known.pop(item, None)
        self._parts.pop(index, None)


def last_uses(steps: Sequence[Step]) -> dict[int, list[str | Pair]]:
    """The texts and pairs that no step after one needs, by the index of the step."""
    last: dict[str | Pair, int] = {}
    for index, step in enumerate(steps):
        for pairs in (step.pairs, step.normalised):
            last.update(dict.fromkeys((*pairs, *distinct_texts(pairs)), index))
    ending: dict[int, list[str | Pair]] = {}
    for item, index in last.items():
        ending.setdefault(index, []).append(item)
    return ending


def _gates_of(job: Job, gates: Mapping[tuple[int, Kind], Gate]) -> Iterator[Gate]:
    """The gates of a job in each call."""
    return (gate for (_, kind), gate in gates.items() if kind == job.kind)


def _result(job: Job, gate: Gate, collected: Collected, given: Frequencies | None) -> Result:
    """The result of a call from the statistics and details of its distinct pairs."""
    reduction = job.scorer.reduction
    scored = np.concatenate(collected.stats)
    chosen = gate.chosen(reduction, job.name.spec.headline, scored)
    stats = gate.placed(chosen, scored)
    notes = dict(job.scorer.notes(stats)) if isinstance(job.scorer, SupportsNotes) else {}
    if given is not None:
        notes["statistics"] = given.checksum
    details = gate.details(chosen, job.name.spec.name, collected.details) | details_of(job.name, gate.packs)
    notes |= facts_of(job.name, {*gate.packs})
    return Result(
        spec=job.name.spec,
        scores=aggregate.reduce(reduction, stats),
        per_pair=reduction.per_pair(stats),
        pair_stats=stats,
        reduction=reduction,
        signature=signature.write(job.name, facts={**job.facts, **notes}, n_pairs=len(stats)),
        details=details,
        bundled=job.name.bundled,
    )
