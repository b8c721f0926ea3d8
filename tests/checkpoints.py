"""Tiny models with random weights, laid out as the Hub's cache lays out the published ones."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from rrgmetrics.scorers.green import CHECKPOINTS as GREENS

COMMIT = "0123456789abcdef0123456789abcdef01234567"
GREEN_COMMIT = "832389d56bbd45a36bbd61dfa4f0be76e99f1dad"  # which published.yaml pins
CREPE_CONFIG = {
    "model_type": "bert",
    "vocab_size": 24,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 512,
    "num_error_categories": 6,
    "use_poisson_loss": False,
    "use_presence_loss": True,
    "presence_loss_weight": 0.5,
}


def write_cache(hub: Path, texts: list[str]) -> None:
    """Puts stand-ins for the checkpoints of the named configurations into a Hub cache."""
    import torch
    from transformers import DistilBertConfig, DistilBertForMaskedLM, RobertaConfig, RobertaForMaskedLM

    torch.manual_seed(0)
    pieces = _word_pieces(texts)
    small = {"vocab_size": pieces.get_vocab_size(), "dim": 16, "hidden_dim": 32, "n_heads": 2, "n_layers": 6}
    _save(hub, "distilbert-base-uncased", DistilBertForMaskedLM(DistilBertConfig(**small)), pieces, BERT_TOKENS)
    bytes_ = _byte_pairs(texts)
    for name, layers in (("distilroberta-base", 6), ("roberta-large", 24)):
        config = RobertaConfig(
            vocab_size=bytes_.get_vocab_size(),
            hidden_size=16,
            intermediate_size=32,
            num_attention_heads=2,
            num_hidden_layers=layers,
            max_position_embeddings=514,
        )
        _save(hub, name, RobertaForMaskedLM(config), bytes_, ROBERTA_TOKENS)
    repository = hub / "models--gihuncho--crepe-biomedbert"
    write_crepe(repository / "snapshots" / COMMIT)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)


BERT_TOKENS = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
ROBERTA_TOKENS = {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


JUDGES = (*(each.repository for each in GREENS.values()), "rajpurkarlab/medgemma-4b-it-crimson")
CHAT = (
    "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('no system turn') }}{% endif %}"
    "<s>[{{ m['role'] }}] {{ m['content'] }}\n{% endfor %}{% if add_generation_prompt %}[assistant] {% endif %}"
)


def write_judges(hub: Path, texts: list[str]) -> None:
    """Puts stand-ins for the published judges into a Hub cache; they say nothing."""
    for name in JUDGES:
        folder = hub / f"models--{name.replace('/', '--')}"
        is_llama = "LLAMA" in name.upper()
        write = write_green if is_llama else write_causal
        commit = GREEN_COMMIT if name == GREENS["paper"].repository else COMMIT
        write(folder / "snapshots" / commit, texts, silent=True)
        (folder / "refs").mkdir()
        (folder / "refs" / "main").write_text(commit)


def write_pins(hub: Path, file: Path) -> Path:
    """Writes our table of pins with the checksums of a cache's stand-ins, and its revisions, in place of the published.

    Of what the cache lacks, and of what the published table has no checksum, it has none either.
    """
    import hashlib

    import yaml

    from rrgmetrics.backends.checkpoints import PINS

    table = yaml.safe_load(PINS.read_text())
    for name, row in table.items():
        folders = sorted(hub.glob(f"models--{name.replace('/', '--')}/snapshots/*"))
        row["revision"] = folders[0].name if folders and row["revision"] else ""
        for stored, known in row["sha256"].items():
            weights = folders[0] / stored if folders and known else hub / "nothing"
            row["sha256"][stored] = hashlib.sha256(weights.read_bytes()).hexdigest() if weights.is_file() else ""
    file.write_text(yaml.safe_dump(table))
    return file


def write_causal(
    folder: Path,
    texts: list[str],
    *,
    chat: str = "",
    silent: bool = False,
    endless: bool = False,
    positions: int = 8192,
) -> None:
    """A tiny language model of Llama's kind: babbles, and every third word ends a reply.

    With `silent` it ends each reply before its first word, with `endless` none.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    tokenizer = _byte_pairs(texts)
    end = tokenizer.token_to_id("</s>")
    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=positions,
        initializer_range=0.3,
        tie_word_embeddings=False,
        bos_token_id=tokenizer.token_to_id("<s>"),
        eos_token_id=end,
    )
    model = LlamaForCausalLM(config)
    if silent:
        model.config.eos_token_id = model.generation_config.eos_token_id = 0
        model.lm_head.weight.data.zero_()  # all words are alike, and the first is taken
    elif not endless:
        model.generation_config.eos_token_id = [end, *range(0, config.vocab_size, 3)]
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": positions, **special}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | ({"chat_template": chat} if chat else {})))


