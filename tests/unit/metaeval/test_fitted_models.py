"""Models that `radcliq fit --features` wrote are metrics in `agree`. All reports are invented."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from rated_layouts import PAIRS, TOTALS, rexval

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval import agree
from rrgmetrics.scoring.prepared import score

FEATURES = {"bleu#2": (0.2, 0.3, -0.5), "finding_errors": (1.0, 2.0, 1.5)}  # mean, scale, weight


@pytest.fixture
def model(tmp_path: Path) -> str:
    file = tmp_path / "model.json"
    rows = {name: dict(zip(("mean", "scale", "weight"), row, strict=True)) for name, row in FEATURES.items()}
    file.write_text(json.dumps({"parts": "keys", "intercept": 2.0, "features": rows}))
    return f"radcliq@{file}"


def expected() -> np.ndarray:
    texts = {"references": [pair[2] for pair in PAIRS], "predictions": [pair[3] for pair in PAIRS]}
    results = score(list(FEATURES), **texts, progress=False)
    parts = [(results[name].headline - mean) / scale * weight for name, (mean, scale, weight) in FEATURES.items()]
    return np.sum(parts, axis=0) + 2.0


def test_a_model_of_any_keys_is_a_metric(model: str, tmp_path: Path) -> None:
    data = f"rexval:{rexval(tmp_path / 'rexval')}"
    report = agree(data, ["rouge", model], trials=20, progress=False)
    assert list(report.results) == ["rouge", model]  # its features were not asked for
    result = report.results[model]
    assert result.headline == pytest.approx(expected())
    assert result.scores == {"radcliq": pytest.approx(expected().mean())}
    assert result.spec.headline.higher_is_better is False
    assert "coefficients_sha256:" in result.signature
    tau = next(row["tau_b"] for row in report.rows() if row["subject"] == model and row["target"] == "total_errors")
    assert tau > 0.5
    assert len(TOTALS) == result.n_pairs
    both = agree(data, ["finding_errors", model], trials=20, progress=False)
    assert list(both.results) == ["finding_errors", model]
    with pytest.raises(InputError, match="name those instead"):
        agree(data, [model], timed=True, trials=20, progress=False)
