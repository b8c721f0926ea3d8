"""The door for checkpoints: nothing in one is run, built on its word alone, or scored with if it is damaged."""

from __future__ import annotations

import contextlib
import json
import pickle
import resource
import shutil
import struct
import sys
import types
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import rrgmetrics
from rrgmetrics import SPECS
from rrgmetrics.backends.chexbert import load_chexbert
from rrgmetrics.backends.classifier import load_classifier
from rrgmetrics.backends.crepe import load_crepe
from rrgmetrics.backends.crepe.model import build_crepe
from rrgmetrics.backends.encoder import load_encoder
from rrgmetrics.backends.radgraph import load_backend
from rrgmetrics.backends.ratescore import load_entities
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.judges.base import EngineName
from rrgmetrics.judges.engines import load_engine

N_LABELS = 25
CODE = """
from pathlib import Path
Path(__file__).with_name("ran").touch()
Path({mark!r}).touch()
from transformers import BertConfig, BertModel, BertTokenizer
class Config(BertConfig):
    model_type = "evil"
class Model(BertModel):
    config_class = Config
class Tokenizer(BertTokenizer):
    pass
"""
AUTO_MAP = {
    "AutoConfig": "evil.Config",
    **{f"AutoModel{task}": "evil.Model" for task in ("", "ForCausalLM", "ForTokenClassification")},
    "AutoModelForSequenceClassification": "evil.Model",
    "AutoTokenizer": ["evil.Tokenizer", "evil.Tokenizer"],
}


class Attack:
    """Would make a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return open, (str(self.mark), "w")


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """The file that code of a checkpoint would make; after the test it is not there, and nobody was asked."""
    asked = []

    class Input:
        def readline(self, *_):
            asked.append("standard input")
            return "y\n"

        read = readline

    monkeypatch.setattr(sys, "stdin", Input())
    monkeypatch.setattr("builtins.input", lambda *prompt: asked.append(prompt) or "y")
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    yield tmp_path / "ran"
    assert asked == []
    assert not (tmp_path / "ran").exists()


def copied(hub: Path, name: str, folder: Path) -> Path:
    """A copy of a stand-in, in a folder of the user's."""
    (source,) = (hub / f"models--{name.replace('/', '--')}" / "snapshots").iterdir()
    return Path(shutil.copytree(source, folder))


def change(folder: Path, name: str = "config.json", **values) -> None:
    file = folder / name
    content = json.loads(file.read_text()) if file.is_file() else {}
    file.write_text(json.dumps(content | values))


def encoder(hub, folder, checkpoints, radgraph_checkpoints, reports):
    return copied(hub, "distilbert-base-uncased", folder), partial(load_encoder, layer=2)


