"""Sheets that raters have filled in without knowing what retrieved a report (`rrgmetrics oracle --sheet FOLDER`).

The folder holds `key.csv`, which says what each item is, and in `raters` a sheet of each rater, named after the rater.
A sheet has a row for each item, and for each of the six kinds of error a column of significant and one of insignificant
errors. A row without any count was not judged; in a row with one, a blank cell counts 0. Texts are those of the key,
whatever a spreadsheet made of those in the sheets.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.loaders.fields import find_file, number_of, report_of, rows, tables_at, value_of
from rrgmetrics.metaeval.loaders.kinds import INSIGNIFICANT_KINDS, SIGNIFICANT_KINDS, with_totals
from rrgmetrics.metaeval.rated import KINDS, Rated
from rrgmetrics.reports import CONTEXT_KEYS, Pair, parse_context
from rrgmetrics.scorers.base import Array

KEY, RATERS, SHEET = "key.csv", "raters", "sheet.csv"
ITEM, COMMENT = "item", "comment"
KEY_COLUMNS = (ITEM, "study_id", "source", "reference", "candidate")
WHAT = f"the folder that `rrgmetrics oracle --sheet` wrote, with {KEY}, and the filled sheets in its folder {RATERS}"


def load_sheet(path: str | Path) -> Rated:
    """Reads filled sheets and joins them with their key.

    Args:
        path: The folder.

    Returns:
        The pairs in the order of the key; `source` is what retrieved the candidate. Sheets without a count are left
        out: one of them is the sheet that was copied for the raters.

    Raises:
        InputError: A file or column that is not there, an item that the key does not have or that a sheet has twice, a
            cell that is no count, or no sheet with a count; names file and line.
    """
    key = find_file(path, KEY, what=WHAT)
    folder = key.parent
    pairs: dict[str, Pair] = {}
    studies, sources = [], []
    for where, row in rows(key, KEY_COLUMNS):
        context = parse_context({name: row[name] for name in CONTEXT_KEYS if name in row}, where)
        reference, candidate = (report_of(row, name, where) for name in ("reference", "candidate"))
        pairs[str(row[ITEM])] = Pair(reference, candidate, context)
        studies.append(str(row["study_id"]))
        sources.append(str(row["source"]))
    items = {item: number for number, item in enumerate(pairs)}
    read = {file.stem: _counts(file, items) for file in tables_at(folder / RATERS, what=WHAT)}
    filled = {rater: counts for rater, counts in read.items() if not np.isnan(counts).all()}
    if not filled:
        raise InputError(f"No sheet in {folder / RATERS} has a count.")
    significant, insignificant = np.stack(list(filled.values()), axis=2)
    return Rated(
        name="sheet",
        pairs=list(pairs.values()),
        studies=studies,
        labels={"source": sources},
        **with_totals(significant, insignificant, list(filled)),
    )


def _counts(file: Path, items: dict[str, int]) -> Array:
    """Significant and insignificant errors by kind and item `(2, 6, n_items)`; NaN where an item was not judged."""
    counts = np.full((2, len(KINDS), len(items)), np.nan)
    seen: set[str] = set()
    for where, row in rows(file, (ITEM, *SIGNIFICANT_KINDS, *INSIGNIFICANT_KINDS)):
        item = str(value_of(row, ITEM, where)).strip()
        if item not in items or item in seen:
            why = "occurs twice in this sheet" if item in seen else f"is not in {KEY}"
            raise InputError(f"{where}: the item {item!r} {why}.")
        seen.add(item)
        own = np.array(
            [
                [number_of(row, name, where, least=0.0) for name in names]
                for names in (SIGNIFICANT_KINDS, INSIGNIFICANT_KINDS)
            ]
        )
        if not np.isnan(own).all():
            counts[:, :, items[item]] = np.nan_to_num(own, nan=0.0)
    return counts
