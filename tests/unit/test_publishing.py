"""Results where people look: model cards, details as a data set, trackers; all but the upload itself."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import yaml

from rrgmetrics import cli

EXAMPLES = Path(__file__).parents[2] / "examples"
PAIRS = ["--references", str(EXAMPLES / "references.csv")]
ONE = [
    "score",
    "--predictions",
    str(EXAMPLES / "system_a.csv"),
    *PAIRS,
    "--no-trivial",
    "--no-progress",
    "--trials",
    "10",
]
TWO = ["compare", "--systems", *(str(EXAMPLES / f"system_{name}.csv") for name in "ab"), *PAIRS]
BLEU = ["--metrics", "bleu", "finding_score"]


def test_model_card_keeps_what_others_wrote(tmp_path, capsys):
    from huggingface_hub import ModelCard

    card = tmp_path / "README.md"
    card.write_text("---\nlicense: apache-2.0\n---\n\n# My model\n\nWritten by hand.\n")
    out = ["--model-card", str(tmp_path), "--benchmark", "my-lab/my-reports@abc123"]
    for metrics in (["--metrics", "rouge"], BLEU, BLEU):
        assert cli.main([*ONE, *metrics, *out]) == 0
    assert str(tmp_path / ".eval_results" / "rrgmetrics.yaml") in capsys.readouterr().out.replace("\n", "")
    rows = yaml.safe_load((tmp_path / ".eval_results" / "rrgmetrics.yaml").read_text())
    assert [row["dataset"]["id"] for row in rows] == ["my-lab/my-reports"] * 2
    assert rows[0]["dataset"]["revision"] == "abc123"
    assert rows[0]["value"] == pytest.approx(0.31587, abs=1e-5)
    assert "bleu|text:none" in rows[0]["notes"]
    loaded = ModelCard.load(card)
    assert loaded.data.license == "apache-2.0"
    assert "Written by hand." in loaded.text
    assert [each.metric_type for each in loaded.data.eval_results] == ["rouge", "bleu", "finding_score"]
    assert loaded.data.eval_results[1].metric_value == rows[0]["value"]


def test_entries_name_the_tasks_of_the_benchmark_and_the_evidence(tmp_path, monkeypatch):
    """As the Hub's own functions write them, which older versions of its package lack."""
    hub = pytest.importorskip("huggingface_hub", "1.4")
    read, write = hub.parse_eval_result_entries, hub.eval_result_entries_to_yaml
    monkeypatch.setitem(hub.__dict__, "EvalResultEntry", None)

    benchmark = ["--benchmark", "my-lab/my-reports", "--eval-yaml", str(tmp_path / "eval.yaml")]
    out = ["--model-card", str(tmp_path / "model"), "--source", "https://example.org/log"]
    assert cli.main([*ONE, *BLEU, "bleu#2", *benchmark, *out]) == 0
    declared = yaml.safe_load((tmp_path / "eval.yaml").read_text())
    assert (declared["name"], declared["evaluation_framework"]) == ("my-reports", "rrgmetrics")
    tasks = [task["id"] for task in declared["tasks"]]
    assert tasks == ["bleu", "finding_score", "bleu_2"]
    rows = yaml.safe_load((tmp_path / "model" / ".eval_results" / "rrgmetrics.yaml").read_text())
    entries = read(rows)
    assert write(entries) == rows
    assert [entry.task_id for entry in entries] == tasks
    assert {(entry.source_url, entry.source_name) for entry in entries} == {("https://example.org/log", "rrgmetrics")}


