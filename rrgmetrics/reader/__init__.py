"""The reader: chest X-ray report → findings → differences.

    >>> from rrgmetrics.reader import compare, read
    >>> comparison = compare(read("Small right pleural effusion."), read("Small left pleural effusion."))
    >>> comparison.errors[0].sentence
    'Reference: small right pleural effusion; candidate: small left pleural effusion.'

Deterministic and explainable: its knowledge is the lexicon (YAML files a radiologist can correct), its engine a few
short modules: `tokens` → `items` → `assertion` → `attributes` → `engine` (read), `compare`.
"""

from rrgmetrics.reader.compare import compare, explain
from rrgmetrics.reader.engine import read
from rrgmetrics.reader.model import (
    Comparison,
    ErrorCategory,
    Finding,
    FindingError,
    Match,
    Reading,
    Span,
)

__all__ = [
    "Comparison",
    "ErrorCategory",
    "Finding",
    "FindingError",
    "Match",
    "Reading",
    "Span",
    "compare",
    "explain",
    "read",
]
