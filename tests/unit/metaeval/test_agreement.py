"""Agreement with radiologists, on invented scores and annotations; the RadJudge table is the authors' checker's."""

import contextlib
import io
import json
import math
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import kendalltau

from rrgmetrics.errors import InputError
from rrgmetrics.metaeval import agree, agreement
from rrgmetrics.metaeval.agreement import holds, radjudge_report, radpref_report
from rrgmetrics.metaeval.datasets import Annotation, RadPref, RankedCase, RatedPair
from rrgmetrics.reports import Context, Pair
from rrgmetrics.results import Result
from rrgmetrics.scorers.base import Mean
from rrgmetrics.specs import Key, MetricSpec

NAN = float("nan")
UNIT = (0.0, 1.0)


def result(name, higher_is_better=True, **columns):
    """A Result with a headline `name` and the keys `name_...` of the other columns."""
    keys = {name: columns.pop("headline"), **{f"{name}_{key}": values for key, values in columns.items()}}
    per_pair = {key: np.array(values, dtype=float) for key, values in keys.items()}
    spec = MetricSpec(
        name=name,
        title=name,
        scorer="",
        keys=tuple(Key(key, key, UNIT, higher_is_better) for key in keys),
        level="pair",
        empty=(0, 0, 0),
    )
    stats = np.stack(list(per_pair.values()), axis=1)
    return Result(spec, {}, per_pair, stats, Mean(tuple(keys)), f"{name}|v:0")


def radpref(*rows):
    """RadPref of pairs given as one tuple (false, missing, attribute, significant, rating) a rater."""
    return RadPref(
        tuple(
            RatedPair(f"case {i // 2}", Pair("reference", f"candidate {i}"), tuple(Annotation(*rater) for rater in row))
            for i, row in enumerate(rows)
        )
    )


# Two raters; total errors 0, 4, 1, 3, 2, 6 for both; ratings fall with them, but in case 2 the means are equal.
DATA = radpref(
    [(0, 0, 0, 0, 5), (0, 0, 0, 0, 5)],
    [(2, 1, 1, 2, 2), (2, 1, 1, 2, 1)],
    [(1, 0, 0, 0, 4), (1, 0, 0, 0, 5)],
    [(2, 1, 0, 1, 3), (2, 1, 0, 1, 2)],
    [(1, 1, 0, 1, 3), (1, 1, 0, 1, 2)],
    [(3, 2, 1, 3, 2), (3, 2, 1, 3, 3)],
)
COUNTS = {
    "headline": [0, 4, 1, 3, 2, 8],
    "false_finding": [0, 2, 1, 2, 1, 5],
    "missing_finding": [0, 1, 0, 1, 1, 2],
    "incorrect_location": [0, 1, 0, 0, 0, 0],
    "incorrect_severity": [0, 0, 0, 0, 0, 1],
    "significant": [0, 2, 0, 1, 1, 3],
}


def report_of(*results, data=DATA, trials=200):
    return radpref_report(data, {each.spec.name: each for each in results}, trials=trials)


def line(report, target, view="pairs", key=None, subject=None):
    (agreement,) = (
        each
        for each in (*report.agreements, *report.ceiling)
        if each.target == target and each.view == view and key in (None, each.key) and subject in (None, each.subject)
    )
    return agreement


# --- RadPref


def test_a_perfect_score_agrees_perfectly_whatever_its_direction():
    errors = np.array([0, 4, 1, 3, 2, 6])
    for each in (result("good", headline=-errors), result("bad", higher_is_better=False, headline=errors)):
        report = report_of(each)
        for view in ("pairs", "differences"):
            agreement = line(report, "total_errors", view, key=each.spec.name)
            assert (agreement.tau_b.value, agreement.rho.value) == (1, 1)
            assert agreement.r.value == pytest.approx(1)
            assert math.isnan(agreement.mae)
        assert line(report, "rating", key=each.spec.name).tau_b.value > 0.6


def test_differences_are_within_cases():
    # The score knows nothing of cases: C1 - C2 is -1, 2, 3 where the radiologists' errors give 4, 2, 4 fewer in C1.
    report = report_of(result("score", headline=[0, 1, 2, 0, 3, 0]))
    agreement = line(report, "total_errors", "differences", key="score")
    assert (agreement.n, agreement.tau_b.n) == (3, 3)
    assert agreement.tau_b.value == pytest.approx(0)
    assert line(report, "total_errors", key="score").n == 6


