"""Stand-ins for the published checkpoints, each with the files that its page or its authors' code names.

`LAYOUTS` has a maker for each repository: `make(folder, texts)` fills the folder. Weights are random and tiny; what the
files are called, what config and tokenizer say, and what lies beside them is as published
(rrgmetrics/doctor/verified.yaml).
"""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import checkpoints
import radgraph_checkpoints

PUBMEDBERT = "microsoft/BiomedNLP-PubMedBERT-base-uncased-abstract"
MODERNBERT = "answerdotai/ModernBERT-base"
OLD_NAME = "StanfordAIMI/SRRG-BERT-Upper-with-Statuses"  # of SRR-BERT-Upper-with-Statuses
ENCODERS = {"radgraph": PUBMEDBERT, "radgraph-xl": checkpoints.CXR_BERT, "modern-radgraph-xl": MODERNBERT}
GEMMA_CHAT = (
    "{{ bos_token }}{% set first = messages[0]['content'] + '\n\n' if messages[0]['role'] == 'system' else '' %}"
    "{% for m in messages if m['role'] != 'system' %}"
    "<start_of_turn>{{ 'model' if m['role'] == 'assistant' else m['role'] }}\n"
    "{{ first if loop.first else '' }}{{ m['content'] | trim }}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
SAMPLED = {"do_sample": True, "top_k": 64, "top_p": 0.95}  # as Gemma 3's generation_config.json

Make = Callable[[Path, Sequence[str]], object]


def write_json(folder: Path, **files: object) -> None:
    """Writes `name.json` for each keyword."""
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))


def write_green(folder: Path, texts: Sequence[str]) -> None:
    """GREEN: see `checkpoints.write_green`; it ends each reply before its first word."""
    checkpoints.write_green(folder, list(texts), silent=True)
    (folder / "README.md").write_text("# GREEN\n")


def write_crimson(folder: Path, texts: Sequence[str], *, settings: Mapping[str, object] | None = SAMPLED) -> None:
    """MedGemma for CRIMSON: Gemma 3 in one file in bf16, with an index of two shards that are not there.

    `settings` of generation_config.json; None: there is no such file. Every token ends a reply.
    """
    import torch
    from tokenizers import AddedToken
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration, GenerationConfig

    torch.manual_seed(0)
    tokenizer = checkpoints._byte_pairs(list(texts))
    marks = ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"]
    tokenizer.add_special_tokens([AddedToken(mark, normalized=False, special=True) for mark in marks])
    ids = {mark: tokenizer.token_to_id(mark) for mark in marks}
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    text = small | {"num_key_value_heads": 1, "head_dim": 16, "vocab_size": tokenizer.get_vocab_size()}
    text |= {"max_position_embeddings": 8192, "sliding_window": 512}
    vision = small | {"image_size": 28, "patch_size": 14}
    ends = {"bos_token_id": ids["<bos>"], "eos_token_id": ids["<eos>"], "pad_token_id": ids["<pad>"]}
    config = Gemma3Config(text_config=text | ends, vision_config=vision, mm_tokens_per_image=1, **ends)
    model = Gemma3ForConditionalGeneration(config).to(torch.bfloat16)
    every = {"eos_token_id": list(range(tokenizer.get_vocab_size())), "pad_token_id": ids["<pad>"]}
    model.generation_config = GenerationConfig(**every, **(settings or {}))
    model.save_pretrained(folder)
    if settings is None:
        (folder / "generation_config.json").unlink()
        write_json(folder, config=json.loads((folder / "config.json").read_text()) | every)
    tokenizer.save(str(folder / "tokenizer.json"))
    special = {f"{name}_token": f"<{name}>" for name in ("bos", "eos", "pad", "unk")}
    kind = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 8192, "chat_template": GEMMA_CHAT}
    stale = {"lm_head.weight": "model-00001-of-00002.safetensors"}
    write_json(folder, tokenizer_config=kind | special, special_tokens_map=special)
    index = {"metadata": {"total_size": 1}, "weight_map": stale}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def write_scorers(folder: Path, texts: Sequence[str], *, older: bool = True) -> None:
    """RRG_scorers: CheXbert's pickle with its optimizer, torch's older kind or the newer, and RadGraph's archives."""
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    file = checkpoints.write_chexbert(folder)
    stored = torch.load(file, weights_only=True)
    steps = {i: {"step": 7, "exp_avg": torch.ones(2), "exp_avg_sq": torch.ones(2)} for i in range(3)}
    stored["optimizer_state_dict"] = {"state": steps, "param_groups": [{"lr": 2e-5, "params": [0, 1, 2]}]}
    torch.save(stored, file, _use_new_zipfile_serialization=not older)
    for dataset, encoder in ENCODERS.items():
        write_archive(folder / f"{dataset}.tar.gz", dataset, encoder, texts)


