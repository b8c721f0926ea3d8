"""ReXVal: errors that six radiologists counted in reports retrieved by four metrics (Yu et al. 2023, PhysioNet).

50 studies, and for each the report that RadGraph, BERTScore, SembScore and BLEU rank best among MIMIC-CXR's training
reports. Credentialed: the user brings the two files as published,
https://physionet.org/content/rexval-dataset/1.0.0/. `50_samples_gt_and_candidates.csv` holds `study_id, gt_report` and
a column a metric; `6_valid_raters_per_rater_error_categories.csv` one row a (study, candidate, rater, kind,
significance) with `study_number` (the row of the first file), `candidate_type`, `error_category` (1 to 6 = A to F),
`clinically_significant`, `rater_index` and `num_errors`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders.fields import column_names, count_of, find_file, flag_of, report_of, rows, value_of
from rrgmetrics.metaeval.loaders.kinds import Counted, with_totals
from rrgmetrics.metaeval.rated import KINDS, Rated
from rrgmetrics.reports import Pair

REPORTS, ERRORS = "*samples_gt_and_candidates.csv", "*raters_per_rater_error_categories.csv"
NEEDED = ("study_number", "candidate_type", "error_category", "clinically_significant", "rater_index", "num_errors")
WHAT = f"the folder of ReXVal's files {REPORTS[1:]} and {ERRORS[1:]}"


def load_rexval(path: str | Path) -> Rated:
    """Reads ReXVal.

    Args:
        path: The folder with both files.

    Returns:
        The pairs, study by study; `source` is the metric that retrieved the candidate. A kind that a rater has no row
        of was counted 0 times, if the rater has any row of the candidate.

    Raises:
        InputError: A file or column that is not there, or a cell that cannot be; names file and line.
    """
    reports = find_file(path, REPORTS, what=WHAT)
    errors = find_file(reports.parent, ERRORS, what=WHAT)
    sources = [name for name in column_names(reports) if name not in ("study_id", "gt_report", "")]
    sources = [name for name in sources if not name.startswith("Unnamed")]
    if not sources:
        raise InputError(f"{reports} has no columns of candidates, only study_id and gt_report.")
    pairs, studies, labels = [], [], []
    for where, row in rows(reports, ("study_id", "gt_report", *sources)):
        for source in sources:
            pairs.append(Pair(report_of(row, "gt_report", where), report_of(row, source, where)))
            studies.append(str(row["study_id"]))
            labels.append(source)
    return Rated(
        name="rexval",
        pairs=pairs,
        studies=studies,
        labels={"source": labels},
        **_counts(errors, sources, len(pairs)),
    )


def load_rexval_star(path: str | Path) -> Rated:
    """Reads ReXVal*: ReXVal without the pairs whose two texts are equal (CREPE's paper, table 2)."""
    data = load_rexval(path)
    keep = np.array([pair.reference.split() != pair.candidate.split() for pair in data.pairs])
    note = f"{int((~keep).sum())} pairs of equal texts are left out"
    return data.only(keep, name="rexval_star", notes=(*data.notes, note))


def _counts(file: Path, sources: list[str], n_pairs: int) -> Counted:
    """Each rater's counts of each kind, significant and not."""
    n_studies = n_pairs // len(sources)
    read = []
    for where, row in rows(file, NEEDED):
        number, kind = count_of(row, "study_number", where), count_of(row, "error_category", where)
        source = str(value_of(row, "candidate_type", where))
        if source not in sources:
            raise InputError(f"{where}: candidate_type is {source!r}; the reports have {', '.join(sources)}.")
        if not 1 <= kind <= len(KINDS):
            raise InputError(f"{where}: error_category is {kind}; they go from 1 to {len(KINDS)}.")
        significant = flag_of(row, "clinically_significant", where)
        read.append((number, source, kind, significant, str(row["rater_index"]), count_of(row, "num_errors", where)))
    if not read:
        raise InputError(f"{file} has no rows.")
    first = min(number for number, *_ in read)  # 0, as the published file has it, or 1
    last = max(number for number, *_ in read)
    if first > 1 or last - first >= n_studies:
        raise InputError(f"{file}: study_number goes from {first} to {last} for {n_studies} studies.")
    raters = sorted({rater for *_, rater, _ in read}, key=lambda name: (len(name), name))
    counts = np.zeros((2, len(KINDS), len(raters), n_pairs))
    judged = np.zeros((len(raters), n_pairs), dtype=bool)
    for number, source, kind, significant, rater, count in read:
        place = raters.index(rater), (number - first) * len(sources) + sources.index(source)
        counts[(int(significant), kind - 1, *place)] += count
        judged[place] = True
    counts[:, :, ~judged] = np.nan
    return with_totals(counts[1], counts[0], raters)
