"""CREPE's backend: checkpoints that must not score, and what becomes of pairs, words and windows."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import rrgmetrics
from float32 import in_float32
from rrgmetrics import BackendError
from rrgmetrics.backends import crepe
from rrgmetrics.backends.crepe import clip_counts, load_crepe
from rrgmetrics.backends.crepe import network as crepe_network
from rrgmetrics.reports import Context, Pair
from rrgmetrics.scorers.base import Runtime
from rrgmetrics.scorers.crepe import Crepe

TOKENS = {"crepe_features": "tokens", "cls_token_id": 2, "sep_token_id": 3}
PAIRS = [
    Pair("Heart size is normal. Lung clear.", "Heart size is normal. Lung clear."),
    Pair("No acute pneumothorax.", "Small left pleural effusions."),
    Pair("", "No acute consolidation"),
    Pair("Large right pneumothorax.", ""),
    Pair("", ""),
    Pair("heart " * 90, "left effusion. " * 60),
]


@pytest.fixture
def folder(tmp_path, checkpoints) -> Path:
    return checkpoints.write_crepe(tmp_path / "crepe")


@pytest.fixture
def tokens_folder(tmp_path, checkpoints) -> Path:
    return checkpoints.write_crepe(tmp_path / "tokens", **TOKENS)


def change_config(**values):
    def damage(folder):
        file = folder / "config.json"
        config = json.loads(file.read_text()) | values
        file.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))

    return damage


def change_weights(change):
    def damage(folder):
        weights = load_file(folder / "model.safetensors")
        change(weights)
        save_file(weights, folder / "model.safetensors")

    return damage


def drop_heads(weights, which):
    for i in which:
        del weights[f"error_regressors.{i}.weight"], weights[f"error_regressors.{i}.bias"]


def only_pickle(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def half_a_file(folder):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:2000])


def no_pairs(folder):
    """A tokenizer that has no way to put two texts into a row."""
    from tokenizers import Tokenizer, models

    vocabulary = {"[UNK]": 0, "a": 1}
    Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]")).save(str(folder / "tokenizer.json"))


def one_type(folder):
    """Marks between the texts, but both of one type: what PreTrainedTokenizerFast makes of some files."""
    from tokenizers import Tokenizer, models
    from tokenizers.processors import TemplateProcessing

    vocabulary = {"[UNK]": 0, "a": 1, "[CLS]": 2, "[SEP]": 3}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))


DAMAGES = {
    "heads missing": (
        change_weights(lambda w: drop_heads(w, range(6))),
        r"lacks error_regressors\.0\.bias.* and 8",
    ),
    "a head missing": (change_weights(lambda w: drop_heads(w, {5})), r"lacks error_regressors\.5\.bias"),
    "more heads than said": (change_config(num_error_categories=2), r"does not expect error_presence\.2\.bias"),
    "no such number of heads": (change_config(num_error_categories=4), "num_error_categories is 4"),
    "keys of the config missing": (change_config(use_poisson_loss=None), "lacks use_poisson_loss"),
    "size missing": (change_config(hidden_size=None), "lacks hidden_size"),
    "another shape": (change_config(vocab_size=25), r"another shape for bert\.embeddings\.word_embeddings\.weight"),
    "a layer missing": (change_config(num_hidden_layers=3), r"lacks bert\.encoder\.layer\.2"),
    "a weight too much": (change_weights(lambda w: w.update(extra=np.ones(1, np.float32))), "does not expect extra"),
    "unknown features": (change_config(crepe_features="mean"), "crepe_features is 'mean'"),
    "tokens without ids": (change_config(crepe_features="tokens"), "cls_token_id"),
    "config is no JSON": (lambda f: (f / "config.json").write_text("{"), "config.json cannot be used"),
    "config is no mapping": (lambda f: (f / "config.json").write_text("[]"), "config.json cannot be used"),
    "no config": (lambda f: (f / "config.json").unlink(), "has no config.json"),
    "pickled weights": (only_pickle, "has none of model.safetensors"),
    "half a file": (half_a_file, "cannot be read"),
    "no safetensors": (lambda f: (f / "model.safetensors").write_bytes(b"PK\3\4" * 99), "cannot be read"),
    "no tokenizer": (lambda f: (f / "vocab.txt").unlink(), "neither tokenizer.json nor vocab.txt"),
    "damaged tokenizer": (lambda f: (f / "tokenizer.json").write_text("{}"), "tokenizer's files are damaged"),
    "no special tokens": (lambda f: (f / "vocab.txt").write_text("a\nb\n"), "tokenizer's files are damaged"),
    "tokenizer without pairs": (no_pairs, "puts no separator between two texts"),
    "tokenizer without types": (one_type, "the same token type"),
}


@pytest.mark.parametrize(("damage", "message"), DAMAGES.values(), ids=DAMAGES)
def test_no_score_from_a_bad_checkpoint(folder, damage, message):
    damage(folder)
    with pytest.raises(BackendError, match=message):
        load_crepe(str(folder))


def test_a_bad_checkpoint_is_known_before_torch_is_imported(folder, run_python):
    """Importing torch takes seconds; all that is wrong is said within one."""
    change_weights(lambda weights: drop_heads(weights, {5}))(folder)
    script = """
