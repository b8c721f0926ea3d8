"""Runs the notebooks of `examples/` from top to bottom and keeps their outputs.

    python scripts/make_notebooks.py   # or: make notebooks

What changes from run to run (times, names of cells, a process's messages on standard error) is not kept.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
NOTEBOOKS = tuple(sorted((ROOT / "examples").glob("*.ipynb")))
PATIENCE = 600  # seconds a cell


def main() -> int:
    """Runs and writes them all; returns the exit status."""
    import nbformat

    for path in NOTEBOOKS:
        nbformat.write(run(path), path)
        print(path.relative_to(ROOT))
    return 0


def run(path: Path) -> Any:
    """A notebook with its outputs.

    Raises:
        nbclient.exceptions.CellExecutionError: A cell failed.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    NotebookClient(notebook, timeout=PATIENCE, resources={"metadata": {"path": str(path.parent)}}).execute()
    notebook.metadata.pop("language_info", None)  # the version of Python
    for number, cell in enumerate(notebook.cells):
        cell.id = hashlib.sha256(f"{number}{cell.source}".encode()).hexdigest()[:8]
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def texts(notebook: Any) -> list[str]:
    """What the code cells of a notebook show as text, one a cell."""
    shown = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            parts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
            shown.append("".join(part for part in parts if not part.startswith("<Figure")))
    return shown


if __name__ == "__main__":
    sys.exit(main())
