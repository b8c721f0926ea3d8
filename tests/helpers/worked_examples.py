"""The worked examples of CONTRIBUTING.md, installed as packages of somebody else's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def block(path: str) -> str:
    """The block of CONTRIBUTING.md that begins with the name of a file."""
    begin = rf"(?:# |<!-- ){re.escape(path)}[^\n]*\n"
    blocks: list[tuple[str, str]] = re.findall(rf"^(`{{3,4}})\w+\n{begin}(.*?)^\1$", TEXT, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1, path
    return blocks[0][1]


def install(folder: Path, project: Mapping[str, Any], modules: Mapping[str, str]) -> None:
    """Writes a package, and the metadata that pip would write of its pyproject.toml."""
    for path, text in modules.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    name, points = project["name"], project["entry-points"]["rrgmetrics.metrics"]
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = "".join(f"{key} = {value}\n" for key, value in points.items())
    (info / "entry_points.txt").write_text(f"[rrgmetrics.metrics]\n{lines}")
