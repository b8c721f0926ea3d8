"""Imports the scripts of `benchmarks/`, which are not a package."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

FOLDER = str(Path(__file__).parents[2] / "benchmarks")


def benchmark(name: str) -> ModuleType:
    """Imports a benchmark, which may import others; the folder is on the path only meanwhile.

    Some scripts have the names of packages (`radgraph`), which tests look for.
    """
    sys.path.insert(0, FOLDER)
    try:
        return import_module(name)
    finally:
        sys.path.remove(FOLDER)
