"""Processes on this machine that share the scoring: each loads the metrics, and results are returned in order.

Processes are spawned (by loky, from joblib), never forked, because OpenMP, which torch uses, has threads that a fork
does not copy and that the child would wait for forever. A killed process is replaced, and its pairs are scored again.

Counts over all references hold parts of their texts. The processes read them from a file without a name, which is gone
with the process that holds it, whatever ends it. Where the system has no /proc (macOS, Windows) it is a file in a
temporary folder that only its owner may read; there SIGKILL can leave it.
"""

from __future__ import annotations

import logging
import os
import pickle
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.files.stored import Scored, joined
from rrgmetrics.reading.lexicon import environment_of_children
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.frequencies import Frequencies
from rrgmetrics.scoring import signature
from rrgmetrics.scoring.notice import VARIABLE
from rrgmetrics.scoring.packs import warn_of_packs
from rrgmetrics.scoring.results import Result
from rrgmetrics.scoring.scope_filter import reasons_of, warn_of_scopes
from rrgmetrics.specs.names import MetricName
from rrgmetrics.utils import subprocess_guard as child
from rrgmetrics.utils.own_process import collect_seldom, sleeping_threads
from rrgmetrics.utils.printable import log_visibly
from rrgmetrics.utils.progress import Progress

T = TypeVar("T")
logger = logging.getLogger("rrgmetrics")
_logging = ExitStack()  # of a worker, until it ends

CHUNK = 512  # distinct pairs of a task; as many as the runner reads at a time
AHEAD = 2  # tasks that wait for each process
TRIES = 3  # processes that one task may end
_STARTED = os.getpid()
_ready: list[Any] = []  # in a worker: the metrics


class Task(NamedTuple):
    """A chunk of pairs to score.

    Attributes:
        names: Of the metrics.
        pairs: Distinct.
        statistics: A file of the counts over all references; "" for none.
    """

    names: tuple[str, ...]
    pairs: list[Pair]
    statistics: str


class Answer(NamedTuple):
    """What a metric says of a chunk."""

    scored: Scored
    signature: str


