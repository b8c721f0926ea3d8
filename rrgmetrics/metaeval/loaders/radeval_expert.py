"""RadEval's expert data: errors that radiologists counted in candidates of three systems (Xu et al. 2025, on the Hub).

208 studies with three candidates each, one radiologist a pair. The Hub's CSV has one row a study: `annotator, type,
ground_truth, images_path, prediction1` to `prediction3`, `annotation1` to `annotation3`. Read too is the form with one
row a pair that others use: `original_example_id` (the study), `prediction`, `reference`, `prediction_source` (model_1
to model_3), `type` (findings, impression, ...), `annotator`, `images_path` and `annotation`.

An annotation is a text with the counts: "Significant", seven numbered lines, "Insignificant", seven numbered lines.
Kinds 1 to 6 are A to F; 7, readability, is the target `inarticulate`, and `inarticulate_significant`. The totals are of
A to F; those of all seven kinds, which the paper sums, are `all_seven`, `all_seven_significant` and
`all_seven_insignificant`. An annotation, or one of its two parts, that cannot be read leaves its pair without these
counts, and is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders.fields import column_names, find_file, report_of, rows
from rrgmetrics.metaeval.loaders.kinds import with_totals
from rrgmetrics.metaeval.rated import KINDS, Rated
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array

NEEDED = ("original_example_id", "prediction", "reference", "prediction_source", "type", "annotator", "annotation")
CANDIDATES = (1, 2, 3)
HUB = (
    *("annotator", "type", "ground_truth", "images_path"),
    *(f"{name}{candidate}" for name in ("prediction", "annotation") for candidate in CANDIDATES),
)
WHAT = "RadEval's expert data: a .jsonl, .csv or .parquet file, or its folder"
HEADING = re.compile(r"^\W*(in)?significant\b", re.IGNORECASE)
LINE = re.compile(r"^\W*(\d)\s*[.)].*:\s*(\d{1,3})\W*$")
N_LINES = len(KINDS) + 1  # the last one is readability
ORIGINS = {"mimic": "MIMIC-CXR", "chexpert": "CheXpert-Plus", "rexgradient": "ReXGradient"}


class _Judged(NamedTuple):
    """A pair with its annotation, as it lies in the file, and where."""

    pair: Pair
    study: str
    annotator: str
    section: str
    source: str
    origin: str
    annotation: str
    where: str


def load_radeval_expert(path: str | Path) -> Rated:
    """Reads RadEval's expert data.

    Args:
        path: The file, or the folder that holds it.

    Returns:
        The pairs; raters are the annotators, each of whom saw some of the pairs. Labels are `section` (`type`),
        `source` (`prediction_source`) and, where `images_path` tells, `origin`.

    Raises:
        InputError: A file or column that is not there; names file and line.
    """
    file = find_file(path, "*.jsonl", "*.parquet", "*.csv", what=WHAT)
    judged = list(_of_hub(file) if "annotation1" in column_names(file) else _of_pairs(file))
    counts = [read_annotation(each.annotation) for each in judged]
    if all(read is None for read in counts):
        raise InputError(f"{file}: no annotation can be read; each has 'Significant', 'Insignificant', numbered lines.")
    full = [np.full((2, N_LINES), np.nan) if read is None else read for read in counts]
    annotators = [each.annotator for each in judged]
    table = _by_rater(np.array(full), annotators)
    counted = with_totals(table[0, :-1], table[1, :-1], sorted(set(annotators)))
    values = {
        **counted["values"],
        "inarticulate": table[:, -1].sum(axis=0),
        "inarticulate_significant": table[0, -1],
        "inarticulate_insignificant": table[1, -1],
        "all_seven": table.sum(axis=(0, 1)),
        "all_seven_significant": table[0].sum(axis=0),
        "all_seven_insignificant": table[1].sum(axis=0),
    }
    unreadable = [each.where for each, read in zip(judged, counts, strict=True) if read is None]
    partly = [
        each.where for each, read in zip(judged, counts, strict=True) if read is not None and np.isnan(read).any()
    ]
    labels = {label: [getattr(each, label) for each in judged] for label in ("section", "source", "origin")}
    faults = (("cannot be read", unreadable), ("are read in part", partly))
    return Rated(
        name="radeval_expert",
        pairs=[each.pair for each in judged],
        studies=[each.study for each in judged],
        raters=counted["raters"],
        values=values,
        labels={label: texts for label, texts in labels.items() if any(texts)},
        notes=tuple(f"{len(where)} annotations {fault} ({'; '.join(where[:5])})" for fault, where in faults if where),
    )


def _of_pairs(file: Path) -> Iterator[_Judged]:
    """The pairs of a file with one row a pair."""
    columns = (*NEEDED, "images_path") if file.suffix.lower() == ".parquet" else NEEDED
    for where, row in rows(file, columns):
        yield _Judged(
            pair=Pair(report_of(row, "reference", where), report_of(row, "prediction", where)),
            study=str(row["original_example_id"]),
            annotator=str(row["annotator"]),
            section=str(row["type"]),
            source=str(row["prediction_source"]),
            origin=_origin(str(row.get("images_path") or "")),
            annotation=str(row["annotation"] or ""),
            where=where.rpartition(", ")[2],
        )


def _of_hub(file: Path) -> Iterator[_Judged]:
    """The pairs of the Hub's file with one row a study; the number of the row is the study's name."""
    for number, (where, row) in enumerate(rows(file, HUB), 1):
        for candidate in CANDIDATES:
            yield _Judged(
                pair=Pair(report_of(row, "ground_truth", where), report_of(row, f"prediction{candidate}", where)),
                study=str(number),
                annotator=str(row["annotator"]),
                section=str(row["type"]),
                source=f"model_{candidate}",
                origin=_origin(str(row["images_path"] or "")),
                annotation=str(row[f"annotation{candidate}"] or ""),
                where=f"row {number}, annotation{candidate}",
            )


def read_annotation(annotation: str) -> Array | None:
    r"""The significant and the insignificant counts `(2, 7)` of an annotation.

    A part that cannot be read is NaN; None stands for an annotation of which neither part can be read.

    Example:
        >>> lines = "".join(f"{n}. Kind: {n - 1}\n" for n in range(1, 8))
        >>> read_annotation(f"Significant\n{lines}\nInsignificant\n{lines}").tolist()[0]
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    found: tuple[list[tuple[int, int]], ...] = ([], [])  # number and count of the lines of each part
    part = None
    for line in annotation.splitlines():
        if heading := HEADING.match(line):
            part = 1 if heading[1] else 0
        elif (match := LINE.match(line)) and part is not None:
            found[part].append((int(match[1]), int(match[2])))
    counts = np.full((2, N_LINES), np.nan)
    for own, lines in zip(counts, found, strict=True):
        if sorted(number for number, _ in lines) == list(range(1, N_LINES + 1)):
            own[:] = [count for _, count in sorted(lines)]
    return None if np.isnan(counts).all() else counts


def _by_rater(counts: Array, annotators: list[str]) -> Array:
    """Counts `(n_pairs, 2, 7)` as `(2, 7, n_raters, n_pairs)`, NaN where a rater did not see the pair."""
    names = sorted(set(annotators))
    table = np.full((2, N_LINES, len(names), len(annotators)), np.nan)
    for number, (name, own) in enumerate(zip(annotators, counts, strict=True)):
        table[:, :, names.index(name), number] = own
    return table


def _origin(path: str) -> str:
    return next((name for sign, name in ORIGINS.items() if sign in path.lower()), "other" if path else "")
