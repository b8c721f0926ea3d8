"""RadEvalX: errors of 100 generated reports of Open-i, two radiologists' consensus (Calamida et al. 2024, PhysioNet).

The user brings the folder of PhysioNet's version 1.0.0. It has two files of errors, significant and insignificant by
their names, each with `report_id, ground_truth, M2Tr-Generation` and the columns `1` to `8`, where a blank cell is 0;
and one of published scores, `report_id, id, bleu4, bleu_2, bertscore, CheXbert, radgraph_f1, radcliq`. One to six are
the kinds A to F, seven and eight what is partly right. CREPE's paper sums all eight.

Read too is the merged form that others use: one file with the reports by `report_id`, one with a row a (report,
`error_type` significant or insignificant) and the columns `one` to `eight`. What a file is follows from its columns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders.fields import (
    column_names,
    count_of,
    find_file,
    first_of,
    number_of,
    report_of,
    rows,
    value_of,
)
from rrgmetrics.metaeval.loaders.kinds import with_totals
from rrgmetrics.metaeval.rated import KINDS, SIGNIFICANT, TOTAL, Published, Rated
from rrgmetrics.reports import Pair

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight")
REFERENCE = ("reference", "ground_truth", "gt_report", "ground_truth_report", "gt", "original", "target")
CANDIDATE = ("candidate", "prediction", "generated_report", "predicted", "generated", "pred", "predicted_report")
PUBLISHED = ("report_id", "ground_truth", "M2Tr-Generation", *map(str, range(1, 9)))
METRICS: Mapping[str, tuple[str, ...]] = {  # by the name of the column our result keys for the same
    "bleu4": ("bleu",),
    "bleu_2": ("bleu_2", "radcliq_bleu"),
    "bertscore": ("bertscore", "radcliq_bertscore"),
    "CheXbert": ("semb_score", "radcliq_semb"),
    "radgraph_f1": ("radgraph_f1_radcliq", "radcliq_radgraph"),
    "radcliq": ("radcliq",),
}
WHAT = (
    "RadEvalX's folder: the two CSVs of errors as published, or a CSV with report_id, error_type, one, ..., eight, "
    "and one with the reports"
)
Judged = dict[str, tuple[Pair, list[list[float]]]]  # by report, in order: significant, then insignificant errors


def load_radevalx(path: str | Path) -> Rated:
    """Reads RadEvalX.

    Args:
        path: The folder with the files, or one of the files beside the others.

    Returns:
        The pairs, in the order of the reports, with one rater: the consensus. `partly_right` is the sum of seven and
        eight; `total_errors` and `significant_errors` are of one to six, `all_eight` and `all_eight_significant` of
        all, as CREPE's paper sums them. `published` has the scores of the metrics' file, where there is one.

    Raises:
        InputError: A file or column that is not there, a report without errors' rows, or a cell that is no count.
    """
    folder = find_file(path, "*.csv", "*.jsonl", what=WHAT).parent
    tables = [file for file in sorted(folder.iterdir()) if file.suffix.lower() in (".csv", ".jsonl")]
    columns = {file: column_names(file) for file in tables}
    published = [file for file, names in columns.items() if set(PUBLISHED) <= set(names)]
    judged = _published(published, folder) if published else _merged(*_files(folder, columns))
    metrics = [file for file, names in columns.items() if {"report_id", *METRICS} <= set(names)]
    table = np.array([counts for _, counts in judged.values()], dtype=np.float64)
    table = table.reshape(len(judged), 2, len(NUMBERS)).transpose(1, 2, 0)[:, :, None]
    n_kinds = len(KINDS)
    counted = with_totals(table[0, :n_kinds], table[1, :n_kinds], ["consensus"])
    partly = table[:, n_kinds:].sum(axis=(0, 1))
    values = {
        **counted["values"],
        "partly_right": partly,
        "all_eight": counted["values"][TOTAL] + partly,
        "all_eight_significant": table[0].sum(axis=0),
    }
    order = (TOTAL, SIGNIFICANT, "all_eight")
    return Rated(
        name="radevalx",
        pairs=[pair for pair, _ in judged.values()],
        studies=list(judged),
        raters=counted["raters"],
        values={**{name: values[name] for name in order}, **values},
        published=_scores(metrics[0], list(judged)) if metrics else {},
    )


def _published(files: list[Path], folder: Path) -> Judged:
    """The two files of errors as published, which hold the reports."""
    if len(files) != 2:
        names = ", ".join(file.name for file in files)
        raise InputError(f"{folder} has {len(files)} of the two files of errors ({names}); give {WHAT}.")
    insignificant, significant = sorted(files, key=lambda file: "insignificant" not in file.name.lower())
    if "insignificant" not in insignificant.name.lower() or "insignificant" in significant.name.lower():
        raise InputError(
            f"{folder}: {files[0].name} and {files[1].name} do not say whose errors are significant; their names must "
            "have 'significant' and 'insignificant', as published."
        )
    first, second = _read_published(significant), _read_published(insignificant)
    judged: Judged = {}
    for study in dict.fromkeys((*first, *second)):
        for file, rows_there in ((significant, first), (insignificant, second)):
            if study not in rows_there:
                raise InputError(f"{folder}: report {study} has no row in {file.name}.")
        (pair, counts), (other, more) = first[study], second[study]
        if [text.split() for text in pair[:2]] != [text.split() for text in other[:2]]:
            raise InputError(
                f"{folder}: report {study} has other texts in {significant.name} and {insignificant.name}."
            )
        judged[study] = pair, [counts, more]
    return judged


def _read_published(file: Path) -> dict[str, tuple[Pair, list[float]]]:
    """The pair and the counts of each report of one file of errors."""
    read: dict[str, tuple[Pair, list[float]]] = {}
    for where, row in rows(file, PUBLISHED):
        study = _id(row["report_id"])
        if study in read:
            raise InputError(f"{where}: report {study} has two rows.")
        pair = Pair(report_of(row, "ground_truth", where), report_of(row, "M2Tr-Generation", where))
        # A blank cell is no error: the annotators filled in only what they found.
        blank = {name for name in PUBLISHED[3:] if math.isnan(number_of(row, name, where, least=0))}
        counts = [0.0 if name in blank else count_of(row, name, where) for name in PUBLISHED[3:]]
        read[study] = pair, counts
    return read


def _scores(file: Path, studies: list[str]) -> dict[str, Published]:
    """The published scores of each metric, in the order of the studies."""
    scores = {
        _id(row["report_id"]): [number_of(row, metric, where) for metric in METRICS]
        for where, row in rows(file, ("report_id", *METRICS))
    }
    for study in studies:
        if study not in scores:
            raise InputError(f"{file.parent}: report {study} has no row in {file.name}.")
    table = np.array([scores[study] for study in studies], dtype=np.float64)
    return {
        metric: Published(scores, keys, higher_is_better=metric != "radcliq")
        for (metric, keys), scores in zip(METRICS.items(), table.T, strict=True)
    }


def _merged(errors: Path, reports: Path) -> Judged:
    """The merged form: a file of errors and one of reports."""
    counts: dict[tuple[str, bool], list[int]] = {}
    for where, row in rows(errors, ("report_id", "error_type", *NUMBERS)):
        kind = str(row["error_type"]).strip().lower()
        if kind not in ("significant", "insignificant"):
            raise InputError(f"{where}: error_type is {row['error_type']!r}; significant or insignificant is needed.")
        key = _id(row["report_id"]), kind == "significant"
        if key in counts:
            raise InputError(f"{where}: report {key[0]} has two rows of {kind} errors.")
        counts[key] = [count_of(row, number, where) for number in NUMBERS]
    judged: Judged = {}
    for where, row in rows(reports, ("report_id",)):
        study = _id(value_of(row, "report_id", where))
        if (study, True) not in counts and (study, False) not in counts:
            raise InputError(f"{where}: report {study} has no row in {errors.name}.")
        if study in judged:
            raise InputError(f"{where}: report {study} has two rows.")
        reference, candidate = (first_of(row, names, where) for names in (REFERENCE, CANDIDATE))
        pair = Pair(report_of(row, reference, where), report_of(row, candidate, where))
        judged[study] = pair, [[*counts.get((study, kind), [0] * len(NUMBERS))] for kind in (True, False)]
    return judged


def _files(folder: Path, columns: Mapping[Path, list[str]]) -> tuple[Path, Path]:
    """The files of the errors and of the reports, of the merged form."""
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
