"""The bundled encoder's forward passes, in torch and in numpy, beside transformers' BertModel with the same weights."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from float32 import assert_equal_in_float32
from rrgmetrics.backends.bert_numpy import gelu


def test_forward_pass(reports):
    import json

    import torch
    from tokenizers import Tokenizer
    from transformers import BertConfig, BertModel

    from rrgmetrics.backends.bert import bert_forward, load_int8
    from rrgmetrics.backends.bert_numpy import load_bert, read_arrays
    from rrgmetrics.backends.encoder import BUNDLED_FOLDER

    stored = json.loads((BUNDLED_FOLDER / "config.json").read_text())
    n_layers = stored["num_hidden_layers"]
    weights = load_int8(BUNDLED_FOLDER / "model.safetensors")
    sizes = ("vocab_size", "hidden_size", "intermediate_size", "num_attention_heads", "max_position_embeddings")
    model = BertModel(
        BertConfig(**{key: stored[key] for key in sizes}, num_hidden_layers=n_layers), add_pooling_layer=False
    )
    model.load_state_dict({key: weights[key] for key in model.state_dict()})  # strict: every weight is used
    tokenizer = Tokenizer.from_file(str(BUNDLED_FOLDER / "tokenizer.json"))
    tokenizer.enable_padding()
    batch = tokenizer.encode_batch([*reports.references, "x", "effusion " * 200])
    ids = torch.tensor([encoding.ids[:512] for encoding in batch])
    mask = torch.tensor([encoding.attention_mask[:512] for encoding in batch])
    with torch.inference_mode():
        theirs = model.eval()(input_ids=ids, attention_mask=mask).last_hidden_state
        ours = bert_forward(weights, ids, mask, n_layers=n_layers, n_heads=stored["num_attention_heads"])
    inside = mask.bool()
    assert_equal_in_float32(ours[inside], theirs[inside])
    bert = load_bert(read_arrays([BUNDLED_FOLDER / "model.safetensors"]), stored["num_attention_heads"])
    in_numpy = bert([encoding.ids[: sum(encoding.attention_mask)][:512] for encoding in batch], n_layers=n_layers)
    assert_equal_in_float32(in_numpy, theirs[inside])


def test_gelu():
    """The error of the rational approximation beside x·Φ(x) in 64 bits, where it is largest and far out."""
    x = np.concatenate([np.linspace(-9, 9, 20_001), [-1e4, -0.0, 1e4]]).astype(np.float32)
    exact = x.astype(np.float64) * ndtr(x.astype(np.float64))
    assert np.abs(gelu(x.copy()) - exact).max() <= 1e-7 * 9
