"""Training of CREPE regressors: labelled pairs → a checkpoint folder for `crepe@FOLDER`, with its card.

The model and its losses are in `rrgmetrics.backends.crepe_model`. The checkpoint kept is the one with the highest
Kendall's tau-b between predicted and labelled total errors on the validation rows, the paper's criterion.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.checkpoints import WEIGHTS, Checkpoint, find_checkpoint
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.stats import Estimate, correlate
from rrgmetrics.training import trainer as runs
from rrgmetrics.training.config import CrepeConfig
from rrgmetrics.training.tokenized import (
    N_CATEGORIES,
    LabelledPairs,
    PairBatches,
    TokenizedPairs,
    read_labelled_pairs,
    split_pairs,
    tokenize_pairs,
)

if TYPE_CHECKING:
    from rrgmetrics.backends.crepe_model import CrepeSettings

TRIALS = 1_000  # resamples of the intervals on the card


@dataclass(frozen=True)
class Measured:
    """A regressor on one split.

    Attributes:
        split: `validation` or `test`.
        n_pairs: Its rows.
        tau: Kendall's tau-b of predicted and labelled total errors, with its 95% interval over studies.
        rho: Spearman's rho of the same.
        mae: Mean absolute difference of the totals, in errors a pair.
        category_tau: tau-b of each category's counts (six heads only); NaN where the labels are constant.
        category_mae: Mean absolute difference of each category's counts (six heads only).
    """

    split: str
    n_pairs: int
    tau: Estimate
    rho: Estimate
    mae: float
    category_tau: tuple[float, ...] = ()
    category_mae: tuple[float, ...] = ()


@dataclass(frozen=True)
class CrepeRun:
    """What a training left behind.

    Attributes:
        folder: The checkpoint: `crepe@FOLDER` scores with it.
        config: The recipe.
        measured: On validation rows, and on test rows if there are any.
        seconds: Wall time of this call.
    """

    folder: Path
    config: CrepeConfig
    measured: tuple[Measured, ...]
    seconds: float


@dataclass(frozen=True)
class CrepeData:
    """Pairs, tokenised for one recipe.

    Attributes:
        pairs: All pairs.
        rows: Row numbers of each split; validation and test rows by falling length, as they are evaluated.
        tokens: The rows of each split, tokenised.
    """

    pairs: LabelledPairs
    rows: Mapping[str, NDArray[np.intp]]
    tokens: Mapping[str, TokenizedPairs]


def train_crepe(config: CrepeConfig, output: str | Path, *, force: bool = False, progress: bool = True) -> CrepeRun:
    """Trains a regressor, or goes on with a run that was interrupted.

    Args:
        config: The recipe.
        output: Folder of the checkpoint: safetensors, config.json, tokenizer, recipe.yaml, README.md.
        force: Whether a run in that folder may be replaced.
        progress: Whether to show bars.

    Returns:
        The folder and what the regressor reaches on the held-out rows.

    Raises:
        InputError: Pairs, recipe or folder cannot be used; said before anything is trained.
        BackendError: The encoder is nowhere to be found, or has no tokenizer for pairs.
    """
    from rrgmetrics.training.cards import write_crepe_card

    begun = time.perf_counter()
    folder = Path(output)
    runs.check_run(folder, config, force=force)
    found = find_encoder(config.encoder)
    tokenizer = load_tokenizer(found)
    data = read_data(config, tokenizer, progress=progress)
    checkpoints = folder / runs.CHECKPOINTS
    with runs.quiet(), runs.seeded(config.seed):
        trainer = crepe_trainer(config, data, tokenizer, checkpoints, found=found, progress=progress)
        runs.open_run(folder, config, force=force)
        trainer.accelerator.wait_for_everyone()
        resumed = runs.last_checkpoint(checkpoints)
        trainer.train(resume_from_checkpoint=resumed)
        measured = tuple(measure(trainer, data, split) for split in ("validation", "test") if len(data.rows[split]))
        trainer.save_model(str(folder))
    run = CrepeRun(folder, config, measured, time.perf_counter() - begun)
    if runs.is_main_process():
        tokenizer.save_pretrained(str(folder))
        (folder / "history.json").write_text(json.dumps(trainer.state.log_history, indent=1) + "\n")
        write_crepe_card(run, data, encoder=found.identity, steps=trainer.state.global_step, resumed=resumed)
    runs.close_run(folder)
    return run


def find_encoder(name: str) -> Checkpoint:
    """The encoder's folder; weights pickled by older transformers are taken too (torch reads them as weights only)."""
    return find_checkpoint(name, weights=(*WEIGHTS, "pytorch_model.bin"))


