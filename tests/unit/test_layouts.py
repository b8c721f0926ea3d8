"""Every published checkpoint as it is published, loaded in every way: stand-ins of tests/layouts.py."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
import types
from pathlib import Path

import pytest
import yaml

import rrgmetrics
from rrgmetrics.backends import checkpoints as stored
from rrgmetrics.callbacks import ReportMetrics
from rrgmetrics.cli import main
from rrgmetrics.doctor import Doctor
from rrgmetrics.doctor.needs import needs
from rrgmetrics.doctor.verified import BASES, PROPERTIES, verified
from rrgmetrics.errors import BackendError
from rrgmetrics.judges.base import EngineName, Message, Prompt
from rrgmetrics.judges.engines import load_engine
from rrgmetrics.scoring.hub import module_path

pytest.importorskip("sentencepiece", reason="GREEN's and RaTE-NER's tokenizers are made with it (extra judges)")

GREEN, CRIMSON = "StanfordAIMI/GREEN-radllama2-7b", "rajpurkarlab/medgemma-4b-it-crimson"
SCORERS, CXR_BERT = "StanfordAIMI/RRG_scorers", "microsoft/BiomedVLP-CXR-BERT-general"
CONFIGURATIONS = sorted({name for need in needs() for name in need.configurations} | {"radgraph_f1@modern-radgraph-xl"})
JUDGES = ("green@paper", "crimson@paper")
ROWS = 3


def columns(reports) -> dict[str, list[str]]:
    return {"predictions": reports.altered[:ROWS], "references": reports.references[:ROWS]}


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_every_way_gives_the_same_values(layout_cache, configuration, reports, tmp_path, capsys):
    """`evaluate.load`, the callback, the command and the doctor, without the Hub."""
    import evaluate

    if configuration == "crimson@paper" and not importlib.util.find_spec("CRIMSON"):
        pytest.skip("its question is in the authors' package crimson-score")
    name, _, config = configuration.partition("@")
    module = evaluate.load(str(module_path(name)), config, cache_dir=str(tmp_path))
    values = module.compute(**columns(reports))
    callback = ReportMetrics(configuration)
    callback.update(*columns(reports).values())
    logged = callback.compute()
    label = next(key for key in logged if key.endswith("_n_unscored")).removesuffix("_n_unscored")
    pairs = zip(*columns(reports).values(), strict=True)
    rows = [{"study_id": i, "candidate": c, "reference": r} for i, (c, r) in enumerate(pairs)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["score", str(tmp_path / "pairs.jsonl"), "--metrics", configuration, "--no-trivial", "--no-progress"]
    main([*command, "--json", str(tmp_path / "scores.json"), "--trials", "10"])
    capsys.readouterr()
    by_command = json.loads((tmp_path / "scores.json").read_text())["systems"]["pairs"][configuration]
    unscored = ROWS if configuration in JUDGES else 0  # they say nothing
    assert values[f"{name}_n_unscored"] == logged[f"{label}_n_unscored"] == unscored
    assert by_command["n_unscored"] == unscored
    if not unscored:
        assert math.isfinite(values[name])
        assert logged[label] == pytest.approx(values[name], abs=1e-6)
        assert by_command["scores"][name] == pytest.approx(values[name], abs=1e-6)
    (checkup,) = Doctor("http://127.0.0.1:9", score=False).examine([configuration])
    assert checkup.faults == []
    assert all("is here" in sentence for _, sentence in checkup.remarks if "model of your choice" not in sentence)


def test_the_files_are_those_of_the_pages(made):
    for name, row in verified().items():
        repository = "/".join(name.split("/")[:2])
        if row.files and repository in made:
            files = {str(file.relative_to(made[repository])) for file in made[repository].rglob("*") if file.is_file()}
            assert set(row.files) <= files
            assert "/" in name.removeprefix(repository) or set(row.files) == files


def test_each_property_of_each_published_checkpoint_is_accounted_for():
    table = Path(stored.__file__).with_name("published.yaml")  # not what a fixture put in its place
    pins = {name: stored.Pin(**row) for name, row in yaml.safe_load(table.read_text()).items()}
    assert {need.name for need in needs()} <= set(verified())
    for row in verified().values():
        given = [name for basis in BASES for name in getattr(row, basis)]
        assert sorted(given) == sorted(PROPERTIES), row.checkpoint
        assert not row.page or row.source
        assert all(row.of("page").values())
        assert all(row.of("code").values())
        pin = pins["/".join(row.checkpoint.split("/")[:2])]
        assert row.basis("revision") == ("page" if pin.revision else "unverified"), row.checkpoint
        known = {file: digest for file, digest in pin.sha256.items() if digest}
        is_known = row.checkpoint.rpartition("/")[2] in known if row.checkpoint.count("/") > 1 else bool(known)
        assert row.basis("checksums") == ("page" if is_known else "unverified"), row.checkpoint


# --- One by one -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("older", [True, False])
def test_chexberts_pickles_with_the_optimizer(layouts, reports, tmp_path, older):
    """Torch's older kind of pickle and its newer one."""
    from rrgmetrics.backends.chexbert import load_chexbert

    layouts.write_scorers(tmp_path / "scorers", reports.references, older=older)
    file = tmp_path / "scorers" / "chexbert.pth"
    assert (file.read_bytes()[:2] == b"PK") is not older
    assert len(load_chexbert(str(file)).annotate(reports.references[:2])) == 2


