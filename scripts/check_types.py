"""Runs mypy over the package as it is installed (callbacks, metrics and spaces are within it) and the tests' helpers.

python scripts/check_types.py [mypy's arguments]
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUTER = ("callbacks", "metrics", "spaces")  # setup.cfg installs them under the package's name
HELPERS = (ROOT / "tests" / "helpers", ROOT / "tests")  # tests import the modules in them by name


def linked_package() -> Path:
    """Returns a folder that holds the package as a wheel does, in links to the checkout."""
    package = ROOT / ".mypy_cache" / "package" / "rrgmetrics"
    package.mkdir(parents=True, exist_ok=True)
    for link in package.iterdir():
        link.unlink()
    for path in (*(ROOT / "rrgmetrics").iterdir(), *(ROOT / name for name in OUTER)):
        (package / path.name).symlink_to(path)
    return package.parent


if __name__ == "__main__":
    path = os.pathsep.join(map(str, (linked_package(), *HELPERS)))
    helpers = [word for folder in HELPERS for file in sorted(folder.glob("*.py")) for word in ("-m", file.stem)]
    command = [sys.executable, "-m", "mypy", "-p", "rrgmetrics", *helpers, *sys.argv[1:]]
    sys.exit(subprocess.run(command, cwd=ROOT, env={**os.environ, "MYPYPATH": path}, check=False).returncode)
