"""Every file a user hands us or gets from us.

Reading: CSV (UTF-8, RFC 4180), JSONL, Parquet, and text files of one report a line. Columns are `study_id` (optional),
`reference`, `candidate` or `report`, and the optional `age`, `sex`, `indication`, spelt exactly so; other columns are
ignored. Texts stay texts: `NA`, `null` and `1` in a CSV are reports. Whatever is wrong is an InputError that names
file, line and column before anything is scored. Files are joined by `study_id`; writing replaces nothing unless asked.
"""

from rrgmetrics.files.formats import COLUMNS, PathLike, Row, rows_of
from rrgmetrics.files.join import join
from rrgmetrics.files.read import Reports, Studies, read_column, read_flags, read_pairs, read_references, read_system
from rrgmetrics.files.write import (
    DOCUMENT_SUFFIXES,
    TABLE_SUFFIXES,
    check_outputs,
    replacing,
    write_json,
    write_table,
    write_text,
)

__all__ = [
    "COLUMNS",
    "DOCUMENT_SUFFIXES",
    "TABLE_SUFFIXES",
    "PathLike",
    "Reports",
    "Row",
    "Studies",
    "check_outputs",
    "join",
    "read_column",
    "read_flags",
    "read_pairs",
    "read_references",
    "read_system",
    "replacing",
    "rows_of",
    "write_json",
    "write_table",
    "write_text",
]
