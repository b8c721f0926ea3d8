"""RadEval's expert data: errors that radiologists counted in candidates of three systems (Xu et al. 2025, on the Hub).

208 studies with three candidates each, one radiologist a pair. One row a pair: `original_example_id` (the study),
`prediction`, `reference`, `prediction_source` (model_1 to model_3), `type` (findings, impression, ...), `annotator`,
`images_path` and `annotation`, a text with the counts: "Significant", seven numbered lines, "Insignificant", seven
numbered lines. Kinds 1 to 6 are A to F; 7, readability, is the target `inarticulate` and in no total. An annotation
that cannot be read leaves its pair without counts, and is reported.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders.fields import find_file, report_of, rows, value_of
from rrgmetrics.metaeval.loaders.kinds import with_totals
from rrgmetrics.metaeval.rated import KINDS, Rated
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Array

NEEDED = ("original_example_id", "prediction", "reference", "prediction_source", "type", "annotator", "annotation")
WHAT = "RadEval's expert data: a .jsonl, .csv or .parquet file, or its folder"
HEADING = re.compile(r"^\W*(in)?significant\b", re.IGNORECASE)
LINE = re.compile(r"^\W*(\d)\s*[.)].*:\s*(\d{1,3})\W*$")
N_LINES = len(KINDS) + 1  # the last one is readability
ORIGINS = {"mimic": "MIMIC-CXR", "chexpert": "CheXpert-Plus", "rexgradient": "ReXGradient"}


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
    pairs, studies, annotators, counts, unreadable = [], [], [], [], []
    labels: dict[str, list[str]] = {"section": [], "source": [], "origin": []}
    columns = (*NEEDED, "images_path") if file.suffix.lower() == ".parquet" else NEEDED
    for where, row in rows(file, columns):
        pairs.append(Pair(report_of(row, "reference", where), report_of(row, "prediction", where)))
        studies.append(str(row["original_example_id"]))
        annotators.append(str(row["annotator"]))
        read = read_annotation(str(value_of(row, "annotation", where) or ""))
        if read is None:
            unreadable.append(where.rpartition(", ")[2])
        counts.append(np.full((2, N_LINES), np.nan) if read is None else read)
        labels["section"].append(str(row["type"]))
        labels["source"].append(str(row["prediction_source"]))
        labels["origin"].append(_origin(str(row.get("images_path") or "")))
    if len(unreadable) == len(pairs):
        raise InputError(f"{file}: no annotation can be read; each has 'Significant', 'Insignificant', numbered lines.")
    table = _by_rater(np.array(counts), annotators)
    counted = with_totals(table[0, :-1], table[1, :-1], sorted(set(annotators)))
    values = {**counted["values"], "inarticulate": table[:, -1].sum(axis=0)}
    note = f"{len(unreadable)} annotations cannot be read ({', '.join(unreadable[:5])})" if unreadable else ""
    return Rated(
        name="radeval_expert",
        pairs=pairs,
        studies=studies,
        raters=counted["raters"],
        values=values,
        labels={label: texts for label, texts in labels.items() if any(texts)},
        notes=(note,) if note else (),
    )


def read_annotation(annotation: str) -> Array | None:
    r"""The significant and the insignificant counts `(2, 7)` of an annotation; None if it cannot be read.

    Example:
        >>> lines = "".join(f"{n}. Kind: {n - 1}\n" for n in range(1, 8))
        >>> read_annotation(f"Significant\n{lines}\nInsignificant\n{lines}").tolist()[0]
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    found: dict[tuple[int, int], int] = {}
    part = None
    for line in annotation.splitlines():
        if heading := HEADING.match(line):
            part = 1 if heading[1] else 0
        elif (match := LINE.match(line)) and part is not None:
            if (part, int(match[1]) - 1) in found:
                return None
            found[part, int(match[1]) - 1] = int(match[2])
    if set(found) != {(part, kind) for part in (0, 1) for kind in range(N_LINES)}:
        return None
    return np.array([[found[part, kind] for kind in range(N_LINES)] for part in (0, 1)], dtype=np.float64)


def _by_rater(counts: Array, annotators: list[str]) -> Array:
    """Counts `(n_pairs, 2, 7)` as `(2, 7, n_raters, n_pairs)`, NaN where a rater did not see the pair."""
    names = sorted(set(annotators))
    table = np.full((2, N_LINES, len(names), len(annotators)), np.nan)
    for number, (name, own) in enumerate(zip(annotators, counts, strict=True)):
        table[:, :, names.index(name), number] = own
    return table


def _origin(path: str) -> str:
    return next((name for sign, name in ORIGINS.items() if sign in path.lower()), "other" if path else "")
