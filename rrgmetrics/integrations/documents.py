"""What harnesses hand over of a study: a row of their data, with the context and the images beside the reports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rrgmetrics.reports import CONTEXT_KEYS

DEFAULT_METRICS = ("bleu", "rouge", "crepe", "finding_score", "radgraph_f1", "chexbert_f1")


def context_of(row: Mapping[str, Any]) -> dict[str, object]:
    """Returns what a row says of the patient: any of `age`, `sex`, `indication`."""
    return {key: row[key] for key in CONTEXT_KEYS if row.get(key) is not None}


def images_of(cell: Any) -> list[Any]:
    """Returns the images of a cell, which holds an image, a path, or a list of either, in three colours."""
    from PIL import Image

    opened = [
        Image.open(image) if isinstance(image, str | Path) else image
        for image in (cell if isinstance(cell, list) else [cell])
    ]
    return [image.convert("RGB") for image in opened]
