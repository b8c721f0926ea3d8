"""CheXbert on a tiny random checkpoint in the published layout, against a plain loop over transformers' BertModel."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import rrgmetrics
from float32 import assert_equal_in_float32
from rrgmetrics.backends import chexbert
from rrgmetrics.backends.checkpoints.loading import load_weights
from rrgmetrics.backends.chexbert import FILE, load_chexbert, tokenize
from rrgmetrics.errors import BackendError
from rrgmetrics.labels.conditions import Status

TEXTS = [
    "Small left pleural effusion. No pneumothorax.",
    "No acute cardiopulmonary process.",
    "The heart is mildly enlarged, with a tortuous aorta; \n\n old rib fractures.",
    "",
    "Opacity. " * 300,
    "Ergüsse beidseits. 両側胸水。 🩻",
]
LONG = TEXTS[4]


@pytest.fixture(scope="module")
def file(checkpoints, tmp_path_factory):
    return checkpoints.write_chexbert(tmp_path_factory.mktemp("chexbert"))


@pytest.fixture(scope="module")
def backend(file):
    return load_chexbert(str(file), device="cpu")


@pytest.fixture(scope="module")
def reference(file):
    """One text at a time: ids → (vector, classes), by transformers' BertModel and the heads as they are stored."""
    from transformers import BertConfig, BertModel

    stored = load_weights(file)
    config = BertConfig(
        vocab_size=30522, hidden_size=128, intermediate_size=64, num_attention_heads=2, num_hidden_layers=2
    )
    model = BertModel(config)
    weights = {name[5:]: x for name, x in stored.items() if name.startswith("bert.") and "position_ids" not in name}
    model.load_state_dict(weights)
    model.eval()

    def read(ids: list[int]) -> tuple[np.ndarray, list[int]]:
        with torch.inference_mode():
            vector = model(input_ids=torch.tensor([ids])).last_hidden_state[0, 0]
        logits = [stored[f"linear_heads.{i}.weight"] @ vector + stored[f"linear_heads.{i}.bias"] for i in range(14)]
        return vector.numpy(), [int(x.argmax()) for x in logits]

    return read


def test_the_vocabulary_is_that_of_bert_base_uncased():
    """Ids that any user of bert-base-uncased has seen."""
    assert tokenize(["Hello, world!", "The quick brown fox"]) == [[7592, 1010, 2088, 999], [1996, 4248, 2829, 4419]]


def test_equal_to_a_plain_loop(backend, reference):
    readings = backend.annotate(TEXTS)
    for text, reading in zip(TEXTS, readings, strict=True):
        if not text:
            assert set(reading.statuses) == {Status.BLANK}
            assert not reading.vector.any()
            continue
        (body,) = tokenize([text])
        vector, classes = reference([101, *body[:510], 102])
        assert_equal_in_float32(reading.vector, vector)
        assert list(reading.statuses) == classes
        assert reading.too_long == (text == LONG)
    assert len({reading.statuses for reading in readings}) > 2  # a test that can fail


def test_batched_as_alone(backend, file):
    together = backend.annotate(TEXTS)
    for text, reading in zip(TEXTS, together, strict=True):
        for other in (backend, load_chexbert(str(file), batch_size=2)):
            (alone,) = other.annotate([text])
            assert alone.statuses == reading.statuses
            assert_equal_in_float32(alone.vector, reading.vector)


def test_windows_read_the_whole_report(file, backend, reference):
    words = [*["normal"] * 600, "pneumothorax", *["clear"] * 500]
    text = " ".join(words)
    (body,) = tokenize([text])
    starts = range(0, len(body) - 64, 446)
    outputs = [reference([101, *body[start : start + 510], 102]) for start in starts]
    assert len(outputs) == 3
    assert starts[-1] + 510 >= len(body)
    (reading,) = load_chexbert(str(file), long="windows").annotate([text])
    assert_equal_in_float32(reading.vector, np.mean([vector for vector, _ in outputs], axis=0))
    order = [Status.BLANK, Status.NEGATIVE, Status.UNCERTAIN, Status.POSITIVE]
    for condition in range(13):
        assert reading.statuses[condition] == max((c[condition] for _, c in outputs), key=order.index)
    assert reading.statuses[13] == min(c[13] for _, c in outputs)
    assert reading.too_long
    short = load_chexbert(str(file), long="windows").annotate(TEXTS[:2])
    assert [one.statuses for one in short] == [one.statuses for one in backend.annotate(TEXTS[:2])]


