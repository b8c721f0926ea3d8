"""A judge's weights: a checkpoint of transformers, or a folder of LoRA's matrices beside the model that it names.

An adapter is data, as a checkpoint is: of its config only LoRA's numbers are taken, of its weights only safetensors.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

from rrgmetrics.backends.checkpoints import Checkpoint, check_path, checksum, find_checkpoint
from rrgmetrics.backends.checkpoints.limits import read_config
from rrgmetrics.backends.checkpoints.loading import check_classes, load_config, load_model, load_tensors
from rrgmetrics.errors import BackendError
from rrgmetrics.utils.extras import need

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
TAKEN = ("r", "lora_alpha", "target_modules", "use_rslora", "rank_pattern", "alpha_pattern", "fan_in_fan_out", "bias")
LARGEST_RANK = 512


class Causal(NamedTuple):
    """A causal language model on this machine.

    Attributes:
        base: The checkpoint of all its weights.
        adapter: Folder of LoRA's matrices that are added to them, if that is what was named.
        identity: How a signature names it.
    """

    base: Checkpoint
    adapter: Path | None
    identity: str

    @property
    def tokenizer(self) -> Checkpoint:
        """Where the tokenizer is: with the adapter, else with the weights."""
        if self.adapter and (self.adapter / "tokenizer_config.json").is_file():
            return Checkpoint(self.adapter, self.identity)
        return self.base

    @property
    def rank(self) -> int:
        """The rank of LoRA's matrices; 0 without an adapter."""
        return int(_settings(self.adapter)["r"]) if self.adapter else 0


def find_causal(name: str) -> Causal:
    """Finds a language model by folder or Hub id; the folder may hold an adapter alone.

    Raises:
        MissingExtraError: torch or transformers is not installed, or PEFT for an adapter.
        BackendError: It, or the model that an adapter belongs to, is nowhere to be found.
    """
    check_path(name)
    need(f"The judge {name}", "published")
    folder = Path(name).expanduser()
    if not (folder / CONFIG).is_file() or (folder / "config.json").is_file():
        base = find_checkpoint(name, check=check_classes)
        return Causal(base, None, base.identity)
    need(f"The adapter {folder}", "training", "peft")
    if not (folder / WEIGHTS).is_file():
        raise BackendError(f"{name}: {folder} has no {WEIGHTS}.")
    belongs_to = _settings(folder).get("base_model_name_or_path")
    if not belongs_to:
        raise BackendError(f"{folder / CONFIG} does not name its base model (base_model_name_or_path).")
    try:
        base = find_checkpoint(str(belongs_to), check=load_config)
    except BackendError as error:
        raise BackendError(f"{name} is an adapter of a model that is not on this machine. {error}") from None
    digest = hashlib.sha256((checksum(folder / WEIGHTS) + checksum(folder / CONFIG)).encode()).hexdigest()
    return Causal(base, folder, f"{folder.name}@sha256:{digest[:8]}+{base.identity}")


def load_causal(causal: Causal, **settings: Any) -> Any:
    """Loads a language model, with what its adapter adds.

    Args:
        causal: What `find_causal` found.
        settings: Of transformers' `from_pretrained`.

    Raises:
        BackendError: Weights that are damaged, or do not fit the model.
    """
    model, _ = load_model("AutoModelForCausalLM", causal.base, **settings)
    return _merged(model, causal.adapter) if causal.adapter else model


def _merged(model: Any, folder: Path) -> Any:
    from peft import LoraConfig, get_peft_model, set_peft_model_state_dict

    settings = _settings(folder)
    try:
        adapted = get_peft_model(model, LoraConfig(**{key: settings[key] for key in TAKEN if key in settings}))
        found = set_peft_model_state_dict(adapted, load_tensors(folder / WEIGHTS))
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        raise BackendError(f"{folder} does not fit {model.name_or_path}: {error}") from error
    lost = [key for key in found.missing_keys if "lora_" in key]
    if lost or found.unexpected_keys:
        raise BackendError(f"{folder} does not fit {model.name_or_path}: {[*lost, *found.unexpected_keys][0]}.")
    return adapted.merge_and_unload()


def _settings(folder: Path) -> dict[str, Any]:
    settings = read_config(folder, CONFIG)
    rank = settings.get("r")
    if settings.get("peft_type") != "LORA" or not isinstance(rank, int) or not 0 < rank <= LARGEST_RANK:
        raise BackendError(f"{folder / CONFIG} is not a LoRA of a rank from 1 to {LARGEST_RANK:,}.")
    return settings