def classifier(hub, folder, checkpoints, radgraph_checkpoints, reports):
    copied(hub, "StanfordAIMI/SRR-BERT-Upper", folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (snapshot,) = (hub / "models--distilbert-base-uncased" / "snapshots").iterdir()
        shutil.copy(snapshot / name, folder)
    return folder, partial(load_classifier, n_labels=N_LABELS)


def entities(hub, folder, checkpoints, radgraph_checkpoints, reports):
    return copied(hub, "Angelakeke/RaTE-NER-Deberta", folder), load_entities


def judge(hub, folder, checkpoints, radgraph_checkpoints, reports):
    checkpoints.write_causal(folder, reports.references)
    return folder, lambda name: load_engine(EngineName("hf", name), options={"cache": "no"}, progress=False)


def crepe(hub, folder, checkpoints, radgraph_checkpoints, reports):
    return checkpoints.write_crepe(folder), load_crepe


def crepe_of_transformers(hub, folder, checkpoints, radgraph_checkpoints, reports):
    from transformers import BertTokenizerFast, DistilBertConfig

    from rrgmetrics.backends.crepe.model import CrepeSettings, crepe_class

    checkpoints.write_crepe(folder)
    BertTokenizerFast.from_pretrained(folder).save_pretrained(folder)
    settings = CrepeSettings(crepe_features="cls").written()
    small = {"vocab_size": 24, "dim": 16, "hidden_dim": 32, "n_heads": 2, "n_layers": 2}
    crepe_class()(DistilBertConfig(**small, **settings)).save_pretrained(folder)
    return folder, load_crepe


def new_crepe(hub, folder, checkpoints, radgraph_checkpoints, reports):
    return copied(hub, "distilbert-base-uncased", folder), build_crepe


def modern_radgraph(hub, folder, checkpoints, radgraph_checkpoints, reports):
    """What is changed is the encoder's folder; what is loaded, the checkpoint that names it."""
    checkpoint = radgraph_checkpoints.write_modern(folder, reports.references[:6])
    shutil.copy(checkpoint / "weights.th", folder / "encoder" / "unused")
    return folder / "encoder", lambda name: load_backend(str(checkpoint))


LOADERS = (encoder, classifier, entities, judge, crepe, crepe_of_transformers, new_crepe, modern_radgraph)
ASKING = tuple(make for make in LOADERS if make is not crepe)  # those that go through transformers
WEIGHED = tuple(make for make in LOADERS if make is not modern_radgraph)  # those with model.safetensors


@pytest.fixture
def made(published_checkpoints, tmp_path, checkpoints, radgraph_checkpoints, reports):
    """`made(loader)` → a good folder and what loads it."""

    def make(loader):
        return loader(published_checkpoints, tmp_path / "my model", checkpoints, radgraph_checkpoints, reports)

    return make


def named(loaders):
    return pytest.mark.parametrize("loader", loaders, ids=lambda loader: loader.__name__)


@named(LOADERS)
def test_the_folders_that_are_changed_below_are_good(made, loader):
    folder, load = made(loader)
    load(str(folder))


# --- Code ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", [name for name, spec in SPECS.items() if spec.takes_checkpoint])
def test_no_metric_runs_a_folders_code(ran, tmp_path, metric, reports):
    """A folder of an unknown type, with code for it and pickles under every name that anybody reads."""
    folder = tmp_path / "evil"
    folder.mkdir()
    (folder / "evil.py").write_text(CODE.format(mark=str(ran)))
    (folder / "config.json").write_text(json.dumps({"model_type": "evil", "auto_map": AUTO_MAP, "num_labels": 55}))
    change(folder, "tokenizer_config.json", tokenizer_class="Tokenizer", auto_map=AUTO_MAP)
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n")
    (folder / "vocabulary").mkdir()
    save_file({"a": torch.ones(1)}, folder / "model.safetensors")
    for name in ("chexbert.pth", "weights.th", "pytorch_model.bin"):
        (folder / name).write_bytes(pickle.dumps({"model": Attack(ran)}, protocol=2))
    with pytest.raises((BackendError, InputError)):
        rrgmetrics.score(f"{metric}@{folder}", predictions=["Clear."], references=["Clear."], progress=False)


@named(ASKING)
def test_a_type_that_only_its_code_knows(ran, made, loader):
    folder, load = made(loader)
    (folder / "evil.py").write_text(CODE.format(mark=str(ran)))
    change(folder, model_type="evil", auto_map=AUTO_MAP)
    with pytest.raises(BackendError, match=r"type 'evil', which transformers .* \(auto_map\), which is never run"):
        load(str(folder))


@named((encoder, classifier, entities, judge, modern_radgraph))
def test_a_tokenizer_that_only_its_code_knows(ran, made, loader):
    """Refused, or from transformers 5 on read by the class that it has for the type of the network."""
    folder, load = made(loader)
    (folder / "evil.py").write_text(CODE.format(mark=str(ran)))
    change(folder, "tokenizer_config.json", tokenizer_class="Tokenizer", auto_map=AUTO_MAP)
    code = r"requests its own code \(auto_map\), which is never run"
    with pytest.raises(BackendError, match=code) if loader is judge else contextlib.suppress(BackendError):
        load(str(folder))


@named((classifier, entities, judge))
def test_a_network_that_only_its_code_knows(ran, made, loader):
    """The type is known, but transformers has no network of it for this task."""
    folder, load = made(loader)
    (folder / "evil.py").write_text(CODE.format(mark=str(ran)))
    size = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    labels = {"num_labels": N_LABELS, "image_size": 8, "patch_size": 4}
    auto_map = {name: code for name, code in AUTO_MAP.items() if name.startswith("AutoModel")}
    (folder / "config.json").write_text(json.dumps({"model_type": "vit_mae", "auto_map": auto_map} | size | labels))
    with pytest.raises(BackendError, match=r"could not be loaded"):
        load(str(folder))


@named((encoder, crepe_of_transformers))
def test_code_that_is_not_needed_is_left_alone(ran, made, loader):
    """Many published checkpoints carry code for types that transformers learned later."""
    folder, load = made(loader)
    (folder / "evil.py").write_text(CODE.format(mark=str(ran)))
    change(folder, auto_map=AUTO_MAP)
    load(str(folder))


def test_asking_is_put_back_as_it_was(made):
    from transformers import dynamic_module_utils

    before = dynamic_module_utils.TIME_OUT_REMOTE_CODE
    folder, load = made(encoder)
    change(folder, model_type="evil", auto_map=AUTO_MAP)
    with pytest.raises(BackendError):
        load(str(folder))
    assert dynamic_module_utils.TIME_OUT_REMOTE_CODE == before > 0


REDIRECTED = {
    "kernel": ({"attn_implementation": "evil/kernel"}, "code from the Hub"),
    "kernel of a part": ({"text_config": {"_attn_implementation": "evil/kernel"}}, "code from the Hub"),
    "kernels of parts": ({"attn_implementation": {"": "evil/kernel"}}, "code from the Hub"),
    "other weights": ({"transformers_weights": "other.bin"}, "names other weights"),
}


@pytest.mark.parametrize(("values", "message"), REDIRECTED.values(), ids=REDIRECTED)
@named((encoder, judge))
def test_code_or_weights_from_elsewhere(made, loader, values, message):
    folder, load = made(loader)
    change(folder, **values)
    with pytest.raises(BackendError, match=message):
        load(str(folder))


@named(WEIGHED)
def test_an_adapter_that_would_change_the_weights(made, loader):
    folder, load = made(loader)
    change(folder, "adapter_config.json", base_model_name_or_path="evil/base")
    with pytest.raises(BackendError, match=r"adapter_config\.json .*merge_and_unload"):
        load(str(folder))


def test_vllm_is_given_checked_folders_and_told_not_to_run_code(ran, made, monkeypatch):
    given = []
    vllm = types.ModuleType("vllm")
    vllm.LLM = lambda **keywords: given.append(keywords) or 1 / 0
    monkeypatch.setitem(sys.modules, "vllm", vllm)
    folder, _ = made(judge)
    engine = partial(load_engine, EngineName("vllm", str(folder)), options={"cache": "no"})
    with pytest.raises(BackendError, match="division"):
        engine()
    assert (given[0]["trust_remote_code"], given[0]["load_format"]) == (False, "safetensors")
    change(folder, num_hidden_layers=200_000)
    with pytest.raises(BackendError, match="num_hidden_layers = 200,000"):
        engine()
    assert len(given) == 1


# --- Numbers ---------------------------------------------------------------------------------------------------------


def nested(folder):
    (folder / "config.json").write_text('{"model_type": "bert", "a": ' + "[" * 100_000 + "]" * 100_000 + "}")


def rather_nested(folder):
    (folder / "config.json").write_text('{"model_type": "bert", "a": ' + "[" * 100 + "]" * 100 + "}")


def enormous(folder):
    (folder / "config.json").write_text('{"model_type": "bert", "a": "' + "a" * (5 << 20) + '"}')


LAYERS = ("num_hidden_layers", "n_layers")
TOO_MUCH = {
    "layers": (lambda f: change(f, **dict.fromkeys(LAYERS, 200_000)), r"has n\w+ = 200,000, above the limit of 1,000"),
    "layers as a float": (lambda f: change(f, **dict.fromkeys(LAYERS, 2e9)), "above the limit of 1,000"),
    "layers of a part": (lambda f: change(f, text_config={"depths": [2, 200_000]}), "depths = 200,000"),
    "vocabulary": (lambda f: change(f, vocab_size=10**9), "vocab_size = 1,000,000,000"),
    "width": (lambda f: change(f, hidden_size=10**9, dim=10**9), "= 1,000,000,000"),
    "labels": (lambda f: change(f, num_labels=10**9), "num_labels = 1,000,000,000"),
    "new tokens": (lambda f: change(f, "tokenizer_config.json", extra_ids=10**9), "extra_ids = 1,000,000,000"),
    "nesting": (nested, "nested too deeply"),
    "some nesting": (rather_nested, "nested too deeply"),
    "bytes": (enormous, "config.json has 5,2"),
    "beside it": (
        lambda f: (f / "added_tokens.json").write_bytes(bytes(17 << 20)),
        "added_tokens.json is not a file of",
    ),
    "a number of 9,999 digits": (
        lambda f: (f / "config.json").write_text('{"a": ' + "9" * 9999 + "}"),
        "cannot be read",
    ),
}


@pytest.mark.parametrize(("damage", "message"), TOO_MUCH.values(), ids=TOO_MUCH)
@named(LOADERS)
def test_nothing_is_built_that_no_checkpoint_has(made, monkeypatch, loader, damage, message):
    folder, load = made(loader)
    damage(folder)
    monkeypatch.setattr(torch.nn.Module, "__init__", None)  # not one layer
    with pytest.raises(BackendError, match=message):
        load(str(folder))


@named((encoder, classifier, judge, new_crepe, modern_radgraph))
def test_a_network_far_larger_than_its_weights_takes_no_memory(made, monkeypatch, loader):
    """Each number alone is possible; transformers would fill 6 GB before it found the shapes to differ."""
    folder, load = made(loader)
    change(folder, vocab_size=400_000, hidden_size=4096, dim=4096)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(
        BackendError, match=r"describes a network of [123],\d{3},\d{3},\d{3} weights, but [\d,]+ are stored"
    ):
        load(str(folder))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20  # KiB


def header(length: int, text: bytes = b"{}"):
    return lambda folder: (folder / "model.safetensors").write_bytes(struct.pack("<Q", length) + text)


def tensors(**shapes):
    text = json.dumps(
        {name: {"dtype": "F32", "shape": shape, "data_offsets": [0, 4]} for name, shape in shapes.items()}
    )
    return header(len(text), text.encode() + bytes(4))


HEADERS = {
    "longer than any": (header(2**62), "its header states 4,611,686,018,427,387,904 bytes"),
    "longer than the file": (header(99_999), "cannot be read"),
    "no JSON": (header(2, b"[]"), "cannot be read"),
    "a shape larger than its bytes": (tensors(a=[2**40]), "cannot be read"),
    "a shape beyond all numbers": (tensors(a=[2**40, 2**40]), "cannot be read"),
    "two in the same place": (tensors(a=[1], b=[1]), "cannot be read"),
    "none": (lambda folder: (folder / "model.safetensors").write_bytes(b""), "cannot be read"),
}


@pytest.mark.parametrize(("damage", "message"), HEADERS.values(), ids=HEADERS)
@named((encoder, crepe, judge))
def test_headers_of_safetensors(made, loader, damage, message):
    folder, load = made(loader)
    damage(folder)
    with pytest.raises(BackendError, match=message):
        load(str(folder))


@pytest.mark.parametrize("name", ["../other.safetensors", "/etc/passwd", "pytorch_model.bin", "a\\b.safetensors", ""])
@named((encoder, crepe, judge))
def test_an_index_names_safetensors_of_the_folder(ran, made, loader, name):
    folder, load = made(loader)
    names = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").rename(folder.parent / "other.safetensors")
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"a": Attack(ran)}, protocol=2))
    change(folder, "model.safetensors.index.json", weight_map=dict.fromkeys(names, name))
    with pytest.raises(BackendError, match="which is not a safetensors file"):
        load(str(folder))


