"""`ReportMetricsCallback` with the real Trainer: where its values arrive, and what it leaves as it was."""

from __future__ import annotations

import json
import math

import pytest
import yaml

from rrgmetrics.callbacks import ReportMetricsCallback, best_model, make_compute_metrics
from rrgmetrics.errors import InputError
from rrgmetrics.integrations.model_card import Benchmark, write_model_card
from rrgmetrics.scorers.bleu import Bleu


def evaluations(trainer, key="eval_bleu"):
    return [row[key] for row in trainer.state.log_history if key in row]


def test_values_stand_in_the_row_of_the_evaluation(make_trainer, vision_model, parrot, tmp_path):
    trainer = make_trainer(vision_model)
    ReportMetricsCallback(["finding_errors", "green", "bleu"], generate_fn=parrot()).attach(trainer)
    trainer.train()
    rows = [row for row in trainer.state.log_history if "eval_loss" in row]
    assert [row["step"] for row in rows] == [2, 4]
    for row in rows:
        assert (row["eval_finding_errors"], row["eval_finding_errors_n_unscored"], row["eval_reports"]) == (0, 0, 6)
        assert row["eval_generation_seconds"] >= 0
        assert row["eval_scoring_seconds"] > 0
        assert {type(value) for key, value in row.items() if key.startswith("eval_")} == {float}
    table = [json.loads(line) for line in (tmp_path / "out" / "reports" / "eval_000004.jsonl").read_text().splitlines()]
    assert [row["candidate"] == row["reference"] and row["scores"]["finding_errors"] == 0 for row in table] == [
        True
    ] * 6
    assert trainer.evaluate()["eval_finding_errors"] == 0  # by hand, after the training


def test_the_best_model_early_stopping_and_the_plateau_see_the_values(make_trainer, vision_model, tmp_path):
    from transformers import EarlyStoppingCallback

    wrong = iter([0, 3, 1, 2, 2, 2])  # the first call is the rehearsal

    def generate(model, examples):
        reports = [example["report"] for example in examples]
        n = next(wrong)
        return ["Large left pneumothorax." if index < n else text for index, text in enumerate(reports)]

    trainer = make_trainer(
        vision_model,
        callbacks=[EarlyStoppingCallback(early_stopping_patience=1)],
        max_steps=10,
        save_strategy="steps",
        save_steps=2,
        lr_scheduler_type="reduce_lr_on_plateau",
        per_device_eval_batch_size=8,
        **best_model("finding_errors"),
    )
    callback = ReportMetricsCallback("finding_errors", generate_fn=generate, restore="repair").attach(trainer)
    with pytest.raises(InputError, match="not evaluated"):
        callback.results()
    trainer.train()
    values = evaluations(trainer, "eval_finding_errors")
    assert values[0] > values[2] > values[1]
    assert trainer.state.best_metric == values[1]
    assert trainer.state.best_model_checkpoint == str(tmp_path / "out" / "checkpoint-4")
    assert trainer.state.global_step == 6  # stopped after one evaluation without a better value
    assert trainer.lr_scheduler.best == values[1]
    best = callback.results()
    assert best["finding_errors"].scores["finding_errors"] == values[1]
    write_model_card(tmp_path / "model", "my-model", best, Benchmark("my-lab/my-reports"))
    (entry,) = yaml.safe_load((tmp_path / "model" / ".eval_results" / "rrgmetrics.yaml").read_text())
    assert entry["value"] == values[1]


@pytest.mark.parametrize("greater_is_better", [True, None])
def test_a_wrong_direction_is_an_error(make_trainer, vision_model, parrot, greater_is_better):
    """TrainingArguments takes True where nothing is said."""
    trainer = make_trainer(
        vision_model, metric_for_best_model="eval_finding_errors", greater_is_better=greater_is_better
    )
    with pytest.raises(InputError, match=r"greater_is_better is True, and lower eval_finding_errors is better"):
        ReportMetricsCallback("finding_errors", generate_fn=parrot()).attach(trainer)


@pytest.mark.parametrize("arguments", [{"metrics": {"bleu": "every:2"}}, {"metrics": "bleu", "when": "steps:2"}])
def test_the_best_model_needs_a_value_each_time(make_trainer, vision_model, parrot, arguments):
    trainer = make_trainer(vision_model, metric_for_best_model="bleu")
    with pytest.raises(InputError, match="which every evaluation must have"):
        ReportMetricsCallback(generate_fn=parrot(), **arguments).attach(trainer)


