"""The backends of RaTEScore: they annotate a report with its entities, each with a vector of its meaning.

Bundled, the reader names the entities and the first layer of CREPE's encoder gives them vectors: the mean over an
entity's tokens, less the mean over the names of all findings, without which any two names are alike. Deeper layers
know errors, and tell names apart less well.

Published, a token classifier marks them (RaTE-NER-Deberta, sentence by sentence) and an encoder reads their words
(BioLORD-2023-C: the vector of its first token, of at most 30). Sentences are batched by length; the authors read one
at a time.

Differs from the authors: sentences end at a full stop, question or exclamation mark before a space, or at a line's end
(medspaCy's rules are theirs); a text without sentences has no entities, where theirs drops the report and compares its
neighbours from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rrgmetrics.backends.base import read_parts
from rrgmetrics.backends.bert import batches, pick_device, quietly
from rrgmetrics.backends.checkpoints import Checkpoint, check_path, find_checkpoint
from rrgmetrics.backends.checkpoints.loading import load_model, load_tokenizer
from rrgmetrics.backends.encoder import FINDINGS, SENTENCE_END, Encoder, TokenVectors, load_encoder
from rrgmetrics.backends.reader import ReaderBackend, reader_backend
from rrgmetrics.backends.shared import shared
from rrgmetrics.errors import BackendError
from rrgmetrics.labels.entities import ENTITY_TYPES, Entity, entities
from rrgmetrics.reading import Reading
from rrgmetrics.reading.lexicon import checksum, load
from rrgmetrics.utils.extras import need

if TYPE_CHECKING:
    from torch import Tensor

NER = "Angelakeke/RaTE-NER-Deberta"
BIOLORD = "FremyCompany/BioLORD-2023-C"
NAME_LAYERS = 1  # of CREPE's encoder, for vectors of names
SHORTEST_SENTENCE = 3  # characters; RaTEScore, utils.py
LONGEST_SENTENCE, LONGEST_ENTITY = 512, 30  # tokens; RaTEScore, score.py
REMEMBERED = 20_000  # phrases: 30 MB
Vector = NDArray[np.float32]


class EntityVectors(NamedTuple):
    """The entities of a text, their unit vectors `(n_entities, width)`, and the reading, if the reader found them."""

    entities: tuple[Entity, ...]
    vectors: Vector
    reading: Reading | None = None


@dataclass(frozen=True)
class Phrases:
    """Gives phrases their unit vectors; a phrase that is remembered is not read again.

    Attributes:
        encoder: Reads tokens.
        pool: A phrase's token vectors → its vector.
        known: Vectors by phrase.
    """

    encoder: Encoder
    pool: Callable[[TokenVectors], Vector]
    known: dict[str, Vector] = field(default_factory=dict)

    def vectors(self, phrases: Sequence[Sequence[str]]) -> list[Vector]:
        """Returns an array `(n_phrases, width)` for each list of phrases."""
        distinct = dict.fromkeys(phrase for group in phrases for phrase in group)
        new = [phrase for phrase in distinct if phrase not in self.known]
        vectors = {phrase: self.known[phrase] for phrase in distinct if phrase in self.known}
        if new:
            tokens = self.encoder.annotate(new)
            vectors |= {phrase: _unit(self.pool(read)) for phrase, read in zip(new, tokens, strict=True)}
        if len(self.known) + len(new) > REMEMBERED:
            self.known.clear()
        self.known.update(vectors)
        return [np.array([vectors[phrase] for phrase in group], dtype=np.float32) for group in phrases]


@dataclass(frozen=True)
class ReaderEntities:
    """A `Composed` backend that takes the entities from the reader."""

    phrases: Phrases

    @property
    def key(self) -> str:
        """The identity: the encoder."""
        return f"entities:reader:{self.phrases.encoder.key}"

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the lexicon and the encoder."""
        return {"lexicon_sha256": checksum()[:8], "encoder_model": self.phrases.encoder.identity}

    @property
    def parts(self) -> Mapping[str, ReaderBackend]:
        """The reader, shared with every metric that reads findings."""
        return {"reader": reader_backend()}

    def compose(self, readings: Sequence[Mapping[str, Reading]]) -> list[EntityVectors]:
        """Returns the entities of each reading, with vectors."""
        read = [parts["reader"] for parts in readings]
        vectors = _with_vectors([entities(reading) for reading in read], self.phrases)
        return [each._replace(reading=reading) for each, reading in zip(vectors, read, strict=True)]

    def annotate(self, texts: Sequence[str]) -> Sequence[EntityVectors]:
        """Returns the entities, with vectors, of texts that no other backend reads."""
        return read_parts(self, texts)


