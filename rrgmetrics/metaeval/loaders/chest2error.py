"""chest2error-bench: chest CT reports with errors that a thoracic radiologist counted, and pairs of equal content.

The user brings the Hub's `chest2vec/chest2error-bench` (CC-BY-NC-4.0, of CT-RATE's reports): `gold_pairs`, 50 anchors
with 4 variants and 2 styles of reference, and `gt_equiv_pairs`, 100 pairs without an error. Columns of `gold_pairs`:
`anchor_id, reference_style` (GT-S or GT-U), `variant_id, reference_report, candidate_report, rad_error_count,
rad_critical_count, rad_minor_count, rad_weighted_error` and `rad_cat_count_1_false_finding` to
`rad_cat_count_6_omitted_comparison`.

Not verified: the format of the files (CSV, JSONL and Parquet are read, by `gold_pairs` or `gt_equiv_pairs` in the name
of the file or its folder), and whether `gt_equiv_pairs` names reports and anchors as `gold_pairs` does; other columns
are named with `--columns`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rrgmetrics.metaeval.equal import Equal
from rrgmetrics.metaeval.loaders.equal_pairs import load_equal
from rrgmetrics.metaeval.loaders.fields import TABLES, find_file, number_of, report_of, rows
from rrgmetrics.metaeval.rated import KINDS, SIGNIFICANT, TOTAL, Rated
from rrgmetrics.reports import Pair

TEXTS = ("anchor_id", "reference_style", "reference_report", "candidate_report")
COUNTS: Mapping[str, str] = {  # by target the column
    TOTAL: "rad_error_count",
    SIGNIFICANT: "rad_critical_count",
    "insignificant_errors": "rad_minor_count",
    "weighted_errors": "rad_weighted_error",
    "false_finding": "rad_cat_count_1_false_finding",
    "missing_finding": "rad_cat_count_2_omission",
    "incorrect_location": "rad_cat_count_3_location",
    "incorrect_severity": "rad_cat_count_4_severity",
    "false_comparison": "rad_cat_count_5_spurious_comparison",
    "missing_comparison": "rad_cat_count_6_omitted_comparison",
}
GOLD, EQUAL = "gold_pairs", "gt_equiv_pairs"
EQUAL_COLUMNS = {"reference": "reference_report", "candidate": "candidate_report", "study_id": "anchor_id"}


def load_chest2error(path: str | Path) -> Rated:
    """Reads `gold_pairs`.

    Args:
        path: The file, or the folder that holds it.

    Returns:
        The pairs; the study is the anchor, whose variants are compared over both styles of reference. Critical errors
        are the significant ones, minor ones the insignificant ones.

    Raises:
        InputError: A file or column that is not there, or a cell that is no count; names file and line.
    """
    file = _file(path, GOLD)
    pairs, studies, styles, counts = [], [], [], []
    for where, row in rows(file, (*TEXTS, *COUNTS.values())):
        pairs.append(Pair(report_of(row, "reference_report", where), report_of(row, "candidate_report", where)))
        studies.append(str(row["anchor_id"]))
        styles.append(str(row["reference_style"]))
        counts.append([number_of(row, column, where, least=0) for column in COUNTS.values()])
    table = np.array(counts, dtype=np.float64).reshape(len(pairs), len(COUNTS)).T
    values = {target: column[None] for target, column in zip(COUNTS, table, strict=True)}
    by_kind = np.sum([values[kind] for kind in KINDS], axis=0)
    others = int((np.abs(by_kind - values[TOTAL]) > 0).sum())
    return Rated(
        name="chest2error",
        pairs=pairs,
        studies=studies,
        raters=["radiologist"],
        values=values,
        labels={"style": styles},
        notes=(f"the total of {others} pairs differs from the sum of their kinds",) if others else (),
    )


def load_chest2error_equal(path: str | Path, *, columns: Mapping[str, str] | None = None) -> Equal:
    """Reads `gt_equiv_pairs`: pairs without an error.

    Args:
        path: The file, or the folder that holds it.
        columns: Of `reference`, `candidate` and `study`, where they are not those of `gold_pairs`.

    Raises:
        InputError: A file or column that is not there, or a pair with errors.
    """
    return load_equal(
        [_file(path, EQUAL)], "chest2error_equal", known=EQUAL_COLUMNS, columns=columns, errors="rad_error_count"
    )


def _file(path: str | Path, name: str) -> Path:
    patterns = [pattern for suffix in TABLES for pattern in (f"*{name}*{suffix}", f"*{name}*/*{suffix}")]
    return find_file(path, *patterns, what=f"chest2error-bench's {name} ({', '.join(TABLES)}), or its folder")
