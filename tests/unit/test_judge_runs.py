"""A judge that is asked several times: its runs are kept apart, scores are means, and the noise has its sources."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
from green_replies import green_reply

import rrgmetrics
from rrgmetrics import InputError
from rrgmetrics.cli import main
from rrgmetrics.metaeval.agreement import measure
from rrgmetrics.metaeval.judge_noise import _noise, noise_reports
from rrgmetrics.metaeval.judge_runs import runs_of, spread_of
from rrgmetrics.metaeval.rated import Rated
from rrgmetrics.reports import Pair
from rrgmetrics.scoring.prepared import prepare

REFERENCE = "The heart is mildly enlarged. Small left effusion."
CANDIDATES = ["Mild cardiomegaly.", "Small left effusion.", "Right upper lobe mass."]


def reply(n_errors: int) -> str:
    return green_reply({"a": f"{n_errors}. " + "; ".join(["One"] * n_errors)} if n_errors else {})


@pytest.fixture
def judge(loopback, tmp_path):
    """Finds one error more each time it is asked the same; matched is always 1."""
    loopback.reset(lambda request, tries: request.say(reply(tries)))
    return lambda options="": f"green@openai:m?base_url={loopback.url}&cache={tmp_path / 'cache'}{options}"


def score(name, candidates=CANDIDATES):
    return rrgmetrics.score(name, predictions=candidates, references=[REFERENCE] * len(candidates), progress=False)[
        name
    ]


def test_a_score_is_the_mean_of_the_runs_and_each_is_kept(judge, loopback):
    result = score(judge("&runs=3"))
    assert set(loopback.asked.values()) == {3}
    np.testing.assert_allclose(result.per_pair["green"], np.mean([1, 1 / 2, 1 / 3]))
    np.testing.assert_allclose(result.per_pair["green_errors"], 1.0)
    assert sorted(result.details["green_runs"][0]["green_errors"]) == [0, 1, 2]
    assert "|runs:3|" in result.signature
    assert "runs" not in score(judge()).signature
    assert runs_of(score(judge())) is None


def test_a_missing_reference_has_no_runs(judge):
    name = judge("&runs=2")
    result = rrgmetrics.score(name, predictions=CANDIDATES[:2], references=[REFERENCE, ""], progress=False)[name]
    runs = runs_of(result)
    assert runs.shape == (2, 2)
    assert np.isnan(runs[:, 1]).all()
    assert not np.isnan(runs[:, 0]).any()


def test_runs_are_cached_apart_and_more_runs_ask_for_the_rest(judge, loopback):
    first = score(judge()).per_pair["green"]
    assert sum(loopback.asked.values()) == 3
    three = score(judge("&runs=3"))
    assert sum(loopback.asked.values()) == 9  # the first run was there
    runs = runs_of(three)
    assert runs.shape == (3, 3)
    np.testing.assert_array_equal(runs[0], first)
    five = runs_of(score(judge("&runs=5")))
    assert sum(loopback.asked.values()) == 15
    np.testing.assert_array_equal(five[:3], runs)
    assert sum(loopback.asked.values()) == 15


def test_a_run_without_a_verdict_is_left_out_of_the_mean(loopback, tmp_path):
    loopback.reset(lambda request, tries: request.say("I cannot say." if tries == 1 else reply(1)))
    result = score(f"green@openai:m?base_url={loopback.url}&cache={tmp_path}&runs=3&concurrency=1", CANDIDATES[:1])
    assert result.n_unscored == 0
    assert result.per_pair["green"][0] == 0.5
    assert sorted(map(str, result.details["green_runs"][0]["green"])) == ["0.5", "0.5", "None"]
    loopback.reset(lambda request, tries: request.say("I cannot say."))
    silent = score(f"green@openai:m?base_url={loopback.url}&cache=no&runs=2", CANDIDATES[:1])
    assert silent.n_unscored == 1
    assert "The reply has no section" in str(silent.unscored_reasons)
    assert silent.details["green_runs"] == [None]


def test_crimson_and_one_key(loopback, tmp_path):
    finding = {"id": "R1", "finding": "effusion", "clinical_significance": "actionable_not_urgent"}
    body = {
        "reference_findings": [finding],
        "predicted_findings": [finding | {"id": "P1"}],
        "matched_findings": [{"ref_id": "R1", "pred_id": "P1"}],
        "errors": {"false_findings": [], "missing_findings": [], "attribute_errors": []},
    }
    lost = {**body, "matched_findings": [], "errors": {**body["errors"], "missing_findings": ["R1"]}}
    lost["predicted_findings"] = []
    loopback.reset(lambda request, tries: request.say(json.dumps(lost if tries else body)))
    name = f"crimson@openai:m?base_url={loopback.url}&cache={tmp_path}&runs=2"
    result = score(name, CANDIDATES[:1])
    assert result.n_unscored == 0
    assert sorted(result.details["crimson_runs"][0]["crimson"]) == [0, 1]
    assert result.per_pair["crimson"][0] == 0.5
    errors = score(f"{name}#errors", CANDIDATES[:1])
    assert sorted(runs_of(errors)[:, 0]) == [0, 1]


def test_record_and_replies_hold_every_run(judge, tmp_path, capsys):
    pairs, record = tmp_path / "pairs.csv", tmp_path / "replies.jsonl"
    with pairs.open("w", newline="") as file:
        csv.writer(file).writerows([("reference", "candidate"), *((REFERENCE, each) for each in CANDIDATES)])
    command = ["judge", str(pairs), "--metrics", judge("&runs=3"), "--no-progress"]
    assert main([*command, "--dry-run"]) == 0
    assert "9" in capsys.readouterr().out
    assert main([*command, "--record", str(record)]) == 0
    out = capsys.readouterr().out
    assert "mean of 3 runs 0.611, SD of the mean" in out
    assert "SD of a pair" in out
    assert len(record.read_text().splitlines()) == 9
    again, before = score(f"green@replies:{record}?runs=3"), score(judge("&runs=3"))
    np.testing.assert_array_equal(runs_of(again), runs_of(before))


@pytest.mark.parametrize(
    ("options", "message"),
    [("&runs=0", "runs=0"), ("&runs=1001", "from 1 to 1000"), ("&runs=2&explain=yes", "leave out explain, or runs")],
)
def test_wrong_runs_are_refused(judge, options, message):
    with pytest.raises(InputError, match=message):
        score(judge(options))


def test_the_bundled_judge_takes_no_runs():
    with pytest.raises(InputError, match="the bundled judge has no such option"):
        score("green?runs=2")


def test_spread():
    spread = spread_of(np.array([[0.0, 1.0, np.nan], [2.0, 1.0, 4.0]]))
    assert (spread.n_runs, spread.n_pairs, spread.identical) == (2, 2, 0.5)
    assert spread.mean == pytest.approx((1 + 1 + 4) / 3)
    assert spread.sd_of_pair == pytest.approx(1.0)  # variances 2 and 0
    assert spread.sd_of_mean == pytest.approx(np.std([0.5, 7 / 3], ddof=1))


# --- the sources of noise, on numbers made with known ones

DRAWS = {"trials": 200, "level": 0.95, "seed": 0}
STUDIES = [str(i // 2) for i in range(80)]


def made(judge_sd: float, rater_sd: float, n_runs: int = 5, n_raters: int = 3):
    generator = np.random.default_rng(7)
    truth = generator.normal(size=80)
    runs = truth + judge_sd * generator.normal(size=(n_runs, 80))
    return runs, truth + rater_sd * generator.normal(size=(n_raters, 80))


def test_noise_is_told_by_its_source():
    calm, noisy = _noise("j", "t", *made(0.0, 0.0), STUDIES, DRAWS), _noise("j", "t", *made(1.0, 0.0), STUDIES, DRAWS)
    assert calm.value == pytest.approx(1)
    assert calm.sds == pytest.approx({"judge": 0, "raters": 0, "studies": 0, "all": 0})
    assert noisy.sds["judge"] > 0.01
    assert noisy.sds["raters"] == pytest.approx(0)
    rated = _noise("j", "t", *made(0.0, 1.0), STUDIES, DRAWS)
    assert rated.sds["judge"] == pytest.approx(0)
    assert rated.sds["raters"] > 0.01
    both = _noise("j", "t", *made(1.0, 1.0), STUDIES, DRAWS)
    assert both.sds["all"] > max(both.sds[source] for source in ("judge", "raters"))
    low, high = both.intervals["all"]
    assert low < both.value < high + 0.1


def test_more_runs_narrow_the_judges_part_alone():
    few, many = (_noise("j", "t", *made(1.5, 0.5, n_runs=n), STUDIES, DRAWS) for n in (3, 30))
    assert many.sds["judge"] < 0.6 * few.sds["judge"]
    assert many.sds["studies"] > 0.5 * few.sds["studies"]


def test_the_mean_score_has_no_raters():
    runs, _ = made(1.0, 0.0)
    mean = _noise("j", "", runs, None, STUDIES, DRAWS)
    assert set(mean.intervals) == {"judge", "studies", "all"}
    assert mean.value == pytest.approx(runs.mean())
    assert mean.sd_of_runs == pytest.approx(runs.mean(axis=1).std(ddof=1))


def test_the_report_of_rated_pairs(judge, tmp_path, capsys):
    pairs = [Pair(f"{REFERENCE} {i}", text) for i in range(4) for text in CANDIDATES]
    counts = np.array([[i % 3 for i in range(12)], [i % 2 for i in range(12)]], dtype=float)
    data = Rated("made", pairs, [pair.reference for pair in pairs], ("a", "b"), {"total_errors": counts})
    name = judge("&runs=2")
    with prepare([name, "rouge"]) as ready:
        results = ready.score_pairs(pairs, progress=False)
    report = measure(data, results, trials=20, seed=0, progress=False)
    (found,) = noise_reports(report)
    assert (found.subject, [each.target for each in found.noises]) == (name, ["", "total_errors"])
    assert found.spread.n_runs == 2
    assert math.isfinite(found.noises[0].sds["all"])


def test_the_command_prints_the_noise(judge, tmp_path, capsys):
    path = tmp_path / "rated.csv"
    with path.open("w", newline="") as file:
        rows = [("study", "rater", "reference", "candidate", "total_errors")]
        rows += [
            (study, rater, f"{REFERENCE} No fracture of rib {study}.", text, (i + study + (rater == "b")) % 4)
            for study in range(1, 5)
            for i, text in enumerate(CANDIDATES)
            for rater in "ab"
        ]
        csv.writer(file).writerows(rows)
    command = [
        "agree",
        "--dataset",
        str(path),
        "--counts",
        "total_errors",
        "--metrics",
        judge("&runs=3"),
        "--also",
        "runs",
    ]
    assert main([*command, "--trials", "20", "--no-progress", "--json", str(tmp_path / "found.json")]) == 0
    out = capsys.readouterr().out
    assert "mean of 3 runs" in out.replace("\n", " ")
    rows = json.loads((tmp_path / "found.json").read_text())["runs"]
    assert [row["target"] for row in rows] == ["mean", "total_errors"]
    assert {"judge_sd", "raters_sd", "studies_sd", "all_sd"} <= set(rows[1])
