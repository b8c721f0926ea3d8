"""What papers made of rated data: overlooked kinds, counts by kind, raters alone, sources, checkpoints."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_results import result
from rich.console import Console
from scipy.stats import ttest_rel

from rrgmetrics.cli import main
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval import Rated, measure
from rrgmetrics.metaeval.ablation import ablation
from rrgmetrics.metaeval.by_rater import by_rater, same_classes, same_side
from rrgmetrics.metaeval.counting import EVERY_KIND, counting, from_raters
from rrgmetrics.metaeval.overlooked import ANY, BEST, overlooked
from rrgmetrics.reporting import papers
from rrgmetrics.reporting.papers import ALSO
from rrgmetrics.reports import Pair

NAN = float("nan")
FALSE = np.array([[0, 3, 1, 1, 2, 0, 0, 4.0]])
MISSING = np.array([[2, 0, 1, 0, 0, 1, 3, 0.0]])


def data(**changes):
    """Four studies of two candidates, one rater."""
    about = {
        "name": "lab",
        "pairs": [Pair("Clear lungs.", f"candidate {n}") for n in range(8)],
        "studies": [f"study {n // 2}" for n in range(8)],
        "raters": ["anna"],
        "values": {"total_errors": FALSE + MISSING, "false_finding": FALSE, "missing_finding": MISSING},
        "kinds": ("false_finding", "missing_finding"),
        "labels": {"source": ["a", "b"] * 4},
    }
    return Rated(**about | changes)


def report_of(rated, *results):
    return measure(rated, {each.spec.name: each for each in results}, trials=20)


def test_what_a_metric_overlooks():
    # It prefers the first candidate of each study, and in the last study both alike: their mean counts.
    report = report_of(data(), result("first", headline=[1, 0, 1, 0, 1, 0, 1, 1]))
    found = {each.subject: each for each in overlooked(report)}
    assert list(found) == ["first", BEST, ANY, "source a", "source b"]
    first = found["first"]
    assert first.means == {"false_finding": (0 + 1 + 2 + 2) / 4, "missing_finding": (2 + 1 + 0 + 1.5) / 4}
    assert first.shares["false_finding"] == pytest.approx(5 / 9.5)
    assert (first.n, first.total) == (4, 9.5 / 4)
    (test,) = first.tests
    assert test.p_value == pytest.approx(ttest_rel([0, 1, 2, 2], [2, 1, 0, 1.5]).pvalue)
    assert test.difference == pytest.approx(0.125)
    assert found["source b"].means["false_finding"] == 2
    assert found[ANY].total == pytest.approx(float((FALSE + MISSING).mean()))
    p_values = [each.p_value for line in found.values() for each in line.tests]
    assert max(p_values) <= max(each.p_corrected for line in found.values() for each in line.tests) <= 1


def test_unscored_and_unjudged_candidates_are_not_chosen():
    missing = MISSING.copy()
    missing[0, 0] = NAN
    rated = data(values={"total_errors": FALSE + missing, "false_finding": FALSE, "missing_finding": missing})
    report = report_of(rated, result("some", headline=[1, 0, NAN, 1, 1, 0, NAN, NAN]))
    (line, *_) = overlooked(report)
    assert line.n == 1  # of the third study alone two candidates are scored and judged
    assert np.isnan(line.tests[0].p_value)


def test_of_one_kind_nothing_is_overlooked():
    rated = data(values={"total_errors": FALSE, "false_finding": FALSE})
    assert overlooked(report_of(rated, result("any", headline=range(8)))) == ()


def test_counts_by_kind():
    values = {"false_finding": np.array([[1, 2, 0, NAN], [2, 2, 1, 1], [NAN, 2, 2, 1]])}
    rated = data(
        pairs=[Pair("a", str(n)) for n in range(4)],
        studies=list("1234"),
        raters=["x", "y", "z"],
        values=values,
        labels={},
        kinds=("false_finding",),
    )
    metric = result("counter", higher_is_better=False, headline=[0] * 4, false_finding=[1, 2, NAN, 1])
    line, own = counting(report_of(rated, metric))
    assert (line.subject, line.n, line.mae) == ("counter", 3, pytest.approx(0.5 / 3))
    assert (line.exact, line.any_rater) == (pytest.approx(2 / 3), 1)
    # others' means by rater left out: x 2, y 1, z 1.5 of the first pair; 2 of the second; 1 of the last
    assert line.left_out == pytest.approx((1 + 0 + 0.5 + 0) / 9)
    assert own.subject == "a radiologist"
    # x 1 against 2, y 2 against 1; nothing; 0 against 1.5, 1 against 1, 2 against 0.5; 1 against 1
    assert own.left_out == pytest.approx((1 + 1 + 0 + 0 + 0 + 1.5 + 0 + 1.5 + 0 + 0) / 10)


def test_each_rater_alone():
    values = {"total_errors": np.array([np.arange(8.0), -np.arange(8.0) + 7, [0, 1, *[NAN] * 6]])}
    rated = data(raters=["up", "down", "hardly"], values=values)
    found = list(by_rater(report_of(rated, result("score", headline=-np.arange(8)))))
    assert [(each.rater, each.tau_b.value) for each in found] == [("up", 1), ("down", -1)]


def test_the_same_word_on_significant_errors():
    values = {"significant_errors": np.array([[0, 1, 2, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, NAN]])}
    rated = data(raters=["x", "y"], values=values)
    counts = {"headline": range(8), "significant": [0, 3, 1, 0, 0, 0, 1, 0]}
    report = report_of(rated, result("counter", higher_is_better=False, **counts), result("plain", headline=range(8)))
    found = {(each.subject, each.rater): (each.share, each.n) for each in same_side(report)}
    assert found == {
        ("counter", "x"): (7 / 8, 8),
        ("counter", "y"): (5 / 7, 7),
        ("x", "y"): (6 / 7, 7),
        ("y", "x"): (6 / 7, 7),
    }
    assert list(same_side(report_of(data(), result("plain", headline=range(8))))) == []


def test_classes_of_errors_that_two_marked():
    marks = {
        "one": {("1", "C1", "false", "0"): "urgent", ("1", "C1", "false", "1"): "benign_expected"},
        "two": {("1", "C1", "false", "0"): "actionable_not_urgent", ("1", "C1", "false", "1"): "benign_expected"},
        "three": {("2", "C1", "false", "0"): "urgent"},
    }
    first, *others = same_classes(marks, ("urgent", "actionable_not_urgent"))
    assert (first.raters, first.classes, first.significant, first.n) == (("one", "two"), 0.5, 1, 2)
    assert [each.n for each in others] == [0, 0]
    assert np.isnan(others[0].classes)


def test_the_tables_say_it_all():
    rated = data(
        raters=["anna", "ben"], values={target: np.repeat(v, 2, axis=0) for target, v in data().values.items()}
    )
    rated = replace(
        rated, marks={"anna": {("1",): "urgent"}, "ben": {("1",): "urgent"}}, significant_classes=("urgent",)
    )
    metric = result(
        "counter", higher_is_better=False, headline=range(8), false_finding=range(8), missing_finding=[0] * 8
    )
    report = report_of(rated, metric)
    console = Console(file=io.StringIO(), width=80, color_system=None)
    for find in ALSO.values():
        for table in find(report).tables:
            console.print(table)
    text = " ".join(console.file.getvalue().split())
    for words in (
        "what a metric overlooks",
        "counts by kind",
        "each rater alone",
        "both marked",
        "counts for each source",
    ):
        assert words in text
    assert "nan" not in text
    assert "…" not in text


# --- checkpoints


@pytest.fixture
def heads(tmp_path, checkpoints):
    """Checkpoints with 1, 2 and 6 heads and different losses."""
    losses = {1: {"use_poisson_loss": True, "use_presence_loss": False}, 2: {}, 6: {"use_presence_loss": True}}
    return {
        str(checkpoints.write_crepe(tmp_path / f"heads{n}", num_error_categories=n, **loss)): n
        for n, loss in losses.items()
    }


def test_checkpoints_of_any_number_of_heads(heads):
    (Path(list(heads)[1]) / "training_config.yaml").write_text("encoder: lab/encoder\nheads: 2\n")
    found = ablation(data(), list(heads), trials=20)
    assert [each.settings.num_error_categories for each in found] == [1, 2, 6]
    assert [each.encoder for each in found] == ["", "lab/encoder", ""]
    assert found[0].loss == "Poisson"
    assert "presence" in found[2].loss
    assert all(each.agreement.n == 8 for each in found)
    with pytest.raises(InputError, match="Name at least one checkpoint"):
        ablation(data(), [*heads, *heads])
    with pytest.raises(InputError, match="lab has no total errors"):
        ablation(data(values={"rating": FALSE}), list(heads))


def test_the_command(heads, tmp_path, capsys):
    lines = [{"reference": "Clear lungs.", "candidate": f"Mass {n}.", "errors": n % 3, "study_id": n} for n in range(6)]
    (tmp_path / "rated.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    wanted = ["--dataset", str(tmp_path / "rated.jsonl"), "--counts", "total_errors=errors", "--trials", "10"]
    assert main(["ablation", *heads, *wanted, "--json", str(tmp_path / "out.json")]) == 0
    assert "checkpoints on 6 pairs" in " ".join(capsys.readouterr().out.split())
    assert [row["heads"] for row in json.loads((tmp_path / "out.json").read_text())] == [1, 2, 6]
    assert main(["ablation", str(tmp_path / "nowhere"), *wanted]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_counts_against_each_rater_have_a_standard_deviation():
    """GREEN's tables 2 and 4: every two experts, the metric with each; significant kinds; all kinds together."""
    first, second = np.array([1, 0, 2, 0, 3, 1, 0, 4.0]), np.array([2, 0, 1, 0, 1, 1, 0, NAN])
    values = {
        "total_errors": np.array([first, second]),
        "false_finding": np.array([first, second]),
        "missing_finding": np.zeros((2, 8)),
        "false_finding_significant": np.array([first, second]),
    }
    own = [2, 0, 2, 1, 0, 1, NAN, 4]
    columns = {"false_finding": own, "missing_finding": np.zeros(8), "false_finding_significant": own}
    judge = result("judge", higher_is_better=False, headline=own, **columns)
    report = report_of(data(raters=["anna", "ben"], values=values), judge)
    found = {(line.subject, line.rater, line.target): line for line in from_raters(report)}
    assert found["anna", "ben", "total_errors"].mae == pytest.approx((1 + 0 + 1 + 0 + 2 + 0 + 0) / 7)
    assert found["anna", "ben", "total_errors"].sd == pytest.approx(np.std([1, 0, 1, 0, 2, 0, 0]))
    assert found["judge", "anna", "false_finding_significant"].mae == pytest.approx((1 + 0 + 0 + 1 + 3 + 0 + 0) / 7)
    assert (found["judge", "ben", "total_errors"].n, ("anna", "anna", "total_errors") in found) == (6, False)
    lines = {(line.subject, line.target): line for line in counting(report)}
    mean = np.array([1.5, 0, 1.5, 0, 2, 1, 0, 4])
    errors = np.abs(np.array(own) - mean)[[0, 1, 2, 3, 4, 5, 7]]
    assert (lines["judge", "total_errors"].mae, lines["judge", "total_errors"].sd) == pytest.approx(
        (errors.mean(), errors.std())
    )
    assert lines["judge", EVERY_KIND].n == 7 + 8
    assert lines["judge", EVERY_KIND].mae == pytest.approx(errors.sum() / 15)
    rows = ALSO["counts"](report).numbers
    assert {"counts", "counts of one rater"} == {row["view"] for row in rows}
    assert all("mae_sd" in row for row in rows)