# --- Weights ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [float("nan"), float("-inf")])
@named(WEIGHED)
def test_weights_that_are_no_numbers(made, loader, number):
    folder, load = made(loader)
    weights = load_file(folder / "model.safetensors")
    name = next(
        name for name in weights if name.endswith("layer.1.attention.v_lin.weight" if "v_lin" in name else "weight")
    )
    weights[name].view(-1)[-1] = number
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    tail = ".".join(name.split(".")[-3:])  # transformers may call what is before otherwise
    with pytest.raises(BackendError, match=rf"{tail} contains NaN or infinite numbers".replace(".", r"\.")):
        load(str(folder))


def test_weights_of_8_bits_that_are_no_numbers(made):
    folder, load = made(crepe)
    weights = load_file(folder / "model.safetensors")
    name = "bert.encoder.layer.0.output.dense.weight"
    weights[f"{name}.scale"] = weights[name].abs().amax(dim=1) / 127
    weights[name] = (weights[name] / weights[f"{name}.scale"][:, None]).round().to(torch.int8)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    load(str(folder))
    weights[f"{name}.scale"][3] = float("inf")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BackendError, match=r"output\.dense\.weight\.scale contains NaN or infinite numbers"):
        load(str(folder))


@pytest.mark.parametrize("name", ["chexbert.pth", "chexbert.safetensors"])
def test_weights_of_chexbert_that_are_no_numbers(tmp_path, checkpoints, name):
    state = torch.load(checkpoints.write_chexbert(tmp_path), weights_only=True)["model_state_dict"]
    state["module.linear_heads.3.bias"][1] = float("nan")
    (save_file if name.endswith("safetensors") else torch.save)(state, tmp_path / name)
    with pytest.raises(BackendError, match=rf"{name}: .*linear_heads\.3\.bias contains NaN or infinite numbers"):
        load_chexbert(str(tmp_path / name))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.float8_e4m3fn])
