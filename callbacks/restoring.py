"""The restore trap: checkpoints that the Trainer reads back only in part.

`save_pretrained` writes some models under older names of their tensors (on transformers 5 ViT and other vision
encoders, Llava, PaliGemma, Gemma 3, Qwen2-VL; on 4.57 a part of these). `from_pretrained` knows both kinds of names.
The Trainer's `load_best_model_at_end` and `resume_from_checkpoint` do not: they leave what they cannot find as it is
(a warning says so; transformers issues 43701, 48805, 40187).
"""

from __future__ import annotations

import functools
import inspect
import json
import logging
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rrgmetrics.backends.checkpoints.limits import stored_shapes

logger = logging.getLogger("rrgmetrics")

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"


def watch(trainer: Any, step: int, *, repair: bool) -> None:
    """Warns of weights that the Trainer would not restore, or avoids it, before the first step of a run.

    Args:
        trainer: transformers' Trainer.
        step: The step that the run resumes from; 0 for a new one.
        repair: Whether to avoid it.
    """
    if getattr(trainer, "is_fsdp_enabled", False) or getattr(trainer, "is_deepspeed_enabled", False):
        return  # they write and read checkpoints of their own
    names = unrestored(trainer.model)
    if names and repair:
        write_current_names(trainer.model)
    elif names and trainer.args.save_strategy != "no":
        logger.warning(
            "%s are saved under names that the Trainer does not read: load_best_model_at_end and "
            "resume_from_checkpoint would not restore them. Pass restore='repair' to ReportMetricsCallback, or "
            "load the best checkpoint with from_pretrained.",
            describe(names, trainer.model),
        )
    if step:
        check(
            trainer.model, Path(trainer.args.output_dir) / f"checkpoint-{step}", "resume_from_checkpoint", repair=repair
        )


def check(model: Any, folder: str | Path, what: str, *, repair: bool) -> None:
    """Reads what the Trainer left out of a checkpoint, or warns of it; `what` names the step that left it out."""
    names = unrestored_from(model, folder)
    if names and repair:
        reload(model, folder)
        logger.info("%s: read again from %s.", describe(names, model), folder)
    elif names:
        logger.warning(
            "%s were not restored from %s by %s: the model is a mixture of two checkpoints. Pass restore='repair' "
            "to ReportMetricsCallback, or load it with from_pretrained.",
            *(describe(names, model), folder, what),
        )


def unrestored(model: Any) -> list[str]:
    """Returns the names of tensors that the Trainer would not find in a checkpoint it wrote; usually none."""
    if not hasattr(model, "save_pretrained") or hasattr(model, "peft_config"):  # adapters are restored by peft
        return []
    return missing(model, _written_names(model))


def unrestored_from(model: Any, folder: str | Path) -> list[str]:
    """Returns the names of tensors that the Trainer does not find in this checkpoint; none without safetensors."""
    names = _names_in(Path(folder))
    return [] if names is None or hasattr(model, "peft_config") else missing(model, names)


def missing(model: Any, names: Collection[str]) -> list[str]:
    """Returns the model's tensors that are not among the names, nor tied to one that is."""
    tensors = model.state_dict()
    pointers = {tensors[name].data_ptr() for name in tensors.keys() & set(names)}
    ignored = set(getattr(model, "_keys_to_ignore_on_save", None) or ())
    return [
        name
        for name, tensor in tensors.items()
        if name not in names and name not in ignored and (tensor.data_ptr() not in pointers or not tensor.numel())
    ]


def reload(model: Any, folder: str | Path) -> None:
    """Reads every tensor of a checkpoint into the model, in place, as `from_pretrained` reads them."""
    fresh = type(model).from_pretrained(str(folder), local_files_only=True, use_safetensors=True)
    model.load_state_dict(fresh.state_dict())


def write_current_names(model: Any) -> bool:
    """Makes `model.save_pretrained` write the names that the Trainer reads; False if this transformers cannot.

    `from_pretrained` reads such checkpoints too. `write_original_names` takes it back.
    """
    if "save_original_format" not in inspect.signature(type(model).save_pretrained).parameters:
        return False
    model.save_pretrained = functools.partial(type(model).save_pretrained, model, save_original_format=False)
    return True


def write_original_names(model: Any) -> None:
    """Undoes `write_current_names`."""
    vars(model).pop("save_pretrained", None)


def describe(names: Collection[str], model: Any) -> str:
    """Describes tensors: `16 of 49 tensors (encoder.layers.0.attention.q_proj.weight, ...)`."""
    shown = ", ".join(list(names)[:2])
    return f"{len(names)} of {len(model.state_dict())} tensors of {type(model).__name__} ({shown}, ...)"


def _written_names(model: Any) -> Collection[str]:
    """Returns the names that `save_pretrained` gives the tensors, without writing them."""
    import torch

    try:
        from transformers.core_model_loading import revert_weight_conversion
    except ImportError:  # transformers 4 renames while it writes: let it write nothing but names
        saved = dict(vars(model.config))  # writing adds to the configuration
        with TemporaryDirectory() as folder:
            model.save_pretrained(folder, state_dict={name: torch.zeros(1) for name in model.state_dict()})
            vars(model.config).update(saved)
            return _names_in(Path(folder)) or ()
    meta = {name: tensor.to("meta") for name, tensor in model.state_dict().items()}
    return list(revert_weight_conversion(model, meta))


def _names_in(folder: Path) -> set[str] | None:
    if (folder / INDEX).is_file():
        return set(json.loads((folder / INDEX).read_text())["weight_map"])
    if (folder / WEIGHTS).is_file():
        return set(stored_shapes([folder / WEIGHTS]))
    return None
