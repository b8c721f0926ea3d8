"""Agreement with radiologists, on invented scores and annotations; the RadJudge table is the authors' checker's."""

import contextlib
import csv
import io
import json
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from made_results import result
from rich.console import Console
from scipy.stats import kendalltau, linregress
from scipy.stats import t as student

from rrgmetrics.cli import main
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval import Rated, agree, agree_on, measure
from rrgmetrics.metaeval.blocks import by_block
from rrgmetrics.metaeval.model import label_of
from rrgmetrics.metaeval.plots import regression, scatter, write_plots
from rrgmetrics.metaeval.ranked import Ranked, RankedCase, holds, ranked_report
from rrgmetrics.metaeval.rated import Published
from rrgmetrics.reporting.agreement import agreement_tables, pooled_table
from rrgmetrics.reporting.documents import latex, markdown
from rrgmetrics.reporting.papers import ALSO
from rrgmetrics.reports import Context, Pair

NAN = float("nan")


TARGETS = ("false_finding", "missing_finding", "attribute", "significant_errors", "rating")


def rated(*rows, of_study=2, **changes):
    """Pairs given as one tuple (false, missing, attribute, significant, rating) a rater; two make a study."""
    table = np.array(rows, dtype=float).transpose(1, 0, 2)  # raters, pairs, targets
    values = {"total_errors": table[..., :3].sum(axis=2)}
    values |= {target: table[..., number] for number, target in enumerate(TARGETS)}
    about = {
        "name": "radpref",
        "pairs": [Pair("reference", f"candidate {i}") for i in range(len(rows))],
        "studies": [f"case {i // of_study}" for i in range(len(rows))],
        "raters": [f"radiologist {i + 1}" for i in range(len(table))],
        "kinds": ("false_finding", "missing_finding", "incorrect_location", "incorrect_severity"),
    }
    order = ("total_errors", "significant_errors", "rating", *TARGETS[:3])
    return Rated(**about | {"values": {target: values[target] for target in order}} | changes)


