"""Reads and checks a checkpoint's small files before anything is built from them; needs no torch.

A config.json is a few numbers from which transformers builds whatever they ask for: 200,000 layers take half an hour,
and a vocabulary of a billion all memory, before the weights turn out to be others. Here the numbers are held to limits
far beyond any published model, and `loading` then compares the network with the stored weights.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rrgmetrics.errors import BackendError

Shape = tuple[int, ...]

CONFIG_BYTES = 4 << 20  # 20,000 labels take 2 MB
JSON_BYTES = 16 << 20  # of other settings; the index of 70,000 tensors has 7 MB
VOCABULARY_BYTES = 256 << 20  # Gemma's tokenizer.json has 33 MB
HEADER_BYTES = 16 << 20  # of safetensors; a tensor takes 100
VOCABULARIES = ("tokenizer.json", "vocab.json", "merges.txt", "vocab.txt")
DEPTH = 32
LONGEST_REASON = 500  # characters that are shown of what others say
# Key of a number → the largest that is built. The largest that transformers 5.23 knows: 128 layers, 16,384 experts,
# 9,500 labels, a vocabulary of 500,000 and one table of 20,000,000.
LARGEST = {
    re.compile(r"num_return_sequences$"): 1,
    re.compile(r"num_beams$|num_beam_groups$"): 64,
    re.compile(r"^min_(length|new_tokens)$|num_assistant_tokens$|prompt_lookup_num_tokens$"): 100_000,
    re.compile(r"(layers?|blocks?|depths?|stages?|repeats?|block_sizes|group_num)$"): 1_000,
    re.compile(r"(experts|heads|groups|labels|classes|extra_ids)$|^offset$"): 20_000,
    re.compile(r"(sizes?|dims?|positions?|embeddings?|embeds|embd|inner|width|channels|buckets|ctx)$|^d_"): 2**25,
}
REDIRECTIONS = ("transformers_weights",)  # keys that name other weights than those that are checked
KERNELS = re.compile(r"(attn|experts)_implementation(_internal)?$")  # a Hub id there is code


def read_json(file: Path, *, most: int = JSON_BYTES) -> dict[str, Any]:
    """Reads one JSON object of a checkpoint.

    Raises:
        BackendError: The file is missing, too large, or holds anything but an object.
    """
    try:
        size = file.stat().st_size
        if size > most:
            raise BackendError(f"{file.name} has {size:,} bytes, more than the limit of {most:,} for such a file.")
        content = json.loads(file.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise BackendError(f"{file.name} is nested too deeply.") from error
    except (OSError, ValueError) as error:
        raise BackendError(f"{file.name} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise BackendError(f"{file.name} contains no settings.")
    return content


def read_config(folder: Path, name: str = "config.json") -> dict[str, Any]:
    """Reads a config and checks what it asks for.

    Raises:
        BackendError: As `read_json`; or it is nested too deeply, has a number that no network has, or asks for code of
            the Hub or for other weights than the folder's.
    """
    config = read_json(folder / name, most=CONFIG_BYTES)
    for key, value in entries(config, name):
        if isinstance(value, int | float) and not isinstance(value, bool):
            most = next((most for pattern, most in LARGEST.items() if pattern.search(key)), math.inf)
            if value > most:
                raise BackendError(f"{name} has {key} = {value:,}, above the limit of {most:,}.")
        elif value and key in REDIRECTIONS:
            raise BackendError(f"{name} names other weights ({key}: {value}); delete that line.")
        elif KERNELS.search(key) and "/" in str(value):
            raise BackendError(
                f"{name} requests code from the Hub ({key}: {value}), which is never run; delete that line."
            )
    return config


def check_folder(folder: Path) -> None:
    """Checks what lies beside the weights.

    Raises:
        BackendError: A file of settings or a vocabulary is too large or no file; or there is an adapter beside the
            weights, which would change them behind the signature's back where peft is installed, and not elsewhere.
    """
    for path in sorted(folder.iterdir()):
        if path.suffix not in (".json", ".txt", ".model", ".jinja") or not path.exists():
            continue
        most = VOCABULARY_BYTES if path.name in VOCABULARIES or path.suffix == ".model" else JSON_BYTES
        if not path.is_file() or path.stat().st_size > most:
            raise BackendError(f"{path.name} is not a file of at most {most:,} bytes.")
    if (folder / "adapter_config.json").exists() and (folder / "config.json").exists():
        raise BackendError(
            "adapter_config.json shows that the weights have an adapter; merge them (merge_and_unload of peft) and "
            "save the result."
        )
    for name in ("config.json", "tokenizer_config.json", "generation_config.json"):
        if (folder / name).exists():
            read_config(folder, name)


def weight_files(folder: Path) -> list[Path]:
    """Returns `model.safetensors`, or the several files that an index names.

    Raises:
        BackendError: The index is damaged, or names what is not a safetensors file of the folder.
    """
    index = folder / "model.safetensors.index.json"
    if (folder / "model.safetensors").is_file() or not index.is_file():
        return [folder / "model.safetensors"]
    table = read_json(index).get("weight_map")
    names = sorted({str(name) for name in table.values()}) if isinstance(table, dict) else []
    wrong = [name for name in names if Path(name).name != name or "\\" in name or not name.endswith(".safetensors")]
    if wrong or not names:
        raise BackendError(f"{index.name} names {wrong[0] if wrong else 'no file'!r}, which is not a safetensors file.")
    return [folder / name for name in names]


def stored_shapes(files: Sequence[Path]) -> dict[str, Shape]:
    """Names and shapes of the weights in files of safetensors, from their headers.

    Raises:
        BackendError: A file is missing or damaged, or its header is larger than any.
    """
    from safetensors import safe_open

    shapes: dict[str, Shape] = {}
    for path in files:
        try:
            with path.open("rb") as file:
                length = int.from_bytes(file.read(8), "little")
            if length > HEADER_BYTES:
                raise BackendError(f"its header states {length:,} bytes")
            with safe_open(path, "np") as opened:  # checks that the tensors fill the file
                shapes |= {name: tuple(opened.get_slice(name).get_shape()) for name in opened.keys()}  # noqa: SIM118
        except Exception as error:  # safetensors has an exception of its own beside the usual ones
            raise BackendError(f"the weights in {path} cannot be read: {error}.") from error
    return shapes


def reason_of(error: BaseException) -> str:
    """Returns the first line of what an exception of others says, two if that ends in a colon, without the last stop.

    Example:
        >>> reason_of(ValueError("no such key."))
        'no such key'
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    reason = " ".join(map(str.strip, lines[: 2 if lines[0].endswith(":") else 1]))
    return reason[:LONGEST_REASON].rstrip(" .")


def entries(value: Any, where: str, key: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yields every key of a JSON value with its value, at any depth; the items of a list have the list's key."""
    if depth > DEPTH:
        raise BackendError(f"{where} is nested too deeply.")
    items = value.items() if isinstance(value, dict) else [(key, item) for item in value]
    for name, item in items:
        yield name, item
        if isinstance(item, dict | list):
            yield from entries(item, where, name, depth + 1)
