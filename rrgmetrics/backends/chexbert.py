"""CheXbert (Smit et al. 2020): a report → the status of each of CheXpert's 14 conditions, and the vector of its [CLS].

A BERT of bert-base-uncased's shape reads the report; 14 linear heads read its last [CLS]. Thirteen say blank, positive,
negative or uncertain, the last one (No Finding) no or yes. The weights are one file, `chexbert.pth` of
StanfordAIMI/RRG_scorers or a conversion to safetensors; its layout says the sizes, and its vocabulary, that of
bert-base-uncased, ships with the bundled encoder. Needs torch and tokenizers, not transformers.

Reports beyond 512 tokens are cut as the authors do, or read in overlapping windows: a condition has the strongest
status that any window gives it, No Finding is positive if no window says otherwise, the vector is the windows' mean.

Differs from the authors: an empty report, also one without a word piece, is not read; all its conditions are blank and
its vector is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.bert import BATCH_TOKENS, batches, bert_forward, pack_matrices, pick_device
from rrgmetrics.backends.checkpoints import A_FILE, CheckpointFile, check_path, find_file
from rrgmetrics.backends.checkpoints.loading import load_weights
from rrgmetrics.backends.encoder import BUNDLED_FOLDER
from rrgmetrics.backends.shared import shared
from rrgmetrics.errors import BackendError
from rrgmetrics.labels.conditions import Status, Statuses, stronger
from rrgmetrics.utils.extras import need

if TYPE_CHECKING:
    from torch import Tensor

PUBLISHED = "StanfordAIMI/RRG_scorers"
FILE = "chexbert.pth"
MAX_LENGTH = 512
OVERLAP = 64  # tokens that neighbouring windows share, so that most sentences are whole in one of them
VOCABULARY = BUNDLED_FOLDER / "tokenizer.json"  # MiniLM's is bert-base-uncased's
N_WORDS, CLS, SEP = 30522, 101, 102
TOKEN_BUDGET = MAX_LENGTH - 2
HEAD_WIDTH = 64  # of an attention head, in every BERT of the published sizes
CLASSES = (*[4] * 13, 2)
HEADS = tuple(f"linear_heads.{i}" for i in range(len(CLASSES)))
EMBEDDINGS = (
    "bert.embeddings.word_embeddings.weight",
    "bert.embeddings.position_embeddings.weight",
    "bert.embeddings.token_type_embeddings.weight",
    "bert.embeddings.LayerNorm.weight",
    "bert.embeddings.LayerNorm.bias",
)
LAYER = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)

Long = Literal["truncate", "windows"]
Output = tuple[NDArray[np.float32], list[int]]


class ConditionReading(NamedTuple):
    """CheXbert's annotation of a report.

    Attributes:
        statuses: Status of each condition.
        vector: Last hidden state of [CLS] `(width,)`.
        too_long: Whether the report has more tokens than the model reads.
    """

    statuses: Statuses
    vector: NDArray[np.float32]
    too_long: bool


@dataclass(frozen=True)
class Network:
    """CheXbert's weights in memory, with their forward pass.

    Attributes:
        identity: How the signature names them.
        width: Of a vector.
        forward: Padded ids and mask `(batch, length)` → vectors `(batch, width)` and classes `(batch, 14)`.
        device: Where it runs.
    """

    identity: str
    width: int
    forward: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
    device: str


@dataclass(frozen=True)
class Chexbert:
    """A backend that annotates reports with CheXbert.

    Attributes:
        network: The weights.
        long: What becomes of reports that are too long.
        batch_size: Rows per forward pass; None: as many as the token budget holds.
    """

    network: Network
    long: Long = "truncate"
    batch_size: int | None = None

    @property
    def key(self) -> str:
        """The identity: the weights and the treatment of long reports."""
        return f"chexbert:{self.network.identity}:{self.long}"

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the model and the most tokens that it reads."""
        return {"model": self.network.identity, "max_length": str(MAX_LENGTH)}

    def annotate(self, texts: Sequence[str]) -> list[ConditionReading]:
        """Returns one reading for each text; batches are of similar lengths, and the order of the texts is restored."""
        bodies = tokenize(texts)
        rows = [_rows(body, self.long) for body in bodies]
        outputs = iter(self._run([row for windows in rows for row in windows]))
        return [
            _merge([next(outputs) for _ in windows], len(body) > TOKEN_BUDGET, self.network.width)
            for body, windows in zip(bodies, rows, strict=True)
        ]

    def _run(self, rows: Sequence[list[int]]) -> list[Output]:
        """Returns the vector and the classes of each row."""
        outputs: dict[int, Output] = {}
        for batch in batches([len(row) for row in rows], self.network.device, self.batch_size):
            vectors, classes = self._forward([rows[i] for i in batch])
            outputs.update((i, (vectors[j], classes[j])) for j, i in enumerate(batch))
        return [outputs[i] for i in range(len(rows))]

    def _forward(self, rows: Sequence[list[int]]) -> tuple[NDArray[np.float32], list[list[int]]]:
        import torch

        longest, device = max(map(len, rows)), self.network.device
        ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows], device=device)
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=device)
        with torch.inference_mode():
            vectors, classes = self.network.forward(ids, mask)
        array: NDArray[np.float32] = vectors.float().cpu().numpy()
        return array, classes.cpu().tolist()


