"""The reader: chest X-ray report → findings → differences.

    >>> from rrgmetrics.reader import compare, read
    >>> comparison = compare(read("Small right pleural effusion."), read("Small left pleural effusion."))
    >>> comparison.errors[0].sentence
    'Pleural effusion, side: right → left.'

The reader is deterministic and explains itself. Its knowledge is the lexicon (`lexicon/*/*.yaml`), which a radiologist
can correct or add to; its engine is a few short modules: `tokens` (`typing_errors`) → `items` (`levels`,
`place_words`) → `parsed`, which keeps what a sentence says by itself → `assertion` → `attributes` and `change` →
`engine` (`references`) read a report; `similarity`, `differences` and `penalties` → `compare` (`policies`) tell two
readings apart, and `rubric` weighs what differs.
"""

from rrgmetrics.reader.compare import compare, explain
from rrgmetrics.reader.model import (
    Comparison,
    ErrorCategory,
    Finding,
    FindingError,
    Match,
    Reading,
    Span,
)
from rrgmetrics.reader.reader import Reader, read

__all__ = [
    "Comparison",
    "ErrorCategory",
    "Finding",
    "FindingError",
    "Match",
    "Reader",
    "Reading",
    "Span",
    "compare",
    "explain",
    "read",
]
