"""The engine `hf:<id>`: a causal language model of transformers, on this machine.

Greedy, in batches of prompts of similar length, padded on the left; only what was generated is decoded. A published
checkpoint whose authors let it sample does so as its generation_config.json says (`EngineName.sampled`). A tokenizer's
chat template writes the prompt; where there is none, or for `paper`, the protocol's own text is read as it is.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rrgmetrics.backends.bert import quietly
from rrgmetrics.backends.checkpoints import loading
from rrgmetrics.backends.checkpoints.limits import read_config, reason_of
from rrgmetrics.backends.shared import shared
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.judges.base import EngineName, Prompt, Reply
from rrgmetrics.judges.engines.adapters import Causal, find_causal, load_causal
from rrgmetrics.judges.engines.asking import Answer, ended, failed, impossible
from rrgmetrics.judges.engines.chats import check_chats, has_template, prompt_ids

BATCH_SIZE = 8  # as the authors of GREEN
SMALL, SMALL_BATCH = 50_000_000, 64  # weights of a model that takes as long over one prompt as over 64


@dataclass(frozen=True, eq=False)
class Loaded:
    """A model in memory, its tokenizer, and its name in signatures."""

    model: Any
    tokenizer: Any
    checkpoint: str


@dataclass(frozen=True)
class LocalModel:
    """A source of replies: a model of transformers in memory.

    Attributes:
        loaded: Model and tokenizer.
        raw: Whether it reads the protocol's own text instead of its chat template's.
        batch_size: Prompts per forward pass.
        sampled: Whether it decodes as its own generation_config.json says.
        total_tokens: Most tokens of a prompt and its reply together; 0: what the model reads.
    """

    loaded: Loaded
    raw: bool
    batch_size: int
    sampled: bool = False
    total_tokens: int = 0

    @property
    def model(self) -> Any:
        """The model of transformers, on its device."""
        return self.loaded.model

    @property
    def tokenizer(self) -> Any:
        """The tokenizer, which pads on the left."""
        return self.loaded.tokenizer

    @property
    def identity(self) -> str:
        """The identity: the checkpoint with its revision or checksum."""
        return f"hf:{self.loaded.checkpoint}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The number format of the weights, the template that writes the prompt, and how replies are sampled."""
        template = "protocol" if self.raw else "chat"
        total = {"total_tokens": self.total_tokens} if self.total_tokens else {}
        return {"dtype": self.dtype, "template": template, "temperature": 0.0, **self._sampling, **total}

    @property
    def _sampling(self) -> Mapping[str, float]:
        """How the checkpoint samples by its generation_config.json; nothing where replies are decoded greedily."""
        config = self.model.generation_config
        if not (self.sampled and config.do_sample):
            return {}
        settings = {name: getattr(config, name, None) for name in ("top_k", "top_p", "min_p")}
        temperature = 1.0 if config.temperature is None else config.temperature
        return {"temperature": temperature} | {name: value for name, value in settings.items() if value is not None}

    @property
    def facts(self) -> Mapping[str, str]:
        """The number format of the weights, the template that writes the prompt, and how replies are sampled."""
        from transformers import __version__

        template, sampling = str(self.parameters["template"]), self._sampling
        words = " ".join(f"{name}={value:g}" for name, value in sampling.items())
        about = {"dtype": self.dtype, "template": template} | ({"sampling": words} if words else {})
        total = {"total_tokens": str(self.total_tokens)} if self.total_tokens else {}
        return {**about, **total, "transformers": __version__}

    @property
    def dtype(self) -> str:
        """The number format of the weights."""
        return str(self.model.dtype).removeprefix("torch.")

    def stream(self, prompts: Sequence[Prompt]) -> Generator[Answer, None, None]:
        """Yields answers batch by batch, the longest replies and prompts first; a batch has one token budget."""
        ids = [prompt_ids(self.tokenizer, prompt, raw=self.raw) for prompt in prompts]
        window, n_known = self._window, len(self.model.get_input_embeddings().weight)
        refused = [unreadable(index, row, window, n_known, self.tokenizer) for index, row in enumerate(ids)]
        yield from filter(None, refused)
        left = [window - len(row) if self.total_tokens else room(window, len(row)) for row in ids]
        limits = [min(prompt.max_tokens, n) for prompt, n in zip(prompts, left, strict=True)]
        order = [index for index, answer in enumerate(refused) if answer is None]
        order.sort(key=lambda index: (limits[index], len(ids[index])), reverse=True)
        start, size = 0, self.batch_size
        while start < len(order):
            batch = order[start : start + size]
            limit = limits[batch[0]]
            batch = [index for index in batch if limits[index] == limit]
            try:
                runs = "".join(prompts[index].protocol.partition("+")[2] for index in batch)
                replies = self._generate([ids[index] for index in batch], limit, runs)
            except RuntimeError as error:
                if "out of memory" not in str(error):
                    raise
                if len(batch) > 1:
                    size = len(batch) // 2
                    continue
                yield failed(batch[0], "the device has too little memory for this prompt", cause="candidate")
            else:
                for index, (text, why) in zip(batch, replies, strict=True):
                    answer = ended(index, text, why, limit)
                    yield at_the_end(answer, window) if limit < prompts[index].max_tokens else answer
            start += len(batch)

    @property
    def _window(self) -> int:
        """The most tokens of a prompt and its reply together."""
        window = context_length(self.model.config)
        return min(window, self.total_tokens or window)

    def _generate(self, ids: Sequence[list[int]], limit: int, runs: str = "") -> list[tuple[str, str]]:
        """Generates the reply to each row, without special tokens, and why it ended: by itself, or at the limit.

        Where the model names no token for the end of a reply, the tokenizer's is taken. `runs` are those of the
        questions after their first one: sampled, each run has replies of its own.
        """
        import torch

        longest = max(map(len, ids))
        padding = self.tokenizer.pad_token_id
        rows = torch.tensor([[padding] * (longest - len(row)) + row for row in ids], device=self.model.device)
        mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in ids], device=self.model.device)
        config = copy.deepcopy(self.model.generation_config)
        config.update(max_length=None, pad_token_id=padding)
        if not self._sampling:
            config.update(do_sample=False, temperature=None, top_p=None, top_k=None)
        config.max_new_tokens = limit
        if config.eos_token_id is None:
            config.eos_token_id = self.tokenizer.eos_token_id
        seeds = ids if self._sampling else None
        with (
            _settings_blamed(self.model),
            torch.inference_mode(),
            quietly(),
            _threads_of(self.model),
            _seeded(seeds, runs),
        ):
            full = self.model.generate(input_ids=rows, attention_mask=mask, generation_config=config)
        added = full[:, longest:]
        ends = torch.tensor([] if config.eos_token_id is None else config.eos_token_id, device=added.device)
        whole = torch.isin(added, ends).any(dim=1) | (added.shape[1] < limit)
        texts: list[str] = self.tokenizer.batch_decode(added, skip_special_tokens=True)
        return [(text, "stop" if own else "length") for text, own in zip(texts, whole.tolist(), strict=True)]


