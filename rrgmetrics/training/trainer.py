"""How every model here is trained: transformers' Trainer, with batches of like length and runs that can be resumed.

What is ours: the order of the rows is a function of seed and epoch alone, so that a run that was killed goes on exactly
as it would have, on one process or several; `batch_size` is that of an optimizer step, however many processes share
it; random number generators are put back as they were.
"""

from __future__ import annotations

import math
import os
import random
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.errors import InputError
from rrgmetrics.files.write import check_folder
from rrgmetrics.training.config import Precision, TrainerConfig, differences, read_config, write_config
from rrgmetrics.utils.extras import need

GROUP = 50  # batches that are sorted by length together
KEPT_CHECKPOINTS = 2  # the best and the last
CONFIG = "training_config.yaml"
OLD_CONFIG = "recipe.yaml"  # what version 0.2 wrote; runs begun with it can be gone on with
CARD = "README.md"
CHECKPOINTS = "checkpoints"
TRAINING_ARGUMENTS = "training_args.bin"


@dataclass
class LengthGroups:
    """The order of the rows of an epoch: shuffled, rows of like length side by side, batches shuffled.

    Attributes:
        lengths: Of the rows.
        batch_size: Rows that should be of like length.
        seed: With `epoch`, of the order.
        epoch: Set by the Trainer.
    """

    lengths: NDArray[np.int64]
    batch_size: int
    seed: int
    epoch: int = field(default=0)

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch, and with it the next order."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        generator = np.random.default_rng((self.seed, self.epoch))
        order = generator.permutation(len(self.lengths))
        group = GROUP * self.batch_size
        for start in range(0, len(order), group):
            part = order[start : start + group]
            order[start : start + group] = part[np.argsort(-self.lengths[part], kind="stable")]
        whole = len(order) - len(order) % self.batch_size
        batches = order[:whole].reshape(-1, self.batch_size)
        yield from batches[generator.permutation(len(batches))].ravel().tolist()
        yield from order[whole:].tolist()


@cache
def trainer_class() -> Any:
    """Returns transformers' Trainer with `LengthGroups`; it is made on demand, for the import takes seconds."""
    from transformers import Trainer

    class LengthGroupedTrainer(Trainer):  # type: ignore[misc]
        """Training rows have `lengths`; the batches of a step are of like length."""

        def _get_train_sampler(self, train_dataset: Any = None) -> LengthGroups:
            rows = self.train_dataset if train_dataset is None else train_dataset
            batch = self._train_batch_size * self.args.gradient_accumulation_steps * self.args.world_size
            return LengthGroups(rows.lengths, batch, self.args.seed)

    return LengthGroupedTrainer


def make_trainer(
    config: TrainerConfig,
    folder: Path,
    *,
    n_rows: int,
    progress: bool,
    arguments: Mapping[str, Any] | None = None,
    arguments_kind: Any = None,
    kind: Any = None,
    **parts: Any,
) -> Any:
    """Returns a Trainer for a config.

    Args:
        config: How to train.
        folder: Where checkpoints go.
        n_rows: Training rows.
        progress: Whether to show a bar.
        arguments: Further arguments of transformers' TrainingArguments, such as the metric that chooses the model.
        arguments_kind: A subclass of transformers' TrainingArguments.
        kind: A subclass of `trainer_class()`, or another Trainer.
        parts: Model, data sets, collator and so on, as transformers' Trainer takes them.

    Raises:
        InputError: As `training_arguments`.
    """
    from transformers import EarlyStoppingCallback, PrinterCallback

    made = training_arguments(
        config, folder, n_rows=n_rows, progress=progress, kind=arguments_kind, **(arguments or {})
    )
    stops = [EarlyStoppingCallback(config.patience)] if config.patience and made.load_best_model_at_end else []
    trainer = (kind or trainer_class())(args=made, callbacks=stops, **parts)
    trainer.remove_callback(PrinterCallback)
    return trainer


