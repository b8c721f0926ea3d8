"""ReXErr-v1's clinician review: reports into which a language model put errors, and whether a clinician accepts them.

The user brings `clinician-review.csv` (PhysioNet, open; 100 rows): `original_report, error_report, errors_sampled,
acceptable` (Yes or No) and `comments`. Three kinds of error of twelve were asked for in each report; what was asked for
is often impossible (another measurement, of a text without one), so that the number and the kinds of errors are upper
bounds. What is certain is that an accepted report with errors is worse than the original: `preferences` of `agree` is
the share of them that score worse than the original does against itself.

Not verified: how `errors_sampled` writes several kinds. A list (JSON or Python's) and names between commas, semicolons
or lines are read.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders.fields import count_names, find_file, flag_of, names_in, report_of, rows
from rrgmetrics.metaeval.rated import TOTAL, Rated
from rrgmetrics.reports import Pair

FILE = "clinician-review.csv"
NEEDED = ("original_report", "error_report", "errors_sampled", "acceptable")
WHAT = f"ReXErr-v1's {FILE}, or its folder"


def load_rexerr(path: str | Path) -> Rated:
    """Reads ReXErr-v1's clinician review.

    Args:
        path: The file, or the folder that holds it.

    Returns:
        Two pairs for each accepted report, of one study: the original against itself, with no error, and the report
        with errors against the original. `total_errors` counts what was asked for, `asked_...` each kind of it.

    Raises:
        InputError: A file or column that is not there, a cell that cannot be, or no accepted report.
    """
    file = find_file(path, FILE, f"*{FILE}", what=WHAT)
    pairs: list[Pair] = []
    asked: list[list[str]] = []
    n_rows = 0
    for where, row in rows(file, NEEDED):
        n_rows += 1
        original, changed = (report_of(row, name, where) for name in NEEDED[:2])
        if flag_of(row, "acceptable", where):
            pairs += [Pair(original, original), Pair(original, changed)]
            asked += [[], names_in(row["errors_sampled"], f"{where}: errors_sampled")]
    if not pairs:
        raise InputError(f"{file} has {n_rows} rows, none with acceptable = Yes.")
    rejected = n_rows - len(pairs) // 2
    note = "the errors are those requested from the generator, so they are upper bounds"
    return Rated(
        name="rexerr",
        pairs=pairs,
        studies=[str(number // 2 + 1) for number in range(len(pairs))],
        raters=["asked for"],
        values={TOTAL: np.array([[len(own) for own in asked]], dtype=np.float64), **count_names(asked, "asked")},
        notes=(
            note,
            *([f"the clinician rejected {rejected} of {n_rows} reports; they are left out"] if rejected else []),
        ),
    )
