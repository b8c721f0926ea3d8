"""Two readings → matched findings and errors.

    >>> from rrgmetrics.comparing import explain
    >>> errors = explain(reference="Small right pleural effusion.", candidate="Small left pleural effusion.").errors
    >>> errors[0].sentence
    'Pleural effusion, side: right → left.'

`observations` gathers what a reading says of one thing, `alignment` sets the observations of two readings beside each
other, `differences` and `omissions` compare those that match, `penalties` finds what else costs, `rubric` weighs it.
"""

from rrgmetrics.comparing.compare import compare, explain
from rrgmetrics.comparing.model import ErrorCategory, FindingError, Match, ReportComparison

__all__ = ["ErrorCategory", "FindingError", "Match", "ReportComparison", "compare", "explain"]
