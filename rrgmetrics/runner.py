"""`score`: texts in, one Result a metric out.

All metrics walk through the pairs together, a block at a time. Equal pairs are scored once, a backend sees each
distinct text (or pair) once whichever metrics share it, and what it said is dropped after the last use: beyond the
texts and a few numbers a pair, memory does not grow with the number of pairs.
"""

from __future__ import annotations

import logging
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np

from rrgmetrics import aggregate, signature
from rrgmetrics.errors import InputError
from rrgmetrics.gate import Gate, announcement, modality_of, open_gate, scopes_of
from rrgmetrics.names import MetricName, expand, parse_name
from rrgmetrics.notice import name_stand_ins
from rrgmetrics.reports import Pair, check_pairs
from rrgmetrics.results import Result
from rrgmetrics.scorers.base import (
    Array,
    Backend,
    Composed,
    Explaining,
    LookingAhead,
    Noting,
    PairBackend,
    Runtime,
    Scorer,
)
from rrgmetrics.specs import JUDGE_OPTIONS
from rrgmetrics.text import Normaliser, get_normaliser

logger = logging.getLogger("rrgmetrics")

BLOCK = 512  # distinct pairs; large enough to batch by length, small enough to hold their token vectors


@dataclass(frozen=True)
class Job:
    """A metric that is ready to run."""

    name: MetricName
    scorer: Scorer
    backend: Backend | PairBackend
    normaliser: Normaliser

    @property
    def modality(self) -> str:
        """What it reads; "" for any text."""
        return modality_of(self.name)


@dataclass(frozen=True)
class Step:
    """A block of one call's distinct pairs, already normalised, and the jobs that score them."""

    call: int
    pairs: list[Pair]
    jobs: list[Job]

    def texts(self) -> Iterator[str]:
        """References and candidates, repeated ones too."""
        for pair in self.pairs:
            yield pair.reference
            yield pair.candidate


def score(
    names: str | Sequence[str],
    *,
    predictions: Any,
    references: Any,
    contexts: Any = None,
    batch_size: int | None = None,
    device: str | None = None,
    progress: bool = True,
) -> dict[str, Result]:
    """Scores reports against reports with any number of metrics.

    Args:
        names: Metrics as `"bleu"`, `"bertscore@radeval"` or `"bleu?tokenizer=13a"`; one or several.
        predictions: The system's reports, one a study; `""` for an empty one.
        references: The radiologists' reports, in the same order.
        contexts: One dict a pair with any of `age`, `sex`, `indication`; or None.
        batch_size: Texts a forward pass of a model; None leaves it to the backend.
        device: torch device of models; None takes CUDA where there is one, else the CPU.
        progress: Whether to show a bar while it runs.

    Returns:
        A Result for each name, under the string that was passed.

    Raises:
        InputError: A name, option or report that cannot be used; nothing was scored.
        BackendError: Weights or data that are not there; nothing was scored.
        MissingExtraError: An optional dependency that is not installed; nothing was scored.

    Example:
        >>> score("rouge", predictions=["Clear lungs."], references=["Lungs are clear."])["rouge"].scores["rouge_1"]
        0.8
    """
    scored = score_systems(
        names,
        systems={"": predictions},
        references=references,
        contexts=contexts,
        batch_size=batch_size,
        device=device,
        progress=progress,
    )
    return scored[""]


def score_systems(
    names: str | Sequence[str],
    *,
    systems: Mapping[str, Any],
    references: Any,
    contexts: Any = None,
    batch_size: int | None = None,
    device: str | None = None,
    progress: bool = True,
) -> dict[str, dict[str, Result]]:
    """Scores several systems' reports on the same studies; equal to `score` for each, reading each reference once.

    Args:
        names: Metrics, as in `score`.
        systems: Each system's reports by its name.
        references: The radiologists' reports.
        contexts: As in `score`.
        batch_size: As in `score`.
        device: As in `score`.
        progress: As in `score`.

    Returns:
        For each system its Results by metric.

    Raises:
        InputError: As in `score`, or no system.
        BackendError: As in `score`.
        MissingExtraError: As in `score`.
    """
    parsed = parse_names(names)
    if not systems:
        raise InputError("No system was given; pass at least one list of reports by name.")
    calls = [_check_system(name, reports, references, contexts) for name, reports in systems.items()]
    jobs = prepare(parsed.values(), Runtime(check_batch_size(batch_size), device, progress))
    results = run(jobs, calls, progress=progress)
    return {system: dict(zip(parsed, row, strict=True)) for system, row in zip(systems, results, strict=True)}