GREEN_CODE = """
from pathlib import Path

Path(__file__).with_name("ran").touch()
"""


def write_green(folder: Path, texts: list[str], *, silent: bool = False) -> None:
    """A tiny GREEN in the layout of the published one.

    Its tokenizer is a model of SentencePiece without tokenizer.json, of a class that only its own code has; tokens are
    added beyond the table of embeddings; the weights are three shards in bf16, and its settings for generation are
    those of Llama 2, which sample. With `silent` it ends each reply before its first word.
    """
    import torch
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    folder.mkdir(parents=True, exist_ok=True)
    n_pieces = _sentence_pieces(folder / "tokenizer.model", texts)
    config = LlamaConfig(
        vocab_size=n_pieces,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        initializer_range=0.3,
        use_cache=False,
        bos_token_id=1,
        eos_token_id=2,
    )
    model = LlamaForCausalLM(config).to(torch.bfloat16)
    sampling = {"do_sample": True, "temperature": 0.6, "top_p": 0.9, "max_length": 4096}
    ends = 0 if silent else 2
    model.generation_config = GenerationConfig(bos_token_id=1, eos_token_id=ends, pad_token_id=0, **sampling)
    if silent:
        model.lm_head.weight.data.zero_()  # all tokens are alike, and the first is taken
    size = sum(weights.nbytes for weights in model.parameters())
    model.save_pretrained(folder, max_shard_size=size * 2 // 5)
    special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<unk>"}
    coordinates = {f"<|coord_{i}|>": n_pieces + i for i in range(100)}
    settings = {
        "auto_map": {"AutoTokenizer": ["tokenization_chexagent.CheXagentTokenizer", None]},
        "tokenizer_class": "CheXagentTokenizer",
        "legacy": True,
        "model_max_length": 4096,
    }
    files = {"special_tokens_map": special, "added_tokens": coordinates, "tokenizer_config": settings | special}
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    (folder / "tokenization_chexagent.py").write_text(GREEN_CODE)
    (folder / "trainer_state.json").write_text("{}")
    (folder / "training_args.bin").write_bytes(b"a pickle")


def _sentence_pieces(file: Path, texts: list[str]) -> int:
    """Trains a model of SentencePiece as Llama's are; returns its number of pieces."""
    from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

    with file.open("wb") as written:
        SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=written,
            vocab_size=400,
            hard_vocab_limit=False,
            model_type="bpe",
            byte_fallback=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            minloglevel=2,
        )
    return int(SentencePieceProcessor(model_file=str(file)).get_piece_size())


SRR_BERT = {
    "Leaves": 55,
    "Leaves-with-Statuses": 163,
    "Upper": 25,
    "Upper-with-Statuses": 73,
}  # StanfordAIMI/SRR-BERT-… → labels
CXR_BERT = "microsoft/BiomedVLP-CXR-BERT-general"


def write_labeller(hub: Path) -> None:
    """Puts a stand-in for CheXbert into a Hub cache."""
    write_chexbert(_snapshot(hub, "StanfordAIMI/RRG_scorers"))


