"""WordNet, tokens, encoders and checkpoints."""

from __future__ import annotations

import json
import shutil
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from float32 import ROUNDING, assert_equal_in_float32, in_float32
from rrgmetrics import BackendError
from rrgmetrics.backends import bert, checkpoints, encoder
from rrgmetrics.backends.tokens import rouge_tokens, tokenize_13a, words
from rrgmetrics.backends.wordnet import BUNDLED, WordNet, load_wordnet
from rrgmetrics.utils.own_process import batches_at_once


def synonyms(word, wordnet=None):
    return set((wordnet or load_wordnet()).synonyms(word)) - {word}


@pytest.fixture
def folder(tmp_path):
    with zipfile.ZipFile(BUNDLED) as archive:
        archive.extractall(tmp_path)
    return tmp_path / "wordnet"


@pytest.mark.parametrize(
    ("word", "synonym"),
    [
        ("physician", "doctor"),
        ("Physicians", "doctor"),  # case and inflection
        ("children", "kid"),  # exception
        ("tumour", "tumor"),
        ("enlarged", "enlarge"),
        ("abroad", "overseas"),  # its entry carries a marker: abroad(p)
    ],
)
def test_synonyms(word, synonym):
    assert synonym in synonyms(word)


@pytest.mark.parametrize("word", ["", " ", "xqzt", "3.5", "'s", "\n", "é", "...", "a" * 10_000])
def test_words_without_synonyms(word):
    assert synonyms(word) == set()


def test_a_folder_reads_as_the_archive(folder):
    wordnet = load_wordnet(str(folder))
    assert wordnet.sha256 == load_wordnet().sha256
    assert synonyms("physician", wordnet) == synonyms("physician")


@pytest.mark.parametrize("missing", ["data.noun", "index.verb", "adj.exc"])
def test_a_folder_that_lacks_a_file(folder, missing):
    (folder / missing).unlink()
    with pytest.raises(BackendError, match=missing):
        WordNet(folder)


@pytest.mark.parametrize("content", [b"word n 1 0 1 1 xyz\n", b"word\n", b"\xff\xfe n 1 0 1 1 00001740\n"])
def test_a_file_that_is_not_wordnets(folder, content):
    (folder / "index.noun").write_bytes(content)
    with pytest.raises(BackendError, match="does not contain WordNet"):
        WordNet(folder)


def test_other_files_than_wordnets(tmp_path):
    (tmp_path / "a.zip").write_text("no archive")
    for path in (tmp_path / "a.zip", tmp_path / "nowhere", tmp_path):
        with pytest.raises(BackendError, match="does not contain WordNet"):
            WordNet(path)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("Clear.", ["Clear", "."]),
        ("3.5 cm, 1,000", ["3.5", "cm", ",", "1,000"]),
        ("x-ray 3-4", ["x-ray", "3", "-", "4"]),
        ("a -\nb\nc", ["a", "b", "c"]),
        ("&lt;new&gt; &amp;quot; <skipped>", ["<", "new", ">", "&", "quot", ";"]),
    ],
)
def test_13a(text, tokens):
    assert tokenize_13a(text) == tokens


def test_words():
    assert words("wordpunct").function("No x-ray, 3.5 cm.") == ["No", "x", "-", "ray", ",", "3", ".", "5", "cm", "."]
    assert words("whitespace").function(" No x-ray,\n3.5 cm. ") == ["No", "x-ray,", "3.5", "cm."]


def test_rouge_tokens():
    counted = rouge_tokens(True).function("Effusions, effusion: no.")
    assert counted.tokens == ["effus", "effus", "no"]
    assert counted.places == {"effus": 0b011, "no": 0b100}


@pytest.fixture(scope="module")
def bundled():
    return encoder.load_encoder(encoder.BUNDLED)


@pytest.mark.parametrize(
    ("text", "n_own"), [("", 0), (" \n", 0), ("effusion", None), ("effusion " * 2000, None), ("\x00", 0)]
)
def test_token_vectors(bundled, text, n_own):
    (annotation,) = bundled.annotate([text])
    n = len(annotation.ids)
    assert 2 <= n <= 512
    assert annotation.vectors.shape == (n, 384)
    assert np.linalg.norm(annotation.vectors, axis=1) == in_float32(np.ones(n))
    assert not annotation.own[[0, -1]].any()
    if n_own is not None:
        assert annotation.own.sum() == n_own