def training_arguments(
    config: TrainerConfig, folder: Path, *, n_rows: int, progress: bool, kind: Any = None, **more: Any
) -> Any:
    """Returns a config as transformers' TrainingArguments.

    Args:
        config: How to train.
        folder: Where checkpoints go.
        n_rows: Training rows.
        progress: Whether to show a bar.
        kind: A subclass of transformers' TrainingArguments; None: that class.
        more: Further arguments, such as the metric that chooses the model.

    Raises:
        InputError: A batch that cannot be shared evenly, or a precision this machine cannot do.
    """
    from transformers import TrainingArguments

    shares = n_processes() * config.accumulation
    if config.batch_size % shares:
        raise InputError(
            f"batch_size {config.batch_size} cannot be divided among {n_processes()} processes with "
            f"{config.accumulation} passes each; use a multiple of {shares}."
        )
    n_steps = steps_an_epoch(config, n_rows)
    every = min(math.ceil(n_steps / config.evaluations), max(1, math.ceil(config.epochs * n_steps)))
    values: dict[str, Any] = dict(
        output_dir=str(folder),
        num_train_epochs=config.epochs,
        per_device_train_batch_size=config.batch_size // shares,
        per_device_eval_batch_size=max(64, config.batch_size // shares),
        gradient_accumulation_steps=config.accumulation,
        learning_rate=config.learning_rate,
        weight_decay=config.weight_decay,
        warmup_steps=warmup_steps(config, n_rows),
        lr_scheduler_type=config.schedule,
        max_grad_norm=config.max_grad_norm,
        **{name: True for name in (precision_of(config),) if name != "fp32"},
        seed=config.seed,
        eval_strategy="steps",
        save_strategy="steps",
        eval_steps=every,
        save_steps=every,
        logging_steps=max(1, every // 4),
        save_total_limit=KEPT_CHECKPOINTS,
        dataloader_num_workers=config.workers,
        dataloader_pin_memory=not config.cpu and _has_cuda(),
        remove_unused_columns=False,
        label_names=["labels"],
        report_to="none",
        disable_tqdm=not progress,
        use_cpu=config.cpu or not _has_accelerator(),
    )
    arguments = (kind or TrainingArguments)(**(values | more))
    if arguments.n_gpu > 1:
        arguments._n_gpu = 1  # several GPUs are for `accelerate launch`: DataParallel would multiply the batch
    return arguments


def steps_an_epoch(config: TrainerConfig, n_rows: int) -> int:
    """Returns the optimizer steps of one pass over the training rows."""
    return max(1, -(-n_rows // config.batch_size))


def warmup_steps(config: TrainerConfig, n_rows: int) -> int:
    """Returns the steps over which the learning rate rises."""
    return round(config.warmup_ratio * config.epochs * steps_an_epoch(config, n_rows))


def n_processes() -> int:
    """Returns the number of processes that train together, as `accelerate launch` and `torchrun` say it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_main_process() -> bool:
    """Whether this process writes the files."""
    return os.environ.get("RANK", "0") == "0"


def wait_for_everyone(config: TrainerConfig) -> None:
    """Returns when all processes have come here."""
    from accelerate import PartialState

    if n_processes() > 1:
        PartialState(cpu=config.cpu or not _has_accelerator()).wait_for_everyone()


def precision_of(config: TrainerConfig, *, gpu: Precision = "fp16") -> Precision:
    """Returns the precision of a run: what the config says, or for `auto` that of CUDA devices (`gpu`) or fp32.

    Raises:
        InputError: fp16 without a CUDA device.
    """
    cuda = not config.cpu and _has_cuda()
    if config.precision == "fp16" and not cuda:
        raise InputError("precision is fp16, which needs a CUDA device; use auto, bf16 or fp32 on a CPU.")
    return (gpu if cuda else "fp32") if config.precision == "auto" else config.precision


def _has_cuda() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def _has_accelerator() -> bool:
    import torch

    return bool(torch.cuda.is_available() or torch.backends.mps.is_available())


def last_checkpoint(folder: Path) -> str | None:
    """Returns the checkpoint to go on from; None for a fresh run."""
    from transformers.trainer_utils import get_last_checkpoint

    return get_last_checkpoint(str(folder)) if folder.is_dir() else None


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Sets Python's, NumPy's and torch's generators, and puts them back as they were."""
    import torch

    python, numpy = random.getstate(), np.random.get_state()
    with torch.random.fork_rng():
        try:
            random.seed(seed)
            np.random.seed(seed)
            torch.manual_seed(seed)
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)


def check_run(folder: Path, config: TrainerConfig, *, force: bool) -> None:
    """Checks, before any work, that a run can begin or go on in a folder.

    Raises:
        InputError: The folder holds a finished run or a run with another config, and not `force`; or something else.
        MissingExtraError: torch, transformers or accelerate is not installed.
    """
    need("Training", "training")
    if not is_main_process():
        return
    file = next((folder / name for name in (CONFIG, OLD_CONFIG) if (folder / name).is_file()), None)
    empty = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    if not empty and file is None:
        raise InputError(f"{folder} exists and is not a run of rrgmetrics; choose another folder.")
    check_folder(folder if folder.exists() else folder.parent)
    if file is None or force:
        return
    if (folder / CARD).is_file():
        raise InputError(f"{folder} contains a finished run; pass force=True to replace it, or choose another folder.")
    changed = differences(read_config(type(config), str(file)), config)
    if changed:
        raise InputError(
            f"{folder} contains a run that was started with another {', '.join(changed)}; resume it with its "
            f"{file.name}, pass force=True to start again, or choose another folder."
        )


def close_run(folder: Path, *stages: str) -> None:
    """Removes what only an interrupted run needs, and the Trainer's pickled arguments."""
    if is_main_process():
        for name in (CHECKPOINTS, *stages):
            shutil.rmtree(folder / name, ignore_errors=True)
        (folder / TRAINING_ARGUMENTS).unlink(missing_ok=True)


def open_run(folder: Path, config: TrainerConfig, *, force: bool) -> None:
    """Empties the folder if `force`, and writes the config into it."""
    if not is_main_process():
        return
    if force and folder.is_dir():
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    write_config(config, folder / CONFIG)
