"""How much a file may unpack to, so that a small one cannot fill the memory.

What a file holds is a table of reports, which compresses to a tenth, and to a hundredth where most are alike. A file
that unpacks to far more, and to more than any machine minds, was made to, or is damaged.
"""

from __future__ import annotations

from pathlib import Path

from rrgmetrics.errors import InputError

MAX_LINE = 16_000_000  # characters of a line: a row, with whatever else it has beside the texts
MAX_CELL = 4_000_000  # bytes of a cell of Parquet; a report has at most 100,000 characters
FREE = 100_000_000  # bytes that any file may unpack to
MAX_RATIO = 100  # beyond: times its size
FREE_ROWS = 10_000_000  # rows that any Parquet file may have, and at a time items in lists; beyond: MAX_RATIO a byte


def room_of(path: Path) -> int:
    """Returns how many bytes a file may unpack to."""
    return max(FREE, MAX_RATIO * path.stat().st_size)


def too_large(path: Path, room: int) -> InputError:
    """Returns the error of a file that unpacks to more."""
    return InputError(
        f"{path} unpacks to more than {room:,} bytes, {MAX_RATIO} times its size, which is unusual for a table of "
        "reports. If this is intended, unpack or split it."
    )
