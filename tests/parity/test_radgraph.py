"""Our batched DyGIE++ beside a plain loop over reports, and beside the package radgraph, on tiny random weights.

The package needs transformers 4: install radgraph 0.1.18 and requests into an environment of its own and name its
interpreter in RADGRAPH_PYTHON (CONTRIBUTING.md).
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import rrgmetrics
from float32 import in_float32
from rrgmetrics.backends.radgraph import load_backend
from rrgmetrics.backends.radgraph.checkpoint import convert
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.labels.graph import Graph
from rrgmetrics.scorers.radgraph_f1 import compare_graphs

PYTHON = os.environ.get("RADGRAPH_PYTHON", sys.executable)
LENGTHS = {"radgraph": 512, "radgraph-xl": 512, "short": 24}  # checkpoint → pieces read at a time
DATASETS = {"radgraph": "radgraph", "radgraph-xl": "radgraph-xl", "short": "radgraph"}


class Spans(NamedTuple):
    """What a plain loop finds in a report: label and score of entities by (first, last), of relations by two such."""

    entities: dict
    relations: dict


@pytest.fixture(scope="module")
def texts(reports) -> list[str]:
    return [*reports.references[:6], "Effusion.", " ".join(reports.references[6:9])]


@pytest.fixture(scope="module")
def root(tmp_path_factory, texts, radgraph_checkpoints) -> Path:
    """Checkpoints as published, one folder each, and their encoder."""
    root = tmp_path_factory.mktemp("radgraph")
    encoder = radgraph_checkpoints.write_encoder(root / "encoder", texts)
    for name, length in LENGTHS.items():
        radgraph_checkpoints.write_radgraph(root / name / DATASETS[name], DATASETS[name], encoder, max_length=length)
    return root


@pytest.fixture(params=LENGTHS)
def folder(root, request) -> Path:
    return root / request.param / DATASETS[request.param]


@cache
def plain_loop(folder: Path, text: str) -> Spans:
    """One report at a time, every span and every pair written out, as DyGIE++ describes it."""
    import torch

    words, dataset = text.split(" "), folder.name
    weights, tokenizer, encoder, room = plain_model(folder)

    def network(layers: str, last: str, x):
        for i in (0, 1):
            x = torch.relu(x @ weights[f"{layers}{i}.weight"].T + weights[f"{layers}{i}.bias"])
        return x @ weights[f"{last}weight"].T + weights[f"{last}bias"]

    def scorer(name: str, x):
        return network(f"{name}.0._module._linear_layers.", f"{name}.1._module.", x)

    def labels(kind: str) -> list[str]:
        return (folder / "vocabulary" / f"{dataset}__{kind}_labels.txt").read_text().removesuffix("\n").split("\n")

    with torch.no_grad():
        pieces = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in words]
        flat = [piece for word in pieces for piece in word]
        states = []
        for start in range(0, len(flat), room):
            ids = [tokenizer.cls_token_id, *flat[start : start + room], tokenizer.sep_token_id]
            states.extend(encoder(torch.tensor([ids])).last_hidden_state[0, 1:-1])
        vectors, at = [], 0
        for word in pieces:
            vectors.append(torch.stack(states[at : at + len(word)]).mean(dim=0))
            at += len(word)
        widths = weights["_endpoint_span_extractor._span_width_embedding.weight"]
        spans = [(i, j) for i in range(len(words)) for j in range(i, min(i + 8, len(words)))]
        g = torch.stack([torch.cat([vectors[i], vectors[j], widths[j - i]]) for i, j in spans])
        best, label = scorer(f"_ner._ner_scorers.{dataset}__ner_labels", g).max(dim=1)
        entities = {span: (labels("ner")[label[n] + 1], float(best[n])) for n, span in enumerate(spans) if best[n] > 0}
        mention = scorer(f"_relation._mention_pruners.{dataset}__relation_labels._scorer", g)[:, 0]
        top = sorted(mention.argsort(descending=True)[: max(math.ceil(0.5 * len(words)), 1)].tolist())
        namespace = f"{dataset}__relation_labels."
        names = (
            f"_relation._relation_feedforwards.{namespace}_linear_layers.",
            f"_relation._relation_scorers.{namespace}",
        )
        relations = {}
        for a in top:
            pairs = torch.stack([torch.cat([g[a], g[b], g[a] * g[b]]) for b in top])
            scores = network(*names, pairs) + mention[a] + mention[top][:, None]
            for b, s in zip(top, scores, strict=True):
                if s.max() > 0:
                    relations[spans[a], spans[b]] = (labels("relation")[int(s.argmax())], float(s.max()))
    return Spans(entities, relations)


@cache
def plain_model(folder: Path) -> tuple:
    """Published weights, tokenizer, encoder of transformers, and pieces that it reads at a time."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertModel

    bert = json.loads((folder / "config.json").read_text())["dataset_reader"]["token_indexers"]["bert"]
    weights = torch.load(folder / "weights.th", weights_only=True)
    prefix = "_embedder.token_embedder_bert._matched_embedder.transformer_model."
    encoder = BertModel(BertConfig.from_pretrained(bert["model_name"])).eval()
    encoder.load_state_dict({k.removeprefix(prefix): x for k, x in weights.items() if k.startswith(prefix)})
    return weights, AutoTokenizer.from_pretrained(bert["model_name"]), encoder, bert["max_length"] - 2