def write_archive(file: Path, dataset: str, encoder: str, texts: Sequence[str]) -> None:
    """An archive of RadGraph's with the encoder's name in config.json."""
    scratch = file.parent.parent / f"{file.parent.name}-unpacked" / dataset
    if dataset.startswith("modern"):
        made = radgraph_checkpoints.write_modern(scratch, list(texts))
        for old in (made / "vocabulary").glob("radgraph-xl__*"):  # its labels are named by the archive
            old.rename(old.with_name(old.name.replace("radgraph-xl", dataset)))
        import torch

        weights = torch.load(made / "weights.th", weights_only=True)
        renamed = {name.replace("radgraph-xl__", f"{dataset}__"): x for name, x in weights.items()}
        torch.save(renamed, made / "weights.th")
    else:
        folder = radgraph_checkpoints.write_encoder(scratch / "encoder", list(texts))
        made = radgraph_checkpoints.write_radgraph(scratch / dataset, dataset, folder)
    config = json.loads((made / "config.json").read_text())
    for bert in (config["dataset_reader"]["token_indexers"], config["model"]["embedder"]["token_embedders"]):
        bert["bert"]["model_name"] = encoder
    write_json(made, config=config)
    with tarfile.open(file, "w:gz") as tar:
        for member in sorted(path for path in made.iterdir() if path.name != "encoder"):
            tar.add(member, member.name)


def write_cxr_bert(folder: Path, texts: Sequence[str]) -> None:
    """BiomedVLP-CXR-BERT-general: a vocabulary, and a pickle of weights that nobody loads."""
    radgraph_checkpoints.write_encoder(folder, list(texts))
    (folder / "pytorch_model.bin").write_bytes(b"a pickle that is never read")


def write_modernbert_base(folder: Path, texts: Sequence[str]) -> None:
    """The encoder that the modern archive names: config and a generic tokenizer."""
    made = radgraph_checkpoints.write_modern(folder.parent / f"{folder.name}-whole", list(texts))
    folder.mkdir(parents=True, exist_ok=True)
    for file in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (folder / file).write_bytes((made.parent / "encoder" / file).read_bytes())


def write_rate_ner(folder: Path, texts: Sequence[str]) -> None:
    """RaTE-NER-Deberta: a SentencePiece model with tokenizer.json beside it, [MASK] added, labels in id2label."""
    import torch
    from sentencepiece import SentencePieceTrainer
    from transformers import DebertaV2Config, DebertaV2ForTokenClassification, DebertaV2Tokenizer

    torch.manual_seed(4)
    folder.mkdir(parents=True, exist_ok=True)
    pieces = {"pad": "[PAD]", "bos": "[CLS]", "eos": "[SEP]", "unk": "[UNK]"}
    names: dict[str, Any] = {f"{name}_piece": piece for name, piece in pieces.items()}
    places: dict[str, Any] = {f"{name}_id": place for place, name in enumerate(pieces)}
    with (folder / "spm.model").open("wb") as written:
        SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=written,
            vocab_size=200,
            hard_vocab_limit=False,
            minloglevel=2,
            **places,
            **names,
        )
    tokenizer = DebertaV2Tokenizer.from_pretrained(folder, vocab_type="spm")
    tokenizer.save_pretrained(folder)
    mask = tokenizer.convert_tokens_to_ids("[MASK]")
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("cls", "sep", "pad", "unk", "mask")}
    settings = {"tokenizer_class": "DebertaV2Tokenizer", "do_lower_case": False, "vocab_type": "spm", **special}
    write_json(folder, added_tokens={"[MASK]": mask}, special_tokens_map=special, tokenizer_config=settings)
    labels = [*(f"{mark}-{kind}" for kind in checkpoints.RATE_TYPES for mark in "BI"), "O"]  # O last: any order will do
    config = DebertaV2Config(
        vocab_size=mask + 101,  # as DeBERTa's, which has room for tokens that are not there
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        initializer_range=1.0,
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
        **checkpoints.DEBERTA,
    )
    DebertaV2ForTokenClassification(config).save_pretrained(folder)


