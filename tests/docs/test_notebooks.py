"""The notebooks of `examples/` run from top to bottom, and stand there with their outputs."""

from __future__ import annotations

import importlib.util
import json

import pytest

from code_blocks import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
KINDS = ("code", "markdown")


@pytest.fixture(scope="module")
def make_notebooks():
    pytest.importorskip("ipykernel")
    spec = importlib.util.spec_from_file_location("make_notebooks", ROOT / "scripts" / "make_notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_that_draws_names_the_extra_for_plots(path):
    cells = json.loads(path.read_text())["cells"]
    code, words = ("".join("".join(c["source"]) for c in cells if c["cell_type"] == kind) for kind in KINDS)
    assert ("matplotlib" in code) == ("pip install '.[plots]'" in words)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_and_has_outputs(path, make_notebooks):
    """Numbers follow the reader and are not compared here; `make notebooks` writes them anew."""
    nbformat = pytest.importorskip("nbformat")
    committed = nbformat.read(path, as_version=4)
    ran = make_notebooks.run(path)
    assert list(map(bool, make_notebooks.texts(ran))) == list(map(bool, make_notebooks.texts(committed)))
    assert [cell.id for cell in ran.cells] == [cell.id for cell in committed.cells], "run `make notebooks`"
