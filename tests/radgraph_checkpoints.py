"""Tiny RadGraph checkpoints with random weights, in the layout that the authors publish."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ENCODER = "microsoft/BiomedNLP-PubMedBERT-base-uncased-abstract"
ENTITY_LABELS = {
    "radgraph": ["", "ANAT-DP", "OBS-DP", "OBS-DA", "OBS-U"],
    "radgraph-xl": [
        "",
        "Observation::definitely present",
        "Anatomy::definitely present",
        "Observation::definitely absent",
        "Observation::uncertain",
        "Observation::measurement::definitely present",
    ],
}
RELATION_LABELS = ["modify", "located_at", "suggestive_of"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write_encoder(folder: Path, texts: list[str], *, every: int = 2, **config: object) -> Path:
    """Config and tokenizer of a BERT; its pieces are letters and each `every`-th word. Weights are the checkpoint's."""
    words = sorted({word.strip(".,:;()").lower() for text in texts for word in text.split()} - {""})[::every]
    letters = sorted({character for text in texts for character in text.lower() if not character.isspace()})
    pieces = list(dict.fromkeys([*SPECIAL, *letters, *(f"##{letter}" for letter in letters), *words]))
    settings = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "vocab_size": len(pieces),
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 512,
        **config,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    (folder / "config.json").write_text(json.dumps(settings))
    tokenizer = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    return folder


def write_radgraph(folder: Path, dataset: str, encoder: Path, *, name: str = "", max_length: int = 512) -> Path:
    """`config.json`, `vocabulary/` and `weights.th`; the encoder is named `name`, or by its folder."""
    import torch

    name = name or str(encoder)
    bert = {"type": "pretrained_transformer_mismatched", "model_name": name, "max_length": max_length}
    modules = {
        "coref": {"spans_per_word": 0.3, "max_antecedents": 100, "coref_prop": 0},
        "ner": {},
        "relation": {"spans_per_word": 0.5},
        "events": {"trigger_spans_per_word": 0.3, "argument_spans_per_word": 0.8, "loss_weights": {}},
    }
    model = {
        "type": "dygie",
        "embedder": {"token_embedders": {"bert": bert}},
        "modules": modules,
        "feature_size": 20,
        "max_span_width": 8,
        "target_task": "relation",
        "feedforward_params": {"num_layers": 2, "hidden_dims": 150, "dropout": 0.4},
        "loss_weights": {"ner": 0.2, "relation": 1.0, "coref": 0.0, "events": 0.0},
        "initializer": {"regexes": []},
        "module_initializer": {"regexes": []},
    }
    config = {"dataset_reader": {"max_span_width": 8, "token_indexers": {"bert": bert}}, "model": model}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    vocabulary = folder / "vocabulary"
    vocabulary.mkdir()
    (vocabulary / "non_padded_namespaces.txt").write_text("*tags\n*labels\n")
    (vocabulary / f"{dataset}__ner_labels.txt").write_text("\n".join(ENTITY_LABELS[dataset]) + "\n")
    (vocabulary / f"{dataset}__relation_labels.txt").write_text("\n".join(RELATION_LABELS) + "\n")
    torch.save(random_weights(dataset, json.loads((encoder / "config.json").read_text())), folder / "weights.th")
    return folder