@pytest.mark.parametrize("dataset", ["radgraph", "radgraph-xl", "modern-radgraph-xl"])
def test_an_archives_encoder_is_needed(layout_cache, layouts, made, dataset, tmp_path, monkeypatch):
    """By the name in its config.json; without it the message has the command that gets it."""
    from rrgmetrics.backends.radgraph import load_backend

    encoder = layouts.ENCODERS[dataset]
    assert f"tokenizer:{encoder}@" in "".join(f"{k}:{v}" for k, v in load_backend(dataset).facts.items())
    hub = tmp_path / "hub"
    layouts.put(hub, SCORERS, made[SCORERS], "1" * 40)
    monkeypatch.setenv("HF_HUB_CACHE", str(hub))
    with pytest.raises(BackendError, match=rf"hf download {encoder}"):
        load_backend(dataset)


def test_the_old_name_of_a_checkpoint(layout_cache, layouts, made, reports, tmp_path, monkeypatch):
    """A cache that was filled before it was renamed."""
    hub, new = tmp_path / "hub", "StanfordAIMI/SRR-BERT-Upper-with-Statuses"
    layouts.put(hub, layouts.OLD_NAME, made[new], "1" * 40)
    layouts.put(hub, CXR_BERT, made[CXR_BERT], "2" * 40)
    name = "srr_bert_f1@paper?level=upper"
    expected = rrgmetrics.score(name, **columns(reports), progress=False)[name]
    monkeypatch.setenv("HF_HUB_CACHE", str(hub))
    found = rrgmetrics.score(name, **columns(reports), progress=False)[name]
    assert found.scores == pytest.approx(expected.scores, nan_ok=True)
    assert f"model:{new}@{'1' * 12}" in found.signature


def test_the_number_of_labels_is_that_of_the_weights(made):
    """RadEval's program forces it; SRR-BERT-Leaves' stand-in has no labels in its config, which means two."""
    from rrgmetrics.backends.classifier import load_classifier

    folder = made["StanfordAIMI/SRR-BERT-Leaves"]
    assert "id2label" not in json.loads((folder / "config.json").read_text())
    (labels,) = load_classifier(str(folder), n_labels=55).annotate(["Small effusion."])
    assert labels.shape == (55,)
    with pytest.raises(BackendError, match="has 2 labels; this metric needs 25"):
        load_classifier(str(folder), n_labels=25)


# --- CRIMSON's sampling ----------------------------------------------------------------------------------------------


def asked(folder: Path, batch_size: int | None = None, **name) -> tuple[object, list[str | None], list[dict]]:
    """An engine, its replies to five prompts, and what was given to `generate` for each batch."""
    engine = load_engine(
        EngineName("hf", str(folder), raw=True, **name), options={"cache": "no"}, batch_size=batch_size, progress=False
    )
    model, seen = engine.source.model, []
    generate = model.generate
    model.generate = lambda **keywords: seen.append(keywords) or generate(**keywords)
    prompts = [Prompt((Message("user", "x"),), "test@1", max_tokens=9, raw=f"Report {i}.") for i in range(5)]
    try:
        replies = engine.answer(prompts)
    finally:
        del model.generate
    return engine, [reply.text or reply.partial for reply in replies], seen


