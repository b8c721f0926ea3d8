"""What a judge is made of: prompts, replies, verdicts; the protocol that asks and the engine that answers.

A **protocol** (GREEN, CRIMSON, ...) knows what to ask about a pair of reports and how to read the replies. An
**engine** (a server, a local model, a file of recorded replies) knows how to get them. Neither knows the other. The
bundled engine, `reader`, asks nobody: the protocol makes its verdict from the reader's comparison of both reports.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

from rrgmetrics.backends.comparison import Compared
from rrgmetrics.errors import InputError
from rrgmetrics.reports import Pair

ENGINES = ("hf", "vllm", "openai", "replies")  # besides `reader`


class SupportsBool(Protocol):
    """True or false when it is asked: a bool, or a switch."""

    def __bool__(self) -> bool: ...


class Message(NamedTuple):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Prompt:
    """One question.

    Attributes:
        messages: The conversation up to the reply.
        protocol: `name@version` of the protocol that asks; part of the identity.
        json_schema: JSON schema of the reply, for engines that can enforce one; None for plain text.
        max_tokens: Longest reply, in tokens.
        raw: What a published checkpoint reads, its own turn markers included; engines that run a model themselves
            send this, as it is, where `EngineName.raw` says so or the tokenizer has no chat template. None: there is
            no such text; the contents of the messages, joined by blank lines, stand for it.
    """

    messages: tuple[Message, ...]
    protocol: str
    json_schema: Mapping[str, Any] | None = None
    max_tokens: int = 1024
    raw: str | None = None

    @cached_property
    def sha256(self) -> str:
        """Identity of the question: protocol and messages."""
        text = json.dumps([self.protocol, self.messages], ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def text(self) -> str:
        """The prompt as plain text, for models without a chat template."""
        return self.raw if self.raw is not None else "\n\n".join(message.content for message in self.messages)


@dataclass(frozen=True)
class Reply:
    """What an engine brought back: the text, or why there is none. Exactly one of both is None.

    `partial` is what was said of a reply that is none: it was cut off, or held back. It is shown, and never read.
    """

    text: str | None
    error: str | None = None
    partial: str = ""


class Answerer(Protocol):
    """Who answers prompts, as caches and signatures must know it."""

    @property
    def identity(self) -> str:
        """Who answers: `openai:my-model`; with `parameters`, what a reply depends on besides its prompt."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """How it answers (temperature, seed, ...), as JSON has it."""

    @property
    def facts(self) -> Mapping[str, str]:
        """What the signature must name: model, revision, temperature, library version."""


class Engine(Answerer, Protocol):
    """Answers prompts."""

    def answer(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """One reply a prompt, in order. A failure is `Reply(None, error)` and never loses the others."""


class Verdict(Protocol):
    """What a protocol made of the replies about one pair; each protocol has a frozen dataclass of its own."""

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON has it, for `explain`: numbers, and the judge's words."""


@dataclass(frozen=True)
class Unscored:
    """A pair without a verdict: why, and the replies as they came."""

    reason: str
    replies: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"unscored": self.reason, "replies": list(self.replies)}


class JudgeProtocol(Protocol):
    """What is asked about a pair, and what the replies mean. A small frozen dataclass; its repr is its identity."""

    @property
    def name(self) -> str:
        """Name of the metric."""

    @property
    def version(self) -> int:
        """Raised whenever a prompt changes."""

    @property
    def paper(self) -> str:
        """Engine of the published setting, for example `hf:StanfordAIMI/GREEN-radllama2-7b`; "" if none is public."""

    @property
    def facts(self) -> Mapping[str, str]:
        """What the signature must name: `prompt` (eight digits of a checksum), options that are not the spec's."""

    def prompts(self, pair: Pair) -> tuple[Prompt, ...]:
        """The questions about a pair; () where there is nothing to ask, and the verdict needs no reply."""

    def follow_up(self, pair: Pair, replies: Sequence[str]) -> tuple[Prompt, ...]:
        """Further questions that depend on the replies; () if none. Raises VerdictError if those cannot be read."""

    def verdict(self, pair: Pair, replies: Sequence[str]) -> Verdict:
        """The verdict from all replies, first questions first; raises VerdictError, and the pair is unscored."""

    def from_comparison(self, pair: Pair, compared: Compared) -> Verdict:
        """The bundled verdict: the reader's comparison in the terms of this protocol."""


class EngineName(NamedTuple):
    """An engine as a configuration names it; `raw`: the model reads `Prompt.raw` and no chat template."""

    kind: str
    model: str
    raw: bool = False


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
        InputError: Nothing after the colon, or `paper` where no checkpoint was published.

    Example:
        >>> engine_for("openai:my-model")
        EngineName(kind='openai', model='my-model', raw=False)
    """
    if config in ("default", "reader"):
        return EngineName("reader", "")
    if config == "paper":
        if not paper:
            raise InputError("No checkpoint was published for 'paper'; name an engine, for example 'openai:<model>'.")
        return engine_for(paper)._replace(raw=True)
    kind, colon, model = config.partition(":")
    if not colon or kind not in ENGINES:
        kind, model = "hf", config
    if not model:
        raise InputError(
            f"{config!r} names no model; write for example {kind}:<{'file' if kind == 'replies' else 'model'}>."
        )
    published = paper.rpartition("/")[2].lower()
    copy = bool(published) and kind in ("hf", "vllm") and published in model.lower()  # a folder of the same weights
    return EngineName(kind, model, raw=copy)