def random_weights(dataset: str, encoder: dict[str, Any]) -> dict[str, Any]:
    """A state dict with every key of the published ones; biases thin out entities and relations to a plausible few."""
    import torch
    from transformers import BertConfig, BertModel

    state = torch.random.get_rng_state()
    torch.manual_seed(7)
    bert = BertModel(BertConfig(**encoder)).state_dict()
    width = 2 * encoder["hidden_size"] + 20
    weights = {f"_embedder.token_embedder_bert._matched_embedder.transformer_model.{k}": x for k, x in bert.items()}
    weights = {k: x + torch.randn_like(x) * 0.15 if x.ndim == 2 else x for k, x in weights.items()}
    words = next(k for k in weights if "word_embeddings" in k)
    weights[words] = 8 * weights[words]  # so that spans differ by their words

    def network(layers: str, last: str, n_in: int, n_out: int, bias: float = 0.0) -> None:
        for i, size in enumerate((n_in, 150)):
            weights[f"{layers}{i}.weight"] = torch.randn(150, size) * (2 / size) ** 0.5
            weights[f"{layers}{i}.bias"] = torch.zeros(150)
        last_layer = torch.randn(n_out, 150) * (2 / 150) ** 0.5
        weights[f"{last}weight"] = last_layer - last_layer.mean(dim=1, keepdim=True)  # inputs are all positive
        weights[f"{last}bias"] = torch.full((n_out,), bias)

    linear, module = "_module._linear_layers.", "_module."
    labels = f"{dataset}__relation_labels."
    weights["_endpoint_span_extractor._span_width_embedding.weight"] = torch.randn(8, 20)
    entity, mention = f"_ner._ner_scorers.{dataset}__ner_labels.", f"_relation._mention_pruners.{labels}_scorer."
    network(f"{entity}0.{linear}", f"{entity}1.{module}", width, len(ENTITY_LABELS[dataset]) - 1, bias=-2.0)
    network(f"{mention}0.{linear}", f"{mention}1.{module}", width, 1, bias=-0.125)
    relation = f"_relation._relation_feedforwards.{labels}_linear_layers.", f"_relation._relation_scorers.{labels}"
    network(*relation, 3 * width, len(RELATION_LABELS))
    weights["_coref._distance_embedding.weight"] = torch.randn(10, 20)
    network(f"_coref._antecedent_feedforward.{linear}", f"_coref._antecedent_scorer.{module}", 3 * width + 20, 1)
    network(f"_coref._mention_pruner._scorer.0.{linear}", f"_coref._mention_pruner._scorer.1.{module}", width, 1)
    weights["_coref._f_network._linear_layers.0.weight"] = torch.randn(width, 2 * width)
    weights["_coref._f_network._linear_layers.0.bias"] = torch.zeros(width)
    weights["_events._distance_embedding.weight"] = torch.randn(10, 20)
    torch.random.set_rng_state(state)
    return weights


def write_modern(folder: Path, texts: list[str]) -> Path:
    """A RadGraph-XL on a ModernBERT, whose tokenizer is of transformers' generic class."""
    import torch
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    encoder = write_encoder(folder / "encoder", texts)
    checkpoint = write_radgraph(folder / "radgraph-xl", "radgraph-xl", encoder)
    AutoTokenizer.from_pretrained(encoder).backend_tokenizer.save(str(encoder / "tokenizer.json"))
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("cls", "sep", "pad", "unk", "mask")}
    tokenizer = {"tokenizer_class": "PreTrainedTokenizerFast", "model_input_names": ["input_ids", "attention_mask"]}
    (encoder / "tokenizer_config.json").write_text(json.dumps(tokenizer | names | {"model_max_length": 8192}))
    config = json.loads((encoder / "config.json").read_text()) | {"model_type": "modernbert", "num_hidden_layers": 4}
    ids = {"pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3}
    config |= {"architectures": ["ModernBertModel"], "local_attention": 16, **ids}
    (encoder / "config.json").write_text(json.dumps(config))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        modern = AutoModel.from_config(AutoConfig.from_pretrained(encoder)).state_dict()
        prefix = "_embedder.token_embedder_bert._matched_embedder.transformer_model."
        weights = torch.load(checkpoint / "weights.th", weights_only=True)
        weights = {name: x for name, x in weights.items() if not name.startswith(prefix)}
        for name, x in modern.items():
            noisy = x + 0.3 * torch.randn_like(x) if x.ndim == 2 else x
            weights[prefix + name] = 8 * noisy if "tok_embeddings" in name else noisy
    torch.save(weights, checkpoint / "weights.th")
    return checkpoint


def write_archives(hub: Path, texts: list[str]) -> None:
    """Puts stand-ins for `radgraph` and `radgraph-xl`, and for their encoder, into a Hub cache."""
    encoder = write_encoder(_snapshot(hub, ENCODER), texts)
    repository = _snapshot(hub, "StanfordAIMI/RRG_scorers")
    for dataset in ENTITY_LABELS:
        folder = write_radgraph(hub / "unpacked" / dataset, dataset, encoder, name=ENCODER)
        with tarfile.open(repository / f"{dataset}.tar.gz", "w:gz") as tar:
            for member in sorted(folder.iterdir()):
                tar.add(member, member.name)


def _snapshot(hub: Path, name: str) -> Path:
    repository = hub / f"models--{name.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True, exist_ok=True)
    (repository / "refs" / "main").write_text(COMMIT)
    snapshot = repository / "snapshots" / COMMIT
    snapshot.mkdir(parents=True, exist_ok=True)
    return snapshot
