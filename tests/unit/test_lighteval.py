"""Metrics for lighteval: as its pipeline calls them, a task's replies together; and by its command line, offline."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import rrgmetrics
from code_blocks import blocks
from rrgmetrics.testing import invented_reports

pytest.importorskip("lighteval")
pytestmark = pytest.mark.slow

METRICS = ["bleu?tokenizer=13a", "chexbert_f1", "cider", "finding_score"]


def test_replies_of_a_task_are_scored_as_score_does():
    from lighteval.metrics import apply_metric
    from lighteval.models.model_output import ModelResponse

    from rrgmetrics.integrations.lighteval import report_tasks

    references, candidates = invented_reports()
    references, candidates = [*references, "Lorem ipsum dolor sit amet."], [*candidates, ""]
    task = report_tasks("nowhere", METRICS, all_keys=True)[0]
    rows = [{"findings": "?", "reference": reference, "age": "72"} for reference in references]
    docs = [task.prompt_function(row, task.name) for row in rows]
    outputs = apply_metric([ModelResponse(text=[text]) for text in candidates], docs, task.metrics)
    results = rrgmetrics.score(
        METRICS, predictions=candidates, references=references, contexts=[{"age": "72"}] * len(docs), progress=False
    )
    for metric, (name, result) in zip(task.metrics, results.items(), strict=True):
        end = "__tokenizer_13a" if "?" in name else ""
        corpus = metric.get_corpus_aggregations()[metric.metric_name]([row[metric.metric_name] for row in outputs])
        expected = {key + end: value for key, value in result.scores.items()}
        assert corpus.keys() == expected.keys() | {metric.metric_name + key for key in ("_low", "_high", "_n_unscored")}
        for key, value in expected.items():
            np.testing.assert_allclose(corpus[key], value, rtol=0, atol=1e-12, err_msg=key)
        assert corpus[f"{metric.metric_name}_n_unscored"] == result.n_unscored
        assert corpus[f"{metric.metric_name}_low"] <= corpus[metric.metric_name] <= corpus[f"{metric.metric_name}_high"]


def test_its_command_line_as_the_page_prints_it(tmp_path, monkeypatch):
    """With the page's own model; the file that lighteval loads for another task counts as being there."""
    from lighteval.models.custom import custom_model  # noqa: F401 - before `isfile` is another
    from typer.testing import CliRunner

    is_file = os.path.isfile
    monkeypatch.setattr(os.path, "isfile", lambda path: str(path).endswith("tinyBenchmarks.pkl") or is_file(path))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "rrgmetrics.integrations.lighteval", raising=False)  # imported in another folder
    page = Path(__file__).parents[2] / "docs" / "howto" / "lighteval.md"
    (model,) = (block for block in blocks(page.read_text()) if block.title == "echo_model.py")
    Path("echo_model.py").write_text(model.code)
    references, candidates = invented_reports()
    rows = [{"findings": text, "reference": other} for text, other in zip(candidates, references, strict=True)]
    command = (
        "echo echo_model.py report_summarisation --custom-tasks rrgmetrics.integrations.lighteval --output-dir out"
    )

    from lighteval.main_custom import app

    missing = CliRunner().invoke(app, command.split())
    assert f"Couldn't find any data file at {tmp_path}/reports" in str(missing.exception)
    Path("reports").mkdir()
    Path("reports/test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = CliRunner().invoke(app, command.split())
    assert done.exit_code == 0, done.exception
    (file,) = Path("out").rglob("results_*.json")
    said = json.loads(file.read_text())["results"]["report_summarisation|0"]
    results = rrgmetrics.score(
        ["bleu", "crepe", "chexbert_f1"], predictions=candidates, references=references, progress=False
    )
    for name, result in results.items():
        np.testing.assert_allclose(said[name], result.scores[name], atol=1e-6)
