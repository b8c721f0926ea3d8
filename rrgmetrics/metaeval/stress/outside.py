"""Metrics that are not ours: a Python callable, or an `evaluate` module.

A callable takes candidates and references, both lists of texts, and returns a number for each pair. An `evaluate`
module is asked with `predictions` and `references`; where it gives one number for all pairs it is asked pair by pair.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rrgmetrics.errors import InputError
from rrgmetrics.reports import Pair
from rrgmetrics.scoring import hub
from rrgmetrics.specs import SPECS, others

Function = Callable[[list[str], list[str]], Sequence[float]]
KEY = "#"  # parts a module's path and the key of its result
HOW = (
    "a metric of ours, MODULE:FUNCTION (candidates and references to a number for each pair), or the folder of an "
    "evaluate module (FOLDER#KEY for another key than its first)"
)


def find(name: str) -> Function | None:
    """Returns the callable or module behind a name; None for the name of one of our metrics.

    Args:
        name: `MODULE:FUNCTION`, where MODULE may also lie in the current folder, or the path of an `evaluate` module.

    Raises:
        InputError: What is named cannot be imported or loaded, or is no function.
    """
    head = re.split(r"[?@#]", name, maxsplit=1)[0].strip()
    if head in SPECS or head in others().specs:
        return None
    path, _, key = name.partition(KEY)
    if Path(path).exists():
        return of_module(hub.load_module(path), key)
    module, colon, function = head.partition(":")
    if colon and module.replace(".", "").isidentifier() and function.isidentifier():
        return _imported(module, function)
    if "/" in path or path.endswith(".py"):
        raise InputError(f"There is no {path}; name {HOW}.")
    return None


def of_module(module: Any, key: str = "") -> Function:
    """Returns an `evaluate` module as a callable.

    Args:
        module: A loaded module.
        key: Of its result; "" takes the one of its name, else the first number or list of numbers.
    """
    name = str(getattr(module, "name", type(module).__name__))

    def ask(candidates: list[str], references: list[str]) -> Sequence[float]:
        first = _compute(module, candidates[:2], references[:2])
        chosen = key or (name if name in first else next(iter(_numbers(first)), ""))
        if chosen not in first:
            raise InputError(f"The evaluate module {name} returns no {chosen or 'number'!r}; it returns {list(first)}.")
        if _is_list(first[chosen], min(2, len(candidates))):
            return [float(value) for value in _compute(module, candidates, references)[chosen]]
        pairs = zip(candidates, references, strict=True)
        return [float(_compute(module, [candidate], [reference])[chosen]) for candidate, reference in pairs]

    return ask


def checked(name: str, function: Function, candidates: list[str], references: list[str]) -> list[float]:
    """Asks a callable and checks what it returns; NaN is an unscored pair.

    Raises:
        InputError: It fails, returns another number of values, or what is no number.
    """
    try:
        values = list(function(candidates, references))
        numbers = [float(value) for value in values]
    except InputError:
        raise
    except Exception as error:  # somebody else's code
        what = f"{type(error).__name__}: {error}".rstrip(".")
        raise InputError(
            f"{name} fails: {what}. It must take candidates and references and return a number for each pair."
        ) from error
    if len(numbers) != len(candidates):
        raise InputError(f"{name} returns {len(numbers):,} values for {len(candidates):,} pairs; return one for each.")
    if any(map(math.isinf, numbers)):
        raise InputError(f"{name} returns {next(filter(math.isinf, numbers))}; return finite numbers, NaN for none.")
    return numbers


def _compute(module: Any, candidates: list[str], references: list[str]) -> Mapping[str, Any]:
    """Values a pair, where the module is ours; else what it gives. Ours does not warn of the faults that we made."""
    result: Any
    if hasattr(module, "metric_name"):
        pairs = list(map(Pair, references, candidates))
        (own,) = module.prepared.score_pairs(pairs, progress=False, announce=False).values()
        result = hub.as_dict(own, per_pair=True)
    else:
        result = module.compute(predictions=candidates, references=references)
    if not isinstance(result, Mapping):
        raise InputError(f"{type(module).__name__}.compute returns no dictionary but {type(result).__name__}.")
    per_pair = {key.removesuffix("_per_pair"): value for key, value in result.items() if key.endswith("_per_pair")}
    return {**result, **per_pair}


def _numbers(result: Mapping[str, Any]) -> list[str]:
    return [
        key
        for key, value in result.items()
        if isinstance(value, int | float)
        or hasattr(value, "__float__")
        or (isinstance(value, list) and value and isinstance(value[0], int | float))
    ]


def _is_list(value: Any, n: int) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and len(value) == n


def _imported(module: str, function: str) -> Function:
    here = str(Path.cwd())
    sys.path.insert(0, here)  # as `python -m` does
    try:
        found = getattr(import_module(module), function, None)
    except Exception as error:  # somebody else's code
        raise InputError(f"{module} cannot be imported: {type(error).__name__}: {error}.") from error
    finally:
        sys.path.remove(here)
    if not callable(found):
        raise InputError(f"{module} has no function {function!r}; name {HOW}.")
    return found  # type: ignore[no-any-return]
