"""Training of CREPE regressors: labelled pairs → a checkpoint folder for `crepe@FOLDER`, with its card.

The model and its losses are in `rrgmetrics.backends.crepe.model`. The checkpoint kept is the one with the highest
Kendall's tau-b between predicted and labelled total errors on the validation rows, the paper's criterion.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rrgmetrics import files
from rrgmetrics.backends.bert import quietly
from rrgmetrics.backends.checkpoints import PICKLE, WEIGHTS, Checkpoint, find_checkpoint
from rrgmetrics.backends.checkpoints.limits import read_config
from rrgmetrics.backends.crepe import FOLDERS, nearly_whole
from rrgmetrics.backends.crepe.pair_tokens import PairTokenizer, load_pair_tokenizer
from rrgmetrics.backends.encoder import FOLDERS as ENCODERS
from rrgmetrics.errors import InputError
from rrgmetrics.training import trainer as runs
from rrgmetrics.training.cards import write_crepe_card
from rrgmetrics.training.config import CrepeConfig
from rrgmetrics.training.crepe_data import CrepeData, read_data
from rrgmetrics.training.measured import CrepeRun, Measured, compare_counts, write_measured
from rrgmetrics.training.tokenized import PairBatches, TokenizedPairs

if TYPE_CHECKING:
    from rrgmetrics.backends.crepe.model import CrepeSettings

TOKENIZER_FILES = ("tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
HISTORY = "history.json"


def train_crepe(config: CrepeConfig, output: str | Path, *, force: bool = False, progress: bool = True) -> CrepeRun:
    """Trains a regressor, or goes on with a run that was interrupted.

    Args:
        config: How to train.
        output: Folder of the checkpoint: safetensors, config.json, tokenizer, training_config.yaml, README.md.
        force: Whether a run in that folder may be replaced.
        progress: Whether to show bars.

    Returns:
        The folder and what the regressor reaches on the held-out rows.

    Raises:
        InputError: Pairs, config or folder cannot be used; raised before anything is trained.
        BackendError: The encoder is missing, or has no tokenizer for pairs.
    """
    begun = time.perf_counter()
    folder = Path(output)
    runs.check_run(folder, config, force=force)
    encoder = find_encoder(config.encoder)
    tokenizer = load_tokenizer(encoder, config.max_length)
    data = read_data(config, tokenizer, progress=progress)
    checkpoints = folder / runs.CHECKPOINTS
    with quietly(), runs.seeded(config.seed):
        trainer = crepe_trainer(config, data, tokenizer, checkpoints, encoder=encoder, progress=progress)
        runs.open_run(folder, config, force=force)
        runs.wait_for_everyone(config)
        resumed = runs.last_checkpoint(checkpoints)
        trainer.train(resume_from_checkpoint=resumed)
        measured = tuple(measure(trainer, data, split) for split in ("validation", "test") if len(data.rows[split]))
        trainer.save_model(str(folder))
    run = CrepeRun(folder, config, measured, time.perf_counter() - begun)
    if runs.is_main_process():
        save_tokenizer(tokenizer, encoder.folder, folder)
        files.write_json(folder / HISTORY, trainer.state.log_history, force=True)
        write_measured(folder, measured)
        write_crepe_card(run, data, encoder=encoder.identity, steps=trainer.state.global_step, resumed=resumed)
    runs.close_run(folder)
    return run


def find_encoder(name: str) -> Checkpoint:
    """Returns the encoder's folder, or that of a network which ships with the package (`crepe-bundled@3`).

    Pickled weights of older transformers are taken too, and read as weights only.
    """
    shipped = ENCODERS | FOLDERS
    if name in shipped:
        return Checkpoint(shipped[name], name)
    return find_checkpoint(name, weights=(*WEIGHTS, PICKLE))


def load_tokenizer(encoder: Checkpoint, max_length: int) -> PairTokenizer:
    """Returns the tokenizer of an encoder, as inference reads it.

    Raises:
        InputError: The encoder reads fewer tokens than `max_length`.
        BackendError: It has no tokenizer that sets two texts apart.
    """
    config = encoder_config(encoder)
    positions = config.get("max_position_embeddings", max_length)
    if max_length > positions:
        raise InputError(f"max_length is {max_length}, but {encoder.identity} reads {positions} tokens.")
    return load_pair_tokenizer(encoder.folder, max_length=max_length, n_types=config.get("type_vocab_size", 1))


def encoder_config(encoder: Checkpoint) -> dict[str, Any]:
    """Returns what the checkpoint's config.json says."""
    return read_config(encoder.folder)


def save_tokenizer(tokenizer: PairTokenizer, source: Path, folder: Path) -> None:
    """Writes tokenizer.json, and beside it what transformers reads of the encoder's tokenizer."""
    for name in TOKENIZER_FILES:
        if (source / name).is_file():
            shutil.copyfile(source / name, folder / name)
    tokenizer.tokenizer.save(str(folder / "tokenizer.json"))


