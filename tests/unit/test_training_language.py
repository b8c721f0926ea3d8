"""Continued pre-training of a language model: rows of tokens, a small run, the judge that begins there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rrgmetrics import BackendError, InputError, cli
from rrgmetrics.files import read_references
from rrgmetrics.training.config import JudgeConfig, LanguageConfig, changed, read_config
from rrgmetrics.training.judge_models import model_and_tokenizer
from rrgmetrics.training.language import batch_of, blocks_of, train_language

REFERENCES = Path(__file__).parents[2] / "examples" / "references.csv"


@pytest.fixture(scope="module")
def base(tmp_path_factory, checkpoints):
    folder = tmp_path_factory.mktemp("base")
    checkpoints.write_causal(folder, read_references(REFERENCES).reports, endless=True, positions=128)
    return str(folder)


def config_for(base, **values):
    config = LanguageConfig(
        corpus=(str(REFERENCES),), model=base, max_length=32, epochs=2, batch_size=8, learning_rate=5e-3,
        validation_fraction=0.2, patience=0, precision="fp32", cpu=True,
    )  # fmt: skip
    return changed(config, **values)


def test_texts_are_joined_with_their_ends_and_cut_into_rows(base):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base)
    texts = ["No effusion.", "Clear lungs.", "Mild edema."]
    expected = [
        token
        for text in texts
        for token in (*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id)
    ]
    blocks = blocks_of(texts, tokenizer, 8)
    assert blocks.rows.ravel().tolist() == expected[: len(expected) // 8 * 8]
    assert set(blocks.lengths.tolist()) == {8}
    batch = batch_of([blocks[0], blocks[0]])
    assert (batch["labels"] == batch["input_ids"]).all()
    assert bool(batch["attention_mask"].all())
    with pytest.raises(InputError, match="fewer than one row of max_length=1,000"):
        blocks_of(texts, tokenizer, 1000)


def test_a_model_reads_reports_and_a_judge_begins_there(base, tmp_path):
    from transformers import AutoModelForCausalLM

    run = train_language(config_for(base), tmp_path / "read", progress=False)
    assert run.perplexity < 0.7 * run.before
    before, after = (AutoModelForCausalLM.from_pretrained(folder) for folder in (base, run.folder))
    assert not np.allclose(before.lm_head.weight.detach(), after.lm_head.weight.detach())
    card = (run.folder / "README.md").read_text()
    assert f"perplexity {run.before:.2f} before, {run.perplexity:.2f} after" in card
    assert {"model.safetensors", "tokenizer.json", "training_config.yaml"} <= {p.name for p in run.folder.iterdir()}
    judge = JudgeConfig(model=str(run.folder), max_length=64, cpu=True)
    model, _ = model_and_tokenizer(judge, [])
    assert np.allclose(model.lm_head.weight.detach(), after.lm_head.weight.detach())


def test_wrong_use_is_named_before_anything_is_trained(base, tmp_path, capsys):
    for values, error, words in (
        ({"model": ""}, InputError, "No model is named"),
        ({"corpus": ()}, InputError, "No corpus is named"),
        ({"model": str(tmp_path / "nowhere")}, BackendError, "no folder"),
        ({"max_length": 512}, InputError, "reads 128 tokens"),
    ):
        with pytest.raises(error, match=words):
            train_language(config_for(base, **values), tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()
    arguments = ["train", "language", "--corpus", str(REFERENCES), "--output", str(tmp_path / "run"), "--no-progress"]
    assert cli.main([*arguments, f"model={base}", "max_lenght=5"]) == 2
    assert "max_length" in capsys.readouterr().err
    assert read_config(LanguageConfig, "language").epochs == 1
