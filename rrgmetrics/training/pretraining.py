"""Encoders: reports → vocabulary → masked language model → SimCSE → a folder; or the last two on a pretrained encoder.

A vocabulary of the field's own keeps words such as `pneumothorax` whole. Its token vectors may start from another
encoder's: each is the mean of the vectors that the other gives the token's text when it reads that alone, brought to
our width by principal components. Queries may start as keys: attention is then a comparison of tokens before anything
is learnt. Then masked-language-model training (Devlin et al. 2019) and unsupervised SimCSE (Gao et al. 2021: a text
read twice under dropout must be nearer to itself than to the other texts of its batch).

A pretrained encoder (`base`: a BERT, a RoBERTa, a ModernBERT) keeps its tokenizer and sizes, as RadEval trains
ModernBERT (Xu et al. 2025, section 5).

Differs from the authors: SimCSE reads the mean of a text's tokens, because the encoder serves comparisons of tokens
too, or with `pooling: cls` the first token, but without a layer of its own behind it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.bert import quietly
from rrgmetrics.backends.checkpoints import Checkpoint, find_checkpoint
from rrgmetrics.backends.checkpoints.loading import load_config, load_model, load_tokenizer
from rrgmetrics.backends.encoder import BUNDLED, Encoder, load_encoder
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.training import trainer as runs
from rrgmetrics.training.cards import write_encoder_card
from rrgmetrics.training.config import EncoderConfig, changed
from rrgmetrics.training.corpus import (
    PAD,
    MaskedBatches,
    TextBatches,
    TokenizedTexts,
    Vocabulary,
    read_corpus,
    save_vocabulary,
    tokenize_texts,
    train_vocabulary,
)

if TYPE_CHECKING:
    from torch import Tensor

DROPOUTS = (  # of BERT and RoBERTa; of ModernBERT; of DistilBERT
    *("hidden_dropout_prob", "attention_probs_dropout_prob"),
    *("embedding_dropout", "mlp_dropout", "attention_dropout"),
    "dropout",
)
LANGUAGE_MODEL, SIMCSE = "language_model", "simcse"


class EncoderRun(NamedTuple):
    """An encoder that was made.

    Attributes:
        folder: A checkpoint of transformers' AutoModel, with tokenizer and card.
        n_parameters: Weights.
        perplexity: Of the hidden tokens of the texts held out, after the language model; 1 is best, NaN without one.
        seconds: Wall time of this call.
    """

    folder: Path
    n_parameters: int
    perplexity: float
    seconds: float


@dataclass(frozen=True)
class Stage:
    """What both stages of a run share.

    Attributes:
        config: How to train.
        folder: Of the run.
        vocabulary: Tokenizer, and its special tokens.
        train: Texts to train on.
        held_out: Texts to measure on.
        progress: Whether to show bars.
        base: The pretrained encoder that is trained further, if there is one.
    """

    config: EncoderConfig
    folder: Path
    vocabulary: Vocabulary
    train: TokenizedTexts
    held_out: TokenizedTexts
    progress: bool
    base: Checkpoint | None = None


def train_encoder(
    config: EncoderConfig, output: str | Path, *, force: bool = False, progress: bool = True
) -> EncoderRun:
    """Makes an encoder, or goes on with a run that was interrupted.

    Args:
        config: How to train.
        output: Folder of the checkpoint: safetensors, config.json, tokenizer, training_config.yaml, README.md.
        force: Whether a run in that folder may be replaced.
        progress: Whether to show bars.

    Raises:
        InputError: Corpus, config or folder cannot be used.
        BackendError: `base` or `initialise_from` is missing.
    """
    begun = time.perf_counter()
    folder = Path(output)
    runs.check_run(folder, config, force=force)
    corpus = read_corpus(config.corpus)
    if len(corpus.texts) <= config.validation_texts:
        raise InputError(
            f"The corpus has {len(corpus.texts):,} texts, and {config.validation_texts:,} are to be held out."
        )
    base = find_base(config) if config.base else None
    start = read_encoder(config.initialise_from) if config.initialise_from and base is None else None
    runs.open_run(folder, config, force=force)
    vocabulary = _vocabulary(corpus.texts, config, folder) if base is None else _base_vocabulary(base, config, folder)
    held_out, train = tokenize_texts(corpus.texts, vocabulary.tokenizer, config.max_length).split(
        config.validation_texts, config.seed
    )
    stage = Stage(config, folder, vocabulary, train, held_out, progress, base)
    with quietly(), runs.seeded(config.seed):
        loss = _train_language_model(stage, start)
        model = _train_simcse(stage)
        if runs.is_main_process():
            model.save_pretrained(str(folder))
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    run = EncoderRun(folder, n_parameters, math.exp(loss), time.perf_counter() - begun)
    if runs.is_main_process():
        write_encoder_card(config, folder, corpus.sources, _facts(run, stage), run.seconds)
    runs.close_run(folder, LANGUAGE_MODEL, SIMCSE)
    return run


def _facts(run: EncoderRun, stage: Stage) -> list[str]:
    tokens = int(stage.train.lengths.sum())
    facts = [
        f"- **Size:** {run.n_parameters / 1e6:.2f} M weights",
        f"- **Texts:** {len(stage.train):,} distinct to train ({tokens:,} tokens), {len(stage.held_out):,} held out",
    ]
    if not math.isnan(run.perplexity):
        facts.append(f"- **Hidden tokens of texts held out:** perplexity {run.perplexity:.2f} after the language model")
    return facts


def find_base(config: EncoderConfig) -> Checkpoint:
    """Finds the encoder to train further, and checks that it reads texts of `max_length`.

    Raises:
        InputError: It reads fewer tokens.
        BackendError: It is not there, or damaged.
    """
    base = find_checkpoint(config.base)
    settings = load_config(base)
    reads = settings.max_position_embeddings - (settings.pad_token_id + 1 if "roberta" in settings.model_type else 0)
    if config.max_length > reads:
        raise InputError(f"max_length is {config.max_length:,}, but {config.base} reads {reads:,} tokens.")
    return base


def _base_vocabulary(base: Checkpoint, config: EncoderConfig, folder: Path) -> Vocabulary:
    """Returns the tokenizer of a pretrained encoder, and copies it into the run's folder."""
    tokenizer = load_tokenizer(base)
    inner = getattr(tokenizer, "backend_tokenizer", None)
    if inner is None or tokenizer.pad_token_id is None or (config.epochs and tokenizer.mask_token_id is None):
        raise InputError(f"{config.base} has no fast tokenizer with padding and mask tokens; use another model.")
    if runs.is_main_process():
        tokenizer.save_pretrained(folder)
    runs.wait_for_everyone(config)
    mask = tokenizer.pad_token_id if tokenizer.mask_token_id is None else tokenizer.mask_token_id
    return Vocabulary(inner, tokenizer.pad_token_id, mask, tuple(sorted(tokenizer.all_special_ids)))


