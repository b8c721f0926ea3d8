"""A trained checkpoint stored in fewer bits, for shipping.

`int8` stores each row of a matrix as 8-bit integers with one scale (symmetric, rounded to nearest, the largest weight
of a row exact), `fp16` as half floats; vectors and single rows (biases, norms, heads) stay 32-bit.
`rrgmetrics.backends.bert.load_int8` reads either, so `crepe@FOLDER` and the bundled checkpoint take them;
transformers reads `fp16` only. What the checkpoint does not use is left out: a pooler beside `tokens` features.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from rrgmetrics.backends.bert import load_int8
from rrgmetrics.backends.checkpoints import find_checkpoint
from rrgmetrics.backends.checkpoints.limits import read_config
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.files.write import check_folder

if TYPE_CHECKING:
    from torch import Tensor

Storage = Literal["int8", "fp16"]
WEIGHTS = "model.safetensors"
BESIDE = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
LARGEST = 127  # of a symmetric 8-bit integer


class Exported(NamedTuple):
    """A folder in the storage format.

    Attributes:
        folder: Where it is.
        megabytes: Size of its weights, in 10^6 bytes.
        error: Largest change of a weight.
    """

    folder: Path
    megabytes: float
    error: float


def export_checkpoint(
    checkpoint: str | Path, output: str | Path, *, storage: Storage = "int8", force: bool = False
) -> Exported:
    """Writes a checkpoint's weights in fewer bits, with its config, tokenizer and card.

    Args:
        checkpoint: A folder or Hub id with safetensors.
        output: Folder to write.
        storage: Of matrices.
        force: Whether weights in that folder may be replaced.

    Raises:
        InputError: The storage is unknown, or the folder holds weights already.
        BackendError: There is no such checkpoint.
    """
    from safetensors.torch import save_file

    if storage not in get_args(Storage):
        raise InputError(f"storage is {storage!r}; it is one of {', '.join(get_args(Storage))}.")
    check_folder(Path(output))
    source, folder = find_checkpoint(str(checkpoint)), Path(output)
    if folder.resolve() == source.folder.resolve():
        raise InputError(f"{folder} is the checkpoint itself; choose another folder for the export.")
    if (folder / WEIGHTS).exists() and not force:
        raise InputError(f"{folder / WEIGHTS} exists; pass force=True to replace it, or choose another folder.")
    config = read_config(source.folder)
    weights = {name: tensor for name, tensor in _read(source.folder).items() if _is_used(name, config)}
    stored = {key: tensor for name, weight in weights.items() for key, tensor in pack(name, weight, storage).items()}
    folder.mkdir(parents=True, exist_ok=True)
    save_file(stored, folder / WEIGHTS, metadata={"format": "pt"})
    unpacked = load_int8(folder / WEIGHTS)
    error = max(float((unpacked[name] - weight).abs().max()) for name, weight in weights.items())
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
    for name in (name for name in BESIDE if (source.folder / name).is_file()):
        shutil.copyfile(source.folder / name, folder / name)
    done = Exported(folder, (folder / WEIGHTS).stat().st_size / 1e6, error)
    _write_card(source.folder / "README.md", done, source.identity, storage)
    return done


def pack(name: str, weight: Tensor, storage: Storage) -> dict[str, Tensor]:
    """Returns a weight as it is stored: itself, or for 8 bits integers `(rows, columns)` and `name.scale` `(rows,)`."""
    import torch

    if weight.ndim != 2 or len(weight) == 1:
        return {name: weight.contiguous()}
    if storage == "fp16":
        return {name: weight.to(torch.float16).contiguous()}
    scale = weight.abs().amax(dim=1).clamp(min=1e-12) / LARGEST
    return {name: (weight / scale[:, None]).round().to(torch.int8), f"{name}.scale": scale}


def _read(folder: Path) -> dict[str, Tensor]:
    """Returns all weights in 32 bits."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise BackendError(f"{folder} has no safetensors; save the model with save_pretrained first.")
    weights: dict[str, Tensor] = {}
    for file in files:
        weights |= load_int8(file)
    return weights


def _is_used(name: str, config: dict[str, object]) -> bool:
    pooled = config.get("crepe_features") == "tokens" and ".pooler." in f".{name}"
    return not pooled and not name.endswith("position_ids")


def _write_card(card: Path, done: Exported, identity: str, storage: Storage) -> None:
    text = card.read_text(encoding="utf-8") if card.is_file() else f"# `{done.folder.name}`\n"
    text += (
        f"\n## Storage\n\nMatrices in {storage} ({done.megabytes:.1f} MB), written by `rrgmetrics train export` from "
        f"{identity}; the largest change of a weight is {done.error:.2g}.\n"
    )
    (done.folder / "README.md").write_text(text, encoding="utf-8")