def test_crimsons_checkpoint_samples_as_its_generation_config_says(made):
    """As its authors let it: one prompt a batch, the same replies each time, and no other random numbers change."""
    import torch

    before = torch.get_rng_state()
    engine, replies, seen = asked(made[CRIMSON], sampled=True)
    assert torch.equal(torch.get_rng_state(), before)
    assert [len(each["input_ids"]) for each in seen] == [1] * 5
    config = seen[0]["generation_config"]
    assert (config.do_sample, config.top_k, config.top_p, config.max_new_tokens) == (True, 64, 0.95, 9)
    assert asked(made[CRIMSON], sampled=True)[1] == replies
    greedy, others, seen = asked(made[CRIMSON])
    assert others != replies
    assert [len(each["input_ids"]) for each in seen] == [5]
    assert not seen[0]["generation_config"].do_sample
    assert engine.parameters == {**greedy.parameters, "temperature": 1.0, "top_k": 64, "top_p": 0.95}
    assert engine.facts["sampling"] == "temperature=1 top_k=64 top_p=0.95"
    assert "sampling" not in greedy.facts


def test_crimsons_checkpoint_without_a_generation_config_is_decoded_greedily(layouts, reports, tmp_path):
    layouts.write_crimson(tmp_path, reports.references, settings=None)
    engine, _, seen = asked(tmp_path, sampled=True)
    assert [each["generation_config"].do_sample for each in seen] == [False]
    assert engine.facts.keys() == asked(tmp_path)[0].facts.keys()


def test_which_checkpoints_sample():
    """CRIMSON's where it is asked as it was trained; GREEN's never, whatever is in its generation_config.json."""
    from rrgmetrics.scorers.crimson import CrimsonProtocol
    from rrgmetrics.scorers.green import GreenProtocol

    assert CrimsonProtocol(wording="checkpoint").sampled
    assert not CrimsonProtocol().sampled
    assert not hasattr(GreenProtocol(), "sampled")


# --- vLLM, which cannot run here: what it is given --------------------------------------------------------------------


@pytest.fixture
def given(monkeypatch):
    """A stand-in for vLLM's module; what it was given, with the files of the folder while it was there."""
    seen = []

    class LLM:
        def __init__(self, model, **settings):
            files = {file.name: file.read_bytes() for file in Path(model).iterdir() if file.is_file()}
            code = json.loads((Path(settings["tokenizer"]) / "tokenizer_config.json").read_text()).get("auto_map")
            seen.append({"files": files, "auto_map": code, **settings})
            config = types.SimpleNamespace(max_model_len=4096)
            self.llm_engine = types.SimpleNamespace(model_config=config)

        def generate(self, rows, settings, **_):
            seen.append(rows)
            choice = types.SimpleNamespace(text="x", finish_reason="stop")
            return [types.SimpleNamespace(outputs=[choice]) for _ in rows]

    vllm = types.ModuleType("vllm")
    vllm.LLM, vllm.SamplingParams, vllm.__version__ = LLM, lambda **keywords: keywords, "0"
    monkeypatch.setitem(sys.modules, "vllm", vllm)
    return seen


@pytest.mark.parametrize(("repository", "dtype"), [(GREEN, "auto"), (CRIMSON, "bfloat16")])
def test_what_vllm_is_given(layout_cache, given, repository, dtype):
    prompt = Prompt((Message("user", "The heart is normal."),), "test@1", max_tokens=7, raw="The heart is normal.")
    answers = {}
    for kind in ("vllm", "hf"):
        engine = load_engine(EngineName(kind, repository, raw=True), options={"cache": "no"}, progress=False)
        answers[kind] = engine.answer([prompt])
    about, rows = given
    assert answers["vllm"][0].text == "x"
    assert (about["dtype"], about["trust_remote_code"], about["auto_map"]) == (dtype, False, None)
    index = "model.safetensors.index.json"
    assert (index in about["files"]) == (repository == GREEN)  # CRIMSON's names shards that are not there
    assert [name for name in about["files"] if name.endswith(".safetensors")]
    tokens = engine.source.tokenizer(prompt.raw)["input_ids"]
    assert rows == [{"prompt_token_ids": tokens}]
    assert not list(layout_cache.rglob("ran"))  # GREEN's code
