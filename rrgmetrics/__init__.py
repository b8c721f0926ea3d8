"""Measures machine-written radiology reports.

    >>> import rrgmetrics
    >>> results = rrgmetrics.score(["bleu", "rouge"], predictions=["Clear lungs."], references=["Lungs are clear."])
    >>> sorted(results)
    ['bleu', 'rouge']

Importing this loads neither torch nor evaluate.
"""

from __future__ import annotations

from pathlib import Path

from rrgmetrics.errors import BackendError, InputError, MissingExtraError, VerdictError
from rrgmetrics.hub import load, module_path
from rrgmetrics.prepared import Metrics, prepare, score
from rrgmetrics.reader import explain
from rrgmetrics.results import Result
from rrgmetrics.specs import SPECS, MetricSpec
from rrgmetrics.version import VERSION
from rrgmetrics.worth import Worth, measure_worth

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
    "Worth",
    "__version__",
    "explain",
    "load",
    "measure_worth",
    "module_path",
    "prepare",
    "score",
]

_CHECKOUT = Path(__file__).parent.parent
if all((_CHECKOUT / part).is_file() for part in ("setup.cfg", "callbacks/__init__.py", "spaces/__init__.py")):
    # In a checkout `rrgmetrics.callbacks`, `rrgmetrics.metrics` and `rrgmetrics.spaces` stand beside this folder. They
    # are looked for there before any installer's finder is asked, so that one checkout never runs parts of another.
    __path__.append(str(_CHECKOUT))