# Two raters; total errors 0, 4, 1, 3, 2, 6 for both; ratings fall with them, but in case 2 the means are equal.
DATA = rated(
    [(0, 0, 0, 0, 5), (0, 0, 0, 0, 5)],
    [(2, 1, 1, 2, 2), (2, 1, 1, 2, 1)],
    [(1, 0, 0, 0, 4), (1, 0, 0, 0, 5)],
    [(2, 1, 0, 1, 3), (2, 1, 0, 1, 2)],
    [(1, 1, 0, 1, 3), (1, 1, 0, 1, 2)],
    [(3, 2, 1, 3, 2), (3, 2, 1, 3, 3)],
)
# The same pairs of six studies: enough for intervals, labels and p-values.
TWICE = replace(
    DATA,
    pairs=DATA.pairs * 2,
    studies=[*DATA.studies, *(f"{study} again" for study in DATA.studies)],
    values={target: np.tile(values, 2) for target, values in DATA.values.items()},
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
    return measure(data, {each.spec.name: each for each in results}, trials=trials)


def line(report, target, view="pairs", key=None, subject=None):
    (agreement,) = (
        each
        for each in (*report.agreements, *report.ceiling)
        if (each.target, each.view, each.subset) == (target, view, "")
        and (key == each.key or (key is None and each.key != each.subject))
        and subject in (None, each.subject)
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
    assert {each.key for each in report.agreements} == {"plain"}


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
    data = rated(
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
    pair = line(report, "rating", key="each other", subject="radiologist 1 and radiologist 2")
    assert pair.tau_b.value == pytest.approx(kendalltau([5, 2, 4, 3, 3, 2], [5, 1, 5, 2, 2, 3]).statistic)
    assert math.isnan(pair.mae)
    assert line(report, "rating", key="total_errors", subject="raters' mean").tau_b.value > 0.6
    assert [each.subject for each in report.ceiling_preferences] == ["radiologist 1", "radiologist 2"]


def test_one_radiologist_has_no_ceiling():
    data = replace(DATA, raters=DATA.raters[:1], values={target: values[:1] for target, values in DATA.values.items()})
    report = report_of(result("plain", headline=[1, 0, 1, 0, 1, 0]), data=data)
    assert {each.subject for each in report.ceiling} == {"raters' mean"}
    assert report.ceiling_preferences == ()
    assert "no ceiling known" in printed(report)


def test_results_do_not_depend_on_the_other_metrics():
    one, other = result("one", headline=[1, 0, 1, 0, 0, 0.5]), result("other", headline=[1, 0, 0.4, 0, 0, 0.5])
    both = [each for each in report_of(other, one).agreements if each.subject == "one"]
    assert repr(report_of(one).agreements) == repr(tuple(both))


def printed(report, width=80):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    for table in agreement_tables([report]):
        console.print(table, "")
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


def test_marks_are_explained_where_a_table_has_them():
    alone, both = (
        next(agreement_tables([report_of(*results, data=TWICE)])).note
        for results in (
            [result("exact", headline=[1, 0, 1, 0, 1, 0] * 2)],
            [result("one", headline=[1, 0, 1, 0, 0, 0.5] * 2), result("other", headline=[0, 0, 1, 1, 0, 1] * 2)],
        )
    )
    assert "bold" not in alone
    assert both.startswith("Best in bold. °: not significant")


def test_few_studies_have_no_interval_no_label_and_no_p():
    """No exact test over five studies reaches .05, however well the scores agree."""
    errors = DATA.mean("total_errors")
    few = report_of(result("good", headline=-errors), result("bad", headline=errors))
    for each in (*few.agreements, *few.ceiling):
        assert np.isnan([each.tau_b.low, each.rho.high, each.p_value]).all()
        assert each.label == ""
    assert all(math.isnan(each.p_corrected) for each in few.between)
    summary, pooled, *others = agreement_tables([few])
    reason = "fewer than 6 studies, too few for an interval, a label or a p-value"
    assert all(reason in table.note for table in (summary, pooled, others[-1]))
    assert "1.00?" in markdown([summary])
    assert any(reason in note for note in few.to_dict()["notes"])
    scores = {"good": np.tile(-errors, 2), "bad": np.tile(errors, 2)}
    enough = report_of(*(result(name, headline=values) for name, values in scores.items()), data=TWICE)
    assert [line(enough, "total_errors", key=name).label for name in ("good", "bad")] == ["aligned", "misaligned"]
    assert reason not in pooled_table(enough).note


def test_metrics_that_scored_other_pairs_have_their_number_in_the_first_table():
    whole, part = result("whole", headline=range(6)), result("part", headline=[0, 1, 2, 3, 4, NAN])
    alike, unlike = (next(agreement_tables([report_of(*results)])) for results in ([whole], [whole, part]))
    assert "pairs" not in alike.heads
    assert unlike.heads[-1] == "pairs"
    assert [line[-1] for line in unlike.groups[0].lines] == ["6", "5"]
    assert "the table of differences compares metrics on the pairs that both scored" in unlike.note


def test_json_of_radpref():
    written = report_of(result("counter", higher_is_better=False, **COUNTS)).to_dict()
    assert json.loads(json.dumps(written))["agreements"][0]["tau_b"]["n"] == 6
    assert (written["n_pairs"], written["n_cases"], written["n_raters"]) == (6, 3, 2)
    assert written["signatures"] == {"counter": "counter|v:0"}


def test_plots(tmp_path):
    report = report_of(result("rouge", headline=[1, 0, 0.9, 0.2, 0.5, NAN]), result("bleu", headline=[NAN] * 6))
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "radpref_forest.png").write_text("")
    with pytest.raises(InputError, match=r"radpref_forest\.png exists; pass force=True"):
        write_plots(report, tmp_path / "plots")
    paths = write_plots(report, tmp_path / "plots", force=True)
    drawn = ("forest", "kinds", "counts", "raters", "rouge", "bleu")
    assert [path.name for path in paths] == [f"radpref_{name}.png" for name in drawn]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file cannot be created: File exists"):
        write_plots(report, tmp_path / "file")


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
    report = ranked_report(Ranked("radjudge", CASES), results)
    assert [report.passed("up", category) for category in report.categories] == [(2, 2), (0, 1)]  # 0.0000 to 0.0100
    assert report.passed("up") == (2, 3)
    assert report.passed("down") == (1, 3)
    written = report.to_dict()
    assert json.loads(json.dumps(written))["metrics"]["down"]["n_unscored"] == 2
    assert written["metrics"]["up"]["passed_by_category"] == {"sides": 2, "ages": 0}
    assert written["n_cases_by_category"] == {"sides": 2, "ages": 1}
    text = printed(report)
    assert "2/2" in text
    assert "not scored" in text


# --- agree


def test_agree_scores_with_contexts(tmp_path, monkeypatch):
    seen = {}

    class Prepared(contextlib.nullcontext):
        def __enter__(self):
            return self

        def score_pairs(self, pairs, *, progress):
            seen.update(pairs=pairs, progress=progress)
            return {"made_up": result("made_up", headline=[1, 0])}

    monkeypatch.setattr(
        sys.modules["rrgmetrics.metaeval.agree"],
        "prepare",
        lambda names, **runtime: seen.update(runtime=runtime) or Prepared(),
    )
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
    assert write_plots(report, tmp_path)[-1].name == "radpref_bleu__text_lower.png"


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
from rrgmetrics.metaeval.plots import regression, scatter, write_plots
write_plots(agree(sys.argv[1], ["bleu"], trials=10, progress=False), "plots")
print(dict(matplotlib.rcParams) == before)
"""
    rater = {f"{kind}{end}": 0 for kind in ("false", "missing", "attribute") for end in ("", "_significant")}
    candidate = {"report": "Clear.", "raters": [rater | {"rating": 3}]}
    row = {"case": 1, "reference": "Clear lungs.", "candidates": {"C1": candidate, "C2": candidate}}
    (tmp_path / "one.jsonl").write_text(json.dumps(row))
    assert run_python(script, f"radpref:{tmp_path / 'one.jsonl'}").strip() == "True"


# --- the general model


def three(**changes):
    """Four studies of three candidates; one rater saw the first two studies, both the third, the other the fourth."""
    rows = [[(n % 3, (n * n) % 4, 0, n % 2, 5 - n % 4)] * 2 for n in range(12)]
    data = rated(*rows, of_study=3, name="lab", **changes)
    values = {target: each.copy() for target, each in data.values.items()}
    for each in values.values():
        each[1, :6] = np.nan
        each[0, 9:] = np.nan
    return replace(data, values=values)


def test_means_are_over_the_raters_who_judged():
    data = rated([(1, 0, 0, 0, 1), (3, 0, 0, 0, 2)], [(1, 0, 0, 0, 5), (NAN, 0, 0, 0, NAN)])
    assert data.mean("false_finding").tolist() == [2, 1]
    assert data.mean("rating").tolist() == [1.5, 5]


def test_within_studies_is_the_mean_of_each_studys_tau_b():
    data = three()
    scores = np.array([3, 1, 2, 1, 2, 3, 5, 5, 5, 0, 2, 1.0])
    report = report_of(result("score", headline=scores), data=data)
    errors = data.mean("total_errors")
    taus = [kendalltau(scores[3 * n : 3 * n + 3], -errors[3 * n : 3 * n + 3]).statistic for n in (0, 1, 3)]
    found = line(report, "total_errors", "within", key="score")
    assert found.tau_b.value == pytest.approx(np.mean(taus))  # the third study's scores are all alike: it drops out
    assert (found.n, found.tau_b.n) == (3, 3)
    assert math.isnan(found.rho.value)
    assert not [each for each in report.agreements if each.view == "differences"]  # these need two candidates


def test_preferences_are_over_every_two_candidates_of_a_study():
    data = three()
    (preference,) = report_of(result("rater", headline=data.mean("rating")), data=data).preferences
    assert (preference.share.value, preference.n_ties) == (1, 0)
    first, second = data.candidates_compared()
    assert len(first) == 12
    assert preference.n_clear == int((data.mean("rating")[first] != data.mean("rating")[second]).sum())


def test_raters_who_shared_too_few_pairs_have_no_ceiling():
    report = report_of(result("score", headline=range(12)), data=three())
    others = [each for each in report.ceiling if each.key == "others" and each.target == "total_errors"]
    assert {each.n for each in others if each.view == "pairs"} == {3}
    alone = three()
    for each in alone.values.values():
        each[1, 6:9] = np.nan
    assert not [
        each for each in report_of(result("score", headline=range(12)), data=alone).ceiling if each.key == "others"
    ]


def test_bias_is_counted_less_annotated():
    report = report_of(result("counter", higher_is_better=False, **COUNTS))
    assert line(report, "false_finding").bias == pytest.approx(2 / 6)
    assert line(report, "missing_finding").bias == 0
    assert math.isnan(line(report, "false_finding", "differences").bias)


def test_each_kind_is_held_against_the_headline():
    report = report_of(result("plain", headline=[0, -1, 0, -1, -1, -2]))
    kind = line(report, "missing_finding", key="plain")
    assert (kind.tau_b.value, kind.view) == (1, "pairs")
    assert "B missing" in printed(report)


def test_sections_and_sources():
    labels = {"section": ["findings"] * 6 + ["impression"] * 6, "source": ["a", "b", "c"] * 4, "origin": ["one"] * 12}
    data = three(labels=labels)
    scores = -data.mean("total_errors")
    scores[6:] *= -1
    report = report_of(result("score", headline=scores), data=data)
    taus = {
        each.subset: each.tau_b.value for each in report.agreements if each.subset and each.target == "total_errors"
    }
    assert set(taus) == {"section findings", "section impression", "source a", "source b", "source c"}
    assert (taus["section findings"], taus["section impression"]) == (1, -1)
    text = printed(report)
    assert "by section" in text
    assert "by source" in text
    assert "origin" not in text  # one text divides nothing


def test_labels():
    data = rated(*[[(n, 0, 0, 0, 3)] for n in range(20)])
    values = {
        "good": -np.arange(20.0),
        "bad": np.arange(20.0),
        "chance": np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4.0]),
        "constant": np.ones(20),
    }
    report = report_of(*(result(name, headline=scores) for name, scores in values.items()), data=data)
    labels = {name: line(report, "total_errors", key=name).label for name in values}
    assert labels == {"good": "aligned", "bad": "misaligned", "chance": "not significant", "constant": ""}
    assert label_of(line(report, "total_errors", key="good").tau_b) == "aligned"
    assert "aligned, tau-b is significantly above 0" in pooled_table(report).note


def test_two_metrics_are_compared_on_the_pairs_that_both_scored():
    errors = DATA.mean("total_errors")
    good, weak = np.tile(-errors, 2), np.array([1, 0, 1, 0, 1, NAN] * 2)
    results = [result("good", headline=good), result("weak", headline=weak), result("same", headline=2 * good)]
    report = report_of(*results, data=TWICE)
    by_names = {(each.first, each.second): each for each in report.between}
    assert set(by_names) == {("good", "weak"), ("good", "same"), ("weak", "same")}
    compared = by_names["good", "weak"]
    assert compared.taus == pytest.approx((1, kendalltau(weak, good, nan_policy="omit").statistic))
    assert compared.difference.n == 10
    assert compared.difference.value == pytest.approx(compared.taus[0] - compared.taus[1])
    same = by_names["good", "same"]
    assert same.difference[:3] == (0, 0, 0)
    assert same.p_value == same.p_corrected == 1
    assert compared.p_corrected == pytest.approx(min(1, 3 * compared.p_value))  # Holm: the smallest of three


def test_corrections_are_named():
    scores = {"a": range(6), "b": [1, 0, 1, 0, 1, 0], "c": [0, 2, 1, 3, 5, 4]}  # a single test would not be corrected
    metrics = {name: result(name, headline=values) for name, values in scores.items()}
    report = measure(DATA, metrics, trials=50, correction="bh")
    assert "Benjamini–Hochberg" in printed(report)


def test_several_data_sets_stand_in_one_table(tmp_path):
    reports = [
        report_of(result("score", headline=range(6))),
        report_of(result("score", headline=range(12)), data=three()),
    ]
    first, *others = agreement_tables(reports)
    assert first.heads == ("metric", "radpref", "lab")
    assert len(others) > 4
    text = markdown([first])
    assert text.splitlines()[2] == "| metric | radpref | lab |"
    assert "| **total errors, over all pairs** |" in text


def test_a_part_of_a_data_set_has_its_difference_from_the_whole():
    """CREPE's table 2: ReXVal, ReXVal without its equal pairs, and the difference."""
    keep = np.array([False, True, True, True, True, True])
    scores = [5, 2, 1, 4, 3, 0]
    whole = report_of(result("score", headline=scores))
    part = report_of(result("score", headline=scores[1:]), data=DATA.only(keep, name="star"))
    first, *_ = agreement_tables([whole, part])
    assert first.heads == ("metric", "radpref", "star", "second minus first")
    one, other = (line(each, "total_errors", key="score").tau_b.value for each in (whole, part))
    assert other < one
    (row, *_) = [each.split("|") for each in markdown([first]).splitlines() if "score" in each]
    assert float(row[4].strip(" *").replace("−", "-")) == pytest.approx(other - one, abs=0.005)


def test_where_raters_share_no_pairs_no_ceiling_is_known():
    apart = {target: np.where(np.eye(2, 6, dtype=bool), values, NAN) for target, values in DATA.values.items()}
    report = report_of(result("score", headline=range(6)), data=replace(DATA, values=apart))
    assert report.reached("total_errors") == ()
    assert "No two raters rated the same pairs, so the ceiling is unknown." in " ".join(printed(report).split())
    shared = report_of(result("score", headline=range(6)))
    assert "the ceiling is unknown" not in printed(shared)
    assert shared.to_dict()["agreements"][0]["ceiling"] == [1, 1]


def test_documents():
    counts = {name: values * 2 for name, values in COUNTS.items()}
    report = report_of(result("counter_1", higher_is_better=False, **counts), data=TWICE)
    tables = list(agreement_tables([report]))
    written = latex(tables)
    assert written.count(r"\begin{table}") == written.count(r"\end{table}") == len(tables)
    assert r"counter\_1 $\downarrow$ &" in written
    assert "↓" not in written
    lines = markdown(tables).splitlines()
    assert sum(line.startswith("| --- |") for line in lines) == len(tables)
    assert "| --- | ---: | --- | ---: | ---: | ---: | ---: |" in lines  # numbers to the right, the label to the left


def test_rows_are_every_number():
    report = report_of(result("counter", higher_is_better=False, **COUNTS))
    rows = list(report.rows())
    assert len(rows) == len(report.agreements) + len(report.ceiling)
    assert {row["label"] for row in rows} <= {"aligned", "misaligned", "not significant", ""}


def test_published_scores_are_set_beside_ours():
    """The difference, the correlation with ours, and the published scores' own agreement with the raters."""
    theirs = {
        "plain4": Published(np.array([1, 0.2, 0.8, 0.4, 0.6, NAN]), ("plain",)),
        "distance": Published(np.array([0, 4, 1, 3, 2, 6.0]), higher_is_better=False),
        "asked": Published(np.array([1, 0, 1, 0, 1, 0.0]), ("bleu", "rouge")),
    }
    ours = result("plain", headline=[1, 0.1, 0.8, 0.4, NAN, 0.3])
    report = report_of(ours, data=replace(DATA, published=theirs))
    (beside,) = report.beside
    assert (beside.published, beside.subject, beside.key) == ("plain4", "plain", "plain")
    assert (beside.n, beside.mean, beside.mean_absolute, beside.largest) == pytest.approx((4, -0.025, 0.025, 0.1))
    assert (beside.tau_b.value, beside.rho.value) == (1, 1)
    own = {(each.key, each.target, each.view): each for each in report.published}
    assert own["distance", "total_errors", "pairs"].tau_b.value == 1
    assert own["plain4", "total_errors", "pairs"].n == 5
    assert {target for _, target, _ in own} == {"total_errors", "significant_errors", "rating"}
    written = json.loads(json.dumps(report.to_dict()))
    assert written["beside"][0]["largest"] == pytest.approx(0.1)
    assert {each["key"] for each in written["published"]} == set(theirs)
    row = next(report.rows())
    assert row["target"] == "published plain4"
    assert (row["bias"], row["largest"]) == pytest.approx((-0.025, 0.1))
    text = printed(report)
    assert "radpref: published scores and ours" in text
    assert "not scored: bleu or rouge" in text
    assert "none of ours" in text
    assert "\n  distance ↓" in text
    assert "\ndistance, published" in text
    assert report_of(ours).published == report_of(ours).beside == ()


LAB = [
    ["case", "truth", "draft", "model", "errs", "stars"],
    ["1", "Small left effusion.", "Small left effusion.", "a", 0, 5],
    ["1", "Small left effusion.", "Clear lungs.", "b", 2, 2],
    ["2", "Right lower lobe mass. No effusion.", "Right mass. No effusion.", "a", 1, 4],
    ["2", "Right lower lobe mass. No effusion.", "Large right effusion.", "b", 3, 1],
    ["3", "Clear lungs.", "Clear lungs.", "a", 0, 5],
    ["3", "Clear lungs.", "Cardiomegaly.", "b", 1, 3],
]


@pytest.fixture
def lab(tmp_path):
    with (tmp_path / "lab.csv").open("w", newline="") as file:
        csv.writer(file).writerows(LAB)
    return tmp_path / "lab.csv"


def command(lab, *arguments):
    columns = "reference=truth,candidate=draft,study=case,source=model"
    return [
        *("agree", "--dataset", str(lab), "--columns", columns, "--counts", "total_errors=errs"),
        *("--ratings", "rating=stars", "--metrics", "rouge,bleu", "--trials", "20", "--no-progress", *arguments),
    ]


def test_a_lab_measures_its_own_file(lab, tmp_path, capsys):
    names = [str(tmp_path / f"out.{suffix}") for suffix in ("csv", "md", "tex")]
    arguments = ["--json", str(tmp_path / "out.json"), "--output", *names, "--plots", str(tmp_path / "plots")]
    assert main(command(lab, *arguments)) == 0
    assert "lab, 6 pairs of 3 studies" in capsys.readouterr().out
    written = json.loads((tmp_path / "out.json").read_text())
    assert (written["dataset"], written["n_pairs"]) == ("lab", 6)
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["subject"] for row in rows} == {"rouge", "bleu", "raters' mean"}
    assert (tmp_path / "out.tex").read_text().startswith("% \\usepackage{booktabs,graphicx}")
    assert {path.name for path in (tmp_path / "plots").iterdir()} == {
        f"lab_{x}.png" for x in ("forest", "counts", "rouge", "bleu")
    }
    assert main(command(lab, "--json", str(tmp_path / "out.json"))) == 2
    assert "exists; pass --force" in capsys.readouterr().err


def test_notes_are_of_the_columns_that_are_shown(lab, tmp_path, capsys):
    assert main(command(lab)) == 0
    printed = capsys.readouterr().out
    assert "C1 − C2" in printed
    assert "  No two raters" not in printed
    third = [[case, truth, "Small left effusion.", "c", 1, 2] for case, truth, *_ in LAB[1::2]]
    with (tmp_path / "three.csv").open("w", newline="") as file:
        csv.writer(file).writerows([*LAB, *third])
    assert main(command(tmp_path / "three.csv")) == 0
    assert "C1 − C2" not in capsys.readouterr().out
    with (tmp_path / "one.csv").open("w", newline="") as file:
        csv.writer(file).writerows(LAB[:2])
    assert main(command(tmp_path / "one.csv")) == 0
    assert "one, 1 pair of 1 study" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--output", "out.docx"), "out.docx must end in"),
        (("--columns", "study"), "--columns study: write FIELD=COLUMN"),
        (("--counts", "nothing"), "has no column 'nothing', but 'case'"),
        (("--dataset", "radpref:nowhere"), "nowhere does not exist"),
        (("--metrics", "nothing"), "nothing"),
    ],
)
def test_wrong_use(lab, capsys, arguments, message):
    assert main(command(lab, *arguments)) == 2
    assert message in capsys.readouterr().err