def load_model(name: EngineName, options: Any, batch_size: int | None, device: str | None) -> LocalModel:
    """Loads a model; all users in a process share the weights.

    Raises:
        InputError: A temperature: this engine decodes greedily.
        BackendError: Weights that are not there or cannot be loaded, or a device that is not.
    """
    if options.temperature or options.top_p != 1:
        raise InputError(
            "hf: always decodes greedily; leave out temperature and top_p, or serve the model and use openai:<model>."
        )
    try:
        causal = find_causal(name.model)
    except BackendError as error:
        if "/" in name.model:
            raise
        server = f"openai:{name.model}?base_url=http://127.0.0.1:8000/v1"  # a Hub id nearly always has an owner
        raise BackendError(f"{error} If a server has this model, name it {server}.") from None
    loaded = _load(causal, device)
    raw = name.raw or not has_template(loaded.tokenizer)
    if not raw:
        check_chats(loaded.tokenizer, causal.tokenizer.folder)
    sampled = name.sampled and (causal.base.folder / "generation_config.json").is_file()
    usual = 1 if sampled else SMALL_BATCH if is_small(loaded.model) else BATCH_SIZE  # 1: as the authors of CRIMSON
    return LocalModel(loaded, raw, batch_size or usual, sampled, options.total_tokens)