def _vocabulary(texts: Sequence[str], config: EncoderConfig, folder: Path) -> Vocabulary:
    """Returns the run's tokenizer: trained, or as an interrupted run left it. Other processes wait for the main one."""
    from tokenizers import Tokenizer

    file = folder / "tokenizer.json"
    if runs.is_main_process() and not file.is_file():
        trained = train_vocabulary(texts, size=config.vocabulary_size, min_frequency=config.min_frequency)
        save_vocabulary(trained, folder, max_length=config.max_length)
    runs.wait_for_everyone(config)
    return Vocabulary(Tokenizer.from_file(str(file)))


# --- masked language model --------------------------------------------------------------------------------------------


def _train_language_model(stage: Stage, start: Encoder | None) -> float:
    """Trains the masked language model into the stage's folder; returns its loss on the texts held out.

    A pretrained encoder whose language model is not to be trained is left where it is.
    """
    config, folder = stage.config, stage.folder / LANGUAGE_MODEL
    if stage.base and not config.epochs:
        return math.nan
    tokenizer, pad, mask, special = stage.vocabulary
    batches = MaskedBatches(tokenizer.get_vocab_size(), config.mask_probability, config.seed, pad, mask, special)
    best = {"load_best_model_at_end": True, "metric_for_best_model": "loss", "greater_is_better": False}
    finished = (folder / "model.safetensors").is_file()
    model = _language_model(stage, Checkpoint(folder, folder.name) if finished else stage.base, start)
    if not config.epochs:
        model.save_pretrained(str(folder))
        return math.nan
    trainer = runs.make_trainer(
        config,
        folder / runs.CHECKPOINTS,
        n_rows=len(stage.train),
        progress=stage.progress,
        arguments=best | {"prediction_loss_only": True},
        model=model,
        train_dataset=stage.train,
        eval_dataset=stage.held_out,
        data_collator=batches,
    )
    if not finished:
        trainer.train(resume_from_checkpoint=runs.last_checkpoint(folder / runs.CHECKPOINTS))
        trainer.save_model(str(folder))
    return float(trainer.evaluate()["eval_loss"])


