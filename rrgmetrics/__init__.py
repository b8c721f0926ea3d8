"""Measures machine-written radiology reports.

    >>> import rrgmetrics
    >>> results = rrgmetrics.score(["bleu", "rouge"], predictions=["Clear lungs."], references=["Lungs are clear."])
    >>> sorted(results)
    ['bleu', 'rouge']

Importing this loads neither torch nor evaluate.
"""

from __future__ import annotations

from rrgmetrics.errors import BackendError, InputError, MissingExtraError, VerdictError
from rrgmetrics.hub import load, module_path
from rrgmetrics.prepared import Metrics, prepare, score
from rrgmetrics.reader import explain
from rrgmetrics.results import Result
from rrgmetrics.specs import SPECS, MetricSpec
from rrgmetrics.version import VERSION

__version__ = VERSION

__all__ = [
    "SPECS",
    "BackendError",
    "InputError",
    "MetricSpec",
    "Metrics",
    "MissingExtraError",
    "Result",
    "VerdictError",
    "__version__",
    "explain",
    "load",
    "module_path",
    "prepare",
    "score",
]
