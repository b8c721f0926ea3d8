"""The language model that becomes a judge: one that is named, or a new one with words of its own; LoRA; the folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rrgmetrics.backends.checkpoints.loading import load_tokenizer
from rrgmetrics.errors import InputError
from rrgmetrics.judges.engines.adapters import find_causal, load_causal
from rrgmetrics.judges.engines.chats import check_chats
from rrgmetrics.judges.engines.hf import context_length
from rrgmetrics.training import trainer as runs
from rrgmetrics.training.config import JudgeConfig
from rrgmetrics.training.judge_data import Example

ADAPTER = "adapter"  # folder of LoRA's matrices, beside the merged weights
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
PIECES = re.compile(r"(?<=[:\n])(?!\n)")  # where a question or a reply is cut
SHORTEST = 4  # characters of a piece


def model_and_tokenizer(config: JudgeConfig, examples: Sequence[Example]) -> tuple[Any, Any]:
    """Returns the named model with its tokenizer, or a new one whose words are those of the examples.

    All weights are trained in fp32 (with `precision`, under autocast); LoRA leaves the model's in their own format.

    Raises:
        BackendError: The model is missing or damaged.
        InputError: `max_length` is more than it reads.
    """
    if not config.model:
        return _new_model(config, examples)
    causal = find_causal(config.model)
    tokenizer = load_tokenizer(causal.tokenizer, padding_side="left")
    if config.raw:
        tokenizer.chat_template = None  # so that whoever loads the folder asks without it too
    check_chats(tokenizer, causal.tokenizer.folder)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    attention = {} if config.attention == "auto" else {"attn_implementation": config.attention}
    model = load_causal(causal, dtype="auto" if config.lora_rank else "float32", **attention)
    window = context_length(model.config)
    if config.max_length > window:
        raise InputError(f"max_length is {config.max_length:,}, but {config.model} reads {window:,} tokens.")
    model.name_or_path = str(Path(config.model).resolve()) if Path(config.model).is_dir() else config.model
    return model.train(), tokenizer


def _new_model(config: JudgeConfig, examples: Sequence[Example]) -> tuple[Any, Any]:
    """A language model of Llama's kind with random weights."""
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = new_tokenizer(
        [example.prompt.text for example in examples],
        [example.reply for example in examples],
        size=config.vocabulary_size,
        max_length=config.max_length,
    )
    settings = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=config.hidden_size,
        intermediate_size=4 * config.hidden_size,
        num_hidden_layers=config.layers,
        num_attention_heads=config.attention_heads,
        num_key_value_heads=config.attention_heads,
        max_position_embeddings=config.max_length,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return LlamaForCausalLM(settings), tokenizer


def new_tokenizer(questions: Sequence[str], replies: Sequence[str], *, size: int, max_length: int) -> Any:
    """Returns a byte-level BPE tokenizer of texts, in which the fixed parts of the form are one token each.

    GREEN's question is 500 tokens of instructions, the same for every pair; as whole lines they are 40.

    Args:
        questions: Of the training rows.
        replies: To them.
        size: Of the vocabulary, special tokens included.
        max_length: What the model reads, in tokens.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    fixed = fixed_pieces(questions) + fixed_pieces(replies)
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    learner = trainers.BpeTrainer(
        vocab_size=max(size - len(fixed), 300),
        special_tokens=list(SPECIAL.values()),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    words.train_from_iterator([*questions, *replies], learner)
    words.add_tokens([AddedToken(piece, normalized=False) for piece in fixed])
    return PreTrainedTokenizerFast(
        tokenizer_object=words, model_max_length=max_length, padding_side="left", clean_up_tokenization_spaces=False,
        **SPECIAL,
    )  # fmt: skip


def fixed_pieces(texts: Iterable[str]) -> list[str]:
    r"""Returns the lines that all texts have, cut behind colons, in their order.

    Example:
        >>> fixed_pieces(["Errors: 1. Effusion.\n\nMatched:\n2.", "Errors: none\n\nMatched:\n0."])
        ['Errors:', 'Matched:\n']
    """
    cut = [dict.fromkeys(PIECES.split(text)) for text in texts]
    return [piece for piece in cut[0] if len(piece.strip()) >= SHORTEST and all(piece in pieces for pieces in cut)]


def lora_config(config: JudgeConfig) -> Any:
    """Returns the config's LoRA as PEFT's LoraConfig."""
    from peft import LoraConfig

    targets = config.lora_targets
    return LoraConfig(
        r=config.lora_rank,
        lora_alpha=config.lora_alpha,
        lora_dropout=config.lora_dropout,
        target_modules=targets[0] if targets == ("all-linear",) else list(targets),
        task_type="CAUSAL_LM",
    )


def save_judge(trainer: Any, tokenizer: Any, config: JudgeConfig, folder: Path) -> None:
    """Writes the judge's folder; every process calls it, for they may share the weights out.

    LoRA's matrices are added to the model's weights, with a copy of their own in `adapter/`; or they are all there is.
    """
    place = folder / ADAPTER if config.lora_rank and config.merge else folder
    trainer.save_model(str(place))
    if not runs.is_main_process():
        return
    (place / runs.TRAINING_ARGUMENTS).unlink(missing_ok=True)
    if place != folder:
        (place / runs.CARD).unlink(missing_ok=True)  # PEFT's
        load_causal(find_causal(str(place)), dtype="auto").save_pretrained(folder)
    tokenizer.save_pretrained(folder)
