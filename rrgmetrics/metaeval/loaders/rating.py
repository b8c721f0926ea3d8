"""Ratings of the rating Space: what `rrgmetrics rating export` writes, a row for each candidate and rater.

Columns: `study_id, source, rater, reference, candidate`, `age, sex, indication`; `<kind>_significant` and
`<kind>_insignificant` for the six kinds where errors were counted; `rating` (1 to 5) where one was asked for.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders.fields import TABLES, column_names, find_file
from rrgmetrics.metaeval.loaders.kinds import INSIGNIFICANT_KINDS, SIGNIFICANT_KINDS, with_totals
from rrgmetrics.metaeval.loaders.table import load_table
from rrgmetrics.metaeval.rated import KINDS, RATING, Rated


def load_rating(path: str | Path) -> Rated:
    """Reads ratings of the rating Space.

    Args:
        path: The file that `rrgmetrics rating export` wrote, or a folder with `ratings.csv`.

    Returns:
        The pairs, with every rater's counts by kind and significance, their totals, and ratings. Who did not rate a
        pair has NaN there.

    Raises:
        InputError: A file or column that is not there, or a cell that is no count; names file and line.
    """
    file = find_file(path, *(f"*ratings*{suffix}" for suffix in TABLES), what="what `rrgmetrics rating export` wrote")
    there = column_names(file)
    counts = [name for name in (*SIGNIFICANT_KINDS, *INSIGNIFICANT_KINDS) if name in there]
    ratings = [RATING] if RATING in there else []
    if (counts and len(counts) < 2 * len(KINDS)) or (not counts and not ratings):
        raise InputError(
            f"{file} has neither all twelve counts ({SIGNIFICANT_KINDS[0]} to {INSIGNIFICANT_KINDS[-1]}) nor a rating; "
            "is it what `rrgmetrics rating export` wrote?"
        )
    table = load_table(file, counts=counts, ratings=ratings, name="rating")
    values = {target: table.values[target] for target in ratings}
    if counts:
        significant, insignificant = (
            np.array([table.values[name] for name in names]) for names in (SIGNIFICANT_KINDS, INSIGNIFICANT_KINDS)
        )
        values = {**with_totals(significant, insignificant, table.raters)["values"], **values}
    return replace(table, values=values, kinds=KINDS)
