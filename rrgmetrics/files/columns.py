"""Which column of a source holds what: by the names that we use, or by those that a user gives.

What a column holds is its *field*: `study_id`, `reference`, `candidate` (or `report`), `age`, `sex`, `indication`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from rrgmetrics.english import did_you_mean
from rrgmetrics.errors import InputError
from rrgmetrics.files.formats import COLUMNS
from rrgmetrics.files.labels import some
from rrgmetrics.reports import CONTEXT_KEYS, describe

Columns = Mapping[str, str] | None

_GENERATED = ("prediction", "predictions", "pred", "hypothesis", "hyp", "generated", "generated_report", "output")
_WRITTEN = ("ground_truth", "gt", "target", "gold", "label", "references", "reference_report", "original")
# What other tools call a column that is missing here, for the message only.
RENAMES = {
    "reference": (*_WRITTEN, "report", "text"),
    "candidate": (*_GENERATED, "report", "text"),
    "report": (*_GENERATED, "text", "report_text", "reports", *_WRITTEN),
}


def check_columns(columns: Columns) -> dict[str, str]:
    """Checks what a user calls the columns.

    Args:
        columns: Column by field, such as `{"reference": "ground_truth"}`; None: all are called as their fields.

    Raises:
        InputError: An unknown field, with the nearest one; a column that is no text, or that has two fields.
    """
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise InputError(f"columns is {describe(columns)}; pass a dict, such as {{'reference': 'ground_truth'}}.")
    for field, column in columns.items():
        if field not in COLUMNS:
            near = did_you_mean(str(field), COLUMNS)
            raise InputError(f"columns has the key {field!r}; its keys are {', '.join(COLUMNS)}.{near}")
        if not isinstance(column, str) or not column:
            raise InputError(f"columns[{field!r}] is {describe(column)}; pass the name of a column.")
        if (other := next(key for key, value in columns.items() if value == column)) != field:
            raise InputError(f"columns names {column!r} for {other!r} and for {field!r}; a column has one field.")
    return dict(columns)


def pick_columns(
    found: Collection[str],
    wanted: Sequence[tuple[str, ...]],
    columns: Mapping[str, str],
    where: str,
    *,
    optional: Collection[str] = (),
) -> dict[str, str]:
    """Returns the column of each field that a source has.

    Args:
        found: Its columns.
        wanted: Fields of texts; of each tuple it must have exactly one.
        columns: Names that a user gave, by field.
        where: The source, for messages.
        optional: Fields that it may lack.

    Raises:
        InputError: A column is missing, doubled, or spelt otherwise; with the columns found and a way out.
    """
    _check_spelling(found, columns, where)
    names = {field: columns.get(field, field) for field in COLUMNS}
    chosen: dict[str, str] = {}
    for fields in wanted:
        given = [field for field in fields if field in columns and names[field] in found]
        there = given or [field for field in fields if field not in columns and field in found]
        if len(there) > 1:
            raise InputError(f"{where} has the columns {some(there)}; keep the one that holds the reports.")
        if not there and fields[0] not in optional:
            raise InputError(_missing(found, fields, columns, where))
        chosen |= {field: names[field] for field in there}
    for field in ("study_id", *CONTEXT_KEYS):
        if names[field] in found:
            chosen[field] = names[field]
        elif field in columns and field not in optional:
            raise InputError(_missing(found, (field,), columns, where))
    return chosen


def _check_spelling(found: Collection[str], columns: Mapping[str, str], where: str) -> None:
    for name in found:
        near = re.sub(r"[\s-]+", "_", name.strip().lower())
        if near in COLUMNS and name not in COLUMNS and near not in columns and name not in columns.values():
            raise InputError(
                f"{where} has a column {name!r}; rename it to {near!r}, or name it in columns: {near}={name}."
            )


def _missing(found: Collection[str], fields: Sequence[str], columns: Mapping[str, str], where: str) -> str:
    """What is missing, what is there, and a way out."""
    named = [field for field in fields if field in columns]
    needed = " or ".join(repr(columns.get(field, field)) for field in named or fields)
    said = f"{where} has no column {needed}; it has: {some(found)}."
    if named:
        return said + did_you_mean(columns[named[0]], found)
    return f"{said} {_way_out(found, fields)}".strip()


def _way_out(found: Collection[str], fields: Sequence[str]) -> str:
    if len(found) == 1 and (match := re.search(r"[;\t|]", next(iter(found)))):
        separator = {"\t": "tabs", ";": "semicolons"}.get(match[0], repr(match[0]))
        return f"Its cells are separated by {separator}; write commas."
    for field in fields:
        for name in RENAMES[field]:
            if other := next((other for other in found if other.strip().lower() == name), ""):
                return f"Rename {other!r} to {field!r}, or name it in columns: {field}={other}."
    return did_you_mean(fields[0], found).strip()
