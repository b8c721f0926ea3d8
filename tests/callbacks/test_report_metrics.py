"""`ReportMetrics`: update, compute, reset; one process (several: test_processes.py)."""

from __future__ import annotations

import math

import pytest

import rrgmetrics
from float32 import in_float32
from rrgmetrics.callbacks import ReportMetrics, best_model
from rrgmetrics.callbacks.scoring import Scoring
from rrgmetrics.errors import InputError
from rrgmetrics.reports import check_pairs
from rrgmetrics.scorers.bleu import Bleu
from rrgmetrics.scoring import notice

METRICS = ["finding_errors", "green", "crepe", "bleu", "bleu?tokenizer=13a"]


def test_batches_score_as_one_call(reports):
    metrics = ReportMetrics(METRICS, prefix="val/")
    for start in range(0, len(reports.references), 3):
        part = slice(start, start + 3)
        metrics.update(reports.altered[part], reports.references[part])
    values = metrics.compute()
    whole = rrgmetrics.score(METRICS, predictions=reports.altered, references=reports.references, progress=False)
    assert values["val/bleu"] == whole["bleu"].scores["bleu"]
    assert values["val/bleu__tokenizer_13a"] == whole["bleu?tokenizer=13a"].scores["bleu"]
    assert values["val/crepe"] == in_float32(whole["crepe"].scores["crepe"])
    assert values["val/green_false_finding"] == whole["green"].scores["green_false_finding"]
    assert values["val/finding_errors_n_unscored"] == 0
    assert {type(value) for value in values.values()} == {float}


def test_reset_forgets_and_an_empty_set_is_an_error():
    metrics = ReportMetrics("rouge")
    metrics.update(["Clear lungs."], ["Clear lungs."])
    metrics.reset()
    with pytest.raises(InputError, match="update"):
        metrics.compute()
    metrics.update(["Large effusion."], ["Clear lungs."])
    assert metrics.compute()["rouge"] == 0


def test_an_id_counts_once_and_orders():
    metrics = ReportMetrics("rouge")
    metrics.update(["Clear lungs.", "Effusion."], ["Clear lungs.", "Clear lungs."], ids=[1, 0])
    metrics.update(["Something else."], ["Clear lungs."], ids=[1])  # what a sampler appends
    assert metrics.compute()["rouge"] == 0.5


@pytest.mark.parametrize(
    ("ids", "message"),
    [([1], "1 entries for 2"), ([1.5, 2], "whole numbers"), (["a", 1], "whole numbers or all strings")],
)
def test_wrong_ids(ids, message):
    with pytest.raises(InputError, match=message):
        ReportMetrics("rouge").update(["a", "b"], ["a", "b"], ids=ids)


def test_ids_of_two_references_and_of_some_batches_only():
    metrics = ReportMetrics("rouge")
    metrics.update(["a"], ["a"], ids=[1])
    with pytest.raises(InputError, match="for all or for none"):
        metrics.update(["a"], ["a"])
    metrics.update(["a"], ["b"], ids=[1])
    with pytest.raises(InputError, match="belongs to two references"):
        metrics.compute()


def test_wrong_set_up():
    with pytest.raises(InputError, match="bleu"):
        ReportMetrics("blue")
    with pytest.raises(InputError, match="both be logged as bleu"):
        ReportMetrics(["bleu", "bleu?tokenizer=coco"])
    with pytest.raises(InputError, match=r"predictions\[1\] is 3"):
        ReportMetrics("bleu").update(["a", 3], ["a", "b"])


@pytest.mark.parametrize(("missing", "n_unscored"), [("unscored", 1), ("empty", 0)])
def test_a_missing_reference(missing, n_unscored, caplog):
    metrics = ReportMetrics("rouge", baselines="none", missing=missing)
    metrics.update(["Clear lungs.", "Edema.", None], ["Clear lungs.", None, "Edema."])
    values = metrics.compute()
    assert values["rouge_n_unscored"] == n_unscored
    assert values["rouge_1"] == pytest.approx(1 / (3 - n_unscored))
    assert ("1 x the reference is missing" in caplog.text) == bool(n_unscored)