def test_the_best_model_needs_a_metric_that_is_computed(make_trainer, vision_model, parrot, tmp_path):
    trainer = make_trainer(vision_model, **best_model("crepe") | {"load_best_model_at_end": False})
    ReportMetricsCallback("bleu", generate_fn=parrot()).attach(trainer)
    with pytest.raises(InputError, match=r"eval_crepe, which nothing computes\..* that it logs: eval_bleu"):
        trainer.train()
    assert trainer.state.global_step == 0
    other = ReportMetricsCallback("crepe", generate_fn=parrot(), folder=tmp_path / "crepe")  # which computes it
    other.attach(trainer)
    trainer.train()
    trainer = make_trainer(vision_model, metric_for_best_model="crepe")
    trainer.compute_metrics = lambda _: {"crepe": 1.0}
    ReportMetricsCallback("bleu", generate_fn=parrot()).attach(trainer)
    trainer.train()


@pytest.mark.parametrize("dataset", ["", "mimic"])
def test_a_best_model_by_the_key_of_another_configuration_has_advice(
    make_trainer, vision_model, parrot, studies, dataset
):
    settings = best_model("bleu", dataset=dataset) | {"load_best_model_at_end": False}
    trainer = make_trainer(vision_model, eval_dataset={dataset: studies} if dataset else studies, **settings)
    ReportMetricsCallback("bleu?tokenizer=13a", generate_fn=parrot()).attach(trainer)
    advice = "That of bleu?tokenizer=13a is bleu__tokenizer_13a; .*'g=bleu?tokenizer=13a' logs bleu__g"
    with pytest.raises(InputError, match=advice.replace("?", r"\?")):
        trainer.train()


def test_two_callbacks_write_to_two_folders(make_trainer, vision_model, parrot, tmp_path):
    trainer = make_trainer(vision_model)
    ReportMetricsCallback("bleu", generate_fn=parrot()).attach(trainer)
    with pytest.raises(InputError, match=r"writes to .*reports; pass folder="):
        ReportMetricsCallback("rouge", generate_fn=parrot()).attach(trainer)
    ReportMetricsCallback("rouge", generate_fn=parrot(), folder=tmp_path / "rouge").attach(trainer)
    trainer.train()
    for folder, metric in (("out/reports", "bleu"), ("rouge", "rouge")):
        lines = (tmp_path / folder / "eval_values.jsonl").read_text().splitlines()
        assert [list(json.loads(line)["metrics"].values()) for line in lines] == [[metric]] * 2


@pytest.mark.parametrize(
    ("when", "arguments", "why"),
    [
        ("evaluation", {"eval_strategy": "no"}, "eval_strategy is 'no'; pass eval_strategy='steps' or 'epoch'"),
        ("steps:5", {}, "when is 'steps:5', and the training has 4 steps"),
        ("epochs:2", {"max_steps": -1, "num_train_epochs": 1}, "when is 'epochs:2', and num_train_epochs is 1"),
        ("epochs:1", {"max_steps": -1, "num_train_epochs": 0.5}, ""),
        ("evaluation", {"eval_strategy": "no", "eval_on_start": True}, ""),
        ("evaluation", {}, ""),
    ],
)
def test_a_training_without_an_evaluation_is_warned_of(
    make_trainer, vision_model, parrot, when, arguments, why, caplog
):
    trainer = make_trainer(vision_model, **arguments)
    ReportMetricsCallback("bleu", generate_fn=parrot(), when=when).attach(trainer)
    trainer.train()
    messages = [record.getMessage() for record in caplog.records]
    warned = [text for text in messages if "generates and scores no report in this training" in text]
    assert len(warned) == bool(why)
    assert why in "".join(warned)
    assert any("after the first evaluation" in text for text in messages) == (not why)
    assert bool(evaluations(trainer)) == (not why)