def test_the_pushed_details_are_the_evidence(tmp_path, monkeypatch):
    from datasets import Dataset

    monkeypatch.setattr(Dataset, "push_to_hub", lambda self, *where, **how: None)
    out = [
        "--model-card",
        str(tmp_path / "model"),
        "--benchmark",
        "my-lab/my-reports",
        "--push-to-hub",
        "my-lab/scores",
    ]
    assert cli.main([*ONE, *BLEU, *out]) == 0
    rows = yaml.safe_load((tmp_path / "model" / ".eval_results" / "rrgmetrics.yaml").read_text())
    assert rows[0]["source"]["url"] == "https://huggingface.co/datasets/my-lab/scores"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--source", "https://example.org"], "--source needs --model-card DIR"),
        (["--eval-yaml", "eval.yaml"], "--eval-yaml needs --benchmark ID"),
        (["--benchmark", "a/b", "--model-card", "m", "--source", "log.txt"], "write an address that begins with https"),
    ],
)
def test_publishing_that_lacks_its_counterpart_is_refused(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main([*ONE, *BLEU, *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_compare_writes_a_card_for_each_system(tmp_path):
    out = ["--model-card", str(tmp_path), "--benchmark", "my-lab/my-reports"]
    assert cli.main([*TWO, "--metrics", "bleu", "--no-trivial", "--no-progress", "--trials", "10", *out]) == 0
    values = [
        yaml.safe_load((tmp_path / name / ".eval_results" / "rrgmetrics.yaml").read_text())[0]["value"]
        for name in ("system_a", "system_b")
    ]
    assert values[0] != values[1]
    text = (tmp_path / "system_a" / "README.md").read_text()  # a new one: its metadata, and its title
    assert text.count("---") == 2
    assert text.endswith("# system_a\n")


@pytest.mark.parametrize("texts", [False, True])
def test_details_are_pushed_without_texts_unless_asked(texts, tmp_path, monkeypatch, capsys):
    from datasets import Dataset

    pushed = []
    monkeypatch.setattr(Dataset, "push_to_hub", lambda self, *where, **how: pushed.append((self, where, how)))
    pairs = tmp_path / "pairs.jsonl"
    rows = [("s1", "Small left effusion.", "Small right effusion."), ("s2", "Lorem ipsum dolor sit amet.", "")]
    pairs.write_text(
        "".join(json.dumps(dict(zip(("study_id", "reference", "candidate"), row, strict=True))) + "\n" for row in rows)
    )
    command = ["score", str(pairs), *BLEU, "--no-trivial", "--no-progress", "--trials", "10"]
    assert cli.main([*command, "--push-to-hub", "my-lab/scores", *(["--push-texts"] if texts else [])]) == 0
    ((dataset, where, how),) = pushed
    assert (where, how) == (("my-lab/scores",), {"config_name": "pairs", "split": "test", "private": True})
    assert ("reference" in dataset.column_names) is texts
    assert dataset["study_id"][:] == ["s1", "s2"]
    assert math.isnan(dataset["finding_score"][1])
    assert "Latin" in dataset["unscored"][1]
    assert dataset["unscored"][0] == ""
    assert "finding_score|" in dataset.info.description


def test_tensorboard_gets_scores_and_a_table(tmp_path, monkeypatch):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    monkeypatch.chdir(tmp_path)
    assert cli.main([*ONE, "--metrics", "bleu", "--report-to", "tensorboard", "--project", "lab"]) == 0
    events = EventAccumulator(str(tmp_path / "runs" / "lab" / "system_a"))
    events.Reload()
    assert events.Scalars("bleu")[0].value == pytest.approx(0.31587, abs=1e-5)
    text = events.Tensors("reports/text_summary")[0].tensor_proto.string_val[0].decode()
    assert "study-22" in text
    assert text.startswith("| step | study_id | reference | candidate | bleu |")


@pytest.mark.parametrize("name", ["wandb", "trackio"])
def test_other_trackers_get_a_run_with_a_table(name, monkeypatch):
    """Their own modules are played by one that keeps what it is given."""
    import sys
    from types import ModuleType, SimpleNamespace

    from rrgmetrics.cli import publish

    logged: dict = {}
    tracker = ModuleType(name)
    tracker.__dict__.update(
        init=lambda **about: logged.update(about),
        log=logged.update,
        finish=lambda: logged.update(finished=True),
        Table=lambda dataframe: SimpleNamespace(dataframe=dataframe),
    )
    monkeypatch.setitem(sys.modules, name, tracker)
    monkeypatch.setattr(publish, "find_spec", lambda package: tracker)
    assert cli.main([*ONE, "--metrics", "bleu", "--report-to", name]) == 0
    assert (logged["project"], logged["name"], logged["finished"]) == ("rrgmetrics", "system_a", True)
    assert logged["bleu"] == pytest.approx(0.31587, abs=1e-5)
    assert list(logged["reports"].dataframe["study_id"])[:2] == ["study-01", "study-02"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--push-to-hub", "scores"], "--push-to-hub scores: write ORGANISATION/NAME"),
        (["--push-texts"], "--push-texts needs --push-to-hub REPO"),
        (["--model-card", "x"], "--model-card DIR and --benchmark ID must be given together"),
        (["--model-card", __file__, "--benchmark", "a/b"], "is a file; name the folder"),
        (["--report-to", "wandb"], "--report-to wandb needs a package: pip install wandb"),
    ],
)
def test_what_cannot_be_published_is_said_before_any_work(arguments, words, monkeypatch, capsys):
    from rrgmetrics.cli import publish

    monkeypatch.setattr(publish, "find_spec", lambda package: None)
    assert cli.main(["score", "no_such_file.csv", *BLEU, *arguments]) == 2
    assert words in capsys.readouterr().err