def test_vectors_do_not_depend_on_the_batch(bundled, reports):
    texts = [*reports.references, "x", "effusion " * 300]
    together = bundled.annotate(texts)
    for text, annotation in zip(texts, together, strict=True):
        (alone,) = bundled.annotate([text])
        np.testing.assert_array_equal(alone.ids, annotation.ids)
        assert_equal_in_float32(alone.vectors, annotation.vectors)


def test_batches_at_once_keep_the_order_of_the_texts(bundled, reports):
    alone = bundled.annotate(reports.references)
    together = replace(bundled, at_once=3, batch_size=2).annotate(reports.references)
    for one, same in zip(alone, together, strict=True):
        assert one.ids.tolist() == same.ids.tolist()
        assert_equal_in_float32(one.vectors, same.vectors)


@pytest.mark.parametrize(
    ("environment", "at_once"),
    [
        ({}, 1),
        ({"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "3"}, 1),
        ({"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "3"}, 3),
        ({"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "300"}, 16),
        ({"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1,2"}, 5),  # by level of nesting, which is OpenMP's alone
        ({"OPENBLAS_NUM_THREADS": "1"}, 5),
    ],
)
def test_batches_run_at_once_where_numpy_has_one_thread(monkeypatch, environment, at_once):
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("os.cpu_count", lambda: 5)
    assert batches_at_once() == at_once


def test_an_annotation_keeps_no_batch_alive(bundled):
    """A slice of a padded batch would hold all of it in memory."""
    annotations = bundled.annotate(["effusion " * 400, "clear"])
    assert [annotation.vectors.base for annotation in annotations] == [None, None]


def test_encoders_are_loaded_once_while_one_is_held(monkeypatch):
    held = encoder.load_encoder(encoder.FINDINGS, layer=1)
    monkeypatch.setattr(encoder, "load_int8", lambda file: pytest.fail("loaded again"))
    assert [held.layer, encoder.load_encoder(encoder.FINDINGS, layer=2).layer] == [1, 2]  # of the same weights
    monkeypatch.undo()
    first = encoder.load_encoder(encoder.FINDINGS, layer=2)
    again = encoder.load_encoder(encoder.FINDINGS, layer=2, batch_size=7)
    assert (first.batch_size, again.batch_size) == (None, 7)
    assert first.key == again.key != encoder.load_encoder(encoder.FINDINGS, layer=3).key
    assert encoder.load_encoder(encoder.FINDINGS).key == encoder.load_encoder(encoder.FINDINGS, layer=4).key


@pytest.mark.parametrize("device", ["gameboy", "cuda:99", "cpu:0:0"])
def test_unknown_device(device):
    with pytest.raises(BackendError, match=f"device '{device}' cannot be used here"):
        encoder.load_encoder(encoder.BUNDLED, device=device)


def test_bundled_networks_need_no_torch(run_python):
    """Importing it takes two seconds of the first answer."""
    script = """
import sys, rrgmetrics
names = ["crepe", "bertscore", "semb_score", "radeval_bertscore", "ratescore"]
texts = {"predictions": ["Small left effusion."], "references": ["Large right pneumothorax."]}
results = rrgmetrics.score(names, **texts, device="cpu", progress=False)
print(*(result.n_unscored for result in results.values()), "torch" in sys.modules)
"""
    assert run_python(script).split() == ["0", "0", "0", "0", "0", "False"]


@pytest.mark.parametrize("driver", [False, True])
def test_torch_is_asked_only_where_there_may_be_a_gpu(monkeypatch, driver):
    import torch

    asked = []
    monkeypatch.setattr(bert, "_has_driver", lambda: driver)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: asked.append(1) or True)
    monkeypatch.setattr(torch.cuda, "init", lambda: None)
    assert (bert.pick_device(None), bool(asked)) == (("cuda", True) if driver else ("cpu", False))


def test_a_forked_process_that_may_not_use_cuda_runs_models_on_the_cpu(monkeypatch, caplog):
    import torch

    def init():
        raise RuntimeError("Cannot re-initialize CUDA in forked subprocess")

    monkeypatch.setattr(bert, "_has_driver", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "init", init)
    assert bert.pick_device(None) == "cpu"
    assert "on the CPU, because CUDA cannot be used here: Cannot re-initialize CUDA" in caplog.text


@pytest.fixture
def checkpoint(published_checkpoints, tmp_path):
    """A copy of a tiny checkpoint in a folder of the user's."""
    source = next((published_checkpoints / "models--distilbert-base-uncased" / "snapshots").iterdir())
    return shutil.copytree(source, tmp_path / "my model")


def test_a_checkpoint_in_a_folder(checkpoint):
    loaded = encoder.load_encoder(str(checkpoint), layer=5)
    assert loaded.layer == 5
    assert loaded.identity.startswith("my model@sha256:")
    with pytest.raises(BackendError, match="its last is 6"):
        encoder.load_encoder(str(checkpoint), layer=7)


def test_weights_that_changed_are_read_again(checkpoint):
    from safetensors.torch import load_file, save_file

    before = encoder.load_encoder(str(checkpoint), layer=2)
    file = checkpoint / "model.safetensors"
    save_file({name: tensor * 1.5 for name, tensor in load_file(file).items()}, file, metadata={"format": "pt"})
    after = encoder.load_encoder(str(checkpoint), layer=2)
    assert after.identity != before.identity
    changed = after.annotate(["effusion"])[0].vectors - before.annotate(["effusion"])[0].vectors
    assert np.abs(changed).max() > ROUNDING


def test_weights_that_are_missing_are_never_random(checkpoint):
    from safetensors.torch import load_file, save_file

    file = checkpoint / "model.safetensors"
    weights = {name: tensor for name, tensor in load_file(file).items() if "layer.1.attention" not in name}
    save_file(weights, file, metadata={"format": "pt"})
    with pytest.raises(BackendError, match=r"lacks \d+ weights of the encoder, such as .*layer\.1\.attention"):
        encoder.load_encoder(str(checkpoint), layer=2)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "config.json").unlink(), "no config.json"),
        (lambda folder: (folder / "model.safetensors").unlink(), "none of model.safetensors"),
        (lambda folder: (folder / "config.json").write_text("{"), "could not be loaded"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"no weights"), "could not be loaded"),
        (lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"), "convert pickled weights"),
        (lambda folder: (folder / "config.json").write_text(json.dumps({"model_type": "new"})), "could not be loaded"),
    ],
)
def test_a_damaged_folder(checkpoint, damage, message):
    damage(checkpoint)
    with pytest.raises(BackendError, match=message) as error:
        encoder.load_encoder(str(checkpoint), layer=2)
    assert "my model" in str(error.value)


@pytest.mark.parametrize("name", ["/nowhere/model", "./none", "~/none-such", "a/b/c", "../x"])
def test_a_folder_that_is_not_there(name):
    with pytest.raises(BackendError, match="There is no folder"):
        checkpoints.find_checkpoint(name)


@pytest.mark.parametrize("environment", [{"HF_HOME": "{}"}, {"HF_HUB_CACHE": "{}/hub"}, {"XDG_CACHE_HOME": "{}"}])
def test_the_hubs_cache(environment, tmp_path, monkeypatch):
    for name in ("HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    home = tmp_path / "huggingface" if "XDG_CACHE_HOME" in environment else tmp_path
    snapshot = home / "hub" / "models--org--model" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    with pytest.raises(
        BackendError, match=r"There is no folder org/model\. As .*org/model is not in .*hf download org/model"
    ):
        checkpoints.find_checkpoint("org/model")  # no weights yet, no reference either
    (snapshot / "model.safetensors").touch()
    assert checkpoints.find_checkpoint("org/model@abc") == (snapshot, "org/model@abc")
    with pytest.raises(BackendError, match="not in"):
        checkpoints.find_checkpoint("org/model")
    reference = snapshot.parents[1] / "refs" / "main"
    reference.parent.mkdir()
    reference.write_text("abc\n")
    assert checkpoints.find_checkpoint("org/model") == (snapshot, "org/model@abc")


def test_no_answer_is_said_after_one_try(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody listens there
    monkeypatch.setattr("time.sleep", lambda seconds: pytest.fail("it tries again"))
    with pytest.raises(BackendError, match=r"did not answer in 0.7 s.*hf download org/model --revision v1"):
        checkpoints.find_checkpoint("org/model@v1")
    assert checkpoints.PROBE_SECONDS < 1


@pytest.mark.network
def test_a_download(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.delenv("HF_HUB_OFFLINE")
    name = "hf-internal-testing/tiny-random-bert"
    try:
        checkpoint = checkpoints.find_checkpoint(name)
    except BackendError as error:
        pytest.skip(str(error))
    assert (checkpoint.folder / "config.json").is_file()
