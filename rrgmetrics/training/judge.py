"""Training of judges: questions with replies → a small language model's folder for `green@FOLDER`, with its card.

Supervised fine-tuning by TRL, of all weights or with PEFT's LoRA. The model is asked exactly as the engine `hf:` asks
it later, and the loss covers the reply alone. At each evaluation it judges held-out pairs: the checkpoint kept is
the one whose counts of errors are nearest to the targets, which a loss over words does not tell.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rrgmetrics import files
from rrgmetrics.backends.bert import quietly
from rrgmetrics.errors import InputError, VerdictError
from rrgmetrics.judges.engines.hf import Loaded, LocalModel
from rrgmetrics.training import trainer as runs
from rrgmetrics.training.cards import write_judge_card
from rrgmetrics.training.config import JudgeConfig, changed
from rrgmetrics.training.judge_data import Example, count_errors, protocol_of, read_judge_data, token_rows
from rrgmetrics.training.judge_models import lora_config, model_and_tokenizer, save_judge
from rrgmetrics.utils.extras import need

MEASURED = "measured.json"
AT_ONCE = 64  # questions; fewer where the device lacks the memory
ROOM = 1.5  # a reply that is longer than the longest target by this factor has no end


@dataclass(frozen=True)
class Judged:
    """How a model's verdicts on pairs agree with the replies that it should have given.

    Attributes:
        n: Pairs that it was asked about.
        unreadable: Share of the replies that hold no verdict.
        mae: Mean difference of the errors counted; a reply without a verdict is off by the errors there are, and one.
        exact: Share of pairs with the number of errors counted that the target has.
        same: Share of replies that are the target, word for word.
    """

    n: int
    unreadable: float
    mae: float
    exact: float
    same: float


@dataclass(frozen=True)
class JudgeRun:
    """A trained judge: its folder, how it was trained, what it reaches on the held-out pairs, and how long it took."""

    folder: Path
    config: JudgeConfig
    measured: Judged
    seconds: float


def train_judge(config: JudgeConfig, output: str | Path, *, force: bool = False, progress: bool = True) -> JudgeRun:
    """Trains a judge, or goes on with a run that was interrupted.

    Args:
        config: How to train.
        output: Folder of the model: safetensors, config.json, tokenizer, training_config.yaml, README.md.
        force: Whether a run in that folder may be replaced.
        progress: Whether to show bars.

    Raises:
        InputError: Pairs, replies, config or folder cannot be used; raised before anything is trained.
        BackendError: The model to begin with is missing or damaged.
        MissingExtraError: TRL, or PEFT for LoRA, is not installed.
    """
    begun = time.perf_counter()
    folder = Path(output)
    check_judge_run(folder, config, force=force)
    data = read_judge_data(config)
    with quietly(), runs.seeded(config.seed):
        model, tokenizer = model_and_tokenizer(config, data.rows["train"])
        raw = not getattr(tokenizer, "chat_template", None)
        rows = token_rows(data.rows["train"], tokenizer, raw=raw, max_length=config.max_length, left_out=data.left_out)
        if not rows["input_ids"]:
            raise InputError(
                f"All prompts with their replies are longer than max_length, {config.max_length:,} tokens."
            )
        runs.open_run(folder, config, force=force)
        runs.wait_for_everyone(config)
        asked = Questions(config, data.rows["validation"][: config.validation_pairs], tokenizer, raw)
        checkpoints = folder / runs.CHECKPOINTS
        trainer = judge_trainer(config, model, rows, asked, checkpoints, progress=progress)
        resumed = runs.last_checkpoint(checkpoints)
        trainer.train(resume_from_checkpoint=resumed)
        measured = trainer.judged()
        save_judge(trainer, tokenizer, config, folder)
    run = JudgeRun(folder, config, measured, time.perf_counter() - begun)
    if runs.is_main_process():
        files.write_json(folder / MEASURED, asdict(measured), force=True)
        write_judge_card(run, data, n_rows=len(rows["input_ids"]), steps=trainer.state.global_step, resumed=resumed)
    runs.close_run(folder)
    return run


# --- agreement of verdicts


@dataclass(frozen=True)
class Questions:
    """Pairs that a model is asked about, with the replies that it should give.

    Attributes:
        config: Of the run.
        examples: The pairs.
        tokenizer: Of the model.
        raw: Whether it is asked without a chat template.
    """

    config: JudgeConfig
    examples: Sequence[Example]
    tokenizer: Any
    raw: bool

    def ask(self, model: Any) -> Judged:
        """Asks a model, and compares its verdicts with the targets."""
        longest = max(len(self.tokenizer(example.reply)["input_ids"]) for example in self.examples)
        limit = int(ROOM * longest) + 1
        source = LocalModel(Loaded(model, self.tokenizer, ""), self.raw, AT_ONCE)
        replies = [""] * len(self.examples)
        for answer in source.stream([replace(example.prompt, max_tokens=limit) for example in self.examples]):
            replies[answer.number] = answer.reply.text or ""
        return self.compare(replies)

    def compare(self, replies: Sequence[str]) -> Judged:
        """Compares the verdicts that replies hold with the targets."""
        protocol = protocol_of(self.config)
        off, unreadable, same = np.zeros(len(replies)), 0, 0
        for index, (example, reply) in enumerate(zip(self.examples, replies, strict=True)):
            same += reply.strip() == example.reply.strip()
            try:
                off[index] = abs(count_errors(protocol.verdict(example.pair, [reply])) - example.errors)
            except VerdictError:
                off[index] = example.errors + 1
                unreadable += 1
        n = len(replies)
        return Judged(n, unreadable / n, float(off.mean()), float((off == 0).mean()), same / n)


# --- TRL's trainer


def judge_trainer(
    config: JudgeConfig,
    model: Any,
    rows: Mapping[str, Sequence[Any]],
    asked: Questions,
    folder: Path,
    *,
    progress: bool,
) -> Any:
    """Returns TRL's trainer for a config.

    Args:
        config: How to train; `precision` auto is bf16 on CUDA.
        model: Where training begins.
        rows: Columns `input_ids` and `labels` of the training rows.
        asked: What each evaluation asks.
        folder: Where checkpoints go.
        progress: Whether to show bars.
    """
    from datasets import Dataset
    from trl import SFTConfig

    precision = runs.precision_of(config, gpu="bf16")
    saving = ("activation_checkpointing", "gradient_checkpointing")  # as transformers calls it from 5.20 on, and before
    settings = {
        "load_best_model_at_end": True,
        "metric_for_best_model": "verdict_mae",
        "greater_is_better": False,
        "max_length": None,
        "dataset_kwargs": {"skip_prepare_dataset": True},
        next(name for name in saving if hasattr(SFTConfig, name)): config.save_memory,
        "adam_beta2": config.beta2,
        "bf16": precision == "bf16",  # TRL's own default is True
    }
    parts: dict[str, Any] = {"peft_config": lora_config(config)} if config.lora_rank else {}
    trainer = runs.make_trainer(
        changed(config, precision=precision, patience=0),
        folder,
        n_rows=len(rows["input_ids"]),
        progress=progress,
        arguments=settings,
        arguments_kind=SFTConfig,
        kind=_trainer_class(),
        model=model,
        processing_class=asked.tokenizer,
        train_dataset=Dataset.from_dict(dict(rows)),
        eval_dataset=Dataset.from_dict({name: column[:1] for name, column in rows.items()}),  # never read
        **parts,
    )
    trainer.asked = asked
    if config.patience:
        trainer.add_callback(_stopping_class()(config.patience))
    return trainer


@cache
def _trainer_class() -> Any:
    """TRL's SFTTrainer that draws rows of like length and evaluates by verdicts; made on demand."""
    from trl import SFTTrainer

    class JudgeTrainer(SFTTrainer):  # type: ignore[misc]
        """Has `asked`, the `Questions` of each evaluation."""

        asked: Questions

        def _get_train_sampler(self, train_dataset: Any = None) -> runs.LengthGroups:
            rows = self.train_dataset if train_dataset is None else train_dataset
            batch = self._train_batch_size * self.args.gradient_accumulation_steps * self.args.world_size
            lengths = np.array([len(row) for row in rows["input_ids"]], dtype=np.int64)
            return runs.LengthGroups(lengths, batch, self.args.seed)

        def judged(self) -> Judged:
            """Asks the model as it is; with several processes each asks the same, in step."""
            with _whole(self.model_wrapped, self.accelerator) as model:
                was_training = model.training
                model.eval()
                try:
                    return self.asked.ask(model)
                finally:
                    model.train(was_training)

        def evaluate(
            self, eval_dataset: Any = None, ignore_keys: Any = None, metric_key_prefix: str = "eval"
        ) -> dict[str, float]:
            """Logs how the verdicts agree."""
            values = asdict(self.judged())
            metrics = {f"{metric_key_prefix}_verdict_{name}": float(value) for name, value in values.items()}
            self.log(metrics)
            self.control: Any = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
            return metrics

    return JudgeTrainer