def test_two_data_sets_of_one_name(lab):
    from rrgmetrics.metaeval.loaders import load_table

    data = load_table(lab, columns={"reference": "truth", "candidate": "draft"}, counts=["errs"])
    with pytest.raises(InputError, match="Two data sets are called 'lab'"):
        agree_on([data, data], ["bleu"], progress=False)


# --- targets and blocks


def test_a_chosen_target_is_the_main_one_everywhere():
    report = measure(
        DATA.with_targets(["missing_finding", "unknown", "total_errors"]),
        {"a": result("a", headline=range(6))},
        trials=5,
    )
    assert report.data.main == ("missing_finding", "total_errors")
    assert line(report, "missing_finding", "within", key="a").n == 3
    shown = printed(report)
    assert "B missing" in shown.split("pairs, ")[0]
    assert "rating" not in shown.split("pairs, 95%")[0]
    with pytest.raises(InputError, match="radpref has none of nothing; it has: total_errors, significant_errors"):
        DATA.with_targets(["nothing"])


def test_insignificant_errors_are_counted_by_what_is_left():
    values = {**DATA.values, "insignificant_errors": DATA.values["total_errors"] - DATA.values["significant_errors"]}
    counter = {**COUNTS, "errors": [0, 4, 1, 3, 2, 6], "errors_significant": [0, 2, 0, 1, 1, 3]}
    report = report_of(result("judge", higher_is_better=False, **counter), data=replace(DATA, values=values))
    own = line(report, "insignificant_errors", key="judge_errors - judge_errors_significant")
    assert (own.mae, own.mae_sd, own.tau_b.value) == (0, 0, 1)


