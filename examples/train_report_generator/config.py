"""What a run is made of; read from a YAML file (`drawn.yaml`, `folder.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from rrgmetrics.errors import InputError
from rrgmetrics.specs.names import parse_name


@dataclass(frozen=True)
class Config:
    """A run. Pictures are drawn (`drawn`) or read (`images`, `reports` and the columns).

    Attributes:
        drawn: Numbers of studies (`train`, `validation`) and their `seed`.
        images: Folder that image paths start from.
        reports: CSV, JSONL or Parquet with a line an image.
        image_column: Path of the image.
        report_column: Its report.
        split_column: The part a line belongs to; empty to hold 5% of the studies out.
        study_id_column: The study; images of one study stay in one part.
        image_size: Pixels a side.
        encoder: Pre-trained vision encoder; empty to train one of the sizes below.
        decoder: Pre-trained language model; empty likewise.
        patch_size: Pixels a side of a patch.
        hidden_size: Width of both parts.
        encoder_layers: Layers of the encoder.
        decoder_layers: Layers of the decoder.
        attention_heads: Of both parts.
        vocabulary_size: Byte pairs, learned on the training reports.
        max_tokens: Longest report; longer ones are cut in training.
        num_beams: Of beam search, with which reports are written.
        batch_size: Images a step.
        learning_rate: Its maximum; warmed up over the first 5% of the steps, then falling to 0.
        steps: Training steps.
        evaluations: How many times reports are generated and scored.
        reports_per_evaluation: Of the validation part.
        metrics: Names and schedules, as `ReportMetricsCallback` takes them; must have `crepe`, which chooses.
        seed: Of weights, order and sample.
    """

    image_size: int
    batch_size: int
    learning_rate: float
    steps: int
    evaluations: int
    reports_per_evaluation: int
    metrics: Mapping[str, str]
    seed: int
    max_tokens: int
    num_beams: int
    drawn: Mapping[str, int] = field(default_factory=dict)
    images: str = ""
    reports: str = ""
    image_column: str = "path"
    report_column: str = "report"
    split_column: str = ""
    study_id_column: str = "study_id"
    encoder: str = ""
    decoder: str = ""
    patch_size: int = 16
    hidden_size: int = 128
    encoder_layers: int = 3
    decoder_layers: int = 2
    attention_heads: int = 4
    vocabulary_size: int = 8000

    def __post_init__(self) -> None:
        if bool(self.drawn) == bool(self.reports):
            raise InputError("Give either drawn: {train: N, validation: N, seed: N}, or images: and reports:.")
        if bool(self.encoder) != bool(self.decoder):
            raise InputError("Give both encoder: and decoder:, or neither, to train from scratch.")
        if "crepe" not in self.metrics:
            raise InputError("metrics: must contain crepe, which selects the best checkpoint.")
        for metric in self.metrics:
            parse_name(metric)  # an unknown name is an error before the pictures are drawn


def read_config(path: Path, changes: Mapping[str, Any]) -> Config:
    """Reads a YAML file; `changes` replace what it says.

    Raises:
        InputError: No such file, not YAML, or keys that are unknown or missing.
    """
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    try:
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path} cannot be read as YAML: {error}") from None
    known = {each.name for each in fields(Config)}
    unknown = set(said or {}) - known
    if not isinstance(said, dict) or unknown:
        raise InputError(
            f"{path} has the unknown key(s) {', '.join(sorted(unknown)) or 'none'}; known: {sorted(known)}."
        )
    try:
        return Config(**{**said, **changes})
    except TypeError as error:
        raise InputError(f"{path}: {str(error).removeprefix('Config.__init__() ')}.") from None