@cache
def _stopping_class() -> Any:
    """Early stopping that begins to count with the first reply that holds a verdict; made on demand."""
    from transformers import EarlyStoppingCallback

    class StoppingByVerdicts(EarlyStoppingCallback):  # type: ignore[misc]
        """A model that does not yet know the form is not one that has stopped learning."""

        def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any, **parts: Any) -> None:
            if metrics["eval_verdict_unreadable"] < 1:
                super().on_evaluate(args, state, control, metrics, **parts)

    return StoppingByVerdicts


@contextmanager
def _whole(model: Any, accelerator: Any) -> Iterator[Any]:
    """Yields the model with all its weights where processes share them out: by FSDP or by DeepSpeed's ZeRO-3."""
    import torch
    from transformers.integrations.deepspeed import is_deepspeed_zero3_enabled

    gathered: Any = nullcontext()
    if is_deepspeed_zero3_enabled():
        import deepspeed

        gathered = deepspeed.zero.GatheredParameters(list(model.parameters()))
    elif torch.distributed.is_available():
        from torch.distributed.fsdp import FullyShardedDataParallel

        if isinstance(model, FullyShardedDataParallel):  # FSDP 1; FSDP 2 gathers layer by layer
            gathered = FullyShardedDataParallel.summon_full_params(model, writeback=False)
    with gathered:
        yield accelerator.unwrap_model(model)


def check_judge_run(folder: Path, config: JudgeConfig, *, force: bool) -> None:
    """Checks, before any work, that a run can begin or go on.

    Raises:
        InputError: As `trainer.check_run`.
        MissingExtraError: TRL, or PEFT for LoRA, is not installed.
    """
    need("train judge", "training", "trl", *(("peft",) if config.lora_rank else ()))
    runs.check_run(folder, config, force=force)
