"""What a callback keeps of its evaluations: the results of the latest, and of the best one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.scoring.results import Result


class Latest:
    """Results of each evaluation set at the latest step and at the best one so far."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[int, Mapping[str, Result]]] = {}

    def keep(self, prefix: str, state: Any, step: int, results: Mapping[str, Result]) -> None:
        """Keeps the results of a set at the step of its model; the Trainer says later whether it was the best one."""
        best = {step: kept for step, kept in self._kept.get(prefix, {}).items() if step == state.best_global_step}
        self._kept[prefix] = best | {step: results}

    def of(self, prefix: str, args: Any, state: Any) -> Mapping[str, Result]:
        """Returns the results of the model that the Trainer leaves.

        Raises:
            InputError: It was not evaluated in this process.
        """
        kept = self._kept.get(prefix, {})
        step = state.best_global_step if args.load_best_model_at_end else max(kept, default=None)
        if step not in kept:
            raise InputError(f"No results of {prefix} are kept: the model was not evaluated in this process.")
        return kept[step]
