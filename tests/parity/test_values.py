"""Values of tests/data/text_metrics.json, computed with the packages that it names, and a few from papers' code."""

from __future__ import annotations

import numpy as np
import pytest

BLEU = ("bleu_1", "bleu_2", "bleu_3", "bleu")
TOLERANCE = 1e-9


def assert_close(left, right):
    np.testing.assert_allclose(left, right, rtol=0, atol=TOLERANCE)


@pytest.fixture
def ours(score, text_metrics):
    return lambda name: score(name, text_metrics["candidates"], text_metrics["references"])


def test_bleu_in_coco_arithmetic(ours, text_metrics):
    result, values = ours("bleu"), text_metrics["bleu_whitespace"]
    assert_close([result.scores[key] for key in BLEU], values["corpus_1_to_4"])
    assert_close(np.stack([result.per_pair[key] for key in BLEU], axis=1), values["per_pair_1_to_4"])
    # tiny values too: 1e-9 would let anything pass for a pair without a shared four-gram
    np.testing.assert_allclose(
        np.stack([result.per_pair[key] for key in BLEU], axis=1), values["per_pair_1_to_4"], rtol=1e-12, atol=0
    )


def test_bleu_of_sacrebleu(ours, text_metrics):
    result, values = ours("bleu?tokenizer=13a"), text_metrics["bleu_sacrebleu"]
    assert_close(100 * result.scores["bleu"], values["corpus"])
    assert_close(100 * result.per_pair["bleu"], values["sentence"])


@pytest.mark.parametrize(("name", "source"), [("rouge", "rouge_stem"), ("rouge?stemmer=no", "rouge_nostem")])
def test_rouge(ours, text_metrics, name, source):
    result, values = ours(name), text_metrics[source]
    for ours_key, key in (("rouge_1", "rouge1"), ("rouge_2", "rouge2"), ("rouge_l", "rougeL"), ("rouge", "rougeL")):
        f_measures = [row[key][2] for row in values]
        assert_close(result.per_pair[ours_key], f_measures)
        assert_close(result.scores[ours_key], np.mean(f_measures))


def test_bleu_without_smoothing(ours, text_metrics):
    """The formula of evaluate's bleu (nmt_bleu.py), which sacrebleu has as `smooth_method="none"`."""
    sacrebleu = pytest.importorskip("sacrebleu")
    result = ours("bleu?tokenizer=13a&smoothing=none")
    references, candidates = text_metrics["references"], text_metrics["candidates"]
    for order, key in enumerate(BLEU, start=1):
        bleu = sacrebleu.BLEU(smooth_method="none", max_ngram_order=order)
        assert_close(100 * result.scores[key], bleu.corpus_score(candidates, [references]).score)
        single = [bleu.corpus_score([one], [[other]]).score for one, other in zip(candidates, references, strict=True)]
        assert_close(100 * result.per_pair[key], single)


def test_rouge_l_of_coco(ours, text_metrics):
    result, values = ours("rouge?flavour=coco"), text_metrics["rouge_l_coco"]
    assert_close(result.per_pair["rouge_l"][values["indices"]], values["per_pair"])
    assert result.signature.startswith("rouge|text:none@1|flavour:coco|stemmer:no|")


def test_rouge_l_of_coco_by_hand(score):
    """Three words in common of five and four: F = 2.44 · 3/5 · 3/4 / (3/4 + 1.44 · 3/5)."""
    result = score("rouge?flavour=coco", ["the cat was here now"], ["the cat is here"])
    assert_close(result.scores["rouge"], 2.44 * 0.45 / (0.75 + 1.44 * 0.6))


def test_cider(ours, text_metrics):
    result, values = ours("cider"), text_metrics["cider_d"]
    assert_close(result.scores["cider"], values["corpus"])
    assert_close(result.per_pair["cider"], values["per_pair"])


@pytest.mark.parametrize(
    ("reference", "candidate", "value"),
    [  # RadEval 2.2's BLEU-4 (bleu_scorer.py), as its functions print it
        ("pleural effusion", "pleural effusion", 0.0009999999991),
        ("effusion", "effusion", 3.16e-5),
        ("pleural effusion", "", 0.0),
        ("", "abc def", 2.66e-11),
        ("", "", 0.0),
    ],
)
def test_bleu_of_very_short_texts(score, reference, candidate, value):
    bleu = score("bleu", [candidate], [reference]).scores["bleu"]
    assert float(f"{bleu:.3g}") == float(f"{value:.3g}")


@pytest.mark.parametrize(
    ("model", "layer", "baseline"),
    [  # bert-score 0.3.13, rescale_baseline/en; rows 5 also in RadEval 2.2 and RadCliQ
        ("distilbert-base-uncased", 5, (0.6666034, 0.66660464, 0.66620487)),
        ("distilroberta-base", 5, (0.84732, 0.84759504, 0.8473319)),
        ("roberta-large", 17, (0.83150584, 0.8314941, 0.83122575)),
    ],
)
def test_baselines(model, layer, baseline):
    from rrgmetrics.scorers.bertscore import find_baseline

    assert find_baseline(model, layer) == baseline


def test_empty_text_after_rescaling(score, published_checkpoints):
    """RadEval 2.2 gives -b / (1 - b) = -1.99585 where a text is empty."""
    assert score("bertscore@radeval", [""], ["Clear lungs."]).scores["bertscore"] == pytest.approx(-1.99585, abs=5e-6)
