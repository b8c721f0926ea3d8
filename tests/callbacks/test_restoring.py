"""The restore trap: tensors are compared, before and after the repair."""

from __future__ import annotations

import pytest
import torch

from rrgmetrics.callbacks import ReportMetricsCallback, best_model, restoring


def say(model, examples):
    """Right at step 2 (after the rehearsal), wrong at step 4."""
    say.calls += 1
    return [example["report"] if say.calls == 2 else "" for example in examples]


def train(make_trainer, model, restore, resume=None, max_steps=4):
    say.calls = 0
    trainer = make_trainer(
        model,
        save_strategy="steps",
        save_steps=2,
        max_steps=max_steps,
        per_device_eval_batch_size=8,
        **best_model("finding_errors"),
    )
    ReportMetricsCallback("finding_errors", generate_fn=say, restore=restore).attach(trainer)
    trainer.train(resume_from_checkpoint=resume)
    return trainer


def differing(model, folder):
    """Names of tensors that are not those of the checkpoint."""
    written = type(model).from_pretrained(folder).state_dict()
    return [name for name, tensor in model.state_dict().items() if not torch.equal(tensor, written[name])]


def test_the_best_model_is_a_mixture_without_the_repair_and_whole_with_it(make_trainer, vision_model, caplog, tmp_path):
    trainer = train(make_trainer, vision_model, "warn")
    best = trainer.state.best_model_checkpoint
    assert best.endswith("checkpoint-2")
    wrong = differing(trainer.model, best)
    predicted = restoring.unrestored(trainer.model)
    assert set(wrong) <= set(predicted)
    assert restoring.unrestored_from(trainer.model, best) == predicted
    warnings = [record.getMessage() for record in caplog.records if record.name == "rrgmetrics"]
    assert bool(predicted) == any("names that the Trainer does not read" in text for text in warnings)
    assert bool(predicted) == any("the model is a mixture" in text for text in warnings)
    if predicted:  # transformers 5; 4.57 restores this model as it is
        assert len(predicted) == 16
        assert len(wrong) == 16


def test_repaired_the_best_model_is_the_best(make_trainer, vision_model, caplog):
    trainer = train(make_trainer, vision_model, "repair")
    assert differing(trainer.model, trainer.state.best_model_checkpoint) == []
    assert "save_pretrained" not in vars(trainer.model)
    assert "mixture" not in caplog.text


@pytest.mark.parametrize("first", ["warn", "repair"])
def test_a_resumed_run_begins_with_the_whole_checkpoint(make_trainer, vision_model, tmp_path, first):
    """Also from a checkpoint that was written under the older names; and the best one stays the best."""
    before = train(make_trainer, vision_model, first)
    checkpoint = tmp_path / "out" / "checkpoint-4"
    other = type(vision_model)(config=vision_model.config)
    seen = []

    from transformers import TrainerCallback

    class Look(TrainerCallback):
        def on_step_begin(self, args, state, control, model=None, **_):
            if not seen:
                seen.append(differing(model, checkpoint))

    say.calls = 2
    trainer = make_trainer(
        other,
        save_strategy="steps",
        save_steps=2,
        max_steps=6,
        per_device_eval_batch_size=8,
        **best_model("finding_errors"),
    )
    ReportMetricsCallback("finding_errors", generate_fn=say, restore="repair").attach(trainer)
    trainer.add_callback(Look())
    trainer.train(resume_from_checkpoint=str(checkpoint))
    assert seen == [[]]
    assert trainer.state.best_model_checkpoint == before.state.best_model_checkpoint
    assert differing(trainer.model, trainer.state.best_model_checkpoint) == []


def test_models_that_are_restored_raise_no_alarm(text_model, causal_model):
    assert restoring.unrestored(text_model) == []
    assert restoring.unrestored(causal_model) == []