def test_a_metric_that_counts_errors_has_absolute_errors():
    report = report_of(result("counter", higher_is_better=False, **COUNTS))
    assert line(report, "total_errors", key="counter").mae == pytest.approx(2 / 6)
    assert math.isnan(line(report, "significant_errors", key="counter").mae)
    assert line(report, "false_finding").mae == pytest.approx(2 / 6)
    assert line(report, "missing_finding").mae == 0
    attribute = line(report, "attribute")
    assert attribute.key == "counter_incorrect_location + counter_incorrect_severity"
    assert (attribute.mae, attribute.tau_b.value) == (0, 1)
    total = next(each for each in report.agreements if each.target == "total_errors" and "+" in each.key)
    assert total.mae == pytest.approx(2 / 6)
    assert line(report, "significant_errors", key="counter_significant").mae == 0
    assert math.isnan(line(report, "false_finding", "differences").mae)


def test_a_score_with_categories_counts_in_these_only():
    columns = COUNTS | {"headline": [1, 0.2, 0.7, 0.3, 0.5, 0.1]}
    report = report_of(result("judge", **columns))
    assert math.isnan(line(report, "total_errors", key="judge").mae)
    assert line(report, "total_errors", key="judge").tau_b.value == 1
    assert line(report, "false_finding").mae == pytest.approx(2 / 6)


def test_categories_that_a_metric_lacks_have_no_line():
    report = report_of(result("plain", headline=[1, 0, 1, 0, 1, 0]))
    assert {each.target for each in report.agreements} == {"total_errors", "significant_errors", "rating"}


def test_unscored_pairs_are_left_out():
    report = report_of(result("score", headline=[1, 0, 0.9, NAN, 0.5, 0.1]))
    assert line(report, "total_errors", key="score").n == 5
    assert line(report, "total_errors", "differences", key="score").n == 2
    (preference,) = report.preferences
    assert (preference.share.n, preference.n_clear) == (1, 2)


def test_preferences_of_clear_cases():
    # Mean ratings prefer C1 in cases 0 and 1; case 2 has a tie.
    share = {
        "right": ([2, 1, 2, 1, 1, 9], 1.0, 0),
        "wrong": ([1, 2, 1, 2, 9, 1], 0.0, 0),
        "tied": ([1, 1, 2, 1, 0, 0], 0.75, 1),
        "constant": ([1] * 6, 0.5, 2),
    }
    for name, (scores, expected, n_ties) in share.items():
        (preference,) = report_of(result(name, headline=scores)).preferences
        assert (preference.share.value, preference.n_ties, preference.n_clear) == (expected, n_ties, 2)
    (preference,) = report_of(result("errors", higher_is_better=False, headline=[0, 4, 1, 3, 2, 2])).preferences
    assert preference.share.value == 1


def test_float_error_breaks_no_tie():
    # Means of three raters: 5/3 - 4/3 and 4/3 - 3/3 are the same difference, in floats they are not.
    data = radpref(
        [(1, 0, 0, 0, 3), (2, 0, 0, 0, 3), (2, 0, 0, 0, 3)],
        [(1, 0, 0, 0, 3), (1, 0, 0, 0, 3), (2, 0, 0, 0, 3)],
        [(1, 0, 0, 0, 3), (1, 0, 0, 0, 3), (2, 0, 0, 0, 3)],
        [(1, 0, 0, 0, 3), (1, 0, 0, 0, 3), (1, 0, 0, 0, 3)],
    )
    assert 5 / 3 - 4 / 3 != 4 / 3 - 3 / 3
    report = report_of(result("score", headline=[2, 0, 1, 0]), data=data)
    assert math.isnan(line(report, "total_errors", "differences", key="score").tau_b.value)


def test_tiny_scores_keep_their_order():
    report = report_of(result("score", headline=[6e-16, 2e-16, 5e-16, 3e-16, 4e-16, 1e-16]))
    assert line(report, "total_errors", key="score").tau_b.value == 1


def test_the_ceiling_is_the_radiologists_own_agreement():
    report = report_of(result("plain", headline=[1, 0, 1, 0, 1, 0]))
    own = line(report, "total_errors", key="others", subject="radiologist 1")
    assert (own.tau_b.value, own.mae) == (1, 0)
    pair = line(report, "rating", key="each other", subject="radiologists 1 and 2")
    assert pair.tau_b.value == pytest.approx(kendalltau([5, 2, 4, 3, 3, 2], [5, 1, 5, 2, 2, 3]).statistic)
    assert math.isnan(pair.mae)
    assert line(report, "rating", key="total_errors", subject="radiologists' mean").tau_b.value > 0.6
    assert [each.subject for each in report.ceiling_preferences] == ["radiologist 1", "radiologist 2"]


