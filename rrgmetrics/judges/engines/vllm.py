"""The engine `vllm:<id>`: a model run by vLLM in this process, on every GPU it sees.

vLLM batches by itself. It is given the prompts in rounds, so that what has arrived is kept if the run is interrupted.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rrgmetrics.backends.checkpoints import find_checkpoint
from rrgmetrics.backends.checkpoints.limits import check_folder, stored_shapes, weight_files
from rrgmetrics.errors import BackendError, MissingExtraError
from rrgmetrics.judges.base import EngineName, Prompt
from rrgmetrics.judges.engines.asking import Answer, ended
from rrgmetrics.judges.engines.hf import prompt_ids, too_large

ROUND = 512  # prompts; vLLM runs up to 256 at a time


@dataclass(frozen=True)
class VllmModel:
    """A loaded model.

    Attributes:
        checkpoint: How the signature names the weights.
        raw: Whether it reads the protocol's own text instead of its chat template's.
        temperature: 0 takes the most probable word each time.
        model: vLLM's.
    """

    checkpoint: str
    raw: bool
    temperature: float
    model: Any

    @property
    def identity(self) -> str:
        """The identity: the checkpoint with its revision or checksum."""
        return f"vllm:{self.checkpoint}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The temperature, and the template that writes the prompt."""
        return {"template": "protocol" if self.raw else "chat", "temperature": self.temperature}

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the temperature, the prompt's template, and vLLM's version."""
        import vllm

        return {key: str(value) for key, value in self.parameters.items()} | {"vllm": vllm.__version__}

    def stream(self, prompts: Sequence[Prompt]) -> Generator[Answer, None, None]:
        """Yields answers round by round; the model reads the same tokens as with transformers."""
        tokenizer, window = self.model.get_tokenizer(), self.model.llm_engine.model_config.max_model_len
        fitting: list[tuple[int, list[int]]] = []
        for index, prompt in enumerate(prompts):
            row = prompt_ids(tokenizer, prompt, raw=self.raw)
            if len(row) < window:
                fitting.append((index, row))
            else:
                yield too_large(index, row, window)
        for start in range(0, len(fitting), ROUND):
            batch = fitting[start : start + ROUND]
            settings = [self._settings(prompts[index]) for index, _ in batch]
            outputs = self.model.generate([{"prompt_token_ids": row} for _, row in batch], settings, use_tqdm=False)
            for (index, _), output in zip(batch, outputs, strict=True):
                choice = output.outputs[0]
                yield ended(index, choice.text, choice.finish_reason, prompts[index].max_tokens)

    def _settings(self, prompt: Prompt) -> Any:
        """Returns sampling parameters, held to the reply's schema if there is one."""
        from vllm import SamplingParams

        keywords: dict[str, Any] = {"temperature": self.temperature, "max_tokens": prompt.max_tokens}
        if prompt.json_schema is not None:
            keywords |= _structured(dict(prompt.json_schema))
        return SamplingParams(**keywords)


def _structured(schema: dict[str, Any]) -> dict[str, Any]:
    """The request for a schema, under the name that this version of vLLM has for it."""
    from vllm import sampling_params

    if hasattr(sampling_params, "StructuredOutputsParams"):
        return {"structured_outputs": sampling_params.StructuredOutputsParams(json=schema)}
    return {"guided_decoding": sampling_params.GuidedDecodingParams(json=schema)}


def load_model(name: EngineName, options: Any) -> VllmModel:
    """Loads a model on all GPUs.

    Raises:
        MissingExtraError: No vLLM.
        BackendError: Weights that are not there or cannot be loaded.
    """
    try:
        import vllm
    except ImportError as error:
        raise MissingExtraError("vllm:<id> needs vLLM and a GPU: pip install 'rrgmetrics[vllm]'") from error
    import torch

    checkpoint = find_checkpoint(name.model)
    try:
        check_folder(checkpoint.folder)
        stored_shapes(weight_files(checkpoint.folder))
        model = vllm.LLM(
            model=str(checkpoint.folder),
            tensor_parallel_size=max(1, torch.cuda.device_count()),
            trust_remote_code=False,
            load_format="safetensors",
        )
    except Exception as error:  # of whatever kind: no GPU, no memory, an architecture it does not know
        raise BackendError(f"{name.model} could not be loaded by vLLM: {error}") from error
    raw = name.raw or not getattr(model.get_tokenizer(), "chat_template", None)
    return VllmModel(checkpoint.identity, raw, options.temperature, model)