def write_biolord(folder: Path, texts: Sequence[str]) -> None:
    """BioLORD-2023-C: an MPNet of sentence-transformers."""
    import torch
    from transformers import MPNetConfig, MPNetModel

    torch.manual_seed(5)
    words = list(checkpoints._word_pieces(list(texts)).get_vocab())
    words = ["<s>", "<pad>", "</s>", "[UNK]", *(word for word in words if not word.startswith("[")), "<mask>"]
    small = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    places = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "max_position_embeddings": 514}
    config = MPNetConfig(vocab_size=len(words), output_hidden_states=True, initializer_range=0.2, **small, **places)
    MPNetModel(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    special = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>"}
    special |= {"pad_token": "<pad>", "unk_token": "[UNK]", "mask_token": "<mask>"}
    settings = {"tokenizer_class": "MPNetTokenizer", "do_lower_case": True, "model_max_length": 512, **special}
    write_json(
        folder,
        tokenizer_config=settings,
        special_tokens_map=special,
        modules=[{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}],
        sentence_bert_config={"max_seq_length": 128, "do_lower_case": False},
        config_sentence_transformers={"__version__": {"sentence_transformers": "2.2.2"}},
    )
    from transformers import MPNetTokenizerFast

    MPNetTokenizerFast.from_pretrained(folder).backend_tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "1_Pooling").mkdir()
    write_json(folder / "1_Pooling", config={"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True})


def write_srr_bert(folder: Path, texts: Sequence[str], n_labels: int, *, named: bool = True) -> None:
    """SRR-BERT: weights and a vocabulary; without `named`, config.json leaves the labels out, which means two."""
    pieces = checkpoints._word_pieces(list(texts))
    checkpoints.write_classifier(folder, n_labels, pieces.get_vocab_size())
    if not named:
        config = json.loads((folder / "config.json").read_text())
        write_json(folder, config={k: v for k, v in config.items() if k not in ("id2label", "label2id", "num_labels")})
    words = sorted(pieces.get_vocab().items(), key=lambda item: item[1])
    (folder / "vocab.txt").write_text("".join(f"{token}\n" for token, _ in words))
    (folder / "README.md").write_text("# SRR-BERT\n")


def write_radbert(folder: Path, texts: Sequence[str]) -> None:
    """RadBERT-CT: a RoBERTa with 18 labels."""
    bytes_ = checkpoints._byte_pairs(list(texts))
    checkpoints.write_classifier(folder, 18, bytes_.get_vocab_size(), roberta=True)
    bytes_.save(str(folder / "tokenizer.json"))
    write_json(folder, vocab=bytes_.get_vocab())


def write_radeval_modernbert(folder: Path, texts: Sequence[str]) -> None:
    """RadEvalModernBERT."""
    hub = folder.parent / f"{folder.name}-cache"
    checkpoints.write_modernbert(hub, list(texts))
    folder.mkdir(parents=True, exist_ok=True)
    for file in next(hub.glob("*/snapshots/*")).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    write_json(folder, special_tokens_map=checkpoints.BERT_TOKENS)


def write_crepe(folder: Path, texts: Sequence[str]) -> None:
    """CREPE: the names of its authors' class."""
    checkpoints.write_crepe(folder)


LAYOUTS: Mapping[str, Make] = {
    "StanfordAIMI/GREEN-radllama2-7b": write_green,
    "rajpurkarlab/medgemma-4b-it-crimson": write_crimson,
    "StanfordAIMI/RRG_scorers": write_scorers,
    checkpoints.CXR_BERT: write_cxr_bert,
    PUBMEDBERT: lambda folder, texts: radgraph_checkpoints.write_encoder(folder, list(texts)),
    MODERNBERT: write_modernbert_base,
    "Angelakeke/RaTE-NER-Deberta": write_rate_ner,
    "FremyCompany/BioLORD-2023-C": write_biolord,
    **{
        f"StanfordAIMI/SRR-BERT-{level}": partial(write_srr_bert, n_labels=n, named=level != "Leaves")
        for level, n in checkpoints.SRR_BERT.items()
    },
    "IAMJB/RadBERT-CT": write_radbert,
    "IAMJB/RadEvalModernBERT": write_radeval_modernbert,
    "gihuncho/crepe-biomedbert": write_crepe,
}


def files_of(folder: Path) -> dict[str, bytes]:
    """All files of a folder, by their names in the repository."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def put(hub: Path, repository: str, folder: Path, revision: str) -> None:
    """Puts a folder into a Hub's cache, as its only revision."""
    root = hub / f"models--{repository.replace('/', '--')}"
    (root / "refs").mkdir(parents=True, exist_ok=True)
    (root / "refs" / "main").write_text(revision)
    shutil.copytree(folder, root / "snapshots" / revision, dirs_exist_ok=True)
