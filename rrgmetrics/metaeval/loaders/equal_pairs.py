"""Tables of pairs that say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.equal import Equal
from rrgmetrics.metaeval.loaders.fields import column_names, number_of, report_of, rows
from rrgmetrics.metaeval.loaders.table import ALIASES
from rrgmetrics.reports import Pair

FIELDS = ("reference", "candidate", "study_id")


def load_equal(
    files: Sequence[Path],
    name: str,
    *,
    known: Mapping[str, str],
    columns: Mapping[str, str] | None = None,
    errors: str = "",
    only: tuple[str, str] | None = None,
) -> Equal:
    """Reads pairs that say the same.

    Args:
        files: Tables.
        name: Of the data set.
        known: The column of `reference`, `candidate` and `study_id`, where it has another name than the field.
        columns: The user's names, over those.
        errors: A column that counts errors, where a table has it: all must be 0.
        only: A column with the text of the rows that are read, in any case; others are left out.

    Raises:
        InputError: A column that is not there or not known, no rows, or a pair with errors.
    """
    named = {ALIASES.get(field, field): column for field, column in (columns or {}).items()}
    for field in named:
        if field not in FIELDS:
            raise InputError(f"--columns has {field!r}; for {name} it names columns for {', '.join(FIELDS)}.")
    placed = {field: field for field in FIELDS} | dict(known) | named
    pairs: list[Pair] = []
    studies: list[str] = []
    others: dict[str, None] = {}
    for file in files:
        there = column_names(file)
        needed = [*placed.values(), *([only[0]] if only else []), *([errors] if errors in there else [])]
        for where, row in rows(file, needed):
            if only and str(row[only[0]]).strip().lower() != only[1]:
                others[str(row[only[0]])] = None
                continue
            if errors in there and number_of(row, errors, where, least=0) > 0:
                raise InputError(
                    f"{where}: {errors} is {row[errors]}; pairs of {name} have no error. Is it another file?"
                )
            pairs.append(Pair(report_of(row, placed["reference"], where), report_of(row, placed["candidate"], where)))
            studies.append(str(row[placed["study_id"]]))
    if not pairs:
        found = f" with {only[0]} = {only[1]}, but {', '.join(others) or 'none'}" if only else ""
        raise InputError(f"{', '.join(map(str, files))} has no rows{found}.")
    return Equal(name, tuple(pairs), tuple(studies))
