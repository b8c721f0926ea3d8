"""The parts of a judge: prompts, replies and verdicts, the protocol that asks, and the engine that answers.

A **protocol** (GREEN, CRIMSON, ...) knows what to ask about a pair of reports and how to read the replies. An
**engine** (a server, a local model, a file of recorded replies) knows how to get them. Neither knows the other. The
bundled engine, `reader`, asks nobody: the protocol makes its verdict from the reader's comparison of both reports.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

from rrgmetrics.backends.compared_pairs import Compared
from rrgmetrics.errors import InputError
from rrgmetrics.reports import Pair
from rrgmetrics.utils.causes import Cause, as_entry
from rrgmetrics.utils.text_format import did_you_mean

ENGINES = ("hf", "vllm", "openai", "replies")  # besides `reader`


class SupportsBool(Protocol):
    """A bool, or a switch that is read as one whenever it is asked."""

    def __bool__(self) -> bool: ...


class Message(NamedTuple):
    """A turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Prompt:
    """A question to an engine.

    Attributes:
        messages: The conversation up to the reply.
        protocol: `name@version` of the protocol that asks; part of the identity.
        json_schema: JSON schema of the reply, for engines that can enforce one; None for plain text.
        max_tokens: Longest reply, in tokens.
        raw: What a published checkpoint reads, its own turn markers included; engines that run a model themselves
            send this, as it is, where `EngineName.raw` says so or the tokenizer has no chat template. None: there is
            no such text; the contents of the messages, joined by blank lines, stand for it.
        image: A picture that is shown before the last message; servers alone are shown pictures.
    """

    IMAGES: ClassVar[Mapping[str, str]] = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}

    messages: tuple[Message, ...]
    protocol: str
    json_schema: Mapping[str, Any] | None = None
    max_tokens: int = 1024
    raw: str | None = None
    image: Path | None = None

    @cached_property
    def sha256(self) -> str:
        """The identity of the question: the checksum of protocol and messages, and of the picture if there is one."""
        asked: list[Any] = [self.protocol, self.messages]
        if self.image is not None:
            asked.append(hashlib.sha256(self.image.read_bytes()).hexdigest())
        text = json.dumps(asked, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def conversation(self) -> list[dict[str, object]]:
        """The messages as OpenAI's chat completions take them, the picture in the last one."""
        turns: list[dict[str, Any]] = [message._asdict() for message in self.messages]
        if self.image is not None:
            picture = base64.b64encode(self.image.read_bytes()).decode()
            url = f"data:{self.IMAGES[self.image.suffix.lower()]};base64,{picture}"
            shown = {"type": "image_url", "image_url": {"url": url}}
            turns[-1]["content"] = [shown, {"type": "text", "text": turns[-1]["content"]}]
        return turns

    @property
    def text(self) -> str:
        """The prompt as plain text, for models without a chat template."""
        return self.raw if self.raw is not None else "\n\n".join(message.content for message in self.messages)


@dataclass(frozen=True)
class Reply:
    """An engine's reply: the text, or why there is none. Exactly one of both is None.

    Attributes:
        text: The reply.
        error: Why there is none.
        partial: What there is of a reply that is none: it was cut off, or held back. It is shown, and never read.
        is_cut: Whether it ended at its limit.
        is_pending: Whether nothing was kept, so that the next call asks again.
        cause: What it is due to that there is none.
    """

    text: str | None
    error: str | None = None
    partial: str = ""
    is_cut: bool = field(default=False, compare=False)
    is_pending: bool = field(default=False, compare=False)
    cause: Cause = field(default="candidate", compare=False)


class Answerer(Protocol):
    """The identity of whatever answers prompts, as caches and signatures need it."""

    @property
    def identity(self) -> str:
        """The name of the model: `openai:my-model`. A reply depends on it, on `parameters` and on the prompt."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The settings of the answers (temperature, seed, ...), as JSON values."""

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: model, revision, temperature, library version."""


class Engine(Answerer, Protocol):
    """Answers prompts."""

    def answer(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Returns one reply for each prompt, in order. A failure is `Reply(None, error)` and never loses the others."""


class Verdict(Protocol):
    """A protocol's reading of the replies about one pair; each protocol has a frozen dataclass of its own."""

    def to_dict(self) -> dict[str, object]:
        """The verdict as a JSON object, for `explain`: numbers, and the judge's words."""


@dataclass(frozen=True)
class Unscored:
    """A pair without a verdict.

    Attributes:
        reason: Why there is none.
        replies: As they came.
        is_pending: Whether a reply is missing that the next call asks for again.
        cause: What it is due to.
    """

    reason: str
    replies: tuple[str, ...] = ()
    is_pending: bool = False
    cause: Cause = "candidate"

    def to_dict(self) -> dict[str, object]:
        """Returns a JSON object."""
        return as_entry(self.reason, self.cause, self.replies) | ({"is_pending": True} if self.is_pending else {})


@dataclass(frozen=True)
class Runs:
    """What a judge said of a pair that it was asked about several times; at least one is a verdict.

    Attributes:
        outcomes: A verdict or Unscored of each run.
    """

    outcomes: tuple[Any, ...]

    @property
    def verdicts(self) -> list[Any]:
        """The verdicts of the runs that have one."""
        return [outcome for outcome in self.outcomes if not isinstance(outcome, Unscored)]


class JudgeProtocol(Protocol):
    """Asks about a pair and reads the replies. A small frozen dataclass; its repr is its identity."""

    @property
    def name(self) -> str:
        """The name of the metric."""

    @property
    def version(self) -> int:
        """The version, raised whenever a prompt changes."""

    @property
    def paper(self) -> str:
        """The engine of the published setting, such as `hf:StanfordAIMI/GREEN-radllama2-7b`; "" if none is public."""

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: `prompt` (eight digits of a checksum), options that are not the spec's."""

    def prompts(self, pair: Pair) -> tuple[Prompt, ...]:
        """Returns the prompts about a pair; () where there is nothing to ask and the verdict needs no reply."""

    def follow_up(self, pair: Pair, replies: Sequence[str]) -> tuple[Prompt, ...]:
        """Returns further prompts that depend on the replies so far, () when there are none left.

        Raises:
            VerdictError: The replies cannot be read.
        """

    def verdict(self, pair: Pair, replies: Sequence[str]) -> Verdict:
        """Reads the verdict from all replies, in the prompts' order; a VerdictError leaves the pair unscored."""

    def from_comparison(self, pair: Pair, compared: Compared) -> Verdict:
        """Returns the bundled verdict: the reader's comparison in the terms of this protocol."""


@runtime_checkable
class SupportsCut(Protocol):
    """A protocol whose questions hold the first words of long reports only, as its authors' do."""

    def is_cut(self, pair: Pair) -> bool:
        """Whether a report of the pair has words that no question holds."""


class EngineName(NamedTuple):
    """The engine that a configuration names.

    Attributes:
        kind: `reader`, or one of `ENGINES`.
        model: Its Hub id, folder or name.
        raw: Whether the model reads `Prompt.raw` without a chat template, as a published checkpoint.
        sampled: Whether transformers decodes as the checkpoint's generation_config.json says, where it has one.
    """

    kind: str
    model: str
    raw: bool = False
    sampled: bool = False


def engine_for(config: str, paper: str = "") -> EngineName:
    """Reads a judge's configuration.

    Args:
        config: `default` or `reader`, `paper`, `hf:<id>`, `vllm:<id>`, `openai:<model>`, `replies:<file>`; a bare
            Hub id or folder means `hf:`.
        paper: The protocol's `paper`.

    Returns:
        The engine; kind `reader` for the bundled one. A model or folder with the published checkpoint's name is
        asked as `paper` is.

    Raises:
        InputError: An unknown engine, nothing after the colon, a GGUF file, or `paper` where no checkpoint was
            published.

    Example:
        >>> engine_for("openai:my-model")
        EngineName(kind='openai', model='my-model', raw=False, sampled=False)
    """
    if config in ("default", "reader"):
        return EngineName("reader", "")
    if config == "paper":
        if not paper:
            raise InputError("No checkpoint was published for 'paper'; name an engine, for example 'openai:<model>'.")
        return engine_for(paper)._replace(raw=True)
    kind, colon, model = config.partition(":")
    if kind not in ENGINES:
        if colon and re.fullmatch(r"\w{2,}", kind) and not Path(config).exists():  # no Hub id has a colon
            raise InputError(
                f"There is no engine {kind!r}; the engines are {', '.join(ENGINES)}.{did_you_mean(kind, ENGINES)}"
            )
        kind, model = "hf", config
    if not model:
        raise InputError(
            f"{config!r} names no model; write for example {kind}:<{'file' if kind == 'replies' else 'model'}>."
        )
    if kind == "hf" and model.lower().endswith(".gguf"):
        raise InputError(
            f"{model} is a GGUF file, which needs a server, for example llama.cpp's `llama-server -m {model} --port "
            "8000`; name it openai:<model>?base_url=http://127.0.0.1:8000/v1."
        )
    published = paper.rpartition("/")[2].lower()
    copy = bool(published) and kind in ("hf", "vllm") and published in model.lower()  # a folder of the same weights
    return EngineName(kind, model, raw=copy)
