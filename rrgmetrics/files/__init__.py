"""Reads input files and writes output files.

Inputs are CSV (UTF-8, RFC 4180), JSONL, Parquet, and text files with one report a line, also `.gz` and `.zst`; patterns
of such files and folders of Parquet; and tables in memory. Columns are `study_id` (optional), `reference`, `candidate`
or `report`, and optionally `age`, `sex`, `indication`, `prior`, with exactly these names or names that the user gives;
other columns are ignored. Texts are not converted: `1` in a CSV is a report. Blank cells and texts such as `NA` and
`null` are missing reports (`rrgmetrics.reports.missing`). An invalid input is an InputError that names file, line and
column, before scoring. Files are joined by `study_id`; existing files are not replaced unless requested.
"""

from rrgmetrics.files.columns import Columns, announced_together, check_columns, use_context
from rrgmetrics.files.formats import COLUMNS, PathLike, Row, rows_of
from rrgmetrics.files.inputs import InTable, pairs_of, read_systems
from rrgmetrics.files.join import join
from rrgmetrics.files.per_study import dependent_lines
from rrgmetrics.files.read import (
    Reports,
    Studies,
    first_references,
    left_out,
    read_column,
    read_flags,
    read_pairs,
    read_references,
    read_system,
)
from rrgmetrics.files.sources import name_of, parts
from rrgmetrics.files.write import (
    DOCUMENT_SUFFIXES,
    TABLE_SUFFIXES,
    check_outputs,
    csv_text,
    json_text,
    replacing,
    write_json,
    write_table,
    write_text,
)

__all__ = [
    "COLUMNS",
    "DOCUMENT_SUFFIXES",
    "TABLE_SUFFIXES",
    "Columns",
    "InTable",
    "PathLike",
    "Reports",
    "Row",
    "Studies",
    "announced_together",
    "check_columns",
    "check_outputs",
    "csv_text",
    "dependent_lines",
    "first_references",
    "join",
    "json_text",
    "left_out",
    "name_of",
    "pairs_of",
    "parts",
    "read_column",
    "read_flags",
    "read_pairs",
    "read_references",
    "read_system",
    "read_systems",
    "replacing",
    "rows_of",
    "use_context",
    "write_json",
    "write_table",
    "write_text",
]
