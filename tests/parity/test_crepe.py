"""CREPE beside the authors' numbers (tests/data/crepe.json) and beside transformers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from float32 import in_float32
from rrgmetrics import BackendError
from rrgmetrics.backends.crepe import PUBLISHED, clip_counts, load_crepe
from rrgmetrics.backends.crepe.model import CrepeSettings, build_crepe, count_loss, crepe_class
from rrgmetrics.backends.crepe.network import Network
from rrgmetrics.backends.crepe.pair_tokens import load_pair_tokenizer
from rrgmetrics.reports import Pair

FIXTURES = json.loads((Path(__file__).parents[1] / "data" / "crepe.json").read_text())
# Lengths around every branch of cutting the longer text first; 509 tokens fit.
LENGTHS = [(0, 0), (0, 600), (600, 0), (254, 255), (255, 254), (254, 256), (255, 255), (300, 209), (300, 210)]
LENGTHS += [(209, 301), (254, 700), (255, 700), (700, 254), (700, 255), (400, 300), (300, 400), (509, 1), (1, 509)]
LENGTHS += [(510, 0), (0, 509)]  # an empty candidate has no [SEP] of its own
CONFIGS = {
    "pooler": {},
    "cls": {"crepe_features": "cls"},
    "tokens": {"crepe_features": "tokens", "cls_token_id": 2, "sep_token_id": 3},
    "poisson": {"use_poisson_loss": True},
    "two heads": {"num_error_categories": 2},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, checkpoints) -> Path:
    return checkpoints.write_crepe(tmp_path_factory.mktemp("crepe"))


@pytest.mark.parametrize("case", FIXTURES["clip_sum"], ids=lambda case: str(case["raw_logits"]))
def test_counts_from_what_the_heads_say(case):
    logits = np.array([[np.nan if x is None else x for x in case["raw_logits"]]])
    (counts,) = clip_counts(logits)
    if case["nan_positions"]:  # differs from the authors, who report 0 errors where there is no number
        assert np.isnan(counts).all()
    else:
        assert counts == in_float32(case["predicted_error_counts"])
        assert counts.sum() == in_float32(case["crepe_score"])


@pytest.mark.parametrize("case", FIXTURES["loss"], ids=lambda case: case["name"])
def test_loss(case):
    import torch

    keys = ("num_error_categories", "use_poisson_loss", "use_presence_loss", "presence_loss_weight")
    settings = CrepeSettings(**{key: case[key] for key in keys})
    counts, presence, labels = (torch.tensor(case[key]) for key in ("count_logits", "presence_logits", "labels"))
    if settings.use_poisson_loss:
        counts = torch.nn.functional.softplus(counts)
    assert count_loss(counts, presence, labels, settings).item() == in_float32(case["loss"])


def test_the_whole_path(folder):
    crepe = load_crepe(str(folder))
    pairs = [Pair(case["reference"], case["candidate"]) for case in FIXTURES["cases"]]
    for reading, case in zip(crepe.annotate_pairs(pairs), FIXTURES["cases"], strict=True):
        assert reading.counts == in_float32(case["predicted_error_counts"])
        assert reading.counts.sum() == in_float32(case["crepe_score"])
        assert reading.too_long == (case["n_tokens"] == 512)


def test_rows_of_tokens(folder):
    tokenizer = load_crepe(str(folder)).network.tokenizer
    for case in FIXTURES["cases"][:4]:
        ids, types = tokenizer.join(*(e.ids for e in tokenizer.encode([case["reference"], case["candidate"]])))
        assert ids == case["input_ids"]
        assert sum(types) == case["n_type1"]


def test_layout(folder):
    from safetensors import safe_open

    with safe_open(folder / "model.safetensors", "pt") as file:
        assert sorted(file.keys()) == FIXTURES["state_dict_keys"]


@pytest.mark.network
def test_the_published_checkpoint():
    golden = FIXTURES["golden"]
    try:
        crepe = load_crepe(PUBLISHED)
    except BackendError as error:
        pytest.skip(str(error))
    (reading,) = crepe.annotate_pairs([Pair(golden["reference"], golden["candidate"])])
    assert reading.counts == pytest.approx(golden["predicted_error_counts"], abs=golden["suggested_atol"])
    assert reading.counts.sum() == pytest.approx(golden["crepe_score"], abs=golden["suggested_atol"])


@pytest.mark.parametrize(("n_reference", "n_candidate"), LENGTHS)
def test_cutting_as_transformers_does(folder, n_reference, n_candidate):
    theirs = _tokenizer(folder)("heart " * n_reference, "left " * n_candidate, truncation=True, max_length=512)
    ours = load_pair_tokenizer(folder, max_length=512, n_types=2)
    reference, candidate = (e.ids for e in ours.encode(["heart " * n_reference, "left " * n_candidate]))
    window = ours.truncated(len(reference), len(candidate))
    ids, types = ours.join(reference[slice(*window.reference)], candidate[slice(*window.candidate)])
    assert (ids, types) == (theirs["input_ids"], theirs["token_type_ids"])


@pytest.mark.parametrize("candidate", ["", " ", "\n", "\u00a0", "\x00"])
def test_a_candidate_of_blanks_is_no_empty_one(folder, monkeypatch, candidate):
    """transformers writes `[CLS] reference [SEP] [SEP]` for blanks, and `[CLS] reference [SEP]` for an empty text."""
    theirs = _tokenizer(folder)("heart left", candidate, truncation=True, max_length=512)
    read, run = [], Network.run
    monkeypatch.setattr(Network, "run", lambda self, rows, size: read.extend(rows) or run(self, rows, size))
    load_crepe(str(folder)).annotate_pairs([Pair("heart left", candidate)])
    assert read == [(theirs["input_ids"], theirs["token_type_ids"])]


@pytest.mark.parametrize("lower", [True, False])
def test_words_as_transformers_cuts_them(tmp_path, checkpoints, lower):
    folder = checkpoints.write_crepe(tmp_path)
    settings = {"do_lower_case": lower, "tokenizer_class": "BertTokenizer", "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    texts = "HEART  size\tis Normal.", "Épanchement: no\x00 effusions [SEP] left,right 胸 heart"
    theirs = _tokenizer(folder)(*texts)
    for _ in range(2):  # vocab.txt, then tokenizer.json
        tokenizer = load_pair_tokenizer(folder, max_length=512, n_types=2)
        ids, types = tokenizer.join(*(e.ids for e in tokenizer.encode(texts)))
        assert (ids, types) == (theirs["input_ids"], theirs["token_type_ids"])
        _tokenizer(folder).save_pretrained(folder)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_forward_pass(tmp_path, checkpoints, config):
    """Batches in plain torch beside pairs one at a time, padded to 512, in transformers, and after saving again."""
    import torch

    folder = checkpoints.write_crepe(tmp_path, **config)
    if "crepe_features" in config:  # transformers builds a pooler that these heads do not read
        model, loading = crepe_class().from_pretrained(folder, output_loading_info=True)
        assert all("pooler" in name for name in loading["missing_keys"])
        model.save_pretrained(folder)
    model, loading = crepe_class().from_pretrained(folder, output_loading_info=True)
    assert not any(loading.values())
    pairs = [Pair(case["reference"], case["candidate"]) for case in FIXTURES["cases"]]
    tokenizer = _tokenizer(folder)
    with torch.inference_mode():
        padded = [
            model(**tokenizer(*pair[:2], return_tensors="pt", padding="max_length", truncation=True, max_length=512))
            for pair in pairs
        ]
    for reading, output in zip(load_crepe(str(folder)).annotate_pairs(pairs), padded, strict=True):
        counts = output.counts[0].double().numpy()
        assert reading.counts == in_float32(clip_counts(counts[None])[0], scale=max(1, counts.max()))
        assert reading.presence == in_float32(output.presence_logits[0].sigmoid().numpy())
        assert [logit.item() for logit in output.all_logits] == counts.tolist()
    model.save_pretrained(tmp_path / "again")
    assert (tmp_path / "again" / "config.json").is_file()
    again = crepe_class().from_pretrained(tmp_path / "again")
    assert all(torch.equal(x, again.state_dict()[name]) for name, x in model.state_dict().items())


def test_what_the_authors_package_reads(tmp_path, checkpoints):
    """It builds AutoModel from AutoConfig, reads four keys as attributes, and fills both from one state dict."""
    from safetensors.torch import load_file
    from transformers import AutoConfig, AutoModel

    crepe_class().from_pretrained(checkpoints.write_crepe(tmp_path / "a")).save_pretrained(tmp_path / "b")
    config = AutoConfig.from_pretrained(tmp_path / "b")
    read = config.num_error_categories, config.use_poisson_loss, config.use_presence_loss, config.presence_loss_weight
    assert read == (6, False, True, 0.5)
    weights = load_file(tmp_path / "b" / "model.safetensors")
    assert sorted(weights) == FIXTURES["state_dict_keys"]
    encoder = {name.removeprefix("bert."): x for name, x in weights.items() if name.startswith("bert.")}
    AutoModel.from_config(config).load_state_dict(encoder)  # strict
    assert {tuple(x.shape) for name, x in weights.items() if name.startswith("error_")} == {(1, 16), (1,)}


def test_an_encoder_without_pooler_and_types(tmp_path, checkpoints):
    import torch
    from transformers import DistilBertConfig, DistilBertModel

    folder = checkpoints.write_crepe(tmp_path / "crepe")  # for its tokenizer
    torch.manual_seed(0)
    DistilBertModel(DistilBertConfig(vocab_size=24, dim=16, hidden_dim=32, n_heads=2, n_layers=2)).save_pretrained(
        folder
    )
    model = build_crepe(str(folder)).eval()
    model.save_pretrained(folder)
    pairs = [Pair(case["reference"], case["candidate"]) for case in FIXTURES["cases"]]
    tokenizer = _tokenizer(folder)
    for reading, pair in zip(load_crepe(str(folder)).annotate_pairs(pairs), pairs, strict=True):
        with torch.inference_mode():
            alone = model(**tokenizer(*pair[:2], return_tensors="pt", truncation=True, max_length=512)).counts
        assert reading.counts == in_float32(clip_counts(alone.double().numpy())[0])


def test_an_encoder_is_taken_over_with_its_weights(tmp_path, checkpoints):
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    sizes = {key: value for key, value in checkpoints.CREPE_CONFIG.items() if key in BertConfig().to_dict()}
    encoder = BertModel(BertConfig(**sizes))
    encoder.save_pretrained(tmp_path)
    model = build_crepe(str(tmp_path), CrepeSettings(num_error_categories=1, use_poisson_loss=True))
    assert all(torch.equal(x, model.bert.state_dict()[name]) for name, x in encoder.state_dict().items())
    assert (len(model.error_regressors), model.settings.use_poisson_loss, model.training) == (1, True, True)


def _tokenizer(folder):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)