def as_spans(graph: Graph) -> tuple[dict, set]:
    """Labels of entities by (first, last); relations as (first, last), (first, last), label."""
    place = [(entity.start, entity.end) for entity in graph.entities]
    entities = {span: entity.label for span, entity in zip(place, graph.entities, strict=True)}
    arrows = {
        (span, place[to.entity], to.kind)
        for span, entity in zip(place, graph.entities, strict=True)
        for to in entity.relations
    }
    return entities, arrows


def between_entities(spans: Spans) -> set:
    return {(a, b, kind) for (a, b), (kind, _) in spans.relations.items() if {a, b} <= spans.entities.keys()}


def test_graphs_are_those_of_a_plain_loop(folder, texts):
    graphs = load_backend(str(folder)).annotate(texts)
    n_relations = 0
    for graph in graphs:
        plain = plain_loop(folder, graph.text)
        entities, arrows = as_spans(graph)
        assert entities == {span: label for span, (label, _) in plain.entities.items()}
        assert arrows == between_entities(plain)
        n_relations += len(arrows)
    assert sum(len(graph.entities) for graph in graphs) > 10 * len(texts)
    assert n_relations > len(texts)


def test_scores_are_those_of_a_plain_loop(folder, texts):
    """Vectors of words, scores of entities and of relations, before any decision."""
    import torch

    from rrgmetrics.backends.radgraph import network as radgraph_network

    network = load_backend(str(folder)).network
    (graph,) = load_backend(str(folder)).annotate(texts[:1])
    words, plain = graph.text.split(" "), plain_loop(folder, graph.text)
    report = radgraph_network.Report(words, network.pieces.cut(words))
    with torch.inference_mode():
        vectors = network._words([report])
        spans = radgraph_network._spans([len(words)], 8, "cpu")
        entities, mentions = network._score(vectors, spans, "entity"), network._score(vectors, spans, "mention")[:, 0]
        place = {pair: n for n, pair in enumerate(zip(spans.first.tolist(), spans.last.tolist(), strict=True))}
        related = sorted({place[span] for pair in plain.relations for span in pair})
        widths = network.weights["span_width.weight"][(spans.last - spans.first)[related]]
        g = torch.cat([vectors[spans.first[related]], vectors[spans.last[related]], widths], dim=1)
        relations = network._score_pairs(g) + mentions[related][:, None, None] + mentions[related][None, :, None]
    for span, (_, value) in plain.entities.items():
        assert float(entities[place[span]].max()) == in_float32(value)
    for (a, b), (_, value) in plain.relations.items():
        row, column = related.index(place[a]), related.index(place[b])
        assert float(relations[row, column].max()) == in_float32(value)
    assert plain.entities
    assert plain.relations


@pytest.mark.parametrize("batch_size", [1, 3, None])
def test_a_report_alone_is_as_in_a_batch(folder, texts, batch_size):
    together = load_backend(str(folder)).annotate(texts)
    assert load_backend(str(folder), batch_size=batch_size).annotate(texts[::-1]) == together[::-1]
    alone = load_backend(str(folder))
    assert [alone.annotate([text])[0] for text in texts] == together


def test_the_batch_size_is_honoured(folder, texts):
    """radgraph 0.1.18 takes the argument and reads one report at a time."""
    backend, sizes = load_backend(str(folder), batch_size=3), []

    def encode(ids, mask):
        sizes.append(len(ids))
        return backend.network.encode(ids, mask)

    counting = replace(backend, network=replace(backend.network, encode=encode))
    counting.annotate(texts)
    assert len(sizes) == math.ceil(len(texts) / 3)


@pytest.mark.parametrize("text", ["", " \n", "x", "\x00", "effusion " * 300, "²³ ½ µm", "Ergüsse. 胸水。🩻"])
def test_strange_texts(folder, text):
    (graph,) = load_backend(str(folder)).annotate([text])
    assert len(graph.text.split()) == len(graph.text.split(" ")) or not graph.text
    assert all(entity.end - entity.start < 8 for entity in graph.entities)


