"""Old names of what has a new one, and arguments by position that are named now; each is kept for one release."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def by_keyword(*names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Lets a function that takes keywords alone be called by position too, in the old order, and warns.

    Args:
        *names: Of the arguments, in the order that they had.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*values: Any, **keywords: Any) -> R:
            if values:
                if len(values) > len(names) or set(names[: len(values)]) & keywords.keys():
                    raise TypeError(f"{function.__name__}() takes {', '.join(f'{name}=' for name in names)} once each.")
                named = ", ".join(f"{name}=..." for name in names[: len(values)])
                warnings.warn(f"Name the arguments: {function.__name__}({named}).", DeprecationWarning, stacklevel=2)
            return function(**dict(zip(names, values, strict=False)), **keywords)  # type: ignore[call-arg]

        return call

    return decorate


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