def load_tokenizer(found: Checkpoint) -> Any:
    """The tokenizer of a checkpoint; BackendError unless it marks the two texts where the encoder tells them apart."""
    from transformers import AutoConfig, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(found.folder, local_files_only=True)
        config = AutoConfig.from_pretrained(found.folder, local_files_only=True)
    except Exception as error:  # transformers raises whatever it likes for a damaged checkpoint
        raise BackendError(f"{found.identity}: no tokenizer could be loaded from {found.folder}: {error}") from error
    if not getattr(tokenizer, "is_fast", False):
        raise BackendError(f"{found.identity} has no fast tokenizer (tokenizer.json or vocab.txt); training needs one.")
    if getattr(config, "type_vocab_size", 1) > 1 and 1 not in tokenizer.backend_tokenizer.encode("a", "b").type_ids:
        raise BackendError(f"{found.identity}: its tokenizer does not tell two texts apart (token_type_ids are all 0).")
    return tokenizer


def read_data(config: CrepeConfig, tokenizer: Any, *, progress: bool = False) -> CrepeData:
    """Reads, splits and tokenises the pairs of a recipe."""
    pairs = read_labelled_pairs(config.pairs)
    rows = split_pairs(pairs, fraction=config.validation_fraction, seed=config.seed)
    if config.max_pairs:
        drawn = np.random.default_rng(config.seed).permutation(len(rows["train"]))[: config.max_pairs]
        rows["train"] = rows["train"][np.sort(drawn)]
    lengths = np.array([len(r) + len(c) for r, c in zip(pairs.references, pairs.candidates, strict=True)])
    for split in ("validation", "test"):  # evaluated in order: batches of like length
        rows[split] = rows[split][np.argsort(-lengths[rows[split]], kind="stable")]
    options = {"max_length": config.max_length, "n_heads": config.heads, "targets": config.token_weight > 0}
    return CrepeData(
        pairs,
        rows,
        {split: tokenize_pairs(pairs, rows[split], tokenizer, progress=progress, **options) for split in rows},
    )


def build_model(config: CrepeConfig, data: CrepeData, tokenizer: Any, found: Checkpoint) -> Any:
    """The encoder with heads after the recipe: new ones, or those of a CREPE checkpoint."""
    from rrgmetrics.backends.crepe_model import build_crepe, crepe_class

    settings = crepe_settings(config, tokenizer)
    known = json.loads((found.folder / "config.json").read_text())
    _check_length(config, known)
    if "num_error_categories" not in known:
        model = build_crepe(str(found.folder), settings)
        if config.features == "tokens":
            _start_rates(model, data.tokens["train"])
        return model
    if known["num_error_categories"] != config.heads:
        raise InputError(f"{config.encoder} has {known['num_error_categories']} heads, the recipe {config.heads}.")
    return crepe_class().from_pretrained(str(found.folder), **settings.written()).train()


def crepe_settings(config: CrepeConfig, tokenizer: Any) -> CrepeSettings:
    """A recipe's heads and loss as the keys of a checkpoint's config."""
    from rrgmetrics.backends.crepe_model import CrepeSettings

    loss, _, presence = config.loss.partition("+")
    return CrepeSettings(
        num_error_categories=config.heads,
        use_poisson_loss=loss == "poisson",
        use_presence_loss=bool(presence),
        presence_loss_weight=config.presence_weight,
        crepe_features=config.features,
        crepe_token_loss_weight=config.token_weight,
        cls_token_id=tokenizer.cls_token_id,
        sep_token_id=tokenizer.sep_token_id,
    )