def _language_model(stage: Stage, checkpoint: Checkpoint | None, start: Encoder | None) -> Any:
    """Returns the language model of a checkpoint, or a new one."""
    from transformers import BertForMaskedLM

    config, tokenizer = stage.config, stage.vocabulary.tokenizer
    if checkpoint:
        model, loading = load_model("AutoModelForMaskedLM", checkpoint, config=with_dropout(checkpoint, config.dropout))
        absent = [key for key in loading["missing_keys"] if "pooler" not in key]
        if absent:
            raise BackendError(f"{checkpoint.folder} has no masked language model ({absent[0]} is missing); epochs=0.")
        return model
    model = BertForMaskedLM(bert_config(config, tokenizer.get_vocab_size()))
    if start is not None:
        initialise(model.get_input_embeddings().weight, tokenizer, start, config.initializer_range)
    if config.tied_queries:
        tie_queries(model.bert, config.tied_queries)
    return model


def with_dropout(checkpoint: Checkpoint, dropout: float) -> Any:
    """Returns a checkpoint's config with another dropout, by whatever names its layout has for it.

    SimCSE tells two readings of a text apart by dropout alone, and ModernBERT is published without.
    """
    settings = load_config(checkpoint)
    for name in DROPOUTS:
        if hasattr(settings, name):
            setattr(settings, name, dropout)
    return settings


def read_encoder(name: str) -> Encoder:
    """Returns the encoder that `initialise_from` names, all its layers."""
    return load_encoder(BUNDLED if name == "bundled" else name, device="cpu")


def bert_config(config: EncoderConfig, vocabulary_size: int) -> Any:
    """Returns the config's sizes as transformers' BertConfig."""
    from transformers import BertConfig

    return BertConfig(
        vocab_size=vocabulary_size,
        hidden_size=config.hidden_size,
        num_hidden_layers=config.layers,
        num_attention_heads=config.attention_heads,
        intermediate_size=config.intermediate_size,
        max_position_embeddings=config.max_length,
        hidden_dropout_prob=config.dropout,
        attention_probs_dropout_prob=config.dropout,
        initializer_range=config.initializer_range,
        pad_token_id=PAD,
    )


# --- the first weights ------------------------------------------------------------------------------------------------


def initialise(weight: Tensor, tokenizer: Any, encoder: Encoder, size: float) -> None:
    """Sets our token vectors from another encoder's.

    Args:
        weight: Our vectors `(n_tokens, width)`, changed in place; columns beyond the other's width stay.
        tokenizer: Ours.
        encoder: The other.
        size: Root mean square of the new vectors' numbers.
    """
    import torch

    pieces = [piece for piece, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]
    reduced = principal_components(piece_vectors(pieces, encoder), weight.shape[1])
    reduced *= size / max(float(np.sqrt((reduced**2).mean())), 1e-12)
    with torch.no_grad():
        weight[:, : reduced.shape[1]] = torch.from_numpy(reduced)
        weight[PAD] = 0


def piece_vectors(pieces: Sequence[str], encoder: Encoder) -> NDArray[np.float32]:
    """Returns `(n_pieces, width)`: the mean of the token vectors that an encoder gives the text of each word piece."""
    texts = [piece.removeprefix("##") for piece in pieces]
    distinct = list(dict.fromkeys(texts))
    read = dict(zip(distinct, encoder.annotate(distinct), strict=True))
    means = {text: tokens.vectors[tokens.own].sum(axis=0) / max(tokens.own.sum(), 1) for text, tokens in read.items()}
    return np.asarray([means[text] for text in texts], dtype=np.float32)


def tie_queries(model: Any, scale: float) -> None:
    """Makes the queries of a BERT's layers `scale` times as large, and the keys equal to them."""
    import torch

    with torch.no_grad():
        for layer in model.encoder.layer:
            attention = layer.attention.self
            attention.query.weight *= scale
            attention.key.weight.copy_(attention.query.weight)


