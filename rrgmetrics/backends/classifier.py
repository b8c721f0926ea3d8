"""Published multi-label classifiers of texts: SRR-BERT (Delbrouck et al. 2025) and RadBERT-CT.

A sequence classifier of transformers with one logit a label; a label holds where sigmoid(logit) > 0.5, or
another threshold. A text is read
whole, or in pieces of which any may have the label. Pieces are sorted by length and padded to their batch, and each
distinct one is read once; a text's labels do not depend on the texts beside it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.bert import batches, pick_device, quietly
from rrgmetrics.backends.checkpoints import PICKLE, WEIGHTS, Checkpoint, check_path, find_checkpoint
from rrgmetrics.backends.checkpoints.limits import stored_shapes, weight_files
from rrgmetrics.backends.checkpoints.loading import load_config, load_model, load_tokenizer
from rrgmetrics.backends.shared import shared
from rrgmetrics.errors import BackendError
from rrgmetrics.utils.extras import need

MAX_LENGTH = 512  # the authors' tokenizer calls
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json")
HEADS = ("classifier.weight", "classifier.out_proj.weight")  # of BERT, of RoBERTa

Labels = NDArray[np.bool_]
Split = Callable[[str], list[str]]


@dataclass(frozen=True)
class Classifier:
    """A backend that annotates texts with a multi-label classifier.

    Attributes:
        identity: How the signature names the weights.
        split: Text → the pieces that are read one by one.
        logits: Distinct pieces and how many per forward pass (None: as many as the token budget holds) → logits
            `(n_pieces, n_labels)`.
        batch_size: Pieces per forward pass, or None.
        facts: What the signature must name.
        threshold: Probability above which a label holds, between 0 and 1.
    """

    identity: str
    split: Split
    logits: Callable[[Sequence[str], int | None], NDArray[np.float32]]
    batch_size: int | None
    facts: Mapping[str, str] = field(default_factory=dict)
    threshold: float = 0.5

    @property
    def key(self) -> str:
        """The identity: the weights, the way texts are split, and when a label holds."""
        return f"classifier:{self.identity}:{self.split.__name__}:{self.threshold}"

    def annotate(self, texts: Sequence[str]) -> list[Labels]:
        """Returns the labels `(n_labels,)` of each text: those that any of its pieces has, none for an empty text."""
        pieces = [self.split(text) for text in texts]
        distinct = list(dict.fromkeys(piece for row in pieces for piece in row))
        labels = dict(zip(distinct, self.logits(distinct, self.batch_size) > self._least, strict=True))
        has_text = [bool(text.strip()) for text in texts]
        return [
            np.any([labels[piece] for piece in row], axis=0) & has for row, has in zip(pieces, has_text, strict=True)
        ]

    @property
    def _least(self) -> float:
        """The threshold as a logit: 0 for a half."""
        return math.log(self.threshold / (1 - self.threshold))


def whole(text: str) -> list[str]:
    """Returns the text as its only piece."""
    return [text]


ENUMERATION = (  # the steps of RadEval's srr_bert_parse_sentences: numbers of list items become ends of sentences
    (re.compile(r"^\s*\d+\.(?!\d)\s*"), ""),
    (re.compile(r"(\w)\.(\d+)\.(?!\d)\s*"), r"\1. "),
    (re.compile(r"(\w)(\d+)\.(?!\d)\s*"), r"\1. "),
    (re.compile(r"(\w)\s+\d+\.(?!\d)\s*"), r"\1. "),
    (re.compile(r"([.!?])\s*\d+\.(?!\d)\s*"), r"\1 "),
    (re.compile(r"\.([A-Z])"), r". \1"),
)
PUNKT = Path(__file__).with_name("punkt_english.txt")  # made by scripts/bundle_punkt.py


def srr_sentences(text: str) -> list[str]:
    """The sentences that SRR-BERT reads one by one, as RadEval 2.2 cuts them: by NLTK's English model punkt_tab.

    The model takes "CT." for an abbreviation, "Court", so that no sentence ends there unless the next word is one that
    it knows in small letters.

    Example:
        >>> srr_sentences("1. Mild edema 2.Mass of 3.5 cm.3. Old fracture")
        ['Mild edema.', 'Mass of 3.5 cm.', 'Old fracture.']
    """
    for pattern, replacement in ENUMERATION:
        text = pattern.sub(replacement, text)
    if not text.strip().endswith((".", "!", "?")):
        text = text.strip() + "."
    sentences: list[str] = _punkt().tokenize(text)
    return sentences


@lru_cache(maxsize=1)
def _punkt() -> Any:
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    parameters = PunktParameters()
    for line in PUNKT.read_text(encoding="utf-8").split("\n"):
        name, *values = line.split("\t")
        if name == "abbreviations":
            parameters.abbrev_types = set(values)
        elif name == "collocations":
            parameters.collocations = {tuple(pair.split(" ")) for pair in values}
        elif name == "starters":
            parameters.sent_starters = set(values)
        elif name.isdigit():
            parameters.ortho_context.update(dict.fromkeys(values, int(name)))
    return PunktSentenceTokenizer(parameters)


def load_classifier(
    checkpoint: str,
    *,
    n_labels: int,
    split: Split = whole,
    tokenizer: str = "",
    device: str | None = None,
    batch_size: int | None = None,
    threshold: float = 0.5,
) -> Classifier:
    """Loads a classifier; all users in a process share the weights.

    Args:
        checkpoint: A folder, or a Hub id with an optional `@revision`.
        n_labels: Number of its labels.
        split: Text → pieces.
        tokenizer: Hub id of a BERT vocabulary, for checkpoints that come without a tokenizer.
        device: torch device; None takes CUDA where there is one, else the CPU.
        batch_size: Pieces per forward pass; None: as many as the token budget holds.
        threshold: Probability above which a label holds, between 0 and 1.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        BackendError: Weights or tokenizer not found (within a second), damaged, or of another number of labels.
    """
    check_path(checkpoint)
    need(f"The classifier {checkpoint}", "published")
    files = find_checkpoint(checkpoint, weights=(*WEIGHTS, PICKLE))
    own = any((files.folder / file).is_file() for file in TOKENIZERS)
    if not (own or tokenizer):
        raise BackendError(f"{checkpoint}: {files.folder} has no tokenizer (none of {', '.join(TOKENIZERS)}).")
    words = files if own else find_checkpoint(tokenizer, weights=("vocab.txt",))
    return Classifier(
        identity=files.identity,
        split=split,
        logits=_load(files, words, n_labels, pick_device(device)),
        batch_size=batch_size,
        facts={"model": files.identity} | ({} if own else {"tokenizer": words.identity}),
        threshold=threshold,
    )


def _stored_labels(checkpoint: Checkpoint) -> int:
    """Counts the labels of the stored head; 0 where the weights are a pickle, or have no head."""
    files = weight_files(checkpoint.folder)
    shapes = stored_shapes(files) if files[0].is_file() else {}
    heads = [shapes[name] for name in HEADS if name in shapes]
    return heads[0][0] if heads else 0


@shared
def _load(
    checkpoint: Checkpoint, words: Checkpoint, n_labels: int, device: str
) -> Callable[[Sequence[str], int | None], NDArray[np.float32]]:
    """Texts → logits; both checkpoints are the key, so that files that changed are read again."""
    import torch

    config = load_config(checkpoint)
    if _stored_labels(checkpoint) == n_labels:
        config.num_labels = n_labels  # as RadEval's programs do, whatever config.json says
    if config.num_labels != n_labels:
        raise BackendError(f"{checkpoint.identity} has {config.num_labels} labels; this metric needs {n_labels}.")
    tokenizer = load_tokenizer(words, "AutoTokenizer" if words == checkpoint else "BertTokenizerFast")
    with quietly():
        model, loading = load_model("AutoModelForSequenceClassification", checkpoint, config=config, pickled=True)
    absent = sorted(loading["missing_keys"])
    if absent:
        raise BackendError(
            f"{checkpoint.identity}: {checkpoint.folder} lacks {len(absent)} weights, such as {absent[0]}."
        )
    model.eval().to(device)
    positions = config.max_position_embeddings - (config.pad_token_id + 1 if "roberta" in config.model_type else 0)

    def logits(texts: Sequence[str], batch_size: int | None) -> NDArray[np.float32]:
        rows = tokenizer(list(texts), truncation=True, max_length=min(MAX_LENGTH, positions))
        values = np.empty((len(texts), n_labels), dtype=np.float32)
        for batch in batches([len(ids) for ids in rows["input_ids"]], device, batch_size):
            padded = tokenizer.pad({key: [rows[key][i] for i in batch] for key in rows}, return_tensors="pt")
            with torch.inference_mode():
                values[batch] = model(**padded.to(device)).logits.float().cpu().numpy()
        if not np.isfinite(values).all():  # a label that is not a number is no label that is missing
            raise BackendError(f"{checkpoint.identity} returns logits that are not finite; its weights are damaged.")
        return values

    return logits
