"""Messages for a visitor of a page, who has neither a command line nor Python: what the page itself offers."""

from __future__ import annotations

import re
import shlex

from rrgmetrics.utils.printable import as_options
from rrgmetrics.utils.text_format import listed

_OR = " or --columns "
_COLUMNS = re.compile(r"--columns (.+?)(?=\.(?: |$))")
_ELSEWHERE = (  # what a page does not offer, and what to read instead
    (re.compile(r" If [^.]*, run: rrgmetrics .*$", re.DOTALL), ""),
    (re.compile(r"; in (?:Python|a shell): .*\.$", re.DOTALL), "."),
    (re.compile(r", not by commas; in Python: .*$", re.DOTALL), "; write commas between cells."),
    (re.compile(r"; --per-study first .*$", re.DOTALL), "; keep one report of each study."),
    (re.compile(r", and rrgmetrics reads UTF-8: iconv .*$|: iconv .*$", re.DOTALL), "; save it as UTF-8."),
    (re.compile(r"; pass --missing empty[^.]*"), ""),
    (
        re.compile(r"If the radiologists' reports are in another file, .*$"),
        "Upload one file with both reports of a study.",
    ),
)


def for_page(message: str) -> str:
    """The message with the menus of the page in the place of options and commands.

    Example:
        >>> for_page("Name the right one: --columns reference=gt or --columns reference=truth.")
        "Name the right one: in the menus, choose 'gt' as the reference or 'truth' as the reference."
    """
    message = as_options(message)
    for pattern, instead in _ELSEWHERE:
        message = pattern.sub(instead, message)
    return _COLUMNS.sub(_menus, message)


def _menus(match: re.Match[str]) -> str:
    """`reference=gt,candidate=pred` as what to choose in the menus of columns."""
    return f"in the menus, choose {' or '.join(map(_choices, match[1].split(_OR)))}"


def _choices(columns: str) -> str:
    chosen = (each.partition("=") for each in " ".join(shlex.split(columns)).split(","))
    return listed(
        [
            f"the column of the {field}" if column == "COLUMN" else f"{column!r} as the {field}"
            for field, _, column in chosen
        ]
    )
