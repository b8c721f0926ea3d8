"""What spoils a run before it begins: labels that were cut, and reports that outgrow the model."""

from __future__ import annotations

import logging

import pytest

from rrgmetrics.callbacks import ReportMetricsCallback
from rrgmetrics.callbacks.lengths import Labels, count_cut, say_overrun
from rrgmetrics.errors import InputError

WHOLE, CUT = Labels(5, True, True), Labels(8, False, False)


@pytest.mark.parametrize(
    ("labels", "n_cut"),
    [
        ([WHOLE, WHOLE, CUT], 1),  # others have the end token
        ([WHOLE, Labels(8, True, False), Labels(8, True, True)], 1),  # cut, and the end token written behind it
        ([Labels(5, False, True), Labels(7, False, True), CUT], 1),  # a tokenizer without an end token
        ([Labels(5, False, True), Labels(8, False, True)], 0),  # the longest report is no cut one
        ([Labels(3, False, False), Labels(8, False, False), Labels(8, False, False)], 0),  # no full stops: by accident?
        ([Labels(3, False, False), *[Labels(8, False, False)] * 3], 3),  # no accident
        ([Labels(8, False, False)] * 4, 4),
        ([Labels(0, True, True)] * 2, 0),
        ([], 0),
    ],
)
def test_which_labels_were_cut(labels, n_cut):
    assert count_cut(labels) == n_cut


def test_how_labels_end(tokenizer):
    full = tokenizer("Small left pleural effusion. </s>").input_ids
    assert Labels.of([*full, -100, -100], tokenizer) == Labels(len(full), True, True)
    assert Labels.of([*full, tokenizer.pad_token_id], tokenizer) == Labels(len(full), True, True)
    assert Labels.of([-100, -100, *full[:3]], tokenizer) == Labels(5, False, False)
    assert Labels.of([-100], tokenizer) == Labels(0, True, True)
    tokenizer.pad_token = tokenizer.eos_token
    assert Labels.of(full, tokenizer).ended
    assert not Labels.of(full[:3], tokenizer).ended


def said(caplog, words):
    return [record.getMessage() for record in caplog.records if words in record.getMessage()]


def test_references_of_cut_labels_are_named_once(make_trainer, vision_model, studies, parrot, caplog):
    only_labels = [{key: study[key] for key in ("pixel_values", "labels", "study_id")} for study in studies]
    for study in only_labels:
        study["labels"] = study["labels"].clone()
    for study in only_labels[:2]:
        study["labels"][3:] = -100  # Small left pleural
    generate = lambda model, examples: ["Small"] * len(examples)  # noqa: E731
    trainer = make_trainer(vision_model, eval_dataset=only_labels, train_dataset=studies)
    ReportMetricsCallback("bleu", generate_fn=generate, baselines="none").attach(trainer)
    trainer.train()
    assert said(caplog, "come from truncated labels") == []  # three tokens, without an end token
    for study in only_labels:
        study["labels"][3:] = -100  # "Mild cardiomegaly ." alone is whole
    trainer = make_trainer(vision_model, eval_dataset=only_labels, train_dataset=studies)
    ReportMetricsCallback("bleu", generate_fn=generate, baselines="none").attach(trainer)
    trainer.train()
    (words,) = said(caplog, "come from truncated labels")
    assert words.startswith("eval: 5 of 6 references (83%) come from truncated labels: they fill 3 tokens")
    trainer = make_trainer(vision_model)  # a column with reports: labels are not looked at
    ReportMetricsCallback("bleu", generate_fn=parrot(), baselines="none").attach(trainer)
    trainer.train()
    assert len(said(caplog, "come from truncated labels")) == 1


def test_the_number_to_use_is_said_before_the_first_step(make_trainer, causal_model, studies, caplog):
    prompted = [{"prompt": "user : Describe the image .", "report": study["report"]} for study in studies]
    settings = {"eval_dataset": prompted, "max_steps": 1, "remove_unused_columns": False, "eval_strategy": "no"}
    trainer = make_trainer(causal_model, **settings)
    callback = ReportMetricsCallback("bleu", when="steps:5", baselines="none").attach(trainer)
    callback.on_train_begin(trainer.args, trainer.state, trainer.control)
    (words,) = said(caplog, "positions")
    assert "256 new tokens, and LlamaForCausalLM has 64 positions, of which the longest prompt of 6 takes 6" in words
    assert "Pass generation_config={'max_new_tokens': 58}" in words
    caplog.clear()
    fitting = ReportMetricsCallback("bleu", when="steps:5", generation_config={"max_new_tokens": 58}, baselines="none")
    fitting.attach(make_trainer(causal_model, **settings)).on_train_begin(trainer.args, trainer.state, trainer.control)
    assert said(caplog, "positions") == []


def test_a_report_that_does_not_fit_names_the_number(make_trainer, vision_model, caplog):
    """GPT-2 has 16 positions, and none beyond."""
    trainer = make_trainer(vision_model)
    settings = {"max_new_tokens": 40, "eos_token_id": 39}  # it does not end by itself
    ReportMetricsCallback("bleu", generation_config=settings).attach(trainer)
    caplog.set_level(logging.WARNING)
    with pytest.raises(InputError, match=r"Nothing was trained. Reports may have 40 new .*'max_new_tokens': 15\}"):
        trainer.train()


def test_relative_positions_have_no_end(text_model):
    from types import SimpleNamespace

    settings = SimpleNamespace(max_new_tokens=100_000, max_length=None)
    assert say_overrun(text_model, SimpleNamespace(settings=settings), [{}]) == ""
