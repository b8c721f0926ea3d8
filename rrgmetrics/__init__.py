"""Scores machine-written radiology reports.

    >>> import rrgmetrics
    >>> results = rrgmetrics.score(["bleu", "rouge"], predictions=["Clear lungs."], references=["Lungs are clear."])
    >>> sorted(results)
    ['bleu', 'rouge']

Importing the package loads no other module: each name is imported at first use.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rrgmetrics.version import VERSION

if TYPE_CHECKING:
    from rrgmetrics import stats
    from rrgmetrics.baselines.worth import Worth, measure_worth
    from rrgmetrics.comparing import explain
    from rrgmetrics.errors import BackendError, InputError, MissingExtraError, VerdictError
    from rrgmetrics.scoring.evaluation import Evaluation
    from rrgmetrics.scoring.hub import load, module_path
    from rrgmetrics.scoring.prepared import Metrics, prepare, score
    from rrgmetrics.scoring.results import Result
    from rrgmetrics.scoring.streaming import score_stream
    from rrgmetrics.specs import SPECS, MetricSpec
    from rrgmetrics.systems.comparison import Comparison, compare

__version__ = VERSION

_HOMES = {
    **dict.fromkeys(("BackendError", "InputError", "MissingExtraError", "VerdictError"), "errors"),
    **dict.fromkeys(("load", "module_path"), "scoring.hub"),
    **dict.fromkeys(("Metrics", "prepare", "score"), "scoring.prepared"),
    "Evaluation": "scoring.evaluation",
    "explain": "comparing",
    "Result": "scoring.results",
    **dict.fromkeys(("SPECS", "MetricSpec"), "specs"),
    **dict.fromkeys(("Comparison", "compare"), "systems.comparison"),
    "score_stream": "scoring.streaming",
    **dict.fromkeys(("Worth", "measure_worth"), "baselines.worth"),
}

__all__ = [
    "SPECS",
    "BackendError",
    "Comparison",
    "Evaluation",
    "InputError",
    "MetricSpec",
    "Metrics",
    "MissingExtraError",
    "Result",
    "VerdictError",
    "Worth",
    "__version__",
    "compare",
    "explain",
    "load",
    "measure_worth",
    "module_path",
    "prepare",
    "score",
    "score_stream",
    "stats",
]

_CHECKOUT = Path(__file__).parent.parent
if all((_CHECKOUT / part).is_file() for part in ("setup.cfg", "callbacks/__init__.py", "spaces/__init__.py")):
    # In a checkout `rrgmetrics.callbacks`, `rrgmetrics.metrics` and `rrgmetrics.spaces` stand beside this folder. They
    # are looked for there before any installer's finder is asked, so that one checkout never runs parts of another.
    __path__.append(str(_CHECKOUT))


if not TYPE_CHECKING:  # which would take any name then

    def __getattr__(name: str) -> Any:
        """A name of `__all__`, or a module of ours, imported when it is first asked for."""
        home = f"{__name__}.{_HOMES.get(name, name)}"
        try:
            module = import_module(home)
        except ModuleNotFoundError as error:
            if error.name != home:
                raise
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
        if name in _HOMES:
            globals()[name] = getattr(module, name)
            return globals()[name]
        return module


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
