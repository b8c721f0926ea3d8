"""radreport-error-injected: CT and MR reports with errors that were put in, and restyled ones without.

The user brings the Hub's `jomoll/radreport-error-injected` (access on request; CC-BY-NC-SA): 2,000 CT and 2,000 MR
reports, columns `source_id, modality, split, reference, candidate, n_errors, categories` and others. Splits are clean,
single, multi (errors) and stylistic, whose candidates say the same in other words.

Not verified: the names and formats of the files (all tables of the folder are read), how `categories` is written (a
list, or names between commas, semicolons or lines), and what the categories are called, so that none of them is held
to be one of our six kinds: each is a target of its own, `category_...`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rrgmetrics.metaeval.equal import Equal
from rrgmetrics.metaeval.loaders.equal_pairs import load_equal
from rrgmetrics.metaeval.loaders.fields import TABLES, count_names, names_in, number_of, report_of, rows, tables_at
from rrgmetrics.metaeval.rated import TOTAL, Rated
from rrgmetrics.reports import Pair

NEEDED = ("source_id", "modality", "split", "reference", "candidate", "n_errors", "categories")
STYLISTIC = "stylistic"
WHAT = f"radreport-error-injected's folder, or one of its tables ({', '.join(TABLES)})"


def load_error_injected(path: str | Path) -> Rated:
    """Reads all splits.

    Args:
        path: A table, or a folder of tables.

    Returns:
        The pairs; the study is the source report. `total_errors` counts the errors that were put in.

    Raises:
        InputError: A file or column that is not there, or a cell that is no count; names file and line.
    """
    pairs: list[Pair] = []
    kept: list[Mapping[str, Any]] = []
    counts: list[float] = []
    names: list[list[str]] = []
    for file in tables_at(path, what=WHAT):
        for where, row in rows(file, NEEDED):
            pairs.append(Pair(report_of(row, "reference", where), report_of(row, "candidate", where)))
            kept.append(row)
            counts.append(number_of(row, "n_errors", where, least=0))
            names.append(names_in(row["categories"], f"{where}: categories"))
    return Rated(
        name="radreport_error_injected",
        pairs=pairs,
        studies=[str(row["source_id"]) for row in kept],
        raters=["put in"],
        values={TOTAL: np.array([counts], dtype=np.float64), **count_names(names, "category")},
        labels={label: [str(row[label]) for row in kept] for label in ("modality", "split")},
    )


def load_error_injected_equal(path: str | Path, *, columns: Mapping[str, str] | None = None) -> Equal:
    """Reads the split `stylistic`: pairs without an error.

    Args:
        path: A table, or a folder of tables.
        columns: Of `reference`, `candidate` and `study`, where they have other names.

    Raises:
        InputError: A file or column that is not there, no row of the split, or a pair with errors.
    """
    return load_equal(
        tables_at(path, what=WHAT),
        "radreport_error_injected_equal",
        known={"study_id": "source_id"},
        columns=columns,
        errors="n_errors",
        only=("split", STYLISTIC),
    )
