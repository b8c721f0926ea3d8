"""The bundled encoder's making: corpus, vocabulary, first vectors, hidden tokens, SimCSE, a small run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from safetensors.numpy import load_file
from tokenizers.processors import TemplateProcessing

from float32 import in_float32
from rrgmetrics import BackendError, InputError
from rrgmetrics.files import read_references, read_system
from rrgmetrics.training import pretraining
from rrgmetrics.training import trainer as runs
from rrgmetrics.training.config import EncoderConfig, changed
from rrgmetrics.training.corpus import (
    MASK,
    NOT_PREDICTED,
    PAD,
    MaskedBatches,
    read_corpus,
    tokenize_texts,
    train_vocabulary,
)
from rrgmetrics.training.pretraining import (
    bert_config,
    contrastive_loss,
    initialise,
    piece_vectors,
    pooled,
    principal_components,
    read_encoder,
    tie_queries,
    train_encoder,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = [EXAMPLES / name for name in ("references.csv", "system_a.csv", "system_b.csv")]


@pytest.fixture(scope="module")
def texts():
    return [*read_references(FILES[0]).reports, *(text for path in FILES[1:] for text in read_system(path).reports)]


@pytest.fixture(scope="module")
def tokenizer(texts):
    return train_vocabulary(texts, size=500, min_frequency=1)


def test_a_corpus_is_the_distinct_texts_of_all_files(tmp_path, texts):
    columns = {"reference": ["Clear lungs.", texts[0]], "candidate": ["Clear lungs. ", None], "seed": [1, 2]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "pairs.parquet")
    (tmp_path / "lines.txt").write_text("No effusion.\n\nClear lungs.\n")
    corpus = read_corpus([str(FILES[0]), str(tmp_path / "pairs.parquet"), str(tmp_path / "lines.txt")])
    assert corpus.texts[-2:] == ["Clear lungs.", "No effusion."]
    reports = read_references(FILES[0]).reports
    assert len(corpus.texts) == len(set(reports)) + 2
    assert [source.n_rows for source in corpus.sources] == [len(reports), 3, 3]


@pytest.mark.parametrize(
    ("paths", "message"), [([], "No corpus is named"), (["nosuch.csv"], "nosuch.csv does not exist")]
)
def test_corpora_that_cannot_be_read(paths, message):
    with pytest.raises(InputError, match=message):
        read_corpus(paths)


def test_a_vocabulary_is_a_function_of_its_corpus(texts, tokenizer):
    again = train_vocabulary(texts, size=500, min_frequency=1)
    assert again.get_vocab() == tokenizer.get_vocab()
    assert tokenizer.get_vocab_size() == 500
    assert "##s" not in tokenizer.encode("##s").tokens  # no piece of a word is a special token


def test_pairs_are_opened_parted_and_typed_as_bert_does(tokenizer):
    pair = tokenizer.encode("small effusion", "effusion")
    assert (pair.tokens[0], pair.tokens[-1], pair.tokens.count("[SEP]")) == ("[CLS]", "[SEP]", 2)
    assert pair.type_ids == [0] * (pair.tokens.index("[SEP]") + 1) + [1] * (len(pair) - pair.tokens.index("[SEP]") - 1)


def test_a_piece_starts_as_the_mean_of_what_the_other_makes_of_its_text():
    bundled = read_encoder("bundled")
    (read,) = bundled.annotate(["effusion"])
    whole, ending, empty = piece_vectors(["effusion", "##effusion", "##"], bundled)
    assert whole == in_float32(read.vectors[read.own].mean(axis=0))
    assert (ending == whole).all()
    assert not empty.any()
    with pytest.raises(BackendError, match="nobody/nothing"):
        read_encoder("nobody/nothing")


def test_tied_queries_let_a_token_attend_to_its_like():
    import torch
    from transformers import BertModel

    config = bert_config(EncoderConfig(hidden_size=32, layers=2, attention_heads=2, intermediate_size=32), 100)
    with torch.random.fork_rng():
        model = BertModel(config)
    drawn = model.encoder.layer[1].attention.self.query.weight.clone()
    tie_queries(model, 2.0)
    tied = model.encoder.layer[1].attention.self
    assert torch.equal(tied.query.weight, 2 * drawn)
    assert torch.equal(tied.key.weight, tied.query.weight)


def test_principal_components_on_paper():
    rows = np.array([[0, 3], [2, 3], [4, 3]], np.float32)  # all variance is along the first column
    reduced = principal_components(rows, 1)[:, 0]
    assert sorted([reduced.tolist(), (-reduced).tolist()])[0] == in_float32([-2, 0, 2])


def test_first_vectors_keep_what_is_alike_near(tokenizer):
    import torch

    bundled = read_encoder("bundled")
    weight = torch.zeros(tokenizer.get_vocab_size(), 64)
    initialise(weight, tokenizer, bundled, 0.04)
    kept = weight[weight.abs().sum(1) > 0]
    assert float(kept.square().mean().sqrt()) == pytest.approx(0.04, rel=0.05)
    assert weight[PAD].abs().sum() == 0
    left, right, clear = (weight[tokenizer.token_to_id(word)] for word in ("left", "right", "clear"))
    assert torch.cosine_similarity(left, right, dim=0) > torch.cosine_similarity(left, clear, dim=0)
    wide = torch.zeros(tokenizer.get_vocab_size(), 400)
    initialise(wide, tokenizer, bundled, 0.04)  # wider than the other's 384: the last columns stay as they were
    assert not wide[:, 384:].any()
    assert wide[:, :384].any()


def test_hidden_tokens_are_15_percent_and_a_function_of_the_batch(tokenizer, texts):
    tokens = tokenize_texts(texts, tokenizer, 64)
    batches = MaskedBatches(tokenizer.get_vocab_size(), probability=0.15, seed=1)
    rows = [tokens[i] for i in range(len(tokens))]
    batch, again = batches(rows), batches(rows)
    assert all((batch[name] == again[name]).all() for name in batch)
    labels, ids = batch["labels"].numpy(), batch["input_ids"].numpy()
    predicted = labels != NOT_PREDICTED
    words = int((np.concatenate(rows) >= 5).sum())
    assert predicted.sum() / words == pytest.approx(0.15, abs=0.03)
    assert (ids[predicted] == MASK).mean() == pytest.approx(0.8, abs=0.07)
    assert (ids[predicted] == labels[predicted]).mean() == pytest.approx(0.1, abs=0.06)
    assert labels[ids == PAD].max() == NOT_PREDICTED
    other = MaskedBatches(tokenizer.get_vocab_size(), probability=0.15, seed=2)(rows)
    assert (other["labels"] != batch["labels"]).any()


def test_contrastive_loss_on_paper():
    import torch

    first = torch.tensor([[1.0, 0.0], [0.0, 2.0]])  # cosines 1 with itself, 0 with the other
    loss = contrastive_loss(first, first.clone(), temperature=0.5)
    assert float(loss) == in_float32(np.log(1 + np.exp(-2)))


def test_pooling_on_paper():
    import torch

    states = torch.tensor([[[1.0, 0.0], [3.0, 2.0], [9.0, 9.0]]])
    mask = torch.tensor([[1, 1, 0]])
    assert pooled(states, mask, "mean").tolist() == [[2.0, 1.0]]
    assert pooled(states, mask, "cls").tolist() == [[1.0, 0.0]]


def write_base(folder, texts, layout):
    """A tiny pretrained encoder with a vocabulary that is not ours, in one of three layouts."""
    import torch
    from tokenizers.implementations import ByteLevelBPETokenizer
    from transformers import (
        BertConfig,
        BertForMaskedLM,
        ModernBertConfig,
        ModernBertForMaskedLM,
        PreTrainedTokenizerFast,
        RobertaConfig,
        RobertaForMaskedLM,
    )

    pieces = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pieces.train_from_iterator(texts, vocab_size=400, special_tokens=special, show_progress=False)
    pieces._tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = dict(zip(("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), special, strict=True))
    names |= {"cls_token": "<s>", "sep_token": "</s>"}
    PreTrainedTokenizerFast(tokenizer_object=pieces._tokenizer, **names).save_pretrained(folder)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    sizes |= {"vocab_size": 400, "pad_token_id": 1, "max_position_embeddings": 66}
    kind, config = {
        "bert": (BertForMaskedLM, BertConfig),
        "roberta": (RobertaForMaskedLM, RobertaConfig),
        "modernbert": (ModernBertForMaskedLM, ModernBertConfig),
    }[layout]
    ends = {"bos_token_id": 0, "cls_token_id": 0, "eos_token_id": 2, "sep_token_id": 2}
    with torch.random.fork_rng():
        kind(config(**sizes, **(ends if layout == "modernbert" else {}))).save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("layout", ["bert", "roberta", "modernbert"])
@pytest.mark.parametrize(("epochs", "pooling"), [(0, "cls"), (1, "mean")])
def test_a_pretrained_encoder_is_trained_further(tmp_path, texts, layout, epochs, pooling):
    from transformers import AutoModel, AutoTokenizer

    from rrgmetrics.backends.encoder import load_encoder

    base = write_base(tmp_path / "base", texts, layout)
    config = EncoderConfig(
        corpus=(str(FILES[0]),), base=base, pooling=pooling, max_length=64, epochs=epochs, batch_size=4,
        validation_texts=5, simcse_epochs=2, simcse_batch_size=8, simcse_learning_rate=1e-3, patience=0,
        precision="fp32", cpu=True,
    )  # fmt: skip
    run = train_encoder(config, tmp_path / "run", progress=False)
    assert np.isnan(run.perplexity) == (epochs == 0)
    before, after = AutoModel.from_pretrained(base), AutoModel.from_pretrained(run.folder)
    assert after.config.model_type == layout
    assert after.config.vocab_size == 400
    changed_weights = [
        name
        for (name, one), other in zip(before.named_parameters(), after.parameters(), strict=False)
        if one.shape == other.shape and not bool((one == other).all())
    ]
    assert len(changed_weights) > 10
    one, other = (AutoTokenizer.from_pretrained(folder) for folder in (base, run.folder))
    assert one("Small effusion.")["input_ids"] == other("Small effusion.")["input_ids"]
    read = load_encoder(str(run.folder)).annotate(["Small effusion."])
    assert np.isfinite(read[0].vectors).all()
    assert "base, trained further" in (run.folder / "README.md").read_text()
    with pytest.raises(InputError, match="max_length is 100"):
        train_encoder(changed(config, max_length=100), tmp_path / "long", progress=False)
    with pytest.raises(BackendError, match="nobody/nothing"):
        train_encoder(changed(config, base="nobody/nothing"), tmp_path / "absent", progress=False)


def test_an_encoder_is_made_and_a_killed_run_goes_on(tmp_path, monkeypatch):
    from transformers import AutoModel, AutoTokenizer

    config = EncoderConfig(
        corpus=tuple(map(str, FILES[:1])), vocabulary_size=300, min_frequency=1, hidden_size=16, layers=1,
        attention_heads=2, intermediate_size=32, max_length=64, epochs=2, batch_size=4, validation_texts=5,
        simcse_epochs=1, simcse_batch_size=4, patience=0, precision="fp32", cpu=True,
    )  # fmt: skip
    whole = train_encoder(config, tmp_path / "whole", progress=False)
    with monkeypatch.context() as patch:
        patch.setattr(pretraining, "simcse_trainer_class", None)
        with pytest.raises(TypeError):
            train_encoder(config, tmp_path / "killed", progress=False)
    resumed = train_encoder(config, tmp_path / "killed", progress=False)
    assert resumed.perplexity == pytest.approx(whole.perplexity)

    one, other = (load_file(run.folder / "model.safetensors") for run in (whole, resumed))
    assert all(np.array_equal(one[name], other[name]) for name in one)
    assert not {"language_model", "simcse", runs.CHECKPOINTS} & {path.name for path in whole.folder.iterdir()}
    n_texts = len(set(read_references(FILES[0]).reports))
    assert f"{n_texts - 5} distinct to train" in (whole.folder / "README.md").read_text()
    model, tokenizer = AutoModel.from_pretrained(whole.folder), AutoTokenizer.from_pretrained(whole.folder)
    pair = tokenizer("small effusion", "clear lungs", return_tensors="pt")
    assert pair["token_type_ids"].max() == 1
    assert model(**pair).last_hidden_state.shape[-1] == 16
    untrained = train_encoder(changed(config, epochs=0, simcse_epochs=0), tmp_path / "untrained", progress=False)
    assert np.isnan(untrained.perplexity)
    assert "perplexity" not in (untrained.folder / "README.md").read_text()
    with pytest.raises(InputError, match=f"{n_texts} texts, and 1,000 are to be held out"):
        train_encoder(changed(config, validation_texts=1000), tmp_path / "few", progress=False)
