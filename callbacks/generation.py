"""Generates reports with the model that is being trained, and leaves the model as it was.

Three kinds of model, told apart by their configuration and by what an example holds:

- encoder–decoder (an image or a text goes in): the data collator's batch without its labels;
- decoder-only with a `prompt` or `messages`: the processor's chat template, padded on the left, the prompt cut off;
- decoder-only whose examples are token ids: the prompt is what the labels mask with -100.
"""

from __future__ import annotations

import copy
import inspect
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from rrgmetrics.errors import InputError

Examples = list[Any]
GenerateFunction = Callable[[Any, Examples], Sequence[str]]

IGNORED = -100  # label of a token without loss
MAX_NEW_TOKENS = 256  # transformers' own limit is 20 tokens, less than a report
LABELS = ("labels", "label", "label_ids", "decoder_input_ids", "decoder_attention_mask")
TOKENS = ("input_ids", "attention_mask", "token_type_ids", "position_ids", "mm_token_type_ids")
PROMPT_COLUMNS = ("prompt", "messages")
IMAGE_COLUMNS = ("images", "image")


@dataclass(frozen=True)
class Generation:
    """A GenerateFunction that generates with `model.generate`.

    Attributes:
        tokenizer: Decodes.
        make_inputs: Examples → keyword arguments of `generate`.
        settings: A GenerationConfig.
    """

    tokenizer: Any
    make_inputs: Callable[[Examples], Mapping[str, Any]]
    settings: Any

    def __call__(self, model: Any, examples: Examples) -> list[str]:
        """Generates one report for each example."""
        inputs = {key: _place(value, model) for key, value in self.make_inputs(examples).items()}
        if "token_type_ids" not in model_columns(model):  # tokenizers give them to models that know nothing of them
            inputs.pop("token_type_ids", None)
        with _whole_parameters(model) as sharded:
            keywords = {"synced_gpus": True} if sharded else {}
            tokens = model.generate(**inputs, generation_config=self.settings, **keywords)
        start = 0 if is_encoder_decoder(model) else inputs["input_ids"].shape[1]
        texts = self.tokenizer.batch_decode(tokens[:, start:], skip_special_tokens=True)
        return [text.strip() for text in texts]


def make_generation(
    model: Any,
    processor: Any,
    tokenizer: Any,
    collate: Callable[[Examples], Any],
    example: Any,
    *,
    prompt: str | Callable[[Any], Any] | None = None,
    settings: Any = None,
) -> Generation:
    """Makes the Generation that suits the model and one of its examples.

    Raises:
        InputError: A decoder-only model whose examples show no prompt, or settings that transformers does not know.
    """
    prompt_source = prompt or next(
        (name for name in PROMPT_COLUMNS if isinstance(example, Mapping) and name in example), None
    )
    make_inputs: Callable[[Examples], Mapping[str, Any]]
    if prompt is None and is_encoder_decoder(model):
        make_inputs = _Collated(collate)
    elif prompt_source is not None:
        make_inputs = _Prompted(processor, tokenizer, prompt_source)
    elif isinstance(example, Mapping) and "input_ids" in example and "labels" in example:
        make_inputs = _Masked(tokenizer, collate)
    else:
        raise InputError(
            f"{type(model).__name__} continues a prompt, and the examples have neither {' nor '.join(PROMPT_COLUMNS)} "
            "nor input_ids with labels that mask it; pass prompt= (a column or a function) or generate_fn=."
        )
    return Generation(tokenizer, make_inputs, make_settings(model, tokenizer, settings))


def is_encoder_decoder(model: Any) -> bool:
    """Returns whether the model is an encoder-decoder, whose output does not continue the input."""
    return bool(getattr(model.config, "is_encoder_decoder", False))


def make_settings(model: Any, tokenizer: Any, given: Any = None) -> Any:
    """Makes a GenerationConfig from the model's (or the one given), a dict's changes, a cache, and a length."""
    settings = copy.deepcopy(model.generation_config if given is None or isinstance(given, Mapping) else given)
    if isinstance(given, Mapping):
        unknown = settings.update(**given)
        if unknown:
            raise InputError(f"generation_config has {next(iter(unknown))!r}, which transformers does not support.")
    settings.use_cache = given.get("use_cache", True) if isinstance(given, Mapping) else True
    if settings.pad_token_id is None:
        settings.pad_token_id = tokenizer.pad_token_id
    if settings.max_new_tokens is None and settings.max_length in (None, 20):
        settings.max_new_tokens = min(MAX_NEW_TOKENS, _positions(model) - 1)
    return settings


def _positions(model: Any) -> int:
    """The longest output of an encoder–decoder model; of others the prompt counts too, and nobody knows it here."""
    decoder = getattr(model.config, "decoder", model.config)
    known = getattr(decoder, "max_position_embeddings", None) or getattr(decoder, "n_positions", None)
    return int(known) if known and is_encoder_decoder(model) else MAX_NEW_TOKENS + 1


@dataclass(frozen=True)
class _Collated:
    collate: Callable[[Examples], Any]

    def __call__(self, examples: Examples) -> dict[str, object]:
        return {key: value for key, value in _tensors(self.collate(examples)).items() if key not in LABELS}