def test_a_single_tau_has_the_p_value_that_papers_print():
    headline = [0, 1, 2, 0, 3, 0.5] * 2
    report = report_of(result("score", headline=headline), data=TWICE)
    agreement = line(report, "total_errors", key="score")
    assert agreement.p_value == pytest.approx(kendalltau(headline, -TWICE.mean("total_errors")).pvalue)
    within = line(report, "total_errors", "within", "score")
    assert math.isnan(within.p_value)


def test_each_row_has_its_ceiling():
    noisy = {target: values.copy() for target, values in DATA.values.items()}
    noisy["total_errors"][1] = [0, 4, 3, 1, 2, 6]
    data = replace(DATA, values=noisy, labels={"source": ["a", "b"] * 3})
    rows = list(report_of(result("score", headline=range(6)), data=data).rows())
    tau = kendalltau(*noisy["total_errors"]).statistic
    chosen = [row for row in rows if (row["subject"], row["target"]) == ("score", "total_errors")]
    whole = next(row for row in chosen if (row["view"], row["subset"]) == ("pairs", ""))
    assert (whole["ceiling_low"], whole["ceiling_high"]) == pytest.approx((tau, tau))
    part = next(row for row in chosen if row["subset"] == "source a")
    assert part["ceiling_low"] == pytest.approx(kendalltau(*noisy["total_errors"][:, ::2]).statistic)
    assert {"p_value", "rho_low", "r_high", "mae_sd"} < set(whole)