def build_model(config: CrepeConfig, data: CrepeData, tokenizer: PairTokenizer, encoder: Checkpoint) -> Any:
    """Returns the encoder with the config's heads: new ones, or those of a CREPE checkpoint."""
    from rrgmetrics.backends.crepe.model import build_crepe
    from rrgmetrics.training.start import continued

    settings = crepe_settings(config, tokenizer)
    known = encoder_config(encoder)
    if "num_error_categories" not in known:
        for name in ("layers", "intermediate_size"):
            if getattr(config, name):
                raise InputError(
                    f"{name} makes CREPE checkpoints smaller, and {config.encoder} is not a CREPE "
                    f"checkpoint; leave {name} out."
                )
        model = build_crepe(str(encoder.folder), settings)
        if config.features == "tokens":
            _start_rates(model, data.tokens["train"])
        return model
    if known["num_error_categories"] != config.heads:
        raise InputError(f"{config.encoder} has {known['num_error_categories']} heads, the config {config.heads}.")
    return continued(encoder, settings, layers=config.layers, intermediate_size=config.intermediate_size)


def crepe_settings(config: CrepeConfig, tokenizer: PairTokenizer) -> CrepeSettings:
    """Returns a config's heads and loss as the keys of a checkpoint's config."""
    from rrgmetrics.backends.crepe.model import CrepeSettings

    loss, _, presence = config.loss.partition("+")
    return CrepeSettings(
        num_error_categories=config.heads,
        use_poisson_loss=loss == "poisson",
        use_presence_loss=bool(presence),
        presence_loss_weight=config.presence_weight,
        crepe_features=config.features,
        crepe_token_loss_weight=config.token_weight,
        cls_token_id=tokenizer.opening.ids[0],
        sep_token_id=tokenizer.closing.ids[0],
        crepe_alignment=config.alignment,
        crepe_whole=config.whole,
    )


def _start_rates(model: Any, rows: TokenizedPairs) -> None:
    """Sets biases so that untrained token rates sum to the mean label; with 0 a pair begins at 0.7 errors a token."""
    import torch

    rates = np.maximum(rows.labels.mean(axis=0), 0.01) / rows.lengths.mean()
    with torch.no_grad():
        for head, rate in zip(model.error_regressors, rates, strict=True):
            head.bias.fill_(float(np.log(np.expm1(rate))))


def crepe_trainer(
    config: CrepeConfig,
    data: CrepeData,
    tokenizer: PairTokenizer,
    folder: Path,
    *,
    encoder: Checkpoint,
    progress: bool,
    config_of: Callable[[Any], CrepeConfig] | None = None,
    **more: Any,
) -> Any:
    """Returns a Trainer for a config.

    Args:
        config: How to train.
        data: The rows.
        tokenizer: Of the encoder.
        folder: Where checkpoints go.
        encoder: Where training begins.
        progress: Whether to show bars.
        config_of: In a search, the config of a trial.
        more: Further arguments of transformers' TrainingArguments.
    """
    config_of_trial = config_of or (lambda trial: config)
    keep_best = {"load_best_model_at_end": True, "metric_for_best_model": "tau", "greater_is_better": True}
    return runs.make_trainer(
        config,
        folder,
        n_rows=len(data.rows["train"]),
        progress=progress,
        arguments=keep_best | more,
        model_init=lambda trial=None: build_model(config_of_trial(trial), data, tokenizer, encoder),
        train_dataset=data.tokens["train"],
        eval_dataset=data.tokens["validation"],
        data_collator=PairBatches(encoder_config(encoder).get("pad_token_id") or 0, config.max_length),
        compute_metrics=selection_metrics,
    )


def selection_metrics(prediction: Any) -> dict[str, float]:
    """Returns what each evaluation reports: tau-b and mean absolute error of the totals.

    A regressor that gives all pairs one number has no tau; it counts as -1, so that it is never the one that is kept.
    """
    from scipy.stats import kendalltau

    counts = _counts(prediction.predictions)
    predicted, labelled = counts.sum(1), prediction.label_ids.sum(1)
    tau = kendalltau(predicted, labelled).statistic
    return {"tau": -1.0 if np.isnan(tau) else float(tau), "mae": float(np.abs(predicted - labelled).mean())}


def _counts(predictions: Any) -> NDArray[np.float64]:
    """Returns counts `(n_pairs, n_heads)` of a Trainer's predictions, which a score never lets fall below 0."""
    counts = predictions[0] if isinstance(predictions, tuple) else predictions
    clipped: NDArray[np.float64] = np.maximum(counts, 0).astype(np.float64)
    return clipped


def measure(trainer: Any, data: CrepeData, split: str) -> Measured:
    """Measures the trainer's model on a held-out split."""
    predicted = nearly_whole(
        _counts(trainer.predict(data.tokens[split]).predictions), trainer.model.settings.crepe_whole
    )
    rows = data.rows[split]
    studies = [data.pairs.studies[i] for i in rows]
    return compare_counts(split, predicted, data.tokens[split].labels.astype(np.float64), studies)