def tokenize(texts: Sequence[str]) -> list[list[int]]:
    """The ids of bert-base-uncased's word pieces of each text, without special tokens."""
    return [encoding.ids for encoding in _tokenizer().encode_batch(list(texts), add_special_tokens=False)]


def load_chexbert(
    checkpoint: str = PUBLISHED, *, device: str | None = None, batch_size: int | None = None, long: Long = "truncate"
) -> Chexbert:
    """Loads CheXbert's weights; all users in a process share them.

    Args:
        checkpoint: The file, a folder that holds `chexbert.pth`, or a Hub id with an optional `@revision`.
        device: torch device; None takes CUDA where there is one, else the CPU.
        batch_size: Reports per forward pass; None: as many as the token budget holds.
        long: Cut reports beyond 512 tokens, or read them in windows.

    Raises:
        MissingExtraError: torch is not installed.
        BackendError: Weights not found (within a second), damaged, or not CheXbert's.
    """
    check_path(checkpoint, A_FILE)
    need(f"The CheXbert {checkpoint}", "published", "torch")
    file = find_file(checkpoint, FILE)  # before the second that importing torch takes
    return Chexbert(_load(file, pick_device(device)), long, batch_size)


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(VOCABULARY))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


@shared
def _load(file: CheckpointFile, device: str) -> Network:
    """Loads the weights; the file's identity has a checksum or a commit, so weights that changed are read again."""
    import torch

    stored = load_weights(file.path)
    n_layers, width = _check(file.identity, stored)
    bert = {name[5:]: x.float().to(device) for name, x in stored.items() if name.startswith("bert.")}
    if device.startswith("cpu"):
        bert = pack_matrices(bert, BATCH_TOKENS)
    heads = [(stored[f"{head}.weight"].float().to(device), stored[f"{head}.bias"].float().to(device)) for head in HEADS]

    def forward(ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        states = bert_forward(bert, ids, mask, n_layers=n_layers, n_heads=max(1, width // HEAD_WIDTH))
        vectors = states[:, 0]
        logits = [torch.nn.functional.linear(vectors, weight, bias) for weight, bias in heads]
        return vectors, torch.stack([x.argmax(dim=-1) for x in logits], dim=-1)

    return Network(file.identity, width, forward, device)


def _check(identity: str, stored: Mapping[str, Tensor]) -> tuple[int, int]:
    """Layers and width; raises BackendError that names what the file lacks."""
    n_layers = len({name.split(".")[3] for name in stored if name.startswith("bert.encoder.layer.")})
    layers = [f"bert.encoder.layer.{i}.{part}" for i in range(n_layers) for part in LAYER]
    modules = [*EMBEDDINGS, *(f"{module}.{kind}" for module in (*layers, *HEADS) for kind in ("weight", "bias"))]
    missing = [name for name in modules if name not in stored]
    if missing:
        raise BackendError(
            f"{identity} is not CheXbert's: it lacks {len(missing)} weights, such as {missing[0]}. "
            f"Take {FILE} of {PUBLISHED}."
        )
    width = stored[EMBEDDINGS[-1]].numel()
    words, *heads = (tuple(stored[name].shape) for name in (EMBEDDINGS[0], *(f"{head}.weight" for head in HEADS)))
    if words != (N_WORDS, width) or heads != [(n, width) for n in CLASSES]:
        raise BackendError(
            f"{identity} is not CheXbert's: it must have {N_WORDS} word pieces and heads of {CLASSES} classes."
        )
    return n_layers, width


def _rows(body: list[int], long: Long) -> list[list[int]]:
    """Returns the rows that the model reads of a text: none, one, or one for each window."""
    if not body:
        return []
    starts = range(0, max(1, len(body) - OVERLAP), TOKEN_BUDGET - OVERLAP) if long == "windows" else (0,)
    return [[CLS, *body[start : start + TOKEN_BUDGET], SEP] for start in starts]


def _merge(outputs: Sequence[Output], too_long: bool, width: int) -> ConditionReading:
    """The reading of a text from those of its windows."""
    if not outputs:
        return ConditionReading((Status.BLANK,) * len(CLASSES), np.zeros(width, dtype=np.float32), False)
    windows = [[Status(number) for number in classes] for _, classes in outputs]
    statuses = [reduce(stronger, column) for column in zip(*windows, strict=True)]
    statuses[-1] = min(window[-1] for window in windows)  # yes (1) only if no window says no (0)
    vector = np.stack([vector for vector, _ in outputs]).mean(axis=0)
    return ConditionReading(tuple(statuses), vector, too_long)
