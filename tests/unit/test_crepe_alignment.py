"""Where words stand in the other report: on paper, in rows, in training, and in what the bundled CREPE makes of it."""

from __future__ import annotations

import numpy as np

from float32 import in_float32
from rrgmetrics.backends.crepe import load_crepe
from rrgmetrics.backends.crepe.alignment import (
    RELATIONS,
    STATES,
    TYPES_A_TEXT,
    counterparts,
    of_tokens,
    relate,
    words_of,
)
from rrgmetrics.backends.crepe.network import Network
from rrgmetrics.labels.positive_sentences import affirmed
from rrgmetrics.reading import read
from rrgmetrics.reports import Pair
from rrgmetrics.training.labelled import LabelledPairs
from rrgmetrics.training.tokenized import tokenize_pairs

ALIGNED = {
    "crepe_features": "tokens",
    "cls_token_id": 2,
    "sep_token_id": 3,
    "crepe_alignment": True,
    "type_vocab_size": 2 * TYPES_A_TEXT,
}
PAIRS = [
    Pair("Small left pleural effusion. Heart size is normal.", "Large left effusions. Large right pneumothorax."),
    Pair("No acute consolidation.", "Small left pleural effusion."),
    Pair("Large right pneumothorax.", "Clear lungs."),
    Pair("Lungs clear.", "Normal heart."),
]


def related(reference: str, candidate: str) -> list[tuple[str, str, str]]:
    """The words of a candidate, each with its state and its relation."""
    readings = read(candidate), read(reference)
    mine, theirs = map(words_of, (candidate, reference), readings)
    places = [divmod(number, len(RELATIONS)) for number in relate(mine, theirs, counterparts(*readings)[0])]
    return [(word.key, STATES[s], RELATIONS[r]) for word, (s, r) in zip(mine, places, strict=True)]


def test_relations_on_paper():
    reference = "Small left pleural effusion. Nodule of 10 mm in the right upper lobe."
    assert related(reference, "Large left effusions.") == [
        ("large", "in both", "new"),
        ("left", "in both", "beside"),
        ("effusions", "in both", "alike beside"),
    ]
    right = {word: relation for word, _, relation in related(reference, "Small right effusion.")}
    assert right == {"small": "beside", "right": "elsewhere", "effusion": "beside"}
    sizes = [related(reference, f"Nodule of {size} mm.")[2] for size in ("10", "11", "18", "1.0")]
    assert [relation for _, _, relation in sizes] == ["beside", "near number", "new number", "new number"]
    short = {word: relation for word, _, relation in related(reference, "Sm L effn. RUL nodule.")}
    assert short == dict.fromkeys(["sm", "l", "effn", "rul"], "alike beside") | {"nodule": "beside"}
    assert [relation for _, _, relation in related("RUL nodule, worse.", "RLL nodule, increased.")] == [
        *("new", "beside", "alike beside")
    ]
    assert {state for _, state, _ in related(reference, "Pneumothorax.")} == {"only here"}
    assert related("", "") == []
    assert {state for _, state, _ in related("", "The lungs are clear.")} == {"no finding"}


def test_tokens_have_what_their_words_have():
    words = words_of("Apical mass, 1.5 cm.")
    starts = [0, 3, 7, 11, 13, 14, 15, 17, 19]  # ap ##ical mass , 1 . 5 cm .
    assert of_tokens(starts, words, [5, 1, 6, 2]) == [5, 5, 1, 0, 6, 6, 6, 2, 0]
    assert of_tokens([], words, [5, 1, 6, 2]) == []


def test_rows_alone_and_together_and_as_trained(tmp_path, checkpoints, monkeypatch):
    folder = str(checkpoints.write_crepe(tmp_path, **ALIGNED))
    backend = load_crepe(folder)
    assert backend.affirmed
    together = backend.annotate_pairs(PAIRS)
    for pair, reading in zip(PAIRS, together, strict=True):
        assert load_crepe(folder, batch_size=1).annotate_pairs([pair])[0].counts == in_float32(reading.counts)
    assert together[3].counts.tolist() == [0] * 6  # neither text affirms anything
    rows, run = [], Network.run
    monkeypatch.setattr(Network, "run", lambda self, given, size: (rows.extend(given), run(self, given, size))[1])
    backend.annotate_pairs(PAIRS)
    short = [[affirmed(read(text)) for text in pair[:2]] for pair in PAIRS[:3]]
    monkeypatch.setattr("rrgmetrics.training.tokenized.UNREAD", 10**9)
    tokens = tokenize_pairs(labelled(short), np.arange(3), backend.network.tokenizer, alignment=True)
    assert [(tokens[i].ids.tolist(), tokens[i].types.tolist()) for i in range(3)] == rows
    assert max(rows[0][1]) >= TYPES_A_TEXT


def labelled(texts: list[list[str]]):
    references, candidates = map(list, zip(*texts, strict=True))
    nothing = np.zeros((len(texts), 6), np.float32)
    return LabelledPairs(references, candidates, references, [""] * 3, nothing, nothing, None, (), (), 0)
