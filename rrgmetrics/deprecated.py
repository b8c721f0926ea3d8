"""Old names of classes that have a new one; each is kept for one release."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any


def renamed(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Returns a module's `__getattr__` that gives what has a new name under its old one too, and warns.

    Args:
        module: The module's `__name__`.
        names: New names by old ones.
    """

    def getattribute(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warnings.warn(f"{module}.{name} is called {names[name]} now.", DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[module], names[name])

    return getattribute
