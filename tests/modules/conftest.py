"""Modules load from a cache of their own, so that no test sees another's files."""

from __future__ import annotations

import pytest


@pytest.fixture
def data_cache(tmp_path, monkeypatch):
    """evaluate's folder for added reports; read when a module is made."""
    import evaluate.config
    import evaluate.module

    folder = tmp_path / "evaluate-data"
    monkeypatch.setattr(evaluate.config, "HF_METRICS_CACHE", folder)
    monkeypatch.setattr(evaluate.module.config, "HF_METRICS_CACHE", folder)
    return folder
