"""Writes tables of sample reports to a JSONL file each time, and to the trackers that can show tables."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rrgmetrics.callbacks.sampling import Sample
from rrgmetrics.callbacks.scoring import headline, unscored_reasons
from rrgmetrics.comparing import compare
from rrgmetrics.files.write import write_text
from rrgmetrics.reading import read
from rrgmetrics.scoring.results import Result
from rrgmetrics.specs.names import parse_name

Row = dict[str, Any]


def make_rows(samples: Sequence[Sample], results: Mapping[str, Result], step: int, n_shown: int) -> list[Row]:
    """Makes rows of the first samples: the headline of each metric, and the reader's errors in words.

    A score that is NaN becomes None; if the metric gives the reason, it is in `unscored`.
    """
    headlines = {name: headline(parse_name(name)) for name, result in results.items()}
    reasons = {headlines[name]: unscored_reasons(result)[:n_shown] for name, result in results.items()}
    rows = []
    for index, sample in enumerate(samples[:n_shown]):
        reference, candidate, context = sample.pair
        scores = {headlines[name]: _or_none(float(result.headline[index])) for name, result in results.items()}
        errors = compare(read(reference), read(candidate), context).errors
        rows.append(
            {
                "step": step,
                "study_id": sample.identity,
                "reference": reference,
                "candidate": candidate,
                "scores": scores,
                "unscored": {key: why[index] for key, why in reasons.items() if why and why[index]},
                "errors": [{"category": error.category.value, "sentence": error.sentence} for error in errors],
            }
        )
    return rows


def write(rows: Sequence[Row], folder: Path, name: str) -> Path:
    """Writes `<folder>/<name>.jsonl`; a step that is trained again writes its file again."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), force=True)
    return path


def track(rows: Sequence[Row], key: str, step: int, trainer: Any) -> None:
    """Shows the rows as a table in W&B and trackio, and as Markdown text in TensorBoard, where these are in use."""
    used = trainer.args.report_to
    for package in ("wandb", "trackio"):
        if package in used:
            _log_table(package, rows, key)
    for callback in trainer.callback_handler.callbacks:
        writer = getattr(callback, "tb_writer", None)
        if writer is not None:
            writer.add_text(key, markdown(rows), step)


def markdown(rows: Sequence[Row]) -> str:
    """Returns the rows as a Markdown table."""
    lines: list[str] = []
    for row in map(as_cells, rows):
        if not lines:
            lines = ["| " + " | ".join(row) + " |", "|" + "---|" * len(row)]
        cells = [str(cell).replace("|", "\\|").replace("\n", " ") for cell in row.values()]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _log_table(package: str, rows: Sequence[Row], key: str) -> None:
    import importlib

    import pandas as pd

    tracker = importlib.import_module(package)
    if package == "wandb" and tracker.run is None:
        return
    tracker.log({key: tracker.Table(dataframe=pd.DataFrame([as_cells(row) for row in rows]))})


def as_cells(row: Row) -> Row:
    """A row without nesting."""
    errors = "; ".join(f"{error['category']}: {error['sentence']}" for error in row["errors"])
    texts = {key: row[key] for key in ("step", "study_id", "reference", "candidate")}
    scores = {key: None if value is None else round(value, 4) for key, value in row["scores"].items()}
    unscored = "; ".join(f"{key}: {reason}" for key, reason in row["unscored"].items())
    return {**texts, **scores, "unscored": unscored, "errors": errors}


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