import sys
from rrgmetrics.backends.crepe import load_crepe
try:
    load_crepe(sys.argv[1])
except RuntimeError as error:
    print("torch" in sys.modules, error)
"""
    assert run_python(script, str(folder)).startswith("False crepe@sha256:")


def test_nothing_cached_and_no_network(tmp_path, monkeypatch, no_waiting):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(BackendError, match=r"hf download gihuncho/crepe-biomedbert"):
        Crepe(config="paper").backend(Runtime())


@pytest.mark.parametrize("n_heads", [1, 2])
def test_a_checkpoint_for_ablations_is_read_but_does_not_score(tmp_path, checkpoints, n_heads):
    folder = checkpoints.write_crepe(tmp_path, num_error_categories=n_heads)
    (reading,) = load_crepe(str(folder)).annotate_pairs(PAIRS[:1])
    assert reading.counts.shape == (n_heads,)
    with pytest.raises(BackendError, match=f"has {n_heads} count head"):
        Crepe(config=str(folder)).backend(Runtime())


def test_no_number_is_unscored_and_not_no_errors(folder):
    change_weights(lambda weights: weights["error_regressors.3.weight"].fill(3e38))(folder)
    stats = scored(Crepe(config=str(folder)), PAIRS[:2])
    assert np.isnan(stats).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_clipping(bad):
    assert clip_counts(np.array([[-1.0, 2.0], [bad, 1.0]])) == pytest.approx(
        np.array([[0, 2], [np.nan, np.nan]]), nan_ok=True
    )


@pytest.mark.parametrize("config", [{}, TOKENS], ids=["pooler", "tokens"])
def test_alone_as_in_a_batch(tmp_path, checkpoints, config):
    folder = checkpoints.write_crepe(tmp_path, **config)
    together = load_crepe(str(folder)).annotate_pairs(PAIRS)
    for pair, reading in zip(PAIRS, together, strict=True):
        (alone,) = load_crepe(str(folder), batch_size=1).annotate_pairs([pair])
        assert alone.counts == in_float32(reading.counts)
        assert alone.presence == in_float32(reading.presence)


def test_pairs_that_differ_in_context_alone_are_read_once(folder, monkeypatch):
    backend = load_crepe(str(folder))
    rows = []
    run = crepe_network.Network.run
    monkeypatch.setattr(
        crepe_network.Network, "run", lambda self, given, size: (rows.extend(given), run(self, given, size))[1]
    )
    first, second = backend.annotate_pairs([PAIRS[1], PAIRS[1]._replace(context=Context(70.0, "F"))])
    assert len(rows) == 1
    assert first is second


@pytest.mark.parametrize("storage", ["fp16", "int8"])
def test_weights_stored_in_fewer_bits(folder, tokens_folder, tmp_path, storage):
    weights = load_file(folder / "model.safetensors")
    small = {}
    for name, x in weights.items():
        if storage == "int8" and x.ndim == 2 and len(x) > 1:
            scale = np.abs(x).max(axis=1) / 127
            small[name], small[f"{name}.scale"] = np.round(x / scale[:, None]).astype(np.int8), scale
        else:
            small[name] = x.astype(np.float16)
    exact = load_crepe(str(folder)).annotate_pairs(PAIRS)
    save_file(small, folder / "model.safetensors")
    for ours, theirs in zip(load_crepe(str(folder)).annotate_pairs(PAIRS), exact, strict=True):
        assert ours.counts == pytest.approx(theirs.counts, abs=0.02)
        assert ours.counts.sum() > 0


def test_weights_in_several_files(folder):
    exact = load_crepe(str(folder)).annotate_pairs(PAIRS)
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    parts = {f"model-{i}.safetensors": dict(list(weights.items())[i::2]) for i in (0, 1)}
    for file, part in parts.items():
        save_file(part, folder / file)
    index = {name: file for file, part in parts.items() for name in part}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    for ours, theirs in zip(load_crepe(str(folder)).annotate_pairs(PAIRS), exact, strict=True):
        assert ours.counts == in_float32(theirs.counts)


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_reduced_precision(folder, precision):
    exact = load_crepe(str(folder)).annotate_pairs(PAIRS)
    for ours, theirs in zip(load_crepe(str(folder), precision=precision).annotate_pairs(PAIRS), exact, strict=True):
        assert ours.counts == pytest.approx(theirs.counts, abs=0.05)


def test_shares_of_words_add_up_to_the_counts(tokens_folder, monkeypatch):
    monkeypatch.setattr(crepe, "SMALLEST_RATE", 0.0)
    for reading in load_crepe(str(tokens_folder), explain=True).annotate_pairs(PAIRS):
        shares = np.bincount([word.category for word in reading.words], [word.rate for word in reading.words], 6)
        assert shares == in_float32(reading.counts)


def test_words_of_an_explanation(tokens_folder, monkeypatch):
    """Pieces of one word are merged, punctuation stands alone, small shares are dropped."""
    from rrgmetrics.backends.crepe.network import Network, Output

    pair = Pair("No effusions.", "Left")
    rates = np.zeros((8, 6))  # [CLS] no effusion ##s . [SEP] left [SEP]
    rates[1, 0], rates[2, 1], rates[3, 1], rates[4, 1], rates[6, 2] = 0.004, 0.5, 0.25, 0.06, 1.0
    output = Output(rates.sum(axis=0), np.zeros(6), rates)
    monkeypatch.setattr(Network, "run", lambda self, rows, size: [output for _ in rows])
    backend = load_crepe(str(tokens_folder), explain=True)
    (reading,) = backend.annotate_pairs([pair])
    assert reading.words == (
        ("reference", 3, 12, 1, 0.75),
        ("reference", 12, 13, 1, 0.06),
        ("candidate", 0, 4, 2, 1.0),
    )
    details = Crepe(explain=True, presence=True).details([pair], {pair: reading})
    assert details["crepe_explained"][0][0] == {
        "text": "reference", "start": 3, "end": 12, "category": "missing_finding", "rate": 0.75,
    }  # fmt: skip
    assert details["crepe_presence"][0]["false_comparison"] == 0.5
    json.dumps(details)


def test_only_scores_that_are_sums_over_words_are_explained(folder):
    with pytest.raises(BackendError, match="cannot explain"):
        load_crepe(str(folder), explain=True)


def test_windows(folder):
    """Cut at sentence ends at like shares of both texts; a window is then scored as a pair of its own."""
    backend = load_crepe(str(folder), long="windows")
    reference = "Heart size is normal. " * 60  # 300 tokens
    candidate = "Small left pleural effusion. " * 60
    (long,) = backend.annotate_pairs([Pair(reference, candidate)])
    half = Pair("Heart size is normal. " * 30, "Small left pleural effusion. " * 30)
    (part,) = backend.annotate_pairs([half])
    assert (long.too_long, part.too_long) == (True, False)
    assert long.counts == in_float32(2 * part.counts)
    assert long.presence == in_float32(part.presence)
    (cut,) = load_crepe(str(folder)).annotate_pairs([Pair(reference, candidate)])
    assert cut.too_long
    assert cut.counts == pytest.approx(part.counts, abs=0.05)


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("heart " * 2000, "left " * 30),
        ("heart " * 700, ""),
        ("", "left. " * 700),
        ("heart " * 255, "left " * 255),
        ("heart. " * 5000, "left\n" * 3000),
        ("heart. " + "left " * 1500, "left " * 1500 + "heart."),
    ],
    ids=["no sentence", "lone reference", "lone candidate", "one too many", "a book", "one long sentence"],
)
def test_windows_fit_and_leave_nothing_out(folder, reference, candidate):
    tokenizer = load_crepe(str(folder)).network.tokenizer
    first, second = tokenizer.encode([reference, candidate])
    windows = tokenizer.windows(first, second, (reference, candidate))
    for which, encoding in enumerate((first, second)):
        spans = [window[which] for window in windows]
        assert (spans[0].start, spans[-1].end) == (0, len(encoding.ids))
        assert all(a.end == b.start for a, b in pairwise(spans))
    assert max(len(tokenizer.join([0] * w.reference.length, [0] * w.candidate.length)[0]) for w in windows) <= 512


def test_statistics_and_notes(folder):
    scorer = Crepe(config=str(folder))
    pairs = [*PAIRS, Pair("heart " * 400, "left " * 300)]
    stats = scored(scorer, pairs)
    assert stats.shape == (7, 9)
    assert stats[:, 0] == pytest.approx(stats[:, 1:7].sum(axis=1))
    assert scorer.notes(stats) == {"too_long": "1"}
    assert list(scorer.reduction.per_pair(stats)) == [
        "crepe",
        "crepe_false_finding",
        "crepe_missing_finding",
        "crepe_incorrect_location",
        "crepe_incorrect_severity",
        "crepe_false_comparison",
        "crepe_missing_comparison",
        "crepe_unclipped",
    ]
    assert scorer.details([], {}) == {}


def test_the_sum_that_is_not_clipped(folder):
    """Equation 8 of the paper, beside what the authors' package sums: of these weights some heads are below 0."""
    network = Crepe(config=str(folder)).backend(Runtime()).network
    tokenizer = network.tokenizer
    first, second = tokenizer.encode([PAIRS[1].reference, PAIRS[1].candidate])
    (heads,) = network.run([tokenizer.join(first.ids, second.ids)], None)
    (row,) = scored(Crepe(config=str(folder)), [PAIRS[1]])
    assert heads.counts.min() < 0 < heads.counts.max()
    assert row[7] == pytest.approx(heads.counts.sum(), abs=1e-5)
    assert row[0] == pytest.approx(heads.counts.clip(min=0).sum(), abs=1e-5)
    by_name = rrgmetrics.score(
        predictions=[PAIRS[1].candidate], references=[PAIRS[1].reference], metrics=f"crepe@{folder}#unclipped"
    )
    assert by_name[f"crepe@{folder}#unclipped"].scores == {"crepe_unclipped": pytest.approx(row[7], abs=1e-5)}


