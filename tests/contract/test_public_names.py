"""The leaderboard and training, which could be distributions of their own, use public names of the core alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = {
    "rrgmetrics.spaces.leaderboard": ROOT / "spaces" / "leaderboard",
    "rrgmetrics.training": ROOT / "rrgmetrics/training",
}
FILES = [(package, path) for package, folder in FOLDERS.items() for path in sorted(folder.rglob("*.py"))]
OF_TUPLES = ("_asdict", "_fields", "_make", "_replace")  # public, of named tuples


def is_private(name):
    return any(part.startswith("_") and not part.endswith("__") for part in name.split("."))


def private_names(tree, package):
    """What a file takes from our other packages that begins with an underscore: imported, or an attribute of that."""
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rrgmetrics"):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                modules.add(alias.asname or alias.name)
                if not name.startswith(f"{package}.") and is_private(name):
                    yield name
        elif isinstance(node, ast.Import):
            yield from (
                alias.name for alias in node.names if alias.name.startswith("rrgmetrics") and is_private(alias.name)
            )
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield from [f"{node.value.id}.{node.attr}"] if is_private(node.attr) and node.attr not in OF_TUPLES else []


@pytest.mark.parametrize(("package", "path"), FILES, ids=[str(path.relative_to(ROOT)) for _, path in FILES])
def test_only_public_names_are_imported(package, path):
    assert list(private_names(ast.parse(path.read_text(encoding="utf-8")), package)) == []


@pytest.mark.parametrize(
    "code",
    [
        "from rrgmetrics.specs.names import _focused",
        "from rrgmetrics._hidden import name",
        "import rrgmetrics._hidden",
        "def f():\n    from rrgmetrics import files\n    return files._read",
    ],
)
def test_private_names_are_found(code):
    assert list(private_names(ast.parse(code), "rrgmetrics.training"))
