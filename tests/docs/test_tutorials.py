"""Every tutorial leads to its result: its code runs from top to bottom and prints what stands there."""

from __future__ import annotations

import os
import sys
import tomllib

import pytest

from code_blocks import ROOT, blocks
from rrgmetrics.specs import plugins
from stand_in import stand_in
from worked_examples import install

SLOW = {"training_run"}
PAGES = [
    pytest.param(page, id=page.stem, marks=[pytest.mark.slow] if page.stem in SLOW else [])
    for page in sorted((ROOT / "docs" / "tutorials").glob("*.md"))
]
LOCAL = ("side_metrics", "sides")  # modules that a page writes


@pytest.fixture(autouse=True)
def quiet(monkeypatch, tmp_path):
    """No notice in the output, a cache of its own."""
    monkeypatch.setenv("RRGMETRICS_NOTICE", "no")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def server(monkeypatch):
    """The judge that the tutorial asks."""
    with stand_in() as address:
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield


@pytest.fixture(autouse=True)
def installed(monkeypatch, tmp_path):
    """What `pip install -e .` would do with the package that the tutorial writes."""
    page = (ROOT / "docs" / "tutorials" / "metric_of_ones_own.md").read_text(encoding="utf-8")
    files = {block.title: block.code for block in blocks(page) if block.title}
    install(tmp_path, tomllib.loads(files["pyproject.toml"])["project"], files)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT}")
    plugins.cache_clear()
    yield
    plugins.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] in LOCAL]:
        del sys.modules[name]


@pytest.mark.parametrize("page", PAGES)
def test_it_runs(page, run_blocks):
    run_blocks(page)
