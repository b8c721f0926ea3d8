"""Prepares metrics and runs them, in one process, in several, or on a stream."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Returns `hub`, imported when an `evaluate` module asks for it: its script imports only `rrgmetrics`."""
    if name != "hub":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.hub")