class Pool:
    """Processes that have the same metrics ready; they start with the first task.

    Args:
        metrics: What pickles to the same metrics in another process.
        workers: How many processes.
    """

    def __init__(self, metrics: Any, workers: int) -> None:
        self.workers = workers
        self._metrics = pickle.dumps(metrics)
        self._executor: Any = None
        self._shared: list[tuple[dict[str, Frequencies], _Unnamed]] = []

    def map(self, function: Callable[[Any, T], Any], tasks: Iterable[T]) -> Iterator[Any]:
        """Yields `function(metrics, task)` of each task, in order; a few tasks are under way at a time.

        Raises:
            BackendError: A task ended one process after the other.
        """
        waiting: deque[tuple[T, Future[Any]]] = deque()
        ended: Counter[int] = Counter()
        done, remaining = 0, iter(tasks)
        try:
            while True:
                for task in remaining:
                    waiting.append((task, self._submit(function, task)))
                    if len(waiting) >= self.workers * (1 + AHEAD):
                        break
                if not waiting:
                    return
                try:
                    answer = waiting[0][1].result()
                except BrokenExecutor as error:
                    ended[done] += 1
                    if ended[done] >= TRIES:
                        raise BackendError(
                            f"{TRIES} worker processes stopped one after the other (out of memory?) on the same "
                            "pairs; use fewer workers."
                        ) from error
                    logger.warning("A worker process stopped; its pairs are scored again.")
                    self.close()
                    waiting = deque((task, self._again(function, task, future)) for task, future in waiting)
                    continue
                waiting.popleft()
                done += 1
                yield answer
        finally:
            for _, future in waiting:
                future.cancel()

    def share(self, statistics: Mapping[str, Frequencies]) -> str:
        """Returns a file of the statistics, which each process reads once; "" if there are none."""
        if not statistics:
            return ""
        for known, file in self._shared:
            if known.keys() == statistics.keys() and all(known[name] is each for name, each in statistics.items()):
                return file.path
        file = _Unnamed(pickle.dumps(dict(statistics)))
        self._shared.append((dict(statistics), file))
        return file.path

    def close(self) -> None:
        """Ends the processes; a further task would start new ones."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, kill_workers=True)
            self._executor = None

    def _submit(self, function: Callable[[Any, T], Any], task: T) -> Future[Any]:
        if self._executor is None:
            self._executor = self._start()
        future: Future[Any] = self._executor.submit(_answer, function, task)
        return future

    def _again(self, function: Callable[[Any, T], Any], task: T, future: Future[Any]) -> Future[Any]:
        """The same answer if it came before the processes ended, else a new one."""
        came = future.done() and not future.cancelled() and future.exception() is None
        return future if came else self._submit(function, task)

    def _start(self) -> Any:
        from joblib.externals.loky import ProcessPoolExecutor

        threads = str(max(1, (os.cpu_count() or 1) // self.workers))
        environment = {
            **environment_of_children(),
            **sleeping_threads(),
            VARIABLE: "no",
            "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", threads),
        }
        return ProcessPoolExecutor(self.workers, initializer=_prepare, initargs=(self._metrics,), env=environment)


class _Unnamed:
    """A file without a name, which other processes of this user can read as long as this object is there.

    Attributes:
        path: What they open.
    """

    def __init__(self, content: bytes) -> None:
        if Path("/proc/self/fd").is_dir():
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as this is
            self._file.write(content)
            self._file.flush()
            self.path = f"/proc/{os.getpid()}/fd/{self._file.fileno()}"
        else:
            self._folder = tempfile.TemporaryDirectory(prefix="rrgmetrics-")
            self.path = str(Path(self._folder.name, "counts"))
            Path(self.path).write_bytes(content)


def check_workers(workers: Any, names: Iterable[MetricName]) -> int:
    """Checks a number of processes.

    Raises:
        InputError: No whole number of at least 1; or several for a metric that asks an engine.
    """
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError(f"workers is {workers!r}; pass a whole number of at least 1.")
    for name in names:
        if workers > 1 and name.spec.judge and name.published:
            raise InputError(f"{name} uses an engine, which handles many requests at a time: leave workers out.")
    return workers


def score_in_pool(
    pool: Pool,
    names: Mapping[str, MetricName],
    sets: Sequence[Sequence[Pair]],
    statistics: Sequence[Mapping[str, Frequencies]],
    kept: Iterable[str] = (),
    announced: bool = True,
) -> Generator[Progress, None, list[dict[str, Result]]]:
    """Scores several lists of pairs.

    Args:
        pool: Processes with at least these metrics.
        names: The metrics.
        sets: Lists of pairs.
        statistics: Of the references of each list, for the metrics that need them.
        kept: Metrics whose signatures name these statistics, because they are not of one list alone.
        announced: Whether to warn of pairs that are out of scope.

    Yields:
        How far it is, after each chunk.

    Returns:
        The Results of each list by metric.
    """
    distinct = [_by_reference(pairs) for pairs in sets]
    answers: list[list[dict[str, Answer]]] = [[] for _ in sets]
    done, total = 0, sum(map(len, distinct)) * len(names)
    files = [pool.share(each) for each in statistics]
    chunks = [(number, start) for number, pairs in enumerate(distinct) for start in range(0, len(pairs), CHUNK)]
    tasks = (Task(tuple(names), distinct[number][start : start + CHUNK], files[number]) for number, start in chunks)
    for (number, _), answer in zip(chunks, pool.map(_score, tasks), strict=True):
        answers[number].append(answer)
        done += len(next(iter(answer.values())).scored.stats) * len(names)
        yield Progress(done, total)
    results = [
        {name: _placed([answer[name] for answer in of_set], own, pairs, name in kept) for name in names}
        for of_set, own, pairs in zip(answers, distinct, sets, strict=True)
    ]
    if announced:
        warn_of_scopes(
            (name, reasons_of(of_set[text].details, name.spec.name))
            for of_set in results
            for text, name in names.items()
        )
        warn_of_packs((name, of_set[text].scored_modalities) for of_set in results for text, name in names.items())
    return results


def heed_fork() -> None:
    """Lets a process that was forked compute with one thread, for those of its parent are gone (OpenMP, in torch)."""
    if os.getpid() != _STARTED and "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def _by_reference(pairs: Sequence[Pair]) -> list[Pair]:
    """The distinct pairs, those of one reference together: a chunk reads it once."""
    groups: dict[str, list[Pair]] = {}
    for pair in dict.fromkeys(pairs):
        groups.setdefault(pair.reference, []).append(pair)
    return [pair for group in groups.values() for pair in group]


def _placed(answers: Sequence[Answer], distinct: Sequence[Pair], pairs: Sequence[Pair], kept: bool) -> Result:
    """The result of all pairs, from what was said of the distinct ones."""
    order = {pair: index for index, pair in enumerate(distinct)}
    places = np.array([order[pair] for pair in pairs])
    whole = joined([answer.scored for answer in answers])
    details = {key: [values[place] for place in places] for key, values in whole.details.items()}
    signed = answers[0].signature if kept else signature.rewrite(answers[0].signature, {"statistics": ""})
    return Result.of_stats(whole.stats[places], signed, details)


def _prepare(metrics: bytes) -> None:
    """In a worker, once: makes the metrics ready."""
    child.follow_parent()
    _logging.enter_context(log_visibly())
    collect_seldom()
    _ready.append(pickle.loads(metrics))


def _answer(function: Callable[[Any, T], Any], task: T) -> Any:
    """In a worker: the answer to a task."""
    return function(_ready[0], task)


def _score(metrics: Any, task: Task) -> dict[str, Answer]:
    """In a worker: what metrics say of a chunk."""
    statistics = _read(task.statistics) if task.statistics else None
    chosen = metrics.only(task.names)
    results = chosen.score_pairs(task.pairs, progress=False, announce=False, statistics=statistics)
    return {name: Answer(result.stored, result.signature) for name, result in results.items()}


@lru_cache(maxsize=2)
def _read(path: str) -> dict[str, Frequencies]:
    statistics: dict[str, Frequencies] = pickle.loads(Path(path).read_bytes())
    return statistics
