"""GREEN's summary: typical errors of each kind."""

from __future__ import annotations

import numpy as np
import pytest

from rrgmetrics import cli
from rrgmetrics.errors import InputError
from rrgmetrics.scoring import error_summary as summary
from rrgmetrics.scoring.error_rows import ERROR_LISTS
from rrgmetrics.scoring.error_summary import k_means, silhouette, summarise, typical
from rrgmetrics.specs import SPECS

REPORTS = {  # of metrics of other modalities
    "nodule_f1": ("CT chest. 8 mm nodule in the left upper lobe.", "CT chest. Clear lungs."),
    "mammo_green": ("Mammogram. Irregular mass in the left breast. BI-RADS 5.", "Mammogram. No mass. BI-RADS 1."),
}


def letters(texts):
    """Unit vectors: texts with the same first letter lie near each other."""
    rows = np.array([[text.startswith(letter) + 0.01 * len(text) for letter in "abc"] for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def verdict(score, *missing):
    significant = {"missing_finding": {"count": len(missing), "errors": list(missing)}} if missing else {}
    return {"score": score, "significant": significant, "insignificant": {}}


def test_summary():
    explained = [
        verdict(1.0),
        verdict(0.5, "a", "b"),
        verdict(0.0, "aa", "aaaa", "aaa", "a"),
        {"unscored": "No reply: timed out", "replies": []},
    ]
    summarised = summarise("green", explained, [1.0, 0.5, 0.0, np.nan], letters)
    assert (summarised.mean, summarised.n_scored) == (0.5, 3)
    assert summarised.std == pytest.approx((1 / 6) ** 0.5)
    missing = summarised.kinds[1]
    assert (missing.category, missing.n_errors, missing.accuracy) == ("missing_finding", 6, 1 / 3)
    assert len(missing.typical) == 3
    assert set(missing.typical) < {"a", "aa", "aaa", "aaaa"}
    assert {kind.accuracy for kind in summarised.kinds[2:]} == {1.0}
    assert "B missing finding: 6; 33% of reports without" in str(summarised)


def test_nothing_scored():
    with pytest.raises(InputError, match="no scored pair"):
        summarise("green", [{"unscored": "why", "replies": []}], [np.nan], letters)


def test_typical_errors_are_distinct_and_at_most_three():
    assert typical([], np.zeros((0, 1))) == ()
    assert typical(["a"] * 5, letters(["a"] * 5)) == ("a",)


def test_many_errors_are_thinned(monkeypatch):
    monkeypatch.setattr(summary, "MAX_ERRORS", 10)
    sizes = []
    texts = [f"a{i}" for i in range(1000)]
    summarised = summarise(
        "green", [verdict(0.0, *texts)], [0.0], lambda words: sizes.append(len(words)) or letters(words)
    )
    assert sizes == [10]
    assert summarised.kinds[1].n_errors == 1000


def test_clusters_and_silhouette_by_hand():
    vectors = np.array([[0.0], [1.0], [10.0], [11.0]])
    labels = k_means(vectors, 2)
    assert labels.tolist() == [0, 0, 1, 1]
    # the outer points: own 1, other (10 + 11) / 2 = 10.5; the inner: own 1, other 9.5
    assert silhouette(vectors, labels) == pytest.approx(((10.5 - 1) / 10.5 + (9.5 - 1) / 9.5) / 2)
    assert silhouette(vectors, np.zeros(4, dtype=int)) == -1


def test_on_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(summary, "embed_sentences", letters)
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("study_id,reference,candidate\n1,Right apical pneumothorax.,Clear lungs.\n")
    assert cli.main(["score", str(pairs), "--metrics", "green", "--summary", "--trials", "5", "--no-progress"]) == 0
    assert "Only the reference reports: right apical pneumothorax." in capsys.readouterr().out
    assert cli.main(["score", str(pairs), "--metrics", "rouge", "--summary"]) == 2
    assert "--summary needs a metric that lists errors: finding_errors," in capsys.readouterr().err


@pytest.mark.parametrize("metric", ERROR_LISTS)
def test_every_metric_that_names_errors_has_a_summary(metric, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(summary, "embed_sentences", letters)
    pairs = tmp_path / "pairs.csv"
    reference, candidate = REPORTS.get(
        metric, ("Large right pneumothorax. Mild edema.", "Mild edema. Small left mass.")
    )
    pairs.write_text(f"study_id,reference,candidate\n1,{reference},{candidate}\n2,{reference},{reference}\n")
    command = ["score", str(pairs), "--metrics", metric, "--summary", "--trials", "5", "--no-progress", "--no-trivial"]
    assert cli.main(command) == 0
    shown = capsys.readouterr().out
    assert ", 2 pairs scored; " in shown
    assert "50% of reports without\n    " in shown


@pytest.mark.parametrize(("metric", "graded"), [("green", True), ("chexprompt", True), ("radfact", False)])
def test_the_spec_says_whether_errors_are_graded(metric: str, graded: bool) -> None:
    assert SPECS[metric].is_graded == graded


def test_only_significant_errors_are_counted_where_the_metric_says_which():
    errors = [
        {"category": "missing_finding", "sentence": "a", "significant": True, "part": 1},
        {"category": "false_finding", "sentence": "b", "significant": False, "part": 1},
    ]
    found = summarise("finding_errors", [errors], [2.0], letters)
    assert [(kind.category, kind.n_errors) for kind in found.kinds if kind.n_errors] == [("missing_finding", 1)]
    assert "significant errors:" in str(found)


def test_kinds_are_named_as_on_pages():
    titles = [
        summary.KindSummary(kind, 0, 1.0, ()).title
        for kind in ("incorrect_location", "missing_comparison", "wrong_size")
    ]
    assert titles == ["C wrong location", "F missing or wrong comparison", "wrong size"]