def scored(scorer, pairs):
    readings = dict(zip(pairs, scorer.backend(Runtime()).annotate_pairs(pairs), strict=True))
    return scorer.pair_stats(pairs, readings)


def test_weights_of_16_bits_that_numpy_lacks(tokens_folder):
    import torch
    from safetensors.torch import load_file, save_file

    exact = load_crepe(str(tokens_folder)).annotate_pairs(PAIRS)
    file = tokens_folder / "model.safetensors"
    save_file({name: x.to(torch.bfloat16) for name, x in load_file(file).items()}, file)
    for ours, theirs in zip(load_crepe(str(tokens_folder)).annotate_pairs(PAIRS), exact, strict=True):
        assert ours.counts == pytest.approx(theirs.counts, rel=0.01, abs=0.02)


def test_numpy_reads_no_damaged_weights(tokens_folder):
    change_weights(lambda weights: weights["error_regressors.3.weight"].fill(np.nan))(tokens_folder)
    with pytest.raises(BackendError, match=r"error_regressors\.3\.weight contains NaN or infinite numbers"):
        load_crepe(str(tokens_folder), device="cpu")


def test_inference_needs_no_transformers(folder, run_python):
    script = """
import sys
from rrgmetrics.backends.crepe import load_crepe
from rrgmetrics.reports import Pair
load_crepe(sys.argv[1]).annotate_pairs([Pair("Clear.", "No effusion.")])
print("transformers" in sys.modules)
"""
    assert run_python(script, str(folder)).strip() == "False"
