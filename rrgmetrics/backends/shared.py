"""Keeps models in memory once for all users in a process, until the last of them is gone."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

P = ParamSpec("P")
T = TypeVar("T")


def shared(load: Callable[P, T]) -> Callable[P, T]:
    """Makes a loader return the object that an earlier call with the same arguments gave, if that is still in use.

    Prepared metrics (`rrgmetrics.prepare`) own their models: two of them share one, and nothing outlives both.

    Args:
        load: Takes hashable arguments; returns an object of a class that weak references can point to.

    Example:
        >>> class Model: pass
        >>> load = shared(lambda name: Model())
        >>> held = load("a")
        >>> load("a") is held, load("b") is held
        (True, False)
    """
    held: WeakValueDictionary[Any, Any] = WeakValueDictionary()
    lock = RLock()

    @wraps(load)
    def once(*args: P.args, **keywords: P.kwargs) -> T:
        key = args, tuple(sorted(keywords.items()))
        with lock:
            model: T | None = held.get(key)
            if model is None:
                model = held[key] = load(*args, **keywords)
            return model

    return once
