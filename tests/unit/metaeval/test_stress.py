"""Metrics under stress: what is blind says so, what is perfect gets 1, what is not there is not scored."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from rrgmetrics.cli import main
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.measured import reads_chest_xrays, reads_reports_of
from rrgmetrics.metaeval.stress import KINDS, LADDERS, build_suite, stress, written_packs, written_suite
from rrgmetrics.metaeval.stress.kinds import ALONE, kinds_of
from rrgmetrics.metaeval.stress.outside import find, of_module
from rrgmetrics.metaeval.stress.stored import record, results_file, stored_stress
from rrgmetrics.metaeval.stress.written import edited
from rrgmetrics.reporting.stress import remarks, stress_tables
from rrgmetrics.reporting.stress_card import stress_block, stress_table
from rrgmetrics.reporting.stress_page import changed, stress_page
from rrgmetrics.specs import SPECS
from rrgmetrics.synthesis.generator import generate_reports

EVASIONS = ("vague", "excused", "history")  # tests/callbacks/test_gamed.py: gains on the mean, not of each report
REPORTS = [report.text for report in generate_reports(48, seed=11)] + [
    "Small right pleural effusion, increased since the prior study. A 2 cm nodule in the left upper lobe. Endotracheal "
    "tube in good position. Mild cardiomegaly. No pneumothorax.",
    "Right PICC with tip in the mid SVC. Moderate left pleural effusion, unchanged. No evidence of pneumothorax.",
    "Two nodules in the right upper lobe. Three old fractures of left ribs. The heart is normal in size.",
]
GRAVE = ("_far", "_actionable", "_urgent")


@pytest.fixture(scope="module")
def suite():
    return build_suite(REPORTS, source="invented", per_kind=4)


def count_words(candidates, references):
    return [-abs(len(c.split()) - len(r.split())) for c, r in zip(candidates, references, strict=True)]


def oracle_of(suite):
    """What knows every case: harmless changes cost nothing, graver errors and more of them more, tricks most."""

    def loss(kind):
        if KINDS[kind].group in ("error", "hidden"):
            return 1 + 0.1 * sum((i + 1) * kind.endswith(end) for i, end in enumerate(GRAVE))
        steps = {"harmless": 0, "trick": 10, "scale": 20 if kind == "other" else int(kind[-1:].isdigit() and kind[-1])}
        return steps[KINDS[kind].group]

    known = {(suite.reports[case.report], case.candidate): loss(case.kind) for case in suite.cases}
    return lambda candidates, references: [-known.get((r, c), 0) for c, r in zip(candidates, references, strict=True)]


def test_what_counts_words_is_blind_to_flips_and_says_so(suite):
    metric = stress(count_words, suite).metrics["count_words"]
    for kind in ("negation_lost", "negation_added", "side", "severity"):
        assert metric.kinds[kind].n >= 3
        assert metric.kinds[kind].share == metric.kinds[kind].fall == 0.0
    assert metric.kinds["missing_minor"].share == 1.0
    assert metric.ladders["severity"].share == 0.5  # chance
    assert "Hardly detects: all other kinds of error." in remarks(metric)


def test_an_oracle_gets_one_everywhere(suite):
    metric = stress({"oracle": oracle_of(suite)}, suite).metrics["oracle"]
    assert metric.arrow == "↑"
    for kind, own in metric.kinds.items():
        assert own.n, kind
        assert own.share == 1.0, kind
        assert KINDS[kind].group != "harmless" or own.apart == 1.0, kind
    assert all(own.n and own.share == 1.0 for own in metric.ladders.values()), metric.ladders


def test_the_direction_of_a_function_is_found(suite):
    oracle = oracle_of(suite)
    metrics = stress({"good": oracle, "bad": lambda c, r: [-value for value in oracle(c, r)]}, suite).metrics
    assert metrics["bad"].arrow == "↓"
    assert metrics["bad"].kinds == metrics["good"].kinds


def test_finding_errors_sees_each_kind_but_a_hedge(suite):
    metric = stress("finding_errors", suite, progress=False).metrics["finding_errors"]
    assert metric.rests_on_the_reader
    seen = {kind: metric.kinds[kind].share for kind in kinds_of("error") if kind != "certainty"}
    assert set(seen.values()) == {1.0}, seen
    assert metric.kinds["certainty"].share < 0.6
    assert "certain finding hedged" in " ".join(remarks(metric))
    assert min(metric.kinds[kind].apart for kind in ("paraphrase", "order", "normal")) > 0.9


def test_flips_keep_the_number_of_words(suite):
    flips = [case for case in suite.cases if case.kind in ("negation_lost", "negation_added")]
    assert len(flips) == 8
    for case in flips:
        assert len(case.candidate.split()) == len(suite.reports[case.report].split())
        assert case.candidate != suite.reports[case.report]


def test_what_does_not_apply_is_counted_and_not_scored():
    suite = build_suite(["Clear lungs.", "Mild cardiomegaly."])
    metric = stress(count_words, suite).metrics["count_words"]
    assert suite.tried["size"] == suite.without("size") == 2
    assert metric.kinds["size"].n == 0
    assert math.isnan(metric.kinds["size"].share)
    assert math.isnan(metric.ladders["size"].share)
    assert not any(suite.applied[kind] for kind in ALONE)  # nothing to miss
    assert suite.applied["severity"] == 1


def test_unscored_pairs_count_nowhere(suite):
    def moody(candidates, references):
        values = count_words(candidates, references)
        return [math.nan if "effusion" in c else value for c, value in zip(candidates, values, strict=True)]

    metric = stress(moody, suite).metrics["moody"]
    assert sum(own.n_unscored for own in metric.kinds.values()) > 10
    assert all(own.n + own.n_unscored == suite.applied[kind] for kind, own in metric.kinds.items())


def test_a_metric_that_returns_nan_alone_is_named_as_such(suite):
    report = stress({"nothing": lambda c, r: [math.nan] * len(c)}, suite)
    note = next(stress_tables(report)).note
    assert "nothing returns no number (NaN) for the reports themselves" in note
    assert remarks(report.metrics["nothing"])[0].startswith("The metric returns no number (NaN)")


def test_our_own_modules_do_not_warn_of_the_faults_that_the_suite_made(suite, caplog):
    """The tricks are control tokens and missing reports."""
    with caplog.at_level("WARNING"):
        found = stress(str(Path(__file__).parents[3] / "metrics" / "bleu"), suite).metrics
    assert not caplog.records
    (by_module,), by_name = found.values(), stress("bleu", suite).metrics["bleu"]
    assert by_module.kinds == by_name.kinds


def test_the_suite_is_the_same_each_time():
    assert build_suite(REPORTS[:9], seed=3) == build_suite(REPORTS[:9], seed=3)
    assert build_suite(REPORTS[:9], seed=3).cases != build_suite(REPORTS[:9], seed=4).cases


class Corpus:
    """As an `evaluate` module that knows corpus values alone."""

    name = "lengths"

    def compute(self, *, predictions, references):
        return {"note": "x", "lengths": np.mean(count_words(predictions, references)), "other": 1.0}


def test_an_evaluate_module_is_asked_pair_by_pair(suite):
    assert stress(Corpus(), suite).metrics["lengths"].kinds == stress(count_words, suite).metrics["count_words"].kinds
    with pytest.raises(InputError, match="returns no 'rouge9'"):
        of_module(Corpus(), "rouge9")(["a"], ["a"])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda c, r: [1.0], "returns 1 values for"),
        (lambda c, r: [math.inf] * len(c), "returns inf"),
        (lambda c: [0.0] * len(c), "TypeError.*candidates and references"),
        (lambda c, r: ["good"] * len(c), "ValueError"),
    ],
)
def test_a_function_that_answers_wrongly_is_told_so(suite, function, message):
    with pytest.raises(InputError, match=message):
        stress({"mine": function}, suite)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_module_x:f", "cannot be imported"),
        ("math:no_such", "has no function"),
        ("./no/such/folder", "There is no ./no/such/folder"),
        ("no_such_metric", "no_such_metric"),
        ("bleu?tokeniser=13a", "tokeniser"),
    ],
)
def test_a_metric_that_is_not_there_is_told_so(suite, name, message):
    with pytest.raises(InputError, match=message):
        stress(name, suite)


def test_reports_that_cannot_be_used_are_told_so():
    with pytest.raises(InputError, match="no reports"):
        build_suite(["", " "])
    with pytest.raises(InputError, match=r"reports\[1\]"):
        build_suite(["Clear lungs.", None])
    with pytest.raises(InputError, match="a list of reports"):
        build_suite("Clear lungs.")
    with pytest.raises(InputError, match="English chest reports"):
        build_suite(["Kein Erguss, kein Pneumothorax."])
    with pytest.raises(InputError, match="named twice"):
        stress(["bleu", "bleu"], ["Clear lungs."])
    assert find("crepe@some/model") is None


def test_the_page_and_the_tables_escape_and_name_everything(suite):
    report = stress({"<b>words</b>": count_words}, suite)
    page = stress_page(report)
    assert "<b>words</b>" not in page
    assert all(ladder.title in page for ladder in LADDERS.values())
    assert [table.heads[1] for table in stress_tables(report)][1] == "<b>words</b> ↑"
    assert "bold" not in next(stress_tables(report)).note  # one metric: no best one
    both = stress({"words": count_words, "oracle": oracle_of(suite)}, suite)
    assert next(stress_tables(both)).note.startswith("Best in bold.")
    assert changed("Small <i> effusion.", "No effusion.") == "<del>Small &lt;i&gt;</del> <ins>No</ins> effusion."


def test_the_stored_results_come_back(suite, tmp_path):
    report = stress(count_words, suite)
    record(report, date="2026-11-22", file=tmp_path / "results.yaml")
    stored = stored_stress(tmp_path / "results.yaml")
    assert stored.n_reports == len(REPORTS)
    assert stored.metrics["count_words"].kinds["side"] == report.metrics["count_words"].kinds["side"]


def test_every_bundled_metric_was_measured_on_300_reports():
    stored = stored_stress()
    assert list(stored.metrics) == [name for name, spec in SPECS.items() if reads_chest_xrays(spec)]
    assert stored.n_reports == 300
    assert all(metric.unit > 0 for metric in stored.metrics.values())
    n_pairs = {name: metric.kinds["side"].n for name, metric in stored.metrics.items()}
    of_ct = {"f1_radbert_ct", "nodule_f1"}  # they leave a report unscored that says it is a film
    assert all(n == 100 for name, n in n_pairs.items() if name not in of_ct)
    assert all(80 < n_pairs[name] < 100 for name in of_ct)
    assert '"no" flipped to "a" 1.00' in stress_table(stored.metrics["finding_errors"])
    assert "| change |" not in stress_block(SPECS["finding_errors"])


@pytest.mark.parametrize("pack", written_packs())
def test_written_reports_are_changed_as_they_say(pack):
    """The reader had no part in them: most errors it sees, of harmless changes next to none."""
    suite, stored = written_suite(pack), stored_stress(results_file(pack))
    assert list(stored.metrics) == [name for name, spec in SPECS.items() if reads_reports_of(spec, pack)]
    assert (stored.n_reports, stored.source) == (len(suite.reports), f"written:{pack}")
    assert len(suite.reports) >= {"chest_ct": 12, "mammography": 6}[pack]
    assert {case.kind for case in suite.cases} >= {
        *LADDERS["number"].rungs,
        *ALONE,
        "side",
        "zone",
        "size_far",
        "order",
    }
    metric = stress("finding_errors", suite, progress=False).metrics["finding_errors"]
    assert not metric.rests_on_the_reader
    assert metric.signature.count(f"|pack:{pack}|") == 1
    assert metric.mean("error") >= 0.9
    assert metric.mean("harmless") >= 0.95
    tricks = [kind for kind in kinds_of("trick") if metric.kinds[kind].n and not kind.startswith(EVASIONS)]
    resisted = {kind: metric.kinds[kind].share for kind in tricks}
    assert set(resisted.values()) == {metric.kinds["other"].share} == {1.0}, resisted
    assert "errors written by hand" in stress_block(SPECS["finding_errors"])


def test_written_reports_that_are_not_there_are_told_so(capsys):
    with pytest.raises(InputError, match="choose one of chest_ct, mammography"):
        written_suite("brain_ct")
    with pytest.raises(InputError, match="'left' occurs 2 times"):
        edited("A left nodule. A left mass.", [("left", "right")])
    assert main(["stress", "written:knee", "--metrics", "bleu", "--no-progress"]) == 2
    assert "no written reports of 'knee'" in capsys.readouterr().err
    assert main(["stress", "written:mammography", "--metrics", "bleu", "--no-progress"]) == 0
    assert "6 reports of written:mammography" in capsys.readouterr().out
    assert main(["stress", "--reports", "4", "--per-kind", "1", "--metrics", "bleu", "--no-progress"]) == 0
    assert "4 generated reports, " in capsys.readouterr().out


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine_x.py").write_text(
        "def words(candidates, references):\n    return [-len(c) for c in candidates]\n"
    )
    (tmp_path / "reports.csv").write_text("study_id,report\n1,Small left effusion. No pneumothorax.\n2,Cardiomegaly.\n")
    command = ["stress", "reports.csv", "--metrics", "bleu,mine_x:words", "--no-progress"]
    outputs = ["--output", "t.csv", "t.md", "t.tex", "--json", "t.json", "--html", "t.html"]
    assert main([*command, *outputs]) == 0
    assert "mine_x:words" in capsys.readouterr().out
    assert json.loads((tmp_path / "t.json").read_text())["suite"]["n_reports"] == 2
    assert "other side" in (tmp_path / "t.md").read_text()
    assert (tmp_path / "t.csv").read_text().startswith("metric,group,kind,category,share,fall,apart,n,n_unscored")
    assert main([*command, *outputs]) == 2  # the files are there
    assert main(["stress", "reports.csv", "--metrics", "bleu", "--column", "text", "--no-progress"]) == 2
    assert "has no column 'text'" in capsys.readouterr().err
    assert main(["stress", "reports.csv", "--reports", "0"]) == 2


def test_each_kind_of_error_is_in_one_class():
    for metric in stored_stress().metrics.values():
        *others, last = (each for each in remarks(metric) if each.startswith(("Detects", "Hardly detects")))
        titles = [title for each in others for title in re.split(", | and ", each.partition(": ")[2].rstrip("."))]
        assert len(titles) == len(set(titles))
        assert last.endswith(f": all {'other ' if others else ''}kinds of error.")
