"""Texts and log messages without characters that a terminal obeys: reports, ids and names of files may hold any."""

from __future__ import annotations

import logging
import re
import sys
from ast import literal_eval
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

# C0 but for tab and the ends of lines, DEL, C1, marks that turn the direction of a line, and halves of characters.
_OBEYED = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_ARGUMENT = re.compile(r"\b(by|force|missing|per_study)=(?:True\b|'([^']*)')")
_TEXT = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
# A dict of texts, as Python prints it; not in a message that gives the call and the command beside each other.
_COLUMNS = re.compile(rf"(?<!in Python: )\bcolumns=(\{{'\w+': {_TEXT}(?:, '\w+': {_TEXT})*\}})")
logger = logging.getLogger("rrgmetrics")


def visible(text: str) -> str:
    r"""Returns the text with every character that a terminal would obey written out.

    Example:
        >>> visible("Small\x1b[2J effusion.\n")
        'Small\\x1b[2J effusion.\n'
    """
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)


def as_options(text: str) -> str:
    """Returns a message that names arguments of Python with options of the command line.

    Example:
        >>> as_options("pass per_study='first', or force=True")
        'pass --per-study first, or --force'
        >>> as_options("same as columns={'reference': 'gt', 'candidate': 'hyp'}")
        'same as --columns reference=gt,candidate=hyp'
    """
    text = _COLUMNS.sub(_as_columns_option, text)
    return _ARGUMENT.sub(lambda found: f"--{found[1].replace('_', '-')}{f' {found[2]}' if found[2] else ''}", text)


def _as_columns_option(found: re.Match[str]) -> str:
    """The option for `columns={...}`; as it is if a message quotes a text that only looks like it."""
    try:
        return f"--columns {columns_option(literal_eval(found[1]))}"
    except (SyntaxError, ValueError):
        return found[0]


def columns_option(columns: Mapping[str, str]) -> str:
    """Returns columns as `--columns` takes them.

    Example:
        >>> columns_option({"reference": "findings_gt", "candidate": "model output"})
        "'reference=findings_gt,candidate=model output'"
    """
    text = ",".join(f"{field}={column}" for field, column in columns.items())
    return text if re.fullmatch(r"[\w=,./+-]*", text) else f"'{text}'"


class VisibleHandler(logging.Handler):
    """Writes messages to standard error, whatever it is then, as `visible` and `as_options` write them."""

    def emit(self, record: logging.LogRecord) -> None:
        """Writes one message."""
        try:
            sys.stderr.write(f"{visible(as_options(self.format(record)))}\n")
        except (OSError, ValueError):  # nobody reads standard error any more
            self.handleError(record)


@contextmanager
def log_visibly() -> Iterator[None]:
    """Writes this package's messages as `visible` does, for a while, where nobody has set logging up."""
    if logger.hasHandlers():
        yield
        return
    handler = VisibleHandler(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
