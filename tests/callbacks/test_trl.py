"""Rewards with TRL's GRPO on a tiny model."""

from __future__ import annotations

import copy
import math

import pytest

from rrgmetrics.callbacks import make_async_reward, make_reward
from rrgmetrics.training.preference_pairs import prefer

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("conversational", [False, True])
def test_grpo_logs_a_column_for_each_reward(causal_model, tokenizer, tmp_path, conversational):
    pytest.importorskip("trl", reason="pip install 'rrgmetrics[training]'")
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    tokenizer.padding_side = "left"
    prompt = [{"role": "user", "content": "Describe"}] if conversational else "Describe the image ."
    texts = ["Small left pleural effusion.", "The lungs are clear."] * 4
    data = Dataset.from_dict({"prompt": [prompt] * 8, "report": texts})
    names = ["crepe", "finding_errors", "green", "bleu"]
    rewards = [make_reward(name, reference="report") for name in names]
    rewards.append(make_reward("green", key="green_errors", reference="report", transform="unit"))
    rewards += [make_async_reward(name, reference="report") for name in ("rouge", "finding_score")]
    arguments = GRPOConfig(
        output_dir=str(tmp_path),
        use_cpu=True,
        bf16=False,
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=8,
        max_steps=3,
        logging_steps=1,
        report_to=[],
        disable_tqdm=True,
    )
    trainer = GRPOTrainer(
        model=causal_model, reward_funcs=rewards, args=arguments, train_dataset=data, processing_class=tokenizer
    )
    trainer.train()
    logged = [row for row in trainer.state.log_history if "reward" in row]
    assert len(logged) == 3
    for row in logged:
        for name in [*names, "green_errors", "rouge", "finding_score"]:
            assert math.isfinite(row[f"rewards/{name}/mean"])


@pytest.mark.parametrize("form", ["dpo", "kto"])
def test_trl_trains_on_preference_pairs(causal_model, tokenizer, tmp_path, form):
    trl = pytest.importorskip("trl", reason="pip install 'rrgmetrics[training]'")
    from datasets import Dataset

    rows = [
        {
            "study_id": str(study),
            "reference": "Small left effusion.",
            "candidate": text,
            "prompt": "Describe the image .",
        }
        for study in range(4)
        for text in ("Small left effusion.", "Large right effusion.", "The lungs are clear.")
    ]
    data = Dataset.from_dict(dict(prefer(rows, "finding_errors", form=form, progress=False).columns))
    trainer_class, config_class = {"dpo": ("DPOTrainer", "DPOConfig"), "kto": ("KTOTrainer", "KTOConfig")}[form]
    arguments = getattr(trl, config_class)(
        output_dir=str(tmp_path),
        use_cpu=True,
        bf16=False,
        per_device_train_batch_size=4,
        max_steps=2,
        logging_steps=1,
        report_to=[],
        disable_tqdm=True,
    )
    trainer = getattr(trl, trainer_class)(
        model=causal_model,
        ref_model=copy.deepcopy(causal_model),
        args=arguments,
        train_dataset=data,
        processing_class=tokenizer,
    )
    trainer.train()
    losses = [row["loss"] for row in trainer.state.log_history if "loss" in row]
    assert len(losses) == 2
    assert all(map(math.isfinite, losses))