def test_numbers_of_every_width_are_looked_at(dtype):
    from rrgmetrics.backends.checkpoints.loading import check_finite

    good = {"a": torch.full((3, 3), 200.0).to(dtype), "b": torch.ones(2, dtype=torch.int8), "c": torch.empty(0)}
    good["d"] = torch.empty(4, device="meta", dtype=dtype)
    check_finite(good.items())
    with pytest.raises(BackendError, match=r"^e contains"):
        check_finite((good | {"e": torch.tensor([1.0, float("nan"), 2.0]).to(dtype)}).items())


def test_all_of_a_large_16_bit_tensor_may_be_large():
    """A sum would overflow and refuse it."""
    from rrgmetrics.backends.checkpoints.loading import check_finite

    check_finite([("a", torch.full((1000, 1000), 60_000.0, dtype=torch.float16))])


# --- Pickles ---------------------------------------------------------------------------------------------------------


@named(WEIGHED)
def test_a_pickle_in_place_of_the_weights(ran, made, loader):
    folder, load = made(loader)
    (folder / "model.safetensors").unlink()
    torch.save({"a": Attack(ran)}, folder / "pytorch_model.bin")
    with pytest.raises(BackendError):
        load(str(folder))


@named(WEIGHED)
def test_pickles_beside_the_weights_are_not_read(ran, made, loader):
    folder, load = made(loader)
    for name in ("pytorch_model.bin", "training_args.bin", "optimizer.pt", "adapter_model.bin"):
        (folder / name).write_bytes(pickle.dumps({"a": Attack(ran)}, protocol=2))
    load(str(folder))


