"""One table with a row for each system and study: a column names the system of each row."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.files.columns import Columns, Needed, check_columns
from rrgmetrics.files.join import join
from rrgmetrics.files.labels import some
from rrgmetrics.files.per_study import REFUSE
from rrgmetrics.files.read import (
    PlacedRow,
    RepeatedIdError,
    Reports,
    Studies,
    check_beside,
    placed_rows,
    read_reports,
)
from rrgmetrics.utils.text_format import counted, did_you_mean, listed

logger = logging.getLogger("rrgmetrics")


def read_long(
    source: Any,
    by: str,
    systems: Mapping[str, str] | None = None,
    columns: Columns = None,
    *,
    name: str = "references",
    per_study: str = REFUSE,
) -> dict[str, Studies]:
    """Reads the pairs of several systems from one table; studies that not every system has are left out and counted.

    Args:
        source: As in `rrgmetrics.files.read_pairs`, with `study_id`.
        by: The column that names the system of each row.
        systems: The value of that column for each system; none: every value, in the order of the first rows.
        columns: As in `read_pairs`.
        name: What the caller calls a table in memory, for messages.
        per_study: Which pair counts if a system has several of one study.

    Returns:
        The pairs of each system, all on the same studies, in the order of the first system.

    Raises:
        InputError: As `read_pairs`; also a column or value that the table does not have, and systems without a common
            study.
    """
    groups = _groups(source, by, columns, name)
    chosen = systems or {value: value for value in groups}
    read: dict[str, Reports] = {}
    for system, value in chosen.items():
        if value not in groups:
            near = did_you_mean(value, groups)
            raise InputError(f"column {by!r} of {name} has no value {value!r}; it has: {some(groups)}.{near}")
        wanted = (("reference",), ("candidate",))
        try:
            ids, (references, candidates), contexts, left_out = read_reports(
                source, name, wanted, columns, per_study=per_study, rows=groups[value], announce=not read, label=system
            )
        except RepeatedIdError as error:
            raise InputError(
                f"In the rows of {system!r}: {error.choices} If another column tells these rows apart, as a seed does, "
                f"make each run a system: write {by!r} and that column into one column, and pass by='COLUMN' with its "
                "name."
            ) from None
        if ids is None:
            raise InputError(f"by={by!r} needs a study_id in each row, to put the systems side by side.")
        read[system] = Reports(f"{by} {value!r}", ids, candidates, contexts, references, left_out)
    return _side_by_side(read)


def _groups(source: Any, by: str, columns: Columns, name: str) -> dict[str, list[PlacedRow]]:
    """The rows of each system."""
    groups: dict[str, list[PlacedRow]] = {}
    for row in placed_rows(source, name, Needed.of(check_columns(columns), (by,))):
        check_beside((by,), row.cells, row.source)
        value = row.cells[by]
        system = "" if value is None else str(value).strip()
        if not system:
            raise InputError(f"{row.place}, column {by!r} is blank; name the system of each row.")
        groups.setdefault(system, []).append(row)
    return groups


def _side_by_side(read: Mapping[str, Reports]) -> dict[str, Studies]:
    """The pairs of each system on the studies that all have."""
    ids = {system: dict.fromkeys(reports.study_ids or ()) for system, reports in read.items()}
    every = dict.fromkeys(study_id for own in ids.values() for study_id in own)
    common = [study_id for study_id in every if all(study_id in own for own in ids.values())]
    if not common:
        raise InputError(f"{listed(list(read))} cannot be compared: no study has a report of every system.")
    if n_left := len(every) - len(common):
        lacking = [f"{system} lacks {len(every) - len(own):,}" for system, own in ids.items() if len(own) < len(every)]
        logger.warning(
            "Without a report of every system: %s of %s, left out (%s).",
            f"{n_left:,}",
            counted(len(every), "study", "studies"),
            ", ".join(lacking),
        )
    kept = {system: _only(reports, common) for system, reports in read.items()}
    first = next(iter(kept.values()))
    references = Reports(first.name, common, first.references or [], first.contexts)
    return {system: join(references, reports) for system, reports in kept.items()}


def _only(reports: Reports, study_ids: list[str]) -> Reports:
    """The reports of some studies, in their order."""
    place = {study_id: index for index, study_id in enumerate(reports.study_ids or ())}
    rows = [place[study_id] for study_id in study_ids]
    references = reports.references or []
    return Reports(
        reports.name,
        study_ids,
        [reports.reports[row] for row in rows],
        [reports.contexts[row] for row in rows],
        [references[row] for row in rows],
        reports.left_out,
    )