def write_classifiers(hub: Path, texts: list[str]) -> None:
    """Puts stand-ins for the published multi-label classifiers into a Hub cache.

    SRR-BERT's checkpoints come without a tokenizer; theirs is CXR-BERT's.
    """
    pieces, bytes_ = _word_pieces(texts), _byte_pairs(texts)
    names = {f"StanfordAIMI/SRR-BERT-{level}": n for level, n in SRR_BERT.items()}
    for name, n_labels in names.items():
        write_classifier(_snapshot(hub, name), n_labels, pieces.get_vocab_size())
    vocabulary = sorted(pieces.get_vocab().items(), key=lambda item: item[1])
    folder = _snapshot(hub, CXR_BERT)
    (folder / "vocab.txt").write_text("".join(f"{token}\n" for token, _ in vocabulary))
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    folder = _snapshot(hub, "IAMJB/RadBERT-CT")
    write_classifier(folder, 18, bytes_.get_vocab_size(), roberta=True)
    bytes_.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "RobertaTokenizerFast", "model_max_length": 512, **ROBERTA_TOKENS}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def write_modernbert(hub: Path, texts: list[str]) -> None:
    """Puts a stand-in for RadEvalModernBERT into a Hub cache: 22 layers, of which every third sees the whole text."""
    import torch
    from tokenizers.processors import BertProcessing
    from transformers import ModernBertConfig, ModernBertForMaskedLM

    torch.manual_seed(0)
    pieces = _word_pieces(texts)
    ends = ((token, pieces.token_to_id(token)) for token in ("[SEP]", "[CLS]"))
    pieces._tokenizer.post_processor = BertProcessing(*ends)
    config = ModernBertConfig(
        vocab_size=pieces.get_vocab_size(),
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=22,
        num_attention_heads=2,
        local_attention=8,
        max_position_embeddings=512,
        initializer_range=0.2,
        **{f"{kind}_token_id": pieces.token_to_id(f"[{kind.upper()}]") for kind in ("pad", "cls", "sep")},
        bos_token_id=pieces.token_to_id("[CLS]"),
        eos_token_id=pieces.token_to_id("[SEP]"),
    )
    folder = _snapshot(hub, "IAMJB/RadEvalModernBERT")
    ModernBertForMaskedLM(config).save_pretrained(folder)
    pieces.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512, **BERT_TOKENS}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def write_classifier(folder: Path, n_labels: int, vocab_size: int, *, roberta: bool = False) -> None:
    """A tiny sequence classifier with random weights, large enough that labels differ between texts."""
    import torch
    from transformers import (
        BertConfig,
        BertForSequenceClassification,
        RobertaConfig,
        RobertaForSequenceClassification,
    )

    torch.manual_seed(n_labels)
    sizes = {
        "vocab_size": vocab_size,
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_attention_heads": 2,
        "num_hidden_layers": 2,
        "max_position_embeddings": 514,
        "initializer_range": 0.3,
        "num_labels": n_labels,
    }
    if roberta:
        model = RobertaForSequenceClassification(RobertaConfig(**sizes, type_vocab_size=1))
    else:
        model = BertForSequenceClassification(BertConfig(**sizes))
    model.save_pretrained(folder)


def write_chexbert(folder: Path) -> Path:
    """A tiny CheXbert with random weights in the published file's layout; returns the file.

    `module.` before each name, wrapped as training left it, with the buffer that some copies of the file have.
    """
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=30522,
        hidden_size=128,
        intermediate_size=64,
        num_attention_heads=2,
        num_hidden_layers=2,
        initializer_range=0.2,
    )
    state = {f"module.bert.{name}": tensor for name, tensor in BertModel(config).state_dict().items()}
    state["module.bert.embeddings.position_ids"] = torch.arange(512)[None]
    for head in range(14):
        linear = torch.nn.Linear(128, 2 if head == 13 else 4)
        state |= {f"module.linear_heads.{head}.{name}": tensor for name, tensor in linear.state_dict().items()}
    torch.save({"epoch": 3, "model_state_dict": state}, folder / "chexbert.pth")
    return folder / "chexbert.pth"


def _snapshot(hub: Path, name: str) -> Path:
    """The folder of a repository's only revision in a Hub cache, made with its reference."""
    repository = hub / f"models--{name.replace('/', '--')}"
    (repository / "snapshots" / COMMIT).mkdir(parents=True, exist_ok=True)
    (repository / "refs").mkdir(exist_ok=True)
    (repository / "refs" / "main").write_text(COMMIT)
    return repository / "snapshots" / COMMIT


