"""The engine `vllm:<id>`: a model run by vLLM on every GPU there is, each with a replica of its own unless told.

vLLM batches by itself. It is given the prompts in rounds, so that what has arrived is kept if the run is interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rrgmetrics.backends.checkpoints import check_path
from rrgmetrics.backends.checkpoints.limits import check_folder, read_json, stored_shapes, weight_files
from rrgmetrics.backends.checkpoints.loading import load_config, load_tokenizer, tokenizer_code
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.judges.base import EngineName, Prompt
from rrgmetrics.judges.engines.adapters import Causal, find_causal
from rrgmetrics.judges.engines.asking import Answer
from rrgmetrics.judges.engines.chats import check_chats, has_template, prompt_ids
from rrgmetrics.judges.engines.hf import needs_bf16, unreadable
from rrgmetrics.judges.engines.replicas import Elsewhere, Model, Question, Replica, ask_all, shares
from rrgmetrics.utils.extras import need
from rrgmetrics.utils.text_format import counted

ROUND = 512  # prompts; vLLM runs up to 256 at a time
RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # for which vLLM makes room


@dataclass(frozen=True)
class VllmModel:
    """A loaded model.

    Attributes:
        checkpoint: How the signature names the weights.
        raw: Whether it reads the protocol's own text instead of its chat template's.
        sampling: The temperature (0 takes the most probable word each time), and top_p unless it is 1.
        replicas: The model, once or several times.
    """

    checkpoint: str
    raw: bool
    sampling: Mapping[str, float]
    replicas: Sequence[Replica]

    @property
    def identity(self) -> str:
        """The identity: the checkpoint with its revision or checksum."""
        return f"vllm:{self.checkpoint}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """How words are drawn, and the template that writes the prompt."""
        return {"template": "protocol" if self.raw else "chat", **self.sampling}

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the temperature, the prompt's template, and vLLM's version."""
        import vllm

        return {key: str(value) for key, value in self.parameters.items()} | {"vllm": vllm.__version__}

    def stream(self, prompts: Sequence[Prompt]) -> Generator[Answer, None, None]:
        """Yields answers round by round; the model reads the same tokens as with transformers."""
        model = self.replicas[0].model
        fitting: list[Question] = []
        for index, prompt in enumerate(prompts):
            row = prompt_ids(model.tokenizer, prompt, raw=self.raw)
            refused = unreadable(index, row, model.window, model.n_known, model.tokenizer)
            if refused:
                yield refused
            else:
                fitting.append(Question(index, row, self._settings(prompt)))
        yield from ask_all(self.replicas, fitting, ROUND)

    def _settings(self, prompt: Prompt) -> dict[str, object]:
        """Returns how to answer, held to the reply's schema if there is one."""
        schema = None if prompt.json_schema is None else dict(prompt.json_schema)
        return {**self.sampling, "max_tokens": prompt.max_tokens, "schema": schema}


class Loaded:
    """A model in this process.

    Args:
        causal: Its files, checked.
        n_gpus: GPUs that it is spread over.
    """

    def __init__(self, causal: Causal, n_gpus: int) -> None:
        import vllm

        self.tokenizer = load_tokenizer(causal.tokenizer)
        check_chats(self.tokenizer, causal.tokenizer.folder)
        self.n_known = int(load_config(causal.base).get_text_config().vocab_size)
        self._scratch = TemporaryDirectory(prefix="rrgmetrics-")
        scratch = Path(self._scratch.name)
        self.llm = vllm.LLM(
            model=str(_model_folder(causal, scratch / "model")),
            tokenizer=str(_tokenizer_folder(causal, self.tokenizer, scratch / "tokenizer")),
            dtype="bfloat16" if needs_bf16(causal.base.folder) else "auto",
            tensor_parallel_size=n_gpus,
            trust_remote_code=False,
            load_format="safetensors",
            **_adapting(causal),
        )
        self.adapter = _request(causal)
        self.window = self.llm.llm_engine.model_config.max_model_len

    def generate(self, questions: Sequence[Question]) -> list[tuple[str, str | None]]:
        """Returns for each question a text and why it ended."""
        rows = [{"prompt_token_ids": question.tokens} for question in questions]
        settings = [_sampling(**question.settings) for question in questions]
        choices = [output.outputs[0] for output in self.llm.generate(rows, settings, use_tqdm=False, **self.adapter)]
        return [(choice.text, choice.finish_reason) for choice in choices]

    def close(self) -> None:
        """Releases the model."""
        self.llm = None
        self._scratch.cleanup()


