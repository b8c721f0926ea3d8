"""MetricEval-BodyCT: CT reports of the chest and the abdomen that radiologists annotated (raidium, on the Hub).

100 reports with 3 candidates each, as Parquet; access by a data use agreement. Known are the numbers and the format.
Not known are the columns, which only those who have access see, and whether a row is a pair or a report. So nothing is
guessed: a row is read as a pair, and `--columns`, `--counts` and `--ratings` name its columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders.fields import TABLES, column_names, tables_at
from rrgmetrics.metaeval.loaders.table import load_table
from rrgmetrics.metaeval.rated import Rated

WHAT = f"MetricEval-BodyCT's table ({', '.join(TABLES)}), or a folder with one"


def load_bodyct(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    counts: Sequence[str] = (),
    ratings: Sequence[str] = (),
) -> Rated:
    """Reads MetricEval-BodyCT; arguments but the first as in `load_table`.

    Args:
        path: The table, or a folder that holds one.
        columns: The column of each field.
        counts: Columns that count errors.
        ratings: Columns of ratings.

    Raises:
        InputError: No file or several, or columns that are not named; the message lists those that are there.
    """
    files = tables_at(path, what=WHAT)
    if len(files) != 1:
        raise InputError(f"{path} has {len(files)} tables: {', '.join(file.name for file in files)}; give {WHAT}.")
    if not counts and not ratings:
        raise InputError(
            f"{files[0]} has the columns {', '.join(column_names(files[0]))}; those of MetricEval-BodyCT are not "
            "public, so name them: --columns reference=COLUMN candidate=COLUMN study=COLUMN rater=COLUMN, and --counts "
            "total_errors=COLUMN or --ratings rating=COLUMN."
        )
    return load_table(files[0], columns=columns, counts=counts, ratings=ratings, name="metriceval_bodyct")
