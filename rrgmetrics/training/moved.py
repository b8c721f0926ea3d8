"""Old names of modules that moved from this package to `rrgmetrics.synthesis`; they leave with the next release."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any


def moved(old: str, new: str) -> Callable[[str], Any]:
    """Returns a module's `__getattr__` that takes everything from the module `new` and warns that `old` is no more."""

    def getattribute(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(importlib.import_module(new), name)
        warnings.warn(f"{old} has moved to {new}; import it from there.", DeprecationWarning, stacklevel=2)
        return value

    return getattribute