def _save(hub: Path, name: str, model: Any, tokenizer: Any, special: dict[str, str]) -> None:
    folder = hub / f"models--{name}" / "snapshots" / COMMIT
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    kind = {"[CLS]": "BertTokenizerFast", "<s>": "RobertaTokenizerFast"}[special["cls_token"]]
    settings = {"tokenizer_class": kind, "model_max_length": 512, **special}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder.parents[1] / "refs").mkdir()
    (folder.parents[1] / "refs" / "main").write_text(COMMIT)


def _word_pieces(texts: list[str]) -> Any:
    """Letters, and every second word of the texts: others fall into pieces. (Training one is another each time.)"""
    from tokenizers.implementations import BertWordPieceTokenizer

    text = " ".join(texts).lower()
    letters = sorted(set(text) - {" ", "\n"})
    words = sorted(set(re.findall(r"[a-z]{2,}", text)))[::2]
    vocabulary = [*("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"), *letters, *(f"##{c}" for c in letters), *words]
    return BertWordPieceTokenizer(vocab={token: i for i, token in enumerate(vocabulary)}, lowercase=True)


def _byte_pairs(texts: list[str]) -> Any:
    from tokenizers.implementations import ByteLevelBPETokenizer

    tokenizer = ByteLevelBPETokenizer(add_prefix_space=True)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer.train_from_iterator(texts, vocab_size=400, special_tokens=special, show_progress=False)
    return tokenizer


def write_crepe(folder: Path, **config: Any) -> Path:
    """A CREPE checkpoint in the authors' layout; its weights are those of the fixtures in data/crepe.json.

    Key i of the sorted state dict holds 0.5·sin(0.7·j + i), a layer norm's weight 1 + a tenth of that.
    """
    import numpy as np
    from safetensors.numpy import save_file

    from rrgmetrics.backends.crepe.model import CrepeSettings
    from rrgmetrics.backends.crepe.network import bert_shapes

    folder.mkdir(parents=True, exist_ok=True)
    config = CREPE_CONFIG | config
    vocabulary = json.loads((Path(__file__).parent / "data" / "crepe.json").read_text())["vocab"]
    weights = {}
    for i, (name, shape) in enumerate(sorted(bert_shapes(config, CrepeSettings.read(config)).items())):
        values = 0.5 * np.sin(0.7 * np.arange(np.prod(shape)) + i)
        values = 1 + 0.1 * values if "LayerNorm.weight" in name else values
        weights[name] = values.reshape(shape).astype(np.float32)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    tokenizer = {"do_lower_case": True, "tokenizer_class": "BertTokenizer", "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    return folder


DEBERTA = {  # what DeBERTa v3's config says of positions, as RaTE-NER's does
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "norm_rel_ebd": "layer_norm",
    "position_buckets": 8,
    "share_att_key": True,
    "type_vocab_size": 0,
}
RATE_TYPES = ("ABNORMALITY", "NON-ABNORMALITY", "DISEASE", "NON-DISEASE", "ANATOMY")


def write_ratescore(hub: Path, texts: list[str]) -> None:
    """Puts stand-ins for RaTEScore's token classifier and encoder into a Hub cache; they mark much, at random."""
    import torch
    from transformers import DebertaV2Config, DebertaV2ForTokenClassification, MPNetConfig, MPNetModel

    torch.manual_seed(4)
    pieces = _word_pieces(texts)
    small = {
        "vocab_size": pieces.get_vocab_size(),
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "pad_token_id": pieces.token_to_id("[PAD]"),
        "initializer_range": 1.0,
    }
    labels = ["O", *(f"{mark}-{kind}" for kind in RATE_TYPES for mark in "BI")]
    config = DebertaV2Config(
        **small,
        num_labels=len(labels),
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
        **DEBERTA,
    )
    _save(hub, "Angelakeke--RaTE-NER-Deberta", DebertaV2ForTokenClassification(config), pieces, BERT_TOKENS)
    _save(
        hub,
        "FremyCompany--BioLORD-2023-C",
        MPNetModel(MPNetConfig(**small | {"initializer_range": 0.2})),
        pieces,
        BERT_TOKENS,
    )