@pytest.mark.parametrize("arguments", [{"metrics": {"bleu": "every:2"}}, {"metrics": "bleu", "when": "steps:4"}])
def test_another_set_and_another_prefix(make_trainer, vision_model, parrot, studies, tmp_path, arguments):
    trainer = make_trainer(vision_model)
    callback = ReportMetricsCallback(generate_fn=parrot(), **arguments).attach(trainer)
    trainer.train()
    tested = trainer.evaluate(studies[:4], metric_key_prefix="test")
    assert (tested["test_bleu"], tested["test_reports"]) == (pytest.approx(1), 4)
    assert evaluations(trainer, "test_bleu") == [tested["test_bleu"]]
    assert callback.results(prefix="test")["bleu"].n_pairs == 4
    predicted = trainer.predict(studies[:3], metric_key_prefix="final").metrics
    assert (predicted["final_bleu"], predicted["final_reports"]) == (pytest.approx(1), 3)
    assert trainer.evaluate(studies[:2])["eval_reports"] == 2  # not the validation set's
    assert trainer.evaluate(metric_key_prefix="again")["again_reports"] == 6
    assert trainer.predict(studies, metric_key_prefix="whole").metrics["whole_reports"] == 6
    folder = tmp_path / "out" / "reports"
    records = ["again", "eval", "eval_other_set", "final", "test", "whole"]
    assert sorted(path.name for path in folder.glob("*_last_model_values.jsonl")) == [
        f"{record}_last_model_values.jsonl" for record in records if record != "eval"
    ]
    assert "<h2>test_last_model</h2>" in (folder / "index.html").read_text()


def test_a_sample_of_another_set_is_named(make_trainer, vision_model, parrot, studies, caplog):
    trainer = make_trainer(vision_model)
    ReportMetricsCallback(generate_fn=parrot(), metrics="bleu", n_reports=2).attach(trainer)
    assert trainer.evaluate(studies[:4], metric_key_prefix="test")["test_reports"] == 2
    assert "test: reports of 2 of 4 examples are scored (n_reports=)." in caplog.messages


