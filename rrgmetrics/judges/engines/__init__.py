"""Engines reply to a judge's prompts. `load_engine` creates one from the name and options of a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rrgmetrics.backends.checkpoints import no_downloads
from rrgmetrics.errors import BackendError, InputError, MissingExtraError
from rrgmetrics.judges.base import Engine, EngineName, SupportsBool
from rrgmetrics.judges.cache import Cache, cache_folder
from rrgmetrics.judges.engines.asking import AbsentSource, CachedEngine, Recorder, Source, is_dry
from rrgmetrics.specs import JUDGE_OPTIONS

AT_LEAST = {
    "temperature": 0,
    "max_tokens": 0,
    "total_tokens": 0,
    "concurrency": 1,
    "retries": 0,
    "processes": 1,
    "replicas": 0,
    "price_in": 0,
    "price_out": 0,
}


@dataclass(frozen=True)
class EngineOptions:
    """The options of `rrgmetrics.specs.JUDGE_OPTIONS`, checked; they are explained there.

    Raises:
        InputError: A value out of range, or an address that is none.
    """

    base_url: str
    api_key: str
    temperature: float
    top_p: float
    max_tokens: int
    total_tokens: int
    concurrency: int
    timeout: float
    retries: int
    processes: int
    replicas: int
    cache: str
    record: str
    answers_as: str
    price_in: float
    price_out: float

    def __post_init__(self) -> None:
        for key, least in AT_LEAST.items():
            if getattr(self, key) < least:
                raise InputError(f"{key}={getattr(self, key)} is too small; it must be at least {least}.")
        if not 0 < self.top_p <= 1:
            raise InputError(f"top_p={self.top_p} is not a probability mass; it must be above 0 and at most 1.")
        if self.timeout <= 0:
            raise InputError(f"timeout={self.timeout} is too small; pass the number of seconds for one request.")
        address = urlsplit(self.base_url)
        if self.base_url and (address.scheme not in ("http", "https") or not address.hostname):
            raise InputError(
                f"base_url={self.base_url!r} is not an address; write for example http://127.0.0.1:8000/v1."
            )
        if address.username or address.password:
            raise InputError(
                "base_url contains a password; put the key in the environment variable that api_key names."
            )

    @property
    def sampling(self) -> dict[str, float]:
        """How words are drawn: the temperature, and the share of probability that they are drawn from unless all."""
        return {"temperature": self.temperature, **({} if self.top_p == 1 else {"top_p": self.top_p})}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> EngineOptions:
        """Completes the options that were given with the defaults of the rest."""
        return cls(**{field.name: given.get(field.name, JUDGE_OPTIONS[field.name].default) for field in fields(cls)})


def load_engine(
    name: EngineName,
    *,
    options: Mapping[str, Any],
    batch_size: int | None = None,
    device: str | None = None,
    progress: SupportsBool = True,
) -> Engine:
    """Loads an engine with its cache of replies.

    Args:
        name: Kind and model; any but `reader`, which is no engine that answers.
        options: Any of `JUDGE_OPTIONS`; defaults for the rest.
        batch_size: Prompts per forward pass of `hf`; None means 8.
        device: torch device of `hf`; None takes every GPU there is, else the CPU.
        progress: Whether to show a bar while it asks.

    Returns:
        The engine: equal prompts are asked once a cache, and every reply is kept as it arrives.

    Raises:
        InputError: An option that cannot be used, or a file of replies that is none.
        BackendError: A model, key or folder that is not there.
        MissingExtraError: The engine's package is not installed.
    """
    checked = EngineOptions.of(options)
    source = (
        _planned_source(name, checked, batch_size, device)
        if is_dry()
        else _load_source(name, checked, batch_size, device)
    )
    folder = None if name.kind == "replies" else cache_folder(checked.cache)
    engine = CachedEngine(
        source=source,
        cache=None if folder is None else Cache(folder),
        recorder=Recorder(Path(checked.record), source.identity) if checked.record else None,
        max_tokens=checked.max_tokens,
        prices=(checked.price_in, checked.price_out),
        progress=progress,
    )
    if checked.processes == 1:
        return engine
    from rrgmetrics.judges.engines.processes import DistributedEngine

    return DistributedEngine(engine, checked.processes)


def _planned_source(name: EngineName, options: EngineOptions, batch_size: int | None, device: str | None) -> Source:
    """The source of a dry run; one that cannot be loaded has its name, and the reason."""
    try:
        with no_downloads():
            return _load_source(name, options, batch_size, device)
    except (BackendError, MissingExtraError) as error:
        if name.kind not in ("hf", "vllm"):
            raise
        return AbsentSource(f"{name.kind}:{name.model}", str(error))


def _load_source(name: EngineName, options: EngineOptions, batch_size: int | None, device: str | None) -> Source:
    if options.total_tokens and name.kind != "hf":
        raise InputError(f"{name.kind}: total_tokens is an option of hf:<id>; limit the reply with max_tokens.")
    if name.kind == "openai":
        from rrgmetrics.judges.engines.openai import Server

        return Server.connect(name.model, options)
    if name.kind == "hf":
        from rrgmetrics.judges.engines.hf import load_model

        return load_model(name, options, batch_size, device)
    if name.kind == "vllm":
        from rrgmetrics.judges.engines.vllm import load_model as load_vllm

        return load_vllm(name, options)
    if name.kind == "replies":
        from rrgmetrics.judges.engines.replies import ReplyFile

        return ReplyFile.read(Path(name.model))
    raise InputError(f"{name.kind!r} is not an engine that answers prompts; the bundled reader needs none.")
