"""Compares two readings: matches their findings and lists the errors.

    >>> from rrgmetrics.comparing import explain
    >>> errors = explain(reference="Small right pleural effusion.", candidate="Small left pleural effusion.").errors
    >>> errors[0].sentence
    'Pleural effusion, side: right → left.'

`observations` groups the statements of a reading about one finding, `alignment` matches the observations of two
readings (`denials`: what one denies by its name), `differences` and `omissions` compare matched ones, `penalties` finds
other errors, and `rubric` assigns weights.
"""

from rrgmetrics.comparing.compare import compare, compare_as_scored, explain
from rrgmetrics.comparing.model import ErrorCategory, FindingError, Match, ReportComparison

__all__ = ["ErrorCategory", "FindingError", "Match", "ReportComparison", "compare", "compare_as_scored", "explain"]