def test_one_radiologist_has_no_ceiling():
    data = RadPref(tuple(rated._replace(annotations=rated.annotations[:1]) for rated in DATA.rated))
    report = report_of(result("plain", headline=[1, 0, 1, 0, 1, 0]), data=data)
    assert {each.subject for each in report.ceiling} == {"radiologists' mean"}
    assert report.ceiling_preferences == ()
    assert "a radiologist" not in printed(report)


def test_results_do_not_depend_on_the_other_metrics():
    one, other = result("one", headline=[1, 0, 1, 0, 0, 0.5]), result("other", headline=[1, 0, 0.4, 0, 0, 0.5])
    assert report_of(one).agreements == report_of(other, one).agreements[6:]


def printed(report, width=80):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    report.print(console)
    return console.file.getvalue()


def test_tables_of_radpref():
    text = printed(
        report_of(
            result("counter", higher_is_better=False, **COUNTS),
            result("plain", headline=[1, 0, NAN, 0, 1, 0]),
            result("silent", headline=[NAN] * 6),
        )
    )
    assert "counter ↓" in text
    assert "plain ↑" in text
    assert "nan" not in text
    assert "…" not in text
    rows = [row.split() for row in text.splitlines()]
    assert ["B", "missing"] in [row[:2] for row in rows]
    assert ["total", "errors", "–", "–", "–", "0"] in rows
    assert all(len(row) <= 80 for row in text.splitlines())


def test_json_of_radpref():
    written = report_of(result("counter", higher_is_better=False, **COUNTS)).to_dict()
    assert json.loads(json.dumps(written))["agreements"][0]["tau_b"]["n"] == 6
    assert (written["n_pairs"], written["n_cases"], written["n_raters"]) == (6, 3, 2)
    assert written["signatures"] == {"counter": "counter|v:0"}


