"""RaTEScore: the formula on paper, its published weights, the authors' models against a plain loop."""

from __future__ import annotations

import re

import numpy as np
import pytest

import rrgmetrics
from float32 import in_float32
from rrgmetrics import BackendError
from rrgmetrics.backends.ratescore import NER, EntityVectors, decode, load_entities, split_sentences
from rrgmetrics.labels.entities import ENTITY_TYPES, Entity
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.base import Runtime
from rrgmetrics.scorers.ratescore import PENALTIES, WEIGHTS, Ratescore, similarity

REFERENCES = [
    "Small left pleural effusion. No pneumothorax.",
    "Right apical pneumothorax.",
    "Clear lungs. Normal heart.",
]
CANDIDATES = ["No effusion.", "Large right pneumothorax.\nHeart size is normal.", "Pneumonia in the left lower lobe."]


def annotation(*entities: tuple[str, list[float]]) -> EntityVectors:
    """Entities of the given types with the given vectors."""
    vectors = np.array([vector for _, vector in entities], dtype=np.float32).reshape(-1, 2)
    return EntityVectors(tuple(Entity(kind, kind) for kind, _ in entities), vectors)


def row(reference: EntityVectors, candidate: EntityVectors, **options) -> list[float]:
    """Score, precision and recall of one pair."""
    texts = {"r": reference, "c": candidate}
    return Ratescore(**options).pair_stats([Pair("r", "c")], texts)[0, :3].tolist()


def test_the_formula_on_paper():
    """Two reference entities find one candidate entity: cosines 1 and 0.6, weights and penalty from the table."""
    reference = annotation(("abnormality", [1, 0]), ("anatomy", [0.6, 0.8]))
    candidate = annotation(("non-abnormality", [1, 0]))
    penalty, weights = 0.8716553966489615, (0.5431049700217344, 0.02097055139911715)
    recall = (penalty * weights[0] + 0.6 * weights[1]) / sum(weights)
    score, precision, found_recall = row(reference, candidate)
    assert found_recall == in_float32(recall)
    assert precision == in_float32(penalty)  # one entity: its weight cancels
    assert score == in_float32(2 * recall * penalty / (recall + penalty))


def test_all_eight_opposite_polarities_are_penalised_and_no_other():
    for matrix in WEIGHTS:
        for a in ENTITY_TYPES:
            for b in ENTITY_TYPES:
                opposite = "anatomy" not in (a, b) and a.startswith("non-") != b.startswith("non-")
                value = similarity(annotation((a, [1, 0])), annotation((b, [1, 0])), WEIGHTS[matrix], PENALTIES[matrix])
                assert value == in_float32(PENALTIES[matrix] if opposite else 1.0)


def test_published_weights():
    """RaTEScore 0.6.0, scorer.py, two entries of each matrix; the long one also in RadEval's."""
    index = {kind: i for i, kind in enumerate(ENTITY_TYPES)}
    assert WEIGHTS["long"][index["disease"], index["anatomy"]] == 0.9950209388542061
    assert WEIGHTS["long"][index["anatomy"], index["non-disease"]] == 0.00013736314126696204
    assert WEIGHTS["short"][index["disease"], index["disease"]] == 0.19018958438059513
    assert WEIGHTS["short"][index["non-abnormality"], index["non-disease"]] == 0.8555432840895761
    assert PENALTIES == {"long": 0.8716553966489615, "short": 0.3611577852354489}


@pytest.mark.parametrize(
    ("reference", "candidate", "own"),
    [
        (annotation(), annotation(), 1.0),
        (annotation(("disease", [1, 0])), annotation(), 0.0),
        (annotation(), annotation(("disease", [1, 0])), 0.0),
    ],
)
def test_without_entities(reference, candidate, own):
    assert row(reference, candidate) == [own] * 3
    assert row(reference, candidate, no_entities="published") == [0.5] * 3


def test_cosines_below_zero_count_as_nothing():
    assert row(annotation(("disease", [1, 0])), annotation(("disease", [-1, 0]))) == [0.0] * 3


def test_a_report_without_entities_moves_no_neighbour(score, published_checkpoints):
    """RaTEScore 0.6 leaves such a report out of its list and compares the next one with the wrong reference."""
    for name in ("ratescore", "ratescore@paper"):
        whole = score(name, CANDIDATES, REFERENCES).per_pair["ratescore"]
        for nothing in ("", ".", "Hm"):
            candidates = [CANDIDATES[0], nothing, *CANDIDATES[1:]]
            references = [REFERENCES[0], REFERENCES[0], *REFERENCES[1:]]
            values = score(name, candidates, references).per_pair["ratescore"]
            assert np.delete(values, 1) == in_float32(whole)
            assert values[1] == (0.5 if name.endswith("paper") else 0.0)