def test_blocks_are_those_of_the_papers():
    significant = DATA.values["significant_errors"]
    values = {
        **DATA.values,
        "insignificant_errors": DATA.values["total_errors"] - significant,
        "false_finding_significant": significant,
    }
    data = replace(DATA, values=values, labels={"section": ["findings"] * 4 + ["impression"] * 2})
    report = report_of(result("score", headline=[0, 1, 2, 0, 3, 0]), data=data)
    found = list(by_block(report))
    assert [(block.target, block.subset) for block in found] == [
        ("total_errors", ""),
        ("significant_errors", ""),
        ("insignificant_errors", ""),
        ("significant_errors", "section findings"),
        ("significant_errors", "section impression"),
        ("false_finding_significant", ""),
    ]
    total, _, insignificant, findings, impression, _ = found
    assert str(total.pairs[0]) == str(line(report, "total_errors", key="score"))  # NaN is not NaN
    assert str(total.within[0]) == str(line(report, "total_errors", "within", key="score"))
    assert insignificant.within[0].n == 3
    assert (findings.pairs[0].n, findings.within[0].n) == (4, 2)
    assert impression.pairs[0].n == 2
    assert total.ceiling == pytest.approx((1, 1))
    (table,), numbers = ALSO["blocks"](report)
    shown = markdown([table])
    assert "significant errors, section findings" in shown
    assert "A false, significant" in shown
    views = {row["view"] for row in numbers}
    assert views == {"block pairs", "block within"}