def _model_folder(causal: Causal, scratch: Path) -> Path:
    """Returns the folder of the weights, or one of links without an index of shards that are not the weights.

    transformers takes model.safetensors where an index lies beside it, vLLM what the index names.
    """
    folder = causal.base.folder
    (weights, *shards), index = weight_files(folder), folder / "model.safetensors.index.json"
    if shards or weights.name != "model.safetensors" or not index.exists():
        return folder
    scratch.mkdir()
    for file in folder.iterdir():
        if file == weights or (file != index and file.suffix != ".safetensors"):
            (scratch / file.name).symlink_to(file.resolve())
    return scratch


def _tokenizer_folder(causal: Causal, tokenizer: Any, scratch: Path) -> Path:
    """Returns the folder of the tokenizer, or one that names no code where the checkpoint's does."""
    if not tokenizer_code(causal.tokenizer.folder):
        return causal.tokenizer.folder
    tokenizer.save_pretrained(scratch)
    file = scratch / "tokenizer_config.json"
    settings = read_json(file)
    settings.pop("auto_map", None)
    file.write_text(json.dumps(settings), encoding="utf-8")
    return scratch


def _adapting(causal: Causal) -> dict[str, object]:
    """What vLLM must know beforehand of an adapter: the room for its matrices."""
    if not causal.adapter:
        return {}
    rank = next(most for most in RANKS if most >= causal.rank)
    return {"enable_lora": True, "max_lora_rank": rank}


def _request(causal: Causal) -> dict[str, object]:
    if not causal.adapter:
        return {}
    from vllm.lora.request import LoRARequest

    return {"lora_request": LoRARequest("judge", 1, str(causal.adapter))}


def _sampling(schema: dict[str, Any] | None, **keywords: Any) -> Any:
    from vllm import SamplingParams

    return SamplingParams(**keywords, **({} if schema is None else _structured(schema)))


def _structured(schema: dict[str, Any]) -> dict[str, object]:
    """The request for a schema, under the name that this version of vLLM has for it."""
    from vllm import sampling_params

    if hasattr(sampling_params, "StructuredOutputsParams"):
        return {"structured_outputs": sampling_params.StructuredOutputsParams(json=schema)}
    return {"guided_decoding": sampling_params.GuidedDecodingParams(json=schema)}


def load_model(name: EngineName, options: Any) -> VllmModel:
    """Loads a model on all GPUs: one replica a GPU, or as many as `replicas` says, each over its share of them.

    Raises:
        InputError: Replicas that cannot share the GPUs.
        MissingExtraError: No vLLM.
        BackendError: Weights that are not there or cannot be loaded.
    """
    check_path(name.model)
    need(f"vllm:{name.model} (which runs on a GPU)", "vllm")
    import torch

    causal = find_causal(name.model)
    n_gpus = max(1, torch.cuda.device_count())
    n_replicas = options.replicas or n_gpus
    if n_gpus % n_replicas:
        raise InputError(f"replicas={n_replicas} does not divide {counted(n_gpus, 'GPU')}; use a number that does.")
    try:
        check_folder(causal.base.folder)
        stored_shapes(weight_files(causal.base.folder))
        load = partial(Loaded, causal, n_gpus // n_replicas)
        starts: list[Callable[[], Model]] = [load]
        if n_replicas > 1:
            starts = [partial(Elsewhere, load, gpus) for gpus in shares(n_gpus, n_replicas)]
        with ThreadPoolExecutor(n_replicas) if n_replicas > 1 else nullcontext() as threads:
            models = list(threads.map(lambda start: start(), starts)) if threads else [load()]
    except Exception as error:  # of whatever kind: no GPU, no memory, an architecture it does not know
        hint = "; replicas=1 spreads one model over all GPUs" if n_replicas > 1 else ""
        raise BackendError(f"{name.model} could not be loaded by vLLM: {error}{hint}") from error
    raw = name.raw or not has_template(models[0].tokenizer)
    replicas = [Replica(*each) for each in zip(starts, models, strict=True)]
    return VllmModel(causal.identity, raw, options.sampling, replicas)