def test_sentences_and_labels():
    assert list(split_sentences("Clear lungs. 3.5 cm mass!  OK\nno")) == ["Clear lungs.", "3.5 cm mass!"]
    assert list(decode(["I-ANATOMY", "B-NON-DISEASE", "I-ANATOMY", "B-ANATOMY", "B-ANATOMY"])) == [
        (1, 3, "non-disease"),
        (3, 4, "anatomy"),
        (4, 5, "anatomy"),
    ]


def test_paper_equals_a_plain_loop(published_checkpoints, reports):
    """One sentence, then one entity at a time, in the authors' order of steps."""
    texts = [*REFERENCES, *CANDIDATES, *reports.references[:4], *reports.altered[:4], ""]
    backend = load_entities(NER)
    annotated = dict(zip(texts, backend.annotate(texts), strict=True))
    marked = 0
    for text in texts:
        expected = plain_entities(published_checkpoints, text)
        marked += len(expected)
        assert [(entity.text, entity.type) for entity in annotated[text].entities] == [e[:2] for e in expected]
        for vector, (_, _, reference) in zip(annotated[text].vectors, expected, strict=True):
            assert vector == in_float32(reference)
        alone = backend.annotate([text])[0]
        assert alone.entities == annotated[text].entities
        assert alone.vectors == in_float32(annotated[text].vectors)
    assert marked > 50
    assert len({entity.type for text in texts for entity in annotated[text].entities}) >= 3


def plain_entities(hub, text: str) -> list[tuple[str, str, np.ndarray]]:
    """Words, type and vector of each entity of a text."""
    import torch
    from transformers import AutoModel, AutoModelForTokenClassification, AutoTokenizer

    ner, reader = (next((hub / f"models--{name}").glob("snapshots/*")) for name in PUBLISHED)
    tokenizer, classifier = AutoTokenizer.from_pretrained(ner), AutoModelForTokenClassification.from_pretrained(ner)
    words, encoder = AutoTokenizer.from_pretrained(reader), AutoModel.from_pretrained(reader)
    entities = []
    for sentence in filter(None, re.split(r"(?<=[.!?])\s+|\n+", text)):
        encoded = tokenizer(sentence, return_tensors="pt", truncation=True, max_length=512)
        with torch.inference_mode():
            logits = classifier.eval()(encoded["input_ids"], attention_mask=encoded["attention_mask"]).logits[0]
        tokens = tokenizer.convert_ids_to_tokens(encoded["input_ids"][0])
        labels = [classifier.config.id2label[i] for i in logits.argmax(-1).tolist()]
        stretch: list[tuple[str, str]] = []
        for token, label in [*list(zip(tokens, labels, strict=True))[1:-1], ("", "O")]:
            if stretch and not label.startswith("I-"):
                name = tokenizer.convert_tokens_to_string([word for word, _ in stretch])
                cut = words(name, return_tensors="pt", truncation=True, max_length=30)
                with torch.inference_mode():
                    first = encoder.eval()(cut["input_ids"], attention_mask=cut["attention_mask"]).last_hidden_state
                vector = torch.nn.functional.normalize(first[0, 0], dim=0).numpy()
                entities.append((name, stretch[0][1][2:].lower(), vector))
                stretch = []
            if label.startswith("B-") or stretch:
                stretch.append((token, label))
    return entities


PUBLISHED = ("Angelakeke--RaTE-NER-Deberta", "FremyCompany--BioLORD-2023-C")


def test_a_classifier_with_other_labels_is_refused(tmp_path, published_checkpoints):
    import json
    import shutil

    source = next((published_checkpoints / f"models--{PUBLISHED[0]}").glob("snapshots/*"))
    folder = shutil.copytree(source, tmp_path / "ner")
    config = json.loads((folder / "config.json").read_text())
    config["id2label"]["1"] = "B-DEVICE"
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(BackendError, match="has the label 'B-DEVICE'; RaTEScore needs"):
        rrgmetrics.score(f"ratescore@{folder}", predictions=["a"], references=["a"], progress=False)


def test_weights_that_are_not_there_are_named():
    with pytest.raises(BackendError, match="hf download someone/ner"):
        Ratescore("someone/ner").backend(Runtime())


@pytest.fixture
def score():
    """`score(name, candidates, references)` → Result."""
    return lambda name, candidates, references: rrgmetrics.score(
        name, predictions=candidates, references=references, progress=False
    )[name]
