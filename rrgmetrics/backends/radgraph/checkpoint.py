"""RadGraph checkpoints: as their authors publish them, and converted to safetensors.

Published (AllenNLP): a tar archive of `config.json`, `vocabulary/` and the pickle `weights.th`; the encoder's config
and tokenizer come from the repository that the config names. Converted (`convert`): `config.json` with labels and
sizes, `model.safetensors`, and `encoder/` with the encoder's config and tokenizer: a folder that needs nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rrgmetrics.backends.bert import BATCH_TOKENS, bert_forward, pack_matrices, quietly
from rrgmetrics.backends.checkpoints import A_FILE, Checkpoint, check_path, find_archive, find_checkpoint
from rrgmetrics.backends.checkpoints.limits import read_config
from rrgmetrics.backends.checkpoints.loading import build_model, load_config, load_tokenizer, load_weights
from rrgmetrics.backends.radgraph.network import Pieces, RadgraphNetwork, RadgraphSettings
from rrgmetrics.backends.shared import shared
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.utils.extras import need

if TYPE_CHECKING:
    from torch import Tensor

REPOSITORY = "StanfordAIMI/RRG_scorers"
PUBLISHED = ("radgraph", "radgraph-xl", "modern-radgraph-xl", "echograph")
PUBLISHED_FILES = ("config.json", "vocabulary", "weights.th")
KIND = "rrgmetrics-radgraph"  # of a converted config.json
GENERIC = "PreTrainedTokenizerFast"
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json")
KEPT_WORDS = 100_000  # whose pieces are remembered

EMBEDDER = "_embedder.token_embedder_bert._matched_embedder.transformer_model."
WIDTHS = "_endpoint_span_extractor._span_width_embedding.weight"
# Networks as published → ours; `{}` is the dataset.
NETWORKS = {
    "_ner._ner_scorers.{}__ner_labels.0._module._linear_layers.": "entity.",
    "_ner._ner_scorers.{}__ner_labels.1._module.": "entity.out.",
    "_relation._mention_pruners.{}__relation_labels._scorer.0._module._linear_layers.": "mention.",
    "_relation._mention_pruners.{}__relation_labels._scorer.1._module.": "mention.out.",
    "_relation._relation_feedforwards.{}__relation_labels._linear_layers.": "relation.",
    "_relation._relation_scorers.{}__relation_labels.": "relation.out.",
}


class Parts(NamedTuple):
    """A checkpoint on the disk, with all but its weights read.

    Attributes:
        identity: How the signature names the weights.
        settings: Labels and sizes.
        weights: The file.
        encoder: Folder of the encoder's config and tokenizer.
        tokenizer: How the signature names them; "" if they belong to the checkpoint.
    """

    identity: str
    settings: RadgraphSettings
    weights: Path
    encoder: Path
    tokenizer: str


def find_radgraph(name: str) -> Parts:
    """Finds a checkpoint and reads all of it but the weights.

    Args:
        name: One of `PUBLISHED`; an archive of the authors, or the folder that was in it; a converted folder, or its
            Hub id.

    Raises:
        BackendError: Something is missing or damaged; names what, and the command that gets it.
    """
    check_path(name, A_FILE)
    need(f"radgraph_f1@{name}", "published")
    if name in PUBLISHED:
        return _published(find_archive(REPOSITORY, f"{name}.tar.gz", needs=PUBLISHED_FILES), name)
    path = Path(name).expanduser()
    if path.exists() and not (path / "model.safetensors").is_file():
        return _published(find_archive(name, "radgraph-xl.tar.gz", needs=PUBLISHED_FILES), "")
    return _converted(find_checkpoint(name, weights=("model.safetensors",)))


def encoder_of(archive: Path) -> str:
    """Returns the Hub id of the encoder whose tokenizer an archive of the authors needs.

    Raises:
        BackendError: The archive is damaged, or no RadGraph's.
    """
    files = find_archive(str(archive), archive.name, needs=PUBLISHED_FILES)
    config = _read_json(files.folder / "config.json", files.identity)
    try:
        return str(config["dataset_reader"]["token_indexers"]["bert"]["model_name"])
    except (KeyError, TypeError) as error:
        raise BackendError(f"{files.identity}: config.json names no encoder.") from error


def _converted(checkpoint: Checkpoint) -> Parts:
    config = _read_json(checkpoint.folder / "config.json", checkpoint.identity)
    if config.get("model_type") != KIND:
        raise BackendError(
            f"{checkpoint.identity}: config.json does not describe a converted RadGraph checkpoint; `rrgmetrics "
            "convert` makes one from the authors' archive."
        )
    try:
        settings = RadgraphSettings(
            dataset=config["dataset"],
            entity_labels=tuple(config["entity_labels"]),
            relation_labels=tuple(config["relation_labels"]),
            max_span_width=config["max_span_width"],
            spans_per_word=config["spans_per_word"],
            max_length=config["max_length"],
            framed=config.get("framed", True),
        )
    except (KeyError, TypeError) as error:
        raise BackendError(f"{checkpoint.identity}: config.json lacks or has wrong {error}.") from error
    return Parts(
        checkpoint.identity, settings, checkpoint.folder / "model.safetensors", checkpoint.folder / "encoder", ""
    )


def _published(checkpoint: Checkpoint, dataset: str) -> Parts:
    config = _read_json(checkpoint.folder / "config.json", checkpoint.identity)
    dataset = dataset or _only_dataset(checkpoint)
    try:
        indexer = config["dataset_reader"]["token_indexers"]["bert"]
        model = config["model"]
        modules = model["modules"]
        settings = RadgraphSettings(
            dataset=dataset,
            entity_labels=_labels(checkpoint.folder / "vocabulary" / f"{dataset}__ner_labels.txt"),
            relation_labels=_labels(checkpoint.folder / "vocabulary" / f"{dataset}__relation_labels.txt"),
            max_span_width=int(model["max_span_width"]),
            spans_per_word=float(modules["relation"]["spans_per_word"]),
            max_length=int(indexer.get("max_length") or 512),
        )
        propagates = int(modules.get("coref", {}).get("coref_prop", 0)) > 0
        encoder = str(indexer["model_name"])
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise BackendError(
            f"{checkpoint.identity} does not have the layout that RadGraph is published in ({reason})."
        ) from error
    if propagates or settings.entity_labels[:1] != ("",):
        what = "coreference propagation" if propagates else "entity labels that do not begin with none"
        raise BackendError(f"{checkpoint.identity} has {what}, which RadGraph does not have; it is not supported.")
    tokenizer = find_checkpoint(encoder, weights=TOKENIZERS)
    settings = replace(settings, framed=not _is_generic(tokenizer))
    return Parts(checkpoint.identity, settings, checkpoint.folder / "weights.th", tokenizer.folder, tokenizer.identity)


def _is_generic(tokenizer: Checkpoint) -> bool:
    """Returns whether the tokenizer names no class of its own; transformers 4 then adds no special tokens."""
    file = tokenizer.folder / "tokenizer_config.json"
    return file.is_file() and _read_json(file, tokenizer.identity).get("tokenizer_class") == GENERIC


def _only_dataset(checkpoint: Checkpoint) -> str:
    names = sorted(path.name for path in (checkpoint.folder / "vocabulary").glob("*__ner_labels.txt"))
    datasets = [name.removesuffix("__ner_labels.txt") for name in names]
    if checkpoint.folder.name in datasets:
        return checkpoint.folder.name
    if len(datasets) != 1:
        raise BackendError(
            f"{checkpoint.identity} was trained on {', '.join(datasets) or 'no data set'}; name the folder after "
            "the data set whose labels to use."
        )
    return datasets[0]


def _labels(file: Path) -> tuple[str, ...]:
    """Reads one label from each line; the first line of entity labels is empty."""
    lines = re.split(r"\r?\n", file.read_text(encoding="utf-8"))
    return tuple(lines[:-1] if lines[-1] == "" else lines)


def _read_json(file: Path, where: str) -> Mapping[str, Any]:
    try:
        return read_config(file.parent, file.name)
    except BackendError as error:
        raise BackendError(f"{where}: {file.parent}: {error}") from error


@shared
def load_radgraph(parts: Parts, device: str) -> RadgraphNetwork:
    """Loads a checkpoint; `parts` has a checksum or a commit, so weights that changed are read again.

    Raises:
        BackendError: Weights or tokenizer are damaged or do not belong together.
    """
    weights = read_weights(parts)
    encoder = {name[8:]: x.to(device) for name, x in weights.items() if name.startswith("encoder.")}
    heads = {name: x.to(device) for name, x in weights.items() if not name.startswith("encoder.")}
    return RadgraphNetwork(
        identity=parts.identity,
        settings=parts.settings,
        pieces=load_pieces(parts.encoder),
        encode=_load_encoder(parts, encoder, device),
        weights=heads,
        device=device,
    )


def read_weights(parts: Parts) -> dict[str, Tensor]:
    """The weights that inference needs, by our names, in fp32; checks that none is missing."""
    stored = load_weights(parts.weights)
    if parts.weights.suffix != ".safetensors":
        stored = _rename(stored, parts.settings.dataset)
    sizes = {"entity": len(parts.settings.entity_labels) - 1, "relation": len(parts.settings.relation_labels)}
    sizes["mention"] = 1
    wanted = ["span_width.weight", *(f"{name}.{layer}.weight" for name in sizes for layer in ("0", "out"))]
    missing = [name for name in wanted if name not in stored]
    if missing or not any(name.startswith("encoder.") for name in stored):
        raise BackendError(
            f"{parts.identity} lacks {', '.join(missing) or 'the encoder'}: it is not a RadGraph checkpoint of the "
            f"data set {parts.settings.dataset}."
        )
    for name, size in sizes.items():
        if len(stored[f"{name}.out.weight"]) != size:
            raise BackendError(f"{parts.identity} scores {len(stored[f'{name}.out.weight'])} labels of {size}: {name}.")
    if len(stored["span_width.weight"]) != parts.settings.max_span_width:
        raise BackendError(
            f"{parts.identity} does not have one width for each of {parts.settings.max_span_width} words."
        )
    return {name: x.float() for name, x in stored.items()}


def _rename(stored: Mapping[str, Tensor], dataset: str) -> dict[str, Tensor]:
    """Gives published weights our names, without those that inference does not need (coreference, events)."""
    prefixes = {EMBEDDER: "encoder.", **{old.format(dataset): new for old, new in NETWORKS.items()}}
    renamed = {"span_width.weight": stored[WIDTHS]} if WIDTHS in stored else {}
    for name, tensor in stored.items():
        for old, new in prefixes.items():
            if name.startswith(old) and not name.endswith("position_ids"):
                renamed[new + name.removeprefix(old)] = tensor
    return renamed


def load_pieces(folder: Path) -> Pieces:
    """Loads the tokenizer of an encoder, which remembers the pieces of a word."""
    try:
        with quietly():
            tokenizer = load_tokenizer(Checkpoint(folder, folder.name))
        whole, inner = tokenizer("a")["input_ids"], tokenizer("a", add_special_tokens=False)["input_ids"]
        start = whole.index(inner[0])
    except Exception as error:  # transformers raises whatever it likes for a damaged tokenizer
        raise BackendError(f"The tokenizer in {folder} could not be loaded: {error}") from error
    known: dict[str, list[int]] = {}

    def cut(words: Iterable[str]) -> list[list[int]]:
        words = list(words)
        unknown = list({word for word in words if word not in known})
        ids = tokenizer(unknown, add_special_tokens=False, verbose=False)["input_ids"] if unknown else []
        cuts = dict(zip(unknown, ids, strict=True))
        pieces = [cuts[word] if word in cuts else known[word] for word in words]
        if len(known) < KEPT_WORDS:
            known.update(cuts)
        return pieces

    return Pieces(cut, whole[:start], whole[start + len(inner) :])


def _load_encoder(parts: Parts, weights: Mapping[str, Tensor], device: str) -> Callable[[Tensor, Tensor], Tensor]:
    """The forward pass of the encoder: plain torch for BERT, transformers for any other."""
    config = _read_json(parts.encoder / "config.json", parts.identity)
    if config.get("model_type") != "bert" or config.get("hidden_act", "gelu") != "gelu":
        return _load_transformers(parts, weights, device)
    if weights["embeddings.word_embeddings.weight"].shape[1] != config["hidden_size"]:
        raise BackendError(f"{parts.identity}: its encoder is not the one that {parts.encoder} describes.")
    packed = pack_matrices(weights, BATCH_TOKENS) if device.startswith("cpu") else dict(weights)
    sizes = {"n_layers": config["num_hidden_layers"], "n_heads": config["num_attention_heads"]}
    epsilon = config.get("layer_norm_eps", 1e-12)
    return lambda ids, mask: bert_forward(packed, ids, mask, **sizes, epsilon=epsilon)


def _load_transformers(parts: Parts, weights: Mapping[str, Tensor], device: str) -> Callable[[Tensor, Tensor], Tensor]:
    try:
        with quietly():
            config = load_config(Checkpoint(parts.encoder, parts.identity))
            model = build_model(config, n_stored=sum(x.numel() for x in weights.values()))
        model.load_state_dict(dict(weights))
    except Exception as error:  # transformers raises whatever it likes for a damaged checkpoint
        raise BackendError(f"{parts.identity}: its encoder could not be loaded: {error}") from error
    model.eval().to(device)

    def encode(ids: Tensor, mask: Tensor) -> Tensor:
        states: Tensor = model(input_ids=ids, attention_mask=mask).last_hidden_state
        return states

    return encode


def convert(source: str, output: Path) -> Path:
    """Writes a published checkpoint as a folder of safetensors, which needs no pickle and no other repository.

    Args:
        source: As for `find_radgraph`.
        output: The new folder.

    Raises:
        InputError: `output` exists and is not empty.
        BackendError: The source is missing or damaged.
    """
    from safetensors.torch import save_file

    if output.exists() and any(output.iterdir()):
        raise InputError(f"{output} is not empty; name a new folder.")
    parts = find_radgraph(source)
    weights = read_weights(parts)
    (output / "encoder").mkdir(parents=True, exist_ok=True)
    encoder = Checkpoint(parts.encoder, parts.identity)
    with quietly():
        load_tokenizer(encoder).save_pretrained(output / "encoder")
        load_config(encoder).save_pretrained(output / "encoder")
    config = {"model_type": KIND, "converted_from": parts.identity, "encoder_from": parts.tokenizer}
    (output / "config.json").write_text(json.dumps(config | vars(parts.settings), indent=2) + "\n", encoding="utf-8")
    save_file({name: x.contiguous() for name, x in weights.items()}, output / "model.safetensors")
    return output
