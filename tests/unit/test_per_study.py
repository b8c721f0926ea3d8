"""Several reports of a study: an error, or one of them by a rule."""

from __future__ import annotations

import html
import json
from collections import Counter
from pathlib import Path

import pytest

import rrgmetrics
from rrgmetrics import files
from rrgmetrics.cli import main
from rrgmetrics.errors import InputError

ROWS = [
    ("b", "Clear lungs.", "Clear lungs."),
    ("a", "Small left effusion.", "Cardiomegaly."),
    ("b", "nan", "Edema."),
    ("a", "Small left effusion and atelectasis.", "Small left effusion and atelectasis."),
    ("b", "Edema.", "Edema and fracture."),
]
PAIRS = [dict(zip(("study_id", "reference", "candidate"), row, strict=True)) for row in ROWS]
CHOSEN = {"first": ["Clear lungs.", "Small left effusion."], "last": ["Edema.", "Small left effusion and atelectasis."]}
CHOSEN["longest"] = [CHOSEN["first"][0], CHOSEN["last"][1]]


@pytest.mark.parametrize("rule", CHOSEN)
def test_one_pair_of_each_study_by_a_rule(rule):
    """A missing reference is passed over, and the candidate of the same row goes with the one that is chosen."""
    studies = files.read_pairs(PAIRS, per_study=rule)
    assert studies.study_ids == ["b", "a"]
    assert studies.references == CHOSEN[rule]
    assert all((pair.reference, pair.candidate) in [row[1:] for row in ROWS] for pair in studies.pairs)


def test_without_a_rule_it_is_an_error_that_names_the_option():
    with pytest.raises(InputError, match=r"'b' is already in .*; per_study='first'"):
        files.read_pairs(PAIRS)
    with pytest.raises(InputError, match="Did you mean 'longest'"):
        files.read_pairs(PAIRS, per_study="longst")
    with pytest.raises(InputError, match="random:7"):
        files.read_pairs(PAIRS, per_study="first:7")
    with pytest.raises(InputError, match="no study_id"):
        files.read_pairs([{"reference": "a", "candidate": "b"}], per_study="first")
    with pytest.raises(InputError, match="needs study ids"):
        rrgmetrics.score("rouge", predictions=["a"], references=["a"], per_study="first", progress=False)


def test_at_random_by_seed_and_study_alone():
    rows = [{"study_id": f"s{n % 300}", "report": f"report {n // 300}"} for n in range(900)]
    chosen = files.read_system(rows, per_study="random:1").reports
    counts = Counter(chosen)
    assert sorted(counts) == ["report 0", "report 1", "report 2"]
    assert min(counts.values()) > 70
    assert chosen == files.read_system(rows, per_study="random:1").reports
    assert chosen != files.read_system(rows, per_study="random:2").reports


def test_both_sides_of_two_files_and_of_systems():
    references = [{"study_id": row[0], "report": row[1]} for row in ROWS]
    system = [{"study_id": row[0], "report": row[2]} for row in ROWS]
    result = rrgmetrics.score("rouge", predictions=system, references=references, per_study="first", progress=False)
    assert result["rouge"].n_pairs == 2
    compared = rrgmetrics.compare(
        {"x": system, "y": system}, references, metrics="rouge", per_study="last", trivial=False, progress=False
    )
    assert compared.studies["x"].candidates == ["Edema and fracture.", "Small left effusion and atelectasis."]


def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = ["study_id,reference,candidate", *map(",".join, ROWS)]
    (tmp_path / "pairs.csv").write_text("\n".join(lines))
    common = ["--metrics", "rouge", "--no-trivial", "--no-progress"]
    assert main(["score", "pairs.csv", *common]) == 2
    assert "--per-study first" in capsys.readouterr().err
    common += ["--per-study", "first"]
    assert main(["score", "pairs.csv", *common, "--json", "a.json", "--save-config", "c.yaml"]) == 0
    assert "|n:2|" in (tmp_path / "a.json").read_text()
    assert json.loads((tmp_path / "a.json").read_text())
    assert main(["score", "--config", "c.yaml", "--force"]) == 0
    assert "per_study: first" in (tmp_path / "c.yaml").read_text()
    assert main(["score", "pairs.csv", *common, "--stream", "--output", "a.parquet"]) == 2
    assert main(["compare", "--systems", "pairs.csv", "b=pairs.csv", *common, "--per-study", "random:3"]) == 0


