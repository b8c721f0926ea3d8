"""Training of CREPE regressors: labelled pairs → a checkpoint folder for `crepe@FOLDER`, with its card.

The model and its losses are in `rrgmetrics.backends.crepe.model`. The checkpoint kept is the one with the highest
Kendall's tau-b between predicted and labelled total errors on the validation rows, the paper's criterion.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rrgmetrics import files
from rrgmetrics.backends.bert import quietly
from rrgmetrics.backends.checkpoints import PICKLE, WEIGHTS, Checkpoint, find_checkpoint
from rrgmetrics.backends.checkpoints.limits import read_config
from rrgmetrics.backends.checkpoints.loading import load_config, load_model
from rrgmetrics.backends.crepe.pair_tokens import PairTokenizer, load_pair_tokenizer
from rrgmetrics.errors import InputError
from rrgmetrics.stats import Estimate, correlate
from rrgmetrics.synthesis.pairs import N_CATEGORIES
from rrgmetrics.training import trainer as runs
from rrgmetrics.training.config import CrepeConfig
from rrgmetrics.training.tokenized import (
    LabelledPairs,
    PairBatches,
    TokenizedPairs,
    read_labelled_pairs,
    split_pairs,
    tokenize_pairs,
)

if TYPE_CHECKING:
    from rrgmetrics.backends.crepe.model import CrepeSettings

TOKENIZER_FILES = ("tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
HISTORY, MEASURED = "history.json", "measured.json"
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
    tokenizer = load_tokenizer(found, config.max_length)
    data = read_data(config, tokenizer, progress=progress)
    checkpoints = folder / runs.CHECKPOINTS
    with quietly(), runs.seeded(config.seed):
        trainer = crepe_trainer(config, data, tokenizer, checkpoints, found=found, progress=progress)
        runs.open_run(folder, config, force=force)
        runs.wait_for_everyone(config)
        resumed = runs.last_checkpoint(checkpoints)
        trainer.train(resume_from_checkpoint=resumed)
        measured = tuple(measure(trainer, data, split) for split in ("validation", "test") if len(data.rows[split]))
        trainer.save_model(str(folder))
    run = CrepeRun(folder, config, measured, time.perf_counter() - begun)
    if runs.is_main_process():
        save_tokenizer(tokenizer, found.folder, folder)
        files.write_json(folder / HISTORY, trainer.state.log_history, force=True)
        files.write_json(folder / MEASURED, [_as_json(split) for split in measured], force=True)
        write_crepe_card(run, data, encoder=found.identity, steps=trainer.state.global_step, resumed=resumed)
    runs.close_run(folder)
    return run


def find_encoder(name: str) -> Checkpoint:
    """The encoder's folder; weights pickled by older transformers are taken too (torch reads them as weights only)."""
    return find_checkpoint(name, weights=(*WEIGHTS, PICKLE))


def load_tokenizer(found: Checkpoint, max_length: int) -> PairTokenizer:
    """The tokenizer of an encoder, as inference reads it; BackendError unless it sets two texts apart."""
    config = encoder_config(found)
    positions = config.get("max_position_embeddings", max_length)
    if max_length > positions:
        raise InputError(f"max_length is {max_length}, but {found.identity} reads {positions} tokens.")
    return load_pair_tokenizer(found.folder, max_length=max_length, n_types=config.get("type_vocab_size", 1))


def encoder_config(found: Checkpoint) -> dict[str, Any]:
    """What the checkpoint's config.json says."""
    return read_config(found.folder)


def save_tokenizer(tokenizer: PairTokenizer, source: Path, folder: Path) -> None:
    """Writes tokenizer.json, and beside it what transformers reads of the encoder's tokenizer."""
    for name in TOKENIZER_FILES:
        if (source / name).is_file():
            shutil.copyfile(source / name, folder / name)
    tokenizer.tokenizer.save(str(folder / "tokenizer.json"))