def test_a_converted_folder_is_the_same(root, tmp_path, texts):
    source = root / "radgraph-xl" / "radgraph-xl"
    folder = convert(str(source), tmp_path / "converted")
    assert load_backend(str(folder)).annotate(texts) == load_backend(str(source)).annotate(texts)
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "encoder", "model.safetensors"]
    assert not list(folder.rglob("*.th"))
    with pytest.raises(InputError, match="not empty"):
        convert(str(source), folder)


def test_another_encoder_runs_by_transformers(root, tmp_path, texts, radgraph_checkpoints):
    """The same BERT with an activation that our own forward pass does not know."""
    encoder = radgraph_checkpoints.write_encoder(tmp_path / "encoder", texts, hidden_act="gelu_new")
    folder = radgraph_checkpoints.write_radgraph(tmp_path / "radgraph", "radgraph", encoder)
    for graph in load_backend(str(folder)).annotate(texts[:3]):
        assert as_spans(graph)[1] == between_entities(plain_loop(folder, graph.text))


@pytest.fixture(scope="module")
def modern(tmp_path_factory, texts, radgraph_checkpoints) -> Path:
    return radgraph_checkpoints.write_modern(tmp_path_factory.mktemp("roots") / "modern", texts)


def test_modernbert_alone_is_as_in_a_batch_and_converted(modern, tmp_path, texts):
    backend = load_backend(str(modern))
    graphs = backend.annotate(texts)
    assert not backend.network.settings.framed
    assert [backend.annotate([text])[0] for text in texts] == graphs
    assert load_backend(str(convert(str(modern), tmp_path / "converted"))).annotate(texts) == graphs
    assert sum(len(graph.entities) for graph in graphs) > 5 * len(texts)


# --- Damaged checkpoints


@pytest.fixture
def copy(tmp_path, root, radgraph_checkpoints) -> Path:
    return radgraph_checkpoints.write_radgraph(tmp_path / "radgraph", "radgraph", root / "encoder")


def change_config(folder: Path, change) -> None:
    config = json.loads((folder / "config.json").read_text())
    change(config)
    (folder / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "weights.th").unlink(), r"lacks weights\.th"),
        (lambda f: (f / "weights.th").write_bytes(b"no"), "could not be read as weights"),
        (lambda f: (f / "config.json").write_text("{"), "cannot be read"),
        (lambda f: change_config(f, lambda c: c["model"].pop("modules")), "layout that RadGraph is published in"),
        (lambda f: change_config(f, lambda c: c["model"].update(max_span_width=9)), "one width for each of 9 words"),
        (
            lambda f: change_config(f, lambda c: c["model"]["modules"]["coref"].update(coref_prop=2)),
            "coreference propagation",
        ),
        (
            lambda f: (f / "vocabulary" / "radgraph__ner_labels.txt").write_text("\nANAT-DP\n"),
            "scores 4 labels of 1: entity",
        ),
        (
            lambda f: change_config(
                f, lambda c: c["dataset_reader"]["token_indexers"]["bert"].update(model_name="nobody/nothing")
            ),
            "nobody/nothing",
        ),
    ],
)
def test_a_damaged_checkpoint_is_named(copy, damage, message):
    damage(copy)
    with pytest.raises(BackendError, match=message):
        load_backend(str(copy))


def test_a_pickle_that_runs_code_is_refused(copy, tmp_path):
    import torch

    class Code:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "ran",))

    torch.save({"x": Code()}, copy / "weights.th")
    with pytest.raises(BackendError, match="could not be read as weights"):
        load_backend(str(copy))
    assert not (tmp_path / "ran").exists()


def test_archives_come_from_the_cache(published_checkpoints, reports):
    for config, dataset in (("paper", "radgraph-xl"), ("radgraph", "radgraph")):
        name = f"radgraph_f1@{config}"
        result = rrgmetrics.score(
            name, predictions=reports.altered[:3], references=reports.references[:3], progress=False
        )[name]
        assert f"|model:StanfordAIMI/RRG_scorers/{dataset}.tar.gz@" in result.signature
        assert f"|dataset:{dataset}|" in result.signature


# --- The package

SCRIPT = """
import json, sys
from radgraph import RadGraph
from radgraph.rewards import compute_reward
from radgraph.allennlp.data.dataset_readers import AllennlpDataset
from radgraph.allennlp.data.dataloader import PyTorchDataLoader
from radgraph.utils import preprocess_reports
root, texts = sys.argv[1], json.load(open(sys.argv[2]))
found = {}
for name, dataset in json.loads(sys.argv[3]).items():
    model = RadGraph(model_type=dataset, model_cache_dir=f"{root}/{name}", cuda=-1)
    graphs = model(texts)
    data = AllennlpDataset([model.reader.text_to_instance(x) for x in preprocess_reports(texts, dataset)])
    data.index_with(model.model.vocab)
    scores = []
    for batch in PyTorchDataLoader(batch_size=1, dataset=data):
        output = model.model(**batch)
        scores.append({
            "entities": [[*x.span.span_sent, x.label, x.raw_score] for x in output["ner"]["predictions"][0]],
            "relations": [
                [*x.pair[0].span_sent, *x.pair[1].span_sent, x.label, x.raw_score]
                for x in output["relation"]["predictions"][0]
            ],
        })
    n = len(texts)
    rewards = [compute_reward(graphs[str(i)], graphs[str((i + 1) % n)], "all") for i in range(n)]
    found[name] = {"graphs": [graphs[str(i)] for i in range(n)], "scores": scores, "rewards": rewards}
json.dump(found, open(sys.argv[4], "w"))
"""


