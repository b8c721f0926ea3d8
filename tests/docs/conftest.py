"""What runs the code blocks of a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from code_blocks import run_page


@pytest.fixture
def run_blocks(tmp_path, monkeypatch, record_property):
    """Runs the code blocks of a page in an empty folder, and records how many ran; see `code_blocks`."""
    monkeypatch.setenv("COLUMNS", "120")

    def run(page: Path) -> None:
        record_property("code blocks", dict(run_page(page, tmp_path)))

    return run
