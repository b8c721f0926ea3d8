"""Models that answer side by side, and what becomes of them when a request or a whole engine fails.

One replica runs in this process. Several run in processes of their own, each with its share of the GPUs: models of 4
to 8 billion parameters, as judges are, use GPUs better so than spread over all of them. A request that a model cannot
answer costs that one reply; an engine that dies is started once more.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from rrgmetrics.errors import BackendError
from rrgmetrics.judges.engines.asking import Answer, ended, failed

logger = logging.getLogger("rrgmetrics")
_here: list[Any] = []  # in a replica's process: the model


class Question(NamedTuple):
    """A prompt as tokens, its number, and how it is to be answered."""

    number: int
    tokens: list[int]
    settings: Mapping[str, Any]


class Model(Protocol):
    """A loaded model.

    Attributes:
        tokenizer: Its tokenizer.
        window: Tokens that it reads.
        n_known: Tokens that it has an embedding for.
    """

    tokenizer: Any
    window: int
    n_known: int

    def generate(self, questions: Sequence[Question]) -> list[tuple[str, str | None]]:
        """Returns for each question a text and why it ended."""

    def close(self) -> None:
        """Releases the model."""


@dataclass
class Replica:
    """A model that is started again once if it dies.

    Attributes:
        start: Loads the model.
        model: The model.
        restarted: Whether it has died before.
    """

    start: Callable[[], Model]
    model: Model
    restarted: bool = False

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Answers questions; one that fails takes no other with it.

        Raises:
            BackendError: The engine died for the second time.
        """
        try:
            replies = self.model.generate(questions)
        except Exception as error:  # of whatever kind: the model, the GPU, one prompt
            if is_dead(error):
                self._restart(error)
                return self.ask(questions)
            if len(questions) == 1:
                return [failed(questions[0].number, f"{type(error).__name__}: {error}", cause="candidate")]
            middle = len(questions) // 2
            return self.ask(questions[:middle]) + self.ask(questions[middle:])
        return [
            ended(question.number, text, why, question.settings["max_tokens"])
            for question, (text, why) in zip(questions, replies, strict=True)
        ]

    def _restart(self, error: Exception) -> None:
        if self.restarted:
            raise BackendError(f"The engine stopped twice, the second time because of: {error}") from error
        logger.warning("The engine stopped (%s) and is started again.", error)
        self.restarted = True
        self.model.close()
        try:
            self.model = self.start()
        except Exception as again:
            raise BackendError(f"The engine stopped ({error}) and could not be started again: {again}") from again


def ask_all(replicas: Sequence[Replica], questions: Sequence[Question], size: int) -> Generator[Answer, None, None]:
    """Yields answers as they come; each replica takes the next questions when it is free.

    Args:
        replicas: One or several.
        questions: All of them.
        size: Questions that a replica is given at a time, at most.
    """
    size = max(1, min(size, -(-len(questions) // len(replicas))))
    batches = [questions[start : start + size] for start in range(0, len(questions), size)]
    if len(replicas) == 1:
        for batch in batches:
            yield from replicas[0].ask(batch)
        return
    free, running = list(replicas), dict[Future[list[Answer]], Replica]()
    with ThreadPoolExecutor(len(replicas)) as threads:
        while batches or running:
            while batches and free:
                replica = free.pop()
                running[threads.submit(replica.ask, batches.pop(0))] = replica
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                free.append(running.pop(future))
                yield from future.result()


def is_dead(error: BaseException) -> bool:
    """Whether an error means that no further request can be answered."""
    names = [kind.__name__ for kind in type(error).__mro__]
    return isinstance(error, BrokenProcessPool) or any(name.endswith("EngineDeadError") for name in names)


def shares(n_gpus: int, replicas: int) -> list[str]:
    """The GPUs of each replica, as CUDA_VISIBLE_DEVICES names them.

    Example:
        >>> shares(4, 2)  # doctest: +SKIP
        ['0,1', '2,3']
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES") or ",".join(map(str, range(n_gpus)))
    gpus = visible.split(",")[:n_gpus]
    each = n_gpus // replicas
    return [",".join(gpus[start : start + each]) for start in range(0, each * replicas, each)]


class Elsewhere:
    """A model in a process of its own.

    Args:
        load: Loads the model, there; can be pickled.
        gpus: That the process sees.
    """

    def __init__(self, load: Callable[[], Model], gpus: str) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        self._process = ProcessPoolExecutor(1, env={"CUDA_VISIBLE_DEVICES": gpus})
        self.tokenizer, self.window, self.n_known = self._process.submit(_load, load).result()

    def generate(self, questions: Sequence[Question]) -> list[tuple[str, str | None]]:
        """Returns for each question a text and why it ended."""
        replies: list[tuple[str, str | None]] = self._process.submit(_generate, questions).result()
        return replies

    def close(self) -> None:
        """Ends the process."""
        self._process.shutdown(wait=True, kill_workers=True)


def _load(load: Callable[[], Model]) -> tuple[Any, int, int]:
    from rrgmetrics.utils import subprocess_guard as child

    child.follow_parent()
    _here[:] = [load()]
    return _here[0].tokenizer, _here[0].window, _here[0].n_known


def _generate(questions: Sequence[Question]) -> list[tuple[str, str | None]]:
    replies: list[tuple[str, str | None]] = _here[0].generate(questions)
    return replies
