"""The schedule of scoring: when the callback runs, and which metrics take part each time."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rrgmetrics.errors import InputError
from rrgmetrics.specs.names import expand
from rrgmetrics.utils.text_format import counted

Unit = Literal["evaluation", "steps", "epochs"]


@dataclass(frozen=True)
class When:
    """The events at which the callback runs: each evaluation of the Trainer, or every N steps or epochs."""

    unit: Unit
    every: int = 1

    @classmethod
    def parse(cls, text: str) -> When:
        """Reads `"evaluation"`, `"steps:100"`, `"epochs:2"`; raises InputError."""
        if text == "evaluation":
            return cls("evaluation")
        match = re.fullmatch(r"(steps|epochs):([1-9]\d*)", text if isinstance(text, str) else "")
        if match is None:
            raise InputError(f"when is {text!r}; pass 'evaluation', 'steps:N' or 'epochs:N'.")
        return cls("steps" if match[1] == "steps" else "epochs", int(match[2]))

    def never(self, args: Any, max_steps: int) -> str:
        """Returns why the callback does not run in a training, and what to do; empty if it does."""
        if self.unit == "evaluation" and args.eval_strategy == "no" and not args.eval_on_start:
            return "eval_strategy is 'no'; pass eval_strategy='steps' or 'epoch' to TrainingArguments"
        if self.unit == "steps" and self.every > max_steps:
            return f"when is 'steps:{self.every}', and the training has {counted(max_steps, 'step')}"
        if self.unit == "epochs" and args.max_steps <= 0 and self.every > math.ceil(args.num_train_epochs):
            return f"when is 'epochs:{self.every}', and num_train_epochs is {args.num_train_epochs:g}"
        return ""


@dataclass(frozen=True)
class Turn:
    """How often a metric takes part: every `every`-th time, the first included, here or in another process."""

    every: int = 1
    background: bool = False

    @classmethod
    def parse(cls, text: str, metric: str) -> Turn:
        """Reads `"every:5"`, `"background"`, `"background:5"`; raises InputError."""
        match = re.fullmatch(r"every:([1-9]\d*)|background(?::([1-9]\d*))?", text if isinstance(text, str) else "")
        if match is None:
            raise InputError(f"The schedule of {metric} is {text!r}; pass 'every:N', 'background' or 'background:N'.")
        return cls(int(match[1] or match[2] or 1), background=match[1] is None)

    def due(self, n_before: int) -> bool:
        """Returns whether the metric takes part after `n_before` earlier times."""
        return n_before % self.every == 0


def parse_turns(metrics: str | Sequence[str] | Mapping[str, str]) -> dict[str, Turn]:
    """Reads the turns by metric, from names alone (each time) or with schedules; presets expand."""
    if isinstance(metrics, Mapping):
        return {name: Turn.parse(text, metric) for metric, text in metrics.items() for name in expand(metric)}
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    if len(set(names)) < len(names):
        raise InputError(f"A metric is named twice in {names}.")
    return {name: Turn() for metric in names for name in expand(metric)}
