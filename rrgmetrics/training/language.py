"""Continued pre-training: a language model reads reports before it learns to judge them.

GREEN's authors make RadLLaMA-2 and RadPhi-2 of LLaMA-2 and Phi-2 in this way, from reports, papers and guidelines
(Ostmeier et al. 2024, 3.1.2). Texts are joined, with the token that ends a text between them, and cut into rows of
`max_length` tokens; each token is predicted from those before it. `rrgmetrics train judge model=FOLDER` begins there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.bert import quietly
from rrgmetrics.backends.checkpoints.loading import load_config, load_tokenizer
from rrgmetrics.errors import InputError
from rrgmetrics.judges.engines.adapters import find_causal, load_causal
from rrgmetrics.judges.engines.hf import context_length
from rrgmetrics.training import trainer as runs
from rrgmetrics.training.cards import write_language_card
from rrgmetrics.training.config import LanguageConfig
from rrgmetrics.training.corpus import read_corpus

if TYPE_CHECKING:
    from torch import Tensor


class LanguageRun(NamedTuple):
    """A language model that was trained further.

    Attributes:
        folder: A checkpoint of transformers' AutoModelForCausalLM, with tokenizer and card.
        before: Perplexity of the texts held out, before.
        perplexity: The same, after; 1 is best.
        seconds: Wall time of this call.
    """

    folder: Path
    before: float
    perplexity: float
    seconds: float


@dataclass(frozen=True)
class Blocks:
    """Rows of tokens, all of one length."""

    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> NDArray[np.int64]:
        row: NDArray[np.int64] = self.rows[index]
        return row

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens of each row."""
        return np.full(len(self.rows), self.rows.shape[1])


def blocks_of(texts: Sequence[str], tokenizer: Any, max_length: int) -> Blocks:
    """Joins the tokens of texts and cuts them into rows; what is left over at the end is dropped.

    Raises:
        InputError: The texts have fewer tokens than a row.
    """
    end = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
    rows = tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
    ids = [token for row in rows for token in (*row, *end)]
    n_rows = len(ids) // max_length
    if not n_rows:
        raise InputError(
            f"{len(texts):,} texts have {len(ids):,} tokens, fewer than one row of max_length={max_length:,}; pass "
            "more texts, hold out more with validation_fraction=, or use shorter rows."
        )
    return Blocks(np.array(ids[: n_rows * max_length], dtype=np.int64).reshape(n_rows, max_length))


def batch_of(rows: Sequence[NDArray[np.int64]]) -> Mapping[str, Tensor]:
    """Returns `input_ids`, `attention_mask`, `labels` `(B, T)`; transformers shifts the labels by one."""
    import torch

    ids = torch.from_numpy(np.stack(rows))
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids.clone()}


def train_language(
    config: LanguageConfig, output: str | Path, *, force: bool = False, progress: bool = True
) -> LanguageRun:
    """Trains a language model on reports, or goes on with a run that was interrupted.

    Args:
        config: How to train.
        output: Folder of the model: safetensors, config.json, tokenizer, training_config.yaml, README.md.
        force: Whether a run in that folder may be replaced.
        progress: Whether to show bars.

    Raises:
        InputError: Corpus, config or folder cannot be used; raised before anything is trained.
        BackendError: The model is missing or damaged.
    """
    begun, folder = time.perf_counter(), Path(output)
    runs.check_run(folder, config, force=force)
    corpus = read_corpus(config.corpus)
    if not config.model:
        raise InputError("No model is named; give model=FOLDER or model=HUB_ID of a language model.")
    causal = find_causal(config.model)
    if config.max_length > (window := context_length(load_config(causal.base))):
        raise InputError(f"max_length is {config.max_length:,}, but {config.model} reads {window:,} tokens.")
    tokenizer = load_tokenizer(causal.tokenizer)
    held_out, train = _split(corpus.texts, config)
    rows, asked = (blocks_of(texts, tokenizer, config.max_length) for texts in (train, held_out))
    with quietly(), runs.seeded(config.seed):
        model = load_causal(causal, dtype="float32")
        runs.open_run(folder, config, force=force)
        if config.save_memory:
            model.gradient_checkpointing_enable()
        trainer = runs.make_trainer(
            config,
            folder / runs.CHECKPOINTS,
            n_rows=len(rows),
            progress=progress,
            arguments={
                "load_best_model_at_end": True,
                "metric_for_best_model": "loss",
                "greater_is_better": False,
                "prediction_loss_only": True,
            },
            model=model.train(),
            train_dataset=rows,
            eval_dataset=asked,
            data_collator=batch_of,
        )
        before = math.exp(trainer.evaluate()["eval_loss"])
        trainer.train(resume_from_checkpoint=runs.last_checkpoint(folder / runs.CHECKPOINTS))
        after = math.exp(trainer.evaluate()["eval_loss"])
        trainer.save_model(str(folder))
    run = LanguageRun(folder, before, after, time.perf_counter() - begun)
    if runs.is_main_process():
        tokenizer.save_pretrained(folder)
        facts = [
            f"- **Rows:** {len(rows):,} of {config.max_length:,} tokens to train, {len(asked):,} held out",
            f"- **Texts held out:** perplexity {before:.2f} before, {after:.2f} after",
        ]
        write_language_card(config, folder, corpus.sources, facts, run.seconds)
    runs.close_run(folder)
    return run


def _split(texts: Sequence[str], config: LanguageConfig) -> tuple[list[str], list[str]]:
    """Returns texts held out, drawn by seed, and the others."""
    order = np.random.default_rng(config.seed).permutation(len(texts))
    n_held_out = max(1, round(config.validation_fraction * len(texts)))
    return [texts[i] for i in order[:n_held_out]], [texts[i] for i in order[n_held_out:]]
