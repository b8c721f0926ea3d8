"""SRR-BERT: the published layout on a tiny random checkpoint beside a plain loop; sentences; arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

import rrgmetrics
from float32 import assert_equal_in_float32
from rrgmetrics import BackendError
from rrgmetrics.backends.classifier import load_classifier, srr_sentences, whole
from rrgmetrics.labels.srr import label_names
from rrgmetrics.scorers.srr_bert_f1 import PUBLISHED, TOKENIZER

# The rules of RadEval 2.2's test_structeval_parsing.py, on invented texts.
SENTENCES = {
    "1. Clear lungs 2. sentence": ["Clear lungs.", "sentence."],
    "1.Sternal wires with stable.No effusions.": ["Sternal wires with stable.", "No effusions."],
    "1. A PICC appears.2.    Mild edema.3.Interval improve.": ["A PICC appears.", "Mild edema.", "Interval improve."],
    "2.    Vague edema 1.hello": ["Vague edema.", "hello."],
    "2.Vague edema1.Hello": ["Vague edema.", "Hello."],
    "No effusions.sentence2. mass is 3.5 cm.3. sentence": ["No effusions.sentence.", "mass is 3.5 cm.", "sentence."],
    "Tip 6.2 cm above the carina, as Dr. Who said. Edema": ["Tip 6.2 cm above the carina, as Dr. Who said.", "Edema."],
    "": ["."],
    # What NLTK's punkt_tab (english) makes of its abbreviations: "ct" is one, "mg" too, "there" starts sentences.
    "Seen on prior CT. Emphysema is new. No mass.": ["Seen on prior CT. Emphysema is new.", "No mass."],
    "Seen on prior CT. There is emphysema.": ["Seen on prior CT.", "There is emphysema."],
    "Given 5 mg. Stable nodule at 3 p.m. Clear lungs.": ["Given 5 mg.", "Stable nodule at 3 p.m. Clear lungs."],
    "No film of Nov. 3 is at hand. Stable.": ["No film of Nov. 3 is at hand.", "Stable."],
}


def logits_one_by_one(folder, vocabulary, texts):
    """What the authors' code computes, a sentence at a time and unpadded."""
    import torch
    from transformers import BertForSequenceClassification, BertTokenizerFast

    model = BertForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = BertTokenizerFast.from_pretrained(vocabulary)
    rows = [tokenizer(text, truncation=True, max_length=512, return_tensors="pt") for text in texts]
    with torch.no_grad():
        return np.concatenate([model(**row).logits.numpy() for row in rows])


@pytest.fixture(scope="module")
def folders(published_checkpoints, checkpoints):
    """Of a repository's only revision."""
    return lambda name: published_checkpoints / f"models--{name.replace('/', '--')}" / "snapshots" / checkpoints.COMMIT


@pytest.mark.parametrize("text", SENTENCES)
def test_sentences(text):
    assert srr_sentences(text) == SENTENCES[text]


@pytest.mark.parametrize("variant", PUBLISHED, ids=str)
def test_labels_are_those_of_a_plain_loop(variant, reports, folders):
    name, n_labels = PUBLISHED[variant], len(label_names(*variant))
    backend = load_classifier(
        name,
        n_labels=n_labels,
        split=srr_sentences,
        tokenizer=TOKENIZER,
    )
    sentences = [sentence for text in reports.references for sentence in srr_sentences(text)]
    expected = logits_one_by_one(folders(name), folders(TOKENIZER), sentences)
    assert_equal_in_float32(backend.logits(sentences, 5), expected)
    assert len({tuple(row) for row in expected > 0}) > 5  # the checkpoint tells texts apart
    of_sentence = dict(zip(sentences, expected > 0, strict=True))
    plain = [np.any([of_sentence[x] for x in srr_sentences(text)], axis=0) for text in reports.references]
    np.testing.assert_array_equal(backend.annotate(reports.references), plain)
    for text, labels in zip(reports.references[:3], plain[:3], strict=True):
        np.testing.assert_array_equal(backend.annotate([text]), [labels])