@dataclass(frozen=True)
class ClassifierEntities:
    """A backend that takes the entities from a token classifier.

    Attributes:
        identity: How the signature names the classifier.
        classifier: Marks tokens.
        phrases: Vectors of what is marked.
        device: Where it runs.
        batch_size: Sentences per forward pass; None: as many as the token budget holds.
    """

    identity: str
    classifier: TokenClassifier
    phrases: Phrases
    device: str
    batch_size: int | None = None

    @property
    def key(self) -> str:
        """The identity: the classifier and the encoder."""
        return f"entities:{self.identity}:{self.phrases.encoder.key}"

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the classifier and the encoder."""
        return {"model": self.identity, "encoder_model": self.phrases.encoder.identity}

    def annotate(self, texts: Sequence[str]) -> list[EntityVectors]:
        """Returns the entities of each text, with vectors; none for a text without sentences."""
        sentences = [list(split_sentences(text)) for text in texts]
        marked = self._mark(list(dict.fromkeys(sentence for group in sentences for sentence in group)))
        entities = [tuple(entity for sentence in group for entity in marked[sentence]) for group in sentences]
        return _with_vectors(entities, self.phrases)

    def _mark(self, sentences: Sequence[str]) -> dict[str, list[Entity]]:
        """The entities of each sentence."""
        import torch

        if not sentences:
            return {}
        ids = self.classifier.tokenizer(list(sentences), truncation=True, max_length=LONGEST_SENTENCE)["input_ids"]
        entities: dict[str, list[Entity]] = {}
        for batch in batches([len(row) for row in ids], self.device, self.batch_size):
            longest = max(len(ids[i]) for i in batch)
            rows = [ids[i] + [0] * (longest - len(ids[i])) for i in batch]
            mask = [[1] * len(ids[i]) + [0] * (longest - len(ids[i])) for i in batch]
            with torch.inference_mode():
                inputs = (torch.tensor(x, device=self.device) for x in (rows, mask))
                classes = self.classifier.classify(*inputs).tolist()
            for i, row in zip(batch, classes, strict=True):
                labels = [self.classifier.labels[index] for index in row[: len(ids[i])]]
                entities[sentences[i]] = list(self._entities(ids[i], labels))
        return entities

    def _entities(self, ids: Sequence[int], labels: Sequence[str]) -> Iterator[Entity]:
        special = set(self.classifier.tokenizer.all_special_ids)
        own = ["O" if token in special else label for token, label in zip(ids, labels, strict=True)]
        tokens = self.classifier.tokenizer.convert_ids_to_tokens(ids)
        for start, end, kind in decode(own):
            yield Entity(self.classifier.tokenizer.convert_tokens_to_string(tokens[start:end]).strip(), kind)


def split_sentences(text: str) -> Iterator[str]:
    """Splits a report into its sentences of three characters or more."""
    for sentence in SENTENCE_END.split(text):
        if len(sentence.strip()) >= SHORTEST_SENTENCE:
            yield sentence.strip()


def decode(labels: Sequence[str]) -> Iterator[tuple[int, int, Any]]:
    """Yields entities `(start, end, type)` from a sentence's labels: a B- and the I- behind it, of the B-'s type.

    Differs from the authors: an I- on the token that closes the sentence makes their code lose the entity.

    Example:
        >>> list(decode(["O", "B-ANATOMY", "I-ANATOMY", "B-DISEASE", "O", "I-DISEASE"]))
        [(1, 3, 'anatomy'), (3, 4, 'disease')]
    """
    start: int | None = None
    for i, label in enumerate([*labels, "O"]):
        if start is not None and not label.startswith("I-"):
            yield start, i, labels[start][2:].lower()
            start = None
        if label.startswith("B-"):
            start = i


def load_entities(
    checkpoint: str = "", *, encoder: str = "", device: str | None = None, batch_size: int | None = None
) -> ReaderEntities | ClassifierEntities:
    """Loads the backend of entities and their encoder; all users in a process share the weights.

    Args:
        checkpoint: "" for the reader, else a token classifier: a folder or a Hub id with an optional `@revision`.
        encoder: Of entities, as `load_encoder` takes it; "": CREPE's for the reader, else BioLORD.
        device: torch device; None takes CUDA where there is one, else the CPU.
        batch_size: Texts per forward pass; None: as many as the token budget holds.

    Raises:
        MissingExtraError: A checkpoint, and torch or transformers is not installed.
        BackendError: Weights not found (within a second), damaged, or with labels that are not RaTEScore's.
    """
    if not checkpoint:
        layer = 0 if encoder else NAME_LAYERS
        names = load_encoder(encoder or FINDINGS, layer=layer, device=device, batch_size=batch_size)
        return ReaderEntities(_centred(names))
    check_path(checkpoint)
    need(f"ratescore@{checkpoint}", "published")
    files = find_checkpoint(checkpoint)
    classifier = _load_classifier(files, pick_device(device))
    phrases = Phrases(_cut(load_encoder(encoder or BIOLORD, device=device, batch_size=batch_size)), _first)
    return ClassifierEntities(files.identity, classifier, phrases, pick_device(device), batch_size)


@dataclass(frozen=True, eq=False)
class TokenClassifier:
    """A token classifier in memory.

    Attributes:
        tokenizer: Its tokenizer, of transformers.
        classify: Padded ids and mask `(batch, length)` → the index of each token's label.
        labels: Label of each index, as `B-ANATOMY`.
    """

    tokenizer: Any
    classify: Callable[[Tensor, Tensor], Tensor]
    labels: Sequence[str]


@shared
def _load_classifier(checkpoint: Checkpoint, device: str) -> TokenClassifier:
    tokenizer = load_tokenizer(checkpoint)
    with quietly():
        model, loading = load_model("AutoModelForTokenClassification", checkpoint)
    if loading["missing_keys"]:
        raise BackendError(
            f"{checkpoint.identity}: {checkpoint.folder} lacks weights, such as {min(loading['missing_keys'])}."
        )
    labels = [model.config.id2label[index] for index in range(model.config.num_labels)]
    known = {"O", *(f"{mark}-{kind}" for mark in "BI" for kind in ENTITY_TYPES)}
    unknown = [label for label in labels if f"{label[:2]}{label[2:].lower()}" not in known]
    if unknown:
        raise BackendError(
            f"{checkpoint.identity} has the label {unknown[0]!r}; "
            f"RaTEScore needs O and B-, I- of {', '.join(ENTITY_TYPES)}."
        )
    model.eval().to(device)
    padding = tokenizer.pad_token_id or 0

    def classify(ids: Tensor, mask: Tensor) -> Tensor:
        logits: Tensor = model(input_ids=ids.masked_fill(mask == 0, padding), attention_mask=mask).logits
        return logits.argmax(dim=-1)

    return TokenClassifier(tokenizer, classify, labels)


def _with_vectors(entities: Sequence[tuple[Entity, ...]], phrases: Phrases) -> list[EntityVectors]:
    vectors = phrases.vectors([[entity.text for entity in group] for group in entities])
    return [EntityVectors(*both) for both in zip(entities, vectors, strict=True)]


def _centred(encoder: Encoder) -> Phrases:
    """Vectors of phrases less the mean over the names of all findings."""
    centre = _centre(encoder.identity, encoder.layer, encoder.device)

    def pool(tokens: TokenVectors) -> Vector:
        vector: Vector = _mean(tokens) - centre
        return vector

    return Phrases(encoder, pool)


@shared
def _centre(checkpoint: str, layer: int, device: str) -> Vector:
    encoder = load_encoder(checkpoint, layer=layer, device=device)
    names = dict.fromkeys(concept.name for concept in load().concepts.values())
    centre: Vector = np.mean([_unit(_mean(tokens)) for tokens in encoder.annotate(list(names))], axis=0)
    return centre


def _mean(tokens: TokenVectors) -> Vector:
    own = tokens.vectors[tokens.own] if tokens.own.any() else tokens.vectors
    mean: Vector = own.mean(axis=0)
    return mean


def _first(tokens: TokenVectors) -> Vector:
    first: Vector = tokens.vectors[0]
    return first


def _unit(vector: Vector) -> Vector:
    length = np.float32(np.linalg.norm(vector))
    unit: Vector = vector / length if length else vector
    return unit


def _cut(encoder: Encoder) -> Encoder:
    """The encoder with phrases cut to the authors' length; the token that closes a phrase stays."""

    def tokenize(texts: Sequence[str]) -> list[list[int]]:
        rows = encoder.tokenize(texts)
        return [row if len(row) <= LONGEST_ENTITY else [*row[: LONGEST_ENTITY - 1], row[-1]] for row in rows]

    return replace(encoder, tokenize=tokenize)
