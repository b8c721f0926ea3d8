"""Metrics for lighteval, as its pipeline calls them: a task's replies together, then each metric's corpus values."""

import numpy as np
import pytest

import rrgmetrics
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
