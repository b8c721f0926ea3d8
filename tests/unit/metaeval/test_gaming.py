"""What games a metric: evasive reports, the tricks, and the search for texts that pay."""

from __future__ import annotations

import json
from random import Random

import pytest

from rrgmetrics.cli import main
from rrgmetrics.errors import InputError
from rrgmetrics.metaeval.gaming import Studies, game, generated_studies, own_studies, rated_studies
from rrgmetrics.metaeval.gaming.stored import record, stored_gaming
from rrgmetrics.metaeval.gaming.tricks import all_tricks, played
from rrgmetrics.metaeval.loaders import load
from rrgmetrics.reading import read
from rrgmetrics.reporting.gaming import gaming_tables
from rrgmetrics.synthesis.edits.evasions import evasion_words, excuse_all, hide, leave_out, pad, tell_as_history

REPORT = (
    "Large left pleural effusion. There is a 28 mm nodule in the right upper lobe. Acute fractures of the left third "
    "to sixth ribs. Two small granulomas at the left base. No pneumothorax."
)


@pytest.mark.parametrize(
    ("attribute", "left"),
    [
        ("side", "Large pleural effusion. There is a 28 mm nodule in the upper lobe. Acute fractures of the third"),
        (
            "place",
            "Large left pleural effusion. There is a 28 mm nodule in the right. Acute fractures of the left ribs.",
        ),
        ("size", "Large left pleural effusion. There is a nodule in the right upper lobe."),
        ("severity", "Left pleural effusion. There is a 28 mm nodule in the right upper lobe."),
    ],
)
def test_an_attribute_is_left_out_and_nothing_else(attribute, left):
    assert leave_out(REPORT, [attribute]).startswith(left)


def test_what_is_left_keeps_its_findings():
    vague = leave_out(REPORT, evasion_words()["left_out"])
    assert "Pleural effusion. There is a nodule. Acute fractures of the ribs. Granulomas." in vague
    assert {f.concept for f in read(vague).findings} == {f.concept for f in read(REPORT).findings}
    assert not any(f.side or f.zones or f.levels or f.measurements_mm for f in read(vague).abnormal)


@pytest.mark.parametrize("word", evasion_words()["excuses"])
def test_every_finding_is_excused_and_no_denial(word):
    excused = excuse_all(REPORT, word)
    assert excused.lower().count(word) == len(read(REPORT).abnormal)
    assert "No pneumothorax." in excused


def test_what_a_report_does_not_name_becomes_history():
    told = tell_as_history("Cardiomegaly.", ["cardiomegaly", "pleural effusion"], Random(0))
    assert told.endswith(" Cardiomegaly.")
    assert "pleural effusion" in told.lower()
    assert told.lower().count("cardiomegaly") == 1


@pytest.mark.parametrize("in_front", [True, False])
def test_a_hidden_finding_is_under_a_heading(in_front):
    text = hide("Clear lungs.", Random(0), in_front=in_front)
    assert evasion_words()["hidden"] in text
    assert text.startswith("Clear lungs.") is not in_front


def test_padding_is_longer_than_what_encoders_read():
    assert len(pad("Clear lungs.").split()) > 600


def test_tricks_change_what_they_can():
    studies = Studies("two", ("Cardiomegaly.", REPORT), {"one": ("Cardiomegaly.", REPORT)}, ("a", "b"), 0)
    made = played(all_tricks()["vague_size"], studies)["one"]
    assert made[0] is None
    assert "nodule" in made[1]
    assert "28" not in made[1]


def pays_for_chronic(candidates, references):
    return [min(3, candidate.count("Chronic")) for candidate in candidates]


def pays_for_length(candidates, references):
    return [-abs(len(candidate) - len(reference)) for candidate, reference in zip(candidates, references, strict=True)]


def test_the_search_finds_what_pays():
    report = game(pays_for_chronic, generated_studies(16), steps=200, progress=False, trials=200)
    (metric,) = report.metrics.values()
    assert report.n_studies == 8
    for goal in ("constant", "addition"):
        assert metric.found[goal].text.count("Chronic") == 3
        assert metric.found[goal].pays
        assert set(metric.found[goal].by_system) == {"weak", "mid", "good"}
    assert "excused_chronic" in metric.paying
    assert metric.hacks == ("excuse", "constant", "addition")


