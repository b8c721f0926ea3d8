"""`make_compute_metrics`, on arrays as Seq2SeqTrainer hands them over (with the Trainer itself: test_trainer.py)."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from rrgmetrics.callbacks import make_compute_metrics
from rrgmetrics.errors import InputError


class Words:
    """A tokenizer of a few words."""

    words = ("<pad>", "clear", "lungs", "effusion", "</s>")
    pad_token_id = 0

    def batch_decode(self, tokens, skip_special_tokens):
        assert skip_special_tokens
        assert (np.asarray(tokens) >= 0).all()  # what tokenizers do with -100: OverflowError
        return [" ".join(self.words[token] for token in row if token not in (0, 4)) for row in tokens]


def prediction(predictions, labels):
    return SimpleNamespace(predictions=np.array(predictions), label_ids=np.array(labels))


def test_decodes_and_scores():
    compute = make_compute_metrics(Words(), ["rouge", "bleu"])
    values = compute(prediction([[0, 1, 2, 4], [3, 4, -100, -100]], [[1, 2, 4, -100], [1, 2, 4, -100]]))
    assert values["rouge"] == 0.5
    assert values["rouge_n_unscored"] == 0


def test_what_distributed_evaluation_appends_is_dropped(monkeypatch):
    compute = make_compute_metrics(SimpleNamespace(tokenizer=Words()), "rouge", n_pairs=1)
    assert compute(prediction([[1, 2], [3, 3]], [[1, 2], [1, 2]]))["rouge"] == 1
    with pytest.raises(InputError, match="n_pairs is 1"):
        compute(prediction(np.zeros((0, 2), int), np.zeros((0, 2), int)))
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match=r"n_pairs=len\(eval_dataset\)"):
        make_compute_metrics(Words(), "rouge")


def test_wrong_set_up():
    with pytest.raises(InputError, match="predict_with_generate"):
        make_compute_metrics(Words(), "rouge")(prediction(np.zeros((2, 3, 5)), [[1], [2]]))
    with pytest.raises(InputError, match="no pad token"):
        make_compute_metrics(SimpleNamespace(pad_token_id=None, batch_decode=None), "rouge")
    with pytest.raises(InputError, match="cannot decode"):
        make_compute_metrics(object(), "rouge")


def test_keys_are_those_that_were_asked_for():
    compute = make_compute_metrics(Words(), ["rouge", "bleu"], keys=["rouge_1", "bleu"])
    values = compute(prediction([[1, 2]], [[1, 2]]))
    assert sorted(values) == ["bleu", "rouge_1"]
    with pytest.raises(InputError, match="keys has 'rouge_9'"):
        make_compute_metrics(Words(), "rouge", keys=["rouge_9"])