@dataclass(frozen=True)
class _Prompted:
    processor: Any
    tokenizer: Any
    prompt: str | Callable[[Any], Any]

    def __call__(self, examples: Examples) -> dict[str, object]:
        prompts = [self.prompt(each) if callable(self.prompt) else each[self.prompt] for each in examples]
        if isinstance(prompts[0], str):
            texts, special = prompts, True
        else:
            texts, special = [self._chat(turns) for turns in prompts], False  # the template has written them
        images = [_images(example, turns) for example, turns in zip(examples, prompts, strict=True)]
        given = {"images": images} if any(images) else {}
        with _padded_left(self.tokenizer):
            keywords = {"padding": True, "return_tensors": "pt", "add_special_tokens": special}
            return _tensors(self.processor(text=texts, **given, **keywords))

    def _chat(self, turns: Sequence[Mapping[str, Any]]) -> str:
        asked = turns[:-1] if turns[-1]["role"] == "assistant" else turns
        chat = self.processor if getattr(self.processor, "chat_template", None) else self.tokenizer
        text: str = chat.apply_chat_template(list(asked), add_generation_prompt=True, tokenize=False)
        return text


@dataclass(frozen=True)
class _Masked:
    tokenizer: Any
    collate: Callable[[Examples], Any]

    def __call__(self, examples: Examples) -> dict[str, object]:
        prompts = [{"input_ids": _prompt_ids(example)} for example in examples]
        with _padded_left(self.tokenizer):
            inputs = dict(self.tokenizer.pad(prompts, return_tensors="pt"))
        batch = _tensors(self.collate(examples))
        return inputs | {key: value for key, value in batch.items() if key not in (*LABELS, *TOKENS)}


def _prompt_ids(example: Mapping[str, Any]) -> list[int]:
    labels, ids = np.asarray(example["labels"]), np.asarray(example["input_ids"])
    answered = np.flatnonzero(labels != IGNORED)
    length = int(answered[0]) if len(answered) else len(ids)
    if length == 0:
        raise InputError(
            "The labels of a decoder-only model's examples must mask the prompt with -100, and none is; or pass "
            "prompt= and reference= (columns, or functions of an example)."
        )
    padding = np.asarray(example.get("attention_mask", np.ones_like(ids)))[:length]
    return [int(token) for token, kept in zip(ids[:length], padding, strict=True) if kept]


def labelled_text(example: Mapping[str, Any], tokenizer: Any) -> str:
    """Returns the report that an example's labels hold."""
    labels = np.asarray(example["labels"])
    text: str = tokenizer.decode(labels[labels != IGNORED], skip_special_tokens=True)
    return text.strip()


def _images(example: Any, turns: Any) -> list[Any]:
    if isinstance(example, Mapping):
        for name in IMAGE_COLUMNS:
            if example.get(name) is not None:
                images = example[name]
                return list(images) if isinstance(images, list | tuple) else [images]
    parts = [] if isinstance(turns, str) else [turn["content"] for turn in turns if isinstance(turn["content"], list)]
    return [part["image"] for content in parts for part in content if part.get("image") is not None]


def _tensors(batch: Mapping[str, Any]) -> dict[str, object]:
    import torch

    return {key: value for key, value in batch.items() if isinstance(value, torch.Tensor)}


def _place(tensor: Any, model: Any) -> Any:
    """Moves a tensor to the model's device, and to its precision if it holds fractions (pixels)."""
    return tensor.to(model.device, model.dtype if tensor.is_floating_point() else tensor.dtype)


@contextmanager
def _padded_left(tokenizer: Any) -> Iterator[None]:
    side = tokenizer.padding_side
    tokenizer.padding_side = "left"
    try:
        yield
    finally:
        tokenizer.padding_side = side


@contextmanager
def _whole_parameters(model: Any) -> Iterator[bool]:
    """Yields whether the processes divide the parameters, as Seq2SeqTrainer decides it; gathers those of FSDP 1."""
    import torch
    from transformers.integrations.deepspeed import is_deepspeed_zero3_enabled
    from transformers.integrations.fsdp import is_fsdp_managed_module

    gathered: Any = nullcontext()
    managed = torch.distributed.is_available() and is_fsdp_managed_module(model)
    if managed:
        from torch.distributed.fsdp import FullyShardedDataParallel

        if isinstance(model, FullyShardedDataParallel):
            gathered = FullyShardedDataParallel.summon_full_params(model)
    with gathered:
        yield bool(managed or is_deepspeed_zero3_enabled())


def model_columns(model: Any) -> frozenset[str]:
    """Returns the columns that the Trainer hands to the collator under `remove_unused_columns`."""
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    return frozenset(inspect.signature(inner.forward).parameters) | {"label", "label_ids", "labels"}


@contextmanager
def undisturbed(model: Any, seed: int) -> Iterator[None]:
    """Sets evaluation mode, no gradients and seeded random numbers, and restores everything afterwards.

    Restored are the mode of every module (a frozen encoder may be in another than the rest), the random states of
    Python, NumPy and torch, `config.use_cache` and the model's own generation settings.
    """
    import torch

    modes = [(module, module.training) for module in model.modules()]
    config = getattr(model, "config", None)
    use_cache = getattr(config, "use_cache", None)
    settings = getattr(model, "generation_config", None)
    saved = copy.deepcopy(vars(settings)) if settings is not None else None
    states = random.getstate(), np.random.get_state()
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    try:
        with torch.random.fork_rng(devices=devices), torch.no_grad():
            random.seed(seed)
            np.random.seed(seed)
            torch.manual_seed(seed)
            model.eval()
            yield
    finally:
        for module, training in modes:
            module.training = training
        random.setstate(states[0])
        np.random.set_state(states[1])
        if use_cache is not None:
            config.use_cache = use_cache  # type: ignore[union-attr]
        if settings is not None:
            vars(settings).update(saved or {})
            model.generation_config = settings