def test_the_search_is_seeded_and_bounded():
    runs = [
        game(pays_for_chronic, generated_studies(8), steps=30, tricks=False, progress=False, trials=50) for _ in "ab"
    ]
    first, second = (run.to_dict() for run in runs)
    assert first == second
    assert all(steps <= 30 for steps in first["metrics"]["pays_for_chronic"]["steps"].values())


def test_lower_is_better_where_another_patients_report_scores_higher():
    report = game(
        lambda candidates, references: [-value for value in pays_for_length(candidates, references)],
        generated_studies(8),
        steps=8,
        tricks=False,
        progress=False,
        trials=50,
    )
    assert next(iter(report.metrics.values())).arrow == "↓"


def test_the_halves_share_no_study():
    studies = generated_studies(10)
    assert not set(studies.half(0).studies) & set(studies.half(1).studies)
    assert len(studies.half(0).references) + len(studies.half(1).references) == 10


def test_errors_are_put_into_reports_of_ones_own():
    studies = own_studies([f"{side} pleural effusion. Mild cardiomegaly." for side in ("Left", "Right")] * 3)
    assert list(studies.systems) == ["weak", "mid", "good"]
    assert all(texts != studies.references for texts in studies.systems.values())


def test_rated_pairs_are_one_system(tmp_path):
    rows = [f"{n},Cardiomegaly.,Cardiomegaly. Effusion {n}.,{n}" for n in range(6)]
    table = tmp_path / "rated.csv"
    table.write_text("\n".join(["study,reference,candidate,total_errors", *rows]))
    studies = rated_studies(load(str(table), counts=["total_errors"]))
    assert list(studies.systems) == ["candidates"]
    assert len(studies.half(0).references) == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"steps": -1}, "steps is -1"),
        ({"steps": 0, "tricks": False}, "there is nothing to do"),
        ({"tricks": ["luck"]}, "There is no trick 'luck'; known: vague_side"),
        ({"studies": ["Cardiomegaly."]}, "at least four are needed"),
    ],
)
def test_wrong_use_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        game("finding_errors", progress=False, **options)


def test_a_metric_that_needs_the_other_pairs_is_no_reward():
    with pytest.raises(
        InputError, match=r"^cider cannot be a reward, because its score of a pair depends on the other pairs"
    ):
        game("cider", generated_studies(4), progress=False)


def test_what_is_stored_is_read_again(tmp_path):
    report = game(pays_for_chronic, generated_studies(8), steps=8, progress=False, trials=50)
    file = tmp_path / "results.yaml"
    record(report, date="2026-01-02", file=file)
    record(report, date="2026-01-02", file=file)
    stored = stored_gaming(file)
    assert list(stored.metrics) == ["pays_for_chronic"]
    assert stored.measured["pays_for_chronic"].startswith("2026-01-02, rrgmetrics ")
    again, first = stored.metrics["pays_for_chronic"], report.metrics["pays_for_chronic"]
    assert again.found["constant"].text == first.found["constant"].text
    assert list(again.paying) == list(first.paying)


def test_the_command_prints_and_writes(tmp_path, capsys):
    arguments = [
        "game",
        "--metrics",
        "finding_errors",
        "--reports",
        "8",
        "--steps",
        "8",
        "--trials",
        "50",
        "--no-progress",
    ]
    assert main([*arguments, "--json", str(tmp_path / "o.json"), "--output", str(tmp_path / "o.csv")]) == 0
    assert "Can it be gamed? 4 studies of generator:8" in capsys.readouterr().out
    written = json.loads((tmp_path / "o.json").read_text())
    assert set(written["metrics"]["finding_errors"]["found"]) == {"constant", "addition"}
    assert "finding_errors,best constant,all," in (tmp_path / "o.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["reports.csv", "--dataset", "radpref:pairs.jsonl"], "Give either a file of reports, or --dataset"),
        (["--tricks", "vague", "--no-tricks"], "give one of both"),
        (["--steps", "0", "--tricks", "luck"], "There is no trick 'luck'; known: vague_side"),
        (["--reports", "0"], "take at least one report"),
    ],
)
def test_wrong_use_of_the_command_is_one_line(arguments, said, capsys):
    assert main(["game", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_tables_without_a_search_hold_the_tricks_alone():
    report = game("bleu", generated_studies(4), steps=0, progress=False, trials=50)
    (table,) = gaming_tables(report)
    assert table.heads == ("trick", "bleu ↑", "pairs")