def parse_names(names: str | Sequence[str]) -> dict[str, MetricName]:
    """Metric names by the string that was passed, presets expanded; raises InputError for none or a repeated one."""
    texts = [names] if isinstance(names, str) else list(names)
    if not texts:
        raise InputError("No metric was named; for example ['bleu', 'rouge'].")
    for index, text in enumerate(texts):
        if text in texts[:index]:
            raise InputError(f"The metric {text!r} is named twice.")
    return {name: parse_name(name) for text in texts for name in expand(text)}


def prepare(names: Iterable[MetricName], runtime: Runtime) -> list[Job]:
    """Builds every scorer, then loads every backend, so that what is missing is known before any work."""
    scorers = [(name, build_scorer(name)) for name in names]
    return [
        Job(name, scorer, scorer.backend(runtime), get_normaliser(str(name.options.get("text", "none"))))
        for name, scorer in scorers
    ]


def build_scorer(name: MetricName) -> Scorer:
    """The scorer of a metric with its options."""
    module, _, class_name = name.spec.scorer.partition(":")
    scorer_class = getattr(import_module(module), class_name)
    options: dict[str, Any] = {key: value for key, value in name.options.items() if key != "text"}
    if name.spec.judge:
        options["engine"] = {key: options.pop(key) for key in JUDGE_OPTIONS}
    if name.spec.takes_checkpoint:
        options["config"] = name.config
    scorer: Scorer = scorer_class(**options)
    return scorer


def run(
    jobs: Sequence[Job], calls: Sequence[Sequence[Pair]], *, progress: bool, announce: bool = True
) -> list[list[Result]]:
    """Scores several lists of pairs with every job; results by call, in the order of the jobs.

    Args:
        jobs: Metrics that are ready to run.
        calls: Lists of pairs.
        progress: Whether to show a bar.
        announce: Whether to warn of pairs that are out of scope.
    """
    gates = _gates(jobs, calls, announce=announce)
    steps = list(_steps(jobs, gates))
    statistics = {(i, id(job)): _statistics(job, pairs) for i, pairs in enumerate(calls) for job in jobs}
    blocks: dict[tuple[int, int], list[Array]] = {key: [] for key in statistics}
    details: dict[tuple[int, int], dict[str, list[Any]]] = {key: {} for key in statistics}
    annotations = Annotations(steps)
    with _bar(sum(len(call[job.modality].pairs) for call in gates for job in jobs), progress) as bar:
        for index, step in enumerate(steps):
            references, candidates, contexts = (list(column) for column in zip(*step.pairs, strict=True))
            for job in step.jobs:
                key = step.call, id(job)
                seen = annotations.read(job.backend, index)
                blocks[key].append(job.scorer.pair_stats(references, candidates, contexts, seen, statistics[key]))
                if isinstance(job.scorer, Explaining):
                    for name, values in job.scorer.details(references, candidates, contexts, seen).items():
                        details[key].setdefault(name, []).extend(values)
                bar.update(len(step.pairs))
            annotations.forget(index)
    name_stand_ins(job.name for job in jobs)
    return [
        [_result(job, call[job.modality], np.concatenate(blocks[i, id(job)]), details[i, id(job)]) for job in jobs]
        for i, call in enumerate(gates)
    ]


def _gates(jobs: Sequence[Job], calls: Sequence[Sequence[Pair]], *, announce: bool) -> list[dict[str, Gate]]:
    """For each call what of its pairs is scored, by what the jobs read; says what is not."""
    metrics: dict[str, list[str]] = {}
    for job in jobs:
        metrics.setdefault(job.modality, []).append(job.name.spec.name)
    scopes = scopes_of(calls) if any(metrics) else {}
    gates = [{modality: open_gate(pairs, modality, scopes) for modality in metrics} for pairs in calls]
    for modality, names in metrics.items():
        message = announcement(modality, names, [call[modality] for call in gates])
        if announce and message:
            logger.warning("%s", message)
    return gates


