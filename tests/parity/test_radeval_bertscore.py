"""RadEval-BERTScore: the published layout (ModernBERT, 22 layers) on a tiny random checkpoint beside a plain loop."""

from __future__ import annotations

import numpy as np

import rrgmetrics
from float32 import in_float32


def score(name, candidates, references):
    return rrgmetrics.score(name, predictions=candidates, references=references, progress=False)[name]


def plain_f(model, tokenizer, reference, candidate):
    """Greedy matching as bert-score does it for one unpadded pair: [CLS] and [SEP] match, but have no weight."""
    import torch

    with torch.no_grad():
        ids = [tokenizer(text, return_tensors="pt").input_ids for text in (reference, candidate)]
        states = [torch.nn.functional.normalize(model(input_ids=x).last_hidden_state[0], dim=-1) for x in ids]
    similarity = states[1] @ states[0].T
    precision = similarity.max(dim=1).values[1:-1].mean()
    recall = similarity.max(dim=0).values[1:-1].mean()
    return (2 * precision * recall / (precision + recall)).item()


def test_published_layout(reports, published_checkpoints, checkpoints):
    from transformers import AutoModel, AutoTokenizer

    folder = published_checkpoints / "models--IAMJB--RadEvalModernBERT" / "snapshots" / checkpoints.COMMIT
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    pairs = list(zip(reports.references, reports.altered, strict=True))[:6]
    expected = [plain_f(model, tokenizer, *pair) for pair in pairs]
    result = score("radeval_bertscore@paper", [c for _, c in pairs], [r for r, _ in pairs])
    assert result.per_pair["radeval_bertscore"] == in_float32(expected)
    assert len(set(np.round(expected, 4))) == len(expected)
    assert f"|model:IAMJB/RadEvalModernBERT@{checkpoints.COMMIT[:12]}|layers:22|" in result.signature
    alone = score("radeval_bertscore@paper", [pairs[0][1]], [pairs[0][0]])
    assert alone.per_pair["radeval_bertscore"] == in_float32(expected[:1])


def test_the_bundled_encoder_knows_findings():
    """A paraphrase is closer than the denial in the same words; in the encoder of any English (bertscore) it is not."""
    reference = ["The heart is mildly enlarged. There is a small left pleural effusion."] * 2
    candidates = ["Mild cardiomegaly. Small left effusion.", "The heart is normal. There is no left pleural effusion."]
    same, denied = score("radeval_bertscore", candidates, reference).per_pair["radeval_bertscore"]
    assert same > denied
    same, denied = score("bertscore", candidates, reference).per_pair["bertscore"]
    assert same < denied