def test_rows_that_are_left_out_are_counted_and_named(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    lines = ["study_id,reference,candidate", *map(",".join, ROWS)]
    Path("pairs.csv").write_text("\n".join(lines))
    said = "pairs.csv: 3 rows are left out (study ids b, a): "
    in_python = said + "per_study='first' takes one report of each study."
    compared = rrgmetrics.compare({"ours": "pairs.csv"}, metrics="rouge", per_study="first", progress=False)
    assert caplog.messages.count(in_python) == 1
    assert in_python in html.unescape(compared.to_html())
    assert in_python in compared.to_markdown()
    caplog.clear()
    common = ["--metrics", "rouge", "--no-trivial", "--no-progress", "--per-study", "first"]
    assert main(["score", "pairs.csv", *common, "--html", "a.html", "--table", "a.md"]) == 0
    assert caplog.messages.count(in_python) == 1
    for page in ("a.html", "a.md"):
        assert "missing='" not in Path(page).read_text()
        assert f"{said}--per-study first takes one report of each study." in html.unescape(Path(page).read_text())


def test_rows_that_are_left_out_are_counted_in_each_source_and_system(caplog):
    references = [{"study_id": row[0], "report": row[1]} for row in ROWS]
    system = [{"study_id": row[0], "report": row[2]} for row in ROWS[:4]]
    studies = files.pairs_of(None, system, references, per_study="last")
    counts = ["references: 3 rows are left out (study ids b, a)", "predictions: 2 rows are left out (study ids b, a)"]
    assert [line.rpartition(":")[0] for line in studies.left_out] == counts
    rows = [pair | {"system": name} for name in "xy" for pair in PAIRS[: 3 if name == "x" else 5]]
    long = files.read_systems(None, rows, by="system", per_study="first")
    assert [line.partition(" (")[0] for line in files.left_out(long)] == [
        "x: 1 row is left out",
        "y: 3 rows are left out",
    ]
    assert files.read_pairs(PAIRS[:2], per_study="first").left_out == ()


DOUBLED = r"'b' is already in .*; per_study='first'"


def test_every_way_of_scoring_refuses_doubled_ids_in_the_same_words(tmp_path, capsys):
    lines = ["study_id,reference,candidate", *map(",".join, ROWS)]
    (tmp_path / "pairs.csv").write_text("\n".join(lines))
    table = str(tmp_path / "pairs.csv")
    ways = {
        "score": lambda: rrgmetrics.score("rouge", table, progress=False),
        "workers": lambda: rrgmetrics.score("rouge", table, workers=2, progress=False),
        "stream": lambda: rrgmetrics.score_stream("rouge", table, progress=False),
        "stream of rows": lambda: rrgmetrics.score_stream("rouge", PAIRS, progress=False),
        "compare": lambda: rrgmetrics.compare({"a": table}, metrics="rouge", progress=False),
        "worth": lambda: rrgmetrics.measure_worth("rouge", table, progress=False),
    }
    for run in ways.values():
        with pytest.raises(InputError, match=DOUBLED):
            run()
    said = set()
    for more in ((), ("--stream", "--output", "a.parquet"), ("--shard", "1/2", "--output", "b.parquet")):
        assert main(["score", table, "--metrics", "rouge", "--no-progress", *more]) == 2
        said.add(capsys.readouterr().err)
    assert len(said) == 1


def test_several_reports_of_a_study_are_named_beside_intervals(caplog):
    said = "5 reports of 3 studies (per_study='all'): intervals and tests take them as independent, and are too sure."
    rows = [{"study_id": each, "reference": "Edema.", "candidate": "Clear."} for each in "abacb"]
    compared = rrgmetrics.compare({"x": rows}, metrics="rouge", per_study="all", trials=10, progress=False)
    assert sum(said in message for message in caplog.messages) == 1
    assert said in html.unescape(compared.to_html())
    assert said in compared.to_markdown()
    assert files.read_pairs(rows[:2], per_study="all").left_out == ()


def test_several_reports_of_a_study_are_not_counted_as_studies(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("\n".join(["study_id,reference,candidate", *map(",".join, ROWS)]))
    words = f"{len(ROWS)} reports, several of a study"
    written = {each: str(tmp_path / f"a.{each}") for each in ("tex", "html")}
    outputs = ["--table", written["tex"], "--html", written["html"]]
    table = str(tmp_path / "a.csv")
    for full in ([], ["--full"]):
        options = ["--metrics", "rouge", "--per-study", "all", "--no-trivial", "--no-progress", "--force", *full]
        assert (
            main(["compare", "--references", table, "--systems", f"x={table}", f"y={table}", *options, *outputs]) == 0
        )
        out = " ".join(capsys.readouterr().out.split())
        assert words in out
        assert "are too sure." in out
        assert f"{len(ROWS)} studies" not in out
    assert f"Scores on {words}" in Path(written["tex"]).read_text()
    assert words in Path(written["html"]).read_text()


def test_advice_names_arguments_in_python_and_options_on_the_command_line(tmp_path, capsys):
    """`by` for several rows of a study, and the columns that were taken by their names."""
    rows = ["exam_id,gt,hyp", "1,Clear lungs.,Edema.", "1,Clear lungs.,Clear lungs."]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    with pytest.raises(InputError, match=r"use compare with by='COLUMN'\.$"):
        files.read_pairs(tmp_path / "a.csv", {"study_id": "exam_id"})
    common = ["score", str(tmp_path / "a.csv"), "--metrics", "rouge", "--no-trivial", "--no-progress"]
    assert main([*common, "--columns", "study_id=exam_id"]) == 2
    assert "use compare with --by COLUMN." in capsys.readouterr().err
    (tmp_path / "a.csv").write_text("\n".join(row + end for row, end in zip(rows, (",Model", ",a", ",b"), strict=True)))
    for way in ([], ["--stream", "--output", str(tmp_path / "s.parquet")]):
        assert main([*common, *way, "--columns", "study_id=exam_id"]) == 2
        said = capsys.readouterr().err
        assert "If the column 'Model' names the system of each row, use compare with --by Model." in said


def test_skill_and_verdict_know_of_several_reports_of_a_study(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reports = [f"Small left effusion. Edema. Nodule {size} mm." for size in range(12)]
    for name, texts in (("good", reports), ("bad", ["Clear lungs."] * 12)):
        rows = [f"{i // 2},{text},{own}" for i, (text, own) in enumerate(zip(reports, texts, strict=True))]
        Path(f"{name}.csv").write_text("\n".join(["study_id,reference,candidate", *rows]))
    common = ["--metrics", "rouge", "--per-study", "all", "--no-progress", "--full", "--html", "page.html"]
    assert main(["compare", "--systems", "bad.csv", "good.csv", *common]) == 0
    page = html.unescape(Path("page.html").read_text())
    for text in (" ".join(capsys.readouterr().out.split()), " ".join(page.split())):
        assert "ompared with trivial systems: 12 reports, several of a study" in text
        assert "Abnormal studies only: 12 of 12 reports, several of a study" in text
        assert "the tests take them as independent: p is too small." in text


def test_reports_of_two_files_are_joined_in_order_within_a_study_and_that_is_said(caplog):
    references = {"study_id": ["1", "1"], "report": ["Large left effusion.", "Small right effusion."]}
    predictions = {"study_id": ["1", "1"], "report": ["Small right effusion.", "Large left effusion."]}
    run = {"predictions": predictions, "references": references, "metrics": ["finding_errors"], "per_study": "all"}
    assert rrgmetrics.score(**run)["finding_errors"].scores["finding_errors"] == 2
    assert "the first of each are a pair, the second of each, and so on" in caplog.text


def test_prior_reports_beside_the_predictions_are_not_used_and_that_is_said(caplog):
    references = {"study_id": ["1"], "report": ["Large left effusion."]}
    predictions = {"study_id": ["1"], "report": ["Large left effusion, increased."], "prior": ["Small left effusion."]}
    rrgmetrics.score(predictions=predictions, references=references, metrics=["finding_errors"])
    assert "The prior reports in predictions are not used" in caplog.text


def test_each_report_of_a_study_is_a_pair_if_all_count(tmp_path):
    studies = files.read_pairs(PAIRS, per_study="all")
    assert len(studies.pairs) == len(PAIRS)
    assert len(set(studies.study_ids)) == len(PAIRS)
    assert "b (2)" in studies.study_ids
    alone = rrgmetrics.score("rouge", PAIRS, per_study="all", progress=False)["rouge"]
    stream = rrgmetrics.score_stream("rouge", PAIRS, per_study="all", progress=False)["rouge"]
    assert alone.scores == stream.scores
    with pytest.raises(InputError, match="needs all pairs in memory"):
        rrgmetrics.score_stream("rouge", PAIRS, per_study="first", progress=False)


@pytest.mark.parametrize("study_id", [" ", None, "1"])
def test_a_stream_refuses_an_id_in_the_words_of_one_process(study_id, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [{"study_id": each, "reference": "Edema.", "candidate": "Edema."} for each in ("1", study_id, "3")]
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = []
    for how in (["--no-trivial"], ["--stream", "--output", "scores.parquet"]):
        said.append((main(["score", "pairs.jsonl", "--metrics", "rouge", "--no-progress", *how]), capsys.readouterr()))
    assert said[0] == said[1]
    assert said[0][0] == 2
    assert "line 2, column 'study_id'" in said[0][1].err