def test_plots(tmp_path):
    report = report_of(result("rouge", headline=[1, 0, 0.9, 0.2, 0.5, NAN]), result("bleu", headline=[NAN] * 6))
    paths = report.plot(tmp_path / "plots")
    assert [path.name for path in paths] == ["rouge.png", "bleu.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
    with pytest.raises(InputError, match=r"rouge\.png exists; pass --force"):
        report.plot(tmp_path / "plots")
    report.plot(tmp_path / "plots", force=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file cannot be made: File exists"):
        report.plot(tmp_path / "file")


# --- RadJudge


@pytest.mark.parametrize(
    ("expected", "scores", "higher_is_better", "passed"),
    [
        (["C1 > C2"], {"C1": 0.5, "C2": 0.4}, True, True),
        (["C1 > C2"], {"C1": 0.5, "C2": 0.5}, True, False),
        (["C1 > C2"], {"C1": 0.5001, "C2": 0.5}, True, True),
        (["C1 = C2"], {"C1": 0.5, "C2": 0.509}, True, True),
        (["C1 = C2"], {"C1": 0.5, "C2": 0.51}, True, False),
        (["C1 = C2"], {"C1": 1.0, "C2": 0.99}, True, False),
        (["C1 > C2", "C2 > C3"], {"C1": 1, "C2": 0.5, "C3": 0}, True, True),
        (["C1 > C2", "C2 > C3"], {"C1": 1, "C2": 0.5, "C3": 0.5}, True, False),
        (["C1 > C2"], {"C1": 1.0, "C2": 2.0}, False, True),
        (["C1 > C2"], {"C1": 1.0, "C2": 2.0}, True, False),
        (["C1>C2"], {"C1": 2, "C2": 1}, True, False),
        (["C1 > C4"], {"C1": 2, "C2": 1}, True, False),
        (["C1 > C2"], {"C1": NAN, "C2": 1}, True, False),
        (["C1 = C2"], {"C1": NAN, "C2": NAN}, True, False),
    ],
)
def test_relations_as_the_authors_checker_judges_them(expected, scores, higher_is_better, passed):
    assert all(holds(relation, scores, higher_is_better=higher_is_better) for relation in expected) is passed


def case(name, category, n_candidates, *expected):
    pairs = {f"C{i + 1}": Pair("Left effusion.", f"text {i}") for i in range(n_candidates)}
    return RankedCase(name, category, pairs, expected)


CASES = (
    case("1a", "sides", 2, "C1 > C2"),
    case("1b", "sides", 3, "C1 > C2", "C2 = C3"),
    case("2a", "ages", 2, "C1 = C2"),
)


def test_cases_passed_by_category():
    results = {
        "up": result("up", headline=[0.9, 0.1, 0.9, 0.5, 0.5, 0.00004, 0.01]),
        "down": result("down", higher_is_better=False, headline=[0, 1, 1, 0, 0, NAN, NAN]),
    }
    report = radjudge_report(CASES, results)
    assert [report.passed("up", category) for category in report.categories] == [(2, 2), (0, 1)]  # 0.0000 to 0.0100
    assert report.passed("up") == (2, 3)
    assert report.passed("down") == (1, 3)
    written = report.to_dict()
    assert json.loads(json.dumps(written))["metrics"]["down"]["n_unscored"] == 2
    assert written["metrics"]["up"]["passed_by_category"] == {"sides": 2, "ages": 0}
    assert written["n_cases_by_category"] == {"sides": 2, "ages": 1}
    text = printed(report)
    assert "2/2" in text
    assert "unscored" in text
    with pytest.raises(InputError, match="RadJudge has no ratings"):
        report.plot("anywhere")


# --- agree


@pytest.mark.parametrize("dataset", ["radpref", "radpref:", "other:path", ""])
def test_unknown_data_sets(dataset):
    with pytest.raises(InputError, match="write radpref:PATH or radjudge:PATH"):
        agree(dataset, ["bleu"])


def test_agree_scores_with_contexts(tmp_path, monkeypatch):
    seen = {}

    class Prepared(contextlib.nullcontext):
        def __enter__(self):
            return self

        def score_pairs(self, pairs, *, progress):
            seen.update(pairs=pairs, progress=progress)
            return {"made_up": result("made_up", headline=[1, 0])}

    monkeypatch.setattr(agreement, "prepare", lambda names, **runtime: seen.update(runtime=runtime) or Prepared())
    judged = {
        "id": "2a",
        "category": "Age",
        "reference": "Calcified aorta.",
        "candidates": {"C1": {"text": "Clear.", "context": {"age": "30"}}, "C2": {"text": "Clear lungs."}},
        "expected": "C1 > C2",
    }
    (tmp_path / "cases.jsonl").write_text(json.dumps(judged))
    report = agree(f"radjudge:{tmp_path / 'cases.jsonl'}", ["made_up"], batch_size=3, progress=False)
    assert report.passed("made_up") == (1, 1)
    assert seen["pairs"] == [
        Pair("Calcified aorta.", "Clear.", Context(30.0)),
        Pair("Calcified aorta.", "Clear lungs."),
    ]
    assert (seen["runtime"], seen["progress"]) == ({"batch_size": 3, "device": None}, False)


def test_agree_from_file_to_report(tmp_path):
    rater = {f"{kind}{end}": 0 for kind in ("false", "missing", "attribute") for end in ("", "_significant")}
    rows = [
        {
            "case": number,
            "reference": "Small left effusion. No pneumothorax.",
            "candidates": {
                "C1": {"report": "Small left effusion.", "raters": [rater | {"rating": 5}] * 2},
                "C2": {"report": "Clear lungs.", "raters": [rater | {"rating": 1, "missing": 1}] * 2},
            },
        }
        for number in range(3)
    ]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)))
    report = agree(f"radpref:{tmp_path / 'cases.jsonl'}", ["rouge", "bleu?text=lower"], trials=50, progress=False)
    assert [each.share.value for each in report.preferences] == [1, 1]
    assert line(report, "total_errors", key="rouge").tau_b.value == 1
    assert report.plot(tmp_path)[1].name == "bleu__text_lower.png"


def test_import_is_cheap():
    script = (
        "import sys, rrgmetrics.metaeval; print([m for m in ('torch', 'matplotlib', 'evaluate') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_plots_leave_matplotlib_as_it_was(tmp_path, run_python):
    script = """
import matplotlib, sys
before = dict(matplotlib.rcParams)
from rrgmetrics.metaeval import agree
agree(sys.argv[1], ["rouge"], trials=10, progress=False).plot("plots")
print(dict(matplotlib.rcParams) == before)
"""
    rater = {f"{kind}{end}": 0 for kind in ("false", "missing", "attribute") for end in ("", "_significant")}
    candidate = {"report": "Clear.", "raters": [rater | {"rating": 3}]}
    row = {"case": 1, "reference": "Clear lungs.", "candidates": {"C1": candidate, "C2": candidate}}
    (tmp_path / "one.jsonl").write_text(json.dumps(row))
    assert run_python(script, f"radpref:{tmp_path / 'one.jsonl'}").strip() == "True"