class Annotations:
    """What the backends said of the texts (or pairs) that are still needed."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        last: dict[str | Pair, int] = {}
        for index, step in enumerate(steps):
            last.update(dict.fromkeys(step.texts(), index))
            last.update(dict.fromkeys(step.pairs, index))
        self._leaving: dict[int, list[str | Pair]] = {}
        for item, index in last.items():
            self._leaving.setdefault(index, []).append(item)
        self._by_backend: dict[str, dict[Any, Any]] = {}

    def read(self, backend: Backend | PairBackend, index: int) -> Mapping[Any, Any]:
        """Annotations by text, or by pair, of at least those of the step `index`."""
        step = self._steps[index]
        known = self._by_backend.setdefault(backend.key, {})
        if isinstance(backend, PairBackend):
            pairs = [pair for pair in dict.fromkeys(step.pairs) if pair not in known]
            if pairs and isinstance(backend, LookingAhead):
                pairs = self._ahead(backend, index, known)
            known.update(zip(pairs, backend.annotate_pairs(pairs) if pairs else (), strict=True))
        else:
            texts = [text for text in dict.fromkeys(step.texts()) if text not in known]
            known.update(zip(texts, self._annotate(backend, texts, index) if texts else (), strict=True))
        return known

    def _annotate(self, backend: Backend, texts: Sequence[str], index: int) -> Sequence[Any]:
        """One annotation a text of the step `index`; of a composed backend from those of its parts."""
        if not isinstance(backend, Composed):
            return backend.annotate(texts)
        parts = {name: self.read(part, index) for name, part in backend.parts.items()}
        return backend.compose([{name: read[text] for name, read in parts.items()} for text in texts])

    def _ahead(self, backend: LookingAhead, index: int, known: Container[Pair]) -> list[Pair]:
        """The distinct pairs of this and of the next steps that the backend has not seen, as many as it wants."""
        pairs: dict[Pair, None] = {}
        for step in islice(self._steps, index, None):
            if any(job.backend.key == backend.key for job in step.jobs):
                pairs.update((pair, None) for pair in step.pairs if pair not in known)
            if len(pairs) >= backend.lookahead:
                break
        return list(pairs)

    def forget(self, index: int) -> None:
        """Drops the texts and pairs whose last step is `index`."""
        leaving = self._leaving.pop(index, [])
        for known in self._by_backend.values():
            for item in leaving:
                known.pop(item, None)


def _steps(jobs: Sequence[Job], calls: Sequence[Mapping[str, Gate]]) -> Iterator[Step]:
    """Blocks of pairs for all jobs that share a normaliser and read the same kind of text.

    Normalisers and calls take turns at each block: the uses of a text stand near each other, and memory stays flat.
    """
    groups: dict[tuple[Normaliser, str], list[Job]] = {}
    for job in jobs:
        groups.setdefault((job.normaliser, job.modality), []).append(job)
    longest = max(len(gate.pairs) for gates in calls for gate in gates.values())
    for start in range(0, longest, BLOCK):
        for (normaliser, modality), members in groups.items():
            for call, gates in enumerate(calls):
                pairs = gates[modality].pairs[start : start + BLOCK]
                block = [_normalise(pair, normaliser) for pair in pairs]
                if block:
                    yield Step(call, block, members)


def _normalise(pair: Pair, normaliser: Normaliser) -> Pair:
    reference, candidate = normaliser.apply(pair.reference), normaliser.apply(pair.candidate)
    return pair if (reference, candidate) == pair[:2] else pair._replace(reference=reference, candidate=candidate)


def _statistics(job: Job, pairs: Sequence[Pair]) -> Any:
    return job.scorer.statistics((job.normaliser.apply(pair.reference) for pair in pairs), job.backend)


def _result(job: Job, gate: Gate, found: Array, details: Mapping[str, list[Any]]) -> Result:
    """The result of a call from the statistics and details of its distinct pairs."""
    reduction = job.scorer.reduction
    chosen = gate.chosen(reduction, job.name.spec.headline, found)
    stats = gate.placed(chosen, found)
    per_pair = reduction.per_pair(stats)
    notes = job.scorer.notes(stats) if isinstance(job.scorer, Noting) else {}
    return Result(
        spec=job.name.spec,
        scores=aggregate.reduce(reduction, stats),
        per_pair=per_pair,
        pair_stats=stats,
        reduction=reduction,
        signature=signature.write(job.name, facts={**job.backend.facts, **notes}, n_pairs=len(stats)),
        details=gate.details(chosen, job.name.spec.name, details),
        bundled=job.name.bundled,
    )


def _check_system(name: str, predictions: Any, references: Any, contexts: Any) -> list[Pair]:
    try:
        return check_pairs(predictions, references, contexts)
    except InputError as error:
        raise InputError(f"System {name!r}: {error}" if name else str(error)) from None


def check_batch_size(batch_size: Any) -> int | None:
    """Raises InputError unless it is None or a whole number of at least 1."""
    if batch_size is not None and (isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1):
        raise InputError(f"batch_size is {batch_size!r}; pass a whole number of at least 1, or None.")
    return batch_size


def _bar(total: int, progress: bool) -> Any:
    from tqdm.auto import tqdm

    return tqdm(total=total, unit="pair", desc="scoring", disable=not progress, leave=False)