def test_attributes_of_a_judge_hold_its_errors_of_course():
    """CRIMSON's figure 4 counts eight kinds of attribute errors, the course of time among them."""
    counts = np.array([[2, 0, 1, 0, 2, 0, 0, 4.0]])
    parts = {"incorrect_location": [1, 0, 0, 0, 1, 0, 0, 2], "incorrect_severity": [0, 0, 1, 0, 0, 0, 0, 2]}
    judge = result("judge", headline=range(8), **parts, temporal=[1, 0, 0, 0, 1, 0, 0, 0])
    report = report_of(data(values={"attribute": counts}), judge)
    (line,) = [line for line in counting(report) if line.target == "attribute"]
    assert (line.mae, line.exact) == (0, 1)


def test_tables_and_numbers_come_from_one_computation(tmp_path, monkeypatch, capsys):
    """Blocks draw thousands of resamples each."""
    measured = []
    measure_blocks = papers.by_block
    monkeypatch.setattr(papers, "by_block", lambda report: measured.append(report) or measure_blocks(report))
    lines = [{"reference": "Clear lungs.", "candidate": f"Mass {n}.", "errors": n % 3, "study_id": n} for n in range(6)]
    (tmp_path / "rated.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    wanted = ["--dataset", str(tmp_path / "rated.jsonl"), "--counts", "total_errors=errors", "--trials", "10"]
    outputs = ["--json", str(tmp_path / "out.json"), "--output", str(tmp_path / "out.csv")]
    arguments = ["agree", *wanted, "--metrics", "bleu", "--also", "blocks", "sources", "--no-progress", *outputs]
    assert main(arguments) == 0
    assert "agreement block by block" in capsys.readouterr().out
    written = json.loads((tmp_path / "out.json").read_text())
    assert {row["view"] for row in written["blocks"]} == {"block pairs"}
    assert "sources" not in written  # the tables have all there is
    assert len(measured) == 1