def test_corpus_scores_are_those_of_a_plain_loop(reports, folders):
    """RadEval's weighted averages (scikit-learn's, zero_division=0), and the Jaccard index it calls F1."""
    name = "srr_bert_f1@paper"
    result = rrgmetrics.score(name, predictions=reports.altered, references=reports.references, progress=False)[name]
    backend = load_classifier(PUBLISHED["leaves", True], n_labels=163, split=srr_sentences, tokenizer=TOKENIZER)
    reference, candidate = (np.array(backend.annotate(texts)) for texts in (reports.references, reports.altered))
    weighted = np.zeros(3)
    for label in range(163):
        true, predicted = reference[:, label], candidate[:, label]
        both, support = (true & predicted).sum(), true.sum()
        precision = both / predicted.sum() if predicted.sum() else 0.0
        recall = both / support if support else 0.0
        f1 = 2 * precision * recall / (precision + recall) if both else 0.0
        weighted += support * np.array([f1, precision, recall])
    weighted /= reference.sum()
    keys = ("srr_bert_f1", "srr_bert_f1_precision", "srr_bert_f1_recall")
    assert [result.scores[key] for key in keys] == pytest.approx(weighted, abs=1e-12)
    shared, union = (reference & candidate).sum(axis=1), (reference | candidate).sum(axis=1)
    assert result.per_pair["srr_bert_f1_jaccard"] == pytest.approx(shared / union)
    assert "|model:StanfordAIMI/SRR-BERT-Leaves-with-Statuses@" in result.signature
    assert f"|tokenizer:{TOKENIZER}@" in result.signature


def test_a_checkpoint_of_other_labels_is_refused(folders, published_checkpoints):
    with pytest.raises(BackendError, match="has 25 labels; this metric needs 55"):
        load_classifier(str(folders(PUBLISHED["upper", False])), n_labels=55, tokenizer=TOKENIZER)


def test_a_checkpoint_without_its_head_is_refused(tmp_path, folders, checkpoints):
    import shutil

    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(folders(PUBLISHED["leaves", False]), tmp_path / "headless")
    weights = load_file(folder / "model.safetensors")
    save_file({key: x for key, x in weights.items() if "classifier" not in key}, folder / "model.safetensors")
    with pytest.raises(BackendError, match=r"lacks 2 weights, such as classifier\.bias"):
        load_classifier(str(folder), n_labels=55, tokenizer=TOKENIZER)


def test_logits_that_overflow_are_no_missing_labels(tmp_path, folders):
    import shutil

    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(folders(PUBLISHED["leaves", False]), tmp_path / "damaged")
    weights = load_file(folder / "model.safetensors")
    weights["classifier.weight"][7] = 3e38
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    backend = load_classifier(str(folder), n_labels=55, tokenizer=TOKENIZER)
    with pytest.raises(BackendError, match="not finite"):
        backend.annotate(["Small effusion."])


def pickled(folder, tmp_path, *more):
    """The checkpoint with its weights as a pickle, and what else is put into it."""
    import shutil

    import torch
    from safetensors.torch import load_file

    copy = shutil.copytree(folder, tmp_path / "pickled")
    torch.save(load_file(copy / "model.safetensors") | dict(more), copy / "pytorch_model.bin")
    (copy / "model.safetensors").unlink()
    return str(copy)


def test_pickled_weights_are_read_as_data(tmp_path, folders, reports):
    folder = folders(PUBLISHED["leaves", False])
    settings = {"n_labels": 55, "tokenizer": TOKENIZER}
    ours = load_classifier(pickled(folder, tmp_path), **settings).logits(reports.references, None)
    assert_equal_in_float32(ours, load_classifier(str(folder), **settings).logits(reports.references, None))


class Malicious:
    """Would make a folder when unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        import os

        return os.mkdir, (self.folder,)


def test_a_pickle_that_runs_code_is_refused(tmp_path, folders):
    mark = tmp_path / "ran"
    folder = pickled(folders(PUBLISHED["leaves", False]), tmp_path, ("attack", Malicious(str(mark))))
    with pytest.raises(BackendError, match="could not be loaded"):
        load_classifier(folder, n_labels=55, tokenizer=TOKENIZER)
    assert not mark.exists()


def test_a_checkpoint_without_tokenizer_is_named(folders):
    with pytest.raises(BackendError, match="has no tokenizer"):
        load_classifier(str(folders(PUBLISHED["leaves", False])), n_labels=55, split=whole)