def test_windows_meet_without_a_gap():
    for n in (1, 510, 511, 956, 957, 2000):
        body = list(range(1000, 1000 + n))
        rows = chexbert._rows(body, "windows")
        assert {token for row in rows for token in row[1:-1]} == set(body)
        assert all(row[0] == 101 and row[-1] == 102 and len(row) <= 512 for row in rows)
        assert len(chexbert._rows(body, "truncate")) == 1
        assert (len(rows) > 1) == (n > 510)


def test_a_conversion_to_safetensors_reads_the_same(file, backend, tmp_path):
    from safetensors.torch import save_file

    converted = tmp_path / "chexbert.safetensors"
    save_file({name: x.contiguous() for name, x in load_weights(file).items()}, converted)
    loaded = load_chexbert(str(converted))
    assert loaded.network.identity.startswith("chexbert.safetensors@sha256:")
    assert_equal_in_float32(loaded.annotate(TEXTS[:1])[0].vector, backend.annotate(TEXTS[:1])[0].vector)


def damaged(file, tmp_path, change):
    state = load_weights(file)
    change(state)
    torch.save({"model_state_dict": state}, tmp_path / FILE)
    return str(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: state.pop("linear_heads.13.weight"), r"lacks 1 weights, such as linear_heads\.13\.weight"),
        (lambda state: state.pop("bert.encoder.layer.0.attention.self.key.bias"), r"lacks 1 weights.*self\.key\.bias"),
        (lambda state: state.update({"linear_heads.13.weight": torch.zeros(4, 128)}), "heads of"),
        (lambda state: state.update({"bert.embeddings.word_embeddings.weight": torch.zeros(9, 128)}), "30522 word"),
    ],
)
def test_what_is_not_chexberts_is_refused(file, tmp_path, change, message):
    with pytest.raises(BackendError, match=message):
        load_chexbert(damaged(file, tmp_path, change))


def test_missing_weights_are_named_at_once():
    with pytest.raises(BackendError, match=r"hf download StanfordAIMI/RRG_scorers chexbert\.pth"):
        load_chexbert("StanfordAIMI/RRG_scorers@missing")


def test_both_metrics_share_one_reading(published_checkpoints, reports, reference, monkeypatch):
    seen: list[str] = []
    annotate = chexbert.Chexbert.annotate
    monkeypatch.setattr(chexbert.Chexbert, "annotate", lambda self, texts: seen.extend(texts) or annotate(self, texts))
    results = rrgmetrics.score(
        ["chexbert_f1@paper", "semb_score@paper", "semb_score@paper?vectors=conditions"],
        predictions=reports.altered,
        references=reports.references,
        progress=False,
    )
    assert len(seen) == len(set(seen)) == len({*reports.altered, *reports.references})
    vectors = [
        [reference([101, *tokenize([text])[0], 102])[0].astype(float) for text in texts]
        for texts in (reports.references, reports.altered)
    ]
    cosines = [r @ c / np.linalg.norm(r) / np.linalg.norm(c) for r, c in zip(*vectors, strict=True)]
    assert_equal_in_float32(results["semb_score@paper"].per_pair["semb_score"], cosines)
    signature = results["chexbert_f1@paper"].signature
    assert "model:StanfordAIMI/RRG_scorers/chexbert.pth@0123456789ab" in signature
    assert "too_long:0" in signature


def test_published_counts_of_labels(backend, reports):
    """uncertain = positive is RadEval's mode `rrg`: classes 1 and 3 are 1, all others 0."""
    readings = backend.annotate(reports.references)
    statuses = np.array([reading.statuses for reading in readings])
    from rrgmetrics.scorers.chexbert_f1 import ChexbertF1

    labels = ChexbertF1().label_table(readings).has
    np.testing.assert_array_equal(labels, np.isin(statuses, (1, 3)))
    labels, unsure, _ = ChexbertF1(uncertain="negative").label_table(readings)
    np.testing.assert_array_equal(labels, statuses == 1)
    np.testing.assert_array_equal(unsure, statuses == 3)
