"""Bad input: one clear error that names list and index, before any work."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rrgmetrics
from rrgmetrics import SPECS, InputError, prepared

GOOD = ["Clear lungs.", "Small effusion.", "No pneumothorax."]
BAD_REPORTS = {  # one element that is not a report → what the message says of it
    "None": (None, "is None"),
    "NaN": (math.nan, "is NaN"),
    "numpy NaN": (np.float32("nan"), "float32"),
    "number": (7, "is 7 (int)"),
    "bool": (True, "is True (bool)"),
    "bytes": (b"Clear lungs.", "(bytes)"),
    "nested list": (["Clear lungs."], "(list)"),
    "dict": ({"report": "Clear lungs."}, "(dict)"),
    "2 MB": ("effusion " * 250_000, "has 2,250,000 characters"),
    "half a character": ("effusion \ud83e", "lone surrogate"),
}
BAD_LISTS = {  # both lists → the message
    "lengths": (GOOD, GOOD[:2], "predictions has 3 reports and references has 2"),
    "empty": ([], [], "no pairs"),
    "str": ("Clear lungs.", GOOD, "predictions is 'Clear lungs.' (str); pass a list"),
    "bytes": (GOOD, b"Clear lungs.", "references is b'Clear lungs.' (bytes); pass a list"),
    "None": (None, GOOD, "predictions is None"),
    "number": (GOOD, 3, "references is 3"),
    "dict": ({"a": "Clear lungs."}, GOOD, "predictions is"),
    "float": (math.nan, GOOD, "predictions is NaN"),
}
BAD_CONTEXTS = {
    "length": ([{}], "contexts has 1 entries for 3 pairs"),
    "dict": ({"age": 3}, "contexts is"),
    "str": ("age", "contexts is 'age'"),
    "element": ([{}, 3, {}], "contexts[1] is 3 (int)"),
    "key": ([{}, {}, {"Age": 3}], "contexts[2] has the key 'Age'"),
    "age": ([{"age": "old"}, {}, {}], "contexts[0]: age 'old'"),
    "sex": ([{}, {"sex": "x"}, {}], "contexts[1]['sex'] is 'x'"),
    "indication": ([{}, {"indication": 5}, {}], "contexts[1]['indication'] is 5"),
}


@pytest.fixture(autouse=True)
def no_work(monkeypatch):
    """Fails the test if a scorer is even built."""

    def build(name):
        pytest.fail("scoring began")

    monkeypatch.setattr(prepared, "build_scorer", build)


def score(name, predictions, references, **keywords):
    return rrgmetrics.score(name, predictions=predictions, references=references, progress=False, **keywords)


@pytest.mark.parametrize("column", ["predictions", "references"])
@pytest.mark.parametrize("bad", BAD_REPORTS)
def test_bad_report(spec, bad, column):
    value, message = BAD_REPORTS[bad]
    lists = {"predictions": GOOD, "references": GOOD} | {column: [*GOOD[:2], value]}
    with pytest.raises(InputError) as error:
        score(spec.name, **lists)
    assert str(error.value).startswith(f"{column}[2] ")
    assert message in str(error.value)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("bad", BAD_LISTS)
def test_bad_list(spec, bad):
    predictions, references, message = BAD_LISTS[bad]
    with pytest.raises(InputError) as error:
        score(spec.name, predictions, references)
    assert message in str(error.value)


@pytest.mark.parametrize("bad", BAD_CONTEXTS)
def test_bad_contexts(spec, bad):
    contexts, message = BAD_CONTEXTS[bad]
    with pytest.raises(InputError) as error:
        score(spec.name, GOOD, GOOD, contexts=contexts)
    assert message in str(error.value)


@pytest.mark.parametrize("batch_size", [0, -1, 2.0, "8", True])
def test_bad_batch_size(spec, batch_size):
    with pytest.raises(InputError, match="batch_size is"):
        score(spec.name, GOOD, GOOD, batch_size=batch_size)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("blue", "did you mean bleu"),
        ("", "non-empty string"),
        ([], "No metric was named"),
        (["bleu", "bleu"], "named twice"),
        ([None], "non-empty string"),
        ("bleu@", "nothing after the @"),
        ("bleu?tokenizer", "not option=value"),
        ("bleu?tokenizer=13a&tokenizer=coco", "given twice"),
        ("bertscore?layer=two", "not a whole number"),
        ("rouge?stemmer=maybe", "not yes or no"),
    ],
)
def test_bad_name(name, message):
    with pytest.raises(InputError, match=message):
        score(name, GOOD, GOOD)


def test_unknown_option_names_the_known_ones(spec):
    with pytest.raises(InputError) as error:
        score(f"{spec.name}?colour=red", GOOD, GOOD)
    assert all(option in str(error.value) for option in ("colour", *spec.options))


def test_unknown_choice_names_the_known_ones(spec):
    for key, option in spec.options.items():
        if option.choices:
            with pytest.raises(InputError) as error:
                score(f"{spec.name}?{key}=purple", GOOD, GOOD)
            assert all(str(text) in str(error.value) for text in ("purple", key, *option.choices))


@pytest.mark.parametrize("name", [name for name, spec in SPECS.items() if not spec.takes_checkpoint])
def test_unknown_configuration_names_the_known_ones(name):
    spec = SPECS[name]
    with pytest.raises(InputError) as error:
        score(f"{spec.name}@papre", GOOD, GOOD)
    assert all(config in str(error.value) for config in ("papre", *spec.configs))