def test_another_set_in_the_training_has_a_curve(make_trainer, vision_model, parrot, studies, tmp_path):
    from transformers import TrainerCallback

    class AlsoTraining(TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            if state.global_step % 2:
                trainer.evaluate(studies[:2], metric_key_prefix="seen")

    trainer = make_trainer(vision_model, callbacks=[AlsoTraining()])
    ReportMetricsCallback("bleu", generate_fn=parrot()).attach(trainer)
    trainer.train()
    rows = (tmp_path / "out" / "reports" / "seen_values.jsonl").read_text().splitlines()
    assert [json.loads(row)["step"] for row in rows] == [1, 3]


def test_a_set_without_reports_can_be_predicted(make_trainer, vision_model, parrot, studies, caplog):
    unread = [{"pixel_values": each["pixel_values"], "study_id": each["study_id"]} for each in studies]
    trainer = make_trainer(vision_model)
    ReportMetricsCallback("bleu", generate_fn=parrot()).attach(trainer)
    trainer.prediction_step = lambda *_, **__: (None, None, None)
    assert "test_bleu" not in trainer.predict(unread).metrics
    (message,) = [text for text in caplog.messages if text.startswith("No report metrics of test")]
    assert "has no references" in message


def test_metrics_of_the_background_are_in_an_evaluation_by_hand(make_trainer, vision_model, parrot, studies):
    trainer = make_trainer(vision_model, max_steps=1)
    ReportMetricsCallback({"rouge": "background", "bleu": "every:1"}, generate_fn=parrot()).attach(trainer)
    tested = trainer.evaluate(studies[:2], metric_key_prefix="test")
    assert (tested["test_rouge"], tested["test_bleu"]) == pytest.approx((1, 1))


def test_schedules(make_trainer, vision_model, parrot):
    trainer = make_trainer(vision_model, max_steps=6, eval_steps=1)
    ReportMetricsCallback({"bleu": "every:1", "green": "every:3"}, generate_fn=parrot()).attach(trainer)
    trainer.train()
    steps = [row["step"] for row in trainer.state.log_history if "eval_green" in row]
    assert (len(evaluations(trainer)), steps) == (6, [1, 4])


@pytest.mark.parametrize(("when", "steps"), [("steps:3", [3, 6]), ("epochs:1", [3, 6])])
def test_times_of_its_own(make_trainer, vision_model, parrot, when, steps):
    trainer = make_trainer(vision_model, max_steps=6, eval_strategy="no")
    ReportMetricsCallback("bleu", generate_fn=parrot(), when=when).attach(trainer)
    trainer.train()
    assert [row["step"] for row in trainer.state.log_history if "eval_bleu" in row] == steps


def test_a_fixed_sample(make_trainer, vision_model, parrot):
    trainer = make_trainer(vision_model)
    generate = parrot()
    ReportMetricsCallback("bleu", generate_fn=generate, n_reports=4, batch_size=1, seed=1).attach(trainer)
    trainer.train()
    first, second = generate.asked[1:5], generate.asked[5:]
    assert first == second
    assert len(set(first)) == 4


def test_a_time_limit_makes_the_set_smaller_for_good(make_trainer, vision_model, caplog):
    import time

    def generate(model, examples):
        time.sleep(0.2)
        return [""] * len(examples)

    trainer = make_trainer(vision_model)
    ReportMetricsCallback("bleu", generate_fn=generate, batch_size=4, max_seconds=0.1).attach(trainer)
    trainer.train()
    assert evaluations(trainer, "eval_reports") == [4, 4]
    assert [record.getMessage().count("from now on 4 reports") for record in caplog.records].count(1) == 1


def test_several_evaluation_sets(make_trainer, vision_model, parrot, studies):
    trainer = make_trainer(vision_model, eval_dataset={"a": studies[:2], "b": studies[2:]})
    ReportMetricsCallback("bleu", generate_fn=parrot()).attach(trainer)
    metrics = trainer.evaluate()
    assert (metrics["eval_a_reports"], metrics["eval_b_reports"]) == (2, 4)
    assert "eval_bleu" not in metrics


def test_a_failure_while_scoring_is_nan_and_training_goes_on(make_trainer, vision_model, parrot, monkeypatch, caplog):
    def fail(*_):
        raise RuntimeError("no luck")

    monkeypatch.setattr(Bleu, "pair_stats", fail)
    trainer = make_trainer(vision_model)
    ReportMetricsCallback(["bleu", "rouge"], generate_fn=parrot()).attach(trainer)
    trainer.train()
    assert all(map(math.isnan, evaluations(trainer)))
    assert evaluations(trainer, "eval_bleu_n_unscored") == [6, 6]
    assert evaluations(trainer, "eval_rouge") == [1, 1]
    assert sum("no luck" in record.getMessage() for record in caplog.records) == 1
    trainer = make_trainer(vision_model)
    ReportMetricsCallback("bleu", generate_fn=parrot(), on_error="raise").attach(trainer)
    with pytest.raises(RuntimeError, match="no luck"):
        trainer.train()


def test_a_failure_while_generating_is_nan_and_training_goes_on(make_trainer, vision_model, caplog):
    calls = []

    def generate(model, examples):
        calls.append(1)
        if len(calls) > 1:
            raise RuntimeError("out of memory")
        return [""]

    trainer = make_trainer(vision_model)
    ReportMetricsCallback("bleu", generate_fn=generate).attach(trainer)
    trainer.train()
    assert all(map(math.isnan, evaluations(trainer)))
    assert (evaluations(trainer, "eval_reports"), evaluations(trainer, "eval_bleu_n_unscored")) == ([0, 0], [6, 6])
    assert sum("out of memory" in record.getMessage() for record in caplog.records) == 1


def test_a_wrong_set_up_fails_before_the_first_step(make_trainer, vision_model, parrot, studies, tokenizer):
    def attach(trainer=None, **given):
        return ReportMetricsCallback("bleu", **given).attach(trainer or make_trainer(vision_model))

    with pytest.raises(InputError, match="did you mean bleu"):
        ReportMetricsCallback(["blue"])
    with pytest.raises(InputError, match="no evaluation set"):
        attach(make_trainer(vision_model, eval_dataset=None, eval_strategy="no"))
    with pytest.raises(InputError, match="no references: its columns are pixel_values"):
        attach(reference="impression")
    with pytest.raises(InputError, match="Every reference of the evaluation set is missing"):
        attach(reference=lambda example: None)
    with pytest.raises(InputError, match="n_reports"):
        attach(n_reports=0)
    with pytest.raises(InputError, match="attach"):
        make_trainer(vision_model, callbacks=[ReportMetricsCallback("bleu")]).train()
    trainer = make_trainer(vision_model)
    attach(trainer, generate_fn=lambda model, examples: ["one", "too many"])
    with pytest.raises(InputError, match="one string for each"):
        trainer.train()
    trainer = make_trainer(vision_model)
    attach(trainer, generate_fn=lambda model, examples: 1 / 0)
    with pytest.raises(InputError, match="ZeroDivisionError"):
        trainer.train()
    assert trainer.state.global_step == 0
    tokenizer.pad_token = None
    with pytest.raises(InputError, match="no pad token"):
        attach()


def test_the_run_is_as_it_would_have_been(make_trainer, vision_model, parrot):
    """Same weights, random numbers and settings at the end, with the callback and without."""
    import copy

    import torch

    def run(model, with_callback):
        trainer = make_trainer(model, eval_strategy="no")
        model.encoder.eval()  # a frozen encoder
        model.config.use_cache = False
        if with_callback:
            settings = {"do_sample": True, "max_new_tokens": 4}
            ReportMetricsCallback("bleu", when="steps:1", generation_config=settings).attach(trainer)
        trainer.train()
        modes = [module.training for module in model.modules()]
        return model.state_dict(), torch.rand(1), modes, model.config.to_dict(), model.generation_config.to_dict()

    other = copy.deepcopy(vision_model)
    torch.manual_seed(1)
    weights, *rest = run(vision_model, True)
    torch.manual_seed(1)
    expected_weights, *expected = run(other, False)
    assert all(torch.equal(weights[name], expected_weights[name]) for name in weights)
    for actual, wanted in zip(rest, expected, strict=True):
        assert actual == wanted


def test_undisturbed_restores_the_mode_of_every_module_and_keeps_gradients(vision_model):
    import random

    import numpy as np
    import torch

    from rrgmetrics.callbacks.generation import undisturbed

    vision_model.train()
    vision_model.encoder.eval()
    for parameter in vision_model.parameters():
        parameter.grad = torch.ones_like(parameter)
    torch.manual_seed(3)
    random.seed(3)
    np.random.seed(3)
    states = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()
    with undisturbed(vision_model, 0):
        assert not any(module.training for module in vision_model.modules())
        assert not torch.is_grad_enabled()
        torch.rand(1), random.random(), np.random.rand()
    assert vision_model.decoder.training
    assert not vision_model.encoder.training
    assert all((parameter.grad == 1).all() for parameter in vision_model.parameters())
    assert torch.equal(torch.get_rng_state(), states[0])
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states[1:]


def test_seq2seq_trainer_with_compute_metrics(make_trainer, vision_model, tokenizer):
    from transformers import GenerationConfig, Seq2SeqTrainer, Seq2SeqTrainingArguments

    tokens = {"pad_token_id": 0, "bos_token_id": 1, "decoder_start_token_id": 1, "eos_token_id": 2}
    settings = GenerationConfig(max_new_tokens=6, **tokens)
    trainer = make_trainer(
        vision_model,
        trainer_class=Seq2SeqTrainer,
        arguments_class=Seq2SeqTrainingArguments,
        predict_with_generate=True,
        generation_config=settings,
    )
    trainer.compute_metrics = make_compute_metrics(tokenizer, ["bleu", "finding_errors"])
    metrics = trainer.evaluate()
    assert metrics["eval_finding_errors"] > 0
    assert metrics["eval_finding_errors_n_unscored"] == 0


def test_published_checkpoints_score_during_training(make_trainer, vision_model, parrot, layout_cache):
    """Each as it is published, in one training; judges need a GPU."""
    from rrgmetrics.doctor.needs import needs
    from rrgmetrics.specs.names import parse_name

    names = sorted({name for need in needs() for name in need.configurations})
    names = [name for name in names if not parse_name(name).spec.judge]
    trainer = make_trainer(vision_model)
    ReportMetricsCallback(names, generate_fn=parrot()).attach(trainer)
    trainer.train()
    last = [row for row in trainer.state.log_history if "eval_loss" in row][-1]
    unscored = {key: value for key, value in last.items() if key.endswith("_n_unscored")}
    assert len(unscored) == len(names)
    assert set(unscored.values()) == {0}
    assert last["eval_bertscore__paper"] == pytest.approx(1)  # the parrot says what the references say
    assert last["eval_chexbert_f1__paper"] == 1
