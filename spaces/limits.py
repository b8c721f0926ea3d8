"""What a page takes: sizes, and one place that says no before any work is done."""

from __future__ import annotations

from rrgmetrics.errors import InputError
from rrgmetrics.reports import Pair, check_report

MAX_WORDS = 2_000  # of a report; a chest X-ray report has some 50
MAX_CHARACTERS = 20_000
MAX_PAIRS = 20_000  # of a file
MAX_MEGABYTES = 25
MAX_SECONDS = 900  # that one file may keep the machine


def check_size(text: str, where: str) -> None:
    """Raises InputError, naming `where`, unless `text` is a report that a page takes."""
    check_report(text, where)
    if "\0" in text:
        raise InputError(f"{where} contains a NUL character; it is damaged. Copy the text again.")
    n_words = len(text.split())
    if n_words > MAX_WORDS or len(text) > MAX_CHARACTERS:
        size = f"{n_words:,} words" if n_words > MAX_WORDS else f"{len(text):,} characters"
        raise InputError(
            f"{where} has {size}; the limit of this page is {MAX_WORDS:,} words ({MAX_CHARACTERS:,} characters). "
            "For longer reports, install rrgmetrics and score them on your own machine."
        )


def check_pair(pair: Pair) -> None:
    """Raises InputError unless a page takes both reports, and at least one of them says something."""
    check_size(pair.reference, "The reference")
    check_size(pair.candidate, "The candidate")
    check_size(pair.context.indication, "The indication")
    if not pair.reference.strip() and not pair.candidate.strip():
        raise InputError("Both reports are empty; type or paste two reports, or choose one of the examples.")
