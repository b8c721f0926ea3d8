"""RadEvalX: errors of 100 generated reports of Open-i, two radiologists' consensus (Calamida et al. 2024, PhysioNet).

The user brings the files as published: one with the reports by `report_id`, one with the errors, a row a (report,
`error_type` significant or insignificant) and the columns `one` to `eight`; one to six are the kinds A to F, seven and
eight what is partly right. CREPE's paper sums all eight. What a file is follows from its columns, not from its name.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders.fields import column_names, count_of, find_file, first_of, report_of, rows, value_of
from rrgmetrics.metaeval.loaders.kinds import with_totals
from rrgmetrics.metaeval.rated import KINDS, SIGNIFICANT, TOTAL, Rated
from rrgmetrics.reports import Pair

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight")
REFERENCE = ("reference", "ground_truth", "gt_report", "ground_truth_report", "gt", "original", "target")
CANDIDATE = ("candidate", "prediction", "generated_report", "predicted", "generated", "pred", "predicted_report")
WHAT = "RadEvalX's folder: a CSV with report_id, error_type, one, ..., eight, and one with the reports"


def load_radevalx(path: str | Path) -> Rated:
    """Reads RadEvalX.

    Args:
        path: The folder with both files, or the file of errors beside that of the reports.

    Returns:
        The pairs, in the order of the reports, with one rater: the consensus. `partly_right` is the sum of seven and
        eight; `total_errors` and `significant_errors` are of one to six.

    Raises:
        InputError: A file or column that is not there, a report without errors' rows, or a cell that is no count.
    """
    any_file = find_file(path, "*.csv", "*.jsonl", what=WHAT)
    errors, reports = _files(any_file.parent)
    counts: dict[tuple[str, bool], list[int]] = {}
    for where, row in rows(errors, ("report_id", "error_type", *NUMBERS)):
        kind = str(row["error_type"]).strip().lower()
        if kind not in ("significant", "insignificant"):
            raise InputError(f"{where}: error_type is {row['error_type']!r}; significant or insignificant is needed.")
        key = _id(row["report_id"]), kind == "significant"
        if key in counts:
            raise InputError(f"{where}: report {key[0]} has two rows of {kind} errors.")
        counts[key] = [count_of(row, number, where) for number in NUMBERS]
    pairs, studies, judged = [], [], []
    for where, row in rows(reports, ("report_id",)):
        study = _id(value_of(row, "report_id", where))
        if (study, True) not in counts and (study, False) not in counts:
            raise InputError(f"{where}: report {study} has no row in {errors.name}.")
        reference, candidate = (first_of(row, names, where) for names in (REFERENCE, CANDIDATE))
        pairs.append(Pair(report_of(row, reference, where), report_of(row, candidate, where)))
        studies.append(study)
        judged.append([counts.get((study, significant), [0] * len(NUMBERS)) for significant in (True, False)])
    table = np.array(judged, dtype=np.float64).reshape(len(pairs), 2, len(NUMBERS)).transpose(1, 2, 0)[:, :, None]
    n_kinds = len(KINDS)
    counted = with_totals(table[0, :n_kinds], table[1, :n_kinds], ["consensus"])
    partly = table[:, n_kinds:].sum(axis=(0, 1))
    values = {**counted["values"], "partly_right": partly, "all_eight": counted["values"][TOTAL] + partly}
    order = (TOTAL, SIGNIFICANT, "all_eight")
    return Rated(
        name="radevalx",
        pairs=pairs,
        studies=studies,
        raters=counted["raters"],
        values={**{name: values[name] for name in order}, **values},
    )


def _files(folder: Path) -> tuple[Path, Path]:
    """The files of the errors and of the reports."""
    tables = [file for file in sorted(folder.iterdir()) if file.suffix.lower() in (".csv", ".jsonl")]
    columns = {file: column_names(file) for file in tables}
    errors = [file for file, names in columns.items() if {"report_id", "error_type", *NUMBERS} <= set(names)]
    reports = [
        file
        for file, names in columns.items()
        if "report_id" in names and set(names) & set(REFERENCE) and set(names) & set(CANDIDATE)
    ]
    if len(errors) != 1 or len(reports) != 1:
        found = "; ".join(f"{file.name}: {', '.join(names)}" for file, names in columns.items())
        raise InputError(
            f"{folder} has {len(errors)} files of errors and {len(reports)} of reports (there: {found}); give {WHAT}."
        )
    return errors[0], reports[0]


def _id(value: object) -> str:
    """An id as text: 12 and 12.0 are one."""
    return str(value).strip().removesuffix(".0")
