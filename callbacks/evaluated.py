"""What one evaluation is of: which set, which model, and where its values belong.

The evaluations of a training are one series, with a value for each step. Any other evaluation (`trainer.evaluate()` of
the best model after the training, of a test set, `trainer.predict`) is recorded under a name of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from rrgmetrics.callbacks.baselines import CHOOSING
from rrgmetrics.callbacks.evaluation_set import EvaluationSet

Model = Literal["", "initial_model", "best_model", "last_model"]


class Evaluated(NamedTuple):
    """One evaluation.

    Attributes:
        prefix: What precedes each key in the logs: `"eval"`, `"eval_<set>"`, `"test"`.
        examples: The set.
        series: The prefix, and whether it is another set than the training evaluates with it.
        step: At which its model was trained.
        model: Which model, outside a training; "" within one.
        record: The name of its files: `eval`, `test_best_model`.
    """

    prefix: str
    examples: EvaluationSet
    series: str
    step: int
    model: Model
    record: str

    @property
    def where(self) -> str:
        """The beginning of a message: `step 40: `, `best model, step 20: `."""
        return f"best model, step {self.step}: " if self.model == "best_model" else f"step {self.step}: "

    @property
    def use(self) -> str:
        """What a value that beats no trivial system means, as `baselines.say_change` takes it."""
        return "This model is no better than" if self.model else CHOOSING


def evaluated(prefix: str, examples: EvaluationSet, own: EvaluationSet | None, model: Model, state: Any) -> Evaluated:
    """Names an evaluation.

    Args:
        prefix: Of its keys.
        examples: The set.
        own: The set that the training evaluates with this prefix; None for a prefix of which it has none.
        model: Which model, outside a training.
        state: The Trainer's.
    """
    series = f"{prefix}_other_set" if own is not None and examples is not own else prefix
    step = state.best_global_step if model == "best_model" else state.global_step
    return Evaluated(prefix, examples, series, step, model, "_".join(filter(None, (series, model))))


def model_of(args: Any, state: Any) -> Model:
    """Returns which model a Trainer has that is not in training."""
    if not state.global_step:
        return "initial_model"
    return "best_model" if args.load_best_model_at_end and state.best_model_checkpoint else "last_model"


def follow(trainer: Any, method: str, parameter: str, running: list[Any]) -> None:
    """Makes `running` hold the data set of each call of a method of the Trainer for as long as it runs."""
    call: Callable[..., Any] = getattr(trainer, method)

    @functools.wraps(call)
    def followed(*arguments: Any, **keywords: Any) -> Any:
        running.append(arguments[0] if arguments else keywords.get(parameter))
        try:
            return call(*arguments, **keywords)
        finally:
            running.pop()

    setattr(trainer, method, followed)
