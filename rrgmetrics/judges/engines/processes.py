"""Several processes of one `accelerate launch` (or `torchrun`) share the prompts; each gets all replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from rrgmetrics.errors import BackendError
from rrgmetrics.judges.base import Engine, Prompt, Reply

PATIENCE = timedelta(days=7)  # for the slowest process; torch's own half hour is less than a share may take


@dataclass(frozen=True)
class DistributedEngine:
    """An engine that divides the prompts among the processes, all of which must make the same calls.

    Attributes:
        engine: This process's own.
        processes: How many there are.
    """

    engine: Engine
    processes: int

    @property
    def identity(self) -> str:
        """The engine's own."""
        return self.engine.identity

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The engine's own."""
        return self.engine.parameters

    @property
    def facts(self) -> Mapping[str, str]:
        """The engine's own."""
        return self.engine.facts

    def answer(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Returns one reply for each prompt, in order, in every process.

        Raises:
            BackendError: Not that many processes, or the engine of one of them failed.
        """
        import torch
        from accelerate import PartialState
        from accelerate.utils import gather_object

        state = PartialState(cpu=not torch.cuda.is_available(), timeout=PATIENCE)
        if state.num_processes != self.processes:
            raise BackendError(
                f"processes={self.processes}, but {state.num_processes} run; start the script with `accelerate launch "
                f"--num_processes {self.processes}`, or leave the option out."
            )
        rank = state.process_index
        share = range(rank, len(prompts), self.processes)
        replies, problem = [], ""
        try:
            replies = self.engine.answer([prompts[index] for index in share])
        except BackendError as error:  # the others wait: they must hear of it
            problem = f"process {rank}: {error}"
        gathered = gather_object([(problem, list(zip(share, replies, strict=bool(replies))))])
        problems = [problem for problem, _ in gathered if problem]
        if problems:
            raise BackendError("; ".join(problems))
        whole = dict(pair for _, pairs in gathered for pair in pairs)
        return [whole[index] for index in range(len(prompts))]
