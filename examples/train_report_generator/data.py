"""Images with reports, as the Trainer takes them: drawn, or read from a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examples.train_report_generator.config import Config
from examples.train_report_generator.drawing import draw
from examples.train_report_generator.studies import draw_study, write_report
from rrgmetrics.errors import InputError
from rrgmetrics.files import rows_of

HELD_OUT = 0.05
VALIDATION = ("validation", "validate", "val", "valid")
MEAN, DEVIATION = 0.5, 0.25  # of grey values between 0 and 1
IGNORED = -100
LENGTH_STEP = 8  # few shapes: CPUs compile for each


class Item(NamedTuple):
    """An image, or where it lies, and its report."""

    study_id: str
    image: NDArray[np.uint8] | Path
    report: str


@dataclass(frozen=True)
class Studies:
    """A dataset; an example has `pixel_values`, `labels`, and for the callback `report` and `study_id`."""

    items: Sequence[Item]
    read_image: Callable[[Any], Any]
    tokenizer: Any
    max_tokens: int

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> dict[str, Any]:
        item = self.items[index]
        ids = self.tokenizer(item.report, truncation=True, max_length=self.max_tokens - 1).input_ids
        return {
            "pixel_values": self.read_image(item.image),
            "labels": [*ids, self.tokenizer.eos_token_id],
            "report": item.report,
            "study_id": item.study_id,
        }


def collate(examples: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Images and labels of a batch; labels are filled up to the longest."""
    import torch

    longest = -(-max(len(example["labels"]) for example in examples) // LENGTH_STEP) * LENGTH_STEP
    labels = torch.full((len(examples), longest), IGNORED)
    for row, example in zip(labels, examples, strict=True):
        row[: len(example["labels"])] = torch.as_tensor(example["labels"])
    return {"pixel_values": torch.stack([torch.as_tensor(each["pixel_values"]) for each in examples]), "labels": labels}


def load_items(config: Config) -> tuple[list[Item], list[Item]]:
    """Training and validation items.

    Raises:
        InputError: A file or column that is not there, an image that is not there, or a part that is empty.
    """
    if config.drawn:
        return _draw_items(config)
    parts: tuple[list[Item], list[Item]] = ([], [])
    for row in _rows(config):
        path = Path(config.images) / row[config.image_column]
        if not path.is_file():
            raise InputError(f"{config.reports} names the image {path}, which does not exist.")
        if row[config.report_column].strip():
            item = Item(row[config.study_id_column], path, row[config.report_column].strip())
            parts[_is_validation(row, config)].append(item)
    for name, part in zip(("training", "validation"), parts, strict=True):
        if not part:
            raise InputError(f"{config.reports} has no {name} reports; see split_column in the configuration.")
    return parts


def _draw_items(config: Config) -> tuple[list[Item], list[Item]]:
    if config.drawn.keys() != {"train", "validation", "seed"}:
        raise InputError(f"drawn: needs train, validation and seed, and has {', '.join(config.drawn)}.")
    n_train, n_validation, seed = (config.drawn[key] for key in ("train", "validation", "seed"))
    random, rng = Random(seed), np.random.default_rng(seed)
    items = []
    for number in range(n_train + n_validation):
        study = draw_study(random)
        image = draw(study, rng, config.image_size)
        items.append(Item(f"drawn-{number:05d}", image, write_report(study, random)))
    return items[:n_train], items[n_train:]


def _rows(config: Config) -> Iterator[dict[str, str]]:
    columns = [config.image_column, config.report_column, config.study_id_column]
    columns += filter(None, [config.split_column])
    for kind, number, row in rows_of(config.reports, columns):
        for column in columns:
            if row.get(column) is None:
                raise InputError(f"{config.reports}, {kind} {number}, has no {column!r}; it has: {', '.join(row)}.")
        yield {column: str(row[column]) for column in columns}


def _is_validation(row: dict[str, str], config: Config) -> bool:
    if config.split_column:
        return row[config.split_column].lower() in VALIDATION
    digest = hashlib.sha256(row[config.study_id_column].encode()).digest()
    return int.from_bytes(digest[:4], "big") < HELD_OUT * 2**32


def read_grey(image: NDArray[np.uint8] | Path, size: int) -> NDArray[np.float32]:
    """Shape (1, size, size), around 0."""
    from PIL import Image

    if isinstance(image, Path):
        with Image.open(image) as opened:
            image = np.asarray(opened.convert("L").resize((size, size)))
    return ((image / 255 - MEAN) / DEVIATION).astype(np.float32)[None]
