"""The run: the Trainer, with `ReportMetricsCallback` choosing the best checkpoint by `eval_crepe`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from rich.console import Console
from transformers import TrainerCallback

from examples.train_report_generator.config import Config
from examples.train_report_generator.data import Item, Studies, collate, load_items
from examples.train_report_generator.model import make_parts
from examples.train_report_generator.studies import write_normal_report
from rrgmetrics import score
from rrgmetrics.callbacks import ReportMetricsCallback, best_model

BEST, REPORTS = "best", "reports"


TIMED = 20  # steps from which the time of the others is estimated first, behind the first one


class OneLine(TrainerCallback):
    """Prints what follows and how long it takes, then a line an evaluation: the step, headlines and the time left."""

    def __init__(self, metrics: Sequence[str]) -> None:
        self._keys = [f"eval_{metric}" for metric in metrics]
        self._first = 0
        self._ends: list[float] = []  # of the first steps
        self._mark = 0, 0.0  # step and time of the latest line

    def on_train_begin(self, args: Any, state: Any, control: Any, **keywords: Any) -> None:
        """Prints the number of steps and the interval of evaluations."""
        self._first = state.global_step + 1
        done = f", of which {state.global_step:,} are done" if state.global_step else ""
        every = f"an evaluation every {state.eval_steps:,} steps"
        if state.eval_steps == 1:
            every = "an evaluation at each step, which takes longer than the step (fewer `evaluations:` take less)"
        Console(soft_wrap=True).print(f"{state.max_steps:,} steps{done}; {every}.")

    def on_step_end(self, args: Any, state: Any, control: Any, **keywords: Any) -> None:
        """Estimates once how long the next evaluation and the end are away, by the median of the first steps."""
        done = state.global_step - self._first  # the first step takes longer than the others
        if done > TIMED:
            return
        self._ends.append(perf_counter())
        if done == 0:
            self._mark = state.global_step, self._ends[0]
        elif done == TIMED:
            a_step = median(end - begin for begin, end in pairwise(self._ends))
            next_one = in_minutes(a_step * (state.eval_steps - state.global_step % state.eval_steps))
            end = in_minutes(a_step * (state.max_steps - state.global_step))
            Console(soft_wrap=True).print(
                f"About {next_one} to the next evaluation, {end} to the end and the time of evaluations."
            )

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **keywords: Any) -> None:
        """Called with everything that the Trainer logs."""
        if "eval_runtime" in logs:
            said = "  ".join(f"{key[5:]} {logs[key]:.3f}" for key in self._keys if key in logs)
            text = f"step {state.global_step:6,} of {state.max_steps:,}   {said}"
            (step, since), self._mark = self._mark, (state.global_step, perf_counter())
            left = state.max_steps - state.global_step
            if left and state.global_step > step:  # as fast as since the last line, evaluations too
                text += f"   about {in_minutes((self._mark[1] - since) / (state.global_step - step) * left)} left"
            Console(soft_wrap=True).print(text)


def in_minutes(seconds: float) -> str:
    """A duration in whole minutes, or in seconds below two minutes."""
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"


class Run(NamedTuple):
    """What a training leaves.

    Attributes:
        history: The Trainer's log.
        best_step: Of the checkpoint that `eval_crepe` chose; the model in `<output>/best`.
        baselines: Scores of reports that look at no image, by name: `{metric: headline}`.
        folder: Where the samples of each evaluation lie.
    """

    history: list[dict[str, Any]]
    best_step: int
    baselines: dict[str, dict[str, float]]
    folder: Path


class Prepared(NamedTuple):
    """A Trainer with the callback attached, and the parts it trains and validates on."""

    trainer: Any
    training: list[Item]
    validation: list[Item]


def prepare(config: Config, output: Path, *, resume: bool = False) -> Prepared:
    """Everything up to the first step; raises InputError for what a configuration or a folder has wrong."""
    from transformers import PrinterCallback, Trainer, set_seed

    training, validation = load_items(config)
    set_seed(config.seed)
    model, tokenizer, read_image = make_parts(config, [item.report for item in training])
    sets = [Studies(items, read_image, tokenizer, config.max_tokens) for items in (training, validation)]
    trainer = Trainer(
        model=model,
        args=_arguments(config, output, _interval(config, output, resume=resume)),
        train_dataset=sets[0],
        eval_dataset=sets[1],
        processing_class=tokenizer,
        data_collator=collate,
    )
    callback = ReportMetricsCallback(
        config.metrics, n_reports=config.reports_per_evaluation, restore="repair", folder=output / REPORTS
    )
    callback.attach(trainer)
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(OneLine(list(config.metrics)))
    return Prepared(trainer, training, validation)


def train(config: Config, output: Path, *, resume: bool = False) -> Run:
    """Trains a report generator.

    Args:
        config: What to train on, and how.
        output: Folder of checkpoints, samples and of the best model.
        resume: Whether to go on from the last checkpoint in it.
    """
    trainer, training, validation = prepare(config, output, resume=resume)
    trainer.train(resume_from_checkpoint=resume or None)
    trainer.save_model(str(output / BEST))
    best = Path(trainer.state.best_model_checkpoint).name
    return Run(
        history=trainer.state.log_history,
        best_step=int(best.rpartition("-")[2]),
        baselines=score_baselines(training, validation, list(config.metrics)),
        folder=output / REPORTS,
    )


def score_baselines(training: list[Item], validation: list[Item], metrics: list[str]) -> dict[str, dict[str, float]]:
    """Scores of one report for every image: the normal one, and the most frequent one of the training part."""
    references = [item.report for item in validation]
    frequent = Counter(item.report for item in training).most_common(1)[0][0]
    baselines = {"always the normal report": write_normal_report(), "the most frequent report": frequent}
    return {
        name: {
            metric: result.scores[result.spec.name]
            for metric, result in score(metrics, predictions=[report] * len(references), references=references).items()
        }
        for name, report in baselines.items()
    }


def _interval(config: Config, output: Path, *, resume: bool) -> int:
    """Returns the steps between evaluations; a resumed run keeps its own, whatever its number of steps is now."""
    from transformers import TrainerState
    from transformers.trainer_utils import get_last_checkpoint

    last = get_last_checkpoint(str(output)) if resume else None
    if last is not None:
        return int(TrainerState.load_from_json(str(Path(last) / "trainer_state.json")).eval_steps)
    return max(config.steps // config.evaluations, 1)


def _arguments(config: Config, output: Path, every: int) -> Any:
    import torch
    from transformers import TrainingArguments

    return TrainingArguments(
        output_dir=str(output),
        max_steps=config.steps,
        per_device_train_batch_size=config.batch_size,
        per_device_eval_batch_size=4 * config.batch_size,
        learning_rate=config.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=config.steps // 20,
        weight_decay=0.01,
        logging_steps=max(every // 5, 1),
        eval_strategy="steps",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=2,  # the best one and the last one
        seed=config.seed,
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=torch.cuda.is_available(),
        **best_model("crepe"),
    )