def read_data(config: CrepeConfig, tokenizer: PairTokenizer, *, progress: bool = False) -> CrepeData:
    """Reads, splits and tokenises the pairs of a recipe."""
    pairs = read_labelled_pairs(config.pairs)
    rows = split_pairs(pairs, fraction=config.validation_fraction, seed=config.seed)
    if config.max_pairs:
        drawn = np.random.default_rng(config.seed).permutation(len(rows["train"]))[: config.max_pairs]
        rows["train"] = rows["train"][np.sort(drawn)]
    lengths = np.array([len(r) + len(c) for r, c in zip(pairs.references, pairs.candidates, strict=True)])
    for split in ("validation", "test"):  # evaluated in order: batches of like length
        rows[split] = rows[split][np.argsort(-lengths[rows[split]], kind="stable")]
    tokens = {
        split: tokenize_pairs(
            pairs, rows[split], tokenizer, n_heads=config.heads, targets=config.token_weight > 0, progress=progress
        )
        for split in rows
    }
    return CrepeData(pairs, rows, tokens)


def build_model(config: CrepeConfig, data: CrepeData, tokenizer: PairTokenizer, found: Checkpoint) -> Any:
    """The encoder with heads after the recipe: new ones, or those of a CREPE checkpoint."""
    from rrgmetrics.backends.crepe.model import build_crepe, crepe_class

    settings = crepe_settings(config, tokenizer)
    known = encoder_config(found)
    if "num_error_categories" not in known:
        model = build_crepe(str(found.folder), settings)
        if config.features == "tokens":
            _start_rates(model, data.tokens["train"])
        return model
    if known["num_error_categories"] != config.heads:
        raise InputError(f"{config.encoder} has {known['num_error_categories']} heads, the recipe {config.heads}.")
    config = load_config(found)
    for key, value in settings.written().items():
        setattr(config, key, value)
    model, _ = load_model(crepe_class(), found, config=config)
    return model.train()


def crepe_settings(config: CrepeConfig, tokenizer: PairTokenizer) -> CrepeSettings:
    """A recipe's heads and loss as the keys of a checkpoint's config."""
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
    )


def _start_rates(model: Any, rows: TokenizedPairs) -> None:
    """Biases with which untrained token rates sum to the mean label; with 0 a pair begins at 0.7 errors a token."""
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
    found: Checkpoint,
    progress: bool,
    recipe: Callable[[Any], CrepeConfig] | None = None,
    **more: Any,
) -> Any:
    """A Trainer for a recipe.

    Args:
        config: The recipe.
        data: The rows.
        tokenizer: Of the encoder.
        folder: Where checkpoints go.
        found: The encoder.
        progress: Whether to show bars.
        recipe: In a search, the recipe of a trial.
        more: Further arguments of transformers' TrainingArguments.
    """
    trial_recipe = recipe or (lambda trial: config)
    keep_best = {"load_best_model_at_end": True, "metric_for_best_model": "tau", "greater_is_better": True}
    return runs.make_trainer(
        config,
        folder,
        n_rows=len(data.rows["train"]),
        progress=progress,
        arguments=keep_best | more,
        model_init=lambda trial=None: build_model(trial_recipe(trial), data, tokenizer, found),
        train_dataset=data.tokens["train"],
        eval_dataset=data.tokens["validation"],
        data_collator=PairBatches(encoder_config(found).get("pad_token_id") or 0, config.max_length),
        compute_metrics=selection_metrics,
    )


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
    clipped: NDArray[np.float64] = np.maximum(counts, 0).astype(np.float64)
    return clipped


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


def read_measured(folder: Path) -> tuple[Measured, ...]:
    """What an earlier run wrote down of itself."""
    read = json.loads((folder / MEASURED).read_text())
    return tuple(Measured(**{key: _from_json(value) for key, value in facts.items()}) for facts in read)


def _as_json(measured: Measured) -> dict[str, Any]:
    values = vars(measured).items()
    return {key: value._asdict() if isinstance(value, Estimate) else value for key, value in values}


def _from_json(value: Any) -> Any:
    """The inverse of `_as_json`, after `files.write_json` made null of NaN."""
    if isinstance(value, dict):
        return Estimate(**{key: _from_json(item) for key, item in value.items()})
    if isinstance(value, list):
        return tuple(map(_from_json, value))
    return float("nan") if value is None else value