def needs_bf16(folder: Path) -> bool:
    """Whether a model's activations exceed what fp16 can hold, as those of every Gemma do."""
    return str(read_config(folder).get("model_type")).startswith("gemma")


def is_small(model: Any) -> bool:
    """Whether a step of a model takes less time than what surrounds it."""
    return bool(sum(weights.numel() for weights in model.parameters()) < SMALL)


@contextmanager
def _seeded(ids: Sequence[list[int]] | None, runs: str = "") -> Iterator[None]:
    """Seeds the generators of random numbers by the prompts and their runs, and puts them back as they were.

    None leaves them as they are.
    """
    import torch

    if ids is None:
        yield
        return
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(int(hashlib.sha256((repr(ids) + runs).encode()).hexdigest()[:12], 16))
        yield


@contextmanager
def _settings_blamed(model: Any) -> Iterator[None]:
    """Turns what transformers makes of wrong settings into a BackendError; what the device lacks stays as it is."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError) as error:
        where = Path(model.name_or_path) / "generation_config.json"
        raise BackendError(f"The settings of {where} cannot be used: {reason_of(error)}.") from error


@contextmanager
def _threads_of(model: Any) -> Iterator[None]:
    """Gives a small model one thread: several wait for one another longer than they compute."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1 if is_small(model) else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@shared
def _load(causal: Causal, device: str | None) -> Loaded:
    import torch

    place = _place(device)
    tokenizer = loading.load_tokenizer(causal.tokenizer, padding_side="left")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    dtype = torch.float32 if place == "cpu" else torch.bfloat16 if needs_bf16(causal.base.folder) else "auto"
    with quietly():
        model = load_causal(causal, dtype=dtype, device_map=place)
    if model.dtype == torch.float32 and place != "cpu":
        model.half()
    return Loaded(model.eval(), tokenizer, causal.identity)


def _place(device: str | None) -> str:
    """Chooses the device: the named one, this process's GPU, all GPUs (`auto`), or the CPU."""
    import os

    import torch

    if device is None and torch.cuda.is_available():
        rank = os.environ.get("LOCAL_RANK")  # set by accelerate and torchrun
        return "auto" if rank is None and torch.cuda.device_count() > 1 else f"cuda:{rank or 0}"
    try:
        torch.empty(0, device=device or "cpu")
    except (RuntimeError, AssertionError) as error:
        raise BackendError(f"device {device!r} cannot be used here: {str(error).splitlines()[0]}") from error
    return device or "cpu"


def unreadable(index: int, row: Sequence[int], window: int, n_known: int, tokenizer: Any) -> Answer | None:
    """Makes the answer to a prompt that the model cannot read; None if it can.

    Args:
        index: Number of the prompt.
        row: Its tokens.
        window: Tokens that the model reads; the prompt must leave one for the reply.
        n_known: Tokens that the model has an embedding for. Tokenizers may have more (`added_tokens.json`).
        tokenizer: Names the token.
    """
    if len(row) >= window:
        return impossible(index, f"the prompt has {len(row):,} tokens and the limit of the model is {window:,}")
    if max(row, default=0) >= n_known:
        token = tokenizer.decode([max(row)])
        return impossible(index, f"the prompt has the token {token}, which the model does not know")
    return None


def room(window: int, length: int) -> int:
    """Returns the tokens that a prompt leaves for its reply, in eighths of the window: batches have one token budget.

    Example:
        >>> [room(2048, length) for length in (114, 162, 300, 1900)]
        [1792, 1792, 1536, 148]
    """
    left, step = window - length, max(1, window // 8)
    return left - left % step if left > step else left


def at_the_end(answer: Answer, window: int) -> Answer:
    """Returns the answer; one that was cut off where the model's window ends stays so, whatever budget it is given."""
    if not answer.cut:
        return answer
    reason = f"the reply was cut off at the model's limit of {window:,} tokens for prompt and reply"
    return answer._replace(reply=Reply(None, reason, answer.reply.partial), cut=False)


def context_length(config: Any) -> int:
    """The most tokens that a model reads and writes."""
    text = config.get_text_config()
    positions = getattr(text, "max_position_embeddings", None) or getattr(text, "n_positions", None)
    return int(positions or 1_000_000)