def principal_components(rows: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    """Returns rows brought to at most `width` columns, those of the largest variance (Pearson 1901)."""
    centred = rows - rows.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    reduced: NDArray[np.float32] = centred @ axes[:width].T
    return reduced.astype(np.float32)


# --- SimCSE -----------------------------------------------------------------------------------------------------------


def _train_simcse(stage: Stage) -> Any:
    """Trains the language model's encoder on; returns it."""
    trained = stage.folder / LANGUAGE_MODEL
    checkpoint = stage.base if stage.base and not stage.config.epochs else Checkpoint(trained, LANGUAGE_MODEL)
    model = _encoder_of(checkpoint, stage.config.dropout)
    if not stage.config.simcse_epochs:
        return model
    config = changed(
        stage.config,
        epochs=stage.config.simcse_epochs,
        batch_size=stage.config.simcse_batch_size,
        learning_rate=stage.config.simcse_learning_rate,
        patience=0,
    )
    checkpoints = stage.folder / SIMCSE / runs.CHECKPOINTS
    trainer = runs.make_trainer(
        config,
        checkpoints,
        n_rows=len(stage.train),
        progress=stage.progress,
        arguments={"eval_strategy": "no", "dataloader_drop_last": len(stage.train) > config.batch_size},
        kind=simcse_trainer_class(),
        model=model,
        train_dataset=stage.train,
        data_collator=TextBatches(stage.vocabulary.pad),
    )
    trainer.temperature, trainer.pooling = config.temperature, config.pooling
    trainer.train(resume_from_checkpoint=runs.last_checkpoint(checkpoints))
    return model


def _encoder_of(checkpoint: Checkpoint, dropout: float) -> Any:
    """Returns the encoder of a checkpoint without a pooling layer, where its class has one."""
    from transformers import MODEL_MAPPING

    settings = with_dropout(checkpoint, dropout)
    pooled = "add_pooling_layer" in signature(MODEL_MAPPING[type(settings)].__init__).parameters
    model, loading = load_model(
        "AutoModel", checkpoint, config=settings, **({"add_pooling_layer": False} if pooled else {})
    )
    if loading["missing_keys"]:
        raise BackendError(f"{checkpoint.folder} lacks weights of the encoder, such as {min(loading['missing_keys'])}.")
    return model


@cache
def simcse_trainer_class() -> Any:
    """Returns the Trainer whose loss is SimCSE's."""
    import torch

    class SimcseTrainer(runs.trainer_class()):  # type: ignore[misc]
        """Reads each text twice, under different dropout."""

        temperature = 0.05
        pooling = "mean"

        def compute_loss(self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, **_: Any) -> Any:
            twice = {name: torch.cat([tensor, tensor]) for name, tensor in inputs.items()}
            output = model(**twice)
            vectors = pooled(output.last_hidden_state, twice["attention_mask"], self.pooling)
            loss = contrastive_loss(*vectors.float().chunk(2), temperature=self.temperature)
            return (loss, output) if return_outputs else loss

    return SimcseTrainer


def pooled(states: Tensor, mask: Tensor, pooling: str) -> Tensor:
    """Returns one vector a text `(B, H)`: the first token's ("cls"), or the mean of its tokens'.

    Args:
        states: Hidden states `(B, T, H)`.
        mask: 1 for a token, 0 for padding `(B, T)`.
        pooling: "mean" or "cls".
    """
    if pooling == "cls":
        return states[:, 0]
    weights = mask.unsqueeze(-1)
    return (states * weights).sum(1) / weights.sum(1)


def contrastive_loss(first: Tensor, second: Tensor, *, temperature: float) -> Tensor:
    """Returns SimCSE's loss (Gao et al. 2021, equation 1).

    It is -log of the softmax of cos(first_i, second_j) / temperature over j, for j = i.

    Args:
        first: Vectors of texts `(B, H)`.
        second: Those of the same texts, read again.
        temperature: Small values weigh the nearest of the other texts most.
    """
    import torch
    from torch.nn.functional import cosine_similarity, cross_entropy

    similarities = cosine_similarity(first[:, None], second[None], dim=-1) / temperature
    return cross_entropy(similarities, torch.arange(len(first), device=first.device))
