"""Pins what our configurations load: fills published.yaml with revisions and SHA-256 from the Hub.

Needs a network and nothing else: the Hub keeps the SHA-256 of every large file, so that no weights are downloaded.
`python scripts/pin_checkpoints.py [REPOSITORY ...]` pins the named repositories, or all of the table, to their newest
revision; review the change before it is committed, because scores may change with it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

PINS = Path(__file__).parents[1] / "rrgmetrics" / "backends" / "checkpoints" / "published.yaml"
WEIGHTS = (".safetensors", ".bin", ".pth", ".th", ".tar.gz")


def pin(row: Mapping[str, Any], info: Any) -> dict[str, Any]:
    """A row of the table with what the Hub says: the listed files, or all weights if it has none of those."""
    known = {file.rfilename: file.lfs.sha256 for file in info.siblings if file.lfs}
    listed = [name for name in row["sha256"] if name in known]
    names = listed or sorted(name for name in known if name.endswith(WEIGHTS))
    if not names:
        raise SystemExit(f"{info.id} has no weights in LFS; look at it by hand.")
    return {"revision": info.sha, "sha256": {name: known[name] for name in names}}


def write(table: Mapping[str, Any]) -> None:
    """Writes the table below the comments that the file begins with."""
    comments = [line for line in PINS.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    rows = yaml.safe_dump(dict(table), sort_keys=False, width=200)
    PINS.write_text("\n".join(comments) + "\n\n" + rows, encoding="utf-8")


def main(arguments: Sequence[str], api: Any = None) -> None:
    """Pins the repositories that are named, or all."""
    if api is None:
        from huggingface_hub import HfApi

        api = HfApi()
    table = yaml.safe_load(PINS.read_text(encoding="utf-8"))
    for name in arguments or list(table):
        if name not in table:
            raise SystemExit(f"{name} is not in {PINS}; add it with the files that are loaded.")
        table[name] = pin(table[name], api.model_info(name, files_metadata=True))
        print(name, table[name]["revision"])
    write(table)


if __name__ == "__main__":
    main(sys.argv[1:])