def _start_rates(model: Any, rows: TokenizedPairs) -> None:
    """Biases with which untrained token rates sum to the mean label; with 0 a pair begins at 0.7 errors a token."""
    import torch

    rates = np.maximum(rows.labels.mean(axis=0), 0.01) / rows.lengths.mean()
    with torch.no_grad():
        for head, rate in zip(model.error_regressors, rates, strict=True):
            head.bias.fill_(float(np.log(np.expm1(rate))))


def _check_length(config: CrepeConfig, known: Mapping[str, Any]) -> None:
    positions = known.get("max_position_embeddings", config.max_length)
    if config.max_length > positions:
        raise InputError(f"max_length is {config.max_length}, but {config.encoder} reads {positions} tokens.")


def crepe_trainer(
    config: CrepeConfig,
    data: CrepeData,
    tokenizer: Any,
    folder: Path,
    *,
    found: Checkpoint,
    progress: bool,
    **more: Any,
) -> Any:
    """A Trainer for a recipe; `more` goes to TrainingArguments."""
    from transformers import PrinterCallback

    keep_best = {"load_best_model_at_end": True, "metric_for_best_model": "tau", "greater_is_better": True}
    n_rows = len(data.rows["train"])
    arguments = runs.training_arguments(config, folder, n_rows=n_rows, progress=progress, **(keep_best | more))
    trainer = runs.trainer_class()(
        model_init=lambda: build_model(config, data, tokenizer, found),
        args=arguments,
        train_dataset=data.tokens["train"],
        eval_dataset=data.tokens["validation"],
        data_collator=PairBatches(tokenizer.pad_token_id),
        compute_metrics=selection_metrics,
        callbacks=runs.callbacks(config) if arguments.load_best_model_at_end else None,
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def selection_metrics(prediction: Any) -> dict[str, float]:
    """What each evaluation reports: tau-b and mean absolute error of the totals.

    A regressor that gives all pairs one number has no tau; it counts as -1, so that it is never the one that is kept.
    """
    from scipy.stats import kendalltau

    counts = _counts(prediction.predictions)
    predicted, labelled = counts.sum(1), prediction.label_ids.sum(1)
    tau = kendalltau(predicted, labelled).statistic
    return {"tau": -1.0 if np.isnan(tau) else float(tau), "mae": float(np.abs(predicted - labelled).mean())}


def _counts(predictions: Any) -> NDArray[np.float64]:
    """Counts `(n_pairs, n_heads)` of a Trainer's predictions, which a score never lets fall below 0."""
    counts = predictions[0] if isinstance(predictions, tuple) else predictions
    return np.maximum(counts, 0).astype(np.float64)


def measure(trainer: Any, data: CrepeData, split: str) -> Measured:
    """The trainer's model on a held-out split."""
    predicted = _counts(trainer.predict(data.tokens[split]).predictions)
    rows = data.rows[split]
    studies = [data.pairs.studies[i] for i in rows]
    return compare_counts(split, predicted, data.tokens[split].labels.astype(np.float64), studies)


def compare_counts(
    split: str, predicted: NDArray[np.float64], labelled: NDArray[np.float64], studies: list[str]
) -> Measured:
    """Agreement of predicted with labelled counts, `(n_pairs, n_heads)` each; intervals over studies."""
    totals = correlate(predicted.sum(1), labelled.sum(1), groups=studies, trials=TRIALS)
    measured = Measured(
        split, len(predicted), totals.tau_b, totals.rho, float(np.abs(predicted.sum(1) - labelled.sum(1)).mean())
    )
    if predicted.shape[1] != N_CATEGORIES:
        return measured
    taus = [correlate(predicted[:, c], labelled[:, c], trials=2).tau_b.value for c in range(N_CATEGORIES)]
    return replace(
        measured,
        category_tau=tuple(taus),
        category_mae=tuple(np.abs(predicted - labelled).mean(axis=0).tolist()),
    )