def test_the_scatter_has_a_line_with_its_band_and_three_correlations():
    report = report_of(result("score", headline=[6, 1, 4, 3, 2, 0]))
    axes = scatter(report, "score").axes[0]
    title = axes.get_title()
    found = line(report, "total_errors", key="score")
    for name, value in (("tau-b", found.tau_b), ("rho", found.rho), ("r", found.r)):
        assert f"{name} {value.value:.2f} [" in title
    assert len(axes.lines) == 1
    assert any(type(each).__name__ == "FillBetweenPolyCollection" for each in axes.collections)
    constant = scatter(report_of(result("same", headline=[1] * 6)), "same").axes[0]
    assert len(constant.lines) == 0


def test_the_regression_is_that_of_scipy():
    """The band at a point is the interval of the mean there; at the mean of x it is t s / sqrt(n)."""
    x, y = np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 2, 4, 4, 7])
    fit = linregress(x, y)
    fitted, margin = regression(x, y, np.array([0.0, 3.0]))
    assert fitted == pytest.approx([fit.intercept, fit.intercept + 3 * fit.slope])
    rest = y - fit.intercept - fit.slope * x
    spread = math.sqrt((rest**2).sum() / 3)
    assert margin == pytest.approx([student.ppf(0.975, 3) * fit.intercept_stderr, 3.182446 * spread / math.sqrt(5)])
    assert np.isnan(regression(x[:2], y[:2], x)[1]).all()
