"""How long metrics take on rated pairs: each alone, beside its agreement, as a table, numbers and a picture."""

from __future__ import annotations

import csv
import json
import math
import sys

import pytest
from rated_layouts import LAYOUTS, PAIRS

from rrgmetrics import BackendError
from rrgmetrics.cli import main
from rrgmetrics.metaeval import agree
from rrgmetrics.metaeval.timing import score_timed
from rrgmetrics.reports import Pair
from rrgmetrics.scoring.prepared import prepare

NAMES = ("bleu", "radcliq", "green#errors")


@pytest.fixture
def rexval(tmp_path):
    return f"rexval:{LAYOUTS['ReXVal'].write(tmp_path / 'data')}"


def test_scores_are_those_of_metrics_that_run_together(rexval):
    together, alone = (agree(rexval, NAMES, trials=10, timed=timed, progress=False) for timed in (False, True))
    assert together.times == {}
    assert list(alone.times) == list(NAMES)
    for name in NAMES:
        assert alone.results[name].signature == together.results[name].signature
        assert (alone.results[name].headline == together.results[name].headline).all()
        assert 0 < alone.times[name].milliseconds < 60_000
    assert alone.agreements[0].tau_b == together.agreements[0].tau_b


def test_a_missing_report_is_named_once(tmp_path, caplog):
    table = tmp_path / "lab.csv"
    table.write_text("study_id,reference,candidate,errors\n1,Clear lungs.,,1\n2,Small effusion.,Small effusion.,0\n")
    agree(str(table), ["bleu", "rouge"], counts="errors", trials=10, timed=True, progress=False)
    assert len([record for record in caplog.records if "is missing" in record.getMessage()]) == 1


def test_more_pairs_take_longer_and_loading_does_not_count():
    pairs = [
        Pair(f"{reference} Line {number}.", candidate) for number in range(8) for _, _, reference, candidate, _ in PAIRS
    ]
    with prepare(["crepe"]) as metric:
        few = score_timed(metric, pairs[:4], progress=False)[1]
        many = score_timed(metric, pairs, progress=False)[1]
    assert few.seconds < many.seconds < 16 * few.seconds + 1
    assert (few.n, many.n) == (4, 64)


def test_replies_that_were_there_give_no_time(rexval, tmp_path, recorded_green):
    report = agree(rexval, [f"green@replies:{recorded_green}", "bleu"], trials=10, timed=True, progress=False)
    judged, bleu = report.times.values()
    assert judged.n_kept > 0
    assert math.isnan(judged.milliseconds)
    assert bleu.milliseconds > 0


@pytest.fixture
def recorded_green(tmp_path):
    """Recorded replies to the questions about all pairs."""
    from rrgmetrics.scorers.green import GreenProtocol

    rows = []
    for _, _, reference, candidate, _ in PAIRS:
        (prompt,) = GreenProtocol().prompts(Pair(reference, candidate))
        reply = GreenProtocol().written(GreenProtocol().verdict(Pair(reference, candidate), [REPLY]))
        rows.append({"protocol": prompt.protocol, "prompt_sha256": prompt.sha256, "reply": reply})
    file = tmp_path / "replies.jsonl"
    file.write_text("".join(json.dumps({**row, "engine": "invented", "parameters": {}}) + "\n" for row in rows))
    return file


REPLY = """[Explanation]:
Invented.

[Clinically Significant Errors]:
(a) False report of a finding in the candidate: 1. A nodule

[Clinically Insignificant Errors]:
(a) False report of a finding in the candidate: 0.

[Matched Findings]:
1. Effusion
"""


def test_weights_that_are_missing_are_known_before_anything_is_scored(rexval, monkeypatch):
    module = sys.modules["rrgmetrics.metaeval.agree"]  # whose name in the package is the function's
    monkeypatch.setattr(module, "score_timed", lambda *arguments, **more: pytest.fail("scored"))
    with pytest.raises(BackendError, match="nowhere"):
        agree(rexval, ["bleu", "crepe@lab/nowhere"], timed=True, progress=False)


def test_the_command_prints_writes_and_draws(rexval, tmp_path, capsys):
    numbers, document = tmp_path / "out.csv", tmp_path / "out.json"
    arguments = ["agree", "--dataset", rexval, "--metrics", *NAMES, "--also", "time", "--trials", "10", "--no-progress"]
    outputs = ["--output", str(numbers), "--json", str(document), "--plots", str(tmp_path / "plots")]
    assert main([*arguments, *outputs]) == 0
    assert "rexval: time of 8 pairs" in capsys.readouterr().out
    with numbers.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["view"] == "time"]
    assert [row["subject"] for row in rows] == list(NAMES)
    written = json.loads(document.read_text())["time"]
    assert [each["milliseconds"] for each in written] == [float(row["milliseconds"]) for row in rows]
    assert (tmp_path / "plots" / "rexval_time.png").stat().st_size > 10_000
    assert main([*arguments, *outputs]) == 2  # nothing is replaced, the picture no more than the rest