def run_package(root: Path, texts: list[str], datasets: dict[str, str], place: Path) -> dict:
    """Graphs, raw scores and rewards of radgraph 0.1.18 on the same weights, by checkpoint."""
    probe = "import radgraph, transformers; raise SystemExit(transformers.__version__ >= '5')"
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    if subprocess.run([PYTHON, "-c", probe], capture_output=True, env=environment).returncode:
        pytest.skip("needs radgraph, requests and transformers 4 in RADGRAPH_PYTHON; see CONTRIBUTING.md")
    (place / "texts.json").write_text(json.dumps(texts))
    done = subprocess.run(
        [PYTHON, "-c", SCRIPT, str(root), "texts.json", json.dumps(datasets), "found.json"],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads((place / "found.json").read_text())


@pytest.fixture(scope="module")
def package(root, texts, tmp_path_factory) -> dict:
    return run_package(root, texts, DATASETS, tmp_path_factory.mktemp("package"))


@pytest.mark.slow
def test_graphs_are_those_of_the_package(package, folder, texts):
    theirs = package[folder.parent.name]["graphs"]
    ours = load_backend(str(folder)).annotate(texts)
    assert [Graph.from_json(graph) for graph in theirs] == ours
    assert [graph["entities"] for graph in theirs] == [graph.as_json()["entities"] for graph in ours]


@pytest.mark.slow
def test_scores_are_those_of_the_package(package, folder):
    """Through the plain loop, to which ours are equal."""
    for graph, scores in zip(*(package[folder.parent.name][key] for key in ("graphs", "scores")), strict=True):
        plain = plain_loop(folder, graph["text"])
        assert {(i, j): label for i, j, label, _ in scores["entities"]} == {
            span: label for span, (label, _) in plain.entities.items()
        }
        for i, j, _, value in scores["entities"]:
            assert plain.entities[i, j][1] == in_float32(value)
        assert len(scores["relations"]) == len(plain.relations)
        for *place, label, value in scores["relations"]:
            assert plain.relations[tuple(place[:2]), tuple(place[2:])] == (label, in_float32(value))


@pytest.mark.slow
def test_rewards_are_those_of_the_package(package, folder):
    theirs = package[folder.parent.name]
    graphs = [Graph.from_json(graph) for graph in theirs["graphs"]]
    pairs = zip(graphs, graphs[1:] + graphs[:1], strict=True)
    ours = [compare_graphs(other, graph, lowercase=False)[:3] for graph, other in pairs]
    np.testing.assert_allclose(ours, theirs["rewards"], atol=1e-12)


@pytest.mark.slow
def test_modernbert_gives_the_graphs_of_the_package(modern, texts, tmp_path):
    """Whose shift by one piece is its own; on transformers 5 it does not run, and a port that frames texts differs."""
    theirs = run_package(modern.parents[1], texts, {"modern": "radgraph-xl"}, tmp_path)["modern"]["graphs"]
    assert [Graph.from_json(graph) for graph in theirs] == load_backend(str(modern)).annotate(texts)


@pytest.mark.slow
def test_the_configuration_package(package, root, texts, tmp_path):
    """`radgraph_f1@package:<folder>` in the package's environment gives what `radgraph_f1@<folder>` gives here."""
    folder = root / "radgraph" / "radgraph"
    names = [f"radgraph_f1@package:{folder}", f"radgraph_f1@{folder}"]
    script = (
        "import json, sys, rrgmetrics\n"
        "texts = json.load(open(sys.argv[1]))\n"
        "results = rrgmetrics.score(sys.argv[2:], predictions=texts[1:], references=texts[:-1], progress=False)\n"
        "print(json.dumps([[result.scores, result.signature] for result in results.values()]))\n"
    )
    (tmp_path / "texts.json").write_text(json.dumps([*texts, ""]))
    done = subprocess.run(
        [PYTHON, "-c", script, str(tmp_path / "texts.json"), *names],
        env=os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONPATH": str(Path(rrgmetrics.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (theirs, signature), (ours, _) = json.loads(done.stdout)
    assert theirs == ours
    assert theirs["radgraph_f1"] > 0
    assert "|radgraph:0.1.18|" in signature