def test_control_tokens_are_warned_of_once_for_each_column(caplog, monkeypatch):
    monkeypatch.setattr(notice, "_of_tokens", set())
    monkeypatch.delenv(notice.VARIABLE, raising=False)
    metrics = ReportMetrics(["bleu"], prefix="val/")
    for n in (1, 2):
        metrics.update(["Clear lungs.<|im_end|>"] * n, ["Clear lungs."] * n)
        metrics.compute()
        metrics.reset()
    assert [message.partition(":")[0] for message in caplog.messages if "control tokens" in message] == [
        "1 of 1 candidates of val contain control tokens or a prompt, as <|im_end|> (index 0)"
    ]


def test_one_metric_that_fails_is_nan_and_said_once(monkeypatch, caplog):
    def fail(*_):
        raise RuntimeError("no luck")

    monkeypatch.setattr(Bleu, "pair_stats", fail)
    scoring = Scoring(["bleu", "rouge"], on_error="log")
    for _ in range(2):
        values = scoring.score(check_pairs(["Clear lungs."], ["Clear lungs."])).values
    assert math.isnan(values["bleu"])
    assert (values["bleu_n_unscored"], values["rouge"], values["rouge_n_unscored"]) == (1, 1, 0)
    assert [record.getMessage().count("no luck") for record in caplog.records] == [1]
    with pytest.raises(RuntimeError, match="no luck"):
        Scoring(["bleu", "rouge"]).score(check_pairs(["a"], ["a"]))


def test_best_model_takes_the_direction_from_the_spec():
    assert best_model("finding_errors") == {
        "load_best_model_at_end": True,
        "metric_for_best_model": "eval_finding_errors",
        "greater_is_better": False,
    }
    assert best_model("green")["greater_is_better"] is True
    assert best_model("green", key="green_errors", dataset="ood")["metric_for_best_model"] == "eval_ood_green_errors"
    assert best_model("green@hf:a/b", key="green_errors")["metric_for_best_model"] == "eval_green_errors__hf_a_b"
    with pytest.raises(InputError, match="green_errors"):
        best_model("green", key="errors")


@pytest.mark.parametrize(
    ("logged", "name", "key"),
    [
        ("rouge_l", "rouge", "rouge_l"),
        ("eval_green_errors", "green", "green_errors"),
        ("crepe__paper", "crepe@paper", "crepe"),
        ("green_errors__paper", "green@paper", "green_errors"),
    ],
)
def test_best_model_takes_a_key_as_it_is_logged(logged, name, key):
    assert best_model(logged) == best_model(name, key=key)
    assert best_model(logged, dataset="a")["metric_for_best_model"] == f"eval_a_{logged.removeprefix('eval_')}"


@pytest.mark.parametrize("key", ["finding_errors", "rouge_l", "chexbert_f1_macro_14", "green_errors__paper"])
def test_best_model_takes_a_key_of_one_of_several_sets(key):
    for dataset in ("iu", "mimic_cxr"):
        logged = f"eval_{dataset}_{key}"
        assert best_model(logged) == best_model(key) | {"metric_for_best_model": logged}
    for wrong in ("eval_iu_nothing", f"iu_{key}"):
        with pytest.raises(InputError, match=f"no metric '{wrong.partition('__')[0]}"):
            best_model(wrong)


def test_importing_is_light(run_python):
    loaded = run_python("import sys, rrgmetrics.callbacks; print(*sys.modules)").split()
    assert not {name.partition(".")[0] for name in loaded} & {"torch", "transformers", "evaluate", "pandas"}


def test_a_report_of_any_length_stops_no_training():
    metric = ReportMetrics("finding_errors")
    metric.update(["Clear lungs. " * 20_000, "Small \ud800 effusion."], ["Clear lungs.", "Small effusion."])
    assert metric.compute()["finding_errors"] == 0
    with pytest.raises(InputError, match=r"references\[2\] has 260,000 characters"):
        metric.update(["Clear lungs."], ["Clear lungs. " * 20_000])