def test_a_pickle_cannot_show_few_numbers_as_many(tmp_path, checkpoints):
    from rrgmetrics.backends.checkpoints.loading import load_weights

    torch.save({"a": torch.ones(1).expand(10**12)}, tmp_path / "wide.pth")
    with pytest.raises(BackendError, match=r"wide\.pth does not contain all of a"):
        load_weights(tmp_path / "wide.pth")


def test_pickles_are_not_read_by_a_torch_that_may_run_them(tmp_path, monkeypatch):
    from rrgmetrics.backends.checkpoints.loading import load_weights

    torch.save({"a": torch.ones(1)}, tmp_path / "a.pth")
    assert list(load_weights(tmp_path / "a.pth")) == ["a"]
    monkeypatch.setattr(torch, "__version__", "2.5.1+cpu")
    with pytest.raises(BackendError, match=r"torch 2\.5\.1\+cpu may execute code in a pickle; upgrade to torch 2\.6"):
        load_weights(tmp_path / "a.pth")


def test_chexberts_layers_are_counted_not_believed(tmp_path, checkpoints):
    """A name with a large number made a list of as many layers."""
    file = checkpoints.write_chexbert(tmp_path)
    state = torch.load(file, weights_only=True)["model_state_dict"]
    state["module.bert.encoder.layer.9999999999.output.dense.bias"] = torch.ones(1)
    torch.save(state, file)
    with pytest.raises(BackendError, match=r"lacks \d+ weights, such as bert\.encoder\.layer\.2"):
        load_chexbert(str(file))


@pytest.mark.parametrize("damage", ["pickle", "class"])
def test_the_package_of_radgraph_is_given_nothing_that_it_would_run(
    ran, tmp_path, monkeypatch, radgraph_checkpoints, reports, damage
):
    """It unpickles what it is given, and AllenNLP makes an object of any class that a config names by its path."""
    from rrgmetrics.backends.radgraph import package as radgraph_package
    from rrgmetrics.backends.radgraph.checkpoint import find_radgraph

    encoder = radgraph_checkpoints.write_encoder(tmp_path / "encoder", reports.references[:3])
    folder = radgraph_checkpoints.write_radgraph(tmp_path / "radgraph", "radgraph", encoder)
    if damage == "pickle":
        torch.save({"a": Attack(ran)}, folder / "weights.th")
    else:
        change(folder, initializer={"type": "subprocess.Popen", "args": ["touch", str(ran)]})
    monkeypatch.setattr(radgraph_package, "import_module", lambda name: pytest.fail(f"{name} was asked"))
    with pytest.raises(BackendError, match=r"could not be read as weights|requests code"):
        radgraph_package._load(find_radgraph(str(folder)), "cpu")
